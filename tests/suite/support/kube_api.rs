//! A Kubernetes API server on loopback: lists in pages, watches with bookmarks, versions that are too old (410), rights
//! (403), groups that are not there (404). It answers `GET` alone, as the objects in it are the test's to change.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::scripted_http::{Answer, Asked, ScriptedHttp};

/// How often a watch looks for something new.
const LOOK: Duration = Duration::from_millis(3);

/// A kind: API version, kind, plural, whether it has namespaces.
type Known = (&'static str, &'static str, &'static str, bool);

const KNOWN: [Known; 23] = [
    ("v1", "Pod", "pods", true),
    ("v1", "Node", "nodes", false),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "Event", "events", true),
    ("v1", "Secret", "secrets", true),
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Service", "services", true),
    ("v1", "PersistentVolume", "persistentvolumes", false),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("apps/v1", "DaemonSet", "daemonsets", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "ControllerRevision", "controllerrevisions", true),
    ("batch/v1", "Job", "jobs", true),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true),
    ("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", false),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", false),
    ("postgresql.cnpg.io/v1", "Cluster", "clusters", true),
    ("argoproj.io/v1alpha1", "Application", "applications", true),
    ("cert-manager.io/v1", "Certificate", "certificates", true),
    ("external-secrets.io/v1", "ExternalSecret", "externalsecrets", true),
];

#[derive(Clone)]
struct Change {
    version: u64,
    plural: String,
    namespace: String,
    kind: &'static str,
    object: Value,
}

/// What the server holds.
#[derive(Default)]
struct State {
    version: u64,
    /// Changes before this version are forgotten.
    oldest: u64,
    objects: BTreeMap<(String, String, String), Value>,
    changes: Vec<Change>,
    denied: BTreeSet<(String, String)>,
    /// Groups of custom resources that are installed.
    groups: BTreeSet<&'static str>,
    page: Option<usize>,
    logs: BTreeMap<String, String>,
    /// Raw lines for the next watch of a plural, before it is cut.
    garbage: BTreeMap<String, Vec<u8>>,
    /// Answers of 503 that are still to be given.
    outages: usize,
    /// Plurals about which nothing is said, for a long while.
    hanging: BTreeSet<String>,
}

/// The running server.
pub(crate) struct KubeApi {
    http: ScriptedHttp,
    state: Arc<Mutex<State>>,
}

impl KubeApi {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new(State { version: 10, ..State::default() }));
        let shared = Arc::clone(&state);
        let http = ScriptedHttp::start(move |asked| answer(&shared, asked));
        Self { http, state }
    }

    /// One with these objects.
    pub(crate) fn with(objects: impl IntoIterator<Item = Value>) -> Self {
        let server = Self::start();
        objects.into_iter().for_each(|object| server.apply(object));
        server
    }

    /// The text of a kubeconfig that leads here, into the namespace `namespace`.
    pub(crate) fn kubeconfig(&self, namespace: &str) -> String {
        json!({"apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": {"server": self.http.url("")}}],
            "users": [{"name": "me", "user": {"token": "planted-cluster-token"}}],
            "contexts": [{"name": "here",
                "context": {"cluster": "here", "user": "me", "namespace": namespace}}]})
        .to_string()
    }

    /// Adds an object, or changes it. The group of a custom resource is installed by that.
    pub(crate) fn apply(&self, mut object: Value) {
        let (api_version, kind) = (object["apiVersion"].clone(), object["kind"].clone());
        let known = KNOWN.iter().find(|k| api_version == k.0 && kind == k.1);
        let known = known.unwrap_or_else(|| panic!("{api_version} {kind} is not known here"));
        let mut state = self.state.lock().unwrap();
        state.groups.insert(known.0);
        state.version += 1;
        let version = state.version;
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let key = key(known.2, &object);
        let is_new = state.objects.insert(key.clone(), object.clone()).is_none();
        let kind = if is_new { "ADDED" } else { "MODIFIED" };
        state.changes.push(Change { version, plural: key.0, namespace: key.1, kind, object });
    }

    /// Changes a field by a JSON pointer.
    pub(crate) fn set(&self, plural: &str, namespace: &str, name: &str, pointer: &str, to: Value) {
        let key = (plural.to_owned(), namespace.to_owned(), name.to_owned());
        let mut object = self.state.lock().unwrap().objects[&key].clone();
        *object.pointer_mut(pointer).unwrap() = to;
        self.apply(object);
    }

    pub(crate) fn delete(&self, plural: &str, namespace: &str, name: &str) {
        let mut state = self.state.lock().unwrap();
        let key = (plural.to_owned(), namespace.to_owned(), name.to_owned());
        let mut object = state.objects.remove(&key).unwrap();
        state.version += 1;
        let version = state.version;
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let change = Change { version, plural: key.0, namespace: key.1, kind: "DELETED", object };
        state.changes.push(change);
    }

    /// From now on `verb` (`get`, `list`, `watch`) of that plural is answered by 403.
    pub(crate) fn deny(&self, verb: &str, plural: &str) {
        self.state.lock().unwrap().denied.insert((verb.to_owned(), plural.to_owned()));
    }

    /// Forgets every change so far, so that a watch from before has expired.
    pub(crate) fn forget(&self) {
        let mut state = self.state.lock().unwrap();
        state.version += 2;
        state.oldest = state.version;
    }

    /// Pages of so many objects at most.
    pub(crate) fn page(&self, size: usize) {
        self.state.lock().unwrap().page = Some(size);
    }

    pub(crate) fn log(&self, pod: &str, text: &str) {
        self.state.lock().unwrap().logs.insert(pod.to_owned(), text.to_owned());
    }

    /// The next watch of that plural gets these bytes and is cut.
    pub(crate) fn garbage(&self, plural: &str, bytes: &[u8]) {
        self.state.lock().unwrap().garbage.insert(plural.to_owned(), bytes.to_vec());
    }

    /// The next answers are 503.
    pub(crate) fn fail(&self, times: usize) {
        self.state.lock().unwrap().outages = times;
    }

    /// From now on nothing is said about that plural, for a long while.
    pub(crate) fn hang(&self, plural: &str) {
        self.state.lock().unwrap().hanging.insert(plural.to_owned());
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.http.url("")
    }

    /// Everything that was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.http.asked()
    }

    /// Waits until `target` was asked `times` times.
    pub(crate) fn wait_for(&self, target: &str, times: usize) {
        let began = Instant::now();
        let count = || self.asked().iter().filter(|asked| asked.target.contains(target)).count();
        while count() < times {
            assert!(began.elapsed() < Duration::from_secs(20), "nobody asks for {target}");
            std::thread::sleep(LOOK);
        }
    }
}

