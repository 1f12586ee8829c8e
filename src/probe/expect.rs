//! Which statuses are a success.

use std::fmt;
use std::ops::RangeInclusive;

/// Statuses that are a success, as typed: `200`, `200,204`, `2xx`, `200-299`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    typed: String,
    ranges: Vec<RangeInclusive<u16>>,
}

impl Default for Expect {
    /// Every status from 200 to 299.
    fn default() -> Self {
        Self { typed: "2xx".to_owned(), ranges: vec![200..=299] }
    }
}

impl Expect {
    /// Reads statuses.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let ranges = text.split(',').map(|part| range(part.trim()));
        let ranges: Option<Vec<_>> = ranges.collect();
        let wrong = || format!("`{text}` is no list of statuses such as 200,204 or 2xx or 200-299");
        Ok(Self { typed: text.to_owned(), ranges: ranges.ok_or_else(wrong)? })
    }

    /// Whether that status is a success.
    pub fn holds(&self, status: u16) -> bool {
        self.ranges.iter().any(|range| range.contains(&status))
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.typed)
    }
}

fn range(part: &str) -> Option<RangeInclusive<u16>> {
    let status = |text: &str| {
        let is_plain = text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u16>().ok().filter(|status| is_plain && (100..=599).contains(status))
    };
    if let Some(class) = part.strip_suffix("xx") {
        let class = status(&format!("{class}00"))?;
        return Some(class..=class + 99);
    }
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    let (from, to) = (status(from)?, status(to)?);
    (from <= to).then_some(from..=to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read() {
        for (text, held, not) in [
            ("200", vec![200], vec![201, 199]),
            ("200,204", vec![200, 204], vec![201]),
            ("2xx", vec![200, 299], vec![199, 300]),
            ("2xx, 301", vec![250, 301], vec![302]),
            ("200-399", vec![200, 399], vec![400]),
        ] {
            let expect = Expect::parse(text).unwrap();
            assert!(held.iter().all(|status| expect.holds(*status)), "{text}");
            assert!(!not.iter().any(|status| expect.holds(*status)), "{text}");
        }
        for wrong in ["", "20", "2000", "xx", "6xx", "299-200", "200,", "+20", "ok"] {
            assert!(Expect::parse(wrong).is_err(), "{wrong}");
        }
    }
}
