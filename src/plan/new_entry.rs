//! The name of a new `images:` entry: the plain name where kustomize, reading it as a regular
//! expression, finds what was named and nothing else; escaped only where it does not.

use crate::image::Pattern;

/// A name that matches every reference in `named` and none in `others`.
///
/// The plain name; else dots as `[.]`; else every character that a regular expression gives a meaning.
///
/// # Errors
/// The number that stands beside a reference in `others` which every form matches; where no form
/// matches what was named, the first of `others` or 0.
pub(super) fn name_for(
    name: &str,
    named: &[String],
    others: &[(usize, String)],
) -> Result<String, usize> {
    let mut blame = others.first().map_or(0, |(i, _)| *i);
    for form in [name.to_owned(), name.replace('.', "[.]"), escape(name)] {
        let Ok(pattern) = Pattern::new(&form) else { continue };
        if !named.iter().all(|reference| pattern.is_match(reference)) {
            continue;
        }
        match others.iter().find(|(_, reference)| pattern.is_match(reference)) {
            None => return Ok(form),
            Some((i, _)) => blame = *i,
        }
    }
    Err(blame)
}

/// `name` with each character that is special in a regular expression in brackets.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        match c {
            '^' | '\\' | '[' | ']' => out.extend(['\\', c]),
            '.' | '+' | '*' | '?' | '(' | ')' | '{' | '}' | '|' | '$' => out.extend(['[', c, ']']),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_name_is_kept_where_it_fits() {
        let others = [(3, "quay.io/b:1".to_owned())];
        assert_eq!(
            name_for("reg.io/a", &["reg.io/a:1".to_owned()], &others),
            Ok("reg.io/a".into())
        );
    }

    #[test]
    fn a_dot_is_escaped_where_it_would_hit_another() {
        let others = [(3, "registry-test/web:1".to_owned())];
        let name = name_for("registry.test/web", &["registry.test/web:1".to_owned()], &others);
        assert_eq!(name, Ok("registry[.]test/web".into()));
    }

    #[test]
    fn special_characters_are_escaped_where_the_plain_name_misses() {
        assert_eq!(
            name_for("$(REG)/a", &["$(REG)/a:1".to_owned()], &[]),
            Ok("[$][(]REG[)]/a".into())
        );
    }

    #[test]
    fn what_cannot_be_told_apart_is_blamed() {
        assert_eq!(name_for("a", &["a:1".to_owned()], &[(7, "a:2".to_owned())]), Err(7));
    }
}
