//! Delivery by the real program: commits, branches, pushes, races, crashes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

use crate::support::git_http::{GitHttp, Manner};
use crate::support::git_lab::Lab;

pub(crate) const PROD: &str = "overlays/prod/kustomization.yaml";

/// A digest of one repeated digit.
pub(crate) fn digest(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

pub(crate) fn pin(image: &str, digit: char) -> String {
    format!("{image}={}", digest(digit))
}

/// The program in a folder of the lab.
fn overlay_in(lab: &Lab, dir: &str, args: &[&str]) -> Output {
    command(lab, dir, args).output().unwrap()
}

pub(crate) fn command(lab: &Lab, dir: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(args).args(["-o", "json"]).current_dir(lab.path(dir));
    command.env_clear().envs(lab.environment()).env("OVERLAY_CACHE_DIR", lab.path("cache"));
    command
}

pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) json: Json,
}

pub(crate) fn overlay(lab: &Lab, dir: &str, args: &[&str]) -> Ran {
    ran(&overlay_in(lab, dir, args))
}

pub(crate) fn ran(output: &Output) -> Ran {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text} {}", String::from_utf8_lossy(&output.stderr)));
    Ran { status: output.status.code().unwrap_or(-1), json }
}

impl Ran {
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 0, "{}", self.json);
        self
    }

    pub(crate) fn commit(&self) -> Option<&str> {
        self.json["result"]["commit"].as_str()
    }

    pub(crate) fn branch(&self) -> Option<&str> {
        self.json["result"]["branch"].as_str()
    }

    pub(crate) fn changed(&self) -> bool {
        self.json["changed"].as_bool().unwrap()
    }

    pub(crate) fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or_default()
    }
}

/// `plain` with images `shop/app0` … in one overlay, a bare copy `app.git`, and `clone`.
pub(crate) fn lab(images: usize) -> Lab {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let mut entries = String::from("resources: [../../base]\nimages:\n");
    let mut containers = String::new();
    for at in 0..images {
        entries.push_str(&format!("- name: shop/app{at}\n  digest: {}\n", digest('1')));
        containers.push_str(&format!("      - {{name: app{at}, image: shop/app{at}}}\n"));
    }
    lab.write(&format!("plain/{PROD}"), entries);
    lab.write(
        "plain/base/web.yaml",
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n{containers}"),
    );
    lab.commit_all("plain", "images");
    lab.bare("plain", "app.git");
    lab.git("app.git", &["config", "http.receivepack", "true"]);
    lab.git("", &["clone", "-q", "app.git", "clone"]);
    lab
}

#[test]
fn commit_moves_the_current_branch_and_a_second_run_does_nothing() {
    let lab = lab(1);
    lab.write("clone/overlays/dev/kustomization.yaml", "dirty: 1\n");
    let before = lab.git("clone", &["rev-parse", "HEAD"]);
    let args = ["pin", "overlays/prod", &pin("shop/app0", '2'), "--commit"];
    let first = overlay(&lab, "clone", &args).ok();
    assert!(first.changed());
    assert_eq!(first.branch(), Some("main"));
    assert_eq!(first.commit(), Some(lab.git("clone", &["rev-parse", "HEAD"]).as_str()));
    assert_eq!(lab.git("clone", &["rev-parse", "HEAD~1"]), before);
    assert_eq!(
        lab.git("clone", &["status", "--porcelain"]),
        "M overlays/dev/kustomization.yaml".replace('M', " M")
    );
    assert_eq!(lab.git("clone", &["diff", "--name-only", "HEAD~1", "HEAD"]), PROD);
    let message = lab.git("clone", &["log", "-1", "--format=%B"]);
    assert!(message.starts_with("Pin app0 in overlays/prod\n\n"), "{message}");
    let records = overlay::git::parse_records(&message);
    assert_eq!(records[0].data["digests"]["shop/app0"], digest('2'));
    let second = overlay(&lab, "clone", &args).ok();
    assert!(!second.changed());
    assert_eq!((second.commit(), second.branch()), (None, None));
    assert_eq!(
        lab.git("clone", &["rev-list", "--count", "HEAD"]),
        lab.git("clone", &["rev-list", "--count", "HEAD~1"])
            .parse::<u32>()
            .map(|n| (n + 1).to_string())
            .unwrap()
    );
    lab.require_sound("clone");
}

