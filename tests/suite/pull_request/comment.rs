//! The comment on a pull request that somebody opened by hand: the action's script as it stands, against the forge of the tests.

use crate::git_remote::command_lines_during;
use crate::support::git_lab::Lab;
use crate::support::hub::Pull;
use crate::support::{runs, skip};

use super::*;

/// Runs the script of the action in `clone`, with the program under test as the one that is installed: its status, its outputs, and what
/// it says. `variables` go over the usual ones.
pub(super) fn run_script(lab: &Lab, variables: &[(&str, &str)]) -> (i32, String, String) {
    std::fs::create_dir_all(lab.path("bin")).unwrap();
    if !lab.path("bin/overlay").exists() {
        lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
    }
    let path = format!("{}:{}", lab.path("bin").display(), std::env::var("PATH").unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/action/comment/run");
    let mut command = Command::new("bash");
    command.arg(script).current_dir(lab.path("")).env_clear();
    command.envs(lab.environment()).env("PATH", path);
    let (output, summary) = (lab.path("output"), lab.path("summary"));
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
    ] {
        command.env(name, value);
    }
    command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", &summary);
    command.envs(variables.iter().copied());
    let ran = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    let read = |file| std::fs::read_to_string(file).unwrap();
    assert!(!(text.clone() + &read(&output) + &read(&summary)).contains("ghp_"), "{text}");
    (ran.status.code().unwrap(), read(&output), text + &read(&summary))
}

/// Whether the programs of the script are there.
fn has_tools() -> bool {
    let lacking = ["jq", "curl"].into_iter().find(|program| !runs(program, &["--version"]));
    lacking.inspect(|program| skip(&format!("no {program}"))).is_none()
}

fn comment(stage: &Stage, variables: &[(&str, &str)]) -> (i32, String, String) {
    let api = stage.github.api();
    run_script(&stage.lab, &[&[("GITHUB_API_URL", api.as_str())], variables].concat())
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
    if !has_tools() {
        return;
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
    let row = |n: u32| format!("| changed | `Deployment.apps/web` | `spec.replicas` |  | `{n}` |");
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

/// The job fails with what is wrong, and the pull request has it, nothing of it read as markup.
#[test]
fn an_overlay_that_does_not_build_is_told() {
    if !has_tools() {
        return;
    }
    let stage = Stage::new(1);
    stage.git(&["branch", "by-hand", "main"]);
    stage.replace("by-hand", PROD, "resources: [\"```\"]\n");
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    by_hand(&stage);
    let (status, output, text) = comment(&stage, &[]);
    assert_eq!(status, 3, "{text}");
    assert_eq!(output, "differs=true\noverlays=[\"overlays/prod\"]\n");
    let body = stage.github.pull(1).comments[1].clone();
    assert!(body.contains("cannot be rendered") && body.contains("\n    error: "), "{body}");
    assert!(!body.lines().any(|line| line.starts_with("```")), "{body}");
    // What cannot be compared at all stands in the log of the job.
    let (status, _, text) = comment(&stage, &[("OVERLAY_TO", "origin/main")]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("::error title=usage::--from and --to are both `origin/main`"), "{text}");
    // Mended: the same comment says what changes now.
    set_replicas(&stage, 4);
    stage.replace("by-hand", PROD, &stage.git(&["show", &format!("main:{PROD}")]));
    stage.lab.git("clone", &["fetch", "-q", "origin"]);
    let (status, _, text) = comment(&stage, &[]);
    assert_eq!(status, 0, "{text}");
    assert!(stage.github.pull(1).comments[1].contains("`spec.replicas`"));
}

/// The token stands in no list of processes, while the forge takes its time, and in no output.
#[test]
fn the_token_is_nobodys_to_see() {
    if !has_tools() {
        return;
    }
    const UNSEEN: &str = "comment-t0ken-2468013579";
    let stage = Stage::new(1);
    let forge = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = forge.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in forge.incoming() {
            std::thread::sleep(std::time::Duration::from_millis(500));
            drop(stream);
        }
    });
    let api = format!("http://{address}/api/v3");
    let variables = [("GITHUB_API_URL", api.as_str()), ("OVERLAY_TOKEN", UNSEEN)];
    stage.git(&["branch", "by-hand", "main"]);
    set_replicas(&stage, 4);
    let ((status, output, text), lines) =
        command_lines_during(|| run_script(&stage.lab, &variables));
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("::warning::the comments of the pull request cannot be read"), "{text}");
    assert!(lines.contains(&address), "curl was not seen: {lines}");
    assert!(!(lines + &output + &text).contains(UNSEEN));
}

#[test]
fn a_fork_may_not_comment_and_a_long_difference_is_cut() {
    if !has_tools() {
        return;
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
            "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}{at}}}",
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
