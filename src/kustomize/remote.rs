//! Which references are remote: git repositories and files fetched over HTTP.
//!
//! Kustomize decides by the text alone, before it looks for a directory of that name. Source:
//! kustomize api `internal/git/repospec.go` and `internal/loader/fileloader.go`.

/// The fields of a kustomization whose items may be remote.
pub const REFERENCE_FIELDS: [&str; 8] = [
    "resources",
    "bases",
    "components",
    "crds",
    "configurations",
    "generators",
    "transformers",
    "validators",
];

/// Whether kustomize would clone `reference` with git.
#[must_use]
pub fn is_git_url(reference: &str) -> bool {
    if reference.starts_with('/') {
        return false;
    }
    let without_query = reference.split_once('?').map_or(reference, |(url, _)| url);
    split_host(without_query).is_some_and(|(scheme, path)| is_repository_path(path, scheme))
}

/// Whether kustomize would fetch `reference` as a file over HTTP.
#[must_use]
pub fn is_http_url(reference: &str) -> bool {
    let lower = reference.to_ascii_lowercase();
    lower.starts_with("http:") || lower.starts_with("https:")
}

/// Whether `reference` is remote in either way.
#[must_use]
pub fn is_remote(reference: &str) -> bool {
    is_http_url(reference) || is_git_url(reference)
}

/// `text` for people: what stands between `scheme://` and `@` of an address in it is hidden, but for a
/// plain user of SSH.
#[must_use]
pub fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, authority) = rest.split_at(at + 3);
        out.push_str(before);
        let ends = |c: char| c.is_whitespace() || "/?#'\"`".contains(c);
        let end = authority.find(ends).unwrap_or(authority.len());
        let person = authority[..end].rfind('@');
        let is_ssh = before.len() >= 6 && before[..at].to_ascii_lowercase().ends_with("ssh");
        let is_hidden = |person: &str| !person.is_empty() && (!is_ssh || person.contains(':'));
        rest = match person {
            Some(person) if is_hidden(&authority[..person]) => {
                out.push_str("***");
                &authority[person..]
            }
            _ => authority,
        };
    }
    out.push_str(rest);
    out
}

/// How the first part of the path of a supplied remote repository begins; no path of a local file does.
pub const MOUNT_PREFIX: &str = "remote:";

/// The supplied remote repository that a path lies in: its first part.
#[must_use]
pub fn mount_of(path: &str) -> Option<&str> {
    path.split('/').next().filter(|first| first.starts_with(MOUNT_PREFIX))
}

/// A reference to a directory of a git repository, taken apart as kustomize does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUrl {
    /// What git is given to fetch from.
    pub address: String,
    /// The directory in the repository; empty for its top.
    pub directory: String,
    /// `ref`, else `version`, of the query: a branch, tag or commit.
    pub reference: Option<String>,
}

impl GitUrl {
    /// Takes a reference apart; `None` where kustomize would not clone it.
    ///
    /// Source: kustomize api `internal/git/repospec.go`.
    #[must_use]
    pub fn parse(reference: &str) -> Option<Self> {
        if !is_git_url(reference) {
            return None;
        }
        let (url, query) = reference.split_once('?').unwrap_or((reference, ""));
        let (scheme, path) = split_host(url)?;
        let (length, root) = split_repository(path, scheme);
        let host = &url[..url.len() - path.len()];
        let address = format!("{}{}", clone_host(host, scheme), &path[..length?]);
        let directory = clean(root.trim_start_matches('/'));
        let directory = if directory == "." { String::new() } else { directory };
        Some(Self { address, directory, reference: reference_of(query) })
    }
}

/// Scheme, user and host as they are given to git: `github.com` is always reached in one of two ways.
fn clone_host(host: &str, scheme: &str) -> String {
    let host = strip_prefix_fold(host, "git::").unwrap_or(host);
    let rest = strip_prefix_fold(host, scheme).unwrap_or(host);
    let (user, address) = rest.split_at(user_length(rest));
    if scheme != FILE
        && ["github.com/", "github.com:"].iter().any(|name| address.eq_ignore_ascii_case(name))
    {
        let is_ssh = scheme == "ssh://" || !user.is_empty();
        return if is_ssh {
            format!("{user}github.com:")
        } else {
            "https://github.com/".to_owned()
        };
    }
    format!("{scheme}{rest}")
}

