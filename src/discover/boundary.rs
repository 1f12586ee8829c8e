//! The boundary: the git work tree that contains an overlay, found without asking git.

use std::fs;
use std::path::{Path, PathBuf};

/// The nearest directory at or above `dir` that holds a git work tree, or `None`.
///
/// A work tree holds `.git`: a directory with a `HEAD`, or a file that begins with `gitdir:` (a
/// linked work tree or a submodule; gitrepository-layout(5)). An empty `.git` directory is none.
pub fn find_work_tree(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().find(|dir| holds_git(&dir.join(".git"))).map(Path::to_path_buf)
}

fn holds_git(git: &Path) -> bool {
    match fs::metadata(git) {
        Ok(meta) if meta.is_dir() => git.join("HEAD").symlink_metadata().is_ok(),
        Ok(meta) if meta.is_file() => begins_with_gitdir(git),
        _ => false,
    }
}

fn begins_with_gitdir(file: &Path) -> bool {
    use std::io::Read as _;
    let mut head = [0u8; 7];
    fs::File::open(file).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && &head == b"gitdir:"
}
