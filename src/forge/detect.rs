//! Which forge and which repository is meant, and where its credential may go.
//!
//! The order is fixed: what flags say; the forge that the environment names, where the remote is on its host; the hosts
//! that everybody knows; the forge that the environment names, where the remote is on no host at all. A credential goes to
//! the host that flags, the environment or its own name (`GITHUB_TOKEN`: api.github.com) name, and to no other. Variables are those of
//! GitHub Actions (docs.github.com, "Variables reference") and of Gitea's and Forgejo's runners, which set the same and
//! `GITEA_ACTIONS` or `FORGEJO_ACTIONS` beside them.

use super::credential::{AppKey, Credential};
use super::error::ForgeError;
use crate::http::Secret;

/// The address of GitHub's API.
pub const DEFAULT_GITHUB_API: &str = "https://api.github.com";

/// A kind of forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GitHub and GitHub Enterprise.
    GitHub,
    /// Gitea and Forgejo.
    Gitea,
}

impl Kind {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::Gitea => "Gitea",
        }
    }

    fn variables(self) -> &'static str {
        match self {
            Self::GitHub => {
                "GITHUB_TOKEN or GH_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY of an App"
            }
            Self::Gitea => "GITEA_TOKEN",
        }
    }
}

/// `OWNER/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryName {
    /// The person or organisation.
    pub owner: String,
    /// The name.
    pub name: String,
}

impl RepositoryName {
    /// Reads `OWNER/NAME`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (owner, name) = text.split_once('/')?;
        let is_part = |part: &str| {
            let is_byte = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_byte)
        };
        (is_part(owner) && is_part(name))
            .then(|| Self { owner: owner.to_owned(), name: name.to_owned() })
    }

    /// Whether `text` names it; forges do not tell letter cases apart.
    pub fn is(&self, text: &str) -> bool {
        text.eq_ignore_ascii_case(&self.to_string())
    }
}

impl std::fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// What is asked for, and what the world says.
pub struct Wanted<'a> {
    /// `--forge`.
    pub kind: Option<Kind>,
    /// `--forge-url`: the address of the forge, or of its API.
    pub url: Option<&'a str>,
    /// `--repo`.
    pub repository: Option<&'a str>,
    /// The addresses of the remote that the branch is pushed to, without credentials: as configured, as rewritten.
    pub remotes: &'a [String],
    /// A variable of the environment that is set and not empty.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// One repository of one forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it speaks.
    pub kind: Kind,
    /// The address of its API, without a slash at the end.
    pub api: String,
    /// Its host, and the port where it is not the usual one, for people and for remotes.
    pub host: String,
    /// The repository of the pull requests.
    pub repository: RepositoryName,
    /// The repository that the branch is pushed to; a fork where it is another.
    pub head: RepositoryName,
    /// What lets in.
    pub credential: Credential,
}

/// Finds the forge.
///
/// # Errors
/// Where it, its repository or a credential is not known.
pub fn detect(wanted: &Wanted<'_>) -> Result<Site, ForgeError> {
    let remotes: Vec<Remote<'_>> = wanted.remotes.iter().filter_map(|r| Remote::parse(r)).collect();
    let (kind, api) = find_forge(wanted, &remotes)?;
    let host = web_host(&api);
    let named = match wanted.repository {
        None => None,
        Some(text) => Some(RepositoryName::parse(text).ok_or_else(|| ForgeError::Malformed {
            what: "--repo",
            wanted: "OWNER/NAME",
            given: text.to_owned(),
        })?),
    };
    let pushed = remotes.iter().find(|r| is_host(r.host, &host)).and_then(|r| r.repository.clone());
    let of_job = || RepositoryName::parse(&(wanted.variable)("GITHUB_REPOSITORY")?);
    let repository = named.clone().or_else(|| pushed.clone()).or_else(of_job);
    let shown = || wanted.remotes.first().cloned().unwrap_or_default();
    let Some(repository) = repository else {
        return Err(ForgeError::NoRepository { host, remote: shown() });
    };
    let head = pushed.unwrap_or_else(|| repository.clone());
    let credential = find_credential(kind, wanted)?.ok_or_else(|| ForgeError::NoCredential {
        host: host.clone(),
        variables: kind.variables(),
    })?;
    Ok(Site { kind, api, host, repository, head, credential })
}

