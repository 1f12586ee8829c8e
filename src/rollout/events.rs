//! What the cluster's own events say of an object.

use serde_json::Value;

use super::live::{Snapshot, kind, name, namespace, text_at};
use crate::clock::parse_rfc_3339;

/// When an event was seen last, in seconds since 1970; 0 where it does not say.
#[must_use]
pub fn last_seen(event: &Value) -> i64 {
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"]
        .iter()
        .find_map(|pointer| time_at(event, pointer))
        .unwrap_or(0)
}

/// The time at `pointer`, in seconds since 1970.
#[must_use]
pub fn time_at(object: &Value, pointer: &str) -> Option<i64> {
    let text = text_at(object, pointer);
    parse_rfc_3339(text).or_else(|| {
        // Micro times have six digits of a second before their `Z`.
        let (whole, _) = text.split_once('.')?;
        parse_rfc_3339(&format!("{whole}Z"))
    })
}

/// The newest time that an object states, in seconds since 1970: when it was at least that old.
#[must_use]
pub fn newest_time(object: &Value) -> Option<i64> {
    const FIELDS: [&str; 6] = [
        "creationTimestamp",
        "lastTransitionTime",
        "startedAt",
        "finishedAt",
        "lastTimestamp",
        "eventTime",
    ];
    match object {
        Value::Object(fields) => {
            let own = fields
                .iter()
                .filter(|(key, value)| FIELDS.contains(&key.as_str()) && value.is_string());
            let own = own.filter_map(|(key, _)| time_at(object, &format!("/{key}")));
            own.chain(fields.values().filter_map(newest_time)).max()
        }
        Value::Array(items) => items.iter().filter_map(newest_time).max(),
        _ => None,
    }
}

/// The latest event about `object` for one of these reasons whose message fits. Events of another object of the same
/// name that was there before do not count.
#[must_use]
pub fn latest_event<'a>(
    snapshot: &'a Snapshot,
    object: &Value,
    reasons: &[&str],
    fits: impl Fn(&str) -> bool,
) -> Option<&'a Value> {
    let uid = text_at(object, "/metadata/uid");
    let is_about = |event: &&Value| {
        let about = |field: &str| text_at(event, &format!("/involvedObject/{field}"));
        let is_same = about("kind") == kind(object)
            && about("name") == name(object)
            && (about("namespace").is_empty() || about("namespace") == namespace(object));
        let other = about("uid");
        is_same && (uid.is_empty() || other.is_empty() || uid == other)
    };
    let is_wanted = |event: &&Value| {
        reasons.contains(&text_at(event, "/reason")) && fits(text_at(event, "/message"))
    };
    let events = snapshot.all("", "Event").iter();
    events.filter(is_about).filter(is_wanted).max_by_key(|event| last_seen(event))
}

/// The message of [`latest_event`], in one line.
#[must_use]
pub(super) fn latest_message(
    snapshot: &Snapshot,
    object: &Value,
    reasons: &[&str],
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    let event = latest_event(snapshot, object, reasons, fits)?;
    Some(one_line(text_at(event, "/message")))
}

/// A text of a server in one line of bounded length.
#[must_use]
pub fn one_line(text: &str) -> String {
    const MOST: usize = 400;
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > MOST {
        line = line.chars().take(MOST).chain(['…']).collect();
    }
    line.trim_end_matches('.').to_owned()
}
