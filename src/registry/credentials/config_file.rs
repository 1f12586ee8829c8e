//! One `config.json` or `auth.json`: `auths`, `credHelpers`, `credsStore`, with the keys that people have.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::{Credential, Login};
use crate::http::Secret;
use crate::registry::names::{canonical, is_docker_hub};
use crate::registry::{RegistryError, Repository};

/// The largest file that is read.
const LARGEST: u64 = 4 * 1024 * 1024;
/// The key under which Docker keeps Docker Hub's login.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// A file of logins.
pub(super) struct AuthFile {
    /// Its path, for messages.
    pub(super) name: String,
    content: Content,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Content {
    auths: Option<BTreeMap<String, Option<Entry>>>,
    cred_helpers: Option<BTreeMap<String, String>>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
    registrytoken: Option<String>,
}

/// What a file has for a repository.
pub(super) enum Found {
    /// The login itself.
    Login(Credential),
    /// A program that has it.
    Helper {
        /// What follows `docker-credential-`.
        name: String,
        /// What it is asked for.
        server: String,
        /// Whether it is named for every host and not for this one.
        is_general: bool,
    },
}

impl AuthFile {
    /// Reads a file; `None` where there is none.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, RegistryError> {
        let name = path.display().to_string();
        let wrong = |why: String| RegistryError::Credentials { origin: name.clone(), why };
        let size = match std::fs::metadata(path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(error.to_string())),
        };
        if size > LARGEST {
            return Err(wrong(format!("more than {LARGEST} bytes")));
        }
        let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let content = Self::parse(&text).map_err(wrong)?;
        Ok(Some(Self { name, content }))
    }

    fn parse(text: &[u8]) -> Result<Content, String> {
        if text.trim_ascii().is_empty() {
            return Ok(Content::default());
        }
        // Only the place: what serde says of the content may quote a password.
        serde_json::from_slice(text).map_err(|error| {
            format!("line {}, column {} is not what belongs there", error.line(), error.column())
        })
    }

    /// What it has for a repository: a helper of the host, then a login, then the helper for everything.
    pub(super) fn find(&self, repository: &Repository) -> Option<Found> {
        let helpers = self.content.cred_helpers.iter().flatten();
        if let Some((key, name)) = helpers.into_iter().find(|(key, _)| rank(key, repository) > 0) {
            let (name, server) = (name.clone(), key.clone());
            return Some(Found::Helper { name, server, is_general: false });
        }
        let mut best: Option<(usize, Credential)> = None;
        for (key, entry) in self.content.auths.iter().flatten() {
            let rank = rank(key, repository);
            let is_better = best.as_ref().is_none_or(|(other, _)| *other < rank);
            if rank == 0 || !is_better {
                continue;
            }
            if let Some(login) = entry.as_ref().and_then(Entry::login) {
                best = Some((rank, Credential { login, origin: self.name.clone() }));
            }
        }
        if let Some((_, credential)) = best {
            return Some(Found::Login(credential));
        }
        let name = self.content.creds_store.clone().filter(|name| !name.is_empty())?;
        let is_hub = is_docker_hub(&repository.host);
        let server = if is_hub { DOCKER_HUB_KEY.to_owned() } else { repository.host.clone() };
        Some(Found::Helper { name, server, is_general: true })
    }
}

impl Entry {
    fn login(&self) -> Option<Login> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(token) = filled(&self.registrytoken) {
            return Some(Login::Registry(Secret::new(token)));
        }
        if let Some(token) = filled(&self.identitytoken) {
            return Some(Login::Identity(Secret::new(token)));
        }
        let (user, password) = match filled(&self.auth) {
            Some(auth) => decode(&auth)?,
            None => (filled(&self.username)?, filled(&self.password)?),
        };
        Some(Login::Password { user, password: Secret::new(password) })
    }
}

/// `user:password` in base64; old versions of Docker end it with zero bytes.
fn decode(auth: &str) -> Option<(String, String)> {
    let bytes = BASE64_STANDARD.decode(auth.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.trim_end_matches('\0').to_owned()))
}

/// How well a key names a repository: 0 not at all, 1 its host, more the longer the path that it names.
fn rank(key: &str, repository: &Repository) -> usize {
    let (scheme, rest) = match key.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, key),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if canonical(without_usual_port(host)) != canonical(without_usual_port(&repository.host)) {
        return 0;
    }
    let path = path.trim_matches('/');
    // Docker's keys are addresses, whose path is that of an API; Podman's are the beginning of a name.
    if scheme.is_some() || matches!(path, "" | "v1" | "v2") {
        return 1;
    }
    let rest = repository.path.strip_prefix(path);
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => 1 + path.len(),
        _ => 0,
    }
}

