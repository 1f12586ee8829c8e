//! Texts that an argument points at: given outright, in a file, or on standard input.

use std::io::Read;
use std::path::Path;

use crate::change::{DigestsError, Pin, parse_digests};
use crate::error::{Error, codes};
use crate::{hint, shell};

/// Most bytes that are read from a file or standard input.
const LIMIT: u64 = 16 * 1024 * 1024;

/// A text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// What to call it in a message: the option, the file, or `standard input`.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Input {
    /// The pins of a JSON object of names and digests; `cwd` is where a forgotten `@` is looked for.
    ///
    /// # Errors
    /// As [`parse_digests`]; JSON that is broken names where it came from.
    pub fn to_pins(&self, cwd: &Path) -> Result<Vec<Pin>, Error> {
        parse_digests(&self.text).map_err(|error| match error {
            DigestsError::Json { line, column, reason } => {
                self.broken_json(cwd, &format!("line {line}, column {column}: {reason}"))
            }
            other => other.into(),
        })
    }

    fn broken_json(&self, cwd: &Path, what: &str) -> Error {
        let error = Error::new(codes::USAGE, format!("the JSON of {}: {what}", self.name));
        let is_file = self.name.starts_with("--") && cwd.join(&self.text).is_file();
        if is_file {
            error.hint(format!("write `{} {}`", self.name, shell::word(&format!("@{}", self.text))))
        } else {
            error
        }
    }
}

/// Advice where `typed`, in the place of something else, is a directory: a pattern that the shell expanded.
pub(super) fn hint_for_directory(cwd: &Path, typed: &str, error: Error) -> Error {
    if !typed.is_empty() && cwd.join(typed).is_dir() {
        let more = format!("{typed} is a directory: quote the pattern ('overlays/*'), or add");
        return error.hint(format!("{more} --overlay {}", shell::word(typed)));
    }
    error
}

/// Loads what the value of `option` points at: `@FILE` (relative to `cwd`), `-` for standard input, else the value itself.
///
/// # Errors
/// A missing file is [`codes::NO_SUCH_FILE`]; one that is not UTF-8 or too large is [`codes::USAGE`].
pub fn load(cwd: &Path, option: &str, value: &str) -> Result<Input, Error> {
    if value == "-" {
        return read("standard input", std::io::stdin().lock(), LIMIT);
    }
    let Some(file) = value.strip_prefix('@') else {
        return Ok(Input { name: option.to_owned(), text: value.to_owned() });
    };
    load_file(cwd, Path::new(file))
}

/// Loads `file`, relative to `cwd`.
///
/// # Errors
/// As [`load`].
pub fn load_file(cwd: &Path, file: &Path) -> Result<Input, Error> {
    load_file_within(cwd, file, LIMIT)
}

/// Loads `file`, relative to `cwd`, or standard input where it is `-`, at most `limit` bytes.
///
/// # Errors
/// As [`load`].
pub fn load_large(cwd: &Path, file: &Path, limit: u64) -> Result<Input, Error> {
    match file.to_str() {
        Some("-") => read("standard input", std::io::stdin().lock(), limit),
        _ => load_file_within(cwd, file, limit),
    }
}

fn load_file_within(cwd: &Path, file: &Path, limit: u64) -> Result<Input, Error> {
    if file.as_os_str().is_empty() {
        return Err(Error::new(codes::NO_SUCH_FILE, "the name of a file is empty"));
    }
    let name = file.display().to_string();
    let missing = |e: std::io::Error| {
        let plain = Error::new(codes::NO_SUCH_FILE, format!("{name}: {e}"));
        nearest_file(cwd, file).into_iter().fold(plain, Error::hint)
    };
    read(&name, std::fs::File::open(cwd.join(file)).map_err(missing)?, limit)
}

/// The files beside where `file` should be that have a name like it.
fn nearest_file(cwd: &Path, file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let entries = std::fs::read_dir(cwd.join(folder)).ok()?.take(1000).flatten();
    let names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = hint::nearest(file.file_name()?.to_str()?, names.iter().map(String::as_str), 3);
    let paths: Vec<String> =
        near.iter().map(|name| folder.join(name).display().to_string()).collect();
    hint::question(&paths)
}

/// A byte-order mark before the text is left out.
fn read(name: &str, from: impl Read, limit: u64) -> Result<Input, Error> {
    let mut bytes = Vec::new();
    let failed = |e: std::io::Error| Error::new(codes::NO_SUCH_FILE, format!("{name}: {e}"));
    from.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(Error::new(codes::USAGE, format!("{name}: more than {limit} bytes")));
    }
    let not_utf8 = |_| Error::new(codes::USAGE, format!("{name}: not UTF-8"));
    let text = String::from_utf8(bytes).map_err(not_utf8)?;
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    Ok(Input { name: name.to_owned(), text })
}
