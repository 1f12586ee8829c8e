//! Commits built in the object store are those that `git add` and `git commit` would have made.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use overlay::git::{
    Built, CommitText, FileChange, GitError, ObjectId, Repository, advance_current_branch,
    branch_reference, build_commit, finish_interrupted, move_branch, parse_records, require_clean,
};

use overlay::error::Error;

use crate::support::git_lab::{Lab, repository_forms};

pub(crate) fn change(path: &str, content: &str) -> FileChange {
    FileChange { path: path.to_owned(), content: Some(content.as_bytes().to_vec()) }
}

pub(crate) fn text(message: &str) -> CommitText {
    CommitText { message: message.to_owned(), ..CommitText::default() }
}

/// The code and the exit status that a user meets.
pub(crate) fn code_of(error: GitError) -> (&'static str, u8) {
    let error = Error::from(error);
    (error.code().name(), error.exit().status())
}

pub(crate) fn head(repository: &Repository) -> ObjectId {
    repository.resolve("HEAD").unwrap()
}

pub(crate) fn build(
    repository: &Repository,
    files: &[FileChange],
) -> Result<Option<Built>, GitError> {
    build_commit(repository, head(repository), files, &text("Pin web"))
}

pub(crate) const PROD: &str = "overlays/prod/kustomization.yaml";

#[test]
fn a_commit_is_what_git_would_have_committed() {
    for init in repository_forms() {
        let lab = Lab::new();
        lab.overlays("plain", &init);
        lab.link("plain/same", "base");
        lab.write("plain/base.yaml", "sorts beside base/\n");
        lab.write("plain/gone/only.yaml", "1\n");
        lab.commit_all("plain", "more");
        lab.git("", &["clone", "-q", "plain", "real"]);
        let repository = lab.open("plain");
        let files = [
            change(PROD, "resources: [../../base]\nimages: []\n"),
            change("tools/run.sh", "#!/bin/sh\nexit 1\n"),
            change("new/deep/er/file.yaml", "a: 1\n"),
            change("base0", "sorts after base/\n"),
            FileChange { path: "gone/only.yaml".to_owned(), content: None },
        ];
        let built = build(&repository, &files).unwrap().unwrap();
        for file in &files {
            match &file.content {
                Some(content) => lab.write(&format!("real/{}", file.path), content),
                None => fs::remove_file(lab.path(&format!("real/{}", file.path))).unwrap(),
            }
        }
        lab.commit_all("real", "Pin web");
        let tree = lab.git("plain", &["rev-parse", &format!("{}^{{tree}}", built.id)]);
        assert_eq!(tree, lab.git("real", &["rev-parse", "HEAD^{tree}"]));
        assert_eq!(lab.git("plain", &["status", "--porcelain"]), "", "nothing has moved");
        lab.require_sound("plain");
        assert_eq!(build(&repository, &[change(PROD, "resources: [../../base]\n")]).unwrap(), None);
    }
}

/// Content as the object store shows it, put through our rules and through `git add`: the same blob.
#[test]
fn attributes_are_applied_as_git_add_applies_them() {
    let attributes = [
        "",
        "* text=auto\n",
        "*.yaml text\n",
        "*.yaml -text\n",
        "*.yaml text eol=crlf\n",
        "*.yaml eol=lf\n",
        "*.yaml text=auto eol=crlf\n",
        "*.yaml binary\n",
        "*.yaml crlf\n",
        "*.yaml ident\n",
        "[attr]lines text eol=crlf\n*.yaml lines\n",
        "# in a directory\n",
    ];
    let contents =
        ["a: 1\nb: 2\n", "a: 1\r\nb: 2\r\n", "a: 1\r\nb: 2\n", "id: $Id: x $\n", "a\0b\r\n", ""];
    for attribute in attributes {
        for autocrlf in ["false", "true", "input"] {
            let lab = Lab::new();
            lab.init("plain", &[]);
            lab.write("plain/.gitattributes", attribute);
            if attribute.starts_with("# in a directory") {
                lab.write("plain/dir/.gitattributes", "edited*.yaml text\n");
            }
            let path = |name: &str, at: usize| format!("dir/{name}-{at}.yaml");
            for at in 0..contents.len() {
                lab.write(&format!("plain/{}", path("edited", at)), "a: 0\r\n");
            }
            lab.commit_all("plain", "start");
            lab.git("plain", &["config", "core.autocrlf", autocrlf]);
            let cases = contents.iter().enumerate();
            let files: Vec<FileChange> = cases
                .flat_map(|(at, content)| {
                    ["edited", "new"].map(|name| change(&path(name, at), content))
                })
                .collect();
            let built = build(&lab.open("plain"), &files).unwrap().unwrap();
            for file in &files {
                lab.write(&format!("plain/{}", file.path), file.content.as_ref().unwrap());
            }
            lab.git("plain", &["add", "-A"]);
            let list = |at: &str| lab.git("plain", &["ls-tree", "-r", at]);
            let real = lab.git("plain", &["write-tree"]);
            assert_eq!(
                list(&built.id.to_string()),
                list(&real),
                "{attribute:?} autocrlf={autocrlf}"
            );
        }
    }
}

