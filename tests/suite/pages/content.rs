//! What the pages say, against what the fixture's files and commits say, written out by hand.

use serde_json::{Value, json};

use super::{LOOKS, made, write_page};
use crate::drain::world::quantity;
use crate::stories::moving_to_larger_nodes::{self as migration, dump};
use crate::support::browser::Browser;
use crate::support::skip;

/// The value of an expression on the page `name`.
fn read(browser: &mut Browser, name: &str, expressions: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let (_, page) = made::pages().into_iter().find(|(known, _)| *known == name).unwrap();
    browser.open(&write_page(folder.path(), name, &page), LOOKS[2]);
    expressions.iter().map(|expression| browser.evaluate(expression)).collect()
}

/// The cells of the rows of the table below the heading `id`, without line breaks.
fn rows(id: &str) -> String {
    format!(
        "[...document.querySelectorAll('#{id} ~ .scroll tbody tr')]\
         .map(row => [...row.cells].map(cell => cell.innerText.replace(/\\s+/g, ' ').trim()))"
    )
}

/// In production accounts has two replicas and gateway one; both budgets say `minAvailable: 1`.
#[test]
fn the_page_of_a_check_tells_what_budgets_allow_and_need() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let pictures = "[...document.querySelectorAll('.cells')].map(e => \
                    `${e.getAttribute('aria-label')}: ${e.children.length} ${e.querySelectorAll('.stays').length}`)";
    let counts = "[...document.querySelectorAll('.tiles dd')].map(e => e.innerText)";
    let read = read(&mut browser, "check", &[&rows("budgets"), pictures, counts]);
    let budgets = read[0].as_array().unwrap();
    for row in [
        json!([
            "lattice/accounts overlays/prod",
            "",
            "1 of 2",
            "1",
            "Deployment/accounts",
            "minAvailable: 1"
        ]),
        json!([
            "lattice/gateway overlays/prod",
            "",
            "none of 1",
            "1",
            "Deployment/gateway",
            "minAvailable: 1"
        ]),
    ] {
        assert!(budgets.contains(&row), "{row} is not in {budgets:#?}");
    }
    let pictures = read[1].as_array().unwrap();
    assert!(pictures.contains(&json!("1 of 2 must stay: 2 1")), "{pictures:?}");
    assert!(pictures.contains(&json!("1 of 1 must stay: 1 1")), "{pictures:?}");
    // In staging seven errors and three warnings, in production one and two (README.md).
    assert_eq!(read[2], json!(["8", "5", "0"]));
}

/// The moves are those of `made::MOVES`.
#[test]
fn the_page_of_a_history_tells_who_runs_what_since_when() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let lanes = "[...document.querySelectorAll('ol.track')].map(track => [track.getAttribute('aria-label'), \
                 ...[...track.children].map(span => span.textContent.replace(/, [0-9a-f]{12}(, #\\d+)?/, ''))])";
    let order = "[...document.querySelectorAll('ol.track')].every(track => [...track.children].every((span, at) => \
                 at === 0 || span.offsetLeft >= track.children[at - 1].offsetLeft + track.children[at - 1].offsetWidth - 1))";
    let same = "(() => { const class_of = (overlay, text) => [...document.querySelectorAll('ol.track')]\
                .filter(t => t.getAttribute('aria-label').endsWith(`gateway in ${overlay}`))\
                .flatMap(t => [...t.children]).find(span => span.textContent.startsWith(text)).classList[0]; \
                return [class_of('overlays/staging', '0.12.4'), class_of('overlays/prod', '0.12.4'), \
                class_of('overlays/staging', '0.13.0')] })()";
    let read = read(&mut browser, "history", &[&rows("now"), lanes, order, same]);
    let now = read[0].as_array().unwrap();
    let gateway = now.iter().find(|row| row[0] == "registry.lattice.example/gateway").unwrap();
    let cell = |at: usize| gateway[at].as_str().unwrap();
    assert!(
        cell(1).starts_with("0.13.0 2b4d6f8091a3 since 2024-05-21 08:00 by Ann Ode"),
        "{gateway}"
    );
    assert!(cell(1).ends_with("#15"), "{gateway}");
    assert!(
        cell(2).starts_with("0.12.4 4d0f0e8a8c3a since 2024-05-06 14:02 by Ann Ode"),
        "{gateway}"
    );
    assert_eq!(cell(3), "differs");
    let postgres = now.iter().find(|row| row[0] == "registry.lattice.example/postgres").unwrap();
    assert_eq!(postgres[3], "same");
    let lanes = read[1].as_array().unwrap();
    for lane in [
        json!([
            "registry.lattice.example/gateway in overlays/staging",
            "2587a6863f64 since 2024-05-01 10:00 by Case until 2024-05-03 09:15",
            "0.12.4 4d0f0e8a8c3a since 2024-05-03 09:15 by Ann Ode until 2024-05-21 08:00",
            "0.13.0 2b4d6f8091a3 since 2024-05-21 08:00 by Ann Ode"
        ]),
        json!([
            "registry.lattice.example/accounts in overlays/prod",
            "de23fa87e806 since 2024-05-01 10:00 by Case until 2024-05-06 14:20",
            "0.12.4 91c3d5e7f9a1 since 2024-05-06 14:20 by Ben Bar"
        ]),
    ] {
        assert!(lanes.contains(&lane), "{lane} is not in {lanes:#?}");
    }
    assert_eq!(read[2], json!(true), "spans follow each other");
    // What moved from staging to production is seen to: one colour, and another for the next.
    let [staging, prod, next] = [0, 1, 2].map(|at| read[3][at].as_str().unwrap().to_owned());
    assert!(staging == prod && staging != next, "{staging} {prod} {next}");
}

