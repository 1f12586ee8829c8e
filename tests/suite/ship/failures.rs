//! A failure at every step: the report names it, nothing is half done, and the next run completes.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::support::github::Trouble;

#[test]
fn an_edit_that_is_refused_leaves_nothing() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let reference = pin("shop/nothing", '2');
    let ran = harbor.ship(&["pin", "overlays/prod", &reference, "--merge"]);
    assert_eq!((ran.status, ran.code()), (3, "no-such-image"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=holds", "edit=failed"]);
    harbor.require_untouched(&tip);
}

#[test]
fn a_forge_that_refuses_leaves_the_branch_and_the_next_run_completes() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let no = Trouble::Status(403, Vec::new(), "Resource not accessible by integration");
    harbor.stage.github.fail("POST", "/pulls", no);
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!(ran.status, 5, "{}", ran.text);
    assert_eq!(steps(&ran, 0)[2..], ["pull-request=failed"]);
    assert!(message(&ran).starts_with("pull-request: "), "{}", ran.text);
    assert_eq!((harbor.branches(), harbor.tip()), (1, tip));
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]).ok();
    assert_eq!(status(&ran, 0), "shipped");
}

#[test]
fn a_push_that_is_refused_leaves_nothing_and_the_next_run_completes() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let hook = harbor.stage.lab.path("hub/ops/deploy.git/hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho no pushes today >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!(ran.status, 5, "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "pull-request=failed");
    assert!(message(&ran).starts_with("pull-request: "), "{}", ran.text);
    harbor.require_untouched(&tip);
    std::fs::remove_file(&hook).unwrap();
    harbor.fresh_clone("elsewhere");
    let reference = pin("shop/web", '2');
    let ran = harbor.ship_in("elsewhere", &["pin", "overlays/prod", &reference, "--merge"]).ok();
    assert_eq!(status(&ran, 0), "shipped");
}

#[test]
fn a_pull_request_that_is_closed_is_no_merge_and_the_next_run_takes_a_fresh_one() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while harbor.stage.github.looks() == 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            harbor.stage.github.hub(|hub| hub.find(1).unwrap().is_open = false);
        });
        harbor.pin('2', &[])
    });
    assert_eq!((ran.status, ran.code()), (5, "pull-request-closed"), "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "merge=failed");
    assert_eq!(harbor.tip(), tip);
    harbor.pin('2', &["--merge"]).ok();
    assert_eq!(harbor.stage.github.hub(|hub| hub.pulls.len()), 2);
}

#[test]
fn a_failure_after_the_merge_names_the_way_back_and_the_next_run_completes() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    harbor.set(fails_for('2'));
    let ran = harbor.pin('2', &["--merge"]);
    assert_eq!((ran.status, ran.code()), (5, "sync-failed"), "{}", ran.text);
    assert_eq!(
        (status(&ran, 0), steps(&ran, 0).last().unwrap().as_str()),
        ("failed", "wait=failed")
    );
    let back = ran.json["result"]["waves"][0]["takeBack"].as_str().unwrap().to_owned();
    assert!(ran.json["error"]["hints"].to_string().contains(&back), "{}", ran.text);

    harbor.set(Mood::default());
    let ran = harbor.pin('2', &["--merge"]).ok();
    assert_eq!((status(&ran, 0), ran.changed()), ("already-so", false));

    // The command that was named does take it back.
    harbor.stage.lab.git("clone", &["pull", "-q"]);
    let words: Vec<&str> = back.split(' ').skip(1).collect();
    let ran = harbor.with_person(How::Squash, || {
        harbor.stage.finish(harbor.stage.command(&words).output().unwrap())
    });
    assert_eq!(ran.status, 0, "{}", ran.text);
    harbor
        .stage
        .github
        .hub(|hub| hub.pulls.iter().filter(|p| p.is_open).map(|p| p.number).collect::<Vec<_>>())
        .into_iter()
        .for_each(|n| {
            harbor.stage.github.hub(|hub| hub.merge(n, How::Squash));
        });
    assert_eq!(harbor.rendered("overlays/prod"), before);
}