#[test]
fn a_checkout_in_another_encoding_or_with_other_line_ends_follows_and_is_clean() {
    let lab = Lab::new();
    lab.init("plain", &[]);
    lab.write(
        "plain/.gitattributes",
        "crlf.yaml text eol=crlf\nwide.yaml text working-tree-encoding=UTF-16LE eol=crlf\n",
    );
    lab.write("plain/crlf.yaml", "a: 1\r\n");
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    lab.write("plain/wide.yaml", wide("é: 1\r\n"));
    lab.commit_all("plain", "start");
    let repository = lab.open("plain");
    let built = build(&repository, &[change("crlf.yaml", "a: 2\n"), change("wide.yaml", "é: 2\n")])
        .unwrap()
        .unwrap();
    advance_current_branch(&repository, &built).unwrap();
    assert_eq!(lab.read("plain/crlf.yaml"), b"a: 2\r\n");
    assert_eq!(lab.read("plain/wide.yaml"), wide("é: 2\r\n"));
    assert_eq!(lab.git("plain", &["cat-file", "blob", "HEAD:wide.yaml"]), "é: 2");
    assert_eq!(lab.git("plain", &["status", "--porcelain"]), "");
    lab.require_sound("plain");
}

#[test]
fn what_a_filter_owns_is_refused() {
    let lab = Lab::new();
    lab.init("plain", &[]);
    lab.write("plain/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    lab.write("plain/a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n");
    lab.write("plain/a.yaml", "a: 1\n");
    lab.commit_all("plain", "start");
    let repository = lab.open("plain");
    let refused = build(&repository, &[change("a.bin", "x")]).unwrap_err();
    assert!(
        matches!(refused, GitError::NotEditable { ref path, .. } if path == "a.bin"),
        "{refused}"
    );
    let built = build(&repository, &[change("a.yaml", "a: 2\n")]).unwrap().unwrap();
    let pointer = |at: &str| lab.git("plain", &["rev-parse", &format!("{at}:a.bin")]);
    assert_eq!(pointer(&built.id.to_string()), pointer("HEAD"));
}

#[test]
fn paths_that_git_does_not_take_are_refused() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.link("plain/link.yaml", "base/web.yaml");
    lab.link("plain/dirlink", "base");
    lab.commit_all("plain", "links");
    let repository = lab.open("plain");
    for path in [
        "",
        "/abs",
        "../out",
        "a/../b",
        "a//b",
        ".git/config",
        "x/.GIT/y",
        "base",
        "link.yaml",
        "dirlink/web.yaml",
        "base/web.yaml/x",
    ] {
        let refused = build(&repository, &[change(path, "x")]).unwrap_err();
        assert_eq!(code_of(refused), ("git-path", 3), "{path}");
    }
}

