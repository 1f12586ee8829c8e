//! A GitHub App: a token signed with its key, and the installation token that is had for it (docs.github.com, "Generating a JSON
//! Web Token (JWT) for a GitHub App").

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value as Json, json};

use super::client::{Client, Method};
use crate::clock;
use crate::forge::{AppKey, ForgeError, Site};
use crate::http::Secret;

/// GitHub allows ten minutes, and clocks differ.
const LIFETIME: u64 = 9 * 60;
const SKEW: u64 = 60;

/// A token for the installation of the App at the repository.
pub(super) fn installation_token(
    site: &Site,
    app: &AppKey,
    allowed: Duration,
) -> Result<Secret, ForgeError> {
    let client = Client::new(site, sign(app, clock::now_unix())?, allowed)?;
    let repository = &site.repository;
    let unexpected = |action: &str, reason: &str| ForgeError::Unexpected {
        host: site.host.clone(),
        action: action.to_owned(),
        reason: reason.to_owned(),
    };
    let installation = match app.installation {
        Some(id) => id,
        None => {
            let action = "find the installation of the App";
            let path = format!("/repos/{}/{}/installation", repository.owner, repository.name);
            let answer = client.call(action, Method::Get, &path, None)?;
            let id = answer.get("id").and_then(Json::as_u64);
            id.ok_or_else(|| unexpected(action, "no number at /id"))?
        }
    };
    let action = "get an installation token";
    let path = format!("/app/installations/{installation}/access_tokens");
    // No more than what the work needs, where the installation has it; a fork's own repository needs the same.
    let mut names = vec![&repository.name];
    if site.head.owner == repository.owner && site.head.name != repository.name {
        names.push(&site.head.name);
    }
    let answer = client.call(action, Method::Post, &path, Some(&json!({"repositories": names})))?;
    let token = answer.get("token").and_then(Json::as_str);
    token.map(Secret::new).ok_or_else(|| unexpected(action, "no text at /token"))
}

/// The token that says "I am this App", valid from `now`, in seconds since 1970.
fn sign(app: &AppKey, now: u64) -> Result<Secret, ForgeError> {
    let pair = parse_key(app.key.expose())?;
    let encode = |json: Json| URL_SAFE_NO_PAD.encode(json.to_string());
    let header = encode(json!({"alg": "RS256", "typ": "JWT"}));
    let claims = json!({"iat": now.saturating_sub(SKEW), "exp": now + LIFETIME, "iss": app.id});
    let signed = format!("{header}.{}", encode(claims));
    let mut signature = vec![0; pair.public().modulus_len()];
    let random = ring::rand::SystemRandom::new();
    let outcome = pair.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature);
    outcome.map_err(|_| bad("it does not sign"))?;
    Ok(Secret::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

fn bad(reason: impl Into<String>) -> ForgeError {
    ForgeError::BadKey { reason: reason.into() }
}

/// Reads PKCS #1 (what GitHub gives) or PKCS #8; line ends may be written `\n`, as environments that hold one line have them.
fn parse_key(text: &str) -> Result<RsaKeyPair, ForgeError> {
    let text = text.replace("\\n", "\n");
    let key = PrivateKeyDer::from_pem_slice(text.as_bytes())
        .map_err(|_| bad("there is no private key in it"))?;
    let pair = match &key {
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        _ => return Err(bad("it is a key of another kind")),
    };
    pair.map_err(|rejected| bad(rejected.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_named_without_its_text() {
        for text in [
            "",
            "ghp_planted",
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n",
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
        ] {
            let app = AppKey { id: "1".into(), key: Secret::new(text), installation: None };
            let error = sign(&app, 0).unwrap_err();
            assert!(matches!(error, ForgeError::BadKey { .. }), "{error:?}");
            assert!(!error.to_string().contains("planted") && !error.to_string().contains("AAAA"));
        }
    }
}
