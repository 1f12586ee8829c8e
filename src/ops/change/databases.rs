//! What the operator of a database would refuse is not edited in: it makes the sync of all that the overlay renders fail.

use crate::change::{Change, Restored};
use crate::checks::{Finding, Subject, is_of_a_change, is_refused_by_operator};
use crate::error::{Error, Location, codes};
use crate::kustomize::ResourceId;
use crate::report::change::OverlayReport;

/// Refuses what the edit makes of a database that was there before, where its operator refuses it. What a new one states is told
/// as findings.
///
/// # Errors
/// `database-refused`, at the value.
pub(in crate::ops) fn refuse_refused(
    change: &Change,
    overlays: &[OverlayReport],
) -> Result<(), Error> {
    for overlay in overlays {
        let is_refused = |finding: &&Finding| {
            is_refused_by_operator(finding)
                && !is_new(overlay, &finding.resource)
                && !is_allowed(change, finding)
        };
        if let Some(finding) = overlay.findings.added.iter().find(is_refused) {
            return Err(refused(change, overlay, finding));
        }
    }
    Ok(())
}

fn is_new(overlay: &OverlayReport, subject: &Subject) -> bool {
    let is_it = |id: &ResourceId| {
        (&*id.kind, &*id.name, &*id.namespace)
            == (&*subject.kind, &*subject.name, &*subject.namespace)
    };
    overlay.moved.as_ref().is_some_and(|moved| moved.objects.added.iter().any(is_it))
}

/// A way back to an older major version that was asked for.
fn is_allowed(change: &Change, finding: &Finding) -> bool {
    let allows = matches!(change, Change::Revert(revert) if revert.allow_downgrade);
    let is_version = ["spec.imageName", "spec.imageCatalogRef.major"].contains(&&*finding.field);
    allows && is_of_a_change(finding) && is_version
}

fn refused(change: &Change, overlay: &OverlayReport, finding: &Finding) -> Error {
    let message = format!("{}: {}", overlay.path, finding.message);
    let place = Location {
        file: finding.location.file.clone(),
        line: usize::try_from(finding.location.line).ok(),
        column: None,
    };
    let mut error = Error::new(codes::DATABASE_REFUSED, message).at(place);
    if matches!(change, Change::Revert(revert) if revert.restored == Restored::Files) {
        error = error.hint("--pins goes back with the images alone");
    }
    if is_of_a_change(finding) {
        error = error.hint(format!(
            "where the database never ran as it stands now: accept {} in checks.exceptions of .overlay.yaml",
            finding.id
        ));
    }
    error.hint(format!("`overlay explain {}` says more", finding.id))
}
