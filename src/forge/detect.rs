//! Which forge and which repository is meant, and where its credential may go.
//!
//! The order is fixed: what flags say; the forge that the environment names, where the remote is on its host; the hosts
//! that everybody knows; the forge that the environment names, where the remote is on no host at all. A credential goes to
//! the host that flags, the environment or its own name (`GITHUB_TOKEN`: api.github.com) name, and to no other. Variables are those of
//! GitHub Actions (docs.github.com, "Variables reference"), of Gitea's and Forgejo's runners, which set the same and
//! `GITEA_ACTIONS` or `FORGEJO_ACTIONS` beside them, of GitLab's (docs.gitlab.com, "Predefined CI/CD variables"), and `GITLAB_HOST` of GitLab's
//! own command line.

use super::credential::{AppKey, Credential};
use super::error::ForgeError;
use crate::http::Secret;

/// The address of GitHub's API.
pub const DEFAULT_GITHUB_API: &str = "https://api.github.com";

/// The address of GitLab's API on its own host.
const DEFAULT_GITLAB_API: &str = "https://gitlab.com/api/v4";

/// A kind of forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// GitHub and GitHub Enterprise.
    GitHub,
    /// Gitea and Forgejo.
    Gitea,
    /// GitLab.
    GitLab,
}

impl Kind {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub",
            Self::Gitea => "Gitea",
            Self::GitLab => "GitLab",
        }
    }

    fn variables(self) -> &'static str {
        match self {
            Self::GitHub => {
                "GITHUB_TOKEN or GH_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY of an App"
            }
            Self::Gitea => "GITEA_TOKEN",
            Self::GitLab => "GITLAB_TOKEN",
        }
    }
}

/// `OWNER/NAME`; at GitLab the owner may be a group of a group.
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
        Self::parse_at(Kind::GitHub, text)
    }

    /// Reads the name of a repository at a forge of this kind.
    fn parse_at(kind: Kind, text: &str) -> Option<Self> {
        let (owner, name) = text.rsplit_once('/')?;
        let is_part = |part: &str| {
            let is_byte = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
            !part.is_empty() && part != "." && part != ".." && part.bytes().all(is_byte)
        };
        let may_be = kind == Kind::GitLab || !owner.contains('/');
        (may_be && owner.split('/').all(is_part) && is_part(name))
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
        Some(text) => Some(RepositoryName::parse_at(kind, text).ok_or_else(|| {
            ForgeError::Malformed { what: "--repo", wanted: "OWNER/NAME", given: text.to_owned() }
        })?),
    };
    let pushed = remotes.iter().find(|remote| is_host(remote.host, &host));
    let pushed = pushed.and_then(|remote| RepositoryName::parse_at(kind, remote.path));
    let variable = if kind == Kind::GitLab { "CI_PROJECT_PATH" } else { "GITHUB_REPOSITORY" };
    let of_job = || RepositoryName::parse_at(kind, &(wanted.variable)(variable)?);
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
    let gitlab = (Kind::GitLab, DEFAULT_GITLAB_API.to_owned());
    let everybodys = [&github, &gitlab];
    if let Some(found) = everybodys.iter().find(|f| is_wanted(f.0) && on_host(&f.1)) {
        return Ok((*found).clone());
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
    let host = |name: String| match name.contains("://") {
        true => name,
        false => format!("https://{name}"),
    };
    let gitlab = variable("CI_API_V4_URL").or_else(|| variable("GITLAB_HOST").map(host));
    let gitlab = gitlab.map(|url| (Kind::GitLab, url));
    let named = gitea.into_iter().chain(of_job).chain(gitlab);
    named.map(|(kind, url)| Ok((kind, api_address(kind, &url)?))).collect()
}

/// Whether this is a job of Gitea's or Forgejo's runner.
fn is_gitea_job(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    ["GITEA_ACTIONS", "FORGEJO_ACTIONS"].iter().any(|name| variable(name).is_some())
}

fn kind_of_address(url: &str) -> Kind {
    match url.trim_end_matches('/') {
        url if url.ends_with("/api/v1") => Kind::Gitea,
        url if url.ends_with("/api/v4") => Kind::GitLab,
        _ => Kind::GitHub,
    }
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
        Kind::GitLab => format!("{url}/api/v4"),
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
    path: &'a str,
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
        Some(Self { host, path })
    }
}

/// What the environment holds for this kind of forge.
fn find_credential(kind: Kind, wanted: &Wanted<'_>) -> Result<Option<Credential>, ForgeError> {
    let variable = wanted.variable;
    let token = |names: &[&str]| {
        let found = names.iter().find_map(|name| variable(name));
        found.map(|text| Credential::Token(Secret::new(text.trim())))
    };
    if kind == Kind::GitLab {
        return Ok(token(&["GITLAB_TOKEN"]));
    }
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
mod tests;
