//! What a delivery was about to do, so that the next run can finish it after a crash: a small file in the repository's own
//! folder, there from before the branch moves until checkout and index have followed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::clock;

use super::attributes::StoredFile;
use super::commit::Built;
use super::error::GitError;
use super::id::ObjectId;
use super::repository::Repository;
use super::tree::{Mode, TreeEntry};

const FILE: &str = "overlay-delivery.json";
const LOCK: &str = "overlay-delivery.lock";

/// A lock of git that is older than this, and younger than an interrupted delivery of ours, belongs to that delivery.
const STALE_AFTER: Duration = Duration::from_secs(2);

/// How the names of files begin that are not in place yet.
const STAGED: &str = "overlay-staged-";

/// How long git takes at most for one reference.
const ORPHAN_TIME: Duration = Duration::from_millis(500);

/// What is written down before a branch moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    /// The full name of the branch.
    pub(super) branch: String,
    old: String,
    new: String,
    /// Whether checkout and index have to follow.
    pub(super) is_checkout: bool,
    files: Vec<JournalFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct JournalFile {
    path: String,
    before: Option<(u32, String)>,
    after: Option<(u32, String)>,
    is_converted: bool,
}

impl Journal {
    pub(super) fn new(branch: &str, built: &Built, is_checkout: bool) -> Self {
        let pair =
            |entry: Option<TreeEntry>| entry.map(|entry| (entry.mode.bits(), entry.id.to_string()));
        let files = built.files.iter().map(|file| JournalFile {
            path: file.path.clone(),
            before: pair(file.before),
            after: pair(file.after),
            is_converted: file.is_converted,
        });
        Self {
            version: 1,
            branch: branch.to_owned(),
            old: built.base.to_string(),
            new: built.id.to_string(),
            is_checkout,
            files: files.collect(),
        }
    }

    /// The commit that the branch was to hold.
    pub(super) fn new_commit(&self) -> Option<ObjectId> {
        self.new.parse().ok()
    }

    /// The files that were to follow.
    pub(super) fn files(&self) -> Option<Vec<StoredFile>> {
        let entry = |pair: &Option<(u32, String)>| match pair {
            None => Some(None),
            Some((bits, id)) => {
                Some(Some(TreeEntry { mode: Mode::from_bits(*bits)?, id: id.parse().ok()? }))
            }
        };
        let file = |file: &JournalFile| {
            Some(StoredFile {
                path: file.path.clone(),
                before: entry(&file.before)?,
                after: entry(&file.after)?,
                is_converted: file.is_converted,
            })
        };
        self.files.iter().map(file).collect()
    }
}

/// Held while a delivery changes this work tree's branch, checkout and index; ends with the process, however that ends.
pub(super) struct DeliveryLock {
    folder: PathBuf,
    _lock: File,
}

impl DeliveryLock {
    /// Waits for other deliveries of this work tree, at most `allowed`.
    pub(super) fn take(repository: &Repository, allowed: Duration) -> Result<Self, GitError> {
        let folder = repository.git_dir().to_owned();
        let path = folder.join(LOCK);
        let wrong = |e: io::Error| GitError::Io { path: path.clone(), reason: e.to_string() };
        let file = File::options().create(true).append(true).open(&path).map_err(wrong)?;
        let deadline = clock::Deadline::after(allowed);
        while file.try_lock().is_err() {
            if deadline.is_over() {
                return Err(GitError::Locked {
                    message: "another delivery of this work tree runs".to_owned(),
                });
            }
            clock::sleep(Duration::from_millis(20));
        }
        Ok(Self { folder, _lock: file })
    }

    /// Writes the journal, whole or not at all.
    pub(super) fn write(&self, journal: &Journal) -> Result<(), GitError> {
        let path = self.folder.join(FILE);
        let text = serde_json::to_vec(journal).unwrap_or_default();
        write_whole(&path, &text, None, &self.folder)
            .map_err(|e| GitError::Io { path, reason: e.to_string() })
    }

    /// The journal of a delivery that did not end; one that cannot be read was never whole, and so nothing followed it.
    pub(super) fn read(&self) -> Option<Journal> {
        let bytes = std::fs::read(self.folder.join(FILE)).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|journal: &Journal| journal.version == 1)
    }

    /// Nothing is left to finish.
    pub(super) fn clear(&self) -> Result<(), GitError> {
        remove(&self.folder.join(FILE))
    }

    /// Removes what an interrupted delivery had written and not yet put in place.
    pub(super) fn remove_staged(&self) -> Result<(), GitError> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_staged = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with(STAGED);
        entries
            .filter(|entry| is_staged(&entry.file_name()))
            .try_for_each(|entry| remove(&entry.path()))
    }

    /// A git that the interrupted delivery had started may outlive it for a moment, and still move the branch.
    pub(super) fn wait_for_orphans(&self) {
        let age = modified(&self.folder.join(FILE)).and_then(|made| made.elapsed().ok());
        if let Some(left) = age.and_then(|age| ORPHAN_TIME.checked_sub(age)) {
            clock::sleep(left);
        }
    }

    /// Removes locks of git that the interrupted delivery left: made after its journal, and old enough that no living
    /// command of ours holds them.
    pub(super) fn break_stale_locks(
        &self,
        repository: &Repository,
        branch: &str,
    ) -> Result<(), GitError> {
        let Some(begun) = modified(&self.folder.join(FILE)) else { return Ok(()) };
        let own = ["index.lock", "HEAD.lock"].map(|name| repository.git_dir().join(name));
        let shared = [format!("{branch}.lock"), "packed-refs.lock".to_owned()]
            .map(|name| repository.common_dir().join(name));
        for lock in own.into_iter().chain(shared) {
            let deadline = clock::Deadline::after(STALE_AFTER * 2);
            while let Some(made) = modified(&lock).filter(|made| *made >= begun) {
                if made.elapsed().is_ok_and(|age| age >= STALE_AFTER) {
                    remove(&lock)?;
                } else if deadline.is_over() {
                    break;
                } else {
                    clock::sleep(Duration::from_millis(50));
                }
            }
        }
        Ok(())
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// A file that has gone already is as good as removed.
pub(super) fn remove(path: &Path) -> Result<(), GitError> {
    // Dropping a temporary path removes the file.
    match tempfile::TempPath::try_from_path(path).and_then(tempfile::TempPath::close) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(GitError::Io { path: path.to_owned(), reason: e.to_string() })
        }
        _ => Ok(()),
    }
}

/// Puts a file in place by one rename, with these permissions or those of a new file. It is written in the folder `staging`
/// first, where a crash leaves it out of sight; beside its place where that is on another file system.
pub(super) fn write_whole(
    path: &Path,
    bytes: &[u8],
    permissions: Option<std::fs::Permissions>,
    staging: &Path,
) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no directory"))?;
    std::fs::create_dir_all(folder)?;
    let staged = stage(bytes, permissions.clone(), staging)?;
    match staged.persist(path) {
        Err(e) if e.error.kind() == io::ErrorKind::CrossesDevices => {
            stage(bytes, permissions, folder)?.persist(path).map(|_| ()).map_err(|e| e.error)
        }
        persisted => persisted.map(|_| ()).map_err(|e| e.error),
    }
}

fn stage(
    bytes: &[u8],
    permissions: Option<std::fs::Permissions>,
    folder: &Path,
) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file, the user's mask takes away what is not to be there.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}
