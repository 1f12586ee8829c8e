//! The order of keys in a map, as go-yaml version 2 sorts them.
//!
//! Source: go.yaml.in/yaml v2.4.2 `sorter.go`. Letters stand behind everything else, and numbers in
//! keys count by value. The comparison is not a total order in every corner, so the sorting here
//! must not mind that.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

use crate::kustomize::node::Entry;

/// Go sorts this many by insertion.
pub(crate) const INSERTION: usize = 12;

/// Sorts entries by key.
pub(super) fn sort(entries: &mut [&Entry]) {
    sort_by(entries, &|a: &&Entry, b: &&Entry| is_less(a, b));
}

/// Sorts the entries of a map by key, in their place.
pub(crate) fn sort_in_place(entries: &mut Vec<Entry>) {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    sort_by(&mut order, &|a: &usize, b: &usize| is_less(&entries[*a], &entries[*b]));
    if order.is_sorted() {
        return;
    }
    let mut unsorted: Vec<Option<Entry>> = std::mem::take(entries).into_iter().map(Some).collect();
    entries.extend(order.into_iter().filter_map(|at| unsorted[at].take()));
}

fn sort_by<T: Copy>(items: &mut [T], is_less: &impl Fn(&T, &T) -> bool) {
    if items.len() <= INSERTION {
        insertion_sort(items, is_less);
        return;
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (mut left, mut right) = (left.to_vec(), right.to_vec());
    sort_by(&mut left, is_less);
    sort_by(&mut right, is_less);
    let (mut at_left, mut at_right) = (0, 0);
    for slot in items {
        let from_right = at_left == left.len()
            || (at_right < right.len() && is_less(&right[at_right], &left[at_left]));
        *slot = if from_right {
            at_right += 1;
            right[at_right - 1]
        } else {
            at_left += 1;
            left[at_left - 1]
        };
    }
}

/// Sorts as Go does no more than [`INSERTION`], also by a comparison that is no order.
pub(crate) fn insertion_sort<T>(items: &mut [T], is_less: &impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && is_less(&items[at], &items[at - 1]) {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

fn is_less(a: &Entry, b: &Entry) -> bool {
    key_less(&a.key.text, &b.key.text)
}

/// Whether the key `a` is printed before `b`.
pub(crate) fn key_less(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    if a.is_ascii() && b.is_ascii() {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        match (a.get(common), b.get(common)) {
            (Some(x), Some(y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => {
                return x < y;
            }
            (None, _) | (_, None) => return a.len() < b.len(),
            _ => {}
        }
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    match a.iter().zip(&b).position(|(x, y)| x != y) {
        None => a.len() < b.len(),
        Some(at) => differs_less(&a, &b, at),
    }
}

fn differs_less(a: &[char], b: &[char], at: usize) -> bool {
    match (is_letter(a[at]), is_letter(b[at])) {
        (true, true) => return a[at] < b[at],
        (true, false) => return false,
        (false, true) => return true,
        (false, false) => {}
    }
    // A run of digits that goes on behind a number counts as more than one that begins with 0.
    let zero = a[at] == '0' || b[at] == '0';
    let before = a[..at].iter().rev().take_while(|c| is_digit(**c));
    let start = i64::from(zero && before.into_iter().any(|c| *c != '0'));
    let (a_number, a_end) = number(a, at, start);
    let (b_number, b_end) = number(b, at, start);
    match a_number.cmp(&b_number).then(a_end.cmp(&b_end)) {
        Ordering::Equal => a[at] < b[at],
        order => order.is_lt(),
    }
}

fn number(key: &[char], at: usize, start: i64) -> (i64, usize) {
    let mut value = start;
    let mut end = at;
    while end < key.len() && is_digit(key[end]) {
        let digit = i64::from(u32::from(key[end])) - i64::from(u32::from('0'));
        value = value.wrapping_mul(10).wrapping_add(digit);
        end += 1;
    }
    (value, end)
}

fn is_letter(c: char) -> bool {
    static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{L}$").ok());
    c.is_ascii_alphabetic() || (!c.is_ascii() && matches(LETTER.as_ref(), c))
}

fn is_digit(c: char) -> bool {
    static DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{Nd}$").ok());
    c.is_ascii_digit() || (!c.is_ascii() && matches(DIGIT.as_ref(), c))
}

fn matches(class: Option<&Regex>, c: char) -> bool {
    let mut buffer = [0; 4];
    class.is_some_and(|class| class.is_match(c.encode_utf8(&mut buffer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order in which kustomize 5.8.1 prints these keys of a config map.
    #[test]
    fn letters_come_last_and_numbers_count() {
        let sorted =
            ["-", ".", "1", "2", "10", "A", "B", "a", "a-b", "a.b", "a1", "a2", "a10", "ab"];
        for (index, a) in sorted.iter().enumerate() {
            for b in &sorted[index + 1..] {
                assert!(key_less(a, b), "{a} before {b}");
                assert!(!key_less(b, a), "{b} behind {a}");
            }
        }
    }
}
