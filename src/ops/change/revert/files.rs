//! The overlay's own files as they were: those added since go, those deleted come back, and nothing outside of
//! the overlay's directory is touched.

use std::collections::BTreeMap;

use super::then::Then;
use super::{Ground, Restoration, fill_effect, guards, is_hold, note};
use crate::discover::KUSTOMIZATION_NAMES;
use crate::error::{Error, Location, codes};
use crate::git::{FilesBelow, Mode, TreeEntry, require_clean};
use crate::kustomize::remote::mount_of;
use crate::kustomize::{Entry, Rendered, ReplacedFiles, SourceTree, shown_name};
use crate::ops::preflight::Editable;
use crate::plan::Note;
use crate::report::change::OverlayReport;
use crate::verify::{ObjectDiff, compare_objects};
use crate::write::NewText;

/// The most commits or fields that a note names.
const MOST: usize = 5;

/// Brings the files back and proves what that does.
pub(super) fn restore(
    ground: &Ground<'_>,
    editable: &Editable,
    then: &Then,
) -> Result<Restoration, Error> {
    let texts = changed_files(ground, editable, then)?;
    let mut report = ground.report(editable, &texts);
    if texts.is_empty() {
        let now = ground.context.render(&editable.tree, editable.tree.overlay());
        if let Ok(now) = now {
            report.notes.extend(residue(then, &editable.tree, &now.rendered, editable)?);
        }
        return Ok((report, texts));
    }
    require_committed(ground, &texts)?;
    let replaced = texts.iter().map(|text| (text.path.clone(), text.after.clone()));
    let replaced = ReplacedFiles::new(ground.files, replaced);
    let tree = ground.context.load(&replaced, editable.tree.overlay())?;
    let after = ground.render(&tree)?;
    prove(ground, editable, (&tree, &after), &mut report)?;
    report.notes.extend(residue(then, &tree, &after, editable)?);
    report.notes.extend(taken_back(ground, editable, &texts)?);
    Ok((report, texts))
}

/// Compares with what is rendered now, and guards.
fn prove(
    ground: &Ground<'_>,
    editable: &Editable,
    after: (&SourceTree, &Rendered),
    report: &mut OverlayReport,
) -> Result<(), Error> {
    let before = match ground.context.render(&editable.tree, editable.tree.overlay()) {
        Ok(built) => built.rendered,
        Err(error) => {
            let message = format!(
                "the overlay does not build as it stands, so what it loses is not known: {error}"
            );
            report.notes.push(note("now-broken", message));
            return Ok(());
        }
    };
    let objects = compare_objects(&before.resources, &after.1.resources);
    report.notes.extend(guards::check(
        ground.context,
        ground.revert,
        &before.resources,
        &after.1.resources,
        &objects,
    )?);
    report.findings = ground.context.findings_between((&editable.tree, &before), after);
    fill_effect(report, objects);
    Ok(())
}

/// The files that differ from those of then.
fn changed_files(
    ground: &Ground<'_>,
    editable: &Editable,
    then: &Then,
) -> Result<Vec<NewText>, Error> {
    let directory = &editable.located.directory;
    let now_files = ground.past.repository.files_of(ground.past.base)?;
    let mut now = now_files.files_below(directory, &KUSTOMIZATION_NAMES)?;
    let mut old = then.files.files_below(directory, &KUSTOMIZATION_NAMES)?;
    keep_own(&mut now, &mut old, editable, then);
    let mut texts = Vec::new();
    let paths: BTreeMap<&String, ()> =
        now.files.keys().chain(old.files.keys()).map(|path| (path, ())).collect();
    for path in paths.into_keys() {
        let (now, old) = (now.files.get(path).copied(), old.files.get(path).copied());
        if now == old && !ground.past.is_on_disk {
            continue;
        }
        refuse_links(path, now, old)?;
        let before = content_now(ground, path)?;
        let after = old.map(|entry| then.files.content(entry)).transpose()?;
        let committed = now.map(|entry| now_files.content(entry)).transpose()?;
        let after =
            after.map(|bytes| as_checked_out(&bytes, before.as_deref(), committed.as_deref()));
        if before != after {
            texts.push(NewText { path: path.clone(), before, after });
        }
    }
    Ok(texts)
}

/// Leaves out what belongs to a kustomization below in either version, holds, and, where the overlay is the whole
/// repository, what no build of it reads.
fn keep_own(now: &mut FilesBelow, old: &mut FilesBelow, editable: &Editable, then: &Then) {
    let nested: Vec<String> =
        now.left_out.iter().chain(&old.left_out).map(|path| format!("{path}/")).collect();
    let is_whole = editable.located.directory.is_empty();
    let is_read = |path: &str| {
        editable.tree.file(path).is_some()
            || then.tree.as_ref().is_some_and(|tree| tree.file(path).is_some())
    };
    let is_own = |path: &String| {
        !is_hold(path)
            && !nested.iter().any(|nested| path.starts_with(nested))
            && (!is_whole || is_read(path))
    };
    now.files.retain(|path, _| is_own(path));
    old.files.retain(|path, _| is_own(path));
}

