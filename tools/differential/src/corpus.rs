//! A folder of real overlays: ours, kustomize's and the stored output of each.

use std::fs;
use std::path::Path;

use crate::case::{Answer, differing_lines};
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
