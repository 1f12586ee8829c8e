//! New nodes that a provider does not grant all at once: two waves.

use serde_json::{Value, json};

use super::changed::{items, obstacles, run};
use super::kubectl::{Command, parse};
use crate::stories::moving_to_larger_nodes::dump;
use crate::support::repo::{Ran, TestRepo};

/// The dump of the migration before one of the new nodes is there.
fn without_new_nodes() -> Value {
    let mut changed = dump();
    let is_new = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("gentian-large"));
    items(&mut changed)
        .retain(|item| !is_new(&item["metadata"]["name"]) && !is_new(&item["spec"]["nodeName"]));
    changed
}

/// Without one port to spare all six old nodes are given back in the first wave: nothing is left to look at, to uncordon or to delete.
#[test]
fn nodes_that_are_given_back_are_not_spoken_of_at_the_end() {
    let mut changed = dump();
    let is_held = |item: &&mut Value| item["kind"] == "Pod";
    items(&mut changed).iter_mut().filter(is_held).for_each(|pod| {
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": true,
        }]);
    });
    let settings = "drain: {selector: node.kubernetes.io/instance-type=small}";
    let repo =
        TestRepo::with_files(&[(".overlay.yaml", settings), ("now.json", &changed.to_string())]);
    let all = ["--new", "9", "--quota", "ports=9,used=9"];
    let ran =
        repo.overlay(&[&["drain-plan", "--from", "now.json", "-o", "json"][..], &all].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let steps = ran.json()["result"]["steps"].as_array().unwrap().clone();
    let text = |at: usize| steps[at]["text"].as_str().unwrap();
    assert!(text(0).contains("Turn off the autoscaler of the old pool before"), "{}", text(0));
    let last = steps.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["commands"]),
        (&json!("check"), &json!(["kubectl get pvc -A"]))
    );
    let given_back = steps
        .iter()
        .position(|step| step["text"].as_str().unwrap().contains("Delete these"))
        .unwrap();
    let later =
        steps[given_back + 1..].iter().flat_map(|step| step["commands"].as_array().unwrap());
    assert!(
        later.into_iter().all(|command| !command.as_str().unwrap().contains("gentian-workers")),
        "{steps:#?}"
    );
}

