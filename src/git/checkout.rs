//! Moving a branch to a new commit, and letting checkout and index follow for just the files that changed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::attributes::StoredFile;
use super::commit::Built;
use super::error::GitError;
use super::id::ObjectId;
use super::journal::{DeliveryLock, Journal, remove, write_whole};
use super::objects::Kind;
use super::repository::Repository;
use super::revision_files::{Found, MAX_FILE_BYTES};
use super::tree::{Mode, TreeEntry};

/// How long other deliveries of the same work tree are waited for.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// Checks that these paths are, in checkout and index, as `HEAD` has them.
///
/// # Errors
/// [`GitError::Dirty`] names those that are not.
pub fn require_clean(repository: &Repository, paths: &[&str]) -> Result<(), GitError> {
    if repository.work_tree().is_none() || paths.is_empty() {
        return Ok(());
    }
    let args = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignored=traditional",
        "--no-renames",
        "--ignore-submodules=all",
        "--",
    ];
    let bytes = repository.git().run(args.into_iter().chain(paths.iter().copied())).bytes()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let dirty: BTreeSet<&str> = text.split('\0').filter_map(|record| record.get(3..)).collect();
    // An ignored directory stands for all below it.
    let is_dirty =
        |path: &&str| dirty.iter().any(|d| d == path || (d.ends_with('/') && path.starts_with(d)));
    let differing = differing(repository, paths)?;
    let is_changed = |path: &&str| is_dirty(path) || differing.contains(*path);
    let paths: Vec<String> = paths.iter().copied().filter(is_changed).map(str::to_owned).collect();
    if paths.is_empty() { Ok(()) } else { Err(GitError::Dirty { paths }) }
}

/// Those whose bytes on disk are not what `HEAD` has, whatever the index says of them: git takes a file marked
/// `assume-unchanged` for clean without a look. What a sparse checkout leaves out is not looked at.
fn differing<'a>(
    repository: &Repository,
    paths: &[&'a str],
) -> Result<BTreeSet<&'a str>, GitError> {
    let (Some(top), Ok(head)) = (repository.work_tree(), repository.resolve("HEAD")) else {
        return Ok(BTreeSet::new());
    };
    let files = repository.files_of(head)?;
    let absent = skipped(repository, paths.iter().copied())?;
    let mut differing = BTreeSet::new();
    for path in paths.iter().copied().filter(|path| !absent.contains(*path)) {
        let Ok(Some(Found { real, entry })) = files.find(path) else { continue };
        let is_followed = real == path && entry.mode.is_file();
        if is_followed && !is_on_disk(repository, &top.join(path), path, entry)? {
            differing.insert(path);
        }
    }
    Ok(differing)
}

/// Whether a regular file stands there that `git add` would store as `entry`.
fn is_on_disk(
    repository: &Repository,
    file: &Path,
    path: &str,
    entry: TreeEntry,
) -> Result<bool, GitError> {
    if !file.symlink_metadata().is_ok_and(|data| data.is_file()) {
        return Ok(false);
    }
    let io = |e: std::io::Error| GitError::Io { path: file.to_owned(), reason: e.to_string() };
    let bytes = std::fs::read(file).map_err(io)?;
    if repository.objects().read(entry.id, Kind::Blob, MAX_FILE_BYTES)? == bytes {
        return Ok(true);
    }
    let as_path = format!("--path={path}");
    let stored = repository.git().run(["hash-object", "--stdin", &as_path]).stdin(&bytes);
    Ok(stored.object_id()? == entry.id)
}

/// The full name of a branch given by its short or full name.
///
/// # Errors
/// [`GitError::BadBranchName`] where git takes it for none.
pub fn branch_reference(repository: &Repository, name: &str) -> Result<String, GitError> {
    let full = if name.starts_with("refs/heads/") {
        name.to_owned()
    } else {
        format!("refs/heads/{name}")
    };
    let short = full.trim_start_matches("refs/heads/");
    let is_safe = !short.starts_with('-') && short != "HEAD" && !short.is_empty();
    if is_safe && repository.git().run(["check-ref-format", &full]).answer()?.is_success {
        return Ok(full);
    }
    Err(GitError::BadBranchName { name: name.to_owned() })
}

/// Moves `branch` (a full name) from `old` (`None`: it must not exist) to the commit. Checkout and index are not touched.
///
/// # Errors
/// [`GitError::Moved`] where the branch is not at `old`; [`GitError::CheckedOutElsewhere`].
pub fn move_branch(
    repository: &Repository,
    branch: &str,
    old: Option<ObjectId>,
    built: &Built,
) -> Result<(), GitError> {
    require_not_checked_out(repository, branch)?;
    let lock = DeliveryLock::take(repository, LOCK_WAIT)?;
    finish(repository, &lock)?;
    lock.write(&Journal::new(branch, built, false))?;
    let moved = update_reference(repository, &lock, branch, old, built);
    settle(&lock, moved)
}