fn key(plural: &str, object: &Value) -> (String, String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (plural.to_owned(), text("namespace"), text("name"))
}

/// What an address means.
struct Target {
    known: Known,
    namespace: Option<String>,
    name: Option<String>,
    sub: Option<String>,
}

fn read_target(path: &str) -> Option<Target> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (api_version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return None,
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
            (Some((*namespace).to_owned()), rest)
        }
        rest => (None, rest),
    };
    let (plural, name, sub) = match rest {
        [plural] => (plural, None, None),
        [plural, name] => (plural, Some((*name).to_owned()), None),
        [plural, name, sub] => (plural, Some((*name).to_owned()), Some((*sub).to_owned())),
        _ => return None,
    };
    let known = KNOWN.iter().find(|known| known.0 == api_version && known.2 == *plural)?;
    Some(Target { known: *known, namespace, name, sub })
}

fn status(code: u16, message: &str) -> Answer {
    Answer::new(code).header("Content-Type", "application/json").body(
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "code": code})
        .to_string(),
    )
}

fn success(value: &Value) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(value.to_string())
}

fn answer(shared: &Arc<Mutex<State>>, asked: &Asked) -> Answer {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let mut state = shared.lock().unwrap();
    if asked.method != "GET" {
        return status(405, "this server is only read");
    }
    if state.outages > 0 {
        state.outages -= 1;
        return status(503, "the server is starting");
    }
    if asked.header("authorization") != Some("Bearer planted-cluster-token") {
        return status(401, "Unauthorized");
    }
    if let Some(found) = describe(&state, path) {
        return found;
    }
    let Some(target) = read_target(path) else { return status(404, "not found") };
    if target.known.0.contains('.') && !state.groups.contains(target.known.0) {
        return status(404, "the server could not find the requested resource");
    }
    if state.hanging.contains(target.known.2) {
        return Answer::hang();
    }
    let watches = query.split('&').any(|part| part == "watch=true" || part == "watch=1");
    let verb = match (&target.name, watches) {
        (Some(_), _) => "get",
        (None, true) => "watch",
        (None, false) => "list",
    };
    let resource = target.sub.as_deref().map_or(target.known.2.to_owned(), |s| format!("pods/{s}"));
    if state.denied.contains(&(verb.to_owned(), resource.clone())) {
        return status(403, &format!("{resource} is forbidden: User \"me\" cannot {verb}"));
    }
    match (verb, &target.sub) {
        ("get", Some(_)) => {
            let text = state.logs.get(target.name.as_deref().unwrap_or_default());
            text.map_or_else(|| status(404, "no log"), |text| Answer::new(200).body(text.as_str()))
        }
        ("get", None) => get(&state, &target),
        ("list", _) => list(&state, &target, query),
        _ => watch(&mut state, shared, &target, query),
    }
}

