//! A list, and every change after it: resumed where a stream ends, listed anew where its version is gone (410).

use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::{AsyncBufReadExt as _, AsyncReadExt as _};
use kube::api::WatchParams;
use kube::core::Request;
use serde_json::Value;

use super::served::Served;
use super::{AskError, LiveCluster};
use crate::clock;
use crate::cluster::dump::fill_in;
use crate::cluster::{ClusterError, KindName, WatchEvent};
use crate::kubernetes::{Failure, FailureKind};

/// How long the server keeps one stream open.
const STREAM_SECONDS: u32 = 60;
/// How much longer than that a stream may be silent before it counts as broken.
const SILENCE: Duration = Duration::from_secs(30);
/// The most bytes of one event.
const MOST_OF_EVENT: u64 = 16 << 20;
/// The first and the longest pause before a broken stream is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(8));

type Hear<'a> = dyn FnMut(WatchEvent) -> ControlFlow<()> + 'a;

/// How one stream ended.
enum End {
    /// The listener has heard enough.
    Stopped,
    /// The server closed it.
    Over,
}

impl LiveCluster {
    pub(super) fn watch_served(
        &self,
        kind: &KindName,
        served: &Served,
        namespace: Option<&str>,
        heard: &mut Hear<'_>,
    ) -> Result<(), ClusterError> {
        let mut pause = PAUSES.0;
        let mut has_begun = false;
        loop {
            let listing = match self.list_of(kind, served, namespace) {
                Err(AskError::Failed(failure)) if failure.kind == FailureKind::NotFound => {
                    let _ = heard(WatchEvent::Listed(Vec::new()));
                    return Ok(());
                }
                Err(AskError::Failed(failure)) if has_begun && passes(&failure) => {
                    if wait(failure, &mut pause, heard).is_break() {
                        return Ok(());
                    }
                    continue;
                }
                outcome => {
                    outcome.map_err(|error| error.named("list", &served.resource(), namespace))?
                }
            };
            has_begun = true;
            let mut version = listing.version;
            if heard(WatchEvent::Listed(listing.items)).is_break() {
                return Ok(());
            }
            if self.streams(kind, served, namespace, (&mut version, &mut pause), heard)?.is_break()
            {
                return Ok(());
            }
        }
    }

    /// Streams one after another, until the listener stops (break) or the list has to be read anew (continue).
    fn streams(
        &self,
        kind: &KindName,
        served: &Served,
        namespace: Option<&str>,
        (version, pause): (&mut String, &mut Duration),
        heard: &mut Hear<'_>,
    ) -> Result<ControlFlow<()>, ClusterError> {
        loop {
            let path = served.path(namespace);
            let from = version.clone();
            let mut tell = |event| heard(filled_in(event, kind, served));
            let ended = self.stream(&path, &from, &mut tell, version);
            let is_over = match ended {
                Ok(End::Stopped) => true,
                Ok(End::Over) => {
                    *pause = PAUSES.0;
                    let stops = heard(WatchEvent::Closed).is_break();
                    // A server that closes every stream at once is not asked without a pause.
                    clock::sleep(PAUSES.0);
                    stops
                }
                Err(failure) if failure.kind == FailureKind::Expired => {
                    return Ok(ControlFlow::Continue(()));
                }
                Err(failure) if passes(&failure) => wait(failure, pause, heard).is_break(),
                Err(failure) => {
                    let error = AskError::Failed(failure);
                    return Err(error.named("watch", &served.resource(), namespace));
                }
            };
            if is_over {
                return Ok(ControlFlow::Break(()));
            }
        }
    }