/// Nothing is left to finish where the branch moved, or where it was found elsewhere or locked; any other end of git may have
/// left a lock behind, which the journal lets the next run remove.
fn settle(lock: &DeliveryLock, moved: Result<(), GitError>) -> Result<(), GitError> {
    if matches!(moved, Ok(()) | Err(GitError::Moved { .. } | GitError::Locked { .. })) {
        lock.clear()?;
    }
    moved
}

/// Moves the branch that is checked out from the commit's base to the commit; checkout and index follow for the files it changes.
///
/// # Errors
/// [`GitError::Detached`], [`GitError::Dirty`], [`GitError::Moved`]; then nothing has changed.
pub fn advance_current_branch(repository: &Repository, built: &Built) -> Result<String, GitError> {
    let lock = DeliveryLock::take(repository, LOCK_WAIT)?;
    finish(repository, &lock)?;
    let branch = repository.current_branch()?.ok_or(GitError::Detached)?;
    let paths: Vec<&str> = built.files.iter().map(|file| file.path.as_str()).collect();
    require_clean(repository, &paths)?;
    let has_checkout = repository.work_tree().is_some();
    if has_checkout {
        require_unlocked_index(repository)?;
    }
    lock.write(&Journal::new(&branch, built, has_checkout))?;
    let moved = update_reference(repository, &lock, &branch, Some(built.base), built);
    if moved.is_err() {
        return settle(&lock, moved).map(|()| branch);
    }
    if has_checkout {
        follow(repository, &built.files)?;
    }
    lock.clear()?;
    Ok(branch)
}

/// A branch does not move where the index cannot follow.
fn require_unlocked_index(repository: &Repository) -> Result<(), GitError> {
    let lock = repository.git_dir().join("index.lock");
    if lock.exists() {
        return Err(GitError::Locked { message: format!("{} exists", lock.display()) });
    }
    Ok(())
}

/// Finishes what an interrupted delivery of this work tree left: where the branch has moved, checkout and index follow.
/// Returns whether there was something to finish.
///
/// # Errors
/// As git says; running it again tries again.
pub fn finish_interrupted(repository: &Repository) -> Result<bool, GitError> {
    if !repository.git_dir().join("overlay-delivery.json").exists() {
        return Ok(false);
    }
    let lock = DeliveryLock::take(repository, LOCK_WAIT)?;
    finish(repository, &lock)
}

fn finish(repository: &Repository, lock: &DeliveryLock) -> Result<bool, GitError> {
    let Some(journal) = lock.read() else { return Ok(false) };
    lock.wait_for_orphans();
    lock.remove_staged()?;
    lock.break_stale_locks(repository, &journal.branch)?;
    let has_moved =
        journal.is_checkout && repository.reference(&journal.branch)? == journal.new_commit();
    if has_moved && repository.current_branch()?.as_deref() == Some(journal.branch.as_str()) {
        let unfinished = journal.files().unwrap_or_default();
        let left = still_as_before(repository, unfinished)?;
        follow(repository, &left)?;
    }
    lock.clear()?;
    Ok(true)
}

/// Those files whose checkout is old or new; whatever a person did to the others since is theirs.
fn still_as_before(
    repository: &Repository,
    files: Vec<StoredFile>,
) -> Result<Vec<StoredFile>, GitError> {
    let Some(top) = repository.work_tree() else { return Ok(Vec::new()) };
    let mut left = Vec::new();
    for file in files {
        let found = std::fs::read(top.join(&file.path)).ok();
        let is_ours = found == checkout_bytes(repository, &file, file.before)?
            || found == checkout_bytes(repository, &file, file.after)?;
        if is_ours {
            left.push(file);
        }
    }
    Ok(left)
}

fn update_reference(
    repository: &Repository,
    lock: &DeliveryLock,
    branch: &str,
    old: Option<ObjectId>,
    built: &Built,
) -> Result<(), GitError> {
    let (new, subject) = (built.id, &built.subject);
    let expected = old.unwrap_or_else(|| new.zero_like());
    let reason = format!("overlay: {subject}");
    let new_id = new;
    let (new, expected) = (new.to_string(), expected.to_string());
    let args = ["update-ref", "--create-reflog", "-m", &reason, branch, &new, &expected];
    let answer = repository.git().run(args).answer()?;
    if answer.is_success {
        return Ok(());
    }
    let message = answer.message();
    let found = repository.reference(branch)?;
    if found == Some(new_id) {
        // Git was ended after the branch had moved; what it had locked beside stays locked.
        return lock.break_stale_locks(repository, branch);
    }
    if found != old {
        let name = |id: Option<ObjectId>| id.map_or_else(|| "nothing".to_owned(), |id| id.short());
        return Err(GitError::Moved {
            branch: short_name(branch).to_owned(),
            expected: name(old),
            found: name(found),
        });
    }
    Err(super::call::failure("update-ref".to_owned(), message))
}

