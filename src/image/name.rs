//! Names of images as people write them, compared with the registry defaults made explicit.

/// The registry that a name without one belongs to.
const DOCKER_HUB: &str = "docker.io";

/// `name` (no tag, no digest) with Docker Hub's defaults written out: `redis` becomes
/// `docker.io/library/redis`, `index.docker.io/x/y` becomes `docker.io/x/y`.
///
/// The rule that tells a host from a path is that of distribution's `reference.ParseNormalizedNamed`:
/// the first segment is a host if it holds a dot or a colon, is `localhost`, or has an upper-case letter.
/// Any text is accepted, placeholders too, since the result is compared and never written.
#[must_use]
pub fn normalize_name(name: &str) -> String {
    let (host, path) = match name.split_once('/') {
        Some((first, rest)) if is_host(first) => (first, rest),
        _ => (DOCKER_HUB, name),
    };
    let host = if host == "index.docker.io" { DOCKER_HUB } else { host };
    match host == DOCKER_HUB && !path.contains('/') {
        true => format!("{host}/library/{path}"),
        false => format!("{host}/{path}"),
    }
}

/// Whether two names mean one repository, registry defaults made explicit.
#[must_use]
pub fn is_same_name(a: &str, b: &str) -> bool {
    a == b || normalize_name(a) == normalize_name(b)
}

/// Whether `suffix` is one or more whole path segments at the end of `name`: `web` and `team/web` fit
/// `registry.example/team/web`, `eb` does not.
#[must_use]
pub fn last_segments_match(name: &str, suffix: &str) -> bool {
    !suffix.is_empty()
        && name
            .strip_suffix(suffix)
            .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn is_host(segment: &str) -> bool {
    segment.contains(['.', ':'])
        || segment == "localhost"
        || segment.chars().any(|c| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_hub_defaults_are_made_explicit() {
        for spelling in ["redis", "library/redis", "docker.io/redis", "docker.io/library/redis"] {
            assert_eq!(normalize_name(spelling), "docker.io/library/redis", "{spelling}");
        }
        assert_eq!(normalize_name("index.docker.io/redis"), "docker.io/library/redis");
        assert_eq!(normalize_name("team/web"), "docker.io/team/web");
    }

    #[test]
    fn a_host_has_a_dot_a_port_or_is_localhost() {
        assert_eq!(normalize_name("localhost/web"), "localhost/web");
        assert_eq!(normalize_name("registry:5000/web"), "registry:5000/web");
        assert_eq!(normalize_name("[::1]:5000/web"), "[::1]:5000/web");
        assert_eq!(normalize_name("ghcr.io/redis"), "ghcr.io/redis");
    }

    #[test]
    fn last_segments_are_whole() {
        assert!(last_segments_match("registry.example/team/web", "web"));
        assert!(last_segments_match("registry.example/team/web", "team/web"));
        assert!(!last_segments_match("registry.example/team/web", "eb"));
        assert!(!last_segments_match("registry.example/team/web", ""));
    }
}
