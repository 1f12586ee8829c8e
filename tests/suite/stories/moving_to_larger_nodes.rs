//! The migration to larger nodes: its dump, its rules (least loaded first; never both gateway replicas in succession; transit
//! before the primary; databases last; Deployments on one volume together), each judged on the commands alone, and each
//! broken once it is turned off.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::drain::kubectl::{Command, parse};
use crate::drain::world::{self, World};
use crate::support::repo::{Ran, TestRepo};

pub(crate) const DUMP: &str = "fixtures/drain/node-flavour.json";
pub(crate) const SELECTOR: &str = "node.kubernetes.io/instance-type=small";

const ORDER: &str = "  order:
  - {before: kernel-seal/openbao-transit, after: kernel-secrets/openbao, reason: the primary unseals through transit}
";
const PAIRS: &str = "  pairs:
  - {name: perimeter, namespace: kernel-edge, selector: gateway.envoyproxy.io/owning-gateway-name=perimeter}
  - {name: authenticated, namespace: kernel-edge, selector: gateway.envoyproxy.io/owning-gateway-name=authenticated}
";

pub(crate) fn dump() -> Value {
    serde_json::from_str(&std::fs::read_to_string(DUMP).unwrap()).unwrap()
}

/// All rules of the migration.
pub(crate) fn settings() -> String {
    settings_with(ORDER, PAIRS, &[])
}

fn settings_with(order: &str, pairs: &str, off: &[&str]) -> String {
    let rules: String = off.iter().map(|rule| format!("    {rule}: off\n")).collect();
    let rules = if off.is_empty() { String::new() } else { format!("  rules:\n{rules}") };
    format!("drain:\n  selector: {SELECTOR}\n{order}{pairs}{rules}")
}

pub(crate) fn repo(settings: &str) -> TestRepo {
    let dump = std::fs::read_to_string(DUMP).unwrap();
    TestRepo::with_files(&[(".overlay.yaml", settings), ("now.json", &dump)])
}

fn run(settings: &str, args: &[&str]) -> Ran {
    repo(settings).overlay(&[&["drain-plan", "--from", "now.json", "-o", "json"], args].concat())
}

/// One command that moves something: what it is, and which pods of the dump it takes away.
struct Move {
    at: usize,
    command: Command,
    pods: BTreeSet<String>,
    open: usize,
}

struct Judged {
    commands: Vec<String>,
    moves: Vec<Move>,
    world: World,
    old: Vec<String>,
}

