//! Makes a differing case smaller while it still differs in the same way.
//!
//! Files go first, then blocks of lines: a line with everything below it that is indented deeper,
//! and single lines. No knowledge of the grammar is needed for that.

use std::collections::BTreeMap;

use crate::case::Case;

/// The most attempts for one case; a bound on time, not on quality.
const MAX_ATTEMPTS: usize = 4_000;

/// The smallest case found for which `differs` still holds.
pub(crate) fn minimise(
    case: &Case,
    mut differs: impl FnMut(&Case) -> Result<bool, String>,
) -> Result<Case, String> {
    let mut best = case.clone();
    let mut attempts = 0;
    loop {
        let before = best.clone();
        for candidates in [without_files as fn(&Case) -> Vec<Case>, without_blocks] {
            while let Some(smaller) =
                first_holding(&candidates(&best), &mut attempts, &mut differs)?
            {
                best = smaller;
            }
        }
        if best == before || attempts >= MAX_ATTEMPTS {
            return Ok(best);
        }
    }
}

fn first_holding(
    candidates: &[Case],
    attempts: &mut usize,
    differs: &mut impl FnMut(&Case) -> Result<bool, String>,
) -> Result<Option<Case>, String> {
    for candidate in candidates {
        if *attempts >= MAX_ATTEMPTS {
            return Ok(None);
        }
        *attempts += 1;
        if differs(candidate)? {
            return Ok(Some(candidate.clone()));
        }
    }
    Ok(None)
}

/// The case without each of its files in turn.
fn without_files(case: &Case) -> Vec<Case> {
    let without = |path: &String| {
        let mut smaller = case.clone();
        smaller.files.remove(path);
        smaller
    };
    case.files.keys().map(without).collect()
}

/// The case without each block of lines in turn, the largest first.
fn without_blocks(case: &Case) -> Vec<Case> {
    let mut found: Vec<(usize, Case)> = Vec::new();
    for (path, text) in &case.files {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (start, end) in blocks(&lines) {
            let shorter = [&lines[..start], &lines[end..]].concat().concat();
            let mut files: BTreeMap<String, String> = case.files.clone();
            files.insert(path.clone(), shorter);
            found.push((end - start, Case { files, overlay: case.overlay.clone() }));
        }
    }
    found.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    found.into_iter().map(|(_, case)| case).collect()
}

/// The ranges of lines that may go together: documents, a line with what hangs below it, one line.
fn blocks(lines: &[&str]) -> Vec<(usize, usize)> {
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut ranges = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let deeper = lines[start + 1..]
            .iter()
            .take_while(|next| indentation(next) > indentation(line) || next.trim().is_empty());
        let end = start + 1 + deeper.count();
        if end > start + 1 {
            ranges.push((start, end));
        }
        ranges.push((start, start + 1));
        if line.starts_with("---") {
            let document = lines[start + 1..].iter().take_while(|next| !next.starts_with("---"));
            ranges.push((start, start + 1 + document.count()));
        }
    }
    ranges
}
