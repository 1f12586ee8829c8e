//! A cluster over the Kubernetes API.
//!
//! Source: Kubernetes' API conventions ("Efficient detection of changes", "Retrieving large results sets in chunks").

mod served;
mod watch;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

// `kube` gives its streams as readers of futures-util, which it turns on there.
use futures_util::AsyncReadExt as _;
use kube::api::{GetParams, ListParams, LogParams};
use kube::core::Request;
use serde_json::Value;

use super::dump::fill_in;
use super::{ClusterError, ClusterReader, KindName, Listing, LogName, ObjectName, WatchEvent};
use crate::clock::Allowance;
use crate::kubernetes::{Connection, ConnectionName, Failure, FailureKind};
use served::{Served, join};

/// How many objects are asked for at once.
const PAGE: u32 = 500;
/// The most bytes of one answer.
const MOST_OF_ANSWER: u64 = 64 << 20;
/// The most pages of one list.
const MOST_PAGES: usize = 400;
/// The most bytes of a log.
const MOST_OF_LOG: u64 = 4 << 20;

/// A cluster over the Kubernetes API.
pub struct LiveCluster {
    connection: Connection,
    /// Where the kinds are that were asked for; `None` where the cluster does not have one.
    served: Mutex<HashMap<KindName, Option<Served>>>,
}

/// What is asked. There is no other request in this module than these and a watch.
enum Ask<'a> {
    /// One page of a list.
    List(&'a str, &'a ListParams),
    /// One object, or one description, below a path.
    Get(&'a str, &'a str),
    /// A log.
    Log(&'a str, &'a str, &'a LogParams),
}

impl LiveCluster {
    /// The same, where one answer may take no longer than `allowed` either.
    #[must_use]
    pub fn within(self, allowed: Option<Duration>) -> Self {
        Self { connection: self.connection.within(allowed), ..self }
    }

    /// The same, where no answer is waited for beyond that time.
    #[must_use]
    pub fn until(self, allowance: Option<Allowance>) -> Self {
        Self { connection: self.connection.until(allowance), ..self }
    }

    /// Reads the configuration; nothing is asked yet.
    ///
    /// # Errors
    /// Where there is none, or it cannot be used.
    pub fn connect(name: &ConnectionName) -> Result<Self, ClusterError> {
        let connection = Connection::connect(name)
            .map_err(|failure| ClusterError::Invalid { message: failure.message })?;
        Ok(Self { connection, served: Mutex::default() })
    }

