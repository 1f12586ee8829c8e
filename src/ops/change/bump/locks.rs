//! A lock file follows the references that are moved.

use crate::edit::unified_diff;
use crate::error::Error;
use crate::git::LOCK_FILE;
use crate::kustomize::{Files, SourceTree};
use crate::ops::Context;
use crate::ops::remote_bases::lock_file;
use crate::report::change::FileReport;
use crate::write::NewText;

/// The new text of the lock file, where the repository has one and it does not say what the `trees` of
/// the new version stand on. Entries of the old version stay: another overlay may use them.
///
/// # Errors
/// Where the lock file cannot be read.
pub(super) fn new_lock(
    context: &Context,
    files: &dyn Files,
    trees: &[SourceTree],
) -> Result<Option<NewText>, Error> {
    let Some(mut lock) = lock_file(files)? else { return Ok(None) };
    let before = lock.clone();
    for (_, entry) in trees.iter().flat_map(|tree| context.lock_entries(tree)) {
        lock.insert(&entry.address, entry.reference.as_deref(), entry.commit);
    }
    if lock == before {
        return Ok(None);
    }
    let bytes = files.read(LOCK_FILE)?.to_vec();
    let after = Some(lock.to_text().into_bytes());
    Ok(Some(NewText { path: LOCK_FILE.to_owned(), before: Some(bytes), after }))
}

/// The lock file among the files that differ.
pub(super) fn report(lock: &NewText) -> FileReport {
    let before = lock.before.as_deref().map(String::from_utf8_lossy);
    let after = String::from_utf8_lossy(lock.after.as_deref().unwrap_or_default());
    FileReport {
        path: lock.path.clone(),
        diff: unified_diff(&lock.path, before.as_deref(), Some(&after)),
    }
}
