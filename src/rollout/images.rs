//! Whether pods run the images that git pins, by what their nodes say they run (`imageID`).
//!
//! Sources: Kubernetes `pkg/kubelet/kuberuntime/convert.go` (`imageID`), `pkg/util/parsers`; distribution `reference`
//! (`docker.io`, `library`, `index.docker.io`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::Finding;
use super::live::{items_at, text_at};
use crate::image::{Digest, Reference};

/// What a container is to run, by git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedImage {
    /// The container's name.
    pub container: String,
    /// The image as rendered.
    pub image: String,
}

/// Whether one image is a platform of another: a question for a registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The repository, as written.
    pub repository: String,
    /// What git pins.
    pub pinned: Digest,
    /// What the node says it runs.
    pub running: Digest,
}

/// What registries said: the images of an index; none for an image that is no index.
#[derive(Clone, Debug, Default)]
pub struct Indexes {
    known: BTreeMap<(String, Digest), Vec<Digest>>,
}

/// How what runs stands to what is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Match {
    Same,
    Other(String),
    Unknown(Option<Question>, String),
}

impl Indexes {
    /// Notes the images of the index `digest` of `repository`.
    pub fn insert(&mut self, repository: &str, digest: Digest, images: Vec<Digest>) {
        self.known.insert((repository.to_owned(), digest), images);
    }

    /// Whether one of the two is an index that has the other; `None` where not both are known.
    fn are_related(&self, question: &Question) -> Option<bool> {
        let images =
            |digest: &Digest| self.known.get(&(question.repository.clone(), digest.clone()));
        let (of_pinned, of_running) = (images(&question.pinned), images(&question.running));
        let has = |images: Option<&Vec<Digest>>, digest: &Digest| {
            images.is_some_and(|images| images.contains(digest))
        };
        if has(of_pinned, &question.running) || has(of_running, &question.pinned) {
            return Some(true);
        }
        (of_pinned.is_some() && of_running.is_some()).then_some(false)
    }
}

/// The digest in an `imageID`: `docker.io/library/redis@sha256:…`, `docker-pullable://redis@sha256:…`. A bare
/// `sha256:…` is that of the image's configuration, which no registry knows it by.
#[must_use]
pub fn running_digest(image_id: &str) -> Option<Digest> {
    let (_, digest) = image_id.rsplit_once('@')?;
    Digest::parse(digest).ok()
}

/// A name with what is left out of it: `redis` is `docker.io/library/redis`.
#[must_use]
pub fn whole_name(name: &str) -> String {
    let (host, path) = match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (host, path),
        _ => ("docker.io", name),
    };
    let host = if host == "index.docker.io" { "docker.io" } else { host };
    match host == "docker.io" && !path.contains('/') {
        true => format!("{host}/library/{path}"),
        false => format!("{host}/{path}"),
    }
}

/// Whether two references are one: the names as a runtime completes them, tag and digest as written.
fn is_same_reference(one: &str, other: &str) -> bool {
    let parts = |text: &str| {
        let reference = Reference::parse(text).ok()?;
        let tag = match (reference.tag(), reference.digest()) {
            (None, None) => Some("latest".to_owned()),
            (tag, _) => tag.map(str::to_owned),
        };
        Some((whole_name(reference.name()), tag, reference.digest().cloned()))
    };
    one == other || (parts(one).is_some() && parts(one) == parts(other))
}

/// The statuses of all containers of a pod.
fn statuses(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/status/containerStatuses", "/status/initContainerStatuses"];
    lists.into_iter().flat_map(|pointer| items_at(pod, pointer))
}

/// The containers of a pod as specified.
fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/spec/containers", "/spec/initContainers"];
    lists.into_iter().flat_map(|pointer| items_at(pod, pointer))
}

/// Compares the pods with what is wanted. `None` for a container that has not started.
fn compare(pod: &Value, wanted: &WantedImage, indexes: &Indexes) -> Option<Match> {
    let specified = containers(pod).find(|container| container["name"] == *wanted.container)?;
    let specified = text_at(specified, "/image");
    let Ok(reference) = Reference::parse(&wanted.image) else {
        return Some(Match::Unknown(None, format!("{} is no image", wanted.image)));
    };
    if !is_same_reference(specified, &wanted.image) {
        return Some(Match::Other(format!("it is made from {specified}")));
    }
    let pinned = reference.digest()?;
    let status = statuses(pod).find(|status| status["name"] == *wanted.container)?;
    let image_id = text_at(status, "/imageID");
    if image_id.is_empty() {
        return None;
    }
    let Some(running) = running_digest(image_id) else {
        let why = format!("its node gives {image_id}, which is no digest of a registry");
        return Some(Match::Unknown(None, why));
    };
    if running == *pinned {
        return Some(Match::Same);
    }
    let (repository, pinned) = (reference.name().to_owned(), pinned.clone());
    let question = Question { repository, pinned, running };
    let running = &question.running;
    Some(match indexes.are_related(&question) {
        Some(true) => Match::Same,
        Some(false) => Match::Other(format!("its node runs {running}, which is no part of it")),
        None => {
            let why = format!("its node runs {running}, which may be a platform of it");
            Match::Unknown(Some(question), why)
        }
    })
}

