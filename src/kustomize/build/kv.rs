//! The keys and values that generators put into config maps and secrets.
//!
//! Source: kustomize `api/kv/kv.go`, `api/internal/generators/utils.go`.

use std::collections::HashSet;

use super::context::Context;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::Text;
use crate::kustomize::origin::Origin;
use crate::kustomize::source_tree::SourceFile;
use crate::kustomize::types::Located;

/// The longest line of a file of `key=value` lines; Go's scanner stops silently at a longer one.
const LONGEST_LINE: usize = 65_535;

/// A key and its value, which need not be text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The key.
    pub(crate) key: Text,
    /// The value.
    pub(crate) value: Vec<u8>,
    /// Where the value stands.
    pub(crate) origin: Origin,
}

/// Where the pairs of one generator come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    /// Files of `key=value` lines.
    pub(crate) envs: &'a [Located],
    /// `key=value` pairs.
    pub(crate) literals: &'a [Located],
    /// Files, as `path` or `key=path`.
    pub(crate) files: &'a [Located],
}

impl Sources<'_> {
    /// The pairs of all sources, sorted by key.
    ///
    /// # Errors
    /// For a source that cannot be read or parsed, and for a key that stands twice.
    pub(crate) fn load(&self, context: &Context<'_>) -> Result<Vec<Pair>, BuildError> {
        let mut pairs = Vec::new();
        for env in self.envs {
            let file = context.loader.load(env)?;
            pairs.append(&mut env_pairs(file)?);
        }
        for literal in self.literals {
            pairs.push(literal_pair(literal)?);
        }
        for source in self.files {
            let (key, path) = split_file_source(source)
                .map_err(|reason| refuse(format!("files: {reason}"), source.origin))?;
            let file = context.loader.load_path(path, source.origin)?;
            let origin = Origin::new(file.id, 1);
            pairs.push(Pair { key: key.into(), value: file.bytes.to_vec(), origin });
        }
        check_unique(&pairs)?;
        pairs.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(pairs)
    }
}

fn refuse(message: String, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Transformer, message).at(origin)
}

fn check_unique(pairs: &[Pair]) -> Result<(), BuildError> {
    let mut seen = HashSet::with_capacity(pairs.len());
    match pairs.iter().find(|pair| !seen.insert(&*pair.key)) {
        None => Ok(()),
        Some(twin) => {
            Err(refuse(format!("the key `{}` is given twice; keep one", twin.key), twin.origin))
        }
    }
}

fn literal_pair(literal: &Located) -> Result<Pair, BuildError> {
    match literal.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(Pair {
            key: key.into(),
            value: without_quotes(value).as_bytes().to_vec(),
            origin: literal.origin,
        }),
        _ => Err(refuse(
            format!("literals: `{literal}` is not of the form key=value"),
            literal.origin,
        )),
    }
}

/// The text without the quotes around it, if both ends have the same one.
fn without_quotes(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}

/// The key and the path of an entry of `files`.
fn split_file_source(source: &str) -> Result<(&str, &str), String> {
    match source.split_once('=') {
        None => Ok((base_name(source), source)),
        Some((_, path)) if path.contains('=') => {
            Err(format!("neither key nor path of `{source}` may contain `=`"))
        }
        Some(("", path)) => Err(format!("the key before `={path}` is missing")),
        Some((key, "")) => Err(format!("the path after `{key}=` is missing")),
        Some((key, path)) => Ok((key, path)),
    }
}

/// Go's `path.Base`.
fn base_name(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        trimmed => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

fn env_pairs(file: &SourceFile) -> Result<Vec<Pair>, BuildError> {
    let mut pairs = Vec::new();
    let bytes = file.bytes.strip_suffix(b"\n").unwrap_or(&file.bytes);
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        if line.len() > LONGEST_LINE {
            break;
        }
        let origin = Origin::new(file.id, number);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(refuse("the line is not UTF-8 text".to_owned(), origin));
        };
        let text = if number == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        pairs.extend(env_pair(text, origin));
    }
    Ok(pairs)
}

/// The pair of one line; `None` for a comment, an empty line and a line without a key.
fn env_pair(line: &str, origin: Origin) -> Option<Pair> {
    let line = line.trim_start();
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    if key.is_empty() || line.starts_with('#') {
        return None;
    }
    Some(Pair { key: key.into(), value: value.as_bytes().to_vec(), origin })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::origin::FileId;
    use std::sync::Arc;

    fn env(text: &[u8]) -> Vec<(String, String)> {
        let file = SourceFile::new(Arc::from("f"), FileId(1), Arc::from(text));
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let pairs = env_pairs(&file).unwrap();
        pairs.into_iter().map(|pair| (pair.key.to_string(), text(pair.value))).collect()
    }

    #[test]
    fn env_files_are_read_line_by_line() {
        let text = b"\xef\xbb\xbfA=1\r\n# note\n\n  B = x \nC\n=lost\nD=a=b\n\tE=\"q\"";
        let pairs = [("A", "1"), ("B ", " x "), ("C", ""), ("D", "a=b"), ("E", "\"q\"")];
        assert_eq!(env(text), pairs.map(|(k, v)| (k.to_owned(), v.to_owned())));
    }

    #[test]
    fn a_line_longer_than_gos_scanner_reads_ends_the_file() {
        let line = |length: usize| format!("A=1\nB={}\nC=2\n", "x".repeat(length - 2));
        assert_eq!(env(line(65_535).as_bytes()).len(), 3);
        assert_eq!(env(line(65_536).as_bytes()).len(), 1);
    }

    #[test]
    fn sources_are_split_at_their_only_equals_sign() {
        assert_eq!(split_file_source("a/b.txt"), Ok(("b.txt", "a/b.txt")));
        assert_eq!(split_file_source("k=a/b.txt"), Ok(("k", "a/b.txt")));
        for source in ["=a", "k=", "k=a=b"] {
            assert!(split_file_source(source).is_err(), "{source}");
        }
        assert_eq!(without_quotes("'a'"), "a");
        assert_eq!(without_quotes("\"a'"), "\"a'");
        assert_eq!(without_quotes("'"), "'");
    }
}
