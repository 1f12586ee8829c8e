//! One change, one branch: the name that every run of the same command for the same things gives it.

use sha2::{Digest as _, Sha256};

use crate::change::Change;
use crate::discover::Located;
use crate::report::pull_request::Scope;

/// The most characters of the readable part of a branch's name.
const MOST_READABLE: usize = 60;

/// What the change speaks of.
pub(super) fn scope_of(change: &Change, located: &[Located]) -> Scope {
    let mut overlays: Vec<String> = located.iter().map(Located::shown).collect();
    overlays.sort();
    overlays.dedup();
    Scope { command: change.command().to_owned(), overlays, names: change.names() }
}

/// Stands for the scope on this base branch.
pub(super) fn key_of(scope: &Scope, base: &str) -> String {
    let mut hash = Sha256::new();
    let parts = [base, &scope.command].into_iter();
    let lists = scope.overlays.iter().chain(&scope.names).map(String::as_str);
    for part in parts.chain(lists) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// `overlay/COMMAND-NAMES-OVERLAYS-KEY`.
pub(super) fn branch_of(scope: &Scope, key: &str) -> String {
    let last = |name: &String| name.rsplit(['/', ' ']).next().unwrap_or_default().to_owned();
    let names: Vec<String> = scope.names.iter().map(last).collect();
    let what = match names.as_slice() {
        [one] => one.clone(),
        [one, two] => format!("{one}-{two}"),
        many => format!("{}-items", many.len()),
    };
    let place = match scope.overlays.as_slice() {
        [one] => one.clone(),
        many => format!("{}-overlays", many.len()),
    };
    let readable = slug(&format!("{} {what} {place}", scope.command));
    format!("overlay/{readable}-{key}")
}

/// The `number`th name for a branch whose earlier ones are taken (from 1).
pub(super) fn nth_branch(branch: &str, number: u32) -> String {
    if number == 1 { branch.to_owned() } else { format!("{branch}-{number}") }
}

fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => out.push(c),
            _ if !out.ends_with('-') && !out.is_empty() => out.push('-'),
            _ => {}
        }
    }
    out.truncate(MOST_READABLE);
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(overlays: &[&str], names: &[&str]) -> Scope {
        let list = |of: &[&str]| of.iter().map(|s| (*s).to_owned()).collect();
        Scope { command: "pin".into(), overlays: list(overlays), names: list(names) }
    }

    #[test]
    fn a_branch_says_what_and_where() {
        let one = scope(&["overlays/prod"], &["r.test:5000/shop/web"]);
        let key = key_of(&one, "main");
        assert_eq!(branch_of(&one, &key), format!("overlay/pin-web-overlays-prod-{key}"));
        assert_eq!((key.len(), key_of(&one, "main")), (8, key.clone()));
        assert_ne!(key_of(&one, "release"), key);
        assert_ne!(key_of(&scope(&["overlays/dev"], &["r.test:5000/shop/web"]), "main"), key);
        assert_eq!(nth_branch("b", 1), "b");
        assert_eq!(nth_branch("b", 3), "b-3");
    }

    #[test]
    fn names_of_any_kind_give_a_name_that_git_takes() {
        let odd = scope(&["..", "a"], &["ä~^:?*[\\ .lock", "x", "y"]);
        let name = branch_of(&odd, "12345678");
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-/".contains(&b)), "{name}");
    }
}