/// The kind and the address of the API.
fn find_forge(wanted: &Wanted<'_>, remotes: &[Remote<'_>]) -> Result<(Kind, String), ForgeError> {
    let environment = forges_of_environment(wanted.variable)?;
    if let Some(url) = wanted.url {
        let kind = wanted.kind.unwrap_or_else(|| kind_of_address(url));
        return Ok((kind, api_address(kind, url)?));
    }
    let is_wanted = |kind: Kind| wanted.kind.is_none_or(|wanted| wanted == kind);
    let on_host = |api: &str| remotes.iter().any(|r| is_host(r.host, &web_host(api)));
    let mut known = environment.iter().filter(|(kind, _)| is_wanted(*kind));
    if let Some(found) = known.clone().find(|(_, api)| on_host(api)) {
        return Ok(found.clone());
    }
    let github = (Kind::GitHub, DEFAULT_GITHUB_API.to_owned());
    if is_wanted(Kind::GitHub) && on_host(&github.1) {
        return Ok(github);
    }
    // A remote that is a folder, or a host that only rewrites of git know, says nothing against what the environment names.
    let is_elsewhere = remotes.iter().any(|r| !is_loopback(r.host));
    match known.next() {
        Some(found) if wanted.kind.is_some() || !is_elsewhere => Ok(found.clone()),
        None if wanted.kind == Some(Kind::GitHub) => Ok(github),
        _ => {
            let remote = wanted.remotes.first().cloned().unwrap_or_default();
            Err(ForgeError::UnknownForge { remote })
        }
    }
}

