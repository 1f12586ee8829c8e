//! Did running pods start before the Secret that they mount last changed? Programs read an authority when they start.
//!
//! Objects are those of the Kubernetes API as JSON. When a Secret's data changed is not written down as such: what is known
//! is when a manager last wrote it (`metadata.managedFields`, which `kubectl get` leaves out unless told
//! `--show-managed-fields`), when it was created, and that it cannot hold a certificate from before that certificate began.

use serde_json::Value;

/// When a Secret's value changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Last at that second, as its managers say.
    At(i64),
    /// At that second or later: it is not known when.
    NotBefore(i64),
}

/// A container that reads a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// What made the pod, `KIND/NAME`, where that is known.
    pub owner: Option<String>,
    /// When the container started, in seconds since 1970.
    pub started: Option<i64>,
    /// Whether it has what is there now.
    pub state: ReaderState,
}

/// Whether a container has the present value of a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderState {
    /// It started after the last change.
    Current,
    /// It started before the last change.
    Stale,
    /// It cannot be known.
    Unknown,
}

impl ReaderState {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Stale => "stale",
            Self::Unknown => "unknown",
        }
    }
}

/// When the value of `key` of a Secret changed; `not_before` is when the newest certificate in it begins.
pub fn changed(secret: &Value, key: &str, not_before: Option<i64>, parse: ParseTime) -> Changed {
    let field = format!("f:{key}");
    let managers = secret["metadata"]["managedFields"].as_array();
    let writes = managers.into_iter().flatten().filter(|entry| {
        let fields = &entry["fieldsV1"];
        !fields["f:data"][&field].is_null() || !fields["f:stringData"][&field].is_null()
    });
    let last = writes.filter_map(|entry| parse(entry["time"].as_str()?)).max();
    let created = secret["metadata"]["creationTimestamp"].as_str().and_then(parse);
    let at_least = created.into_iter().chain(not_before).max().unwrap_or(i64::MIN);
    match last {
        Some(last) => Changed::At(last.max(at_least)),
        None => Changed::NotBefore(at_least),
    }
}

/// Reads a time as the API writes it.
pub type ParseTime = fn(&str) -> Option<i64>;

/// The containers among `pods` that run and read the Secret `name`: by a volume, or by the environment.
pub fn readers(pods: &[Value], name: &str, changed: &Changed, parse: ParseTime) -> Vec<Reader> {
    let mut found: Vec<Reader> =
        pods.iter().flat_map(|pod| readers_of_pod(pod, name, changed, parse)).collect();
    found.sort_by(|a, b| (&a.pod, &a.container).cmp(&(&b.pod, &b.container)));
    found
}

fn readers_of_pod(pod: &Value, name: &str, changed: &Changed, parse: ParseTime) -> Vec<Reader> {
    let is_over = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    if is_over {
        return Vec::new();
    }
    let volumes: Vec<&str> = items(&pod["spec"]["volumes"])
        .filter(|volume| volume_names(volume).any(|used| used == name))
        .filter_map(|volume| volume["name"].as_str())
        .collect();
    let statuses: Vec<&Value> = items(&pod["status"]["containerStatuses"])
        .chain(items(&pod["status"]["initContainerStatuses"]))
        .collect();
    let containers = items(&pod["spec"]["containers"]).chain(items(&pod["spec"]["initContainers"]));
    let reading = containers.filter(|container| reads(container, &volumes, name));
    reading
        .filter_map(|container| {
            let own = |status: &&&Value| status["name"] == container["name"];
            let status = statuses.iter().find(own);
            let state = status.map(|status| &status["state"]);
            if state.is_some_and(|state| state["running"].is_null()) {
                return None;
            }
            let started = state.and_then(|state| parse(state["running"]["startedAt"].as_str()?));
            Some(Reader {
                pod: text(&pod["metadata"]["name"]),
                container: text(&container["name"]),
                owner: owner(pod),
                started,
                state: state_of(started, changed),
            })
        })
        .collect()
}

