//! What lets in at a forge.

use crate::http::Secret;

/// The key of a GitHub App, for which installation tokens are had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppKey {
    /// The App's id, or its client id.
    pub id: String,
    /// Its private key, PEM.
    pub key: Secret,
    /// The installation; the repository's own where none is named.
    pub installation: Option<u64>,
}

/// What lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A personal token, the token of a job, or an installation token that somebody else got.
    Token(Secret),
    /// A GitHub App.
    App(AppKey),
}

/// The shortest text that is taken out of others; shorter ones would hide ordinary words, and no forge has such tokens.
const SHORTEST: usize = 6;

/// `text` without the secret, should somebody have put it there.
pub(in crate::forge) fn scrub(secret: &Secret, text: &str) -> String {
    match secret.expose().len() {
        0..SHORTEST => text.to_owned(),
        _ => text.replace(secret.expose(), "***"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let credential = Credential::Token(Secret::new("ghp_planted"));
        assert!(!format!("{credential:?}").contains("planted"));
        assert_eq!(scrub(&Secret::new("planted"), "a planted b"), "a *** b");
        assert_eq!(scrub(&Secret::new("a"), "a b"), "a b");
    }
}
