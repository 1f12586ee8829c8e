//! Who else builds on what was edited: the edit reaches them too.

use crate::discover::{DiskFiles, shown_directory};
use crate::error::Error;
use crate::kustomize::SourceTree;
use crate::ops::list;
use crate::ops::preflight::Editable;
use crate::plan::Note;
use crate::report::change::{OverlayReport, Status};

/// Names, in the report of each overlay that changes, the others that build on the directory edited. The
/// repository is looked through once, and only where something changes; `tree` is as for [`list::Users::load`].
///
/// # Errors
/// Where the repository cannot be looked through.
pub(in crate::ops) fn note_users(
    tree: SourceTree,
    files: &DiskFiles,
    editable: &[Editable],
    overlays: &mut [OverlayReport],
) -> Result<(), Error> {
    let is_changed = |overlay: &OverlayReport| overlay.status == Status::Changed;
    if !overlays.iter().any(is_changed) {
        return Ok(());
    }
    let Some(mut users) = list::Users::load(tree, files)? else {
        let message = "the repository holds too many kustomizations to see who else builds on this";
        let note = Note { code: "users-not-sought", message: message.to_owned() };
        overlays
            .iter_mut()
            .filter(|o| is_changed(o))
            .take(1)
            .for_each(|o| o.notes.push(note.clone()));
        return Ok(());
    };
    for (edited, overlay) in editable.iter().zip(overlays).filter(|(_, o)| is_changed(o)) {
        let others = users.of(&edited.located.directory).into_iter();
        let others = others.map(|directory| shown_directory(&directory));
        overlay.affects = others.filter(|other| *other != overlay.path).collect();
    }
    Ok(())
}
