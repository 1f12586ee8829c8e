//! One overlay with everything that it reaches, as texts.

use std::collections::BTreeMap;

/// A tree of files and the overlay in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// Texts by path, separated by `/`.
    pub(crate) files: BTreeMap<String, String>,
    /// The directory that is built.
    pub(crate) overlay: String,
}

/// What one of the two sides answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The text printed.
    Printed(String),
    /// The words of the refusal.
    Refused(String),
    /// What the program said when it broke.
    Broke(String),
}

/// How the two answers differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Both print, and not the same.
    Bytes,
    /// Only kustomize prints.
    OursRefuses,
    /// Only the own build prints.
    OursPrints,
    /// The own build breaks.
    OursBreaks,
}

impl Difference {
    /// How `ours` differs from `theirs`, if it does.
    pub(crate) fn between(theirs: &Answer, ours: &Answer) -> Option<Self> {
        match (theirs, ours) {
            (_, Answer::Broke(_)) => Some(Self::OursBreaks),
            (Answer::Printed(theirs), Answer::Printed(ours)) => {
                (theirs != ours).then_some(Self::Bytes)
            }
            (Answer::Printed(_), Answer::Refused(_)) => Some(Self::OursRefuses),
            (_, Answer::Printed(_)) => Some(Self::OursPrints),
            (_, Answer::Refused(_)) => None,
        }
    }

    /// Its name in reports and fixture folders.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::OursRefuses => "ours-refuses",
            Self::OursPrints => "ours-prints",
            Self::OursBreaks => "ours-breaks",
        }
    }
}

/// A short text that differences of one cause mostly share: words without digits and quoted names.
pub(crate) fn signature(difference: &Difference, theirs: &Answer, ours: &Answer) -> String {
    let detail = match (theirs, ours) {
        (Answer::Printed(theirs), Answer::Printed(ours)) => differing_lines(theirs, ours),
        (Answer::Refused(words) | Answer::Broke(words), Answer::Printed(_)) => words.clone(),
        (_, Answer::Refused(words) | Answer::Broke(words)) => words.clone(),
    };
    let tail = detail.chars().rev().take(160).collect::<Vec<_>>();
    let tail = tail.iter().rev().filter(|c| !c.is_ascii_digit()).collect::<String>();
    format!("{}: {}", difference.name(), tail.replace('\n', " "))
}

/// The first line that differs on both sides.
pub(crate) fn differing_lines(theirs: &str, ours: &str) -> String {
    let mut pairs = theirs.lines().zip(ours.lines()).enumerate();
    match pairs.find(|(_, (a, b))| a != b) {
        Some((at, (a, b))) => format!("line {}: kustomize {a:?}, ours {b:?}", at + 1),
        None => format!("lengths {} and {}", theirs.len(), ours.len()),
    }
}