/// `ref` of a query where it is not empty, else `version`; a query that Go cannot read has none.
fn reference_of(query: &str) -> Option<String> {
    let mut version = None;
    let mut reference = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (unescape(key)?, unescape(value)?);
        match &*key {
            "ref" if reference.is_none() => reference = Some(value),
            "version" if version.is_none() => version = Some(value),
            _ if pair.contains(';') => return None,
            _ => {}
        }
    }
    let filled = |text: &String| !text.is_empty();
    reference.filter(filled).or(version).filter(filled)
}

/// Go's `url.QueryUnescape`.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

const FILE: &str = "file://";

/// The scheme (perhaps empty) and what stands after the host.
fn split_host(url: &str) -> Option<(&'static str, &str)> {
    let url = strip_prefix_fold(url, "git::").unwrap_or(url);
    let (scheme, rest) = ["ssh://", "https://", "http://", FILE]
        .into_iter()
        .find_map(|scheme| Some((scheme, strip_prefix_fold(url, scheme)?)))
        .unwrap_or(("", url));
    let user = user_length(rest);
    if scheme == FILE {
        return Some((FILE, rest));
    }
    let address = &rest[user..];
    let lower = address.to_ascii_lowercase();
    let github = lower.starts_with("github.com/") || lower.starts_with("github.com:");
    let scp = scheme.is_empty() && (user > 0 || github);
    if scheme.is_empty() && !scp {
        return None;
    }
    let path = match separator(address, scp) {
        Some(at) => &address[at + 1..],
        None if address.is_empty() => return None,
        None => "",
    };
    Some((scheme, path))
}

fn separator(address: &str, scp: bool) -> Option<usize> {
    let slash = address.find('/');
    let colon = address.find(':').filter(|_| scp);
    match (slash, colon) {
        (None, colon) => colon,
        (Some(slash), Some(colon)) if colon > 0 && colon < slash => Some(colon),
        (slash, _) => slash,
    }
}

/// The length of `user@`, or 0.
fn user_length(rest: &str) -> usize {
    let Some(at) = rest.find('@') else { return 0 };
    let name = &rest.as_bytes()[..at];
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-');
    if is_name { at + 1 } else { 0 }
}

fn is_repository_path(path: &str, scheme: &str) -> bool {
    let (repository, root) = split_repository(path, scheme);
    let first = |root: &str| clean(root.trim_start_matches('/')).split('/').next() == Some("..");
    repository.is_some_and(|length| length > 0) && !first(root)
}

/// The length of the repository's part of the path, and the path inside of it.
fn split_repository<'a>(path: &'a str, scheme: &str) -> (Option<usize>, &'a str) {
    if let Some(at) = path.find("_git/") {
        let rest = &path[at + 5..];
        let name = rest.find('/').unwrap_or(rest.len());
        return (Some(at + 5 + name), rest.get(name + 1..).unwrap_or(""));
    }
    if let Some(at) = path.find("//") {
        return (Some(at), &path[at + 2..]);
    }
    if let Some(at) = path.find(".git") {
        return (Some(at + 4), &path[at + 4..]);
    }
    if scheme == FILE {
        return (Some(path.len()), "");
    }
    match path.match_indices('/').nth(1) {
        Some((at, _)) => (Some(at), &path[at + 1..]),
        None if path.contains('/') => (Some(path.len()), ""),
        None => (None, ""),
    }
}

