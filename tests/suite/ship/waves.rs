//! Overlays one wave after the other, and shares of them.

use super::*;

const WAVES: [&str; 6] =
    ["--wave", "overlays/dev", "--wave", "overlays/stage-*", "--wave", "overlays/prod"];

/// `overlay ship pin 'overlays/*' shop/web=… --merge`.
fn fleet(harbor: &Harbor, digit: char, more: &[&str]) -> Ran {
    let reference = pin("shop/web", digit);
    let args = ["pin", "overlays/*", reference.as_str(), "--merge", "--timeout", "60s"];
    harbor.ship(&[&args, more].concat())
}

/// Which overlays of the base branch carry a digest of this digit.
fn carrying(harbor: &Harbor, digit: char) -> Vec<&'static str> {
    let bad = digit.to_string().repeat(64);
    OVERLAYS.into_iter().filter(|overlay| harbor.rendered(overlay).contains(&bad)).collect()
}

#[test]
fn the_next_wave_begins_once_the_one_before_runs() {
    let harbor = Harbor::new();
    let ran = fleet(&harbor, '2', &WAVES).ok();
    let overlays: Vec<&Json> =
        ran.json["result"]["waves"].as_array().unwrap().iter().map(|w| &w["overlays"]).collect();
    assert_eq!(
        serde_json::json!(overlays),
        serde_json::json!([
            ["overlays/dev"],
            ["overlays/stage-a", "overlays/stage-b"],
            ["overlays/prod"]
        ])
    );
    assert_eq!(carrying(&harbor, '2'), OVERLAYS);
    // One pull request a wave, merged in their order.
    let merged = harbor
        .stage
        .github
        .hub(|hub| hub.pulls.iter().map(|p| p.merged.is_some()).collect::<Vec<_>>());
    assert_eq!(merged, [true, true, true]);
    let again = fleet(&harbor, '2', &WAVES).ok();
    assert!(!again.changed(), "{}", again.text);
}

#[test]
fn a_wave_that_fails_stops_those_after_it_and_is_gone_on_with() {
    let harbor = Harbor::new();
    harbor.set(Mood { fails_for: Some("2".repeat(64)), ..Mood::default() });
    let ran = fleet(&harbor, '2', &WAVES);
    assert_eq!((ran.status, ran.code()), (5, "sync-failed"), "{}", ran.text);
    let stati: Vec<&str> = (0..3).map(|wave| status(&ran, wave)).collect();
    assert_eq!(stati, ["failed", "not-begun", "not-begun"]);
    assert_eq!(carrying(&harbor, '2'), ["overlays/dev"]);
    harbor.set(Mood::default());
    let ran = fleet(&harbor, '2', &WAVES).ok();
    let stati: Vec<&str> = (0..3).map(|wave| status(&ran, wave)).collect();
    assert_eq!(stati, ["already-so", "shipped", "shipped"]);
    assert_eq!(carrying(&harbor, '2'), OVERLAYS);
}

#[test]
fn waves_have_names_in_the_settings() {
    let harbor = Harbor::with(|lab| {
        lab.write(
            "plain/.overlay.yaml",
            "waves:\n  fleet: [overlays/dev, ['overlays/stage-*', overlays/prod]]\n",
        );
    });
    let ran = fleet(&harbor, '2', &["--waves", "fleet"]).ok();
    assert_eq!(ran.json["result"]["waves"].as_array().unwrap().len(), 2);
    let ran = fleet(&harbor, '3', &["--waves", "flet"]);
    assert_eq!((ran.status, ran.code()), (3, "waves-invalid"), "{}", ran.text);
    assert!(ran.json["error"]["hints"][0].as_str().unwrap().contains("fleet"));
}

#[test]
fn an_overlay_without_a_wave_is_refused_before_anything_goes() {
    let harbor = Harbor::new();
    let ran = fleet(&harbor, '2', &WAVES[..4]);
    assert_eq!((ran.status, ran.code()), (3, "waves-invalid"), "{}", ran.text);
    assert!(message(&ran).contains("overlays/prod"), "{}", ran.text);
    assert_eq!(harbor.branches(), 0);
    // What does not concern an overlay is no reason: it has no place in any wave.
    let ran = fleet(&harbor, '2', &["--wave", "overlays/dev", "--wave", "overlays/dev"]);
    assert_eq!((ran.status, ran.code()), (3, "waves-invalid"), "{}", ran.text);
}

#[test]
fn shares_of_a_fleet_wait_for_each_other_between_waves() {
    let harbor = Harbor::new();
    let (first, second) = std::thread::scope(|scope| {
        let harbor = &harbor;
        let clone = |name: &str| {
            let remote = harbor.stage.github.remote(REPOSITORY);
            harbor.stage.lab.git("", &["clone", "-q", &remote, name]);
        };
        clone("one");
        clone("two");
        let run = move |dir: &'static str, shard: &'static str, pause: u64| {
            move || {
                std::thread::sleep(Duration::from_millis(pause));
                let reference = pin("shop/web", '2');
                let args = ["pin", "overlays/*", reference.as_str(), "--merge", "--timeout", "90s"];
                harbor.ship_in(dir, &[&args[..], &["--shard", shard], &WAVES].concat())
            }
        };
        let second = scope.spawn(run("two", "2/2", 0));
        let first = scope.spawn(run("one", "1/2", 1500));
        (first.join().unwrap().ok(), second.join().unwrap().ok())
    });
    assert_eq!(carrying(&harbor, '2'), OVERLAYS);
    let stati = |ran: &Ran| (0..3).map(|wave| status(ran, wave).to_owned()).collect::<Vec<_>>();
    assert_eq!(stati(&first), ["shipped", "shipped", "not-concerned"]);
    assert_eq!(stati(&second), ["not-concerned", "shipped", "shipped"]);
    // The second share began its wave when the first one's was done.
    let order = harbor
        .stage
        .github
        .hub(|hub| hub.pulls.iter().map(|p| p.title.clone()).collect::<Vec<_>>());
    assert!(order[0].contains("overlays/dev"), "{order:?}");
}

#[test]
fn a_share_does_not_begin_its_wave_without_the_others() {
    let harbor = Harbor::new();
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/*", reference.as_str(), "--merge", "--timeout", "20s"];
    let ran = harbor.ship(&[&args[..], &["--shard", "2/2"], &WAVES].concat());
    assert_eq!((ran.status, ran.code()), (6, "wave-incomplete"), "{}", ran.text);
    assert!(message(&ran).starts_with("preflight: "), "{}", ran.text);
    assert_eq!((harbor.branches(), carrying(&harbor, '2')), (0, vec![]));
}
