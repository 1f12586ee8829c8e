//! The examples of `docs/ship.md` run, one after the other, in one harbor.

use super::endpoint::Endpoint;
use super::*;

/// The words of a line as a shell splits it, for the quotes that the page uses.
fn words(line: &str) -> Vec<String> {
    let quoted = |word: &str| word.trim_matches('\'').to_owned();
    line.split_whitespace().map(quoted).collect()
}

#[test]
fn the_examples_of_the_page_do_what_it_says() {
    let page = std::fs::read_to_string("docs/ship.md").unwrap();
    let mut blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut lines: Vec<&str> = blocks.by_ref().flat_map(str::lines).collect();
    lines.retain(|line| !line.is_empty());
    let harbor = Harbor::new();
    let Some(certificates) = crate::support::certificates::make() else { return };
    for (from, to) in [("ca.crt", "ca.pem"), ("srv.crt", "chain.pem")] {
        let text = std::fs::read_to_string(certificates.path().join(from)).unwrap();
        harbor.stage.lab.write(&format!("clone/{to}"), text);
    }
    let endpoint = Endpoint::start(&harbor, "nothing".repeat(9));
    let start = harbor.rendered("overlays/prod");
    let mut ran = Vec::new();
    for line in &lines {
        let line = line.replace("https://shop.example/healthz", &endpoint.url());
        let words = words(line.strip_prefix("overlay ship ").unwrap());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let one = harbor.ship(&[&words[..], &["--timeout", "60s"]].concat()).ok();
        ran.push((one.changed(), harbor.rendered("overlays/prod")));
    }
    let after = |digit: char, replicas: u32| {
        let pinned = start.replace(&"1".repeat(64), &digit.to_string().repeat(64));
        pinned.replace("replicas: 2", &format!("replicas: {replicas}"))
    };
    let restarted = |text: String| {
        let annotation = "kubectl.kubernetes.io/restartedAt: \"2026-05-01T10:00:00Z\"";
        let with =
            format!("    metadata:\n      annotations:\n        {annotation}\n      labels:");
        text.replace("    metadata:\n      labels:", &with)
    };
    let expected = [
        (true, after('2', 2)),
        (true, restarted(after('2', 2))),
        (true, restarted(after('2', 4))),
        (false, restarted(after('2', 4))),
        (true, restarted(after('2', 3))),
        (true, restarted(after('2', 4))),
        (true, restarted(after('3', 4))),
    ];
    assert_eq!(ran, expected, "{lines:#?}");
}

/// The order in the page's settings and in the workflow is one that the program reads.
#[test]
fn the_settings_of_the_page_are_read() {
    let page = std::fs::read_to_string("docs/ship.md").unwrap();
    let text = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let settings = overlay::config::Settings::parse(text).unwrap();
    assert_eq!((settings.waves[0].name.as_str(), settings.waves[0].waves.len()), ("fleet", 3));
}

/// The command line of the workflow ships, with what GitHub puts in its place.
#[test]
fn the_workflow_of_a_fleet_ships() {
    let workflow = std::fs::read_to_string("templates/ci/github-fleet.yml").unwrap();
    let line =
        workflow.lines().map(str::trim).find(|line| line.starts_with("overlay ship ")).unwrap();
    let line = line.split(" >> ").next().unwrap().replace("-o markdown", "");
    let line = line.replace("\"$IMAGE\"", &pin("shop/web", '2')).replace("\"$SHARD\"", "1/1");
    let harbor = Harbor::with(|lab| {
        lab.write(
            "plain/.overlay.yaml",
            "waves: {fleet: [overlays/dev, 'overlays/stage-*', overlays/prod]}\n",
        );
    });
    let words = words(line.strip_prefix("overlay ship ").unwrap());
    let ran = harbor.ship(&words.iter().map(String::as_str).collect::<Vec<_>>()).ok();
    assert_eq!(ran.json["result"]["overlays"].as_array().unwrap().len(), 4, "{}", ran.text);
}