fn without_usual_port(host: &str) -> &str {
    host.strip_suffix(":443").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(host: &str, path: &str) -> Repository {
        Repository { host: host.to_owned(), path: path.to_owned() }
    }

    fn file(text: &str) -> AuthFile {
        AuthFile {
            name: "config.json".to_owned(),
            content: AuthFile::parse(text.as_bytes()).unwrap(),
        }
    }

    fn user(file: &AuthFile, repository: &Repository) -> Option<String> {
        match file.find(repository)? {
            Found::Login(Credential { login: Login::Password { user, .. }, .. }) => Some(user),
            Found::Login(_) => Some("token".to_owned()),
            Found::Helper { name, server, .. } => Some(format!("{name} {server}")),
        }
    }

    #[test]
    fn the_keys_that_people_have_are_understood() {
        let hub = repository("registry-1.docker.io", "library/nginx");
        let own = repository("registry.example:5000", "team/web");
        let auth = r#"{"auth": "dTpw"}"#;
        for (key, fits_hub, fits_own) in [
            ("https://index.docker.io/v1/", true, false),
            ("index.docker.io", true, false),
            ("docker.io", true, false),
            ("registry-1.docker.io", true, false),
            ("docker.io/library", true, false),
            ("docker.io/other", false, false),
            ("registry.example:5000", false, true),
            ("REGISTRY.example:5000", false, true),
            ("http://registry.example:5000/v2/", false, true),
            ("https://registry.example:5000", false, true),
            ("registry.example:5000/team", false, true),
            ("registry.example:5000/team/web", false, true),
            ("registry.example:5000/tea", false, false),
            ("registry.example", false, false),
            ("example:5000", false, false),
        ] {
            let file = file(&format!(r#"{{"auths": {{"{key}": {auth}}}}}"#));
            assert_eq!(user(&file, &hub).is_some(), fits_hub, "{key}");
            assert_eq!(user(&file, &own).is_some(), fits_own, "{key}");
        }
        let usual = file(&format!(r#"{{"auths": {{"https://r.example:443": {auth}}}}}"#));
        assert!(user(&usual, &repository("r.example", "a")).is_some());
    }

    #[test]
    fn the_longest_path_wins_and_empty_entries_do_not_count() {
        let file = file(
            r#"{"auths": {"r.io": {"auth": "YTp4"}, "r.io/team": {"auth": "Yjp4AAA="}, "r.io/team/web": {},
                "s.io": null, "t.io": {"username": "c", "password": "p"}, "u.io": {"identitytoken": "t"}}}"#,
        );
        let of = |host: &str, path: &str| user(&file, &repository(host, path));
        assert_eq!(of("r.io", "team/web").as_deref(), Some("b"));
        assert_eq!(of("r.io", "x").as_deref(), Some("a"));
        assert_eq!(of("s.io", "x"), None);
        assert_eq!(of("t.io", "x").as_deref(), Some("c"));
        assert_eq!(of("u.io", "x").as_deref(), Some("token"));
    }

    #[test]
    fn helpers_are_asked_in_dockers_words() {
        let file = file(
            r#"{"credsStore": "desktop", "credHelpers": {"gcr.io": "gcr"}, "auths": {"x.io": {"auth": "YTp4"}, "y.io": {}}}"#,
        );
        let of = |host: &str| user(&file, &repository(host, "p")).unwrap();
        assert_eq!(of("gcr.io"), "gcr gcr.io");
        assert_eq!(of("x.io"), "a");
        assert_eq!(of("y.io"), "desktop y.io");
        assert_eq!(of("registry-1.docker.io"), "desktop https://index.docker.io/v1/");
    }

    #[test]
    fn a_broken_file_is_named_without_its_content() {
        for text in [r#"{"auths": {"r.io": "hunter2"}}"#, r#"{"auths": hunter2}"#, "{"] {
            let error = AuthFile::parse(text.as_bytes()).err().unwrap();
            assert!(error.contains("line 1") && !error.contains("hunter2"), "{error}");
        }
        assert!(AuthFile::parse(b" \n").is_ok());
    }
}
