//! `WWW-Authenticate`: what a server wants to see (RFC 9110, section 11.6.1), as registries write it.

/// One way to log in that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A user and a password.
    Basic,
    /// A token that a service gives (distribution's "token authentication").
    Bearer {
        /// The service's address.
        realm: String,
        /// The name of the registry at the service.
        service: Option<String>,
        /// What the token has to allow.
        scope: Option<String>,
    },
}

/// The challenges of all `WWW-Authenticate` headers that are understood, in order.
pub(super) fn parse_challenges<'a>(headers: impl Iterator<Item = &'a str>) -> Vec<Challenge> {
    headers.flat_map(|header| Reader { rest: header }.challenges()).collect()
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn challenges(mut self) -> Vec<Challenge> {
        let mut found = Vec::new();
        self.skip(&[' ', '\t', ',']);
        while let Some(scheme) = self.token() {
            let parameters = self.parameters();
            found.extend(challenge(&scheme, parameters));
            let before = self.rest.len();
            self.skip(&[' ', '\t', ',']);
            if self.rest.is_empty() || self.rest.len() == before {
                break;
            }
        }
        found
    }

    /// `name=value` pairs up to the next scheme, which is a word with no `=` behind it.
    fn parameters(&mut self) -> Vec<(String, String)> {
        let mut parameters = Vec::new();
        loop {
            let before = self.rest;
            self.skip(&[' ', '\t', ',']);
            let Some(name) = self.token() else { return parameters };
            self.skip(&[' ', '\t']);
            let Some(rest) = self.rest.strip_prefix('=') else {
                self.rest = before;
                return parameters;
            };
            self.rest = rest;
            self.skip(&[' ', '\t']);
            let value = self.value();
            parameters.push((name.to_ascii_lowercase(), value));
        }
    }

    fn value(&mut self) -> String {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let end = self.rest.find([',', ' ', '\t']).unwrap_or(self.rest.len());
            let (value, rest) = self.rest.split_at(end);
            self.rest = rest;
            return value.to_owned();
        };
        let mut value = String::new();
        let mut characters = quoted.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = &quoted[at + 1..];
                    return value;
                }
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                other => value.push(other),
            }
        }
        self.rest = "";
        value
    }

    fn token(&mut self) -> Option<String> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let end = self.rest.find(|c| !is_token(c)).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!token.is_empty()).then(|| token.to_owned())
    }

    fn skip(&mut self, characters: &[char]) {
        self.rest = self.rest.trim_start_matches(characters);
    }
}

fn challenge(scheme: &str, parameters: Vec<(String, String)>) -> Option<Challenge> {
    let find = |name: &str| {
        let mut all = parameters.iter().filter(|(key, value)| key == name && !value.is_empty());
        all.next().map(|(_, value)| value.clone())
    };
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => Some(Challenge::Basic),
        "bearer" => Some(Challenge::Bearer {
            realm: find("realm")?,
            service: find("service"),
            scope: find("scope"),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
        let (service, scope) = (service.map(str::to_owned), scope.map(str::to_owned));
        Challenge::Bearer { realm: realm.to_owned(), service, scope }
    }

    fn parse(headers: &[&str]) -> Vec<Challenge> {
        parse_challenges(headers.iter().copied())
    }

    #[test]
    fn quoted_commas_and_any_case_are_understood() {
        let header = r#"bearer Realm="http://r:5000/tok?x=1", Service="reg, istry", scope="repository:shop/web:pull""#;
        let wanted =
            bearer("http://r:5000/tok?x=1", Some("reg, istry"), Some("repository:shop/web:pull"));
        assert_eq!(parse(&[header]), [wanted]);
    }

    #[test]
    fn several_challenges_stand_in_one_header_or_in_two() {
        let both = [Challenge::Basic, bearer("https://t/", None, None)];
        assert_eq!(
            parse(&[r#"Basic realm="x", charset="UTF-8", Bearer realm="https://t/""#]),
            both
        );
        assert_eq!(parse(&["Basic realm=x", "Bearer realm = https://t/"]), both);
        assert_eq!(parse(&[r#"Negotiate, NTLM, Basic realm="a\"b""#]), [Challenge::Basic]);
    }

    #[test]
    fn a_bearer_without_a_realm_is_none() {
        assert_eq!(
            parse(&["Bearer", r#"Bearer service="x""#, "", ",,", "=", "\"", "Bearer realm=\"\""]),
            []
        );
    }

    proptest! {
        #[test]
        fn any_header_is_read(text in "[ -~]{0,60}|(Bearer|Basic|realm|=|,| |\"|x|\\\\){0,12}") {
            parse(&[&text]);
        }
    }
}
