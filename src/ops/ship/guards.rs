//! What stands against a change before anything is written, each refusal by itself.

use std::collections::BTreeSet;
use std::time::Duration;

use super::patches::{self, Edited, Outcome};
use crate::argocd::{Override, overrides_of};
use crate::checks::Severity;
use crate::discover::shown_directory;
use crate::error::{Error, codes};
use crate::git::{ObjectId, Repository};
use crate::image::Reference;
use crate::kustomize::read::configuration_text;
use crate::kustomize::{Entry, Files, Origin, Step};
use crate::ops::wait::Deployer;
use crate::report::change::OverlayReport;
use crate::ship::{RECORD_KEY, ShipRecord};
use crate::verify::{FieldChange, node_to_json};

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
                    let landed = repository.landing_of(commit.id, tip)?.unwrap_or(commit.id);
                    let wait = format!("overlay wait --overlay … --commit {}", landed.short());
                    return Err(Error::new(codes::TAKEN_BACK, message)
                        .hint("once what made it fail is mended: --again")
                        .hint(format!("whether the way back has been applied: {wait}")));
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

/// The Applications that will be waited for; none of them states itself, in its `spec` or in a file that is merged with it, what the
/// edit of `overlays` changes: that would win over git.
///
/// # Errors
/// `application-overrides`; where the base branch cannot be read.
pub(super) fn require_deployers(
    deployers: &[Deployer],
    overlays: &[OverlayReport],
    edited: &Edited<'_>,
) -> Result<Vec<String>, Error> {
    let names: Vec<&str> = deployers.iter().map(|one| one.application.as_str()).collect();
    let mut told = vec![match names.as_slice() {
        [one] => format!("{one} deploys it"),
        names => format!("{} Applications deploy it", names.len()),
    }];
    for deployer in deployers {
        let application = format!("Application {}", deployer.application);
        let own = deployer.overrides.iter().cloned();
        let own = own.map(|what| Stated { place: application.clone(), what });
        let in_files = overrides_in_files(edited.repository, edited.tip, deployer)?;
        let stated: Vec<Stated> = own.chain(in_files).collect();
        for directory in &deployer.overlays {
            let is_it = |overlay: &&OverlayReport| shown_directory(directory) == overlay.path;
            let Some(overlay) = overlays.iter().find(is_it) else { continue };
            if let Some(one) = stated.iter().find(|one| wins_over(&one.what, overlay)) {
                return Err(overridden(one, "what the overlay says"));
            }
            told.extend(require_through(&stated, directory, overlay, edited)?);
        }
    }
    Ok(told)
}

/// What is edited comes through whatever patches and components of the Application say; where that cannot be told, it is said.
fn require_through(
    stated: &[Stated],
    directory: &str,
    overlay: &OverlayReport,
    edited: &Edited<'_>,
) -> Result<Option<String>, Error> {
    let all: Vec<&Override> = stated.iter().map(|one| &one.what).collect();
    match edited.under(&all, directory, overlay)? {
        Outcome::Through => Ok(None),
        Outcome::Lost(field) => {
            let mut culprit = None;
            for one in stated {
                if let Outcome::Lost(_) = edited.under(&[&one.what], directory, overlay)? {
                    culprit = Some(one);
                }
            }
            let first = stated.iter().find(|one| patches::is_appended(&one.what));
            match culprit.or(first) {
                Some(one) => Err(overridden(one, &field)),
                None => Ok(None),
            }
        }
        Outcome::Unknown(why) => {
            let first = stated.iter().find(|one| patches::is_appended(&one.what));
            Ok(first.map(|one| {
                let (place, field) = (&one.place, &one.what.field);
                format!("{place} states kustomize.{field}, which win over git; whether over this edit cannot be told: {why}")
            }))
        }
    }
}

/// What wins over git, and where it stands.
pub(super) struct Stated {
    place: String,
    what: Override,
}

fn overridden(by: &Stated, what: &str) -> Error {
    let (place, field) = (&by.place, &by.what.field);
    let of = by.what.name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
    let message = format!("{place} states kustomize.{field}{of}, which wins over {what}");
    Error::new(codes::APPLICATION_OVERRIDES, message)
        .hint("take it out there first: the change would have no effect")
}

/// Whether a statement decides a value that the edit of this overlay moves. What patches and components decide is rendered.
fn wins_over(by: &Override, overlay: &OverlayReport) -> bool {
    let Some(name) = &by.name else { return false };
    let mut changes = overlay.effect.changes.iter();
    match by.field.as_str() {
        "images" => images_of(overlay).contains(name),
        "replicas" => changes
            .any(|one| one.path.to_string() == "spec.replicas" && *one.resource.name == **name),
        _ => false,
    }
}

/// The names under which an `images:` entry may decide what the edit moves: as rendered before and after, and of the entries that
/// were written.
fn images_of(overlay: &OverlayReport) -> BTreeSet<String> {
    let is_image = |change: &&FieldChange| {
        let last = change.path.steps().last();
        matches!(last, Some(Step::Key(key)) if ["image", "imageName"].contains(&&**key))
    };
    let moved = overlay.effect.changes.iter().filter(is_image);
    let values = moved.flat_map(|change| [&change.before, &change.after]).flatten();
    let references = values.filter_map(|value| Reference::parse(value.as_str()?).ok());
    let mut names: BTreeSet<String> = references.map(|one| one.name().to_owned()).collect();
    names.extend(overlay.placements.iter().filter_map(|placement| {
        let (name, _) = placement.what.strip_prefix("images[")?.split_once(']')?;
        Some(name.to_owned())
    }));
    names
}

/// What the files that Argo CD merges with an Application's source state, in an overlay of the repository at `tip`: those which
/// image updaters write.
///
/// # Errors
/// Where one of them cannot be read.
fn overrides_in_files(
    repository: &Repository,
    tip: ObjectId,
    deployer: &Deployer,
) -> Result<Vec<Stated>, Error> {
    let files = repository.files_of(tip)?;
    let mut stated = Vec::new();
    for overlay in &deployer.overlays {
        for name in &deployer.files {
            let path = format!("{overlay}/{name}").trim_start_matches('/').to_owned();
            if !matches!(files.entry(&path), Ok(Some(Entry::File { .. }))) {
                continue;
            }
            let bytes = files.read(&path).map_err(|error| broken(&path, &error.to_string()))?;
            let text = String::from_utf8_lossy(&bytes);
            let read = configuration_text(&text, Origin::default());
            let node = read.map_err(|error| broken(&path, &error.to_string()))?;
            if let Some(kustomize) = node_to_json(&node)["kustomize"].as_object() {
                let all = overrides_of(kustomize).into_iter();
                stated.extend(all.map(|what| Stated { place: path.clone(), what }));
            }
        }
    }
    Ok(stated)
}

fn broken(path: &str, why: &str) -> Error {
    let message = format!("{path}, which Argo CD merges with the Application, cannot be read");
    Error::new(codes::APPLICATION_OVERRIDES, message).cause(why)
}
