//! A watch that was written down: `kubectl get … -o json --output-watch-events -w`, or lists and events one after another.
//!
//! A `List` is everything there is at that moment, a `PodList` all pods; an object by itself has changed. An event has a `type`
//! and an `object`; an `at` beside them, which kubectl does not write, is the time at which it was heard, and an event of type
//! `END` the time at which the recording ends.

use serde_json::Value;

use super::dump::{Dump, DumpError, place};
use super::{KindName, WatchEvent};
use crate::clock::parse_rfc_3339;
use crate::json::JsonProblem;

/// One document of a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// Everything there is: the kinds with their objects.
    State(Vec<(KindName, Value)>),
    /// Everything there is of one kind.
    Kind(KindName, Vec<Value>),
    /// An event.
    Event(WatchEvent),
    /// The end.
    End,
}

/// A recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The documents, each with the time that it states, in seconds since 1970.
    pub documents: Vec<(Option<i64>, Recorded)>,
}

impl Recording {
    /// Reads a recording; `described` names it in messages.
    ///
    /// # Errors
    /// [`DumpError`] for broken JSON, or a document that is neither an object of Kubernetes nor an event.
    pub fn parse(described: &str, text: &str) -> Result<Self, DumpError> {
        let mut recording = Self::default();
        let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        loop {
            let before = documents.byte_offset();
            let document = match documents.next() {
                None => return Ok(recording),
                Some(Ok(document)) => document,
                Some(Err(error)) => {
                    let JsonProblem { line, column, reason } = (&error).into();
                    let message = format!("{described}: no JSON of a watch: {reason}");
                    return Err(DumpError { message, line, column });
                }
            };
            let at = document["at"].as_str().and_then(parse_rfc_3339);
            let one = read(described, document, &place(text, before))?;
            recording.documents.extend(one.map(|one| (at, one)));
        }
    }
}

impl Recording {
    /// Whether it tells of no object at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.iter().all(|(_, document)| match document {
            Recorded::State(objects) => objects.is_empty(),
            Recorded::Kind(_, objects) => objects.is_empty(),
            Recorded::Event(_) => false,
            Recorded::End => true,
        })
    }
}

/// One document; `None` for what says nothing, such as a bookmark.
fn read(
    described: &str,
    mut document: Value,
    at: &(usize, usize),
) -> Result<Option<Recorded>, DumpError> {
    let kind = document["type"].as_str().unwrap_or_default().to_owned();
    if kind == "END" {
        return Ok(Some(Recorded::End));
    }
    if kind.is_empty() || !document["object"].is_object() {
        let is_list = document["items"].is_array();
        let of_list = kind_of_list(&document);
        let mut dump = Dump::of([]);
        dump.add(document, at)?;
        let objects = dump.into_objects();
        let mut values = objects.iter().map(|(_, object)| object.clone());
        return Ok(match of_list {
            Some(kind) => Some(Recorded::Kind(kind, values.collect())),
            None if is_list => Some(Recorded::State(objects)),
            None => values.next().map(|object| Recorded::Event(WatchEvent::Modified(object))),
        });
    }
    let object = document["object"].take();
    Ok(match kind.as_str() {
        "ADDED" => Some(Recorded::Event(WatchEvent::Added(object))),
        "MODIFIED" => Some(Recorded::Event(WatchEvent::Modified(object))),
        "DELETED" => Some(Recorded::Event(WatchEvent::Deleted(object))),
        "BOOKMARK" | "ERROR" => None,
        other => {
            let message = format!("{described}: `{other}` is no type of an event");
            return Err(DumpError { message, line: at.0, column: at.1 });
        }
    })
}

/// The kind of the items of a typed list, such as `PodList`.
fn kind_of_list(document: &Value) -> Option<KindName> {
    let text = |key: &str| document[key].as_str().unwrap_or_default();
    let kind = text("kind").strip_suffix("List").filter(|kind| !kind.is_empty())?;
    document["items"].is_array().then(|| KindName::of(text("apiVersion"), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_events_are_read_in_their_order() {
        let text = r#"{"apiVersion":"v1","kind":"List","items":[]}
            {"type":"ADDED","object":{"kind":"Pod"},"at":"1970-01-01T00:01:00Z"}
            {"type":"BOOKMARK","object":{}}
            {"type":"END","at":"1970-01-01T00:02:00Z"}"#;
        let recording = Recording::parse("f", text).unwrap();
        let times: Vec<Option<i64>> = recording.documents.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [None, Some(60), Some(120)]);
        assert_eq!(recording.documents[2].1, Recorded::End);
        let lists = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[]}
            {"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}}]}
            {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}"#;
        let lists = Recording::parse("f", lists).unwrap().documents;
        let deployments = KindName::new("apps", "Deployment");
        assert_eq!(lists[0].1, Recorded::Kind(deployments, Vec::new()));
        let Recorded::Kind(kind, items) = &lists[1].1 else { panic!("{lists:?}") };
        assert_eq!((kind, &items[0]["kind"]), (&KindName::new("", "Pod"), &Value::from("Pod")));
        assert!(matches!(lists[2].1, Recorded::Event(WatchEvent::Modified(_))));
        let wrong = Recording::parse("f", "\n {\"type\":\"X\",\"object\":{}}").unwrap_err();
        assert_eq!((wrong.line, wrong.column), (2, 2));
    }
}
