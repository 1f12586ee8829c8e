//! `docker-credential-NAME get`: the programs that keep credentials, by Docker's protocol (docker-credential-helpers).

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::{Credential, Environment, Login};
use crate::http::Secret;
use crate::process::{self, Program};
use crate::registry::RegistryError;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// The credential that the helper `name` has for `server`; `None` where it has none.
///
/// It is found by name in `PATH` and runs at `/`, so that no file of a repository can take its place.
pub(super) fn ask(
    environment: &Environment,
    name: &str,
    server: &str,
) -> Result<Option<Credential>, RegistryError> {
    let origin = format!("docker-credential-{name}");
    let wrong =
        |why: &str| RegistryError::Credentials { origin: origin.clone(), why: why.to_owned() };
    if !is_plain(name) {
        return Err(wrong("the name of a credential helper is letters, digits, `-`, `_` and `.`"));
    }
    let program = Program {
        environment: environment.variables.clone(),
        allowed: Duration::from_secs(30),
        output_limit: 1024 * 1024,
        stdin: format!("{server}\n").into_bytes(),
        ..Program::new(&PathBuf::from(&origin), &["get"], Path::new("/"))
    };
    let finished = match process::run(&program) {
        Ok(finished) => finished,
        // The error holds the program's name, never what it printed.
        Err(error) => return Err(RegistryError::Credentials { origin, why: error.to_string() }),
    };
    if !finished.status.success() {
        let says_none =
            |text: &[u8]| String::from_utf8_lossy(text).contains("credentials not found");
        if says_none(&finished.stdout) || says_none(&finished.stderr) {
            return Ok(None);
        }
        let why =
            format!("it fails ({}); `echo {server} | {origin} get` shows why", finished.status);
        return Err(wrong(&why));
    }
    let answer: Answer = serde_json::from_slice(&finished.stdout)
        .map_err(|_| wrong("its answer is not the JSON of a credential helper"))?;
    Ok(login(answer).map(|login| Credential { login, origin }))
}

fn login(answer: Answer) -> Option<Login> {
    let secret = Secret::new(answer.secret);
    if secret.expose().is_empty() {
        return None;
    }
    Some(match answer.username.as_str() {
        "<token>" => Login::Identity(secret),
        _ => Login::Password { user: answer.username, password: secret },
    })
}

fn is_plain(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 100 && name.bytes().all(allowed)
}