/// The forges that the environment names, in order.
fn forges_of_environment(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(Kind, String)>, ForgeError> {
    let is_gitea = is_gitea_job(variable);
    let of_job = match variable("GITHUB_API_URL") {
        Some(api) if is_gitea || api.trim_end_matches('/').ends_with("/api/v1") => {
            Some((Kind::Gitea, api))
        }
        Some(api) => Some((Kind::GitHub, api)),
        // The repository of a job of GitHub's names its host.
        None if variable("GITHUB_REPOSITORY").is_some() && !is_gitea => {
            Some((Kind::GitHub, DEFAULT_GITHUB_API.to_owned()))
        }
        None => None,
    };
    let gitea = variable("GITEA_SERVER_URL").map(|url| (Kind::Gitea, url));
    let named = gitea.into_iter().chain(of_job);
    named.map(|(kind, url)| Ok((kind, api_address(kind, &url)?))).collect()
}

/// Whether this is a job of Gitea's or Forgejo's runner.
fn is_gitea_job(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    ["GITEA_ACTIONS", "FORGEJO_ACTIONS"].iter().any(|name| variable(name).is_some())
}

fn kind_of_address(url: &str) -> Kind {
    if url.trim_end_matches('/').ends_with("/api/v1") { Kind::Gitea } else { Kind::GitHub }
}

/// The address of the API of a forge that is named by its own address or by that of its API.
fn api_address(kind: Kind, url: &str) -> Result<String, ForgeError> {
    let wrong = || ForgeError::Malformed {
        what: "the address of the forge",
        wanted: "http(s)://HOST[/PATH] without user, query and fragment",
        given: url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned(),
    };
    let url = url.trim_end_matches('/');
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    if !["http", "https"].contains(&scheme)
        || rest.is_empty()
        || rest.contains(['@', '?', '#', ' '])
    {
        return Err(wrong());
    }
    // A token that travels in the clear is everybody's; servers of tests are on this machine.
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    if scheme == "http" && !is_loopback(host) {
        return Err(ForgeError::Malformed {
            what: "the address of the forge",
            wanted: "an https:// address",
            given: url.to_owned(),
        });
    }
    Ok(match kind {
        _ if !path.is_empty() => url.to_owned(),
        Kind::GitHub if host == "github.com" => DEFAULT_GITHUB_API.to_owned(),
        Kind::GitHub if host.starts_with("api.") || is_loopback(host) => url.to_owned(),
        Kind::GitHub if host.ends_with(".ghe.com") => format!("{scheme}://api.{host}"),
        Kind::GitHub => format!("{url}/api/v3"),
        Kind::Gitea => format!("{url}/api/v1"),
    })
}

/// The host of a forge's pages and remotes, with a port that is not the usual one.
fn web_host(api: &str) -> String {
    let rest = api.split_once("://").map_or(api, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
    let is_github = host == "api.github.com" || host.ends_with(".ghe.com");
    host.strip_prefix("api.").filter(|_| is_github).map(str::to_owned).unwrap_or(host)
}

/// The name of this machine, with or without a port.
fn is_loopback(host: &str) -> bool {
    let name = host.strip_prefix('[').and_then(|rest| rest.split(']').next());
    let name = name.unwrap_or_else(|| host.split(':').next().unwrap_or_default());
    name == "localhost" || name == "::1" || name.starts_with("127.")
}

/// Whether a remote's host is the forge's: SSH has ports of its own, and GitHub's also listens as `ssh.github.com`.
fn is_host(remote: &str, forge: &str) -> bool {
    let remote = remote.to_ascii_lowercase();
    remote == forge || (remote == "ssh.github.com" && forge == "github.com")
}

/// A remote on a host.
struct Remote<'a> {
    host: &'a str,
    repository: Option<RepositoryName>,
}

impl<'a> Remote<'a> {
    /// Takes an address apart; `None` for a folder.
    fn parse(address: &'a str) -> Option<Self> {
        let (host, path) = match address.split_once("://") {
            Some(("file", _)) => return None,
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                // The port of SSH is not that of the pages.
                let is_web = scheme.starts_with("http");
                (if is_web { host } else { host.split(':').next().unwrap_or(host) }, path)
            }
            None if address.starts_with(['/', '.']) => return None,
            None => {
                let (host, path) = address.split_once(':')?;
                (host.rsplit_once('@').map_or(host, |(_, host)| host), path)
            }
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        Some(Self { host, repository: RepositoryName::parse(path) })
    }
}

/// What the environment holds for this kind of forge.
fn find_credential(kind: Kind, wanted: &Wanted<'_>) -> Result<Option<Credential>, ForgeError> {
    let variable = wanted.variable;
    let token = |names: &[&str]| {
        let found = names.iter().find_map(|name| variable(name));
        found.map(|text| Credential::Token(Secret::new(text.trim())))
    };
    if kind == Kind::Gitea {
        // In a job of Gitea's own, `GITHUB_TOKEN` is Gitea's.
        let names: &[&str] = if is_gitea_job(variable) {
            &["GITEA_TOKEN", "FORGEJO_TOKEN", "GITHUB_TOKEN"]
        } else {
            &["GITEA_TOKEN", "FORGEJO_TOKEN"]
        };
        return Ok(token(names));
    }
    let (id, key) = (variable("GITHUB_APP_ID"), variable("GITHUB_APP_PRIVATE_KEY"));
    if let (Some(id), Some(key)) = (id, key) {
        let installation = variable("GITHUB_APP_INSTALLATION_ID");
        let parse = |text: String| {
            text.trim().parse().map_err(|_| ForgeError::Malformed {
                what: "GITHUB_APP_INSTALLATION_ID",
                wanted: "a number",
                given: text,
            })
        };
        let installation = installation.map(parse).transpose()?;
        let key = Secret::new(key);
        return Ok(Some(Credential::App(AppKey { id: id.trim().to_owned(), key, installation })));
    }
    Ok(token(&["GITHUB_TOKEN", "GH_TOKEN"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(
        remotes: &[&str],
        variables: &[(&str, &str)],
        flags: (Option<Kind>, Option<&str>, Option<&str>),
    ) -> Result<Site, ForgeError> {
        let remotes: Vec<String> = remotes.iter().map(|r| (*r).to_owned()).collect();
        let variable = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        let (kind, url, repository) = flags;
        detect(&Wanted { kind, url, repository, remotes: &remotes, variable: &variable })
    }

    const TOKEN: (&str, &str) = ("GITHUB_TOKEN", "ghp_planted");
    const NO_FLAGS: (Option<Kind>, Option<&str>, Option<&str>) = (None, None, None);

    #[test]
    fn remotes_of_github_say_the_repository() {
        for remote in [
            "https://github.com/ops/deploy.git",
            "https://github.com/ops/deploy",
            "git@github.com:ops/deploy.git",
            "ssh://git@github.com/ops/deploy.git",
            "ssh://git@ssh.github.com:443/ops/deploy.git",
            "https://GitHub.com/ops/deploy/",
        ] {
            // A job of another repository has that one in its environment.
            let found = site(&[remote], &[TOKEN, ("GITHUB_REPOSITORY", "ops/app")], NO_FLAGS);
            let found = found.unwrap_or_else(|e| panic!("{remote}: {e}"));
            assert_eq!(
                (found.api.as_str(), found.host.as_str()),
                (DEFAULT_GITHUB_API, "github.com")
            );
            assert_eq!(found.repository.to_string(), "ops/deploy", "{remote}");
        }
    }

    #[test]
    fn the_environment_says_it_where_the_remote_cannot() {
        let job = [
            TOKEN,
            ("GITHUB_API_URL", "http://127.0.0.1:9/api/v3"),
            ("GITHUB_REPOSITORY", "ops/deploy"),
        ];
        for remote in ["/srv/hub.git", "file:///srv/hub.git", "http://127.0.0.1:8/hub.git"] {
            let found = site(&[remote], &job, NO_FLAGS).unwrap();
            assert_eq!(found.repository.to_string(), "ops/deploy");
            assert_eq!(found.api, "http://127.0.0.1:9/api/v3");
        }
        let enterprise = [TOKEN, ("GITHUB_API_URL", "https://ghe.test/api/v3")];
        let found = site(&["git@ghe.test:ops/deploy.git"], &enterprise, NO_FLAGS).unwrap();
        assert_eq!((found.host.as_str(), found.kind), ("ghe.test", Kind::GitHub));
    }

    #[test]
    fn a_credential_goes_to_no_host_that_nobody_named() {
        // The remote is elsewhere: neither GitHub's token nor the job's API is meant.
        for variables in [
            vec![TOKEN],
            vec![TOKEN, ("GITHUB_API_URL", "https://api.github.com")],
            vec![TOKEN, ("GITHUB_REPOSITORY", "ops/app")],
            vec![TOKEN, ("GITEA_TOKEN", "x")],
        ] {
            let error = site(&["https://evil.test/ops/deploy.git"], &variables, NO_FLAGS);
            assert!(
                matches!(error, Err(ForgeError::UnknownForge { .. })),
                "{variables:?} {error:?}"
            );
        }
        let flags = (Some(Kind::GitHub), Some("http://evil.test/api/v3"), None);
        assert!(matches!(
            site(&["https://evil.test/a/b"], &[TOKEN], flags),
            Err(ForgeError::Malformed { .. })
        ));
    }

    #[test]
    fn flags_come_first() {
        let flags = (Some(Kind::Gitea), Some("https://git.test"), Some("team/deploy"));
        let variables = [TOKEN, ("GITEA_TOKEN", "tok")];
        let found = site(&["https://git.test/me/deploy.git"], &variables, flags).unwrap();
        assert_eq!(found.api, "https://git.test/api/v1");
        // The branch is pushed to a fork.
        assert_eq!(found.repository.to_string(), "team/deploy");
        assert_eq!(found.head.to_string(), "me/deploy");
        assert_eq!(found.credential, Credential::Token(Secret::new("tok")));
    }

    #[test]
    fn jobs_of_gitea_look_like_those_of_github() {
        let job = [
            TOKEN,
            ("GITEA_ACTIONS", "true"),
            ("GITHUB_API_URL", "https://git.test/api/v1"),
            ("GITHUB_REPOSITORY", "ops/deploy"),
        ];
        let found = site(&["https://git.test/ops/deploy"], &job, NO_FLAGS).unwrap();
        assert_eq!((found.kind, found.api.as_str()), (Kind::Gitea, "https://git.test/api/v1"));
        // Outside of such a job GitHub's token is not Gitea's.
        let outside = [TOKEN, ("GITEA_SERVER_URL", "https://git.test")];
        let found = site(&["https://git.test/ops/deploy"], &outside, NO_FLAGS);
        assert!(matches!(found, Err(ForgeError::NoCredential { .. })));
    }

    #[test]
    fn names_of_repositories_are_two_words() {
        for text in ["", "ops", "ops/", "/deploy", "a/b/c", "../x", "a/..", "a b/c", "ops/de?x"] {
            assert_eq!(RepositoryName::parse(text), None, "{text}");
        }
        assert!(RepositoryName::parse("Ops/de.ploy_2").unwrap().is("ops/DE.ploy_2"));
    }
}
