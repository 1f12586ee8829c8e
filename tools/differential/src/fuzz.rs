//! Random overlays on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::case::{Answer, Case, Difference, differing_lines, signature};
use crate::grammar;
use crate::judge::Judge;
use crate::minimise::minimise;
use crate::ours;

/// How many cases a job takes at a time.
const BATCH: u64 = 200;
/// After how many cases the run says how far it is, for one that is stopped; a multiple of [`BATCH`].
const REPORT_EVERY: u64 = 10_000;
/// How often kustomize is asked again before a difference counts: a few of its answers vary.
const REPEATS: usize = 4;

/// What a run does.
pub(crate) struct Plan {
    /// The program of the judge.
    pub(crate) judge: PathBuf,
    /// The seed of all cases.
    pub(crate) seed: u64,
    /// The number of the first case.
    pub(crate) start: u64,
    /// The number of cases.
    pub(crate) count: u64,
    /// Threads, each with a judge of its own.
    pub(crate) jobs: u64,
    /// Where differing cases are written.
    pub(crate) write: Option<PathBuf>,
    /// The run ends after so many differences.
    pub(crate) most: u64,
}

/// What has been seen so far, shared by all jobs.
#[derive(Default)]
struct Progress {
    next: AtomicU64,
    built: AtomicU64,
    refused: AtomicU64,
    unstable: AtomicU64,
    /// Left to kustomize by name, by what it is.
    left: Mutex<BTreeMap<String, u64>>,
    differing: AtomicU64,
    kinds: Mutex<BTreeSet<String>>,
    /// How often both sides refuse, by the shape of kustomize's words.
    refusals: Mutex<BTreeMap<String, u64>>,
}

/// A case on which the two sides differ.
struct Found {
    index: u64,
    case: Case,
    difference: Difference,
    theirs: Answer,
    ours: Answer,
}

/// Runs the plan; true where no case differs.
pub(crate) fn run(plan: &Plan) -> Result<bool, String> {
    std::panic::set_hook(Box::new(|_| {}));
    let progress = Progress::default();
    let begun = Instant::now();
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let jobs: Vec<_> =
            (0..plan.jobs.max(1)).map(|_| scope.spawn(|| job(plan, &progress))).collect();
        jobs.into_iter().map(|job| job.join().unwrap_or(Err("a job broke".to_owned()))).collect()
    });
    results.into_iter().collect::<Result<(), String>>()?;
    summarise(&progress, begun);
    Ok(progress.differing.load(Ordering::Relaxed) == 0)
}

fn summarise(progress: &Progress, begun: Instant) {
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (built, refused) = (count(&progress.built), count(&progress.refused));
    let kinds_left = progress.left.lock().map(|left| left.clone()).unwrap_or_default();
    let left: u64 = kinds_left.values().sum();
    let seconds = begun.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = (built + refused + left) as f64 / seconds;
    println!(
        "{} overlays in {seconds:.0} s ({rate:.0} a second): {built} built, {refused} refused by \
         both, {} that kustomize answers in several ways, {left} left to kustomize, {} differ in {} \
         kinds",
        built + refused + left + count(&progress.differing) + count(&progress.unstable),
        count(&progress.unstable),
        count(&progress.differing),
        progress.kinds.lock().map_or(0, |kinds| kinds.len()),
    );
    for (words, count) in kinds_left {
        println!("left {count} times: {words}");
    }
    let refusals = progress.refusals.lock().map(|refusals| refusals.clone()).unwrap_or_default();
    let mut refusals: Vec<(String, u64)> = refusals.into_iter().collect();
    refusals.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (words, count) in refusals.iter().take(25) {
        println!("refused {count} times: {words}");
    }
}

fn job(plan: &Plan, progress: &Progress) -> Result<(), String> {
    let mut judge = Judge::start(&plan.judge)?;
    loop {
        let first = progress.next.fetch_add(BATCH, Ordering::Relaxed);
        if first >= plan.count {
            return Ok(());
        }
        if first > 0 && first.is_multiple_of(REPORT_EVERY) {
            println!("{first} overlays of seed {} so far", plan.seed);
        }
        for offset in first..(first + BATCH).min(plan.count) {
            if kinds_found(progress) >= plan.most {
                return Ok(());
            }
            if let Some(found) = compare(plan, plan.start + offset, &mut judge, progress)? {
                record(plan, progress, &mut judge, &found)?;
            }
        }
    }
}

fn kinds_found(progress: &Progress) -> u64 {
    progress.kinds.lock().map_or(u64::MAX, |kinds| kinds.len().try_into().unwrap_or(u64::MAX))
}

