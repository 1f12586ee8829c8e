//! Endpoints that are probed from before the merge to the end.

use super::endpoint::Endpoint;
use super::*;

fn digits(digit: char) -> String {
    digit.to_string().repeat(64)
}

#[test]
fn what_answers_all_the_while_holds_and_what_does_not_is_taken_back() {
    let harbor = Harbor::new();
    let endpoint = Endpoint::start(&harbor, digits('3'));
    let url = endpoint.url();
    let ran = harbor.pin('2', &["--merge", "--auto-revert", "--probe", &url]).ok();
    assert_eq!(steps(&ran, 0)[4..], ["wait=holds", "probe=holds"], "{}", ran.text);
    let probe = &ran.json["result"]["waves"][0]["steps"][5]["result"];
    let tries = probe["targets"][0]["tries"].as_u64().unwrap();
    // One more was that of preflight.
    assert_eq!((tries + 1, probe["failures"].as_u64()), (endpoint.tries() as u64, Some(0)));
    assert!(tries >= 10, "{}", ran.text);

    let before = harbor.rendered("overlays/prod");
    let ran = harbor.pin('3', &["--merge", "--auto-revert", "--probe", &url]);
    assert_eq!((ran.status, ran.code()), (7, "probe-failed"), "{}", ran.text);
    assert!(message(&ran).starts_with("probe: "), "{}", ran.text);
    assert_eq!(status(&ran, 0), "taken-back");
    assert_eq!(steps(&ran, 0)[4..6], ["wait=holds", "probe=failed"]);
    assert_eq!(harbor.rendered("overlays/prod"), before);

    // The second run, without a way back, and where that many may fail.
    let args = ["--merge", "--again", "--probe", &url, "--max-failures"];
    let ran = harbor.pin('3', &[&args[..], &["1"]].concat());
    assert_eq!((ran.code(), status(&ran, 0)), ("probe-failed", "failed"), "{}", ran.text);
    let ran = harbor.pin('3', &[&args[..], &["1000"]].concat()).ok();
    assert_eq!(status(&ran, 0), "already-so");
}

#[test]
fn what_is_down_before_says_nothing_of_the_change() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let endpoint = Endpoint::start(&harbor, digits('1'));
    let ran = harbor.pin('2', &["--merge", "--probe", &endpoint.url()]);
    assert_eq!((ran.status, ran.code()), (7, "probe-failed"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=failed"]);
    harbor.require_untouched(&tip);
    for wrong in [&["--probe", "ftp://x"][..], &["--max-failures", "2"], &["--probe-expect", "5xx"]]
    {
        let ran = harbor.pin('2', wrong);
        assert_eq!((ran.status, ran.code()), (2, "usage"), "{wrong:?} {}", ran.text);
    }
    // What is expected may be anything.
    let args = ["--merge", "--probe", &endpoint.url(), "--probe-expect", "200,503"];
    harbor.pin('2', &args).ok();
}

/// Failures while a person is waited for are older than the change, and take nothing back.
#[test]
fn what_failed_before_the_merge_is_no_fault_of_the_change() {
    let harbor = Harbor::new();
    let endpoint = Endpoint::start(&harbor, "namePrefix: down-".to_owned());
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while harbor.stage.github.open_numbers().is_empty() {
                std::thread::sleep(Duration::from_millis(10));
            }
            let file = "overlays/prod/kustomization.yaml";
            harbor.stage.person("main", file, "namePrefix: down-");
            let tries = endpoint.tries();
            while endpoint.tries() < tries + 2 {
                std::thread::sleep(Duration::from_millis(10));
            }
            let text = harbor.stage.git(&["show", &format!("main:{file}")]);
            harbor.stage.replace("main", file, &text.replace("namePrefix: down-", ""));
            let tries = endpoint.tries();
            while endpoint.tries() < tries + 2 {
                std::thread::sleep(Duration::from_millis(10));
            }
            harbor.stage.github.hub(|hub| hub.merge(1, How::Squash)).unwrap();
        });
        harbor.pin('2', &["--auto-revert", "--probe", &endpoint.url()])
    });
    assert_eq!((ran.code(), status(&ran, 0)), ("probe-failed", "failed"), "{}", ran.text);
    assert!(harbor.rendered("overlays/prod").contains(&digits('2')));
    harbor.pin('2', &["--auto-revert", "--probe", &endpoint.url()]).ok();
}

#[test]
fn a_run_that_is_killed_while_it_probes_is_gone_on_with() {
    let harbor = Harbor::new();
    let endpoint = Endpoint::start(&harbor, digits('9'));
    let (reference, url) = (pin("shop/web", '2'), endpoint.url());
    let args = ["pin", "overlays/prod", reference.as_str(), "--merge", "--probe", &url];
    let tip = harbor.tip();
    let mut command = harbor.command_in("clone", &args);
    let null = std::process::Stdio::null;
    let mut child = command.stdout(null()).stderr(null()).spawn().unwrap();
    while harbor.tip() == tip {
        std::thread::sleep(Duration::from_millis(10));
    }
    let tries = endpoint.tries();
    while endpoint.tries() < tries + 2 {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None);
    harbor.fresh_clone("elsewhere");
    let ran = harbor.ship_in("elsewhere", &args).ok();
    assert_eq!(status(&ran, 0), "already-so", "{}", ran.text);
    assert_eq!(steps(&ran, 0).last().unwrap(), "probe=holds");
}