#[test]
fn the_current_branch_moves_and_only_its_files_follow() {
    for init in repository_forms() {
        let lab = Lab::new();
        lab.overlays("plain", &init);
        for hook in [
            "pre-commit",
            "commit-msg",
            "post-commit",
            "post-checkout",
            "reference-transaction",
            "post-index-change",
        ] {
            lab.write(
                &format!("plain/.git/hooks/{hook}"),
                "#!/bin/sh\ntouch ../hook-ran hook-ran\nexit 1\n",
            );
            let hook = lab.path(&format!("plain/.git/hooks/{hook}"));
            fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).unwrap();
        }
        lab.write("plain/overlays/dev/kustomization.yaml", "dirty: true\n");
        lab.write("plain/untracked", "mine\n");
        let dirty = lab.git("plain", &["-c", "core.hooksPath=/dev/null", "status", "--porcelain"]);
        let old = lab.git("plain", &["rev-parse", "HEAD"]);
        let repository = lab.open("plain");
        let built = build(
            &repository,
            &[
                change(PROD, "new: 1\n"),
                change("tools/run.sh", "#!/bin/sh\n:\n"),
                change("new.yaml", "n\n"),
            ],
        );
        let built = built.unwrap().unwrap();
        assert_eq!(advance_current_branch(&repository, &built).unwrap(), "refs/heads/main");
        assert_eq!(lab.git("plain", &["rev-parse", "main"]), built.id.to_string());
        assert_eq!(lab.git("plain", &["rev-parse", "main~1"]), old);
        assert_eq!(lab.read(&format!("plain/{PROD}")), b"new: 1\n");
        assert_eq!(lab.read("plain/new.yaml"), b"n\n");
        let mode = fs::metadata(lab.path("plain/tools/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        let diff_files =
            lab.git("plain", &["-c", "core.hooksPath=/dev/null", "diff-files", "--name-only"]);
        assert_eq!(diff_files, "overlays/dev/kustomization.yaml", "the index knows the new files");
        assert_eq!(
            lab.git("plain", &["-c", "core.hooksPath=/dev/null", "status", "--porcelain"]),
            dirty
        );
        let reflog = lab.git("plain", &["reflog", "-1", "--format=%gs", "HEAD"]);
        assert_eq!(reflog, "overlay: Pin web");
        assert!(!lab.path("hook-ran").exists() && !lab.path("plain/hook-ran").exists());
        assert!(!lab.path("plain/.git/overlay-delivery.json").exists());
        lab.require_sound("plain");
    }
}

#[test]
fn files_that_are_not_as_committed_are_refused_and_kept() {
    type Spoil = fn(&Lab);
    let spoil: [(&str, Spoil); 5] = [
        ("changed", |lab| lab.write(&format!("plain/{PROD}"), "mine: 1\n")),
        ("staged", |lab| {
            lab.write(&format!("plain/{PROD}"), "mine: 1\n");
            lab.git("plain", &["add", PROD]);
        }),
        ("staged and put back", |lab| {
            lab.write(&format!("plain/{PROD}"), "mine: 1\n");
            lab.git("plain", &["add", PROD]);
            lab.write(&format!("plain/{PROD}"), "resources: [../../base]\n");
        }),
        ("removed", |lab| fs::remove_file(lab.path(&format!("plain/{PROD}"))).unwrap()),
        ("made executable", |lab| {
            let path = lab.path(&format!("plain/{PROD}"));
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }),
    ];
    for (name, spoil) in spoil {
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        let repository = lab.open("plain");
        let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
        spoil(&lab);
        let before = (
            lab.git("plain", &["status", "--porcelain"]),
            fs::read(lab.path(&format!("plain/{PROD}"))).ok(),
        );
        let refused = advance_current_branch(&repository, &built).unwrap_err();
        assert_eq!(refused, GitError::Dirty { paths: vec![PROD.to_owned()] }, "{name}");
        assert_eq!(code_of(refused), ("dirty-file", 3));
        let after = (
            lab.git("plain", &["status", "--porcelain"]),
            fs::read(lab.path(&format!("plain/{PROD}"))).ok(),
        );
        assert_eq!(before, after, "{name}");
        assert_eq!(head(&repository), built.base, "{name}");
    }
}

#[test]
fn an_untracked_or_ignored_file_in_the_way_is_kept() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.write("plain/.gitignore", "ignored*\n");
    lab.commit_all("plain", "ignore");
    let repository = lab.open("plain");
    for path in ["new.yaml", "ignored.yaml", "ignored-dir/x.yaml"] {
        let built = build(&repository, &[change(path, "ours\n")]).unwrap().unwrap();
        lab.write(&format!("plain/{path}"), "mine\n");
        let refused = advance_current_branch(&repository, &built).unwrap_err();
        assert_eq!(refused, GitError::Dirty { paths: vec![path.to_owned()] });
        assert_eq!(lab.read(&format!("plain/{path}")), b"mine\n");
    }
}