/// Six ports, five used, three nodes wanted: one new node comes at once, two old ones have to be given back for the others.
#[test]
fn scarce_ports_make_two_waves() {
    let changed = without_new_nodes();
    let args = ["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=6,used=5"];
    let ran = run(&changed, &args);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = ran.json()["result"].clone();
    assert_eq!(result["waves"], 2);
    let steps = result["steps"].as_array().unwrap();
    assert_eq!(steps[0]["kind"], "provider");
    assert!(
        steps[0]["text"].as_str().unwrap().contains("Cap the old pool at 4 nodes"),
        "{}",
        steps[0]
    );
    let commands: Vec<&str> = steps
        .iter()
        .flat_map(|step| step["commands"].as_array().unwrap())
        .map(|command| command.as_str().unwrap())
        .collect();
    let given_back: Vec<&str> = commands
        .iter()
        .filter_map(|command| command.strip_prefix("kubectl delete node "))
        .collect();
    // The two that carry no database, no transit, no primary, no single replica of a StatefulSet, the least loaded first.
    assert_eq!(given_back, ["gentian-workers-z7j4s", "gentian-workers-8x2fd"]);
    let boundary =
        commands.iter().position(|command| command.starts_with("kubectl delete node")).unwrap();
    let drained = |commands: &[&str]| -> std::collections::BTreeSet<String> {
        let all = commands.iter().filter(|command| command.starts_with("kubectl drain"));
        all.map(|command| command.split(' ').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(
        drained(&commands[..boundary]),
        given_back.iter().map(|n| (*n).to_owned()).collect()
    );
    assert_eq!(drained(&commands[boundary..]).len(), 4);
    let cordons =
        commands.iter().filter_map(|command| match command.starts_with("kubectl cordon") {
            true => Some(parse(command)),
            false => None,
        });
    let first = cordons.into_iter().next().unwrap();
    assert_eq!(first, Command::Cordon(given_back.iter().map(|n| (*n).to_owned()).collect()));
    assert_eq!(result["new"].as_array().unwrap().len(), 3);
    // With a port for each there is one wave; with none left at all, three nodes would have to go, and two can.
    let enough = run(
        &changed,
        &["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=9,used=6"],
    );
    assert_eq!(enough.json()["result"]["waves"], 1);
    let none = run(
        &changed,
        &["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=6,used=6"],
    );
    assert_eq!(none.status, 7);
    assert!(
        obstacles(&none)
            .iter()
            .any(|(id, text)| id == "quota" && text.contains("3 nodes") && text.contains("only 2"))
    );
}

fn given_back(ran: &Ran) -> usize {
    let result = ran.json()["result"].clone();
    let steps = result["steps"].as_array().unwrap().clone();
    let commands = steps.iter().flat_map(|step| step["commands"].as_array().unwrap().clone());
    commands.filter(|command| command.as_str().unwrap().starts_with("kubectl delete node ")).count()
}

/// What is used beyond a quota has to be given back too: of 23 of 20 ports 4, so that one more is the 20th. Of processors an old
/// node gives back its 2, and a new one takes 4.
#[test]
fn as_many_old_nodes_are_given_back_as_a_quota_wants() {
    let changed = without_new_nodes();
    let kind = ["--node", "memory=15.62GiB,cpu=4"];
    for (new, quota, count) in [
        ("1", "ports=20,used=23", 4),
        ("1", "ports=20,used=20", 1),
        ("1", "ports=20,used=19", 0),
        ("2", "ports=20,used=19", 1),
        ("1", "ports=20,used=22,per=2", 2),
        ("1", "cores=12,used=12", 2),
        ("1", "cores=13,used=12", 2),
        ("1", "cores=14,used=12", 1),
        ("1", "cores=16,used=12", 0),
    ] {
        let ran = run(&changed, &[&kind[..], &["--new", new, "--quota", quota]].concat());
        assert_eq!(given_back(&ran), count, "{new} {quota}: {}", ran.stderr);
    }
    let ran = run(&changed, &[&kind[..], &["--new", "1", "--quota", "ports=20,used=40"]].concat());
    let told = obstacles(&ran);
    let wanted =
        "the quota ports does not let 1 new nodes come though all 6 old ones are given back";
    assert!(told.iter().any(|(id, text)| id == "quota" && text == wanted), "{told:?}");
}

/// What is raised in the first wave is up in the second; what waits for new nodes is waited for; every step says what it is.
#[test]
fn nothing_is_done_twice_and_nothing_forgotten_between_two_waves() {
    let args = ["--new", "3", "--node", "memory=15.62GiB,cpu=4", "--quota", "ports=6,used=6"];
    let ran = run(&without_new_nodes(), &args);
    let steps = ran.json()["result"]["steps"].as_array().unwrap().clone();
    assert!(steps.iter().all(|step| !step["text"].as_str().unwrap().is_empty()), "{steps:#?}");
    let of_kind = |kind: &'static str| steps.iter().filter(move |step| step["kind"] == kind);
    assert_eq!((of_kind("raise").count(), of_kind("lower").count()), (1, 1));
    let shared =
        of_kind("delete").find(|step| step["text"].as_str().unwrap().contains("share a volume"));
    let pods = shared.unwrap()["pods"].as_array().unwrap();
    assert_eq!(pods.len(), 2, "{pods:?}");
    let joined = steps.iter().position(|step| {
        step["kind"] == "provider" && step["text"].as_str().unwrap().starts_with("3 new nodes")
    });
    let waits: Vec<&str> = steps[joined.unwrap()..]
        .iter()
        .take_while(|step| step["kind"] != "cordon")
        .filter(|step| step["kind"] == "wait")
        .map(|step| step["text"].as_str().unwrap())
        .collect();
    for name in ["Deployment/odoo in", "Deployment/odoo-addons-sync in"] {
        assert!(waits.iter().any(|text| text.starts_with(name)), "{name}: {waits:?}");
    }
}