fn strip_prefix_fold<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// Go's `path.Clean` for a relative path: `.` for nothing, `..` only at the start.
#[must_use]
pub fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What kustomize's own parser says, as the tests beside it do.
    #[test]
    fn urls_are_taken_apart_as_kustomize_does() {
        for (text, address, directory, reference) in [
            ("https://github.com/org/repo", "https://github.com/org/repo", "", None),
            (
                "https://github.com/org/repo/a/b?ref=v1",
                "https://github.com/org/repo",
                "a/b",
                Some("v1"),
            ),
            (
                "https://github.com/org/repo.git/a?ref=v1",
                "https://github.com/org/repo.git",
                "a",
                Some("v1"),
            ),
            (
                "https://github.com/org/repo//a?version=v2",
                "https://github.com/org/repo",
                "a",
                Some("v2"),
            ),
            ("github.com/org/repo/a", "https://github.com/org/repo", "a", None),
            ("github.com:org/repo.git/a", "https://github.com/org/repo.git", "a", None),
            ("git@github.com:org/repo.git//a?ref=x", "git@github.com:org/repo.git", "a", Some("x")),
            ("git@github.com/org/repo", "git@github.com:org/repo", "", None),
            ("ssh://git@github.com/org/repo", "git@github.com:org/repo", "", None),
            ("git::https://host.xz/org/repo", "https://host.xz/org/repo", "", None),
            (
                "ssh://git@host.xz:7999/org/repo.git//a",
                "ssh://git@host.xz:7999/org/repo.git",
                "a",
                None,
            ),
            ("user@host.xz:org/repo.git/a", "user@host.xz:org/repo.git", "a", None),
            (
                "https://dev.azure.com/o/p/_git/repo/a?ref=b",
                "https://dev.azure.com/o/p/_git/repo",
                "a",
                Some("b"),
            ),
            ("file:///srv/repo.git//a?ref=a%2Fb", "file:///srv/repo.git", "a", Some("a/b")),
            ("file:///srv/repo", "file:///srv/repo", "", None),
            ("https://host.xz/o/r//a?ref=&version=v3", "https://host.xz/o/r", "a", Some("v3")),
        ] {
            let url = GitUrl::parse(text).unwrap();
            assert_eq!(
                (&*url.address, &*url.directory, url.reference.as_deref()),
                (address, directory, reference),
                "{text}"
            );
        }
        for text in ["../base", "/abs", "file:///srv/repo//../x", "ftp://host/o/r", "base"] {
            assert_eq!(GitUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn nobody_sees_credentials() {
        for (text, shown) in [
            ("https://bot:tok@h/o/r//a?ref=v1", "https://***@h/o/r//a?ref=v1"),
            ("a HTTPS://tok@h and http://h/x@y b", "a HTTPS://***@h and http://h/x@y b"),
            ("ssh://git@h/o/r", "ssh://git@h/o/r"),
            ("git::ssh://git:tok@h/o/r", "git::ssh://***@h/o/r"),
            ("- 'https://a:b@h' # https://c:d@é/", "- 'https://***@h' # https://***@é/"),
            ("git@github.com:o/r, file:///x@y", "git@github.com:o/r, file:///x@y"),
            ("://x@y ://", "://***@y ://"),
            ("é://", "é://"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }

    #[test]
    fn urls_that_kustomize_clones() {
        for url in [
            "https://github.com/org/repo",
            "https://github.com/org/repo//path?ref=v1",
            "github.com/org/repo",
            "github.com/org/repo/deep/path?ref=main",
            "git@github.com:org/repo.git",
            "git::https://example.com/org/repo",
            "ssh://git@host.xz/org/repo",
            "file:///srv/repo//path?ref=x",
            "https://dev.azure.com/org/project/_git/repo/path",
            "user@host.xz:org/repo.git/path",
        ] {
            assert!(is_git_url(url), "{url}");
        }
    }

    #[test]
    fn paths_that_kustomize_looks_for_on_disk() {
        for path in [
            "../base",
            "/abs/path",
            "github.com",
            "example.com/org/repo",
            "https://example.com/one",
            "a@b/c",
            "https://github.com/org/repo//../../etc",
        ] {
            assert!(!is_git_url(path), "{path}");
        }
    }
}