#[test]
fn a_branch_of_its_own_leaves_checkout_and_index_alone() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.write(&format!("plain/{PROD}"), "dirty: 1\n");
    lab.git("plain", &["add", PROD]);
    let index = lab.read("plain/.git/index");
    let repository = lab.open("plain");
    let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
    let branch = branch_reference(&repository, "pins/web").unwrap();
    move_branch(&repository, &branch, None, &built).unwrap();
    assert_eq!(lab.git("plain", &["rev-parse", "pins/web"]), built.id.to_string());
    assert_eq!(lab.git("plain", &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(lab.read("plain/.git/index"), index);
    assert_eq!(lab.read(&format!("plain/{PROD}")), b"dirty: 1\n");
    assert_eq!(lab.git("plain", &["reflog", "-1", "--format=%gs", "pins/web"]), "overlay: Pin web");
    // A run that was cut off after the branch moved is finished by the same call.
    move_branch(&repository, &branch, None, &built).unwrap();
    let newer = build(&repository, &[change(PROD, "newer: 1\n")]).unwrap().unwrap();
    for old in [None, Some(built.base)] {
        let moved = move_branch(&repository, &branch, old, &newer).unwrap_err();
        assert!(matches!(moved, GitError::Moved { .. }), "{moved}");
    }
    assert_eq!(lab.git("plain", &["rev-parse", "pins/web"]), built.id.to_string());
    lab.git("plain", &["worktree", "add", "-q", "../linked", "pins/web"]);
    for branch in ["refs/heads/main", "refs/heads/pins/web"] {
        let refused = move_branch(&repository, branch, Some(built.id), &built).unwrap_err();
        assert!(matches!(refused, GitError::CheckedOutElsewhere { .. }), "{refused}");
    }
    lab.require_sound("plain");
}

#[test]
fn branch_names_that_git_does_not_take_are_refused() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let repository = lab.open("plain");
    for name in
        ["", "-f", "--force", "a..b", "a b", "a~1", "HEAD", "a.lock", "/a", "a/", "@{1}", "a\nb"]
    {
        let refused = branch_reference(&repository, name).unwrap_err();
        assert!(matches!(refused, GitError::BadBranchName { .. }), "{name}");
    }
    assert_eq!(branch_reference(&repository, "feature/x").unwrap(), "refs/heads/feature/x");
}

#[test]
fn a_detached_head_and_an_unborn_branch_take_no_commit() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.git("plain", &["checkout", "-q", "--detach"]);
    let repository = lab.open("plain");
    let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
    assert_eq!(advance_current_branch(&repository, &built), Err(GitError::Detached));
    assert_eq!(code_of(GitError::Detached), ("detached-head", 3));
    move_branch(&repository, "refs/heads/pins", None, &built).unwrap();
    lab.init("empty", &[]);
    assert!(matches!(lab.open("empty").resolve("HEAD"), Err(GitError::UnknownRevision { .. })));
}

#[test]
fn a_bare_repository_and_a_linked_work_tree_take_commits() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.bare("plain", "bare.git");
    lab.git("plain", &["worktree", "add", "-q", "../linked", "-b", "other"]);
    for (name, branch) in [("bare.git", "refs/heads/main"), ("linked", "refs/heads/other")] {
        let repository = lab.open(name);
        let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
        assert_eq!(advance_current_branch(&repository, &built).unwrap(), branch);
        assert_eq!(lab.git(name, &["rev-parse", branch]), built.id.to_string());
    }
    assert_eq!(lab.git("linked", &["status", "--porcelain"]), "");
    assert_eq!(lab.git("plain", &["status", "--porcelain"]), "");
    assert_eq!(lab.read(&format!("linked/{PROD}")), b"new: 1\n");
    lab.require_sound("bare.git");
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    for cone in [vec!["--no-cone"], vec!["--cone"], vec!["--cone", "--sparse-index"]] {
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        let mut args = vec!["sparse-checkout", "set"];
        args.extend(&cone);
        args.push("overlays/dev");
        lab.git("plain", &args);
        assert!(!lab.path(&format!("plain/{PROD}")).exists());
        let repository = lab.open("plain");
        let files =
            [change(PROD, "new: 1\n"), change("overlays/dev/kustomization.yaml", "new: 2\n")];
        let built = build(&repository, &files).unwrap().unwrap();
        advance_current_branch(&repository, &built).unwrap();
        assert!(!lab.path(&format!("plain/{PROD}")).exists(), "{cone:?}");
        assert_eq!(lab.read("plain/overlays/dev/kustomization.yaml"), b"new: 2\n");
        assert_eq!(lab.git("plain", &["status", "--porcelain"]), "", "{cone:?}");
        lab.require_sound("plain");
    }
}