#[test]
fn a_dirty_overlay_is_refused_with_and_without_a_branch() {
    let lab = lab(2);
    lab.write(
        &format!("clone/{PROD}"),
        [lab.read(&format!("clone/{PROD}")), b"# mine\n".to_vec()].concat(),
    );
    let content = lab.read(&format!("clone/{PROD}"));
    for more in [
        vec!["--commit"],
        vec!["--branch", "pins"],
        vec!["--push"],
        vec!["--branch", "pins", "--push"],
    ] {
        let pin = pin("shop/app0", '2');
        let mut args = vec!["pin", "overlays/prod", &pin];
        args.extend(more);
        let refused = overlay(&lab, "clone", &args);
        assert_eq!((refused.status, refused.code()), (3, "dirty-file"), "{args:?}");
        assert!(refused.json["error"]["message"].as_str().unwrap().contains(PROD));
        assert_eq!(lab.read(&format!("clone/{PROD}")), content);
        assert_eq!(lab.git("clone", &["branch", "--list", "pins"]), "");
        assert_eq!(lab.git("app.git", &["branch", "--list", "pins"]), "");
    }
}

#[test]
fn in_the_middle_of_a_merge_only_another_branch_gets_a_commit() {
    let lab = lab(1);
    let write = |text: &str| lab.write("clone/notes", text);
    lab.git("clone", &["checkout", "-q", "-b", "theirs"]);
    write("theirs\n");
    lab.commit_all("clone", "theirs");
    lab.git("clone", &["checkout", "-q", "main"]);
    write("ours\n");
    let head = lab.commit_all("clone", "ours");
    let pin = pin("shop/app0", '2');
    for middle in [["merge", "theirs"], ["cherry-pick", "theirs"]] {
        assert!(!lab.try_git(&lab.path("clone"), &middle).status.success(), "no conflict");
        for more in ["--commit", "--push"] {
            let refused = overlay(&lab, "clone", &["pin", "overlays/prod", &pin, more]);
            assert_eq!((refused.status, refused.code()), (3, "in-progress"), "{}", refused.json);
        }
        assert_eq!(lab.git("clone", &["rev-parse", "main"]), head);
        lab.git("clone", &[middle[0], "--abort"]);
    }
    assert!(!lab.try_git(&lab.path("clone"), &["merge", "theirs"]).status.success());
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--branch", "beside"]).ok();
    assert_eq!(lab.git("clone", &["rev-parse", "beside~1"]), head);
}

