//! `overlay apply -f` delivered: several changes of several overlays are one commit, one push, one pull request, or nothing.

use crate::deliver::{digest, lab, overlay};
use crate::support::git_lab::Lab;
use crate::support::{Judge, judge};

const BOTH: [&str; 2] = ["overlays/dev/kustomization.yaml", "overlays/prod/kustomization.yaml"];

/// A pin of one overlay, and a number of both.
fn changes(replicas: u8, digit: char) -> String {
    let pin = format!("- pin: {{shop/app0: '{}'}}\n  overlays: overlays/prod\n", digest(digit));
    format!("changes:\n{pin}- replicas: {{web: {replicas}}}\n")
}

const ARGS: [&str; 6] =
    ["apply", "overlays/prod", "--overlay", "overlays/dev", "-f", "../changes.yaml"];

fn apply<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&ARGS, more].concat()
}

/// What a kustomize that is not ours renders of an overlay at a revision of a repository.
fn render(lab: &Lab, judge: &Judge, repository: &str, revision: &str, overlay: &str) -> String {
    let to = tempfile::tempdir().unwrap();
    let work_tree = format!("--work-tree={}", to.path().display());
    let dir = lab.path(repository);
    let git_dir = if dir.join(".git").exists() { dir.join(".git") } else { dir };
    let done = std::process::Command::new("git")
        .args([&format!("--git-dir={}", git_dir.display()), &work_tree])
        .args(["checkout", "-q", "-f", revision, "--", "."])
        .envs(lab.environment())
        .env("GIT_INDEX_FILE", to.path().join("index"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    judge.build(&to.path().join(overlay)).unwrap()
}

/// The rendered lines that differ, each with its sign; the two texts have the same objects in the same order.
fn differing(before: &str, after: &str) -> Vec<String> {
    let diff = similar::TextDiff::from_lines(before, after);
    let signed = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            similar::ChangeTag::Equal => return None,
            similar::ChangeTag::Delete => '-',
            similar::ChangeTag::Insert => '+',
        };
        Some(format!("{sign} {}", change.value().trim()))
    });
    signed.collect()
}

fn require_effect(lab: &Lab, judge: &Judge, repository: &str, from: &str, to: &str, digit: char) {
    let effect = |overlay: &str| {
        let [before, after] = [from, to].map(|rev| render(lab, judge, repository, rev, overlay));
        differing(&before, &after)
    };
    assert_eq!(effect("overlays/dev"), ["+ replicas: 3"]);
    let images = [
        format!("- - image: shop/app0@{}", digest('1')),
        format!("+ - image: shop/app0@{}", digest(digit)),
    ];
    let mut expected = vec!["+ replicas: 3".to_owned()];
    expected.extend(images);
    assert_eq!(effect("overlays/prod"), expected);
}

#[test]
fn several_changes_are_one_commit_and_the_second_run_makes_none() {
    let Some(judge) = judge() else { return };
    let lab = lab(1);
    lab.write("changes.yaml", changes(3, '2'));
    lab.write("clone/notes.txt", "mine\n");
    let before = lab.git("clone", &["rev-parse", "HEAD"]);
    let first = overlay(&lab, "clone", &apply(&["--commit"])).ok();
    assert!(first.changed());
    let head = lab.git("clone", &["rev-parse", "HEAD"]);
    assert_eq!((first.commit(), first.branch()), (Some(head.as_str()), Some("main")));
    assert_eq!(lab.git("clone", &["rev-parse", "HEAD~1"]), before);
    assert_eq!(lab.git("clone", &["diff", "--name-only", "HEAD~1", "HEAD"]), BOTH.join("\n"));
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "?? notes.txt");
    require_effect(&lab, &judge, "clone", "HEAD~1", "HEAD", '2');
    let message = lab.git("clone", &["log", "-1", "--format=%B"]);
    assert!(message.starts_with("Change web in "), "{message}");
    let record = &overlay::git::parse_records(&message)[0].data;
    assert_eq!(record["command"], "apply");
    assert_eq!(record["overlays"], serde_json::json!(["overlays/prod", "overlays/dev"]));
    let second = overlay(&lab, "clone", &apply(&["--commit"])).ok();
    assert!(!second.changed());
    assert_eq!((second.commit(), lab.git("clone", &["rev-parse", "HEAD"])), (None, head));
    lab.require_sound("clone");
}

