//! `overlay hold`.

use clap::{ArgGroup, Args, ValueEnum};

use super::deliver::DeliveryArgs;
use super::options::SeveralOverlays;
use super::set::usage;
use crate::change::HoldScope;
use crate::clock;
use crate::error::Error;
use crate::ops::hold::{HoldRequest, Wanted};
use crate::ops::revert::until_after;

/// Refuse edits of overlays until a date, by an `overlay-hold.yaml` beside the kustomization.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["until", "release"])))]
pub(crate) struct HoldArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// When it ends: 2026-01-31T10:00:00Z, 2026-01-31 (that day included, in UTC), or a time from now such as 24h.
    #[arg(long, value_name = "DATE", requires = "reason")]
    until: Option<String>,

    /// Why it stands; whoever is refused reads it.
    #[arg(long, value_name = "TEXT", conflicts_with = "release")]
    reason: Option<String>,

    /// Who puts it, instead of git's committer.
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    by: Option<String>,

    /// What it refuses.
    #[arg(long, value_name = "SCOPE", default_value = "all")]
    scope: Scope,

    /// End the hold that stands.
    #[arg(long)]
    release: bool,

    /// Show the diff; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    pub(super) delivery: DeliveryArgs,
}

/// `--scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Every edit.
    All,
    /// Edits that move an image.
    Pins,
}

impl HoldArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed date, an empty reason, or a delivery that contradicts itself.
    pub(crate) fn to_request(&self) -> Result<HoldRequest, Error> {
        let put = match (&self.until, &self.reason) {
            (Some(until), Some(reason)) => Some(Wanted {
                until: parse_until(until)?,
                reason: filled("--reason", reason)?,
                by: self.by.as_deref().map(|by| filled("--by", by)).transpose()?,
                scope: match self.scope {
                    Scope::All => HoldScope::All,
                    Scope::Pins => HoldScope::Pins,
                },
            }),
            _ => None,
        };
        Ok(HoldRequest {
            overlays: self.overlays.all(),
            put,
            dry_run: self.dry_run,
            delivery: self.delivery.to_delivery(self.dry_run)?,
        })
    }
}

/// The text of an option that stands on one line.
///
/// # Errors
/// One that is empty, or has control characters.
pub(super) fn filled(option: &str, text: &str) -> Result<String, Error> {
    let text = text.trim();
    if text.is_empty() || text.contains(char::is_control) {
        return Err(usage(format!("{option} wants one line of text")));
    }
    Ok(text.to_owned())
}

/// A time, the end of a day, or a time from now.
fn parse_until(text: &str) -> Result<String, Error> {
    if clock::is_rfc_3339(text) {
        return Ok(text.to_owned());
    }
    let start = clock::parse_rfc_3339(&format!("{text}T00:00:00Z"));
    if let Some(start) = start.and_then(|start| u64::try_from(start).ok()) {
        return Ok(clock::format_rfc_3339(start + 24 * 60 * 60));
    }
    match clock::parse_duration(text) {
        Ok(length) if !length.is_zero() => Ok(until_after(length)),
        _ => Err(usage(format!("`{text}` is no date such as 2026-01-31, and no time such as 24h"))),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_until;

    #[test]
    fn a_day_is_held_whole() {
        assert_eq!(parse_until("2026-01-31").unwrap(), "2026-02-01T00:00:00Z");
        assert_eq!(parse_until("2026-01-31T10:00:00+01:00").unwrap(), "2026-01-31T10:00:00+01:00");
        assert!(parse_until("24h").unwrap().ends_with('Z'));
        for wrong in ["", "0", "tomorrow", "31.1.2026", "2026-13-01"] {
            assert!(parse_until(wrong).is_err(), "{wrong}");
        }
    }
}
