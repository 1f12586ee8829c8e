//! Unified diffs as git prints them.

use std::fs;
use std::process::Command;

use overlay::edit::unified_diff;

use crate::support;

/// What `git diff` prints for the two texts, from its `---` line on and without the heading behind `@@`.
fn git_diff(old: &str, new: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    fs::create_dir(dir.path().join("b")).unwrap();
    fs::write(dir.path().join("a/k.yaml"), old).unwrap();
    fs::write(dir.path().join("b/k.yaml"), new).unwrap();
    let args = [
        "diff",
        "--no-index",
        "--no-color",
        "--no-prefix",
        "--no-ext-diff",
        "a/k.yaml",
        "b/k.yaml",
    ];
    let output = Command::new("git").current_dir(dir.path()).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let body = text.find("--- ").map_or("", |at| &text[at..]);
    let bare = |line: &str| match line.starts_with("@@") {
        true => format!("{}@@\n", &line[..line[2..].find("@@").unwrap() + 2]),
        false => line.to_owned(),
    };
    body.split_inclusive('\n').map(bare).collect()
}

#[test]
fn diffs_are_those_of_git() {
    if !support::runs("git", &["--version"]) {
        return support::skip("no git");
    }
    let long: String = (0..40).map(|i| format!("line {i}\n")).collect();
    let cases = [
        ("a\nb\nc\n".to_owned(), "a\nB\nc\n".to_owned()),
        ("a\nb".to_owned(), "a\nB".to_owned()),
        ("a\nb".to_owned(), "a\nb\nc".to_owned()),
        ("a\nb\n".to_owned(), "a\nb".to_owned()),
        ("a\r\nb\r\nc\r\n".to_owned(), "a\r\nB\r\nc\r\n".to_owned()),
        (long.clone(), long.replace("line 3\n", "new\n").replace("line 30\n", "")),
        (long.clone(), long.replace("line 3\n", "new\n").replace("line 8\n", "other\nmore\n")),
        (long.clone(), long.replace("line 39\n", "line 39\nend\n")),
        ("é\u{2028}x\n".to_owned(), "é\u{2028}y\n".to_owned()),
        (String::new(), "a\n".to_owned()),
    ];
    for (old, new) in cases {
        assert_eq!(
            unified_diff("k.yaml", Some(&old), Some(&new)),
            git_diff(&old, &new),
            "{old:?} to {new:?}"
        );
    }
}

#[test]
fn a_new_file_has_no_old_side() {
    let diff = unified_diff("k.yaml", None, Some("a\n"));
    assert_eq!(diff, "--- /dev/null\n+++ b/k.yaml\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(unified_diff("k.yaml", Some("a\n"), Some("a\n")), "");
}
