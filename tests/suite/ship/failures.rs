//! A failure at every step: the report names it, nothing is half done, and the next run completes.

use super::*;
use crate::support::github::Trouble;

/// Nothing was pushed and nothing was asked of the forge.
fn require_untouched(harbor: &Harbor, tip: &str) {
    assert_eq!((harbor.branches(), harbor.tip().as_str()), (0, tip));
    assert_eq!(harbor.stage.github.writes(), [""; 0]);
}

#[test]
fn what_preflight_finds_stops_everything() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let lacks = Mood { lacks: Some("overlays/prod".into()), ..Mood::default() };
    let overrides = Mood { overrides: Some("shop/web:v9"), ..Mood::default() };
    let down = Mood { is_down: true, ..Mood::default() };
    for (mood, status, code) in [
        (lacks, 4, "no-such-application"),
        (overrides, 3, "application-overrides"),
        (down, 5, "argocd-unreachable"),
    ] {
        harbor.set(mood);
        let ran = harbor.pin('2', &["--merge", "--auto-revert", "--timeout", "5s"]);
        assert_eq!((ran.status, ran.code()), (status, code), "{}", ran.text);
        assert_eq!(steps(&ran, 0), ["preflight=failed"]);
        assert!(message(&ran).starts_with("preflight: "), "{}", ran.text);
        require_untouched(&harbor, &tip);
    }
    harbor.set(Mood::default());
    harbor.pin('2', &["--merge"]).ok();
}

#[test]
fn a_hold_of_the_base_branch_is_found_by_preflight() {
    let hold = "version: 1\nuntil: \"2100-01-01T00:00:00Z\"\nreason: frozen\nby: Ann\nscope: all\n";
    let harbor = Harbor::with(|lab| lab.write("plain/overlays/prod/overlay-hold.yaml", hold));
    let tip = harbor.tip();
    let ran = harbor.pin('2', &["--merge"]);
    assert_eq!((ran.status, ran.code()), (3, "on-hold"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=failed"]);
    require_untouched(&harbor, &tip);
    harbor.pin('2', &["--merge", "--override-hold"]).ok();
}

#[test]
fn inside_of_its_own_cluster_nothing_is_shipped() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let reference = pin("shop/web", '2');
    let inside = |more: &[&str]| {
        let args = [&["pin", "overlays/prod", reference.as_str(), "--merge"], more].concat();
        let mut command = harbor.command_in("clone", &args);
        // Argo CD is in the cluster whose pods know this address of its API server.
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
        command.env("KUBERNETES_SERVICE_PORT", harbor.argo.url().rsplit(':').next().unwrap());
        harbor.stage.finish(command.output().unwrap())
    };
    let ran = inside(&[]);
    assert_eq!((ran.status, ran.code()), (3, "inside-cluster"), "{}", ran.text);
    require_untouched(&harbor, &tip);
    inside(&["--from-inside"]).ok();
}

#[test]
fn an_edit_that_is_refused_leaves_nothing() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let reference = pin("shop/nothing", '2');
    let ran = harbor.ship(&["pin", "overlays/prod", &reference, "--merge"]);
    assert_eq!((ran.status, ran.code()), (3, "no-such-image"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=holds", "edit=failed"]);
    require_untouched(&harbor, &tip);
}

#[test]
fn what_brings_an_error_of_check_is_not_shipped() {
    let harbor = Harbor::with(|lab| {
        let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n";
        lab.write("plain/base/pdb.yaml", budget);
        lab.write("plain/base/kustomization.yaml", "resources: [web.yaml, pdb.yaml]\n");
    });
    let tip = harbor.tip();
    // One replica and a budget that wants one: a drain of its node would never end.
    let args = ["set", "replicas", "overlays/prod", "web=1", "--merge"];
    let ran = harbor.ship(&args);
    assert_eq!((ran.status, ran.code()), (3, "brings-findings"), "{}", ran.text);
    assert!(message(&ran).contains("pdb-blocks-drain"), "{}", ran.text);
    require_untouched(&harbor, &tip);
    harbor.ship(&[&args[..], &["--allow-findings"]].concat()).ok();
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
fn a_pull_request_that_is_closed_is_no_merge_and_the_next_run_takes_a_fresh_one() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    harbor.pin('2', &["--timeout", "1s"]);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
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
        harbor.pin('3', &["--merge"]).ok();
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
    harbor.stage.person("main", "overlays/prod/kustomization.yaml", "namePrefix: x-");
    let ran = harbor.pin('2', &["--merge", "--auto-revert"]);
    assert_eq!(status(&ran, 0), "taken-back", "{}", ran.text);
    let now = harbor.rendered("overlays/prod");
    assert!(now.contains("x-web") && now.contains(&"1".repeat(64)), "{now}");
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