#[test]
fn a_branch_is_made_found_again_and_started_from_its_base() {
    let lab = lab(2);
    lab.git("clone", &["branch", "release", "HEAD~1"]);
    let (first, second) = (pin("shop/app0", '2'), pin("shop/app1", '2'));
    let made = overlay(&lab, "clone", &["pin", "overlays/prod", &first, "--branch", "pins"]).ok();
    assert_eq!(made.branch(), Some("pins"));
    assert_eq!(lab.git("clone", &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
    let again = overlay(&lab, "clone", &["pin", "overlays/prod", &first, "--branch", "pins"]).ok();
    assert!(!again.changed(), "a second run finds its own branch");
    overlay(&lab, "clone", &["pin", "overlays/prod", &second, "--branch", "pins"]).ok();
    assert_eq!(lab.git("clone", &["rev-list", "--count", "main..pins"]), "2");
    let other = overlay(
        &lab,
        "clone",
        &["pin", "overlays/prod", "x=y", "--branch", "other", "--base", "release"],
    );
    assert_ne!(other.status, 0);
    let missing = overlay(
        &lab,
        "clone",
        &["pin", "overlays/prod", &first, "--branch", "other", "--base", "none"],
    );
    assert_eq!((missing.status, missing.code()), (4, "no-such-revision"));
    lab.git("clone", &["checkout", "-q", "--detach"]);
    let detached = overlay(&lab, "clone", &["pin", "overlays/prod", &first, "--commit"]);
    assert_eq!((detached.status, detached.code()), (3, "detached-head"));
    overlay(&lab, "clone", &["pin", "overlays/prod", &first, "--branch", "from-detached"]).ok();
}

#[test]
fn a_branch_that_is_checked_out_is_no_other_branch() {
    let lab = lab(1);
    let pin = pin("shop/app0", '2');
    for more in [vec!["--branch", "main"], vec!["--branch", "main", "--push"]] {
        let mut args = vec!["pin", "overlays/prod", &pin];
        args.extend(more);
        let refused = overlay(&lab, "clone", &args);
        assert_eq!((refused.status, refused.code()), (3, "branch-checked-out"), "{}", refused.json);
    }
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
    assert_eq!(
        lab.git("clone", &["rev-parse", "main"]),
        lab.git("clone", &["rev-parse", "origin/main"])
    );
}

#[test]
fn a_kustomization_behind_a_link_is_edited_where_it_stands() {
    let lab = lab(1);
    fs::rename(lab.path(&format!("clone/{PROD}")), lab.path("clone/overlays/prod/real.yaml"))
        .unwrap();
    lab.link(&format!("clone/{PROD}"), "real.yaml");
    lab.commit_all("clone", "link");
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '2'), "--commit"]).ok();
    assert_eq!(
        lab.git("clone", &["diff", "--name-only", "HEAD^", "HEAD"]),
        "overlays/prod/real.yaml"
    );
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '3')]).ok();
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), " M overlays/prod/real.yaml");
    lab.git("clone", &["checkout", "-q", "."]);
    fs::rename(lab.path("clone/overlays/prod/real.yaml"), lab.path("clone/overlays/real.yaml"))
        .unwrap();
    fs::remove_file(lab.path(&format!("clone/{PROD}"))).unwrap();
    lab.link(&format!("clone/{PROD}"), "../real.yaml");
    let refused = overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '4')]);
    assert_eq!((refused.status, refused.code()), (3, "not-editable"), "{}", refused.json);
    let message = refused.json["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("overlays/real.yaml"), "{message}");
}

#[test]
fn what_is_said_of_a_commit_needs_one() {
    let lab = lab(1);
    let pin = pin("shop/app0", '2');
    for more in
        [vec!["--message", "x"], vec!["--base", "main"], vec!["--sign"], vec!["--remote", "origin"]]
    {
        let mut args = vec!["pin", "overlays/prod", &pin];
        args.extend(more);
        assert_eq!(overlay(&lab, "clone", &args).status, 2, "{args:?}");
    }
    for bad in ["--author=nobody", "--branch=-f", "--branch=a..b", "--message=", "--message= \n"] {
        let refused = overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--commit", bad]);
        assert_eq!(refused.status, 2, "{bad}: {}", refused.json);
    }
    let said = [
        "pin",
        "overlays/prod",
        &pin,
        "--commit",
        "--message",
        "Take the fix\n\nRefs: #1",
        "--author",
        "Ann <ann@example.test>",
        "--signoff",
    ];
    overlay(&lab, "clone", &said).ok();
    // What is malformed is so where nothing is left to do, too.
    let again = ["pin", "overlays/prod", &pin, "--commit", "--author=nobody"];
    assert_eq!(overlay(&lab, "clone", &again).code(), "bad-author");
    let message = lab.git("clone", &["log", "-1", "--format=%an%n%B"]);
    assert!(
        message.starts_with("Ann\nTake the fix\n\nRefs: #1\nOverlay-Change: v1 {"),
        "{message}"
    );
    assert!(message.trim_end().ends_with("Signed-off-by: Case <case@example.test>"), "{message}");
}

