//! Kubernetes' "integer or percent", and how many pods it comes to.
//!
//! Source: k8s.io/apimachinery `util/intstr` (`GetScaledValueFromIntOrPercent`).

use std::fmt;

use crate::kustomize::node::{Node, Tag};

/// A number of pods, or a share of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Count(i64),
    /// So many in a hundred.
    Percent(i64),
    /// A text that is neither, which the API refuses.
    Invalid(String),
}

/// To which whole number a share is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// The next lower one.
    Down,
    /// The next higher one.
    Up,
}

impl Amount {
    /// Reads a value: an integer, or a string that ends with `%`.
    #[must_use]
    pub fn read(node: &Node) -> Option<Self> {
        let scalar = node.as_scalar().filter(|scalar| scalar.tag != Tag::Null)?;
        let text = &*scalar.text;
        let count =
            matches!(scalar.tag, Tag::Int | Tag::Unset).then(|| text.parse().ok()).flatten();
        let percent = || {
            let digits = text.strip_suffix('%')?;
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse::<i64>().ok().filter(|percent| is_number && *percent <= super::MOST)
        };
        Some(match (count, percent()) {
            (Some(count), _) if count >= 0 => Self::Count(count),
            (None, Some(percent)) => Self::Percent(percent),
            _ => Self::Invalid(text.to_owned()),
        })
    }

    /// How many of `total` it is; `None` for [`Amount::Invalid`].
    #[must_use]
    pub fn of(&self, total: i64, rounding: Rounding) -> Option<i64> {
        match self {
            Self::Count(count) => Some(*count),
            Self::Percent(percent) => {
                let hundredths = i128::from(*percent) * i128::from(total.max(0));
                let rounded = match rounding {
                    Rounding::Down => hundredths / 100,
                    Rounding::Up => (hundredths + 99) / 100,
                };
                i64::try_from(rounded).ok()
            }
            Self::Invalid(_) => None,
        }
    }

    /// Whether it is `0` or `0%`.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        matches!(self, Self::Count(0) | Self::Percent(0))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Invalid(text) => write!(f, "\"{text}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_as_asked() {
        for (percent, total, down, up) in
            [(50, 7, 3, 4), (30, 1, 0, 1), (0, 1, 0, 0), (34, 2, 0, 1), (1, 5, 0, 1), (25, 4, 1, 1)]
        {
            assert_eq!(Amount::Percent(percent).of(total, Rounding::Down), Some(down));
            assert_eq!(Amount::Percent(percent).of(total, Rounding::Up), Some(up));
        }
    }
}