    /// The answer as text, at most `limit` bytes of it; `None` where there are more.
    fn text(&self, ask: &Ask<'_>, limit: u64) -> Result<Option<String>, Failure> {
        let bytes = self.connection.bounded(async {
            let asked = match ask {
                Ask::List(path, params) => Request::new(*path).list(params),
                Ask::Get(path, name) => Request::new(*path).get(name, &GetParams::default()),
                Ask::Log(path, name, params) => Request::new(*path).logs(name, params),
            };
            let asked = asked.map_err(kube::Error::BuildRequest)?;
            let stream = self.connection.client().request_stream(asked).await?;
            let mut bytes = Vec::new();
            let mut stream = std::pin::pin!(stream.take(limit + 1));
            stream.read_to_end(&mut bytes).await.map_err(kube::Error::ReadEvents)?;
            Ok(bytes)
        })?;
        if bytes.len() as u64 > limit {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn json(&self, ask: &Ask<'_>, what: &str) -> Result<Value, AskError> {
        let text = self.text(ask, MOST_OF_ANSWER)?.ok_or_else(|| {
            AskError::Other(ClusterError::TooLarge { what: what.to_owned(), limit: "64 MiB" })
        })?;
        serde_json::from_str(&text).map_err(|error| {
            let message = format!("{what}: the cluster's answer cannot be read: {error}");
            AskError::Other(ClusterError::Invalid { message })
        })
    }

    /// Where `kind` is; `None` where the cluster has no such kind.
    fn served(&self, kind: &KindName) -> Result<Option<Served>, ClusterError> {
        if let Some(served) = Served::built_in(kind) {
            return Ok(Some(served));
        }
        let known = || self.served.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(kind) {
            return Ok(found.clone());
        }
        let found = self.discover(kind)?;
        known().insert(kind.clone(), found.clone());
        Ok(found)
    }

    /// Asks for the preferred version of the group, then for its kinds.
    fn discover(&self, kind: &KindName) -> Result<Option<Served>, ClusterError> {
        check_segment(&kind.group)?;
        let described = |path: &str, name: &str| {
            let what = format!("the description of {kind}");
            match self.json(&Ask::Get(path, name), &what) {
                Ok(found) => Ok(Some(found)),
                Err(AskError::Failed(failure)) if failure.kind == FailureKind::NotFound => Ok(None),
                Err(error) => Err(error.named("get", "API groups", None)),
            }
        };
        let version = match kind.group.as_str() {
            "" => Some("v1".to_owned()),
            group => {
                let group = described("/apis", group)?.unwrap_or_default();
                group["preferredVersion"]["version"].as_str().map(str::to_owned)
            }
        };
        let Some(version) = version else { return Ok(None) };
        check_segment(&version)?;
        let api_version = join(&kind.group, &version);
        let resources = match kind.group.as_str() {
            "" => described("/api", "v1")?,
            group => described(&format!("/apis/{group}"), &version)?,
        };
        let resources = resources.unwrap_or_default();
        let all = resources["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_it = |resource: &&Value| {
            let plural = resource["name"].as_str().unwrap_or_default();
            resource["kind"] == kind.kind.as_str() && !plural.contains('/')
        };
        let Some(found) = all.iter().find(is_it) else { return Ok(None) };
        let plural = found["name"].as_str().unwrap_or_default().to_owned();
        check_segment(&plural)?;
        let is_namespaced = found["namespaced"].as_bool().unwrap_or(true);
        Ok(Some(Served { api_version, plural, is_namespaced }))
    }

    /// All pages of a list. Where the list changed too much to go on (410) it begins anew, once.
    fn list_of(
        &self,
        kind: &KindName,
        served: &Served,
        namespace: Option<&str>,
    ) -> Result<Listing, AskError> {
        let path = served.path(namespace);
        let mut params = ListParams::default().limit(PAGE);
        let mut listing = Listing { is_known: true, ..Listing::default() };
        let mut began_anew = false;
        for _ in 0..MOST_PAGES {
            let page = match self.json(&Ask::List(&path, &params), &served.resource()) {
                Err(AskError::Failed(failure))
                    if failure.kind == FailureKind::Expired && !began_anew =>
                {
                    began_anew = true;
                    params.continue_token = None;
                    listing.items.clear();
                    continue;
                }
                page => page?,
            };
            take_items(page, kind, &served.api_version, &mut params, &mut listing);
            if params.continue_token.is_none() {
                return Ok(listing);
            }
        }
        let what = served.resource();
        Err(AskError::Other(ClusterError::TooLarge { what, limit: "200000 objects" }))
    }
}

/// Moves the items of a page into `listing`, and its token into `params`.
fn take_items(
    mut page: Value,
    kind: &KindName,
    api_version: &str,
    params: &mut ListParams,
    listing: &mut Listing,
) {
    let metadata = &page["metadata"];
    listing.version = metadata["resourceVersion"].as_str().unwrap_or_default().to_owned();
    let token = metadata["continue"].as_str().filter(|token| !token.is_empty());
    params.continue_token = token.map(str::to_owned);
    if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
        listing.items.extend(items.into_iter().filter(Value::is_object).map(|mut item| {
            fill_in(&mut item, api_version, &kind.kind);
            item
        }));
    }
}

/// Why a request came to nothing, before it is said what was asked.
enum AskError {
    Failed(Failure),
    Other(ClusterError),
}

impl From<Failure> for AskError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<ClusterError> for AskError {
    fn from(error: ClusterError) -> Self {
        Self::Other(error)
    }
}

impl AskError {
    /// The error of a request with that verb.
    fn named(self, verb: &'static str, resource: &str, namespace: Option<&str>) -> ClusterError {
        let failure = match self {
            Self::Other(error) => return error,
            Self::Failed(failure) => failure,
        };
        let message = failure.message;
        match failure.kind {
            FailureKind::Unauthenticated => ClusterError::Unauthenticated { message },
            FailureKind::Denied => ClusterError::Denied {
                verb,
                resource: resource.to_owned(),
                namespace: namespace.unwrap_or_default().to_owned(),
            },
            FailureKind::Unreachable => ClusterError::Unreachable { message },
            _ => ClusterError::Invalid { message },
        }
    }
}

/// Refuses a name that would lead to another address than its own (Kubernetes' path segment names).
fn check_segment(name: &str) -> Result<(), ClusterError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
    if matches!(name, "." | "..") || !name.chars().all(is_plain) {
        let message = format!("`{name}` is no name of Kubernetes");
        return Err(ClusterError::Invalid { message });
    }
    Ok(())
}