/// Of the seventeen pods eight ask for memory: three of 256 MiB in staging, and in production two of 128 and three of 256.
/// A node of the small kind has 2.44 GiB for them.
#[test]
fn the_page_of_a_sizing_draws_every_pod_to_scale() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let section = "document.querySelector('section[aria-labelledby=kind-1]')";
    let widths = format!(
        "[...{section}.querySelectorAll('.nodes .measure:nth-of-type(1) .bar > li')].map(pod => \
         Math.round(pod.getBoundingClientRect().width / pod.parentElement.clientWidth * 100)).sort((a, b) => a - b)"
    );
    let counts = format!(
        "[...{section}.querySelectorAll('.nodes .sums dd')].reduce((n, e) => n + Number(e.innerText.replace('× ', '')), 0)"
    );
    let answers = "[...document.querySelectorAll('#kinds ~ .scroll tbody tr')].map(row => row.cells[1].innerText)";
    let read = read(&mut browser, "capacity", &[&widths, &counts, answers]);
    // 128 MiB and 256 MiB of 2.44 GiB are 5.1 and 10.2 hundredths.
    assert_eq!(read[0], json!([5, 5, 10, 10, 10, 10, 10, 10]));
    assert_eq!(read[1], json!(17));
    assert_eq!(read[2], json!(["3 nodes", "3 nodes", "none will do"]));
}

/// What each node has and what its pods ask for, from the dump itself: `1.83 of 2.77 GiB` and the widths of the pods.
fn node_of_dump(name: &str) -> (String, Vec<i64>) {
    let dump = dump();
    let items = dump["items"].as_array().unwrap();
    let node = items.iter().find(|i| i["kind"] == "Node" && i["metadata"]["name"] == name).unwrap();
    let whole = quantity(node["status"]["allocatable"]["memory"].as_str().unwrap());
    let over = ["Succeeded", "Failed"];
    let here = items.iter().filter(|item| {
        item["kind"] == "Pod"
            && item["spec"]["nodeName"] == name
            && !over.contains(&item["status"]["phase"].as_str().unwrap())
    });
    let asked = here.map(|pod| -> f64 {
        let containers = pod["spec"]["containers"].as_array().unwrap().iter();
        let memory = |c: &Value| c["resources"]["requests"]["memory"].as_str().map(quantity);
        containers.filter_map(memory).sum()
    });
    let asked: Vec<f64> = asked.filter(|asked| *asked > 0.0).collect();
    let gib = |bytes: f64| bytes / 1024.0 / 1024.0 / 1024.0;
    let of = format!("{:.2} GiB of {:.2} GiB", gib(asked.iter().sum()), gib(whole));
    let mut widths: Vec<i64> = asked.iter().map(|a| (a / whole * 100.0).round() as i64).collect();
    widths.sort_unstable();
    (of, widths)
}

