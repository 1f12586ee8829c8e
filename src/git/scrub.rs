//! Takes credentials out of texts before anyone sees them.

use std::sync::{Arc, LazyLock};

use regex::Regex;

/// `scheme://user:password@` (and a bare token as the user), `Authorization: …`, and `key=value` of the usual names.
static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"(?i)\b(https?|ftps?)://[^/\s@'\x22]+@", "$1://***@"),
        (r"(?i)\b(ssh)://[^/\s@:'\x22]+:[^/\s@'\x22]+@", "$1://***@"),
        (r"(?i)\b((?:proxy-)?authorization\s*:\s*)[^\r\n'\x22]+", "$1***"),
        (r"(?i)\b((?:access_|private_|job_)?token|password|passwd|secret)(\s*[=:]\s*)[^\s&'\x22]+", "$1$2***"),
        (r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})", "***"),
    ]
    .into_iter()
    .filter_map(|(pattern, by)| Some((Regex::new(pattern).ok()?, by)))
    .collect()
});

/// Knows the secrets of this run.
#[derive(Clone, Debug, Default)]
pub(super) struct Scrubber {
    secrets: Arc<Vec<String>>,
}

impl Scrubber {
    /// Hides these texts, and whatever looks like a credential. Texts shorter than six bytes would hide ordinary words.
    pub(super) fn new(secrets: &[String]) -> Self {
        let mut secrets: Vec<String> = secrets.iter().filter(|s| s.len() >= 6).cloned().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets: Arc::new(secrets) }
    }

    /// The text without them.
    pub(super) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets.iter() {
            text = text.replace(secret, "***");
        }
        for (pattern, by) in PATTERNS.iter() {
            if pattern.is_match(&text) {
                text = pattern.replace_all(&text, *by).into_owned();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_hidden_and_the_rest_stays() {
        let scrubber = Scrubber::new(&["planted-token".to_owned()]);
        for (text, clean) in [
            ("fatal: https://bot:s3cret@host/x.git: no", "fatal: https://***@host/x.git: no"),
            ("https://tok123@host/x", "https://***@host/x"),
            ("Authorization: Basic Ym90OnRvaw==", "Authorization: ***"),
            ("> AUTHORIZATION: bearer abc\nnext", "> AUTHORIZATION: ***\nnext"),
            ("url?access_token=abc&x=1", "url?access_token=***&x=1"),
            ("a planted-token b", "a *** b"),
            ("git@host:org/app.git", "git@host:org/app.git"),
            ("remote: protected branch hook declined", "remote: protected branch hook declined"),
        ] {
            assert_eq!(scrubber.scrub(text), clean);
        }
    }
}
