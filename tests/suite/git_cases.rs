//! The published cases of group 11, in their own words, by the real program. C124, the token, is in `deliver_remotes` and, for a
//! forge's, in `pull_request::limits`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::deliver::{Ran, overlay};
use crate::support::git_lab::Lab;

const PROD: &str = "overlays/prod/kustomization.yaml";
const DEV: &str = "overlays/dev/kustomization.yaml";
const NEWDIG: &str = "sha256:55da2abd97f49915f56b5b2f4836140ee775442bf0d8ab62695e0b06dcd3ccf2";
const OLDDIG: &str = "sha256:3333333333333333333333333333333333333333333333333333333333333333";

/// The fences of the cases call it.
const MKBASE: &str = r#"set -eu
mkbase() { mkdir -p base && echo 'resources: [web.yaml]' > base/kustomization.yaml && printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: "registry.test:5000/shop/web:1.0"}]}\n' > base/web.yaml; }
"#;

/// Two clones `a` and `b` of `hub.git`.
const TWO: &str = "git init -q --bare -b main hub.git && git clone -q hub.git a 2>/dev/null && (cd a && mkbase && mkdir -p overlays/prod overlays/dev && echo 'resources: [../../base]' | tee overlays/prod/kustomization.yaml > overlays/dev/kustomization.yaml && git add -A && git commit -qm 0 && git push -q)\ngit clone -q hub.git b\n";

/// F3.
const F3: &str = "git init -q -b main deploy && cd deploy\nmkbase && mkdir -p overlays/prod apps/other && echo 'resources: [../../base]' > overlays/prod/kustomization.yaml\ngit add -A && git commit -qm old && git tag OLD\necho '# pin' >> overlays/prod/kustomization.yaml && git commit -qam pin && git tag NEW\necho x > apps/other/x && git add -A && git commit -qm other && git tag LATER\n";

fn shell(lab: &Lab, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{MKBASE}{script}")]).current_dir(lab.path(""));
    command.env_clear().envs(lab.environment()).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
}

/// In `b`, the first push lets this land before it.
fn competes(lab: &Lab, script: &str) {
    let hook = "b/.git/hooks/pre-push";
    let a = lab.path("a").display().to_string();
    lab.write(hook, format!("#!/bin/sh\nunset GIT_DIR\n[ -e {a}/raced ] && exit 0\ntouch {a}/raced\ncd {a} && {script} && git push -q\n"));
    fs::set_permissions(lab.path(hook), fs::Permissions::from_mode(0o755)).unwrap();
}

fn pin(lab: &Lab, dir: &str, more: &[&str]) -> Ran {
    let wanted = format!("registry.test:5000/shop/web=registry.test:5000/shop/web:1.4@{NEWDIG}");
    overlay(lab, dir, &[&["pin", "overlays/prod", wanted.as_str()], more].concat())
}

fn message(ran: &Ran) -> &str {
    ran.json["error"]["message"].as_str().unwrap_or_default()
}

/// C119: both changes are in `main`, in a line, and nothing was forced.
#[test]
fn somebody_elses_push_came_first() {
    let lab = Lab::new();
    shell(&lab, TWO);
    competes(&lab, &format!("echo '# dev' >> {DEV} && git commit -qam dev"));
    let pushed = pin(&lab, "b", &["--push"]).ok();
    let main = |args: &[&str]| lab.git("hub.git", args);
    assert_eq!(pushed.commit(), Some(main(&["rev-parse", "main"]).as_str()));
    assert_eq!(main(&["rev-list", "--count", "--min-parents=2", "main"]), "0");
    assert_eq!(main(&["log", "--format=%s", "main~1"]), "dev\n0", "on top of what came first");
    assert!(main(&["show", &format!("main:{PROD}")]).contains(NEWDIG));
    assert!(main(&["show", &format!("main:{DEV}")]).ends_with("# dev"));
}

/// C120: the same image got another digest meanwhile. It stops, and tells.
#[test]
fn the_same_line_twice() {
    let lab = Lab::new();
    shell(&lab, TWO);
    let entry = format!(
        "resources: [../../base]\\nimages:\\n- name: registry.test:5000/shop/web\\n  digest: {OLDDIG}\\n"
    );
    competes(&lab, &format!("printf '{entry}' > {PROD} && git commit -qam other"));
    let before = lab.git("b", &["rev-parse", "main"]);
    let told = pin(&lab, "b", &["--push"]);
    assert_eq!((told.status, told.code()), (3, "changed-on-remote"), "{}", told.json);
    assert!(message(&told).contains(OLDDIG), "{}", told.json);
    assert_eq!(lab.git("hub.git", &["log", "--format=%s", "main"]), "other\n0");
    assert_eq!(lab.git("b", &["rev-parse", "main"]), before);
    assert_eq!(lab.git("b", &["status", "--porcelain"]), "");
    assert!(!lab.path("b/.git/rebase-merge").exists());
}

