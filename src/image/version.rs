//! The version that a tag names, as far as two of them can be compared.

use std::cmp::Ordering;

/// Words for what comes before a release (semver's pre-releases); other words, such as `alpine`, are variants of a release.
const BEFORE: [&str; 10] =
    ["alpha", "beta", "rc", "pre", "preview", "dev", "snapshot", "canary", "nightly", "m"];

/// The numbers of a tag, and what comes behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version<'a> {
    numbers: Vec<u64>,
    rest: &'a str,
}

/// Whether `new` is a lower version than `old` by semver: of two tags such as `v1.2.3`, `1.2` or `1.2.3-rc.1`. Tags that name no
/// version, and different variants of one version (`1.2-alpine` and `1.2`), are not lower.
#[must_use]
pub fn is_downgrade(old: &str, new: &str) -> bool {
    let (Some(old), Some(new)) = (Version::parse(old), Version::parse(new)) else { return false };
    let digits = old.numbers.len().max(new.numbers.len());
    let number = |version: &Version<'_>, i: usize| version.numbers.get(i).copied().unwrap_or(0);
    let mut pairs = (0..digits).map(|i| number(&new, i).cmp(&number(&old, i)));
    match pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal) {
        Ordering::Less => true,
        Ordering::Greater => false,
        Ordering::Equal => is_earlier(old.rest, new.rest),
    }
}

impl<'a> Version<'a> {
    /// `v` and one to four numbers with dots between, one of the dots at least; a date such as `20240131` is none.
    fn parse(tag: &'a str) -> Option<Self> {
        let text = tag.strip_prefix(['v', 'V']).unwrap_or(tag);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let numbers: Option<Vec<u64>> = numbers.split('.').map(|n| n.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| (2..=4).contains(&numbers.len()))?;
        let rest = rest.strip_prefix(['-', '_']).unwrap_or(rest);
        Some(Self { numbers, rest })
    }
}

/// The major version of PostgreSQL that CloudNativePG reads from a tag: leading digits, each of which a dot may follow, whose first
/// two parts are numbers.
///
/// Source: cloudnative-pg/machinery `pkg/postgres/version` (`FromTag`).
#[must_use]
pub fn postgres_major(tag: &str) -> Option<u32> {
    let bytes = tag.as_bytes();
    let is_part = |at: &usize| match bytes[*at] {
        b'.' => *at > 0 && bytes[*at - 1] != b'.',
        byte => byte.is_ascii_digit(),
    };
    let length = (0..bytes.len()).take_while(is_part).count();
    let mut parts = tag[..length].split('.');
    let major = parts.next()?.parse().ok()?;
    match parts.next() {
        Some(minor) => minor.parse::<u64>().ok().map(|_| major),
        None => Some(major),
    }
}

/// Whether `new` is before `old`, of what stands behind equal numbers.
fn is_earlier(old: &str, new: &str) -> bool {
    match (stage(old), stage(new)) {
        (None, Some(_)) => old.is_empty(),
        (Some((old, o)), Some((new, n))) => (new, n) < (old, o),
        (_, None) => false,
    }
}

/// `rc1`, `rc.1`, `beta-2`: the word and its number.
fn stage(rest: &str) -> Option<(&str, u64)> {
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, number) = rest.split_at(end);
    let word = BEFORE.into_iter().find(|before| before.eq_ignore_ascii_case(word))?;
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    Some((word, digits.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Semver 2.0, section 11, where both are versions; the rest is what tags of public images look like.
    #[test]
    fn lower_versions_are_known() {
        for (old, new, lower) in [
            ("1.3", "1.4", false),
            ("1.4", "1.3", true),
            ("v1.10.0", "v1.9.0", true),
            ("1.4.0", "1.4", false),
            ("1.4.1", "1.4", true),
            ("1.4", "1.4-rc1", true),
            ("1.4-rc1", "1.4", false),
            ("1.4-rc.2", "1.4-rc.10", false),
            ("1.4-rc.10", "1.4-rc.2", true),
            ("1.4-rc1", "1.4-beta2", true),
            ("1.4", "1.4-alpine", false),
            ("1.4-alpine", "1.4", false),
            ("1.5-alpine", "1.4-alpine", true),
            ("latest", "1.0", false),
            ("1.0", "latest", false),
            ("20240131", "20230131", false),
            ("1", "0", false),
            ("1.0", "main-3f2a", false),
            ("99999999999999999999.1", "1.0", false),
        ] {
            assert_eq!(is_downgrade(old, new), lower, "{old} -> {new}");
        }
    }

    // The rows of `version_test.go` beside `FromTag`, then those that its expression `^(\d\.?)+` and two calls of Atoi decide.
    #[test]
    fn postgresql_is_read_from_a_tag_as_its_operator_reads_it() {
        for (tag, major) in [
            ("10.3", Some(10)),
            ("13.3.2.1-1", Some(13)),
            ("14", Some(14)),
            ("15.5-10", Some(15)),
            ("17beta1", Some(17)),
            ("17rc1", Some(17)),
            ("3.4.3.2.5", Some(3)),
            ("9.4_beautiful", Some(9)),
            ("11-1", Some(11)),
            ("", None),
            ("10.five", None),
            ("11.old", None),
            ("latest", None),
            ("v16", None),
            (".16", None),
            ("16..1", None),
            ("16.1.", Some(16)),
            ("99999999999999999999", None),
        ] {
            assert_eq!(postgres_major(tag), major, "{tag}");
        }
    }
}