#[test]
fn a_partial_clone_takes_commits() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.bare("plain", "bare.git");
    lab.git(
        "",
        &[
            "clone",
            "-q",
            "--filter=blob:none",
            "--no-checkout",
            "--depth",
            "1",
            &lab.url("bare.git"),
            "partial",
        ],
    );
    let repository = lab.open("partial");
    let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
    move_branch(&repository, "refs/heads/pins", None, &built).unwrap();
    assert_eq!(lab.git("partial", &["cat-file", "blob", &format!("pins:{PROD}")]), "new: 1");
    assert_eq!(
        lab.git("partial", &["rev-parse", "pins:base"]),
        lab.git("plain", &["rev-parse", "main:base"])
    );
}

#[test]
fn submodules_stay_as_they_are() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.overlays("super", &[]);
    lab.git(
        "super",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &lab.url("plain"),
            "overlays/sub",
        ],
    );
    lab.commit_all("super", "submodule");
    let repository = lab.open("super");
    let built = build(&repository, &[change("overlays/x.yaml", "x\n")]).unwrap().unwrap();
    advance_current_branch(&repository, &built).unwrap();
    assert_eq!(
        lab.git("super", &["rev-parse", "HEAD:overlays/sub"]),
        lab.git("super", &["rev-parse", "HEAD~1:overlays/sub"])
    );
    assert_eq!(lab.git("super", &["status", "--porcelain"]), "");
    assert!(matches!(
        build(&repository, &[change("overlays/sub/x", "x")]),
        Err(GitError::NotEditable { .. })
    ));
}

#[test]
fn identity_is_that_of_git_and_a_missing_one_is_said() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let none = [
        ("GIT_AUTHOR_NAME", ""),
        ("GIT_AUTHOR_EMAIL", ""),
        ("GIT_COMMITTER_NAME", ""),
        ("GIT_COMMITTER_EMAIL", ""),
    ];
    let open =
        |settings| Repository::open(&std::sync::Arc::new(settings), &lab.path("plain")).unwrap();
    let repository = open(lab.settings_with(&none));
    for sign_off in [false, true] {
        let text = CommitText { sign_off, ..text("x") };
        let error = build_commit(&repository, head(&repository), &[change(PROD, "n\n")], &text)
            .unwrap_err();
        assert_eq!(code_of(error), ("no-git-identity", 4));
    }
    let repository = open(lab.settings_with(&[("GIT_AUTHOR_DATE", "2024-05-01T10:00:00+02:00")]));
    let text = CommitText {
        author: Some("Ann Example <ann@example.test>".parse().unwrap()),
        sign_off: true,
        records: vec![overlay::git::ChangeRecord::new(
            serde_json::json!({"pin": {"r/web": "sha256:00"}}),
        )],
        ..text("Pin web\n\nSo that it is pinned.")
    };
    let built = build_commit(&repository, head(&repository), &[change(PROD, "n\n")], &text)
        .unwrap()
        .unwrap();
    let id = built.id.to_string();
    let shown = lab.git("plain", &["show", "-s", "--format=%an|%ae|%aI|%cn|%ce", &id]);
    assert_eq!(
        shown,
        "Ann Example|ann@example.test|2024-05-01T10:00:00+02:00|Case|case@example.test"
    );
    let signed_off =
        lab.git("plain", &["show", "-s", "--format=%(trailers:key=Signed-off-by,valueonly)", &id]);
    assert_eq!(signed_off.trim(), "Case <case@example.test>");
    assert_eq!(parse_records(&repository.commit(built.id).unwrap().message), text.records);
    assert_eq!(repository.commit(built.id).unwrap().author, "Ann Example <ann@example.test>");
}

