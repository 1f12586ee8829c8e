//! Suggestions: the nearest of several names. Knows nothing of what the names name.

/// Longest name that is compared, in characters; longer ones are cut, so that a hostile file costs little.
const LONGEST: usize = 128;
/// Most candidates that are looked at.
const MOST_CANDIDATES: usize = 10_000;

/// Up to `most` of `candidates` that `name` may have meant, the nearest first, without repeats.
///
/// Near is: equal but for case, one contains the other, or at most a third of the letters differ
/// (an exchanged neighbouring pair counts as one difference).
pub fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .filter_map(|candidate| Some((rank(name, candidate)?, candidate)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

/// `did you mean a, b or c?`, or nothing where no candidate is near.
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    question(&nearest(name, candidates, 3))
}

/// The question that offers `names`, or nothing where there are none.
pub fn question<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (last, first) = names.split_last()?;
    match first {
        [] => Some(format!("did you mean {last}?")),
        _ => Some(format!("did you mean {} or {last}?", first.join(", "))),
    }
}

fn rank(name: &str, candidate: &str) -> Option<usize> {
    let a: Vec<char> = name.to_lowercase().chars().take(LONGEST).collect();
    let b: Vec<char> = candidate.to_lowercase().chars().take(LONGEST).collect();
    let distance = edit_distance(&a, &b);
    let longest = a.len().max(b.len());
    let contains = a.len().min(b.len()) >= 3 && {
        let (name, candidate) = (name.to_lowercase(), candidate.to_lowercase());
        name.contains(&candidate) || candidate.contains(&name)
    };
    (distance * 3 <= longest.max(3) || contains).then_some(distance)
}

/// Edits (insert, remove, replace, exchange of neighbours) from `a` to `b`: the restricted
/// Damerau–Levenshtein distance.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str) -> usize {
        edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn distance_counts_each_kind_of_edit_once() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("identity", "identty"), 1);
        assert_eq!(distance("identity", "idnetity"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn nearest_is_first_and_far_is_left_out() {
        let names = ["identity", "gateway", "identify", "voice"];
        assert_eq!(nearest("identty", names, 3), ["identity", "identify"]);
        assert_eq!(nearest("zzz", names, 3), [""; 0]);
    }

    #[test]
    fn a_part_of_a_long_name_is_near() {
        assert_eq!(
            nearest("web", ["registry.example/team/web", "redis"], 3),
            ["registry.example/team/web"]
        );
    }

    #[test]
    fn the_question_lists_its_candidates() {
        assert_eq!(did_you_mean("webb", ["web"]).as_deref(), Some("did you mean web?"));
        assert_eq!(
            did_you_mean("web1", ["web2", "web3"]).as_deref(),
            Some("did you mean web2 or web3?")
        );
        assert_eq!(did_you_mean("x", ["completely"]), None);
    }
}