#[test]
fn push_works_on_the_head_of_the_remote_and_the_clone_follows() {
    let lab = lab(2);
    lab.git("", &["clone", "-q", "app.git", "other"]);
    let first =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '2'), "--push"]).ok();
    assert_eq!(first.commit(), Some(lab.git("app.git", &["rev-parse", "main"]).as_str()));
    assert_eq!(
        lab.git("clone", &["rev-parse", "main"]),
        lab.git("app.git", &["rev-parse", "main"])
    );
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
    // The other clone does not know of it yet: its edit is made on the new head.
    let behind =
        overlay(&lab, "other", &["pin", "overlays/prod", &pin("shop/app1", '3'), "--push"]).ok();
    assert_eq!(behind.json["result"]["overlays"][0]["status"], "changed");
    let content = lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
    assert!(content.contains(&digest('2')) && content.contains(&digest('3')), "{content}");
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "--merges", "main"]), "0");
    assert_eq!(lab.git("other", &["status", "--porcelain"]), "", "its checkout is untouched");
    let again =
        overlay(&lab, "other", &["pin", "overlays/prod", &pin("shop/app1", '3'), "--push"]).ok();
    assert!(!again.changed());
    // A commit that was made before and not pushed goes along.
    lab.git("clone", &["pull", "-q"]);
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '4'), "--commit"]).ok();
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '4'), "--push"]).ok();
    assert_eq!(
        lab.git("clone", &["rev-parse", "main"]),
        lab.git("app.git", &["rev-parse", "main"])
    );
    // Both sides have commits of their own.
    lab.git("other", &["pull", "-q"]);
    overlay(&lab, "other", &["pin", "overlays/prod", &pin("shop/app1", '5'), "--push"]).ok();
    overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '6'), "--commit"]).ok();
    let diverged =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '7'), "--push"]);
    assert_eq!((diverged.status, diverged.code()), (3, "branch-diverged"));
}

/// S55 without the pull request: main refuses pushes, the remote has moved, another file is dirty.
#[test]
fn a_branch_of_its_own_starts_at_the_head_of_the_remote() {
    let lab = lab(2);
    lab.git("", &["clone", "-q", "app.git", "other"]);
    lab.git("other", &["commit", "-q", "--allow-empty", "-m", "moved"]);
    lab.git("other", &["push", "-q"]);
    lab.write("app.git/hooks/pre-receive", "#!/bin/sh\nwhile read o n r; do case $r in refs/heads/main) echo \"GH006: Protected branch update failed for $r.\"; exit 1;; esac; done\n");
    fs::set_permissions(lab.path("app.git/hooks/pre-receive"), fs::Permissions::from_mode(0o755))
        .unwrap();
    lab.write("clone/overlays/dev/kustomization.yaml", "dirty: 1\n");
    let pin = pin("shop/app0", '2');
    let refused = overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--push"]);
    assert_eq!((refused.status, refused.code()), (5, "push-refused"));
    assert!(refused.json["error"]["message"].as_str().unwrap().contains("GH006"));
    let local = lab.git("clone", &["rev-parse", "main"]);
    let made =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--push", "--branch", "pins"]).ok();
    assert_eq!(made.branch(), Some("pins"));
    assert_eq!(
        lab.git("app.git", &["rev-parse", "pins~1"]),
        lab.git("app.git", &["rev-parse", "main"])
    );
    assert_eq!(lab.git("app.git", &["diff", "--name-only", "main", "pins"]), PROD);
    assert_eq!(lab.git("clone", &["rev-parse", "main"]), local);
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), " M overlays/dev/kustomization.yaml");
    let again =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--push", "--branch", "pins"]).ok();
    assert!(!again.changed());
    // The branch exists on the remote and equals main, where the pin is already: nothing happens.
    lab.git("app.git", &["update-ref", "refs/heads/main", "pins"]);
    let merged =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin, "--push", "--branch", "pins"]).ok();
    assert_eq!((merged.changed(), merged.commit()), (false, None));
}

