//! Results written below a folder that the user named: made where it is missing, a file at a time,
//! each whole or not at all. Nothing is kept for an undo.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::{WriteError, new_file_permissions, tree};

/// Writes `bytes` to `path` (`/` between its parts) below `folder`, with the directories it needs;
/// whether that changed anything.
///
/// # Errors
/// [`WriteError`] where a link leads out of the folder, something else than a file stands there, or
/// the operating system says no.
pub fn write_below(folder: &Path, path: &str, bytes: &[u8]) -> Result<bool, WriteError> {
    let failed = |source| WriteError::Failed { path: path.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let target = tree::own_path(folder, path).map_err(failed)?;
    let parent = target.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(failed)?;
    let target = super::own_target(folder, path)?;
    match fs::read(&target) {
        Ok(now) if now == bytes => return Ok(false),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    replace(&target, bytes).map_err(failed)?;
    Ok(true)
}

/// Moves the finished directory `from` to `to`, in place of what stands there: whoever looks sees the
/// old one, none, or the new one, and never half of one. Both are in one file system.
///
/// # Errors
/// Where the operating system says no, or another process was faster each time.
pub fn place_folder(from: &Path, to: &Path) -> io::Result<()> {
    const TRIES: usize = 5;
    let mut outcome = Ok(());
    for _ in 0..TRIES {
        match fs::remove_dir_all(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => outcome = rename(from, to),
        }
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

#[allow(clippy::disallowed_methods, reason = "`write` is the one place")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(".overlay-").suffix(".tmp").tempfile_in(parent)?;
    file.write_all(bytes)?;
    if let Some(permissions) = new_file_permissions() {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target).map(drop).map_err(|e| e.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_already_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new/folder");
        assert!(write_below(&folder, "a/b.yaml", b"x").unwrap());
        assert!(!write_below(&folder, "a/b.yaml", b"x").unwrap());
        assert!(write_below(&folder, "a/b.yaml", b"y").unwrap());
        assert_eq!(fs::read(folder.join("a/b.yaml")).unwrap(), b"y");
    }

    #[test]
    fn a_folder_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        write_below(&to, "old", b"1").unwrap();
        write_below(&from, "new/file", b"2").unwrap();
        place_folder(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("new/file")).unwrap(), b"2");
        assert!(!to.join("old").exists() && !from.exists());
        assert!(place_folder(&from, &dir.path().join("none")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out_of_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
        for path in ["up/x.yaml", "../x.yaml", "/x.yaml"] {
            assert!(write_below(&folder, path, b"x").is_err(), "{path}");
        }
        assert!(!dir.path().join("x.yaml").exists());
    }
}