/// The descriptions of groups.
fn describe(state: &State, path: &str) -> Option<Answer> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let of_group = |group: &str| {
        let mut all = state.groups.iter();
        all.find(|known| known.split_once('/').is_some_and(|(g, _)| g == group)).copied()
    };
    match parts.as_slice() {
        ["apis", group] => Some(match of_group(group) {
            Some(version) => {
                success(&json!({"kind": "APIGroup", "apiVersion": "v1", "name": group,
                "versions": [{"groupVersion": version}],
                "preferredVersion": {"groupVersion": version,
                    "version": version.split_once('/').unwrap().1}}))
            }
            None => status(404, "the server could not find the requested resource"),
        }),
        ["apis", group, version] => {
            let api_version = format!("{group}/{version}");
            let resources: Vec<Value> = KNOWN
                .iter()
                .filter(|known| known.0 == api_version && state.groups.contains(known.0))
                .map(|known| json!({"name": known.2, "kind": known.1, "namespaced": known.3}))
                .collect();
            Some(success(&json!({"kind": "APIResourceList", "groupVersion": api_version,
                "resources": resources})))
        }
        _ => None,
    }
}

fn get(state: &State, target: &Target) -> Answer {
    let namespace = target.namespace.clone().unwrap_or_default();
    let name = target.name.clone().unwrap();
    match state.objects.get(&(target.known.2.to_owned(), namespace, name.clone())) {
        Some(object) => success(object),
        None => status(404, &format!("{} \"{name}\" not found", target.known.2)),
    }
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').filter_map(|part| part.split_once('=')).find(|(n, _)| *n == name).map(|p| p.1)
}

fn list(state: &State, target: &Target, query: &str) -> Answer {
    let from = parameter(query, "continue").and_then(|token| token.parse::<usize>().ok());
    if from == Some(0) {
        return status(410, "the provided continue parameter is too old");
    }
    let is_here = |key: &&(String, String, String)| {
        key.0 == target.known.2 && target.namespace.as_ref().is_none_or(|n| *n == key.1)
    };
    let all: Vec<&Value> =
        state.objects.iter().filter(|(key, _)| is_here(key)).map(|(_, object)| object).collect();
    let from = from.unwrap_or(0);
    let to = state.page.map_or(all.len(), |page| (from + page).min(all.len()));
    // As the real one: the items of a typed list state neither version nor kind.
    let items: Vec<Value> = all[from..to]
        .iter()
        .map(|object| {
            let mut object = (*object).clone();
            let fields = object.as_object_mut().unwrap();
            if !target.known.0.contains('.') {
                fields.remove("apiVersion");
                fields.remove("kind");
            }
            object
        })
        .collect();
    let rest = if to < all.len() { json!(to.to_string()) } else { json!("") };
    success(&json!({"apiVersion": target.known.0, "kind": format!("{}List", target.known.1),
        "metadata": {"resourceVersion": state.version.to_string(), "continue": rest},
        "items": items}))
}

fn watch(state: &mut State, shared: &Arc<Mutex<State>>, target: &Target, query: &str) -> Answer {
    let head = Answer::new(200).header("Content-Type", "application/json");
    let mut version: u64 = parameter(query, "resourceVersion").unwrap_or("0").parse().unwrap_or(0);
    let plural = target.known.2.to_owned();
    if let Some(bytes) = state.garbage.remove(&plural) {
        return head.stream(move |out| out.write_all(&bytes));
    }
    let seconds = parameter(query, "timeoutSeconds").and_then(|text| text.parse().ok());
    let longest = Duration::from_secs(seconds.unwrap_or(30));
    let (shared, namespace) = (Arc::clone(shared), target.namespace.clone());
    let known = target.known;
    head.stream(move |out| {
        let began = Instant::now();
        let mut told = version;
        while began.elapsed() < longest {
            let (oldest, now, news) = {
                let state = shared.lock().unwrap();
                let is_news = |change: &&Change| {
                    change.version > version
                        && change.plural == plural
                        && namespace.as_ref().is_none_or(|n| *n == change.namespace)
                };
                let news: Vec<Change> = state.changes.iter().filter(is_news).cloned().collect();
                (state.oldest, state.version, news)
            };
            if version + 1 < oldest {
                return line(
                    out,
                    "ERROR",
                    &json!({"kind": "Status", "code": 410,
                    "message": format!("too old resource version: {version}")}),
                );
            }
            for change in news {
                line(out, change.kind, &change.object)?;
                told = change.version;
            }
            // A bookmark tells of versions in which nothing here changed.
            if now > told {
                line(
                    out,
                    "BOOKMARK",
                    &json!({"apiVersion": known.0, "kind": known.1,
                    "metadata": {"resourceVersion": now.to_string()}}),
                )?;
                told = now;
            }
            version = now.max(told);
            std::thread::sleep(LOOK);
        }
        Ok(())
    })
}

fn line(out: &mut dyn Write, kind: &str, object: &Value) -> io::Result<()> {
    let text = json!({"type": kind, "object": object}).to_string();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
