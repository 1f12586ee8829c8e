//! Where an image is asked for: Docker Hub's defaults made explicit, mirrors, and who may be asked without TLS.

use crate::image::Reference;

/// The host that stands in names of Docker Hub, and the one that answers for it.
const DOCKER_HUB: &str = "docker.io";
const DOCKER_HUB_API: &str = "registry-1.docker.io";

/// A repository of a registry, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    /// The host with its port that answers, in lower case.
    pub host: String,
    /// The path of the repository.
    pub path: String,
}

impl Repository {
    /// Where `reference` is asked for (distribution's `reference.ParseNormalizedNamed`): a name without a host is Docker Hub's,
    /// one word there is below `library/`, and Docker Hub answers at another host than its name.
    pub fn of(reference: &Reference) -> Self {
        let host = reference.host().unwrap_or(DOCKER_HUB).to_ascii_lowercase();
        let path = reference.repository();
        if !is_docker_hub(&host) {
            return Self { host, path: path.to_owned() };
        }
        let path = if path.contains('/') { path.to_owned() } else { format!("library/{path}") };
        Self { host: DOCKER_HUB_API.to_owned(), path }
    }
}

impl std::fmt::Display for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.host, self.path)
    }
}

/// Whether a host is one of Docker Hub's names.
pub(super) fn is_docker_hub(host: &str) -> bool {
    matches!(host, DOCKER_HUB | "index.docker.io" | DOCKER_HUB_API)
}

/// Hosts that are asked in place of others. A mirror is another host: no credential of the mirrored one goes there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors(Vec<(String, String)>);

impl Mirrors {
    /// Reads `HOST=MIRROR` pairs; a mirror may have a path that goes before the repository (`cache.example/hub`).
    ///
    /// # Errors
    /// The text that is no such pair.
    pub fn parse<S: AsRef<str>>(pairs: &[S]) -> Result<Self, String> {
        let parse = |pair: &str| {
            let (host, mirror) = pair.split_once('=')?;
            let probe = Reference::parse(&format!("{mirror}/x")).ok()?;
            let is_plain = !host.is_empty() && !host.contains('/');
            (is_plain && probe.host().is_some())
                .then(|| (canonical(host), mirror.trim_end_matches('/').to_owned()))
        };
        let read = |pair: &S| parse(pair.as_ref()).ok_or_else(|| pair.as_ref().to_owned());
        pairs.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Where `repository` is asked for: at the mirror of its host, if that has one.
    pub(super) fn apply(&self, repository: Repository) -> Repository {
        let mirror = self.0.iter().find(|(host, _)| *host == repository.host);
        let Some((_, mirror)) = mirror else { return repository };
        let (host, before) = mirror.split_once('/').unwrap_or((mirror, ""));
        let before = if before.is_empty() { String::new() } else { format!("{before}/") };
        Repository { host: host.to_ascii_lowercase(), path: format!("{before}{}", repository.path) }
    }
}

/// One spelling for each host.
pub(super) fn canonical(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    if is_docker_hub(&host) { DOCKER_HUB_API.to_owned() } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, String) {
        let Repository { host, path } = Repository::of(&Reference::parse(text).unwrap());
        (host, path)
    }

    // The table of case C88.
    #[test]
    fn names_lead_to_their_host() {
        for (text, host, path) in [
            ("nginx", "registry-1.docker.io", "library/nginx"),
            ("docker.io/nginx", "registry-1.docker.io", "library/nginx"),
            ("index.docker.io/library/nginx", "registry-1.docker.io", "library/nginx"),
            ("acme/app", "registry-1.docker.io", "acme/app"),
            ("localhost/app", "localhost", "app"),
            ("localhost:5000/nginx", "localhost:5000", "nginx"),
            ("registry.test/nginx", "registry.test", "nginx"),
            ("acme.io/app", "acme.io", "app"),
            ("ACME/app", "acme", "app"),
            ("[::1]:5000/app", "[::1]:5000", "app"),
            ("registry.test:5000/a/b/c:v1", "registry.test:5000", "a/b/c"),
        ] {
            assert_eq!(of(text), (host.to_owned(), path.to_owned()), "{text}");
        }
        assert!(Reference::parse("registry.test/Shop/web").is_err());
    }

    #[test]
    fn mirrors_stand_in_for_their_host_alone() {
        let mirrors = Mirrors::parse(&["docker.io=cache.example:5000/hub", "a.io=b.io"]).unwrap();
        let at = |text: &str| {
            mirrors.apply(Repository::of(&Reference::parse(text).unwrap())).to_string()
        };
        assert_eq!(at("nginx"), "cache.example:5000/hub/library/nginx");
        assert_eq!(at("a.io/x"), "b.io/x");
        assert_eq!(at("c.io/x"), "c.io/x");
        for wrong in ["a.io", "a.io=", "=b.io", "a.io/x=b.io", "a.io=http://b.io", "a.io=b"] {
            assert_eq!(Mirrors::parse(&[wrong]), Err(wrong.to_owned()));
        }
    }
}
