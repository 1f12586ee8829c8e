//! Patterns such as `overlays/*`, expanded here so that they mean the same in every shell.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::DiscoverError;
use super::locate::{KUSTOMIZATION_NAMES, kustomization_names, shown};

/// Most directory entries that one pattern looks at.
const VISIT_LIMIT: usize = 200_000;

/// Whether `typed` has a character that is special in a pattern.
pub(super) fn is_pattern(typed: &OsStr) -> bool {
    typed.to_string_lossy().contains(['*', '?', '[', '{'])
}

/// One step of a pattern.
enum Step {
    Literal(OsString),
    Name { matcher: GlobMatcher, hidden: bool },
    AnyDepth,
}

/// The directories with a kustomization file (or the kustomization files) that `pattern` matches,
/// by name; relative to `cwd` where the pattern is.
pub(super) fn expand(cwd: &Path, pattern: &Path) -> Result<Vec<PathBuf>, DiscoverError> {
    let steps = parse(pattern)?;
    let mut walk = Walk { cwd, pattern, found: Vec::new(), visits: 0 };
    walk.descend(PathBuf::new(), &steps)?;
    walk.found.sort();
    walk.found.dedup();
    match walk.found.is_empty() {
        true => Err(DiscoverError::NoMatch { pattern: shown(pattern) }),
        false => Ok(walk.found),
    }
}

fn parse(pattern: &Path) -> Result<Vec<Step>, DiscoverError> {
    pattern
        .components()
        .map(|component| match component {
            Component::Normal(name) if name == "**" => Ok(Step::AnyDepth),
            Component::Normal(name) if is_pattern(name) => parse_name(pattern, name),
            other => Ok(Step::Literal(other.as_os_str().to_owned())),
        })
        .collect()
}

fn parse_name(pattern: &Path, name: &OsStr) -> Result<Step, DiscoverError> {
    let name = name.to_str().ok_or_else(|| DiscoverError::NotUtf8 { shown: shown(pattern) })?;
    let glob = GlobBuilder::new(name).literal_separator(true).build().map_err(|error| {
        DiscoverError::BadPattern { pattern: shown(pattern), reason: error.kind().to_string() }
    })?;
    Ok(Step::Name { matcher: glob.compile_matcher(), hidden: name.starts_with('.') })
}

struct Walk<'a> {
    cwd: &'a Path,
    pattern: &'a Path,
    found: Vec<PathBuf>,
    visits: usize,
}

impl Walk<'_> {
    fn descend(&mut self, at: PathBuf, steps: &[Step]) -> Result<(), DiscoverError> {
        let Some((step, rest)) = steps.split_first() else {
            self.accept(at);
            return Ok(());
        };
        match step {
            Step::Literal(name) => {
                let next = at.join(name);
                match self.cwd.join(&next).exists() {
                    true => self.descend(next, rest),
                    false => Ok(()),
                }
            }
            Step::Name { matcher, hidden } => {
                for name in self.names(&at)? {
                    if (*hidden || !is_hidden(&name)) && matcher.is_match(Path::new(&name)) {
                        self.descend(at.join(name), rest)?;
                    }
                }
                Ok(())
            }
            Step::AnyDepth => {
                self.descend(at.clone(), rest)?;
                for name in self.names(&at)? {
                    let below = at.join(&name);
                    if !is_hidden(&name) && is_own_directory(&self.cwd.join(&below)) {
                        self.descend(below, steps)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn accept(&mut self, at: PathBuf) {
        let absolute = self.cwd.join(&at);
        let is_file = at.file_name().is_some_and(|name| {
            KUSTOMIZATION_NAMES.iter().any(|known| name == *known) && absolute.is_file()
        });
        if is_file || !kustomization_names(&absolute).is_empty() {
            self.found.push(at);
        }
    }

    fn names(&mut self, at: &Path) -> Result<Vec<OsString>, DiscoverError> {
        let Ok(entries) = fs::read_dir(self.cwd.join(at)) else { return Ok(Vec::new()) };
        let names: Vec<OsString> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.file_name())
            .take(VISIT_LIMIT + 1)
            .collect();
        self.visits += names.len();
        if self.visits > VISIT_LIMIT {
            let reason = format!("looks at more than {VISIT_LIMIT} files");
            return Err(DiscoverError::BadPattern { pattern: shown(self.pattern), reason });
        }
        Ok(names)
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// A directory that is no link: `**` follows none, so that it ends.
fn is_own_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}
