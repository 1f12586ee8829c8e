//! A watch that was written down: `kubectl get … -o json --output-watch-events -w`, or lists and events one after another.
//!
//! A list (or a single object) is everything there is at that moment. An event has a `type` and an `object`; an `at` beside
//! them, which kubectl does not write, is the time at which it was heard, and an event of type `END` the time at which the
//! recording ends.

use serde_json::Value;

use super::dump::{Dump, DumpError, place};
use super::{KindName, WatchEvent};
use crate::clock::parse_rfc_3339;

/// One document of a recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// Everything there is: the kinds with their objects.
    State(Vec<(KindName, Value)>),
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
                    let (line, column) = (error.line(), error.column());
                    let message = format!("{described}: no JSON of a watch: {error}");
                    return Err(DumpError { message, line, column });
                }
            };
            let at = document["at"].as_str().and_then(parse_rfc_3339);
            let one = read(described, document, &place(text, before))?;
            recording.documents.extend(one.map(|one| (at, one)));
        }
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
        let mut dump = Dump::of([]);
        dump.add(document, at)?;
        return Ok(Some(Recorded::State(dump.into_objects())));
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
        let wrong = Recording::parse("f", "\n {\"type\":\"X\",\"object\":{}}").unwrap_err();
        assert_eq!((wrong.line, wrong.column), (2, 2));
    }
}
