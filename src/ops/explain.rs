//! `overlay explain`: what an error code means and what to do about it.

use serde_json::json;

use crate::error::{Code, Error, codes};
use crate::hint;
use crate::report::{Report, Style, Text};

/// Explains the error code `id`.
///
/// # Errors
/// [`codes::NO_SUCH_CODE`] with the nearest codes.
pub fn run(id: &str) -> Result<Report, Error> {
    let Some(code) = Code::find(id) else {
        let plain = Error::new(codes::NO_SUCH_CODE, format!("there is no `{id}` to explain"));
        let names = codes::CATALOGUE.iter().map(|code| code.name());
        return Err(hint::did_you_mean(id, names).into_iter().fold(plain, Error::hint));
    };
    let status = code.exit().status();
    let mut text = Text::default();
    text.push(Style::Heading, code.name()).line(format!(" (exit status {status})"));
    text.line(code.meaning());
    let result = json!({ "id": code.name(), "exit": status, "meaning": code.meaning() });
    Ok(Report::unchanged("explain", result, text))
}
