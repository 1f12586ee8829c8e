//! The comment on a pull request that somebody opened by hand: the action's script as it stands, against the forge of the tests.

use crate::support::hub::Pull;
use crate::support::{runs, skip};

use super::*;

/// Runs the script of the action in `clone`, with the program under test as the one that is installed.
fn comment(stage: &Stage, variables: &[(&str, &str)]) -> (i32, String, String) {
    std::fs::create_dir_all(stage.lab.path("bin")).unwrap();
    if !stage.lab.path("bin/overlay").exists() {
        stage.lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
    }
    let path = format!("{}:{}", stage.lab.path("bin").display(), std::env::var("PATH").unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/action/comment/run");
    let mut command = Command::new("bash");
    command.arg(script).current_dir(stage.lab.path("")).env_clear();
    command.envs(stage.lab.environment()).env("PATH", path);
    let (output, summary) = (stage.lab.path("output"), stage.lab.path("summary"));
    for file in [&output, &summary] {
        std::fs::write(file, "").unwrap();
    }
    for (name, value) in [
        ("OVERLAY_FROM", "origin/main"),
        ("OVERLAY_TO", "origin/by-hand"),
        ("OVERLAY_BELOW", ""),
        ("OVERLAY_PULL_REQUEST", "1"),
        ("OVERLAY_DIRECTORY", "clone"),
        ("OVERLAY_TOKEN", TOKEN),
        ("GITHUB_REPOSITORY", REPOSITORY),
        ("GITHUB_API_URL", &stage.github.api()),
    ] {
        command.env(name, value);
    }
    command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", &summary);
    let ran = command.envs(variables.iter().copied()).output().unwrap();
    let text =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let read = |file| std::fs::read_to_string(file).unwrap();
    assert!(!(text.clone() + &read(&output) + &read(&summary)).contains("ghp_"), "{text}");
    (ran.status.code().unwrap(), read(&output), text + &read(&summary))
}

/// A pull request by hand, from `by-hand` into `main`.
fn by_hand(stage: &Stage) {
    stage.github.hub(|hub| {
        let opened = hub.open(Pull {
            title: "By hand".into(),
            head_repository: Some(REPOSITORY.into()),
            head_branch: "by-hand".into(),
            base_branch: "main".into(),
            ..Pull::default()
        });
        assert_eq!(opened, Ok(1));
        // Somebody else's comment, which quotes ours.
        hub.find(1).unwrap().comments.push("> <!-- overlay:diff -->\nlooks good".into());
    });
}

fn set_replicas(stage: &Stage, replicas: u32) {
    let text = stage.git(&["show", "main:base/web.yaml"]);
    let text =
        text.replace("spec:\n  selector", &format!("spec:\n  replicas: {replicas}\n  selector"));
    stage.replace("by-hand", "base/web.yaml", &text);
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
}

#[test]
fn a_pull_request_by_hand_gets_one_comment_that_follows_it() {
    if !runs("jq", &["--version"]) || !runs("curl", &["--version"]) {
        return skip("no jq or no curl");
    }
    let stage = Stage::new(1);
    stage.git(&["branch", "by-hand", "main"]);
    stage.person("by-hand", "README", "nothing that is rendered");
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    by_hand(&stage);
    // Nothing differs: no comment.
    let (status, output, text) = comment(&stage, &[]);
    assert_eq!((status, output.as_str()), (0, "differs=false\noverlays=[]\n"), "{text}");
    assert_eq!(stage.github.writes(), [""; 0]);
    set_replicas(&stage, 4);
    let (status, output, text) = comment(&stage, &[]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(output, "differs=true\noverlays=[\"overlays/dev\",\"overlays/prod\"]\n");
    assert_eq!(stage.github.writes(), ["POST /issues/1/comments"]);
    let ours = |stage: &Stage| stage.github.pull(1).comments[1].clone();
    let row =
        |n: u32| format!("| changed | `Deployment.apps/web` | `spec.replicas` | nothing | `{n}` |");
    assert!(ours(&stage).contains(&row(4)), "{}", ours(&stage));
    // Again: nothing. Then another number: the same comment.
    comment(&stage, &[]);
    assert_eq!(stage.github.writes(), [""; 0]);
    set_replicas(&stage, 5);
    comment(&stage, &[]);
    assert_eq!(stage.github.writes(), ["PATCH /issues/comments/1002"]);
    assert!(ours(&stage).contains(&row(5)) && !ours(&stage).contains(&row(4)), "{}", ours(&stage));
    // Taken back: it says so.
    stage.replace("by-hand", "base/web.yaml", &stage.git(&["show", "main:base/web.yaml"]));
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    comment(&stage, &[]);
    assert!(ours(&stage).ends_with("No overlay renders differently."), "{}", ours(&stage));
    assert_eq!(stage.github.pull(1).comments.len(), 2);
}

#[test]
fn a_fork_may_not_comment_and_a_long_difference_is_cut() {
    if !runs("jq", &["--version"]) || !runs("curl", &["--version"]) {
        return skip("no jq or no curl");
    }
    let stage = Stage::new(1);
    stage.git(&["branch", "by-hand", "main"]);
    set_replicas(&stage, 4);
    by_hand(&stage);
    let (status, output, text) =
        comment(&stage, &[("OVERLAY_TOKEN", crate::support::github::READER)]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("::warning::the pull request cannot be commented"), "{text}");
    assert!(output.starts_with("differs=true") && text.contains("`spec.replicas`"), "{text}");
    let mut long = stage.git(&["show", "by-hand:base/web.yaml"]);
    for at in 0..400 {
        long.push_str(&format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}{at}}}\n",
            "c".repeat(150)
        ));
    }
    stage.replace("by-hand", "base/web.yaml", &long);
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    let (status, _, text) = comment(&stage, &[]);
    assert_eq!(status, 0, "{text}");
    let body = stage.github.pull(1).comments[1].clone();
    assert!(body.chars().count() < 65_536 && body.contains("this is cut"), "{}", body.len());
}