fn refuse_links(path: &str, now: Option<TreeEntry>, old: Option<TreeEntry>) -> Result<(), Error> {
    let is_link = |entry: &TreeEntry| entry.mode == Mode::Link;
    if now == old || ![now, old].iter().flatten().any(is_link) {
        return Ok(());
    }
    let message = "a symbolic link was made, moved or removed since, and links are not written";
    Err(Error::new(codes::NOT_EDITABLE, message)
        .at(Location::file(path))
        .hint("put the link as it was first, or bring back --pins alone"))
}

/// The bytes that stand at `path`; links are not followed.
fn content_now(ground: &Ground<'_>, path: &str) -> Result<Option<Vec<u8>>, Error> {
    match ground.files.entry(path) {
        Ok(Some(Entry::File { real })) if real == path => {
            Ok(Some(ground.files.read(path)?.to_vec()))
        }
        Ok(_) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where the checkout shows line ends that the commit has not, the file that comes back gets them too.
fn as_checked_out(bytes: &[u8], shown: Option<&[u8]>, committed: Option<&[u8]>) -> Vec<u8> {
    let with_returns = |bytes: &[u8]| -> Option<Vec<u8>> {
        let text = std::str::from_utf8(bytes).ok()?;
        (!text.contains('\r')).then(|| text.replace('\n', "\r\n").into_bytes())
    };
    let is_converted = match (shown, committed) {
        (Some(shown), Some(committed)) => {
            shown != committed && with_returns(committed).is_some_and(|bytes| bytes == shown)
        }
        _ => false,
    };
    is_converted.then(|| with_returns(bytes)).flatten().unwrap_or_else(|| bytes.to_vec())
}

/// What is not committed anywhere would be lost.
fn require_committed(ground: &Ground<'_>, texts: &[NewText]) -> Result<(), Error> {
    if !ground.past.is_on_disk || ground.revert.overwrite {
        return Ok(());
    }
    let paths: Vec<&str> = texts.iter().map(|text| text.path.as_str()).collect();
    require_clean(ground.past.repository, &paths).map_err(|error| {
        Error::from(error).hint("--overwrite writes over it; --pins edits it and keeps the rest")
    })
}

/// What is not as it was then, though the overlay's own files are: something else moved since.
fn residue(
    then: &Then,
    tree: &SourceTree,
    after: &Rendered,
    editable: &Editable,
) -> Result<Vec<Note>, Error> {
    let (Ok(rendered), Some(old)) = (&then.rendered, &then.tree) else { return Ok(Vec::new()) };
    let objects = compare_objects(&rendered.resources, &after.resources);
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let directory = &editable.located.directory;
    let is_outside = |path: &String| {
        mount_of(path).is_some()
            || !(directory.is_empty() || path.starts_with(&format!("{directory}/")))
    };
    let moved: Vec<String> = old.differences(tree).into_iter().filter(is_outside).collect();
    if moved.is_empty() && !directory.is_empty() && !tree.names_remotes() {
        let message = format!("the overlay would not render what it rendered at {}", then.shown);
        return Err(Error::new(codes::OTHER_VALUE, message).cause(told(&objects).join("; ")));
    }
    let message = format!(
        "what does not come back, since it is decided outside of the overlay and moved since {} ({}): {}",
        then.shown,
        few(moved),
        few(told(&objects))
    );
    Ok(vec![note("not-restored", message)])
}

fn told(objects: &ObjectDiff) -> Vec<String> {
    let mut all: Vec<String> =
        objects.removed.iter().map(|id| format!("{} is gone", shown_name(id))).collect();
    all.extend(objects.added.iter().map(|id| format!("{} is new", shown_name(id))));
    for changed in &objects.changed {
        let fields = changed.fields.iter();
        all.extend(fields.map(|field| format!("{} {}", shown_name(&changed.resource), field.path)));
    }
    all
}

fn few(mut all: Vec<String>) -> String {
    let left = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    if left > 0 {
        all.push(format!("and {left} more"));
    }
    all.join(", ")
}

/// Names the commits since that changed the files: what they did goes with it.
fn taken_back(
    ground: &Ground<'_>,
    editable: &Editable,
    texts: &[NewText],
) -> Result<Option<Note>, Error> {
    let Some(target) = ground.revert.target(&editable.located.directory) else { return Ok(None) };
    let repository = ground.past.repository;
    let past = repository.resolve(&target.commit)?;
    let paths: Vec<&str> = texts.iter().map(|text| text.path.as_str()).take(200).collect();
    let commits = repository.commits_changing(past, ground.past.base, &paths, MOST + 1)?;
    if commits.len() < 2 {
        return Ok(None);
    }
    let more = if commits.len() > MOST { ", and earlier ones" } else { "" };
    let named = commits.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    let message = format!("takes back what these did to the overlay's files: {named}{more}");
    Ok(Some(note("takes-back", message)))
}
