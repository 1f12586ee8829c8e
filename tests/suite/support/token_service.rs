//! The token service of a registry that asks for tokens: JSON web tokens by RS256 with the certificate in `x5c`, as
//! distribution's "token authentication" wants them. Only `public/…` may be read by anybody.

use std::fs;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

use super::certificates::openssl;
use super::git_http::base64;
use super::registry::USER;
use super::scripted_http::{Answer, ScriptedHttp};
use super::skip;

/// Makes the key of a service in `dir` and starts it; gives its realm.
pub(crate) fn start(dir: &Path) -> Option<String> {
    let made = "req -x509 -newkey rsa:2048 -nodes -keyout token.key -out token.crt -days 30 -subj /CN=token";
    if !openssl(made, dir) || !openssl("pkey -in token.key -outform DER -out token.der", dir) {
        skip("no openssl that makes keys");
        return None;
    }
    let directory = dir.to_owned();
    let server = ScriptedHttp::start(move |asked| {
        let query = asked.target.split_once('?').map_or("", |(_, query)| query);
        let scope = query.split('&').find_map(|pair| pair.strip_prefix("scope="));
        let scope = scope.unwrap_or_default().replace("%3A", ":").replace("%2F", "/");
        let repository = scope.split(':').nth(1).unwrap_or_default().to_owned();
        let wanted = format!("Basic {}", base64(&format!("{}:{}", USER.0, USER.1)));
        let user = match asked.header("authorization") {
            None => "",
            Some(given) if given == wanted => USER.0,
            Some(_) => return Answer::new(401).body(r#"{"errors":[{"code":"UNAUTHORIZED"}]}"#),
        };
        let may_read = !user.is_empty() || repository.starts_with("public/");
        let actions: &[&str] = if may_read { &["pull"] } else { &[] };
        let token = token(&directory, user, &repository, actions);
        Answer::new(200).body(json!({"token": token, "expires_in": 300}).to_string())
    });
    Some(server.url("/token"))
}

/// A token that lets `user` do `actions` in `repository`, signed with the key in `dir`.
pub(crate) fn token(dir: &Path, user: &str, repository: &str, actions: &[&str]) -> String {
    let certificate = fs::read_to_string(dir.join("token.crt")).unwrap();
    let certificate: String = certificate.lines().filter(|line| !line.starts_with("---")).collect();
    let key = pkcs1_or_8(&fs::read(dir.join("token.der")).unwrap());
    let now = overlay::clock::now_unix();
    let part = |value: serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let head = part(json!({"typ": "JWT", "alg": "RS256", "x5c": [certificate]}));
    let access = json!([{"type": "repository", "name": repository, "actions": actions}]);
    let claims = part(json!({
        "iss": "test-issuer", "sub": user, "aud": "test-registry", "exp": now + 300,
        "nbf": now - 5, "iat": now, "jti": "1", "access": access,
    }));
    let text = format!("{head}.{claims}");
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
    format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

fn pkcs1_or_8(der: &[u8]) -> RsaKeyPair {
    RsaKeyPair::from_pkcs8(der).or_else(|_| RsaKeyPair::from_der(der)).unwrap()
}