/// C122: the commit has the overlay alone, and what else is being worked on stays as it is.
#[test]
fn not_only_our_change_in_the_tree() {
    let lab = Lab::new();
    shell(&lab, F3);
    shell(
        &lab,
        "cd deploy && echo '# half-done' >> apps/other/x; echo secret > notes.txt; echo '# staged' >> base/web.yaml && git add base/web.yaml",
    );
    let status = || lab.git("deploy", &["status", "--porcelain"]);
    let before = status();
    assert_eq!(before, " M apps/other/x\nM  base/web.yaml\n?? notes.txt");
    let made = pin(&lab, "deploy", &["--commit"]).ok();
    assert_eq!(made.commit(), Some(lab.git("deploy", &["rev-parse", "main"]).as_str()));
    assert_eq!(lab.git("deploy", &["diff", "--name-only", "HEAD^", "HEAD"]), PROD);
    assert_eq!(status(), before);
    // The overlay itself is being edited.
    lab.git("deploy", &["reset", "-q", "--soft", "HEAD^"]);
    lab.git("deploy", &["checkout", "-q", "HEAD", "--", PROD]);
    shell(&lab, &format!("cd deploy && echo '# mine' >> {PROD}"));
    let content = lab.read(&format!("deploy/{PROD}"));
    let refused = pin(&lab, "deploy", &["--commit"]);
    assert_eq!((refused.status, refused.code()), (3, "dirty-file"), "{}", refused.json);
    assert_eq!(lab.read(&format!("deploy/{PROD}")), content);
    assert_eq!(
        lab.git("deploy", &["rev-parse", "HEAD"]),
        lab.git("deploy", &["rev-parse", "LATER"])
    );
}

/// C122 under a detached head, and in the middle of a rebase.
#[test]
fn no_commit_goes_where_no_branch_would_have_it() {
    let lab = Lab::new();
    shell(&lab, F3);
    lab.git("", &["clone", "-q", "--bare", "deploy", "hub.git"]);
    lab.git("deploy", &["remote", "add", "origin", &lab.url("hub.git")]);
    lab.git("deploy", &["checkout", "-q", "--detach"]);
    for more in ["--commit", "--push"] {
        let refused = pin(&lab, "deploy", &[more]);
        assert_eq!((refused.status, refused.code()), (3, "detached-head"), "{}", refused.json);
        assert!(refused.json["error"].to_string().contains("--branch"), "{}", refused.json);
    }
    shell(
        &lab,
        "cd deploy && git checkout -q -b theirs OLD && mkdir -p apps/other && echo y > apps/other/x && git add -A && git commit -qm y && ! git rebase -q main >/dev/null 2>&1",
    );
    assert!(lab.path("deploy/.git/rebase-merge").exists(), "the rebase is under way");
    let refs = lab.git("deploy", &["for-each-ref"]);
    for more in ["--commit", "--push"] {
        let refused = pin(&lab, "deploy", &[more]);
        assert_eq!((refused.status, refused.code()), (3, "in-progress"), "{}", refused.json);
        assert!(message(&refused).contains("rebase"), "{}", refused.json);
    }
    assert_eq!(lab.git("deploy", &["for-each-ref"]), refs);
}

/// C126: what git has is the pointer, and no command takes it for the manifest.
#[test]
fn a_git_lfs_pointer_is_no_manifest() {
    let pointer = |size: u32| {
        format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize {size}\n"
        )
    };
    let lab = Lab::new();
    lab.init("deploy", &[]);
    shell(&lab, "cd deploy && mkbase");
    for size in [12_344, 12_345] {
        lab.write(&format!("deploy/{PROD}"), pointer(size));
        lab.commit_all("deploy", "x");
    }
    let head = lab.git("deploy", &["rev-parse", "HEAD"]);
    let refused = |ran: Ran| {
        assert_eq!(ran.status, 3, "{}", ran.json);
        assert!(ran.json.to_string().contains("is a Git LFS pointer"), "{}", ran.json);
        assert!(ran.json.to_string().contains(PROD), "{}", ran.json);
    };
    refused(pin(&lab, "deploy", &[]));
    refused(pin(&lab, "deploy", &["--commit"]));
    refused(overlay(&lab, "deploy", &["revert", "overlays/prod", "--to", "HEAD~1"]));
    refused(overlay(&lab, "deploy", &["check", "overlays/prod"]));
    assert_eq!(lab.read(&format!("deploy/{PROD}")), pointer(12_345).into_bytes());
    assert_eq!(lab.git("deploy", &["rev-parse", "HEAD"]), head);
    // A base that is one, too.
    lab.write(&format!("deploy/{PROD}"), "resources: [../../base]\n");
    lab.write("deploy/base/web.yaml", pointer(1));
    let ran = pin(&lab, "deploy", &[]);
    assert!(ran.json["error"].to_string().contains("base/web.yaml"), "{}", ran.json);
    assert!(message(&ran).contains("is a Git LFS pointer"), "{}", ran.json);
}
