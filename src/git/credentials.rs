//! Credentials that stand in an address. Git would show them in the argument lists of its transport programs; they are
//! taken out of the address and handed over as a header, through the environment.

/// An address with its credentials taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The address for git and for people.
    pub(super) clean: String,
    /// `scheme://host:port/`, to which the header is bound.
    origin: String,
    /// The credentials as `user:password`, still unescaped bytes.
    secret: Option<Vec<u8>>,
}

impl Address {
    /// Takes an address apart; one without a password, or of another kind than HTTP, is left as it is.
    pub(super) fn parse(address: &str) -> Self {
        let whole = Self { clean: address.to_owned(), origin: String::new(), secret: None };
        let Some((scheme, rest)) = address.split_once("://") else { return whole };
        if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return whole;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let Some((person, host)) = authority.rsplit_once('@') else { return whole };
        let (user, password) = person.split_once(':').unwrap_or((person, ""));
        if password.is_empty() && !looks_like_a_token(user) {
            return whole;
        }
        let mut secret = unescape(user);
        secret.push(b':');
        secret.extend(unescape(password));
        Self {
            clean: format!("{scheme}://{host}{path}"),
            origin: format!("{scheme}://{host}/"),
            secret: Some(secret),
        }
    }

    /// The name and value of the setting that lets git in.
    pub(super) fn header(&self) -> Option<(String, String)> {
        let secret = self.secret.as_ref()?;
        Some((
            format!("http.{}.extraHeader", self.origin),
            format!("Authorization: Basic {}", base64(secret)),
        ))
    }
}

/// A user name that no person has: hosts take tokens in its place.
fn looks_like_a_token(user: &str) -> bool {
    user.len() >= 20 && user.bytes().any(|b| b.is_ascii_digit())
}

fn unescape(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) if *byte == b'%' => {
                out.push(value);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_become_a_header_for_their_host() {
        let address = Address::parse("https://bot:t%40ken@host:8443/org/app.git");
        assert_eq!(address.clean, "https://host:8443/org/app.git");
        // printf 'bot:t@ken' | base64
        let header = (
            "http.https://host:8443/.extraHeader".to_owned(),
            "Authorization: Basic Ym90OnRAa2Vu".to_owned(),
        );
        assert_eq!(address.header(), Some(header));
    }

    #[test]
    fn a_user_name_alone_stays() {
        for text in [
            "https://bot@host/x",
            "ssh://git:x@host/x",
            "git@host:x",
            "/srv/x.git",
            "file:///srv/a@b",
        ] {
            let address = Address::parse(text);
            assert_eq!((address.clean.as_str(), address.header()), (text, None));
        }
    }

    #[test]
    fn base64_pads_as_the_rfc_says() {
        // RFC 4648, section 10.
        for (text, code) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }
}