/// What a registry has to be asked about these pods.
#[must_use]
pub(super) fn questions(pods: &[&Value], wanted: &[WantedImage]) -> BTreeSet<Question> {
    let pairs = pods.iter().flat_map(|pod| wanted.iter().map(move |wanted| (pod, wanted)));
    let asked = pairs.filter_map(|(pod, wanted)| match compare(pod, wanted, &Indexes::default()) {
        Some(Match::Unknown(question, _)) => question,
        _ => None,
    });
    asked.collect()
}

/// The pods that run something else, and those of which nobody can tell.
#[must_use]
pub(super) fn image_findings(
    pods: &[&Value],
    wanted: &[WantedImage],
    indexes: &Indexes,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for wanted in wanted {
        for pod in pods {
            let (container, image) = (&wanted.container, &wanted.image);
            let (id, why) = match compare(pod, wanted, indexes) {
                None | Some(Match::Same) => continue,
                Some(Match::Other(why)) => ("image-other", why),
                Some(Match::Unknown(_, why)) => ("image-unknown", why),
            };
            let message = format!("container {container} is to run {image}: {why}");
            found.push(Finding::about(pod, id, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn judge(wanted: &str, specified: &str, image_id: &str, indexes: &Indexes) -> &'static str {
        let pod = json!({"spec": {"containers": [{"name": "web", "image": specified}]},
            "status": {"containerStatuses": [{"name": "web", "imageID": image_id}]}});
        let wanted = WantedImage { container: "web".into(), image: wanted.into() };
        match compare(&pod, &wanted, indexes) {
            None => "nothing",
            Some(Match::Same) => "same",
            Some(Match::Other(_)) => "other",
            Some(Match::Unknown(Some(_), _)) => "ask",
            Some(Match::Unknown(None, _)) => "unknown",
        }
    }

    #[test]
    fn names_are_completed_as_a_runtime_does() {
        for (name, whole) in [
            ("redis", "docker.io/library/redis"),
            ("index.docker.io/redis", "docker.io/library/redis"),
            ("docker.io/library/redis", "docker.io/library/redis"),
            ("team/web", "docker.io/team/web"),
            ("localhost/web", "localhost/web"),
            ("registry:5000/web", "registry:5000/web"),
            ("ghcr.io/team/web", "ghcr.io/team/web"),
        ] {
            assert_eq!(whole_name(name), whole);
        }
    }

    #[test]
    fn a_pod_runs_the_pinned_image_when_its_node_says_that_digest() {
        let none = Indexes::default();
        let pinned = format!("redis:7@{A}");
        for (image_id, want) in [
            (format!("docker.io/library/redis@{A}"), "same"),
            (format!("docker-pullable://redis@{A}"), "same"),
            (format!("mirror.example/redis@{A}"), "same"),
            (format!("docker.io/library/redis@{B}"), "ask"),
            (A.to_owned(), "unknown"),
            (format!("docker://{A}"), "unknown"),
            (String::new(), "nothing"),
        ] {
            assert_eq!(judge(&pinned, &pinned, &image_id, &none), want, "{image_id}");
        }
    }

    #[test]
    fn a_pod_of_another_image_is_told_by_its_specification() {
        let none = Indexes::default();
        let id = format!("docker.io/library/redis@{A}");
        let pinned = format!("redis:7@{A}");
        assert_eq!(judge(&pinned, &format!("redis:7@{B}"), &id, &none), "other");
        assert_eq!(judge(&pinned, &format!("redis:6@{A}"), &id, &none), "other");
        assert_eq!(judge(&pinned, &format!("docker.io/library/redis:7@{A}"), &id, &none), "same");
        assert_eq!(judge("redis", "redis:latest", &id, &none), "nothing");
    }

    #[test]
    fn an_index_and_its_platform_are_one_where_a_registry_says_so() {
        let digest = |text: &str| Digest::parse(text).unwrap();
        let pinned = format!("ghcr.io/team/web@{A}");
        let id = format!("ghcr.io/team/web@{B}");
        let mut indexes = Indexes::default();
        indexes.insert("ghcr.io/team/web", digest(A), vec![digest(B)]);
        assert_eq!(judge(&pinned, &pinned, &id, &indexes), "same");
        let mut reverse = Indexes::default();
        reverse.insert("ghcr.io/team/web", digest(B), vec![digest(A)]);
        assert_eq!(judge(&pinned, &pinned, &id, &reverse), "same");
        let mut neither = Indexes::default();
        neither.insert("ghcr.io/team/web", digest(A), vec![]);
        assert_eq!(judge(&pinned, &pinned, &id, &neither), "ask");
        neither.insert("ghcr.io/team/web", digest(B), vec![]);
        assert_eq!(judge(&pinned, &pinned, &id, &neither), "other");
    }
}
