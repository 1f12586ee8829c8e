//! `overlay explain`: what a check or an error code means and what to do about it.

use serde_json::json;

use crate::checks::{self, Check};
use crate::error::{Code, Error, codes};
use crate::hint;
use crate::report::{Report, Style, Text};

/// Explains the check or the error code `id`; without one lists all.
///
/// # Errors
/// [`codes::NO_SUCH_CODE`] with the nearest ids.
pub fn run(id: Option<&str>) -> Result<Report, Error> {
    let Some(id) = id else { return Ok(list()) };
    if let Some(check) = checks::find(id) {
        return Ok(explain_check(check));
    }
    let Some(code) = Code::find(id) else {
        let plain = Error::new(codes::NO_SUCH_CODE, format!("there is no `{id}` to explain"));
        let all = "`overlay explain` lists all".to_owned();
        return Err(plain.hint(hint::did_you_mean(id, ids()).unwrap_or(all)));
    };
    let status = code.exit().status();
    let mut text = Text::default();
    text.push(Style::Heading, code.name()).line(format!(" (exit status {status})"));
    text.line(code.meaning());
    let result = json!({ "id": code.name(), "exit": status, "meaning": code.meaning() });
    Ok(Report::unchanged("explain", result, text))
}

/// Whatever can be explained: checks, then error codes.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let checks = checks::ALL.iter().map(|check| check.id.as_str());
    checks.chain(codes::CATALOGUE.iter().map(|code| code.name()))
}

/// Every id, with the severity of a check and the exit status of an error.
fn list() -> Report {
    let mut text = Text::default();
    text.push(Style::Heading, "Checks").line("");
    for check in checks::ALL {
        text.line(format!("  {} ({})", check.id.as_str(), check.severity.as_str()));
    }
    text.push(Style::Heading, "Error codes").line("");
    for code in codes::CATALOGUE {
        text.line(format!("  {} (exit status {})", code.name(), code.exit().status()));
    }
    let checks = checks::ALL.iter();
    let checks =
        checks.map(|check| json!({ "id": check.id.as_str(), "severity": check.severity.as_str() }));
    let codes = codes::CATALOGUE.iter();
    let codes = codes.map(|code| json!({ "id": code.name(), "exit": code.exit().status() }));
    let result =
        json!({ "checks": checks.collect::<Vec<_>>(), "codes": codes.collect::<Vec<_>>() });
    Report::unchanged("explain", result, text)
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