fn old_nodes(dump: &Value) -> Vec<String> {
    let (key, value) = SELECTOR.split_once('=').unwrap();
    let items = dump["items"].as_array().unwrap().iter();
    let nodes = items.filter(|item| item["kind"] == "Node");
    let old = nodes.filter(|node| node["metadata"]["labels"][key] == value);
    old.map(|node| node["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

fn judge(result: &Value) -> Judged {
    let dump = dump();
    let steps = result["steps"].as_array().unwrap().iter();
    let commands: Vec<String> = steps
        .flat_map(|step| step["commands"].as_array().unwrap())
        .map(|command| command.as_str().unwrap().to_owned())
        .collect();
    let mut world = World::new(&dump);
    for gateway in ["perimeter", "authenticated"] {
        let selector = format!("gateway.envoyproxy.io/owning-gateway-name={gateway}");
        world.watch(gateway, "kernel-edge", &selector);
    }
    let placed = |world: &World| -> BTreeSet<(String, Option<usize>)> {
        world.pods.iter().map(|pod| (pod.name.clone(), pod.node)).collect()
    };
    let mut moves = Vec::new();
    for (at, line) in commands.iter().enumerate() {
        let before = placed(&world);
        let open = world.nodes.iter().filter(|node| node.is_open()).count();
        world.run(line);
        let after = placed(&world);
        let pods: BTreeSet<String> = before
            .difference(&after)
            .filter(|(_, node)| node.is_some())
            .map(|(n, _)| n.clone())
            .collect();
        if !pods.is_empty() {
            moves.push(Move { at, command: parse(line), pods, open });
        }
    }
    Judged { commands, moves, world, old: old_nodes(&dump) }
}

impl Judged {
    fn first_move(&self, prefix: &str) -> usize {
        let found = self.moves.iter().find(|m| m.pods.iter().any(|pod| pod.starts_with(prefix)));
        found.unwrap_or_else(|| panic!("nothing moves {prefix}")).at
    }

    fn waits_between(&self, from: usize, to: usize, is_it: impl Fn(&Command) -> bool) -> bool {
        from < to && self.commands[from..to].iter().any(|line| is_it(&parse(line)))
    }

    /// The first node that is drained asks for least, by the dump's own requests.
    fn least_loaded_first(&self) -> bool {
        let dump = dump();
        let load = |node: &str| -> f64 {
            let pods = dump["items"].as_array().unwrap().iter().filter(|item| {
                item["kind"] == "Pod"
                    && item["spec"]["nodeName"] == node
                    && item["status"]["phase"] == "Running"
                    && item["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet"
            });
            let containers = pods.flat_map(|pod| pod["spec"]["containers"].as_array().unwrap());
            let memory =
                |c: &Value| c["resources"]["requests"]["memory"].as_str().map(world::quantity);
            containers.filter_map(memory).sum()
        };
        let least = self.old.iter().min_by(|a, b| load(a).total_cmp(&load(b))).unwrap();
        let first = self.moves.iter().find_map(|m| match &m.command {
            Command::Drain { node, .. } => Some(node),
            _ => None,
        });
        first == Some(least)
    }

    /// Both replicas of a gateway are moved by different drains, with another drain and a wait for that gateway in between.
    fn gateways_apart(&self) -> bool {
        ["perimeter", "authenticated"].iter().all(|gateway| {
            let prefix = format!("envoy-kernel-edge-{gateway}-");
            let drains: Vec<usize> = (0..self.moves.len())
                .filter(|at| matches!(self.moves[*at].command, Command::Drain { .. }))
                .collect();
            let original = |m: &Move| {
                m.pods.iter().any(|pod| pod.starts_with(&prefix) && !pod.contains("-anew-"))
            };
            let with: Vec<usize> =
                (0..drains.len()).filter(|d| original(&self.moves[drains[*d]])).collect();
            let is_wait = |command: &Command| match command {
                Command::WaitPods(namespace, selector, 2) => {
                    let wanted = |key: &str| {
                        (key == "gateway.envoyproxy.io/owning-gateway-name").then_some(*gateway)
                    };
                    namespace == "kernel-edge" && selector.matches(wanted)
                }
                Command::Wait(namespace, _, name, 2) => {
                    namespace == "kernel-edge" && *name == format!("envoy-kernel-edge-{gateway}")
                }
                _ => false,
            };
            let [one, two] = with.as_slice() else { return false };
            let (from, to) = (self.moves[drains[*one]].at, self.moves[drains[*two]].at);
            two - one > 1 && self.waits_between(from, to, is_wait)
        })
    }

    fn transit_before_primary(&self) -> bool {
        let is_wait = |command: &Command| matches!(command, Command::Wait(namespace, _, name, 1) if namespace == "kernel-seal" && name == "openbao-transit");
        let (transit, primary) =
            (self.first_move("openbao-transit-0"), self.first_move("openbao-0"));
        self.waits_between(transit, primary, is_wait)
    }

    /// Each database is deleted by hand, after everything else has moved.
    fn databases_last(&self) -> bool {
        let databases = ["kernel-postgres-1", "postgres-1", "litellm-db-1"];
        let deletes = |name: &str| {
            self.moves.iter().find(|m| {
                matches!(&m.command, Command::Delete { pods, .. } if pods.iter().any(|pod| pod == name))
            })
        };
        let last_other = self
            .moves
            .iter()
            .filter(|m| matches!(m.command, Command::Drain { .. } | Command::Delete { .. }))
            .filter(|m| m.pods.iter().any(|pod| !databases.contains(&pod.as_str())))
            .map(|m| m.at)
            .max()
            .unwrap();
        databases.iter().all(|name| deletes(name).is_some_and(|m| m.at > last_other))
    }

    /// The two on one volume go in one command, while one node alone is open.
    fn volumes_together(&self) -> bool {
        let app = self.moves.iter().find(|m| {
            m.pods.iter().any(|pod| pod.starts_with("odoo-") && !pod.starts_with("odoo-addons"))
        });
        app.is_some_and(|m| m.open == 1 && m.pods.iter().any(|pod| pod.starts_with("odoo-addons")))
    }

    fn rules(&self) -> [bool; 5] {
        [
            self.least_loaded_first(),
            self.gateways_apart(),
            self.transit_before_primary(),
            self.databases_last(),
            self.volumes_together(),
        ]
    }
}

#[test]
fn the_plan_obeys_every_rule_of_the_migration() {
    let ran = run(&settings(), &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = &ran.json()["result"];
    let judged = judge(result);
    assert_eq!(judged.world.faults, [""; 0], "{:#?}", judged.commands);
    assert_eq!(judged.rules(), [true; 5], "{:#?}", judged.commands);
    let first = parse(&judged.commands[0]);
    let Command::Cordon(cordoned) = first else { panic!("{first:?}") };
    assert_eq!(cordoned.iter().collect::<BTreeSet<_>>(), judged.old.iter().collect());
    for node in &judged.old {
        assert_eq!(judged.world.left_on(node), [""; 0]);
    }
    assert!(judged.world.without_place(&judged.old).is_empty());
    assert_eq!(result["waves"], 1);
    assert_eq!(result["survivesLossOfNode"], true);
}

/// Each rule is what makes the plan obey: without it, it does not.
#[test]
fn without_a_rule_the_plan_breaks_it() {
    let without = [
        settings_with(ORDER, PAIRS, &["least-loaded-first"]),
        settings_with(ORDER, "", &["pairs-apart"]),
        settings_with("", PAIRS, &[]),
        settings_with(ORDER, PAIRS, &["databases-last"]),
        settings_with(ORDER, PAIRS, &["volumes-together"]),
    ];
    for (number, settings) in without.iter().enumerate() {
        let ran = run(settings, &[]);
        let judged = judge(&ran.json()["result"]);
        assert!(!judged.rules()[number], "rule {number}: {:#?}", judged.commands);
    }
}

/// The budget of the wiki never lets its one pod go: the plan names the command that makes two of it, and takes one back.
#[test]
fn a_budget_that_blocks_has_its_command() {
    let ran = run(&settings(), &["--overlay", "overlays/bureau"]);
    let judged = judge(&ran.json()["result"]);
    let find = |wanted: &str| judged.commands.iter().position(|line| line == wanted);
    let up = find("overlay set replicas overlays/bureau Deployment/wiki=2 --pr").unwrap();
    let down = find("overlay set replicas overlays/bureau Deployment/wiki=1 --pr").unwrap();
    assert!(up < judged.first_move("wiki-") && judged.first_move("wiki-") < down);
}

/// With a second instance for the while, nobody deletes a database by hand.
#[test]
fn databases_move_by_a_second_instance_where_that_is_wanted() {
    let ran = run(&settings(), &["--databases", "replica"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let judged = judge(&ran.json()["result"]);
    assert_eq!(judged.world.faults, [""; 0], "{:#?}", judged.commands);
    for name in ["kernel-postgres", "postgres", "litellm-db"] {
        for number in [2, 1] {
            let wanted = format!("overlay set instances OVERLAY {name}={number} --pr");
            assert!(judged.commands.contains(&wanted), "{wanted}");
        }
        let pod = format!("{name}-1");
        assert!(!judged.moves.iter().any(|m| {
            matches!(&m.command, Command::Delete { pods, .. } if pods.contains(&pod))
        }));
    }
}

#[test]
fn rules_that_contradict_each_other_are_named() {
    let round = "  order:
  - {before: kernel-seal/openbao-transit, after: kernel-secrets/openbao}
  - {before: kernel-secrets/openbao, after: kernel-identity/keycloak}
  - {before: kernel-identity/keycloak, after: kernel-seal/openbao-transit}
";
    let ran = run(&settings_with(round, PAIRS, &[]), &[]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "drain-rules-contradict"), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    for rule in ["openbao-transit before", "openbao before", "keycloak before"] {
        assert!(message.contains(rule), "{message}");
    }
    // Nodes that wait for each other, and workloads that do not: taken apart, all rules can be obeyed.
    let crossed = "  order:
  - {before: kernel-seal/openbao-transit, after: kernel-secrets/openbao}
  - {before: kernel-gitops/argocd-repo-server, after: kernel-mail/postfix}
";
    let ran = run(&settings_with(crossed, PAIRS, &[]), &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let judged = judge(&ran.json()["result"]);
    assert_eq!(judged.world.faults, [""; 0], "{:#?}", judged.commands);
    assert!(judged.transit_before_primary(), "{:#?}", judged.commands);
    assert!(judged.first_move("argocd-repo-server") < judged.first_move("postfix"));
}

#[test]
fn what_cannot_be_planned_is_refused_with_a_reason() {
    let rules = settings();
    for (settings, args, status, code) in [
        (rules.as_str(), &["--nodes", "gentian-workers-4k7px"][..], 4, "no-such-node"),
        (rules.as_str(), &["--selector", "a=b"], 4, "no-such-node"),
        (rules.as_str(), &["--selector", "a in"], 2, "usage"),
        ("drain: {}\n", &[], 2, "usage"),
        (
            "drain: {selector: a2, protected: [kernel-mail/postfx]}\n",
            &["--nodes", "gentian-workers-4k7pz"],
            3,
            "drain-rule-unknown",
        ),
        (
            "drain: {order: [{before: a.b/c, after: kernel-mail/postfix}]}\n",
            &["--nodes", "gentian-workers-4k7pz"],
            3,
            "drain-rule-unknown",
        ),
        (
            "drain: {order: [{before: a/b, after: c/d, optional: true}]}\n",
            &["--nodes", "gentian-workers-z7j4s"],
            0,
            "",
        ),
    ] {
        let ran = run(settings, args);
        assert_eq!(
            (ran.status, ran.code().as_str()),
            (status, code),
            "{settings} {args:?} {ran:?}"
        );
    }
    let near = run(&rules, &["--nodes", "gentian-workers-4k7px"]);
    let hint = near.json()["error"]["hints"][0].as_str().unwrap().to_owned();
    assert!(hint.starts_with("did you mean gentian-workers-4k7pz"), "{hint}");
}
