//! Texts that an argument points at: given outright, in a file, or on standard input.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, codes};

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

/// Loads what the value of `option` points at: `@FILE` (relative to `cwd`), `-` for standard input, else the value itself.
///
/// # Errors
/// A missing file is [`codes::NO_SUCH_FILE`]; one that is not UTF-8 or too large is [`codes::USAGE`].
pub fn load(cwd: &Path, option: &str, value: &str) -> Result<Input, Error> {
    if value == "-" {
        return read("standard input", std::io::stdin().lock());
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
    let name = file.display().to_string();
    let missing = |e: std::io::Error| Error::new(codes::NO_SUCH_FILE, format!("{name}: {e}"));
    read(&name, std::fs::File::open(cwd.join(file)).map_err(missing)?)
}

fn read(name: &str, from: impl Read) -> Result<Input, Error> {
    let mut bytes = Vec::new();
    let failed = |e: std::io::Error| Error::new(codes::NO_SUCH_FILE, format!("{name}: {e}"));
    from.take(LIMIT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Error::new(codes::USAGE, format!("{name}: more than {LIMIT} bytes")));
    }
    let not_utf8 = |_| Error::new(codes::USAGE, format!("{name}: not UTF-8"));
    let text = String::from_utf8(bytes).map_err(not_utf8)?;
    Ok(Input { name: name.to_owned(), text })
}
