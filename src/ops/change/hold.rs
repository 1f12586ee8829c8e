//! Holds: putting one, taking it away, and refusing edits while one stands.

use super::{Proven, file_report};
use crate::change::{Change, HOLD_FILE, Hold, HoldScope, SetHold};
use crate::clock;
use crate::discover::shown_directory;
use crate::error::{Error, Location, codes};
use crate::kustomize::{Entry, Files, Step};
use crate::ops::Context;
use crate::ops::preflight::Editable;
use crate::plan::{self, Note};
use crate::report::change::{OverlayReport, Status};
use crate::shell;
use crate::verify::FieldChange;
use crate::write::NewText;

/// The hold of the overlay at `directory`, whether its time is over or not.
///
/// # Errors
/// Where the file cannot be read.
fn read(files: &dyn Files, directory: &str) -> Result<Option<(String, Hold)>, Error> {
    let path = path_in(directory);
    let Some(Entry::File { .. }) = files.entry(&path)? else { return Ok(None) };
    let text = text_of(files, &path)?;
    let hold = plan::read_hold(&path, &text)?;
    if clock::parse_rfc_3339(&hold.until).is_none() {
        let message = format!("`until: {}` is no time such as 2026-01-31T10:00:00Z", hold.until);
        return Err(Error::new(codes::HOLD_INVALID, message).at(Location::file(path)));
    }
    Ok(Some((text, hold)))
}

fn text_of(files: &dyn Files, path: &str) -> Result<String, Error> {
    let not_utf8 = |_| Error::new(codes::HOLD_INVALID, "not UTF-8").at(Location::file(path));
    String::from_utf8(files.read(path)?.to_vec()).map_err(not_utf8)
}

fn path_in(directory: &str) -> String {
    match directory {
        "" => HOLD_FILE.to_owned(),
        directory => format!("{directory}/{HOLD_FILE}"),
    }
}

fn stands(hold: &Hold) -> bool {
    let now = i64::try_from(clock::now_unix()).unwrap_or(i64::MAX);
    clock::parse_rfc_3339(&hold.until).is_some_and(|end| now < end)
}

/// Refuses an edit of an overlay that is held, unless it is the hold itself that is edited. An edit that
/// changes nothing is none.
///
/// # Errors
/// [`codes::ON_HOLD`], and a hold that cannot be read.
pub(in crate::ops) fn require_none(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    change: &Change,
    proven: &Proven,
) -> Result<(), Error> {
    if context.override_hold || matches!(change, Change::SetHold(_)) {
        return Ok(());
    }
    let edited = editable.iter().zip(&proven.overlays);
    for (editable, report) in edited.filter(|(_, report)| report.status == Status::Changed) {
        for directory in [&*editable.located.directory, editable.tree.overlay()] {
            let held = read(files, directory)?.filter(|(_, hold)| stands(hold));
            if let Some((_, hold)) = held.filter(|(_, hold)| refuses(hold, change, report)) {
                return Err(refusal(context, directory, &hold));
            }
        }
    }
    Ok(())
}

fn refuses(hold: &Hold, change: &Change, report: &OverlayReport) -> bool {
    let moves_pins = matches!(change, Change::PinImages(_) | Change::BumpBase(_));
    hold.scope == HoldScope::All || moves_pins || report.effect.changes.iter().any(is_image)
}

/// Whether a field names an image, or is so much that it may.
fn is_image(change: &FieldChange) -> bool {
    match change.path.steps().last() {
        Some(Step::Key(key)) => key.to_ascii_lowercase().contains("image"),
        _ => true,
    }
}

fn refusal(context: &Context, directory: &str, hold: &Hold) -> Error {
    let shown = shown_directory(directory);
    let what = match hold.scope {
        HoldScope::All => "edits of",
        HoldScope::Pins => "images of",
    };
    let message =
        format!("{what} {shown} are held until {} by {}: {}", hold.until, hold.by, hold.reason);
    Error::new(codes::ON_HOLD, message).at(Location::file(path_in(directory))).hint(format!(
        "`{}` ends it; --override-hold edits all the same",
        shell::overlay("hold", &context.here().path(&shown), &["--release"])
    ))
}

/// Puts or ends the hold of every overlay; nothing is written.
///
/// # Errors
/// A hold that stands and cannot be read or edited.
pub(super) fn prove(
    files: &dyn Files,
    editable: &[Editable],
    change: &SetHold,
) -> Result<Proven, Error> {
    let mut proven = Proven { overlays: Vec::new(), texts: Vec::new() };
    for editable in editable {
        let directory = &editable.located.directory;
        let text = match change {
            SetHold::Put(hold) => put(files, directory, hold)?,
            SetHold::Release => release(files, directory)?,
        };
        let mut report = report(editable, text.as_ref());
        if let SetHold::Put(hold) = change
            && !stands(hold)
        {
            let message = format!("{} is over already: the hold refuses nothing", hold.until);
            report.notes.push(Note { code: "hold-over", message });
        }
        proven.overlays.push(report);
        let known = |text: &NewText| proven.texts.iter().any(|other| other.path == text.path);
        let new = text.filter(|text| !known(text));
        proven.texts.extend(new);
    }
    Ok(proven)
}

fn put(files: &dyn Files, directory: &str, hold: &Hold) -> Result<Option<NewText>, Error> {
    let path = path_in(directory);
    let old = match files.entry(&path)? {
        Some(Entry::File { .. }) => Some(text_of(files, &path)?),
        _ => None,
    };
    let after = plan::write_hold(&path, old.as_deref(), hold)?;
    let is_new = old.as_ref() != Some(&after);
    let before = old.map(String::into_bytes);
    Ok(is_new.then(|| NewText { path, before, after: Some(after.into_bytes()) }))
}

fn release(files: &dyn Files, directory: &str) -> Result<Option<NewText>, Error> {
    let path = path_in(directory);
    let Some(Entry::File { .. }) = files.entry(&path)? else { return Ok(None) };
    let before = Some(files.read(&path)?.to_vec());
    Ok(Some(NewText { path, before, after: None }))
}

/// The hold that goes along with a change: where nothing changes and one stands already, that one stays.
///
/// # Errors
/// As [`prove`].
#[cfg(feature = "git")]
pub(super) fn put_along(
    files: &dyn Files,
    directory: &str,
    hold: &Hold,
    is_changed: bool,
) -> Result<Option<NewText>, Error> {
    let standing = read(files, directory)?.is_some_and(|(_, standing)| stands(&standing));
    match standing && !is_changed {
        true => Ok(None),
        false => put(files, directory, hold),
    }
}

fn report(editable: &Editable, text: Option<&NewText>) -> OverlayReport {
    let status = if text.is_some() { Status::Changed } else { Status::Unchanged };
    OverlayReport {
        files: text.map(file_report).into_iter().collect(),
        ..OverlayReport::new(editable.located.shown(), status)
    }
}
