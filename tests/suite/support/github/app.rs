//! A GitHub App: its tokens are judged by openssl with the public key, as GitHub judges them.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value as Json, json};

use super::{Operation, Reply};

/// What an App's installation may use; GitHub's begin so.
pub(crate) const INSTALLED: &str = "ghs_installed00000000000000000000000000";

/// An App that is installed at the repository.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) id: String,
    pub(crate) installation: u64,
    /// Its public key, PEM.
    pub(crate) key: PathBuf,
}

/// Answers what is asked in the name of the App; `None` for any other path.
pub(super) fn answer(
    app: Option<&App>,
    (path, token): (&str, Option<&str>),
    body: &Json,
    operation: &Operation<'_>,
) -> Option<Reply> {
    let is_of_app = path.starts_with("/app/") || path.ends_with("/installation");
    if !is_of_app {
        return None;
    }
    let Some(app) = app.filter(|app| token.is_some_and(|token| is_signed(app, token))) else {
        return Some(Reply::message(401, "A JSON web token could not be decoded"));
    };
    if path.ends_with("/installation") {
        let mut answer = operation.smallest_answer(200);
        answer["id"] = json!(app.installation);
        return Some(Reply::of(200, answer));
    }
    if path != format!("/app/installations/{}/access_tokens", app.installation) {
        return Some(Reply::message(404, "Not Found"));
    }
    // No more than what the work needs.
    if body["repositories"] != json!(["deploy"]) {
        return Some(Reply::message(422, "There is at least one repository that does not exist"));
    }
    let mut answer = operation.smallest_answer(201);
    (answer["token"], answer["expires_at"]) = (json!(INSTALLED), json!("2999-01-01T00:00:00Z"));
    Some(Reply::of(201, answer))
}

/// The rules of docs.github.com, "Generating a JSON Web Token (JWT) for a GitHub App": RS256, `iss` the App, `iat` past, `exp` at
/// most ten minutes ahead.
fn is_signed(app: &App, token: &str) -> bool {
    let Some((signed, signature)) = token.rsplit_once('.') else { return false };
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
    let part = |at: usize| -> Json {
        let text = signed.split('.').nth(at).unwrap_or_default();
        serde_json::from_slice(&decode(text)).unwrap_or_default()
    };
    let (header, claims) = (part(0), part(1));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let time = |key: &str| claims[key].as_u64().unwrap_or_default();
    header["alg"] == "RS256"
        && claims["iss"] == app.id
        && time("iat") <= now
        && (now + 1..=now + 600).contains(&time("exp"))
        && time("exp") - time("iat") <= 600
        && is_good(&app.key, signed.as_bytes(), &decode(signature))
}

fn is_good(key: &Path, signed: &[u8], signature: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (data, sign) = (folder.path().join("data"), folder.path().join("signature"));
    std::fs::write(&data, signed).unwrap();
    std::fs::write(&sign, signature).unwrap();
    let mut command = Command::new("openssl");
    command.args(["dgst", "-sha256", "-verify"]).arg(key).arg("-signature").arg(sign).arg(data);
    command.output().unwrap().status.success()
}