/// The last of the changes is refused: neither a file, nor a commit, nor a branch, nor anything at the remote.
#[test]
fn one_refusal_delivers_nothing() {
    let lab = lab(1);
    let all = format!("{}- replicas: {{nobody: 2}}\n", changes(3, '2'));
    lab.write("changes.yaml", all);
    let refs = |name: &str| lab.git(name, &["for-each-ref"]);
    let before = (refs("clone"), refs("app.git"));
    for more in [&[][..], &["--commit"], &["--branch", "release"], &["--push"]] {
        let ran = overlay(&lab, "clone", &apply(more));
        assert_eq!((ran.status, ran.code()), (3, "no-such-workload"), "{more:?}: {}", ran.json);
        assert_eq!(ran.json["error"]["location"]["line"], 5, "{}", ran.json);
        assert_eq!((refs("clone"), refs("app.git")), before, "{more:?}");
        assert_eq!(lab.git("clone", &["status", "--porcelain"]), "", "{more:?}");
    }
}

#[test]
fn a_branch_is_pushed_and_the_checkout_stays() {
    let Some(judge) = judge() else { return };
    let lab = lab(1);
    lab.write("changes.yaml", changes(3, '2'));
    let before = lab.git("clone", &["rev-parse", "HEAD"]);
    let ran = overlay(&lab, "clone", &apply(&["--branch", "release", "--push"])).ok();
    assert_eq!(ran.branch(), Some("release"));
    assert_eq!(lab.git("clone", &["rev-parse", "HEAD"]), before);
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
    assert_eq!(Some(lab.git("app.git", &["rev-parse", "release"]).as_str()), ran.commit());
    assert_eq!(
        lab.git("app.git", &["rev-parse", "main", "release~1"]),
        format!("{before}\n{before}")
    );
    require_effect(&lab, &judge, "app.git", "main", "release", '2');
}

/// Somebody pushes the same line of one of the overlays first: the changes are made again on that.
#[test]
fn a_push_is_made_again_on_what_came_first() {
    let Some(judge) = judge() else { return };
    let lab = lab(1);
    lab.write("changes.yaml", changes(3, '2'));
    lab.git("", &["clone", "-q", "app.git", "other"]);
    let dev = "other/overlays/dev/kustomization.yaml";
    lab.write(dev, "# theirs\nresources: [../../base]\n");
    lab.git("other", &["commit", "-qam", "dev"]);
    lab.git("other", &["push", "-q"]);
    let theirs = lab.git("other", &["rev-parse", "HEAD"]);
    let ran = overlay(&lab, "clone", &apply(&["--push"])).ok();
    assert_eq!(Some(lab.git("app.git", &["rev-parse", "main"]).as_str()), ran.commit());
    assert_eq!(lab.git("app.git", &["rev-parse", "main~1"]), theirs);
    assert!(
        lab.git("app.git", &["show", "main:overlays/dev/kustomization.yaml"])
            .starts_with("# theirs\n")
    );
    require_effect(&lab, &judge, "app.git", "main~1", "main", '2');
    lab.require_sound("app.git");
}

#[cfg(feature = "forge")]
#[test]
fn several_changes_are_one_pull_request() {
    use crate::pull_request::Stage;

    let Some(judge) = judge() else { return };
    let stage = Stage::new(1);
    stage.lab.write("changes.yaml", changes(3, '2'));
    let args = apply(&["--pr"]);
    let run = || stage.finish(stage.command(&args).output().unwrap());
    let first = run().ok();
    assert_eq!(first.json["result"]["pullRequest"]["number"], 1, "{}", first.text);
    let branch = first.json["result"]["branch"].as_str().unwrap().to_owned();
    assert!(branch.starts_with("overlay/"), "{branch}");
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{branch}")]), "1");
    assert_eq!(stage.git(&["diff", "--name-only", "main", &branch]), BOTH.join("\n"));
    require_effect(&stage.lab, &judge, "hub/ops/deploy.git", "main", &branch, '2');
    let pull = stage.github.pull(1);
    assert_eq!(pull.base_branch, "main");
    assert!(
        pull.body.contains("overlays/prod") && pull.body.contains("overlays/dev"),
        "{}",
        pull.body
    );
    let again = run().ok();
    assert!(!again.changed(), "{}", again.text);
    assert_eq!(again.json["result"]["pullRequest"]["action"], "unchanged");
    assert_eq!(stage.github.open_numbers(), [1]);
    assert_eq!(stage.lab.git("clone", &["status", "--porcelain"]), "");
}
