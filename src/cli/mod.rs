//! Arguments: structs, their documentation, and the conversion to requests.

use std::ffi::OsString;
use std::process::ExitCode;

/// Parses `args` (the program name first), runs the command and returns its exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let _ = args.into_iter();
    ExitCode::from(2)
}