#[test]
fn a_local_branch_that_the_remote_lacks_is_pushed_as_it_is() {
    let lab = lab(1);
    let wanted = pin("shop/app0", '2');
    let args = ["pin", "overlays/prod", &wanted, "--branch", "pins"];
    let made = overlay(&lab, "clone", &args).ok();
    let pushed = overlay(&lab, "clone", &[&args[..], &["--push"]].concat()).ok();
    assert_eq!(pushed.commit(), made.commit(), "no second commit: {}", pushed.json);
    assert_eq!(made.commit(), Some(lab.git("app.git", &["rev-parse", "pins"]).as_str()));
    assert_eq!(pushed.json["result"]["pushed"], "origin");
    // Both sides move: nothing is made of it.
    lab.git("", &["clone", "-q", "-b", "pins", "app.git", "other"]);
    lab.git("other", &["commit", "-q", "--allow-empty", "-m", "theirs"]);
    lab.git("other", &["push", "-q"]);
    let third = pin("shop/app0", '3');
    overlay(&lab, "clone", &["pin", "overlays/prod", &third, "--branch", "pins"]).ok();
    let diverged =
        overlay(&lab, "clone", &["pin", "overlays/prod", &third, "--branch", "pins", "--push"]);
    assert_eq!((diverged.status, diverged.code()), (3, "branch-diverged"));
}

#[test]
fn a_push_says_what_goes_along_and_what_it_replaces_unseen() {
    let lab = lab(2);
    let notes = |ran: &Ran| -> Vec<(String, String)> {
        let notes = ran.json["result"]["notes"].as_array().unwrap();
        let text = |note: &Json, key: &str| note[key].as_str().unwrap().to_owned();
        notes.iter().map(|n| (text(n, "code"), text(n, "message"))).collect()
    };
    lab.git("", &["clone", "-q", "app.git", "other"]);
    lab.git("clone", &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let first =
        overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '2'), "--push"]).ok();
    let earlier = ("earlier-commits".to_owned(), "pushes 1 earlier commit of main too".to_owned());
    assert_eq!(notes(&first), [earlier]);
    let unseen =
        overlay(&lab, "other", &["pin", "overlays/prod", &pin("shop/app0", '3'), "--push"]).ok();
    let unseen = notes(&unseen);
    let (code, message) = &unseen[0];
    assert_eq!(code, "replaces-unseen");
    assert!(message.contains(&digest('2')), "{message}");
    assert!(message.ends_with(", which your checkout does not have"), "{message}");
    let other = overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app1", '3'), "--push"]);
    assert!(notes(&other.ok()).iter().all(|(code, _)| code != "replaces-unseen"));
}

#[test]
fn sixteen_processes_pin_sixteen_images_at_once() {
    let lab = lab(16);
    for at in 0..16 {
        lab.git("", &["clone", "-q", "app.git", &format!("clone{at}")]);
    }
    let children: Vec<_> = (0..16)
        .map(|at| {
            let pin = pin(&format!("shop/app{at}"), '2');
            let mut child =
                command(&lab, &format!("clone{at}"), &["pin", "overlays/prod", &pin, "--push"]);
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        ran(&child.wait_with_output().unwrap()).ok();
    }
    let content = lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
    assert_eq!(content.matches(&digest('2')).count(), 16, "{content}");
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "main"]), "18");
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "--merges", "main"]), "0");
    lab.require_sound("app.git");
}