    /// One stream of the objects at `path` from the version `from` on; keeps the version that it came to in `version`.
    fn stream(
        &self,
        path: &str,
        from: &str,
        heard: &mut Hear<'_>,
        version: &mut String,
    ) -> Result<End, Failure> {
        let params = WatchParams::default().timeout(STREAM_SECONDS);
        let longest = Duration::from_secs(u64::from(STREAM_SECONDS)) + SILENCE;
        self.connection.unbounded(async {
            let asked = Request::new(path).watch(&params, from);
            let asked = asked.map_err(kube::Error::BuildRequest)?;
            let stream = self.connection.client().request_stream(asked).await?;
            let mut stream = std::pin::pin!(stream);
            if heard(WatchEvent::Open).is_break() {
                return Ok(Ok(End::Stopped));
            }
            let mut line = Vec::new();
            loop {
                line.clear();
                let mut one = stream.as_mut().take(MOST_OF_EVENT);
                let read = one.read_until(b'\n', &mut line);
                let Ok(read) = tokio::time::timeout(longest, read).await else {
                    return Ok(Ok(End::Over));
                };
                // A stream that is cut in the middle of a line is one that ended: the event comes again.
                let has_ended = !matches!(read, Ok(read) if read > 0);
                if has_ended || !line.ends_with(b"\n") {
                    return Ok(Ok(End::Over));
                }
                match read_event(&line, version) {
                    Ok(Some(event)) => {
                        if heard(event).is_break() {
                            return Ok(Ok(End::Stopped));
                        }
                    }
                    Ok(None) => {}
                    Err(failure) => return Ok(Err(failure)),
                }
            }
        })?
    }
}

/// Whether a failure may pass by itself.
fn passes(failure: &Failure) -> bool {
    failure.kind == FailureKind::Unreachable
}

/// Tells of the failure and waits, longer each time.
fn wait(failure: Failure, pause: &mut Duration, heard: &mut Hear<'_>) -> ControlFlow<()> {
    heard(WatchEvent::Interrupted(failure.message))?;
    clock::sleep(*pause);
    *pause = (*pause * 2).min(PAUSES.1);
    ControlFlow::Continue(())
}

/// The event of one line of a stream, if it is one to tell; its version goes into `version`.
fn read_event(line: &[u8], version: &mut String) -> Result<Option<WatchEvent>, Failure> {
    let broken = |message: String| {
        let message = format!("the stream of changes is broken: {message}");
        Failure::new(FailureKind::Unreachable, message)
    };
    let mut event: Value =
        serde_json::from_slice(line).map_err(|error| broken(error.to_string()))?;
    let object = event.get_mut("object").map(Value::take).filter(Value::is_object);
    let object = object.ok_or_else(|| broken("an event without an object".to_owned()))?;
    let kind = event["type"].as_str().unwrap_or_default();
    if kind == "ERROR" {
        let message = object["message"].as_str().unwrap_or_default().to_owned();
        return match object["code"].as_u64() {
            Some(410) => Err(Failure::new(FailureKind::Expired, message)),
            Some(403) => Err(Failure::new(FailureKind::Denied, message)),
            _ => Err(broken(message)),
        };
    }
    if let Some(newer) = object["metadata"]["resourceVersion"].as_str() {
        newer.clone_into(version);
    }
    match kind {
        "ADDED" => Ok(Some(WatchEvent::Added(object))),
        "MODIFIED" => Ok(Some(WatchEvent::Modified(object))),
        "DELETED" => Ok(Some(WatchEvent::Deleted(object))),
        "BOOKMARK" => Ok(None),
        other => Err(broken(format!("`{other}` is no event"))),
    }
}

fn filled_in(event: WatchEvent, kind: &KindName, served: &Served) -> WatchEvent {
    let fill = |mut object: Value| {
        fill_in(&mut object, &served.api_version, &kind.kind);
        object
    };
    match event {
        WatchEvent::Added(object) => WatchEvent::Added(fill(object)),
        WatchEvent::Modified(object) => WatchEvent::Modified(fill(object)),
        WatchEvent::Deleted(object) => WatchEvent::Deleted(fill(object)),
        other => other,
    }
}
