//! `overlay explain`: what a check or an error code means and what to do about it.

use serde_json::json;

use crate::checks::{self, Check};
use crate::error::{Code, Error, codes};
use crate::hint;
use crate::report::{Report, Style, Text};

/// Explains the check or the error code `id`.
///
/// # Errors
/// [`codes::NO_SUCH_CODE`] with the nearest ids.
pub fn run(id: &str) -> Result<Report, Error> {
    if let Some(check) = checks::find(id) {
        return Ok(explain_check(check));
    }
    let Some(code) = Code::find(id) else {
        let plain = Error::new(codes::NO_SUCH_CODE, format!("there is no `{id}` to explain"));
        let names = codes::CATALOGUE.iter().map(|code| code.name());
        let names = names.chain(checks::ALL.iter().map(|check| check.id.as_str()));
        return Err(hint::did_you_mean(id, names).into_iter().fold(plain, Error::hint));
    };
    let status = code.exit().status();
    let mut text = Text::default();
    text.push(Style::Heading, code.name()).line(format!(" (exit status {status})"));
    text.line(code.meaning());
    let result = json!({ "id": code.name(), "exit": status, "meaning": code.meaning() });
    Ok(Report::unchanged("explain", result, text))
}

fn explain_check(check: &Check) -> Report {
    let (id, severity) = (check.id.as_str(), check.severity.as_str());
    let meaning = checks::explanation(id).unwrap_or_default();
    let mut text = Text::default();
    text.push(Style::Heading, id)
        .line(format!(" (a check; {severity} unless configured otherwise)"));
    text.lines(Style::Plain, meaning).line("");
    let result = json!({ "id": id, "severity": severity, "meaning": meaning });
    Report::unchanged("explain", result, text)
}
