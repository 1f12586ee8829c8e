//! The intent to bring several changes about as one.

use super::Change;

/// One of several changes, and where it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The overlays that are meant, by their paths from the boundary; all that are named where empty.
    pub overlays: Vec<String>,
    /// What is wanted of them.
    pub change: Change,
    /// The name of the file that asks for it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Part {
    /// Whether the overlay at `path`, relative to the boundary, is meant.
    #[must_use]
    pub fn concerns(&self, path: &str) -> bool {
        self.overlays.is_empty()
            || self.overlays.iter().any(|meant| trimmed(meant) == trimmed(path))
    }
}

/// A path without `./` before it and `/` behind it.
fn trimmed(path: &str) -> &str {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    if path.is_empty() { "." } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::PinImages;

    #[test]
    fn a_part_concerns_the_overlays_it_names_or_all() {
        let part = |overlays: &[&str]| Part {
            overlays: overlays.iter().map(|o| (*o).to_owned()).collect(),
            change: Change::PinImages(PinImages::default()),
            file: String::new(),
            line: 1,
            column: 1,
        };
        assert!(part(&[]).concerns("overlays/prod"));
        assert!(part(&["./overlays/prod/"]).concerns("overlays/prod"));
        assert!(!part(&["overlays/prod"]).concerns("overlays/production"));
    }
}
