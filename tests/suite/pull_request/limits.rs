//! What a forge does on bad days, and credentials that do not let in.

use crate::git_remote::command_lines_during;
use crate::support::github::{READER, Trouble};

use super::*;

#[test]
fn limits_are_waited_for_as_long_as_is_allowed() {
    let stage = Stage::new(1);
    let secondary = "You have exceeded a secondary rate limit.";
    stage.github.fail(
        "POST",
        "/pulls",
        Trouble::Status(403, vec![("Retry-After", "1".into())], secondary),
    );
    stage.github.fail(
        "GET",
        "/pulls",
        Trouble::Status(429, vec![("Retry-After", "1".into())], "slow"),
    );
    stage.github.fail("GET", "/pulls", Trouble::Status(502, vec![], "Bad Gateway"));
    assert_eq!(stage.pin('2', &[]).ok().action(), "opened");
    assert_eq!(stage.github.open_numbers(), [1]);
    let reset =
        vec![("X-RateLimit-Remaining", "0".into()), ("X-RateLimit-Reset", "99999999999".into())];
    stage.github.fail("GET", "/pulls", Trouble::Status(403, reset, "API rate limit exceeded"));
    let ran = stage.pin('3', &[]);
    assert_eq!((ran.status, ran.code()), (5, "forge-rate-limited"), "{}", ran.text);
    stage.github.calls();
}

/// An answer that was lost: the request was carried out, and is not made twice.
#[test]
fn a_lost_answer_opens_no_second_one() {
    let stage = Stage::new(1);
    stage.github.fail("POST", "/pulls", Trouble::Lost);
    let ran = stage.pin('2', &[]).ok();
    assert_eq!((ran.number(), ran.action()), (Some(1), "opened"));
    assert_eq!(stage.github.open_numbers(), [1]);
    // A fault of the server may have been before or after: here it was before.
    let stage = Stage::new(1);
    stage.github.fail("POST", "/pulls", Trouble::Status(503, vec![], "Unavailable"));
    assert_eq!(stage.pin('2', &[]).ok().number(), Some(1));
    stage.github.fail("PATCH", "/pulls/1", Trouble::Lost);
    assert_eq!(stage.pin('3', &[]).ok().action(), "updated");
    assert!(stage.github.pull(1).body.contains("333333333333"));
}

#[test]
fn a_renamed_repository_is_followed() {
    let stage = Stage::new(1);
    stage.github.rename_from("ops/old-name");
    let first = stage.pin('2', &["--repo", "ops/old-name"]);
    // The head is named by where the branch was pushed, the base by its former name: GitHub redirects both.
    assert_eq!((first.status, first.action()), (0, "opened"), "{}", first.text);
}

#[test]
fn a_credential_that_does_not_let_in_is_told_and_never_shown() {
    let stage = Stage::new(1);
    let args = ["pin", "overlays/prod", &pin("shop/app0", '2'), "--pr"];
    let with = |token: Option<&str>| {
        let mut command = stage.command(&args);
        match token {
            Some(token) => command.env("GITHUB_TOKEN", token),
            None => command.env_remove("GITHUB_TOKEN"),
        };
        stage.finish(command.arg("-v").output().unwrap())
    };
    let ran = with(None);
    assert_eq!((ran.status, ran.code()), (4, "forge-credential"));
    let ran = with(Some("ghp_wrong00000000000000000000000000000"));
    assert_eq!((ran.status, ran.code()), (5, "forge-authentication"));
    assert_eq!(stage.git(&["branch", "--list", "overlay/*"]), "", "nothing was pushed");
    // It may read and not write: the branch is there, and the report says so.
    let ran = with(Some(READER));
    assert_eq!((ran.status, ran.code()), (5, "forge-refused"), "{}", ran.text);
    assert!(!ran.branch().is_empty() && stage.at(&ran.branch()).is_some(), "{}", ran.text);
    assert!(ran.json["error"]["hints"].to_string().contains("goes on from there"), "{}", ran.text);
    // The same command with a better token goes on from there.
    let ran = with(Some(TOKEN)).ok();
    assert_eq!((ran.number(), ran.action()), (Some(1), "opened"));
}

#[test]
fn no_forge_is_guessed() {
    let stage = Stage::new(1);
    stage
        .lab
        .git("clone", &["remote", "set-url", "origin", "https://git.example.test/ops/deploy.git"]);
    stage.lab.git("clone", &["config", "url.file:///nowhere/.insteadOf", "https://unused.test/"]);
    let folder = format!("url.{}.insteadOf", stage.lab.path("hub/ops/deploy.git").display());
    stage.lab.git("clone", &["config", &folder, "https://git.example.test/ops/deploy.git"]);
    let ran = stage.pin('2', &[]);
    assert_eq!((ran.status, ran.code()), (4, "forge-unknown"), "{}", ran.text);
    let api = stage.github.api();
    let ran = stage.pin('2', &["--forge", "github", "--forge-url", &api]);
    assert_eq!((ran.status, ran.code()), (4, "forge-repository"), "{}", ran.text);
    let ran =
        stage.pin('2', &["--forge", "github", "--forge-url", &api, "--repo", REPOSITORY]).ok();
    assert_eq!(ran.action(), "opened");
}

/// C124 with the token in the environment: it stands in no output, no message and no list of processes.
#[test]
fn nobody_answers() {
    let stage = Stage::new(1);
    let mut command =
        stage.command(&["pin", "overlays/prod", &pin("shop/app0", '2'), "--pr", "-v"]);
    const UNSEEN: &str = "forge-t0ken-8642097531";
    command.env("GITHUB_API_URL", "http://127.0.0.1:9/api/v3").env("GITHUB_REPOSITORY", REPOSITORY);
    command.env("GITHUB_TOKEN", UNSEEN);
    let (output, lines) = command_lines_during(|| command.output().unwrap());
    let ran = stage.finish(output);
    assert!(lines.contains("ls-remote"), "{lines}");
    assert!(!(lines + &ran.text).contains(UNSEEN));
    assert_eq!((ran.status, ran.code()), (5, "forge-unreachable"), "{}", ran.text);
}