/// `main` for `refs/heads/main`.
pub fn short_name(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

fn require_not_checked_out(repository: &Repository, branch: &str) -> Result<(), GitError> {
    let text = repository.git().run(["worktree", "list", "--porcelain"]).text()?;
    let mut worktree = "";
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("worktree", path)) => worktree = path,
            Some(("branch", name)) if name == branch => {
                return Err(GitError::CheckedOutElsewhere {
                    branch: short_name(branch).to_owned(),
                    worktree: worktree.into(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checkout first, index after it: until the index has followed, git shows the truth (staged: not yet).
fn follow(repository: &Repository, files: &[StoredFile]) -> Result<(), GitError> {
    if files.is_empty() {
        return Ok(());
    }
    let absent = skipped(repository, files.iter().map(|file| file.path.as_str()))?;
    let present: Vec<&StoredFile> =
        files.iter().filter(|file| !absent.contains(&file.path)).collect();
    for file in &present {
        write_checkout(repository, file)?;
    }
    update_index(repository, files)?;
    let list = |paths: &mut dyn Iterator<Item = &str>| {
        paths.map(|path| format!("{path}\0")).collect::<String>()
    };
    if !absent.is_empty() {
        let paths = list(&mut absent.iter().map(String::as_str));
        repository
            .git()
            .run(["update-index", "--skip-worktree", "-z", "--stdin"])
            .stdin(paths.as_bytes())
            .bytes()?;
    }
    let paths = list(
        &mut present.iter().filter(|file| file.after.is_some()).map(|file| file.path.as_str()),
    );
    if !paths.is_empty() {
        let args = [
            "add",
            "--refresh",
            "--ignore-errors",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        repository.git().run(args).stdin(paths.as_bytes()).bytes()?;
    }
    Ok(())
}

/// Files that a sparse checkout leaves out: the index has them, the work tree has not.
fn skipped<'a>(
    repository: &Repository,
    paths: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>, GitError> {
    let bytes =
        repository.git().run(["ls-files", "-t", "-z", "--"].into_iter().chain(paths)).bytes()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(text.split('\0').filter_map(|record| record.strip_prefix("S ")).map(str::to_owned).collect())
}

fn update_index(repository: &Repository, files: &[StoredFile]) -> Result<(), GitError> {
    let mut lines = String::new();
    for file in files {
        match (file.after, file.before) {
            (Some(entry), _) => {
                lines.push_str(&format!("{:o} {}\t{}\0", entry.mode.bits(), entry.id, file.path))
            }
            (None, Some(gone)) => {
                lines.push_str(&format!("0 {}\t{}\0", gone.id.zero_like(), file.path))
            }
            (None, None) => {}
        }
    }
    repository
        .git()
        .run(["update-index", "-z", "--index-info"])
        .stdin(lines.as_bytes())
        .bytes()
        .map(|_| ())
}

fn write_checkout(repository: &Repository, file: &StoredFile) -> Result<(), GitError> {
    let Some(top) = repository.work_tree() else { return Ok(()) };
    let path = top.join(&file.path);
    let Some(bytes) = checkout_bytes(repository, file, file.after)? else {
        remove(&path)?;
        leave_none_empty(top, &path);
        return Ok(());
    };
    let permissions = std::fs::symlink_metadata(&path).map(|data| data.permissions()).ok();
    write_whole(
        &path,
        &bytes,
        permissions.or_else(|| permissions_of(file.after)),
        repository.git_dir(),
    )
    .map_err(|e| GitError::Io { path, reason: e.to_string() })
}

/// As git does, no directory stays that a file left empty.
fn leave_none_empty(top: &Path, gone: &Path) {
    let above = gone.ancestors().skip(1).take_while(|directory| *directory != top);
    for directory in above {
        if std::fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

#[cfg(unix)]
fn permissions_of(entry: Option<TreeEntry>) -> Option<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let is_executable = entry.is_some_and(|entry| entry.mode == Mode::Executable);
    is_executable.then(|| std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn permissions_of(_: Option<TreeEntry>) -> Option<std::fs::Permissions> {
    None
}

/// What a checkout shows for a blob: line ends and encoding as the attributes say.
fn checkout_bytes(
    repository: &Repository,
    file: &StoredFile,
    entry: Option<TreeEntry>,
) -> Result<Option<Vec<u8>>, GitError> {
    let Some(entry) = entry else { return Ok(None) };
    if !file.is_converted {
        return repository.objects().read(entry.id, Kind::Blob, MAX_FILE_BYTES).map(Some);
    }
    let path = format!("--path={}", file.path);
    repository.git().run(["cat-file", "--filters", &path, &entry.id.to_string()]).bytes().map(Some)
}