fn state_of(started: Option<i64>, changed: &Changed) -> ReaderState {
    match (started, changed) {
        (Some(started), Changed::At(at) | Changed::NotBefore(at)) if started < *at => {
            ReaderState::Stale
        }
        (Some(_), Changed::At(_)) => ReaderState::Current,
        _ => ReaderState::Unknown,
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The Secrets of a volume.
fn volume_names(volume: &Value) -> impl Iterator<Item = &str> {
    let own = volume["secret"]["secretName"].as_str();
    let projected = items(&volume["projected"]["sources"]);
    own.into_iter().chain(projected.filter_map(|source| source["secret"]["name"].as_str()))
}

fn reads(container: &Value, volumes: &[&str], name: &str) -> bool {
    let mounts = items(&container["volumeMounts"])
        .any(|mount| mount["name"].as_str().is_some_and(|mount| volumes.contains(&mount)));
    let variable =
        items(&container["env"]).any(|entry| entry["valueFrom"]["secretKeyRef"]["name"] == name);
    let all = items(&container["envFrom"]).any(|source| source["secretRef"]["name"] == name);
    mounts || variable || all
}

/// What made the pod; a ReplicaSet stands for its Deployment.
fn owner(pod: &Value) -> Option<String> {
    let owners = items(&pod["metadata"]["ownerReferences"]);
    let owner = owners.into_iter().find(|owner| owner["controller"] == true)?;
    let (kind, name) = (owner["kind"].as_str()?, owner["name"].as_str()?);
    let hash = pod["metadata"]["labels"]["pod-template-hash"].as_str();
    let deployment = hash.and_then(|hash| name.strip_suffix(hash)?.strip_suffix('-'));
    Some(match deployment.filter(|_| kind == "ReplicaSet") {
        Some(deployment) => format!("Deployment/{deployment}"),
        None => format!("{kind}/{name}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn number(text: &str) -> Option<i64> {
        text.parse().ok()
    }

    fn pod(name: &str, started: &str, volume: &Value) -> Value {
        json!({
            "metadata": {
                "name": name,
                "labels": { "pod-template-hash": "7d9f" },
                "ownerReferences": [{ "kind": "ReplicaSet", "name": "bff-7d9f", "controller": true }],
            },
            "spec": {
                "volumes": [volume],
                "containers": [{ "name": "bff", "volumeMounts": [{ "name": "ca" }] }, { "name": "proxy" }],
            },
            "status": {
                "phase": "Running",
                "containerStatuses": [
                    { "name": "bff", "state": { "running": { "startedAt": started } } },
                    { "name": "proxy", "state": { "running": { "startedAt": started } } },
                ],
            },
        })
    }

    fn states(pods: &[Value], changed: &Changed) -> Vec<(String, ReaderState)> {
        let found = readers(pods, "memql-ca", changed, number);
        found.into_iter().map(|reader| (reader.pod, reader.state)).collect()
    }

    #[test]
    fn a_pod_from_before_the_change_is_stale() {
        let volume = json!({ "name": "ca", "secret": { "secretName": "memql-ca" } });
        let pods = [pod("old", "50", &volume), pod("young", "150", &volume)];
        let stale = ("old".to_owned(), ReaderState::Stale);
        let young = |state| ("young".to_owned(), state);
        assert_eq!(states(&pods, &Changed::At(100)), [stale.clone(), young(ReaderState::Current)]);
        assert_eq!(states(&pods, &Changed::NotBefore(100)), [stale, young(ReaderState::Unknown)]);
        let owner = readers(&pods, "memql-ca", &Changed::At(100), number)[0].owner.clone();
        assert_eq!(owner.as_deref(), Some("Deployment/bff"));
    }

    #[test]
    fn only_what_reads_the_secret_counts() {
        let other = json!({ "name": "ca", "secret": { "secretName": "other" } });
        assert_eq!(states(&[pod("a", "50", &other)], &Changed::At(100)), []);
        let projected = json!({ "name": "ca", "projected": { "sources": [{ "secret": { "name": "memql-ca" } }] } });
        assert_eq!(states(&[pod("a", "50", &projected)], &Changed::At(100)).len(), 1);
        let mut by_environment = pod("b", "50", &other);
        by_environment["spec"]["containers"][1]["env"] =
            json!([{ "valueFrom": { "secretKeyRef": { "name": "memql-ca", "key": "ca.crt" } } }]);
        assert_eq!(states(&[by_environment], &Changed::At(100)).len(), 1);
        let mut waiting = pod("c", "50", &projected);
        waiting["status"]["containerStatuses"][0]["state"] = json!({ "waiting": {} });
        assert_eq!(states(&[waiting], &Changed::At(100)), []);
    }

    #[test]
    fn a_change_is_dated_by_managers_else_bounded() {
        let mut secret = json!({ "metadata": { "creationTimestamp": "10", "managedFields": [
            { "time": "70", "fieldsV1": { "f:metadata": { "f:labels": {} } } },
            { "time": "60", "fieldsV1": { "f:data": { ".": {}, "f:ca.crt": {} } } },
            { "time": "50", "fieldsV1": { "f:data": { "f:ca.crt": {} } } },
            { "time": "90", "fieldsV1": { "f:data": { "f:tls.key": {} } } },
        ]}});
        assert_eq!(changed(&secret, "ca.crt", Some(20), number), Changed::At(60));
        // Managers that say less than the certificate itself: it cannot have been there before it began.
        assert_eq!(changed(&secret, "ca.crt", Some(65), number), Changed::At(65));
        secret["metadata"]["managedFields"] = json!(null);
        assert_eq!(changed(&secret, "ca.crt", Some(20), number), Changed::NotBefore(20));
        assert_eq!(changed(&secret, "ca.crt", None, number), Changed::NotBefore(10));
    }
}
