//! Raise, wait, return: one change by a name, and its second half as one command.

use super::*;

/// `overlay ship set replicas overlays/prod web=3 --then-revert upgrade`.
fn raise(harbor: &Harbor, more: &[&str]) -> Ran {
    let args = ["set", "replicas", "overlays/prod", "web=3", "--then-revert", "upgrade", "--merge"];
    harbor.ship(&[&args, more].concat())
}

#[test]
fn what_was_raised_is_returned_by_its_name_on_any_machine() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    raise(&harbor, &[]).ok();
    assert!(harbor.rendered("overlays/prod").contains("replicas: 3"));
    // Half way, the same command changes nothing.
    let again = raise(&harbor, &[]).ok();
    assert!(!again.changed());

    harbor
        .stage
        .lab
        .git("", &["clone", "-q", &harbor.stage.github.remote(REPOSITORY), "elsewhere"]);
    let ran = harbor.ship_in("elsewhere", &["return", "upgrade", "--merge"]).ok();
    assert_eq!(status(&ran, 0), "shipped", "{}", ran.text);
    assert_eq!(harbor.rendered("overlays/prod"), before);
    let again = harbor.ship(&["return", "upgrade", "--merge"]).ok();
    assert!(!again.changed(), "{}", again.text);
    assert_eq!(again.json["result"]["returned"]["name"], "upgrade");
    assert_eq!(status(&again, 0), "already-so", "{}", again.text);
}

/// A run that was killed after the merge has waited for nothing; the next one does.
#[test]
fn a_return_that_has_landed_is_waited_for_again() {
    let harbor = Harbor::new();
    raise(&harbor, &[]).ok();
    let others = harbor.pin('2', &["--merge"]).ok();
    assert!(others.changed());
    harbor.ship(&["return", "upgrade", "--merge", "--no-wait", "--no-verify"]).ok();
    harbor.set(nothing_succeeds());
    let ran = harbor.ship(&["return", "upgrade", "--merge"]);
    assert_eq!((ran.status, ran.code()), (5, "sync-failed"), "{}", ran.text);
    assert!(steps(&ran, 0).contains(&"wait=failed".to_owned()), "{:?}", steps(&ran, 0));
    harbor.set(Mood::default());
    let ran = harbor.ship(&["return", "upgrade", "--merge"]).ok();
    assert_eq!((status(&ran, 0), ran.changed()), ("already-so", false), "{}", ran.text);
    assert!(steps(&ran, 0).contains(&"wait=holds".to_owned()), "{:?}", steps(&ran, 0));
    // Once others have changed the same again, it is no matter of the return any more.
    let args = ["set", "replicas", "overlays/prod", "web=4", "--merge"];
    harbor.ship(&args).ok();
    harbor.set(nothing_succeeds());
    let ran = harbor.ship(&["return", "upgrade", "--merge"]).ok();
    assert_eq!(ran.json["result"]["waves"], serde_json::json!([]), "{}", ran.text);
    assert!(harbor.rendered("overlays/prod").contains("replicas: 4"));
}

#[test]
fn a_return_keeps_what_others_did_meanwhile() {
    let harbor = Harbor::new();
    raise(&harbor, &[]).ok();
    harbor.pin('2', &["--merge"]).ok();
    let ran = harbor.ship(&["return", "upgrade", "--merge"]).ok();
    assert_eq!(status(&ran, 0), "shipped", "{}", ran.text);
    let now = harbor.rendered("overlays/prod");
    assert!(now.contains("replicas: 2") && now.contains(&"2".repeat(64)), "{now}");
}

#[test]
fn a_name_stands_for_one_change_at_a_time() {
    let harbor = Harbor::new();
    raise(&harbor, &[]).ok();
    let other = ["set", "replicas", "overlays/dev", "web=3", "--then-revert", "upgrade", "--merge"];
    let ran = harbor.ship(&other);
    assert_eq!((ran.status, ran.code()), (3, "name-in-use"), "{}", ran.text);
    harbor.ship(&["return", "upgrade", "--merge"]).ok();
    harbor.ship(&other).ok();
    harbor.ship(&["return", "upgrade", "--merge"]).ok();
    assert!(harbor.rendered("overlays/dev").contains("replicas: 2"));
}

#[test]
fn a_merge_that_dropped_the_name_is_helped_by_the_commit() {
    let harbor = Harbor::new();
    let ran = harbor.ship(&["return", "upgrade", "--merge"]);
    assert_eq!((ran.status, ran.code()), (4, "nothing-to-return"), "{}", ran.text);
    let before = harbor.rendered("overlays/prod");
    raise(&harbor, &[]).ok();
    let commit = harbor.tip();
    let args = ["return", "another-name", "--of", &commit, "--merge"];
    harbor.ship(&args).ok();
    assert_eq!(harbor.rendered("overlays/prod"), before);
}