fn compare(
    plan: &Plan,
    index: u64,
    judge: &mut Judge,
    progress: &Progress,
) -> Result<Option<Found>, String> {
    let case = grammar::overlay(plan.seed, index);
    let theirs = judge.build(&case)?;
    let ours = ours::build_case(&case);
    if let Some(what) = left_to_kustomize(&theirs, &ours) {
        *progress.left.lock().map_err(|e| e.to_string())?.entry(what).or_default() += 1;
        return Ok(None);
    }
    let counter = match (Difference::between(&theirs, &ours), &theirs) {
        (Some(difference), _) if is_stable(judge, &case, &theirs)? => {
            return Ok(Some(Found { index, case, difference, theirs, ours }));
        }
        (Some(_), _) => &progress.unstable,
        (None, Answer::Printed(_)) => &progress.built,
        (None, Answer::Refused(words) | Answer::Broke(words)) => {
            let shape = innermost(words);
            *progress.refusals.lock().map_err(|e| e.to_string())?.entry(shape).or_default() += 1;
            &progress.refused
        }
    };
    counter.fetch_add(1, Ordering::Relaxed);
    Ok(None)
}

/// What the own build names as a thing that only kustomize can build, where that builds it.
fn left_to_kustomize(theirs: &Answer, ours: &Answer) -> Option<String> {
    let (Answer::Printed(_), Answer::Refused(words)) = (theirs, ours) else { return None };
    let words = words.strip_suffix(ours::LEFT)?;
    let words = words.rsplit(": ").next()?;
    let kind_at = words.find("hash of a ").map_or(words.len(), |at| at + "hash of a ".len());
    Some(words[..kind_at].trim_end().to_owned())
}

/// Whether kustomize answers the same each time: it sorts keys by a comparison that is no order.
fn is_stable(judge: &mut Judge, case: &Case, first: &Answer) -> Result<bool, String> {
    for _ in 0..REPEATS {
        let again = judge.build(case)?;
        let same = match (first, &again) {
            (Answer::Printed(a), Answer::Printed(b)) => a == b,
            (Answer::Printed(_), _) | (_, Answer::Printed(_)) => false,
            _ => true,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn record(
    plan: &Plan,
    progress: &Progress,
    judge: &mut Judge,
    found: &Found,
) -> Result<(), String> {
    progress.differing.fetch_add(1, Ordering::Relaxed);
    let kind = signature(&found.difference, &found.theirs, &found.ours);
    if !progress.kinds.lock().map_err(|e| e.to_string())?.insert(kind.clone()) {
        return Ok(());
    }
    let small = minimise(&found.case, |case| {
        let (theirs, ours) = (judge.build(case)?, ours::build_case(case));
        // The same words of a refusal, so that one fault does not turn into another on the way.
        let same_words = match (&ours, &found.ours) {
            (Answer::Refused(a), Answer::Refused(b)) => shape(a) == shape(b),
            _ => true,
        };
        Ok(same_words && Difference::between(&theirs, &ours).as_ref() == Some(&found.difference))
    })?;
    let (theirs, ours) = (judge.build(&small)?, ours::build_case(&small));
    println!("case {} of seed {}: {kind}", found.index, plan.seed);
    print_case(&small, &theirs, &ours);
    match &plan.write {
        Some(folder) => write(folder, plan.seed, found, &small, &theirs),
        None => Ok(()),
    }
}

/// The end of a refusal, where its cause stands, without what varies from case to case.
fn innermost(words: &str) -> String {
    let words: Vec<&str> = words
        .split_whitespace()
        .filter(|w| w.chars().all(|c| c.is_alphabetic() || c == ':'))
        .collect();
    words[words.len().saturating_sub(12)..].join(" ")
}

/// The words of a refusal without what varies from case to case.
fn shape(words: &str) -> String {
    words.split([':', ' ']).filter(|w| w.chars().all(char::is_alphabetic)).take(8).collect()
}

fn print_case(case: &Case, theirs: &Answer, ours: &Answer) {
    for (path, text) in &case.files {
        println!("--- {path}\n{text}");
    }
    match (theirs, ours) {
        (Answer::Printed(a), Answer::Printed(b)) => println!("=> {}", differing_lines(a, b)),
        _ => println!("=> kustomize {theirs:?}\n=> ours {ours:?}"),
    }
}

/// Writes a case in the layout of `fixtures/build`: the input tree and what kustomize says.
fn write(
    folder: &Path,
    seed: u64,
    found: &Found,
    case: &Case,
    theirs: &Answer,
) -> Result<(), String> {
    let home = folder.join(format!("{}-{seed}-{}", found.difference.name(), found.index));
    for (path, text) in &case.files {
        put(&home.join("in").join(path), text)?;
    }
    match theirs {
        Answer::Printed(text) => put(&home.join("expected.yaml"), text),
        Answer::Refused(words) | Answer::Broke(words) => {
            put(&home.join("error.txt"), &format!("Error: {}\n", words.replace("/tree", "/in")))
        }
    }
}

fn put(path: &Path, text: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}
