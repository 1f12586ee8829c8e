//! What the base branch holds already, and not by this command, is not taken back by it: least of all to what had failed before.

use super::*;

/// The run failed in its wait, took nothing back, names no way back, and says why.
fn require_left(harbor: &Harbor, ran: &Ran, tip: &str, why: &str) {
    assert_eq!(
        (ran.status, ran.code(), status(ran, 0)),
        (5, "sync-failed", "failed"),
        "{}",
        ran.text
    );
    assert_eq!(steps(ran, 0).last().unwrap(), "wait=failed");
    assert_eq!(harbor.tip(), tip, "{}", ran.text);
    assert_eq!(harbor.stage.github.open_numbers(), [0; 0]);
    assert_eq!(ran.json["result"]["waves"][0]["takeBack"], Json::Null, "{}", ran.text);
    assert!(!ran.json["error"]["hints"].to_string().contains("overlay revert"), "{}", ran.text);
    let causes = ran.json["error"]["causes"].to_string();
    assert!(why.is_empty() || causes.contains("nothing was taken back: "), "{causes}");
    assert!(causes.contains(why), "{causes}");
}

#[test]
fn a_way_back_is_not_taken_back() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    harbor.set(nothing_succeeds());
    let ran = harbor.pin('5', &["--merge", "--auto-revert"]);
    assert_eq!(steps(&ran, 0).last().unwrap(), "revert-wait=failed", "{}", ran.text);
    assert_eq!(harbor.rendered("overlays/prod"), before);
    let tip = harbor.tip();
    // What is there since the way back is what was there all along.
    let ran = harbor.pin('1', &["--merge", "--auto-revert"]);
    assert!(!ran.changed());
    require_left(&harbor, &ran, &tip, "which is not of this command");
    require_left(&harbor, &harbor.pin('1', &["--merge"]), &tip, "");
    assert_eq!(harbor.rendered("overlays/prod"), before);
}

#[test]
fn what_others_replaced_and_brought_again_is_theirs() {
    let harbor = Harbor::new();
    harbor.pin('2', &["--merge", "--auto-revert"]).ok();
    let good = harbor.rendered("overlays/prod");
    for digit in ['3', '4'] {
        harbor.set(fails_for(digit));
        let ran = harbor.pin(digit, &["--merge", "--auto-revert"]);
        assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    }
    let tip = harbor.tip();
    harbor.set(nothing_succeeds());
    for dir in ["clone", "elsewhere"] {
        if dir == "elsewhere" {
            harbor.fresh_clone(dir);
        }
        let reference = pin("shop/web", '2');
        let args = ["pin", "overlays/prod", reference.as_str(), "--merge", "--auto-revert"];
        let ran = harbor.ship_in(dir, &args);
        require_left(&harbor, &ran, &tip, "nothing was taken back");
    }
    assert_eq!(harbor.rendered("overlays/prod"), good);
}

#[test]
fn what_another_brought_meanwhile_is_theirs() {
    let harbor = Harbor::new();
    harbor.set(fails_for('2'));
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while harbor.stage.github.open_numbers().is_empty() {
                std::thread::sleep(Duration::from_millis(20));
            }
            let file = "overlays/prod/kustomization.yaml";
            let text = harbor.stage.git(&["show", &format!("main:{file}")]);
            let text = text.replace(&"1".repeat(64), &"2".repeat(64));
            harbor.stage.replace("main", file, &text);
        });
        harbor.pin('2', &["--auto-revert"])
    });
    let tip = harbor.stage.git(&["rev-parse", "main"]);
    assert_eq!((ran.code(), status(&ran, 0)), ("sync-failed", "failed"), "{}", ran.text);
    assert!(
        ran.json["error"]["causes"].to_string().contains("not of this command"),
        "{}",
        ran.text
    );
    assert_eq!(harbor.stage.git(&["show", "-s", "--format=%s", &tip]), "by hand");
}

