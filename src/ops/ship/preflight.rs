//! What has to hold before anything is written.

use std::time::Duration;

use crate::change::Change;
use crate::checks::Severity;
use crate::error::{Error, codes};
use crate::git::{ObjectId, Repository};
use crate::ops::wait::Deployer;
use crate::report::change::OverlayReport;
use crate::ship::{RECORD_KEY, ShipRecord};

/// The pause between two looks at what others do.
pub(super) const PAUSE: Duration = Duration::from_secs(5);

/// How many commits with a record are looked back.
const MOST_RECORDS: usize = 500;

/// Whether an edit is refused by a hold.
pub(super) fn is_hold(error: &Error) -> bool {
    [codes::ON_HOLD, codes::HOLD_INVALID].contains(&error.code())
}

/// A change that failed and was taken back does not come again by itself: the newest record that speaks of it decides.
pub(super) fn refuse_taken_back(
    repository: &Repository,
    tip: ObjectId,
    fingerprint: &str,
) -> Result<(), Error> {
    let line = format!("{RECORD_KEY}:");
    for commit in repository.commits_saying(tip, &line, MOST_RECORDS)? {
        for record in ShipRecord::find_in(&commit.message) {
            match record {
                ShipRecord::TakesBack { change, commit: failed } if change == fingerprint => {
                    let message = format!(
                        "this change failed as {} and was taken back by {}",
                        failed.chars().take(12).collect::<String>(),
                        commit.id.short()
                    );
                    return Err(Error::new(codes::TAKEN_BACK, message)
                        .hint("once what made it fail is mended: --again"));
                }
                ShipRecord::Makes { change, .. } if change == fingerprint => return Ok(()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What the edit brings that `check` calls an error.
pub(super) fn refuse_findings(overlays: &[OverlayReport]) -> Result<(), Error> {
    let mut found = overlays.iter().flat_map(|overlay| {
        let errors = overlay.findings.added.iter().filter(|f| f.severity == Severity::Error);
        errors.map(move |finding| (overlay, finding))
    });
    let Some((overlay, finding)) = found.next() else { return Ok(()) };
    let more = match found.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let message = format!("{}: it brings {}: {}{more}", overlay.path, finding.id, finding.message);
    Err(Error::new(codes::BRINGS_FINDINGS, message).hint(format!(
        "`overlay explain {}` says more; --allow-findings ships it all the same",
        finding.id
    )))
}

/// The Applications that will be waited for; none of them states itself what the edit changes, which would win over git.
pub(super) fn require_deployers(deployers: &[Deployer], change: &Change) -> Result<String, Error> {
    let field = overriding_field(change);
    for deployer in deployers {
        let Some(field) = field.filter(|field| deployer.overrides.iter().any(|o| o == field))
        else {
            continue;
        };
        let message = format!(
            "Application {} states kustomize.{field} itself, which wins over git",
            deployer.application
        );
        return Err(Error::new(codes::APPLICATION_OVERRIDES, message)
            .hint("take it out of the Application first: the change would have no effect"));
    }
    let names: Vec<&str> = deployers.iter().map(|deployer| deployer.application.as_str()).collect();
    Ok(match names.as_slice() {
        [one] => format!("{one} deploys it"),
        names => format!("{} Applications deploy it", names.len()),
    })
}

/// The field of an Application's `kustomize` that wins over the field which the change edits.
fn overriding_field(change: &Change) -> Option<&'static str> {
    match change.command() {
        "pin" => Some("images"),
        "set replicas" => Some("replicas"),
        _ => None,
    }
}
