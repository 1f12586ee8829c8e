//! Which references are remote: git repositories and files fetched over HTTP.
//!
//! Kustomize decides by the text alone, before it looks for a directory of that name. Source:
//! kustomize api `internal/git/repospec.go` and `internal/loader/fileloader.go`.

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
    let name = rest[..at].as_bytes();
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