#[test]
fn of_two_values_for_one_image_one_wins_and_the_other_is_told() {
    let lab = lab(1);
    lab.git("", &["clone", "-q", "app.git", "other"]);
    lab.write("clone/.git/hooks/pre-push", format!(
        "#!/bin/sh\ncd {} && unset GIT_DIR && test -e raced || {{ touch raced; sed -i 's/{}/{}/' {PROD}; git commit -qam theirs; git push -q; }}\n",
        lab.path("other").display(), digest('1'), digest('3')
    ));
    fs::set_permissions(lab.path("clone/.git/hooks/pre-push"), fs::Permissions::from_mode(0o755))
        .unwrap();
    let told = overlay(&lab, "clone", &["pin", "overlays/prod", &pin("shop/app0", '2'), "--push"]);
    assert_eq!((told.status, told.code()), (3, "changed-on-remote"), "{}", told.json);
    let message = told.json["error"]["message"].as_str().unwrap();
    assert!(message.contains(&digest('3')) && message.contains(&digest('2')), "{message}");
    assert!(
        lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]).contains(&digest('3'))
    );
}

#[test]
fn an_address_needs_no_clone_and_leaves_no_token() {
    let lab = lab(1);
    const TOKEN: &str = "planted-t0ken-0123456789";
    let server = GitHttp::serve(
        &lab.path(""),
        Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() },
    );
    let address = server.url("app.git").replace("http://", &format!("http://bot:{TOKEN}@"));
    fs::create_dir(lab.path("empty")).unwrap();
    let before = fs::read_dir(std::env::temp_dir()).unwrap().count();
    for (remote, digit) in [(address.as_str(), '2'), (lab.url("app.git").as_str(), '3')] {
        let output = overlay_in(
            &lab,
            "empty",
            &["pin", "overlays/prod", &pin("shop/app0", digit), "--push", "--remote", remote],
        );
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!text.contains(TOKEN), "{text}");
        let ran = ran(&output).ok();
        assert_eq!(ran.branch(), Some("main"));
        assert_eq!(ran.commit(), Some(lab.git("app.git", &["rev-parse", "main"]).as_str()));
    }
    assert!(
        fs::read_dir(std::env::temp_dir()).unwrap().count() <= before + 20,
        "temporary folders stay"
    );
    let log = lab.git("app.git", &["log", "-p", "main"]);
    assert!(!log.contains(TOKEN));
    let missing = overlay(
        &lab,
        "empty",
        &["pin", "overlays/none", &pin("shop/app0", '4'), "--push", "--remote", &address],
    );
    assert_eq!((missing.status, missing.code()), (4, "no-such-overlay"));
    let dry = overlay(
        &lab,
        "empty",
        &["pin", "overlays/prod", &pin("shop/app0", '4'), "--commit", "--remote", &address],
    );
    assert_eq!(dry.status, 2);
    lab.require_sound("app.git");
}

#[test]
fn a_repository_words_its_own_messages() {
    let lab = lab(1);
    let wanted = pin("shop/app0", '2');
    let args = ["pin", "overlays/prod", &wanted, "--commit"];
    lab.write("clone/.overlay.yaml", "commitMessageTemplate: words.txt\n");
    lab.write(
        "clone/words.txt",
        "chore({{ overlays }}): {{subject}} by {{ command }}\n\n{{ nothing }}\n",
    );
    lab.commit_all("clone", "words");
    let refused = overlay(&lab, "clone", &args);
    assert_eq!((refused.status, refused.code()), (3, "config-invalid"), "{}", refused.json);
    assert_eq!(refused.json["error"]["location"]["line"], 3, "{}", refused.json);
    lab.write(
        "clone/words.txt",
        "chore({{ overlays }}): {{subject}} by {{ command }}\n\n{{ effect }}\n",
    );
    lab.commit_all("clone", "words");
    overlay(&lab, "clone", &args).ok();
    let message = lab.git("clone", &["log", "-1", "--format=%B"]);
    let start =
        "chore(overlays/prod): Pin app0 in overlays/prod by pin\n\noverlays/prod: Deployment/web ";
    assert!(message.starts_with(start), "{message}");
    assert_eq!(overlay::git::parse_records(&message).len(), 1, "{message}");
    let other = pin("shop/app0", '3');
    let args = ["pin", "overlays/prod", &other, "--commit", "-m", "mine"];
    overlay(&lab, "clone", &args).ok();
    assert_eq!(lab.git("clone", &["log", "-1", "--format=%s"]), "mine");
}
