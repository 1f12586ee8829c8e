//! What PowerShell is answered: it puts an answer into the line as it is, so that a name which it would read as more than a
//! name has to be quoted.
//!
//! Source: PowerShell's documentation, "about_Quoting_Rules": in single quotes nothing is read but the quote, of which there
//! are five signs, and two of them stand for one.

use std::borrow::Cow;

/// `text` as one word of a command line; `None` where it has signs that no line can show.
pub(super) fn answer(text: &str) -> Option<Cow<'_, str>> {
    if text.contains(char::is_control) {
        return None;
    }
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./=:".contains(sign);
    if text.chars().all(is_plain) {
        return Some(text.into());
    }
    let mut word = String::from("'");
    for sign in text.chars() {
        word.push(sign);
        if "'\u{2018}\u{2019}\u{201a}\u{201b}".contains(sign) {
            word.push(sign);
        }
    }
    word.push('\'');
    Some(word.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_powershell_reads_is_quoted() {
        for (text, wanted) in [
            ("overlays/prod", Some("overlays/prod")),
            ("web=", Some("web=")),
            ("ov/$(ni x)", Some("'ov/$(ni x)'")),
            ("it's", Some("'it''s'")),
            ("a\u{2019};b", Some("'a\u{2019}\u{2019};b'")),
            ("@x", Some("'@x'")),
            ("a\nb", None),
        ] {
            assert_eq!(answer(text).as_deref(), wanted, "{text}");
        }
    }
}
