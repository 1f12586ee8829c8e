//! `overlay lock`.

use std::ffi::OsString;

use clap::Args;

use crate::ops::lock::{LockRequest, Mode};

/// Write down in `overlay.lock` which commit each tag and branch of a remote base stands for.
///
/// A reference that the file holds is built from that commit, whatever the remote says later: the same
/// everywhere, and with --offline wherever the cache has it. What is locked stays until --update, and a
/// tag that moved meanwhile is told. `overlay bump` keeps the file of a repository that has one. Kustomize
/// and Argo CD do not read it: for them a reference is what its tag or branch is.
#[derive(Clone, Debug, Args)]
pub(crate) struct LockArgs {
    /// Lock what these overlays stand on: directories, kustomization files in them, or quoted patterns; if
    /// none is given, what all of the repository stands on, and drop what nothing uses.
    #[arg(value_name = "OVERLAY")]
    overlays: Vec<OsString>,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    more: Vec<OsString>,

    /// Take what each tag and branch is now, in place of what is locked.
    #[arg(long, conflicts_with = "check")]
    update: bool,

    /// Ask whether everything is locked and every tag is still where it was; exit 7 if not.
    #[arg(long)]
    check: bool,

    /// Show what would be written; write nothing.
    #[arg(long, conflicts_with = "check")]
    dry_run: bool,
}

impl LockArgs {
    /// The request.
    pub(crate) fn to_request(&self) -> LockRequest {
        let mode = match (self.check, self.dry_run) {
            (true, _) => Mode::Check,
            (_, true) => Mode::DryRun,
            _ => Mode::Write,
        };
        let overlays = self.overlays.iter().chain(&self.more).cloned().collect();
        LockRequest { overlays, mode, update: self.update }
    }
}
