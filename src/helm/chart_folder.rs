//! A chart that helm unpacked: no link is followed, and its size is bounded.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use super::HelmError;
use crate::kustomize::ChartFiles;

/// The most files and directories that a chart may have.
const MAX_ENTRIES: usize = 10_000;
/// The most bytes that its files may have.
const MAX_BYTES: u64 = 64 << 20;

/// The files below `folder`.
///
/// # Errors
/// [`HelmError::BadChart`] where there is no such folder, or what is in it is no chart.
pub(super) fn read_chart(folder: &Path) -> Result<ChartFiles, HelmError> {
    let bad = |reason: String| HelmError::BadChart { reason };
    if !fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        return Err(bad(format!("it holds no chart of the name {name}")));
    }
    let mut files = Vec::new();
    let mut bytes = 0;
    let walked = walk(folder, &mut |path, name| {
        let mut content = Vec::new();
        let left = MAX_BYTES - bytes;
        bytes += fs::File::open(path)?.take(left + 1).read_to_end(&mut content)? as u64;
        if bytes > MAX_BYTES {
            return Err(io::Error::other(format!("larger than {} MiB", MAX_BYTES >> 20)));
        }
        files.push((name.to_owned(), Arc::from(content)));
        Ok(())
    });
    walked.map_err(|error| bad(error.to_string()))?;
    Ok(ChartFiles::new(files))
}

/// Says so once what is below `folder` is larger than any chart: the archive and what it holds.
pub(super) fn too_large(folder: &Path) -> Option<String> {
    let mut bytes = 0;
    let walked = walk(folder, &mut |path, _| {
        // A file that goes away while helm works is none.
        bytes += fs::symlink_metadata(path).map_or(0, |found| found.len());
        Ok(())
    });
    // A folder that goes away while helm works has nothing in it; too many files are too much.
    let is_crowded = walked.is_err_and(|error| error.kind() == io::ErrorKind::Other);
    (is_crowded || bytes > 2 * MAX_BYTES)
        .then(|| "the chart is larger than a chart may be".to_owned())
}

/// Calls `each` with every file below `folder`, its path and its name seen from there.
fn walk(folder: &Path, each: &mut dyn FnMut(&Path, &str) -> io::Result<()>) -> io::Result<()> {
    let mut entries = 0;
    let mut ahead = vec![(folder.to_path_buf(), String::new())];
    while let Some((directory, below)) = ahead.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(io::Error::other(format!("more than {MAX_ENTRIES} files")));
            }
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| io::Error::other("a name that is not UTF-8"))?;
            let (path, name) = (entry.path(), format!("{below}{name}"));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                ahead.push((path, format!("{name}/")));
            } else if kind.is_file() {
                each(&path, &name)?;
            }
        }
    }
    Ok(())
}
