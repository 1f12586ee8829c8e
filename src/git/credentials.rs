//! Credentials that stand in an address. Git would show them in the argument lists of its transport programs; they are
//! taken out of the address and handed over through the environment, by a credential helper that answers for their host alone:
//! a header would follow a redirect to another host.

/// An address with its credentials taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The address for git and for people.
    pub(super) clean: String,
    /// `scheme://host:port`, to which the credentials are bound.
    origin: String,
    /// User and password.
    secret: Option<(String, String)>,
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
        let (Some(user), Some(password)) = (unescape(user), unescape(password)) else {
            return whole;
        };
        Self {
            clean: format!("{scheme}://{host}{path}"),
            origin: format!("{scheme}://{host}"),
            secret: Some((user, password)),
        }
    }

    /// The settings and variables that let git in, the settings in their order.
    pub(super) fn access(&self) -> Option<Access> {
        let (user, password) = self.secret.clone()?;
        let key = format!("credential.{}.helper", self.origin);
        Some(Access {
            // The empty one takes back the helpers named before.
            settings: vec![(key.clone(), String::new()), (key, HELPER.to_owned())],
            variables: vec![(USER, user), (PASSWORD, password)],
        })
    }
}

/// How git gets in at one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Settings of git.
    pub(super) settings: Vec<(String, String)>,
    /// Variables of its environment.
    pub(super) variables: Vec<(&'static str, String)>,
}

const USER: &str = "OVERLAY_GIT_USER";
const PASSWORD: &str = "OVERLAY_GIT_PASSWORD";

/// Git runs it as it runs every helper that begins with `!`; the text never varies.
const HELPER: &str = r#"!f() { printf 'username=%s\npassword=%s\n' "$OVERLAY_GIT_USER" "$OVERLAY_GIT_PASSWORD"; }; f"#;

/// A user name that no person has: hosts take tokens in its place.
fn looks_like_a_token(user: &str) -> bool {
    user.len() >= 20 && user.bytes().any(|b| b.is_ascii_digit())
}

/// `None` for what git's line protocol of credentials cannot carry.
fn unescape(text: &str) -> Option<String> {
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
    String::from_utf8(out).ok().filter(|text| !text.contains(['\n', '\r', '\0']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_bound_to_their_host() {
        let address = Address::parse("https://bot:t%40ken@host:8443/org/app.git");
        assert_eq!(address.clean, "https://host:8443/org/app.git");
        let access = address.access().unwrap();
        assert!(
            access.settings.iter().all(|(name, _)| name == "credential.https://host:8443.helper")
        );
        assert_eq!(access.variables, [(USER, "bot".to_owned()), (PASSWORD, "t@ken".to_owned())]);
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
            assert_eq!((address.clean.as_str(), address.access()), (text, None));
        }
    }
}
