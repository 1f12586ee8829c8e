//! `overlay lock`: which commit each tag and branch of a remote base stands for, written down and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use super::Context;
use super::remote_bases::lock_file;
use super::version::Version;
use crate::discover::{self, DiskFiles};
use crate::error::{Error, codes};
use crate::git::{LOCK_FILE, LockEntry, LockFile, ObjectId, Pinning};
use crate::kustomize::Files as _;
use crate::report::Report;
use crate::report::lock::{LockReport, LockedEntry, State};
use crate::write::{NewText, write_texts};

/// What to do with the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Write it.
    Write,
    /// Say what would be written.
    DryRun,
    /// Ask whether every reference is locked and every tag still where it was; write nothing.
    Check,
}

/// What the user asks of `overlay lock`.
#[derive(Clone, Debug)]
pub struct LockRequest {
    /// The overlays as typed; every kustomization of the repository if there is none.
    pub overlays: Vec<OsString>,
    /// Write, show or check.
    pub mode: Mode,
    /// `--update`: take what each tag and branch is now, in place of what is locked.
    pub update: bool,
}

/// By address and reference: the text that names it in a kustomization file, and its commit.
type Used = BTreeMap<(String, Option<String>), (String, ObjectId)>;

/// Writes or checks the lock file of the repository.
///
/// # Errors
/// Where a remote base cannot be had, or the lock file is broken; nothing was written then. A tag that
/// moved is no such error but, for a check, the `error` of the report.
pub fn run(context: &Context, request: &LockRequest) -> Result<Report, Error> {
    let (files, directories) = directories(context, &request.overlays)?;
    let old = lock_file(&files)?.unwrap_or_default();
    let asking = if request.update { context.without_lock() } else { context.clone() };
    let used = used(&asking, &files, &directories)?;
    let new = new_lock(&old, &used, request);
    let is_asked = !request.update && !context.offline;
    let moved = if is_asked { moved(context, &files, &old, &used)? } else { BTreeMap::new() };
    let report = LockReport {
        dry_run: request.mode != Mode::Write,
        entries: compare(&old, &new, moved),
        is_check: request.mode == Mode::Check,
    };
    if request.mode == Mode::Write && new != old {
        write(&files, &new)?;
    }
    Ok(report.to_report(verdict(&report)))
}

/// Where remote bases are looked for.
fn directories(
    context: &Context,
    overlays: &[OsString],
) -> Result<(DiskFiles, Vec<String>), Error> {
    if overlays.is_empty() {
        let (files, _) = context.locate_directories(&[".".into()])?;
        let found = discover::find_kustomizations(files.root())?.directories;
        return Ok((files, found));
    }
    let (files, located) = context.locate(overlays)?;
    Ok((files, located.into_iter().map(|overlay| overlay.directory).collect()))
}

/// The tags and branches that the kustomizations at `directories` stand on, at any distance.
fn used(context: &Context, files: &DiskFiles, directories: &[String]) -> Result<Used, Error> {
    let version = Version::new(context, files);
    let entries = context.for_each_of(directories, |directory| {
        let tree = version.load(directory)?;
        let missing = tree.missing_remotes();
        match missing.iter().find_map(|reference| context.remote_failure(reference)) {
            Some(error) => Err(error),
            None => Ok(context.lock_entries(&tree)),
        }
    })?;
    let keyed = |(text, entry): (String, LockEntry)| {
        ((entry.address, entry.reference), (text, entry.commit))
    };
    Ok(entries.into_iter().flatten().map(keyed).collect())
}

/// What is used, and what other overlays use where only some were named.
fn new_lock(old: &LockFile, used: &Used, request: &LockRequest) -> LockFile {
    let mut new = if request.overlays.is_empty() { LockFile::default() } else { old.clone() };
    for ((address, reference), (_, commit)) in used {
        new.insert(address, reference.as_deref(), *commit);
    }
    new
}

/// What the remotes say now of references that are locked and in use, where that is something else;
/// `None` where there is no such reference any more.
fn moved(
    context: &Context,
    files: &DiskFiles,
    old: &LockFile,
    used: &Used,
) -> Result<BTreeMap<LockEntry, Option<(ObjectId, Pinning)>>, Error> {
    let locked: Vec<LockEntry> = old.entries().collect();
    let now = context.for_each_of(&locked, |entry| {
        let key = (entry.address.clone(), entry.reference.clone());
        let Some((text, _)) = used.get(&key) else { return Ok(None) };
        let now = match context.ask_remote(files, text) {
            Err(error) if error.code() == codes::NO_SUCH_REFERENCE => None,
            now => now?,
        };
        let is_same = now.as_ref().is_some_and(|(commit, _)| *commit == entry.commit);
        Ok((!is_same).then(|| (entry.clone(), now)))
    })?;
    Ok(now.into_iter().flatten().collect())
}

fn compare(
    old: &LockFile,
    new: &LockFile,
    mut moved: BTreeMap<LockEntry, Option<(ObjectId, Pinning)>>,
) -> Vec<LockedEntry> {
    let all: BTreeSet<(String, Option<String>)> =
        old.entries().chain(new.entries()).map(|entry| (entry.address, entry.reference)).collect();
    let entry = |(address, reference): (String, Option<String>)| {
        let before = old.find(&address, reference.as_deref());
        let after = new.find(&address, reference.as_deref());
        let state = match (before, after) {
            (None, _) => State::Added,
            (Some(before), Some(after)) if before != after => State::Updated { from: before },
            (Some(_), None) => State::Removed,
            (Some(commit), Some(_)) => {
                let key =
                    LockEntry { address: address.clone(), reference: reference.clone(), commit };
                match moved.remove(&key) {
                    None => State::Kept,
                    Some(None) => State::Gone,
                    Some(Some((now, Pinning::Tag))) => State::TagMoved { now },
                    Some(Some((now, _))) => State::BranchMoved { now },
                }
            }
        };
        let commit = after.or(before)?;
        Some(LockedEntry { entry: LockEntry { address, reference, commit }, state })
    };
    all.into_iter().filter_map(entry).collect()
}

fn write(files: &DiskFiles, new: &LockFile) -> Result<(), Error> {
    let before = match files.entry(LOCK_FILE)? {
        Some(_) => Some(files.read(LOCK_FILE)?.to_vec()),
        None => None,
    };
    let after = new.to_text().into_bytes();
    let text = NewText { path: LOCK_FILE.to_owned(), before, after: Some(after) };
    write_texts(files.root(), &[text])?;
    Ok(())
}

/// What a check that found something ends with.
fn verdict(report: &LockReport) -> Option<Error> {
    let found = report.entries.iter().filter(|entry| entry.state.is_finding()).count();
    if !report.is_check || found == 0 {
        return None;
    }
    let message = match found {
        1 => format!("1 reference is not what {LOCK_FILE} says"),
        many => format!("{many} references are not what {LOCK_FILE} says"),
    };
    let hint = "`overlay lock` adds what is missing; look at what moved before `overlay lock --update` takes it";
    Some(Error::new(codes::LOCK_OUTDATED, message).hint(hint))
}