/// What a process that was killed after the branch had moved leaves, is finished by the next.
#[test]
fn an_interrupted_delivery_is_finished() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let repository = lab.open("plain");
    let built = build(&repository, &[change(PROD, "new: 1\n"), change("tools/run.sh", "x\n")])
        .unwrap()
        .unwrap();
    let entry = |file: &overlay::git::StoredFile, after: bool| {
        let entry = if after { file.after } else { file.before }.unwrap();
        serde_json::json!([entry.mode.bits(), entry.id.to_string()])
    };
    let files: Vec<serde_json::Value> = built
        .files
        .iter()
        .map(|f| serde_json::json!({"path": f.path, "before": entry(f, false), "after": entry(f, true), "is_converted": false}))
        .collect();
    let journal = serde_json::json!({"version": 1, "branch": "refs/heads/main", "old": built.base.to_string(),
        "new": built.id.to_string(), "is_checkout": true, "files": files});
    // Killed before the branch moved: nothing to do but to forget.
    lab.write("plain/.git/overlay-delivery.json", journal.to_string());
    assert!(finish_interrupted(&repository).unwrap());
    assert_eq!(lab.git("plain", &["status", "--porcelain"]), "");
    assert_eq!(head(&repository), built.base);
    // Killed after it, in the middle of git's own work on the index; a person has changed one of the files since.
    lab.write("plain/.git/overlay-delivery.json", journal.to_string());
    lab.git("plain", &["update-ref", "refs/heads/main", &built.id.to_string()]);
    lab.write("plain/.git/index.lock", "");
    lab.write("plain/tools/run.sh", "mine\n");
    assert!(finish_interrupted(&repository).unwrap());
    assert_eq!(lab.read(&format!("plain/{PROD}")), b"new: 1\n");
    assert_eq!(lab.read("plain/tools/run.sh"), b"mine\n");
    assert_eq!(lab.git("plain", &["diff", "--name-only", "HEAD"]), "tools/run.sh");
    assert!(!finish_interrupted(&repository).unwrap());
}

#[test]
fn a_lock_that_is_not_ours_is_left_and_named() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    let repository = lab.open("plain");
    let built = build(&repository, &[change(PROD, "new: 1\n")]).unwrap().unwrap();
    lab.write("plain/.git/refs/heads/main.lock", "");
    let error = advance_current_branch(&repository, &built).unwrap_err();
    assert_eq!(code_of(error), ("repository-locked", 4));
    assert!(lab.path("plain/.git/refs/heads/main.lock").exists());
    fs::remove_file(lab.path("plain/.git/refs/heads/main.lock")).unwrap();
    lab.write("plain/.git/index.lock", "");
    let error = advance_current_branch(&repository, &built).unwrap_err();
    assert_eq!(code_of(error), ("repository-locked", 4));
    assert_eq!(
        head(&repository),
        built.base,
        "a branch does not move where the index cannot follow"
    );
}

/// `git status` says nothing of such a file; the bytes on disk are looked at.
#[test]
fn a_file_marked_unchanged_is_dirty_when_it_is_not() {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.write("plain/.gitattributes", "crlf.yaml text eol=crlf\n");
    lab.write("plain/crlf.yaml", "a: 1\r\n");
    lab.commit_all("plain", "more");
    let repository = lab.open("plain");
    let files = [PROD, "crlf.yaml"];
    for path in files {
        lab.git("plain", &["update-index", "--assume-unchanged", path]);
    }
    require_clean(&repository, &files).unwrap();
    let precious = "resources: [../../base]\n# not committed\n";
    lab.write(&format!("plain/{PROD}"), precious);
    assert_eq!(lab.git("plain", &["status", "--porcelain"]), "", "git does not look");
    let refused = require_clean(&repository, &files).unwrap_err();
    assert!(matches!(refused, GitError::Dirty { ref paths } if paths == &[PROD]), "{refused}");
    let built = build(&repository, &[change(PROD, "images: []\n")]).unwrap().unwrap();
    let refused = advance_current_branch(&repository, &built).unwrap_err();
    assert_eq!(code_of(refused), ("dirty-file", 3));
    assert_eq!(lab.read(&format!("plain/{PROD}")), precious.as_bytes());
    fs::remove_file(lab.path(&format!("plain/{PROD}"))).unwrap();
    assert_eq!(code_of(require_clean(&repository, &[PROD]).unwrap_err()), ("dirty-file", 3));
}
