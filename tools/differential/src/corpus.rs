//! Folders of real overlays: ours and kustomize's output of each, and where it is stored that too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::case::{Answer, Difference, differing_lines};
use crate::judge::Judge;
use crate::ours;

/// Builds each overlay that `expected.tsv` in `folder` names and prints what differs; true where
/// nothing does.
pub(crate) fn run(judge: &Path, folder: &Path) -> Result<bool, String> {
    let folder = fs::canonicalize(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut judge = Judge::start(judge)?;
    let table = read(&folder.join("expected.tsv"))?;
    let overlays: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split('\t').next())
        .filter(|name| folder.join(name).is_dir() && !name.is_empty())
        .collect();
    let (mut as_stored, mut as_judged, mut judge_as_stored) = (0, 0, 0);
    for overlay in &overlays {
        let stored = Answer::Printed(read(&folder.join(format!("expected/{overlay}.yaml")))?);
        let judged = judge.build_directory(&folder.join(overlay))?;
        let ours = ours::build_directory(&folder, overlay);
        as_stored += usize::from(ours == stored);
        as_judged += usize::from(ours == judged);
        judge_as_stored += usize::from(judged == stored);
        report(overlay, "ours differs from kustomize", &judged, &ours);
        report(overlay, "kustomize differs from the stored output", &stored, &judged);
    }
    let all = overlays.len();
    println!(
        "{all} overlays: ours as stored {as_stored}, ours as kustomize {as_judged}, kustomize as stored {judge_as_stored}"
    );
    Ok(as_stored == all && as_judged == all)
}

/// The names of kustomization files.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Builds every directory below `folder` that holds a kustomization file and prints what differs;
/// true where nothing does.
pub(crate) fn tree(judge: &Path, folder: &Path) -> Result<bool, String> {
    let folder = fs::canonicalize(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut judge = Judge::start(judge)?;
    let mut overlays = Vec::new();
    find(&folder, &mut overlays)?;
    let (mut built, mut refused, mut left, mut differing) = (0, 0, 0, 0);
    for directory in &overlays {
        let path = directory.strip_prefix(&folder).unwrap_or(directory).to_string_lossy();
        let ours = ours::build_directory(&folder, &path);
        if matches!(&ours, Answer::Refused(words) if words.ends_with(ours::LEFT)) {
            left += 1;
            continue;
        }
        let judged = judge.build_directory(directory)?;
        match Difference::between(&judged, &ours) {
            None if matches!(ours, Answer::Printed(_)) => built += 1,
            None => refused += 1,
            Some(_) => {
                differing += 1;
                report(&path, "ours differs from kustomize", &judged, &ours);
            }
        }
    }
    println!(
        "{} directories: {built} built alike, {refused} refused by both, {left} left to kustomize, \
         {differing} differ",
        overlays.len()
    );
    Ok(differing == 0)
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", directory.display());
    if NAMES.iter().any(|name| directory.join(name).is_file()) {
        found.push(directory.to_owned());
    }
    let mut below: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() && entry.file_name() != ".git" {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|directory| find(directory, found))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn report(overlay: &str, what: &str, wanted: &Answer, got: &Answer) {
    let how = match (wanted, got) {
        (wanted, got) if wanted == got => return,
        (Answer::Printed(wanted), Answer::Printed(got)) => differing_lines(wanted, got),
        (_, Answer::Refused(words) | Answer::Broke(words)) => words.clone(),
        (Answer::Refused(words) | Answer::Broke(words), _) => format!("wanted: {words}"),
    };
    println!("{overlay}: {what}: {how}");
}
