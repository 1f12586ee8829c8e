//! The way that goes well, in one run and in several.

use super::*;

const FORWARD: [&str; 5] =
    ["preflight=holds", "edit=holds", "pull-request=done", "merge=done", "wait=holds"];

#[test]
fn one_command_goes_from_the_edit_to_what_runs() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    let ran = harbor.pin('2', &["--merge"]).ok();
    assert!(ran.changed(), "{}", ran.text);
    assert_eq!(steps(&ran, 0), FORWARD, "{}", ran.text);
    assert_eq!(status(&ran, 0), "shipped");
    let wave = &ran.json["result"]["waves"][0];
    assert_eq!(wave["commit"], harbor.tip());
    assert_eq!(wave["pullRequest"]["number"], 1);
    assert_eq!(ran.json["result"]["overlays"][0]["path"], "overlays/prod");
    let after = harbor.rendered("overlays/prod");
    let (old, new) = ("1".repeat(64), "2".repeat(64));
    assert_eq!(before.replace(&old, &new), after);

    // Again, here and on a machine that has never seen any of it.
    let tip = harbor.tip();
    harbor
        .stage
        .lab
        .git("", &["clone", "-q", &harbor.stage.github.remote(REPOSITORY), "elsewhere"]);
    for dir in ["clone", "elsewhere"] {
        let reference = pin("shop/web", '2');
        let again = harbor.ship_in(dir, &["pin", "overlays/prod", &reference, "--merge"]).ok();
        assert!(!again.changed(), "{}", again.text);
        assert_eq!(status(&again, 0), "already-so");
        let held =
            ["preflight=holds", "edit=holds", "pull-request=skipped", "merge=holds", "wait=holds"];
        assert_eq!(steps(&again, 0), held);
        assert_eq!(again.json["result"]["waves"][0]["commit"], tip, "{}", again.text);
    }
    assert_eq!(harbor.tip(), tip);
}

#[test]
fn without_merge_a_person_is_waited_for() {
    let harbor = Harbor::new();
    for (digit, how) in [('2', How::Squash), ('3', How::Merge), ('4', How::Rebase)] {
        let ran = harbor.with_person(how, || harbor.pin(digit, &[])).ok();
        assert_eq!(steps(&ran, 0), FORWARD, "{}", ran.text);
        assert_eq!(ran.json["result"]["waves"][0]["commit"], harbor.tip(), "{how:?}");
        assert!(harbor.rendered("overlays/prod").contains(&digit.to_string().repeat(64)));
    }
}

#[test]
fn the_same_command_goes_on_where_it_stopped_on_another_machine() {
    let harbor = Harbor::new();
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--timeout", "15s"];
    let ran = harbor.ship(&args);
    assert_eq!((ran.status, ran.code()), (6, "not-merged"), "{}", ran.text);
    assert!(message(&ran).starts_with("merge: "), "{}", ran.text);
    assert_eq!(harbor.stage.github.open_numbers(), [1]);
    harbor
        .stage
        .lab
        .git("", &["clone", "-q", &harbor.stage.github.remote(REPOSITORY), "elsewhere"]);
    let looks = harbor.stage.github.looks();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while harbor.stage.github.looks() == looks {
                std::thread::sleep(Duration::from_millis(20));
            }
            harbor.stage.github.hub(|hub| hub.merge(1, How::Squash)).unwrap();
        });
        harbor.ship_in("elsewhere", &args[..3]).ok()
    });
    assert_eq!(steps(&ran, 0)[2..], ["pull-request=holds", "merge=done", "wait=holds"]);
    assert_eq!(harbor.stage.github.hub(|hub| hub.pulls.len()), 1);
}

#[test]
fn a_run_that_is_killed_is_gone_on_with() {
    let harbor = Harbor::new();
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--merge", "--timeout", "60s"];
    for pause in [100, 400, 800, 1200, 1600] {
        let mut command = harbor.command_in("clone", &args);
        let null = std::process::Stdio::null;
        let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let ran = harbor.ship(&args).ok();
    assert!(["shipped", "already-so"].contains(&status(&ran, 0)), "{}", ran.text);
    assert!(harbor.rendered("overlays/prod").contains(&"2".repeat(64)));
    assert_eq!(harbor.stage.github.open_numbers(), [0; 0]);
    assert_eq!(harbor.stage.git(&["rev-list", "--count", "--no-merges", "main"]), "3");
}

#[test]
fn a_trial_writes_nothing() {
    let harbor = Harbor::new();
    let ran = harbor.pin('2', &["--dry-run", "--merge"]).ok();
    assert_eq!(steps(&ran, 0), ["preflight=holds", "edit=done"]);
    assert!(ran.changed());
    assert_eq!((harbor.branches(), harbor.stage.github.writes().len()), (0, 0));
}

#[test]
fn the_report_has_a_form_for_people_and_one_for_the_summary_of_a_job() {
    let harbor = Harbor::new();
    let reference = pin("shop/web", '2');
    let args = ["ship", "pin", "overlays/prod", reference.as_str(), "--merge"];
    let run = |form: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(args).args(["-o", form]).current_dir(harbor.stage.lab.path("clone"));
        command.env_clear().envs(harbor.stage.lab.environment());
        command.env("GITHUB_TOKEN", crate::support::github::TOKEN);
        command.env("GITHUB_API_URL", harbor.stage.github.api());
        command.env("ARGOCD_SERVER", harbor.argo.url()).env("ARGOCD_AUTH_TOKEN", argo::TOKEN);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let markdown = run("markdown");
    assert!(markdown.starts_with("### `overlay ship pin`\n"), "{markdown}");
    assert!(markdown.contains("**`overlays/prod`: shipped**"), "{markdown}");
    assert!(markdown.contains("| `pull-request` | done |"), "{markdown}");
    assert!(markdown.contains(&format!("Landed as `{}` by pull request 1.", harbor.tip())));
    let human = run("human");
    assert!(human.starts_with("overlays/prod: already so, and looked at again\n"), "{human}");
    assert!(human.contains("\n  merge               holds"), "{human}");
}

#[test]
fn what_would_not_be_the_same_command_again_is_refused() {
    let harbor = Harbor::new();
    for args in [
        &["restart", "overlays/prod", "web"][..],
        &["pin", "overlays/prod", "--check"],
        &["pin", "overlays/prod", "shop/web=x", "--then-revert", "-x"],
        &["pin", "overlays/prod", "shop/web=x", "--shard", "3/2"],
        &["return", "upgrade", "--wave", "overlays/prod"],
        &[],
    ] {
        let ran = harbor.ship(args);
        assert_eq!((ran.status, ran.code()), (2, "usage"), "{args:?} {}", ran.text);
    }
}
