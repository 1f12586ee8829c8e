//! Small clusters by chance: the plan of each is executed by the world of `world.rs`, in several ways, which finds nothing
//! wrong and no pod without a place that the plan does not name; and `placing.rs` finds no place for those that have none.

use serde_json::Value;

use super::clusters::Cluster;
use super::placing::Placing;
use super::scheduler::Scheduler;
use super::world::{Pod, World};
use crate::support::random::Random;
use overlay::drain::{self, Databases, Obstacle, Options, PlanError, Rules, State};

pub(crate) fn options(databases: Databases) -> Options {
    Options {
        quotas: Vec::new(),
        bought: None,
        new_nodes: None,
        new_node: None,
        overlay: "overlays/prod".to_owned(),
        drain_timeout: 420,
        wait_timeout: "300s".to_owned(),
        databases,
    }
}

/// The plan as the library makes it.
pub(crate) fn plan(
    dump: &Value,
    old: &[String],
    rules: &Rules,
    databases: Databases,
) -> Result<drain::Plan, PlanError> {
    let state = State::read(dump["items"].as_array().unwrap()).unwrap();
    let old = drain::old_nodes(&state, old, None).unwrap();
    drain::plan(state, &old, rules, &options(databases))
}

/// Obstacles that say that a pod has no place.
const NO_PLACE: [&str; 8] = [
    "too-large",
    "too-many-pods",
    "volume-elsewhere",
    "no-common-place",
    "kept-apart",
    "affinity-unmet",
    "no-target",
    "no-node-fits",
];

/// What a plan is worth.
pub(crate) struct Worth {
    /// Whether it has nothing to tell.
    pub(crate) is_clean: bool,
    /// Whether it says that pods may find no place, and of none that it has none; and in how many clusters one found none.
    pub(crate) is_tight: bool,
    pub(crate) times_short: usize,
    pub(crate) commands: usize,
    /// Whether there were too many ways to place its pods to try them all.
    pub(crate) gave_up: bool,
    /// That a pod is told to have no place and has one.
    pub(crate) in_vain: Option<String>,
}

/// What a cluster by chance has beside its pods.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Plain,
    /// Others on new nodes, and replicas that keep apart.
    Crowded,
    /// The same, and replicas that are spread, or are near others.
    Bound,
}

/// What a seed gives, or what is wrong with its plan.
pub(crate) fn judge(seed: u64, setting: Setting) -> Result<Worth, String> {
    let mut dice = Random::new(seed);
    let mut cluster = Cluster::random(&mut dice);
    let databases = if dice.below(3_u64) == 0 { Databases::ByReplica } else { Databases::ByHand };
    if setting != Setting::Plain {
        cluster.crowd(&mut dice);
    }
    if setting == Setting::Bound {
        cluster.bind(&mut dice);
    }
    let dump = cluster.dump();
    let plan = plan(&dump, &cluster.old, &Rules::default(), databases)
        .map_err(|error| format!("no plan: {error}"))?;
    let chance = |more: u64| Scheduler::ByChance(Random::new(seed * 10 + more));
    let schedulers = [Scheduler::MostLeft, Scheduler::LeastLeft, chance(1), chance(2), chance(3)];
    let mut times_short = 0;
    for (number, scheduler) in schedulers.into_iter().enumerate() {
        let mut world = World::new(&dump);
        world.scheduler = scheduler;
        let judged = Judged { plan: &plan, old: &cluster.old };
        let was_short = judged
            .execute(world)
            .map_err(|what| format!("{what} (scheduler {number})\n{}", judged.shown()))?;
        times_short += usize::from(was_short);
    }
    let no_place = |obstacle: &&Obstacle| NO_PLACE.contains(&obstacle.id);
    let told = plan.obstacles.iter().filter(no_place).flat_map(|obstacle| obstacle.pods.clone());
    let told: Vec<String> = told.collect();
    let mut placing = Placing::new(&World::new(&dump), &cluster.old, &plan);
    // Where pods are bound to each other it matters who moves first, which no placing of all at once tells.
    let told_in_vain = match setting {
        Setting::Bound => None,
        _ => placing.told_in_vain(&told),
    };
    let in_vain = told_in_vain.map(|pod| {
        let judged = Judged { plan: &plan, old: &cluster.old };
        format!("{pod} has a place beside all that have one\n{}", judged.shown())
    });
    let is_noted = plan.notes.iter().any(|note| note.contains(MAY_FIND_NONE));
    let (is_clean, is_tight) =
        (plan.obstacles.is_empty() && !is_noted, told.is_empty() && is_noted);
    let commands = plan.steps.iter().map(|step| step.commands.len()).sum();
    Ok(Worth { is_clean, is_tight, times_short, commands, gave_up: placing.gave_up, in_vain })
}

const MAY_FIND_NONE: &str = "may find no place, where the scheduler chooses otherwise";

struct Judged<'a> {
    plan: &'a drain::Plan,
    old: &'a [String],
}