#[test]
fn auto_revert_restores_what_was_rendered_and_does_not_come_again_by_itself() {
    for (how, merge) in [(How::Squash, &["--merge"][..]), (How::Merge, &[]), (How::Rebase, &[])] {
        let harbor = Harbor::new();
        let before = harbor.rendered("overlays/prod");
        harbor.set(fails_for('2'));
        let args = [&["--auto-revert"], merge].concat();
        let ran = harbor.with_person(how, || harbor.pin('2', &args));
        assert_eq!((ran.status, ran.code()), (5, "sync-failed"), "{}", ran.text);
        assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
        let back =
            ["wait=failed", "revert-pull-request=done", "revert-merge=done", "revert-wait=holds"];
        assert_eq!(steps(&ran, 0)[4..], back);
        assert!(ran.changed());
        assert_eq!(harbor.rendered("overlays/prod"), before, "{how:?}");

        let ran = harbor.pin('2', &["--merge"]);
        assert_eq!((ran.status, ran.code()), (3, "taken-back"), "{how:?} {}", ran.text);
        assert_eq!(harbor.rendered("overlays/prod"), before);
        // Another change is another matter, and so is the same one when a person says so.
        if how == How::Squash {
            harbor.pin('3', &["--merge"]).ok();
        }
        harbor.set(Mood::default());
        harbor.pin('2', &["--merge", "--again"]).ok();
        let ran = harbor.pin('2', &["--merge"]).ok();
        assert_eq!(status(&ran, 0), "already-so");
    }
}

#[test]
fn what_others_did_since_is_not_taken_back() {
    let harbor = Harbor::new();
    harbor.set(fails_for('2'));
    let ran = harbor.pin('2', &["--merge"]);
    assert_eq!(ran.code(), "sync-failed", "{}", ran.text);
    harbor.stage.person(
        "main",
        "overlays/prod/kustomization.yaml",
        "commonAnnotations: {by: hand}",
    );
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    let now = harbor.rendered("overlays/prod");
    assert!(now.contains("by: hand") && now.contains(&"1".repeat(64)), "{now}");
}

#[test]
fn a_way_back_that_is_stopped_is_gone_on_with() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    harbor.set(fails_for('2'));
    assert_eq!(harbor.pin('2', &["--merge"]).code(), "sync-failed");
    let no = Trouble::Status(403, Vec::new(), "Resource not accessible by integration");
    harbor.stage.github.fail("POST", "/pulls", no);
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!((ran.code(), status(&ran, 0)), ("sync-failed", "stuck-going-back"), "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "revert-pull-request=failed");
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    assert_eq!(harbor.rendered("overlays/prod"), before);
}

#[test]
fn what_cannot_be_seen_is_not_taken_back() {
    let harbor = Harbor::new();
    let ran = harbor.with_person(How::Squash, || {
        let harbor = &harbor;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while harbor.stage.github.hub(|hub| hub.pulls.is_empty()) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                harbor.set(Mood { is_down: true, ..Mood::default() });
            });
            harbor.pin('2', &["--auto-revert", "--timeout", "15s"])
        })
    });
    assert_eq!(
        (status(&ran, 0), steps(&ran, 0).last().unwrap().as_str()),
        ("failed", "wait=failed"),
        "{}",
        ran.text
    );
    assert!(harbor.rendered("overlays/prod").contains(&"2".repeat(64)));
    harbor.set(Mood::default());
    let ran = harbor.pin('2', &["--auto-revert"]).ok();
    assert_eq!(status(&ran, 0), "already-so");
}

#[test]
fn a_way_back_that_nobody_merges_stays_open_and_is_gone_on_with() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    harbor.set(fails_for('2'));
    assert_eq!(harbor.pin('2', &["--merge"]).code(), "sync-failed");
    let ran = harbor.pin('2', &["--auto-revert", "--timeout", "20s"]);
    assert_eq!((ran.code(), status(&ran, 0)), ("sync-failed", "stuck-going-back"), "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "revert-merge=failed");
    assert!(ran.json["error"]["causes"].to_string().contains("revert-merge"), "{}", ran.text);
    let open = harbor.stage.github.open_numbers();
    assert_eq!(open.len(), 1);
    harbor.fresh_clone("elsewhere");
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--auto-revert", "--merge"];
    let ran = harbor.ship_in("elsewhere", &args);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    assert_eq!(harbor.stage.github.hub(|hub| hub.pulls.len()), 2);
    assert_eq!(harbor.rendered("overlays/prod"), before);
}

#[test]
fn a_way_back_that_is_not_applied_is_told() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    // Whatever is in the repository, no sync succeeds any more.
    harbor.set(Mood { fails_for: Some("shop/web".into()), ..Mood::default() });
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!((ran.code(), status(&ran, 0)), ("sync-failed", "stuck-going-back"), "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "revert-wait=failed");
    assert_eq!(harbor.rendered("overlays/prod"), before);
    let tip = harbor.tip();
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!((ran.status, ran.code()), (3, "taken-back"), "{}", ran.text);
    assert_eq!(harbor.tip(), tip);
    let hints = ran.json["error"]["hints"].to_string();
    assert!(hints.contains(&format!("--commit {}", &tip[..7])), "{hints}");
}

#[test]
fn what_takes_a_change_back_are_codes_of_the_catalogue() {
    for name in overlay::ship::OF_THE_CHANGE {
        assert!(overlay::error::codes::Code::find(name).is_some(), "{name}");
    }
}
