//! What a commit says: a subject and the effect for people, and the change as data.

use serde_json::{Value as Json, json};

use crate::change::{Change, Hold, PinValue, Restored, Revert, RevertTarget, SetHold};
#[cfg(feature = "registry")]
use crate::change::{InUse, parse_assignment};
use crate::git::ChangeRecord;
#[cfg(feature = "registry")]
use crate::image::Split;
use crate::report::change::{OverlayReport, Status};
use crate::verify::FieldChange;

/// The longest subject that shows whole in lists of commits.
const SUBJECT: usize = 72;

/// The most lines about the effect.
const MOST_LINES: usize = 40;

/// Subject and text, made from the change and its effect.
pub(super) fn describe(change: &Change, overlays: &[OverlayReport]) -> String {
    let (subject, effect) = (subject(change, overlays), effect(overlays));
    if effect.is_empty() { subject } else { format!("{subject}\n\n{effect}") }
}

/// What a template may say of the change, by name.
pub(super) fn parts(change: &Change, overlays: &[OverlayReport]) -> [(&'static str, String); 4] {
    let places: Vec<&str> = changed(overlays).map(|overlay| overlay.path.as_str()).collect();
    [
        ("subject", subject(change, overlays)),
        ("effect", effect(overlays)),
        ("command", change.command().to_owned()),
        ("overlays", places.join(", ")),
    ]
}

/// One line: what is done, and where.
fn subject(change: &Change, overlays: &[OverlayReport]) -> String {
    let places: Vec<&str> = changed(overlays).map(|overlay| overlay.path.as_str()).collect();
    let places = list(&places, "overlays");
    shorten(&format!("{} in {places}", headline(change, overlays)))
}

/// Two lines for each field that changes.
fn effect(overlays: &[OverlayReport]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for overlay in changed(overlays) {
        for change in overlay.effect.changes.iter().map(FieldChange::shown) {
            let value = |value: &Option<Json>| match value {
                Some(Json::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => "nothing".to_owned(),
            };
            lines.push(format!(
                "{}: {}/{} {}",
                overlay.path, change.resource.kind, change.resource.name, change.path
            ));
            lines.push(format!("  {} -> {}", value(&change.before), value(&change.after)));
        }
    }
    let left = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if left > 0 {
        lines.push(format!("and {} more", left / 2));
    }
    lines.join("\n")
}

/// What is done to what, without where.
fn headline(change: &Change, overlays: &[OverlayReport]) -> String {
    let mut names: Vec<String> = Vec::new();
    for moved in changed(overlays).flat_map(|overlay| &overlay.effect.changes) {
        let name = moved.resource.name.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names = list(&names, "resources");
    match change {
        Change::PinImages(pins) => {
            let keys: Vec<String> =
                pins.pins.iter().map(|pin| last_segment(pin.key.as_str())).collect();
            format!("Pin {}", list(&keys, "images"))
        }
        #[cfg(feature = "registry")]
        Change::ResolveImages(_) => {
            let names: Vec<String> =
                pinned(overlays).map(|(old, _)| last_segment(Split::parse(&old).name)).collect();
            format!("Pin {}", list(&names, "images"))
        }
        Change::SetReplicas(_) => format!("Set replicas of {names}"),
        Change::SetStrategy(_) => format!("Set strategy of {names}"),
        Change::SetInstances(_) => format!("Set instances of {names}"),
        Change::SetDrain(_) => format!("Set drain of {names}"),
        Change::SetResources(_) => format!("Set resources of {names}"),
        Change::SetFields(_) => format!("Set fields of {names}"),
        Change::Restart(_) => format!("Restart {names}"),
        Change::BumpBase(bump) => format!("Move the base to {}", bump.reference),
        Change::SetComponents(_) => "Change components".to_owned(),
        Change::Revert(revert) => format!("Go back to {}", shown_targets(revert)),
        Change::SetHold(SetHold::Put(hold)) => format!("Hold until {}", hold.until),
        Change::SetHold(SetHold::Release) => "End the hold".to_owned(),
        Change::Several(_) => format!("Change {names}"),
    }
}

/// The change as data, for the trailers.
pub(super) fn record(change: &Change, overlays: &[OverlayReport]) -> ChangeRecord {
    let places: Vec<&str> = changed(overlays).map(|overlay| overlay.path.as_str()).collect();
    let pins = match change {
        #[cfg(feature = "registry")]
        Change::ResolveImages(_) => {
            let digests: serde_json::Map<String, Json> =
                pinned(overlays).map(|(old, new)| (old, json!(new))).collect();
            return ChangeRecord::new(
                json!({"command": "pin", "overlays": places, "digests": digests}),
            );
        }
        Change::PinImages(pins) => Some(pins),
        Change::BumpBase(bump) => bump.pins.as_ref(),
        Change::Revert(revert) => return revert_record(revert, overlays),
        Change::SetHold(SetHold::Put(hold)) => {
            let hold = hold_data(hold);
            return ChangeRecord::new(json!({"command": "hold", "overlays": places, "hold": hold}));
        }
        Change::SetHold(SetHold::Release) => {
            return ChangeRecord::new(json!({"command": "hold", "overlays": places, "hold": null}));
        }
        _ => {
            let fields: Vec<Json> = changed(overlays).flat_map(fields_of).collect();
            let command = change.command();
            return ChangeRecord::new(
                json!({"command": command, "overlays": places, "fields": fields}),
            );
        }
    };
    let images: serde_json::Map<String, Json> = pins
        .into_iter()
        .flat_map(|pins| &pins.pins)
        .map(|pin| (pin.key.as_str().to_owned(), json!(reference(&pin.value))))
        .collect();
    ChangeRecord::new(match change {
        Change::BumpBase(bump) => json!({
            "command": "bump",
            "overlays": places,
            "ref": bump.reference,
            "digests": images,
        }),
        _ => json!({"command": "pin", "overlays": places, "digests": images}),
    })
}

/// A change that speaks of what has no digest yet, as the digests that it came to: so it means the same where an earlier run has
/// pinned that. `None` for every other change.
///
/// # Errors
/// Where a reference that was written is none that can be asked for.
pub(super) fn settled(
    change: &Change,
    overlays: &[OverlayReport],
) -> Result<Option<Change>, crate::error::Error> {
    #[cfg(feature = "registry")]
    if let Change::ResolveImages(wanted) = change
        && wanted.in_use == Some(InUse::Unpinned)
        && wanted.tags.is_empty()
    {
        let mut pins = wanted.pins.clone();
        for (old, new) in pinned(overlays) {
            pins.pins.push(parse_assignment(&old, &new)?);
        }
        return Ok(Some(Change::PinImages(pins)));
    }
    let _ = (change, overlays);
    Ok(None)
}

/// The references that became others, without the digests they had, each once and in their order.
#[cfg(feature = "registry")]
fn pinned(overlays: &[OverlayReport]) -> impl Iterator<Item = (String, String)> {
    let mut pinned = std::collections::BTreeMap::new();
    for moved in changed(overlays).flat_map(|overlay| &overlay.effect.changes) {
        let text = |value: &Option<Json>| value.as_ref()?.as_str().map(str::to_owned);
        if let (Some(old), Some(new)) = (text(&moved.before), text(&moved.after)) {
            pinned.insert(old.split('@').next().unwrap_or_default().to_owned(), new);
        }
    }
    pinned.into_iter()
}

/// Where each overlay went back to, by its path. `overlay revert --last` passes such commits over.
fn revert_record(revert: &Revert, overlays: &[OverlayReport]) -> ChangeRecord {
    let targets: serde_json::Map<String, Json> = changed(overlays)
        .filter_map(|overlay| {
            let directory = if overlay.path == "." { "" } else { &overlay.path };
            let target = revert.target(directory)?;
            Some((overlay.path.clone(), json!(target.commit)))
        })
        .collect();
    let mut data = json!({
        "command": "revert",
        "overlays": targets.keys().collect::<Vec<_>>(),
        "to": targets,
        "restored": revert.restored.word(),
    });
    if let Restored::Fields(name, paths) = &revert.restored {
        data["fields"] = json!({"resource": name.name, "paths": paths});
    }
    if let Some(hold) = &revert.hold {
        data["hold"] = hold_data(hold);
    }
    ChangeRecord::new(data)
}

fn hold_data(hold: &Hold) -> Json {
    json!({"until": hold.until, "reason": hold.reason, "by": hold.by, "scope": hold.scope.word()})
}

/// The commit where all go back to the same.
fn shown_targets(revert: &Revert) -> String {
    let commit = |target: &RevertTarget| target.commit.chars().take(12).collect::<String>();
    match &revert.targets[..] {
        [one, rest @ ..] if rest.iter().all(|other| other.commit == one.commit) => commit(one),
        targets => format!("{} commits", targets.len()),
    }
}

fn fields_of(overlay: &OverlayReport) -> impl Iterator<Item = Json> + '_ {
    overlay.effect.changes.iter().map(FieldChange::shown).map(|moved| {
        let resource = format!("{}/{}", moved.resource.kind, moved.resource.name);
        json!({"resource": resource, "path": moved.path.to_string(), "value": moved.after})
    })
}

fn changed(overlays: &[OverlayReport]) -> impl Iterator<Item = &OverlayReport> {
    overlays.iter().filter(|overlay| overlay.status == Status::Changed)
}

/// The value as it was given.
fn reference(value: &PinValue) -> String {
    let tag = value.tag.as_ref().map(|tag| format!(":{tag}")).unwrap_or_default();
    match &value.name {
        Some(name) => format!("{name}{tag}@{}", value.digest),
        None => value.digest.to_string(),
    }
}

fn last_segment(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// Up to two by name, more by number.
fn list(items: &[impl AsRef<str>], what: &str) -> String {
    match items {
        [one] => one.as_ref().to_owned(),
        [one, two] => format!("{} and {}", one.as_ref(), two.as_ref()),
        _ => format!("{} {what}", items.len()),
    }
}

fn shorten(subject: &str) -> String {
    if subject.chars().count() <= SUBJECT {
        return subject.to_owned();
    }
    let short: String = subject.chars().take(SUBJECT - 1).collect();
    format!("{short}…")
}