/// As [`check_segment`], for a namespace that is not empty.
fn check_namespace(namespace: Option<&str>) -> Result<Option<&str>, ClusterError> {
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    namespace.map_or(Ok(()), check_segment)?;
    Ok(namespace)
}

impl ClusterReader for LiveCluster {
    fn default_namespace(&self) -> Option<&str> {
        Some(self.connection.default_namespace())
    }

    fn described(&self) -> String {
        "the cluster".to_owned()
    }

    fn list(&self, kind: &KindName, namespace: Option<&str>) -> Result<Listing, ClusterError> {
        let namespace = check_namespace(namespace)?;
        let Some(served) = self.served(kind)? else { return Ok(Listing::default()) };
        match self.list_of(kind, &served, namespace) {
            Err(AskError::Failed(failure)) if failure.kind == FailureKind::NotFound => {
                Ok(Listing::default())
            }
            outcome => outcome.map_err(|error| error.named("list", &served.resource(), namespace)),
        }
    }

    fn find(&self, object: &ObjectName) -> Result<Option<Value>, ClusterError> {
        let namespace = check_namespace(Some(&object.namespace))?;
        check_segment(&object.name)?;
        let Some(served) = self.served(&object.kind)? else { return Ok(None) };
        if object.name.is_empty() || (served.is_namespaced && namespace.is_none()) {
            let message = format!("{} without a name or a namespace", object.kind);
            return Err(ClusterError::Invalid { message });
        }
        let what = format!("{}/{}", served.resource(), object.name);
        match self.json(&Ask::Get(&served.path(namespace), &object.name), &what) {
            Ok(found) => Ok(Some(found)),
            Err(AskError::Failed(failure)) if failure.kind == FailureKind::NotFound => Ok(None),
            Err(error) => Err(error.named("get", &served.resource(), namespace)),
        }
    }

    fn watch(
        &self,
        kind: &KindName,
        namespace: Option<&str>,
        heard: &mut dyn FnMut(WatchEvent) -> ControlFlow<()>,
    ) -> Result<(), ClusterError> {
        let namespace = check_namespace(namespace)?;
        match self.served(kind)? {
            Some(served) => self.watch_served(kind, &served, namespace, heard),
            None => {
                let _ = heard(WatchEvent::Listed(Vec::new()));
                Ok(())
            }
        }
    }

    fn log(&self, log: &LogName) -> Result<String, ClusterError> {
        check_segment(&log.namespace)?;
        check_segment(&log.pod)?;
        let params = LogParams {
            container: log.container.clone(),
            tail_lines: Some(log.lines),
            since_seconds: log.since_seconds,
            limit_bytes: i64::try_from(MOST_OF_LOG).ok(),
            ..LogParams::default()
        };
        let path = format!("/api/v1/namespaces/{}/pods", log.namespace);
        let what = format!("the log of pod {}", log.pod);
        match self.text(&Ask::Log(&path, &log.pod, &params), MOST_OF_LOG) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(ClusterError::TooLarge { what, limit: "4 MiB" }),
            Err(failure) => {
                Err(AskError::Failed(failure).named("get", "pods/log", Some(&log.namespace)))
            }
        }
    }
}
