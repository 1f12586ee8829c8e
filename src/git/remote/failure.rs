//! Why a remote could not be reached or did not take what it was given, told from the words of git and SSH (C locale).

use crate::git::call::{self, Answer};
use crate::git::error::GitError;

/// The error for an answer of the git program that is none.
pub(super) fn classify(remote: &str, what: &str, answer: &Answer) -> GitError {
    let remote = remote.to_owned();
    let message = answer.message();
    let has = |words: &[&str]| words.iter().any(|words| message.contains(words));
    if has(&AUTHENTICATION) {
        GitError::Authentication { remote, message }
    } else if has(&UNREACHABLE) {
        GitError::Unreachable { remote, message }
    } else if has(&MISSING) {
        GitError::RemoteMissing { remote, message }
    } else {
        call::failure(what.to_owned(), message)
    }
}

/// Whether git itself pushed nothing though the remote answered: a `pre-push` hook of the user's said no.
pub(super) fn is_refused_here(stderr: &str) -> bool {
    let is_reached = !AUTHENTICATION
        .iter()
        .chain(&UNREACHABLE)
        .chain(&MISSING)
        .any(|words| stderr.contains(words));
    is_reached && stderr.contains("failed to push some refs")
}

/// What git and SSH say (C locale) where credentials are missing or not taken.
const AUTHENTICATION: [&str; 9] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "terminal prompts disabled",
    "Permission denied (",
    "Host key verification failed",
    "returned error: 401",
    "returned error: 403",
    "invalid credentials",
];

/// What they say where no server answers.
const UNREACHABLE: [&str; 11] = [
    "Could not resolve",
    "Failed to connect",
    "Couldn't connect",
    "Connection refused",
    "Connection timed out",
    "Connection reset",
    "Operation too slow",
    "Operation timed out",
    "No route to host",
    "SSL",
    "certificate",
];

/// What they say where the server has no such repository.
const MISSING: [&str; 5] = [
    "does not appear to be a git repository",
    "not found",
    "does not exist",
    "returned error: 404",
    "is not a git repository",
];