impl Judged<'_> {
    /// Executes the plan in one cluster; whether a pod was without a place there.
    fn execute(&self, mut world: World) -> Result<bool, String> {
        let at_first = world.clone();
        let commands = self.plan.steps.iter().flat_map(|step| &step.commands);
        commands.for_each(|command| world.run(command));
        // Where pods are named that have or may have no place, the plan is not to be run as it is: then harm is no wonder.
        let is_named = |pod: &Pod| self.names(pod, &at_first);
        let is_short = self.names_any() && world.was_short;
        if world.was_short && !self.names_any() {
            return Err("a pod had no place for a while, and nobody said so".to_owned());
        }
        if !is_short && !world.faults.is_empty() {
            return Err(format!("{:#?}", world.faults));
        }
        let left: Vec<String> = self.old.iter().flat_map(|node| world.left_on(node)).collect();
        if !is_short && !left.is_empty() {
            return Err(format!("{left:?} are left"));
        }
        for (pod, could_be_placed) in world.without_place(self.old) {
            if could_be_placed {
                return Err(format!("{} could have a place", pod.shown()));
            }
            if !is_named(&pod) {
                return Err(format!("{} has no place, and nobody said so", pod.shown()));
            }
        }
        Ok(world.was_short)
    }

    fn names_any(&self) -> bool {
        let is_no_place = |obstacle: &Obstacle| NO_PLACE.contains(&obstacle.id);
        self.plan.obstacles.iter().any(is_no_place)
            || self.plan.notes.iter().any(|note| note.contains(MAY_FIND_NONE))
    }

    /// Whether the plan names a pod that has no place, or one that it is in the stead of.
    fn names(&self, pod: &Pod, at_first: &World) -> bool {
        let is_no_place = |obstacle: &&Obstacle| NO_PLACE.contains(&obstacle.id);
        let told = self.plan.obstacles.iter().filter(is_no_place).flat_map(|told| &told.pods);
        let told: Vec<&String> = told.collect();
        let notes = self.plan.notes.iter().filter(|note| note.contains(MAY_FIND_NONE));
        let notes: Vec<&str> = notes.flat_map(|note| note.split([' ', ','])).collect();
        let is_told = |name: &String| told.contains(&name) || notes.contains(&name.as_str());
        let is_kin = |other: &&Pod| other.namespace == pod.namespace && other.owner == pod.owner;
        let more = pod.owner.as_ref().map(|(_, name)| format!("{}/{name}-more-", pod.namespace));
        at_first.pods.iter().filter(is_kin).any(|kin| is_told(&kin.shown()))
            || more.is_some_and(|more| {
                told.iter()
                    .map(|name| name.as_str())
                    .chain(notes.iter().copied())
                    .any(|name| name.starts_with(&more))
            })
    }

    fn shown(&self) -> String {
        let told: Vec<&String> =
            self.plan.obstacles.iter().map(|obstacle| &obstacle.message).collect();
        let commands: Vec<&str> = self
            .plan
            .steps
            .iter()
            .flat_map(|step| step.commands.iter().map(String::as_str))
            .collect();
        format!("told {told:#?}\n{}\n{}", self.plan.notes.join("\n"), commands.join("\n"))
    }
}

/// Judges a row of seeds: clean plans, plans that say that pods may find no place, and how many of those have a cluster where
/// one finds none, commands.
fn judge_all(seeds: std::ops::Range<u64>, setting: Setting) -> (usize, usize, usize, usize) {
    let (mut clean, mut tight, mut borne_out, mut commands) = (0, 0, 0, 0);
    let (mut wrong, mut in_vain, mut gave_up) = (Vec::new(), Vec::new(), 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match judge(seed, setting) {
            Ok(worth) => {
                commands += worth.commands;
                gave_up += u64::from(worth.gave_up);
                in_vain.extend(worth.in_vain.map(|what| format!("seed {seed}: {what}")));
                clean += usize::from(worth.is_clean);
                tight += usize::from(worth.is_tight);
                borne_out += usize::from(worth.is_tight && worth.times_short > 0);
            }
            Err(fault) => wrong.push(format!("seed {seed}: {fault}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    // The search of a plan is bounded: of a thousand clusters it may miss a place in one.
    assert!(in_vain.len() as u64 * 1000 <= count, "{}", in_vain.join("\n\n"));
    assert!(gave_up * 100 <= count, "{gave_up} of {count} were not tried out");
    (clean, tight, borne_out, commands)
}

#[test]
fn three_hundred_small_clusters_are_emptied_without_harm() {
    let counts @ (clean, tight, borne_out, commands) = judge_all(0..300, Setting::Plain);
    assert!(clean > 100 && tight > 20 && commands > 3000, "{counts:?}");
    assert!(borne_out * 2 > tight, "{counts:?}");
}

#[test]
fn where_others_are_already_and_replicas_keep_apart_nobody_is_forgotten_either() {
    let counts @ (clean, tight, borne_out, _) = judge_all(1000..1200, Setting::Crowded);
    assert!(clean > 40 && tight > 20, "{counts:?}");
    assert!(borne_out * 5 > tight, "{counts:?}");
}

#[test]
fn where_replicas_are_spread_or_near_others_nobody_is_forgotten_either() {
    let counts @ (clean, tight, borne_out, _) = judge_all(8000..8080, Setting::Bound);
    assert!(clean > 5 && tight > 5 && borne_out > 1, "{counts:?}");
}

/// Run once in a while: `cargo test --test suite thousands_of_small_clusters -- --ignored`.
#[test]
#[ignore = "takes minutes"]
fn thousands_of_small_clusters_are_emptied_without_harm() {
    judge_all(2000..5000, Setting::Plain);
    judge_all(5000..8000, Setting::Crowded);
    judge_all(8000..11000, Setting::Bound);
}
