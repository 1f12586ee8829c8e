//! Addresses of repositories: when two spellings name the same one.

/// An address without scheme, user, default port, `.git`, slashes at its end and case, so that the HTTPS and the SSH form
/// of one repository come out alike (Argo CD `util/git` `NormalizeGitURL` does the same within one scheme).
#[must_use]
pub fn normalised(url: &str) -> String {
    let lower = url.trim().to_lowercase();
    let (scheme, address) = lower.split_once("://").unwrap_or(("", &lower));
    let address = match address.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => address,
    };
    let path = address.trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let port = match scheme {
        "https" => ":443/",
        "http" => ":80/",
        "ssh" => ":22/",
        _ => return path.replacen(':', "/", 1).replacen("//", "/", 1),
    };
    path.replacen(port, "/", 1).replacen(':', "/", 1)
}

/// Whether two addresses name one repository.
#[must_use]
pub fn is_same_repository(one: &str, other: &str) -> bool {
    normalised(one) == normalised(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_many_spellings() {
        for url in [
            "https://example.test/team/deploy.git",
            "https://example.test:443/team/deploy/",
            "https://user:secret@example.test/team/deploy",
            "git@example.test:team/deploy.git",
            "git@example.test:/team/deploy.git",
            "ssh://git@example.test:22/team/Deploy",
            "ssh://git@EXAMPLE.test/team/deploy.git/",
        ] {
            assert_eq!(normalised(url), "example.test/team/deploy", "{url}");
        }
        assert_eq!(normalised("file:///srv/deploy.git"), normalised("/srv/deploy"));
    }

    #[test]
    fn other_ports_and_paths_are_other_repositories() {
        assert!(!is_same_repository("https://a.test:8443/x/y", "https://a.test/x/y"));
        assert!(!is_same_repository("https://a.test/x/y", "https://a.test/x/y2"));
    }
}
