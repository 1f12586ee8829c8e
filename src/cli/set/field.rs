//! `overlay set field`.

use clap::Args;
use serde_json::Value as Json;

use super::{parse_name, usage};
use crate::change::{Change, SetFields};
use crate::cli::edit::EditArgs;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Set any field of any rendered resource, where it is decided.
///
/// A value has the type that Kubernetes' schema says; in custom resources it is a number or a truth value where
/// it reads as one, and a field that is text today, labels, annotations and quantities stay text. "…" in double
/// quotes is always text. A list is written as JSON: PATH='["a","b"]'.
///
/// Below annotations, labels, data and other maps of texts the rest of PATH is one key, dots included; elsewhere
/// a key with dots is written in brackets: spec.values.[a.b/c].
#[derive(Clone, Debug, Args)]
pub(crate) struct FieldArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The resource: [KIND[.GROUP]/]NAME.
    #[arg(value_name = "KIND/NAME")]
    name: String,

    /// PATH=VALUE: the field, as in spec.template.spec.containers.[name=web].image=x.
    #[arg(value_name = "PATH=VALUE")]
    fields: Vec<String>,

    /// A field that is to be absent; may be given again.
    #[arg(long, value_name = "PATH")]
    remove: Vec<String>,
}

impl FieldArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or assignment, or nothing to set.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let mut fields = Vec::new();
        for text in &self.fields {
            let (path, value) = divide(text)
                .ok_or_else(|| usage(format!("`{text}` has no value: write PATH=VALUE")))?;
            fields.push((path.to_owned(), Some(read_value(value)?)));
        }
        fields.extend(self.remove.iter().map(|path| (path.clone(), None)));
        if fields.is_empty() {
            return Err(usage("nothing to set: no PATH=VALUE and no --remove PATH"));
        }
        let name = parse_name(&self.name)?;
        self.edit.to_request(Change::SetFields(SetFields { name, fields }))
    }
}

/// Divides at the first `=` that is in no brackets; what a backslash stands before is neither.
fn divide(text: &str) -> Option<(&str, &str)> {
    let mut is_inside = false;
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => _ = characters.next(),
            '[' => is_inside = true,
            ']' => is_inside = false,
            '=' if !is_inside => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// A number, a truth value, or a text; a number with a fraction stays text where it has to be one.
fn read_value(text: &str) -> Result<Json, Error> {
    if text.starts_with('"') && text.ends_with('"') && text.len() > 1 {
        let wrong = |error| usage(format!("{text}: {error}"));
        return serde_json::from_str::<String>(text).map(Json::String).map_err(wrong);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    Ok(match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => match text.parse::<i64>() {
            Ok(number) if is_integer => number.into(),
            _ => text.into(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_begins_behind_the_first_equals_sign_outside_of_brackets() {
        assert_eq!(divide("a.[name=x].b=c=d"), Some(("a.[name=x].b", "c=d")));
        assert_eq!(divide("a.[name=x].b"), None);
        assert_eq!(divide("a.[x[=y].b=1"), Some(("a.[x[=y].b", "1")));
        assert_eq!(divide("a.[x\\]=y].b=1"), Some(("a.[x\\]=y].b", "1")));
        assert_eq!(divide("a.b\\=c=1"), Some(("a.b\\=c", "1")));
        assert_eq!(divide("a="), Some(("a", "")));
    }

    #[test]
    fn values_have_the_type_that_they_read_as() {
        for (text, value) in [
            ("3", Json::from(3)),
            ("-3", Json::from(-3)),
            ("007", Json::from("007")),
            ("true", Json::from(true)),
            ("yes", Json::from("yes")),
            ("\"3\"", Json::from("3")),
            ("25%", Json::from("25%")),
            ("1.5", Json::from("1.5")),
        ] {
            assert_eq!(read_value(text).unwrap(), value, "{text}");
        }
    }
}