/// Nodes against the dump, budgets against the numbers in it, steps against those of `-o json`.
#[test]
fn the_page_of_a_drain_draws_the_nodes_and_tells_every_step() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let nodes = "[...document.querySelectorAll('#nodes ~ ol.nodes:nth-of-type(1) > li')].map(node => [\
                 node.querySelector('h4').firstChild.textContent.trim(), node.querySelector('.measure .number').innerText, \
                 [...node.querySelector('.bar').children].map(pod => \
                 Math.round(pod.getBoundingClientRect().width / pod.parentElement.clientWidth * 100)).sort((a, b) => a - b)])";
    let commands = "[...document.querySelectorAll('#steps ~ .findings > li')].map(step => \
                    [...step.querySelectorAll('.command')].map(e => e.textContent))";
    let colours = "(() => { const found = {}; for (const pods of document.querySelectorAll('.nodes .sums > div')) \
                   if (pods.querySelector('.swatch:not(.kept)')) \
                   (found[pods.querySelector('dt').innerText] ??= new Set()).add(pods.querySelector('.swatch').classList[1]); \
                   return Object.values(found).map(classes => classes.size) })()";
    let counts = "[...document.querySelectorAll('.tiles dd')].map(e => Number(e.innerText))";
    let expressions = [nodes, commands, colours, counts, &rows("budgets")];
    let read = read(&mut browser, "drain-plan", &expressions);
    let drawn = read[0].as_array().unwrap();
    assert_eq!(drawn.len(), 6);
    for node in drawn {
        let (of, widths) = node_of_dump(node[0].as_str().unwrap());
        assert_eq!((&node[1], &node[2]), (&json!(of), &json!(widths)), "{node}");
    }
    let repo = migration::repo(&migration::settings());
    let plan = repo.overlay(&["drain-plan", "--from", "now.json", "-o", "json"]).json();
    let steps = plan["result"]["steps"].as_array().unwrap();
    let of_steps: Vec<&Value> = steps.iter().map(|step| &step["commands"]).collect();
    assert_eq!(read[1], json!(of_steps));
    // One colour for a workload, before and after.
    let colours = read[2].as_array().unwrap();
    assert!(colours.len() > 20 && colours.iter().all(|count| *count == json!(1)), "{colours:?}");
    assert_eq!(read[3][0], 6);
    assert_eq!(read[3][4], 0);
    let budgets = read[4].as_array().unwrap();
    for row in [
        json!(["tenant-bureau/wiki", "", "none of 1", "1", "Deployment/wiki", "minAvailable: 1"]),
        json!([
            "kernel-data/kernel-postgres-primary",
            "",
            "none of 1",
            "1",
            "Cluster/kernel-postgres",
            "minAvailable: 1"
        ]),
    ] {
        assert!(budgets.contains(&row), "{row} is not in {budgets:#?}");
    }
}

/// With two waves and a pod that fits nowhere: what stands in the way comes first.
#[test]
fn the_page_of_a_drain_that_lacks_room_says_so_first() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let first = "document.querySelector('main h2').innerText";
    let obstacles =
        "[...document.querySelectorAll('#obstacles ~ .findings > li code')].map(e => e.innerText)";
    let lead = "document.querySelector('.lead').innerText";
    let read = read(&mut browser, "drain-plan-short", &[first, obstacles, lead]);
    assert_eq!(read[0], "Obstacles");
    let repo = migration::repo(&migration::settings());
    repo.write("now.json", &made::short_of_room().to_string());
    let told = repo
        .overlay(&[&["drain-plan", "--from", "now.json", "-o", "json"], &made::WAVES[..]].concat());
    let told = told.json()["result"]["obstacles"].as_array().unwrap().clone();
    let ids: Vec<&Value> = told.iter().map(|obstacle| &obstacle["id"]).collect();
    assert_eq!(read[1], json!(ids));
    assert!(read[2].as_str().unwrap().contains(" in 2 waves "), "{}", read[2]);
}

/// Of a cluster that runs, each node as it is.
#[test]
fn the_page_of_a_sizing_draws_the_nodes_that_run() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let nodes = "[...document.querySelectorAll('#live ~ ol.nodes > li')].map(node => [\
                 node.querySelector('h4').firstChild.textContent.trim(), node.querySelector('.measure .number').innerText])";
    let read =
        read(&mut browser, "capacity-live", &[nodes, "document.querySelector('.lead').innerText"]);
    let drawn = read[0].as_array().unwrap();
    assert_eq!(drawn.len(), 9);
    for node in drawn {
        assert_eq!(node[1], json!(node_of_dump(node[0].as_str().unwrap()).0), "{node}");
    }
    assert_eq!(read[1], "9 nodes that run, and any one of them can be lost.");
}

#[test]
fn a_command_without_a_page_says_so() {
    let repo = made::lattice();
    for command in [&["list"][..], &["images", "overlays/prod"], &["diff", "overlays/prod"]] {
        let ran = repo.overlay(&[command, &["-o", "html"]].concat());
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("has no such form of its result"), "{ran:?}");
    }
    let migration = migration::repo(&migration::settings());
    let args = ["drain-plan", "--from", "now.json", "--progress", "-o", "html"];
    let ran = migration.overlay(&args);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
}
