//! The commit message that a repository words itself: the file that `commitMessageTemplate` of its settings
//! names, with `{{ subject }}` and the like in it. Names alone, no language: there is nothing to run.

use crate::error::{Error, Location, codes};

/// `text` of `file` with each `{{ name }}` replaced by the value of that name.
///
/// # Errors
/// [`codes::CONFIG_INVALID`] for a name that is none of `values`, for `{{` without an end, and for a message that would
/// be empty.
pub(super) fn fill(file: &str, text: &str, values: &[(&str, String)]) -> Result<String, Error> {
    let mut message = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        message.push_str(&rest[..start]);
        let at = text.len() - rest.len() + start;
        let inside = &rest[start + 2..];
        let Some(end) = inside.find("}}") else {
            return Err(wrong(file, text, at, "`{{` has no end".to_owned()));
        };
        let name = inside[..end].trim();
        let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
            let message = format!("`{name}` is nothing that a message may hold");
            let hint = format!("there are: {}", known.join(", "));
            return Err(wrong(file, text, at, message).hint(hint));
        };
        message.push_str(value);
        rest = &inside[end + 2..];
    }
    message.push_str(rest);
    if message.trim().is_empty() {
        return Err(wrong(file, text, 0, "the message would be empty".to_owned()));
    }
    Ok(message)
}

fn wrong(file: &str, text: &str, at: usize, message: String) -> Error {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Error::new(codes::CONFIG_INVALID, message).at(Location::at(file, line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, Error> {
        let values = [("subject", "Pin {{ web }}".to_owned()), ("effect", "a\nb".to_owned())];
        fill("m.txt", text, &values)
    }

    #[test]
    fn names_are_replaced_once() {
        assert_eq!(filled("x {{ subject }}\n\n{{effect}}\n").unwrap(), "x Pin {{ web }}\n\na\nb\n");
        assert_eq!(filled("plain { text }").unwrap(), "plain { text }");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in
            [("a\nü {{ none }}", 2, 3), ("{{ subject", 1, 1), (" \n", 1, 1), ("", 1, 1)]
        {
            let error = filled(text).unwrap_err();
            assert_eq!(error.location(), Some(&Location::at("m.txt", line, column)), "{text}");
        }
    }
}
