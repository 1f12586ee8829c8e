//! Where a JSON text is broken, and why: a place that starts at 1, and words without it.

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonProblem {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column, from 1.
    pub(crate) column: usize,
    /// What is wrong there, without the place.
    pub(crate) reason: String,
}

impl From<&serde_json::Error> for JsonProblem {
    /// serde's own words end with the place; its column is 0 behind a line's end.
    fn from(error: &serde_json::Error) -> Self {
        let words = error.to_string();
        let reason = words.rsplit_once(" at line ").map_or(&*words, |(reason, _)| reason);
        Self { line: error.line().max(1), column: error.column().max(1), reason: reason.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_starts_at_one_and_stands_beside_the_words() {
        for (text, line, column) in [("{\n", 2, 1), ("", 1, 1), ("[1,\n 2", 2, 2), ("nope", 1, 2)] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            let problem = JsonProblem::from(&error);
            assert_eq!((problem.line, problem.column), (line, column), "{text:?}: {error}");
            assert!(!problem.reason.contains("line"), "{}", problem.reason);
        }
    }
}