#[test]
fn what_has_run_for_long_is_not_taken_back() {
    let harbor = Harbor::new();
    harbor.set(fails_for('2'));
    assert_eq!(harbor.pin('2', &["--merge"]).code(), "sync-failed");
    // The same commit, of the day before yesterday.
    let show = |form: &str| harbor.stage.git(&["show", "-s", &format!("--format={form}"), "main"]);
    let (tree, parents) = (show("%T"), show("%P"));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let mut command = Command::new("git");
    command.args(["commit-tree", &tree, "-m", "merged"]);
    command.args(parents.split(' ').flat_map(|parent| ["-p", parent]));
    command.current_dir(harbor.stage.lab.path("hub/ops/deploy.git")).env_clear();
    command.envs(harbor.stage.lab.environment());
    command.env("GIT_COMMITTER_DATE", format!("@{} +0000", now - 2 * 24 * 60 * 60));
    let old = String::from_utf8(command.output().unwrap().stdout).unwrap();
    harbor.stage.git(&["update-ref", "refs/heads/main", old.trim()]);
    harbor.fresh_clone("elsewhere");
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--merge", "--auto-revert"];
    require_left(&harbor, &harbor.ship_in("elsewhere", &args), old.trim(), "more than a day ago");
}

#[test]
fn nothing_goes_back_to_what_was_taken_back() {
    let harbor = Harbor::new();
    harbor.set(fails_for('3'));
    let ran = harbor.pin('3', &["--merge", "--auto-revert"]);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    // A person brings by hand what had failed, and the next change comes on top of it.
    let file = "overlays/prod/kustomization.yaml";
    let text = harbor.stage.git(&["show", &format!("main:{file}")]);
    let text = text.replace(&"1".repeat(64), &"3".repeat(64));
    harbor.stage.replace("main", file, &format!("{text}\ncommonAnnotations: {{by: hand}}\n"));
    harbor.set(fails_for('4'));
    let ran = harbor.pin('4', &["--merge", "--auto-revert"]);
    let tip = harbor.tip();
    require_left(&harbor, &ran, &tip, "and was taken back");
    assert!(harbor.rendered("overlays/prod").contains(&"4".repeat(64)));
    // Once a person has shipped it again, it is what was before, like any other.
    harbor.set(Mood::default());
    harbor.pin('3', &["--merge", "--again"]).ok();
    harbor.set(fails_for('5'));
    let ran = harbor.pin('5', &["--merge", "--auto-revert"]);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    assert!(harbor.rendered("overlays/prod").contains(&"3".repeat(64)));
}

#[test]
fn waves_that_hold_it_already_are_left_alone() {
    let harbor = Harbor::new();
    let waves = ["--wave", "overlays/dev", "--wave", "overlays/prod"];
    let fleet = |digit: char| {
        let reference = pin("shop/web", digit);
        let args = ["pin", "overlays/dev", "--overlay", "overlays/prod", reference.as_str()];
        let ways = ["--merge", "--auto-revert", "--timeout", "60s"];
        harbor.ship(&[&args[..], &ways, &waves].concat())
    };
    harbor.set(fails_for('5'));
    let ran = fleet('5');
    assert_eq!((status(&ran, 0), status(&ran, 1)), ("taken-back", "not-begun"), "{}", ran.text);
    let tip = harbor.tip();
    harbor.set(nothing_succeeds());
    let ran = fleet('1');
    require_left(&harbor, &ran, &tip, "which is not of this command");
    assert_eq!(status(&ran, 1), "not-begun");
}

#[test]
fn a_raise_that_was_taken_back_is_not_raised_by_its_return() {
    let harbor = Harbor::new();
    let before = harbor.rendered("overlays/prod");
    harbor.set(Mood { fails_for: Some("count: 3".into()), ..Mood::default() });
    let raise =
        ["set", "replicas", "overlays/prod", "web=3", "--then-revert", "upgrade", "--merge"];
    let ran = harbor.ship(&[&raise[..], &["--auto-revert"]].concat());
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    harbor.set(nothing_succeeds());
    let ran = harbor.ship(&["return", "upgrade", "--merge", "--auto-revert"]).ok();
    let by = ran.json["result"]["returned"]["commit"].as_str().unwrap();
    let message = harbor.stage.git(&["show", "-s", "--format=%B", by]);
    assert!(message.contains("takesBack"), "{message}");
    // The name is free again.
    harbor.set(Mood::default());
    harbor.ship(&[&raise[..], &["--again"]].concat()).ok();
    // A return by hand is not taken back by the one that comes after it.
    let file = "overlays/prod/kustomization.yaml";
    let text = harbor.stage.git(&["show", &format!("main:{file}")]);
    let tip = harbor.stage.replace("main", file, &text.replace("count: 3", "count: 2"));
    harbor.set(nothing_succeeds());
    let ran = harbor.ship(&["return", "upgrade", "--merge", "--auto-revert"]);
    require_left(&harbor, &ran, &tip, "which is not of this command");
    assert_eq!(harbor.rendered("overlays/prod"), before);
}
