//! Disruption budgets as pods that must stay and pods that may go.

use serde::Serialize;

/// The most pods of a budget that are drawn.
const MOST_CELLS: i64 = 24;

/// What a budget comes to.
#[derive(Clone, Copy)]
pub(in crate::report) struct Numbers<'a> {
    /// `namespace/name`.
    pub(in crate::report) name: (&'a str, &'a str),
    /// The overlay that renders it, where that is to be told.
    pub(in crate::report) overlay: Option<&'a str>,
    /// Its rule, such as `minAvailable: 1`.
    pub(in crate::report) rule: &'a str,
    /// The pods that it counts on.
    pub(in crate::report) expected: i64,
    /// The pods that must stay; none for a rule that the API refuses.
    pub(in crate::report) desired: Option<i64>,
    /// The pods that may be evicted at once.
    pub(in crate::report) allowed: Option<i64>,
    /// Whose pods they are.
    pub(in crate::report) guards: &'a [String],
}

/// A row of the template `budgets`.
#[derive(Serialize)]
pub(in crate::report) struct Budget<'a> {
    name: String,
    overlay: Option<&'a str>,
    rule: &'a str,
    expected: i64,
    allowed: String,
    desired: String,
    blocks: bool,
    /// A pod each, true for one that stays; empty where there are too many to draw.
    cells: Vec<bool>,
    picture: String,
    guards: String,
}

impl<'a> Budget<'a> {
    /// The row for these numbers.
    pub(in crate::report) fn new(numbers: Numbers<'a>) -> Self {
        let Numbers { expected, desired, allowed, .. } = numbers;
        let number = |number: Option<i64>| number.map_or("invalid".to_owned(), |n| n.to_string());
        let stay = desired.unwrap_or(expected).clamp(0, expected.max(0));
        let is_drawn = (1..=MOST_CELLS).contains(&expected) && desired.is_some();
        Self {
            name: format!("{}/{}", numbers.name.0, numbers.name.1),
            overlay: numbers.overlay,
            rule: numbers.rule,
            expected,
            allowed: number(allowed),
            desired: number(desired),
            blocks: allowed == Some(0) && expected > 0,
            cells: (0..expected).filter(|_| is_drawn).map(|pod| pod < stay).collect(),
            picture: match (expected, desired) {
                (..=0, _) => "no pods".to_owned(),
                (_, None) => "a rule that the API refuses".to_owned(),
                (expected, Some(_)) => format!("{stay} of {expected} must stay"),
            },
            guards: match numbers.guards {
                [] => "nothing".to_owned(),
                guards => guards.join(", "),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_drawn_as_pods_that_stay_and_pods_that_may_go() {
        let drawn = |expected: i64, desired: Option<i64>| {
            let view = Budget::new(Numbers {
                name: ("mesh", "web"),
                overlay: None,
                rule: "minAvailable: 1",
                expected,
                desired,
                allowed: desired.map(|desired| (expected - desired).max(0)),
                guards: &[],
            });
            (view.cells, view.picture, view.blocks)
        };
        assert_eq!(drawn(3, Some(2)), (vec![true, true, false], "2 of 3 must stay".into(), false));
        assert_eq!(drawn(1, Some(1)), (vec![true], "1 of 1 must stay".into(), true));
        // More wanted than there are: all stay.
        assert_eq!(drawn(1, Some(2)).0, vec![true]);
        assert_eq!(drawn(0, Some(1)), (vec![], "no pods".into(), false));
        assert_eq!(drawn(25, Some(24)), (vec![], "24 of 25 must stay".into(), false));
        assert_eq!(drawn(2, None), (vec![], "a rule that the API refuses".into(), false));
    }
}
