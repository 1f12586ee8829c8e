//! YAML files below a boundary that hold a word, wherever they are: manifests that no overlay lists.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::disk::slash_path;

/// Most files that are read.
const FILE_LIMIT: usize = 50_000;
/// Longest file that is read, in bytes: manifests written by people are short.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// Finds every `.yaml` and `.yml` file below `root` whose text holds `needle`: its path relative to
/// `root`, and its text, by path. Links are not followed, other repositories and `.git` not entered;
/// what cannot be read is left out.
#[must_use]
pub fn find_manifests(root: &Path, needle: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    let mut budget = FILE_LIMIT;
    while let Some(below) = pending.pop() {
        let absolute = root.join(&below);
        let is_other =
            !below.as_os_str().is_empty() && absolute.join(".git").symlink_metadata().is_ok();
        let entries = if is_other { None } else { fs::read_dir(&absolute).ok() };
        for entry in entries.into_iter().flatten().filter_map(Result::ok) {
            let path = below.join(entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && entry.file_name() != ".git" {
                pending.push(path);
            } else if kind.is_file() && is_yaml(&path) && budget > 0 {
                budget -= 1;
                found.extend(read_with(root, &path, needle));
            }
        }
    }
    found.sort();
    found
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

fn read_with(root: &Path, path: &Path, needle: &str) -> Option<(String, String)> {
    let absolute = root.join(path);
    if fs::metadata(&absolute).ok()?.len() > SIZE_LIMIT {
        return None;
    }
    let text = fs::read_to_string(absolute).ok().filter(|text| text.contains(needle))?;
    let parts: Vec<&OsStr> = path.iter().collect();
    Some((slash_path(&parts)?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_the_word_are_found_at_any_depth() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/b/app.yaml", "kind: Application"),
            ("c.yml", "kind: Application"),
            ("d.yaml", "kind: Service"),
            ("e.txt", "kind: Application"),
            (".git/f.yaml", "kind: Application"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = find_manifests(dir.path(), "Application");
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["a/b/app.yaml", "c.yml"]);
    }
}
