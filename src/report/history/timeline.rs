//! Who ran what since when: the moves of images in several histories, joined to spans of time by image and overlay.

use std::collections::{BTreeMap, BTreeSet};

use super::{Entry, ImageMove, OverlayHistory, Status};
use crate::image::Split;

/// One image in all overlays that ran it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImageLanes<'a> {
    /// The name of the repository.
    pub(super) name: String,
    /// By overlay, in the order of the histories; those that never ran it are left out.
    pub(super) lanes: Vec<Lane<'a>>,
}

/// One image in one overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane<'a> {
    /// The overlay.
    pub(super) overlay: &'a str,
    /// What it ran, oldest first.
    pub(super) spans: Vec<Span<'a>>,
}

/// For how long an overlay ran the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span<'a> {
    /// The references, whole: one, unless places differ; none for an overlay that does not run it.
    pub(super) references: BTreeSet<String>,
    /// What began it; none for what was there before the first commit looked at.
    pub(super) since: Option<Since<'a>>,
    /// When it ended, RFC 3339; none for what is so now.
    pub(super) until: Option<&'a str>,
}

/// The commit that began a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Since<'a> {
    /// When, RFC 3339 in UTC.
    pub(super) date: &'a str,
    /// The full name.
    pub(super) commit: &'a str,
    /// `Name <address>`.
    pub(super) author: &'a str,
    /// The pull request, where the message says so.
    pub(super) pull_request: Option<&'a str>,
}

/// What one overlay runs, by image and by the containers and workloads that run it.
type Running = BTreeMap<String, BTreeMap<String, String>>;

/// Every image of `histories`, by name.
pub(super) fn timeline(histories: &[OverlayHistory]) -> Vec<ImageLanes<'_>> {
    let mut images: BTreeMap<String, Vec<Lane<'_>>> = BTreeMap::new();
    for history in histories {
        for (name, spans) in spans(history) {
            images.entry(name).or_default().push(Lane { overlay: &history.path, spans });
        }
    }
    images.into_iter().map(|(name, lanes)| ImageLanes { name, lanes }).collect()
}

fn spans(history: &OverlayHistory) -> BTreeMap<String, Vec<Span<'_>>> {
    let mut running = before_all(history);
    let mut spans: BTreeMap<String, Vec<Span<'_>>> = BTreeMap::new();
    for (name, places) in &running {
        let references = references(places);
        spans.insert(name.clone(), vec![Span { references, since: None, until: None }]);
    }
    for entry in history.entries.iter().rev() {
        let mut touched = BTreeSet::new();
        for moved in &entry.moved.images {
            apply(moved, &mut running, &mut touched);
        }
        if entry.moved.status == Status::Removed {
            touched.extend(running.keys().cloned());
            running.clear();
        }
        for name in touched {
            let now = running.get(&name).map(references).unwrap_or_default();
            extend(spans.entry(name).or_default(), now, entry);
        }
    }
    spans
}

/// What ran before the first entry, as far as later moves tell: for each place the value its first move took away.
fn before_all(history: &OverlayHistory) -> Running {
    let mut running = Running::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for moved in history.entries.iter().rev().flat_map(|entry| &entry.moved.images) {
        let first: Vec<&String> = moved.by.iter().filter(|place| seen.insert(place)).collect();
        if let Some(before) = &moved.before {
            let places = running.entry(name_of(before)).or_default();
            places.extend(first.into_iter().map(|place| (place.clone(), before.clone())));
        }
    }
    running.retain(|_, places| !places.is_empty());
    running
}

fn apply(moved: &ImageMove, running: &mut Running, touched: &mut BTreeSet<String>) {
    if let Some(before) = &moved.before {
        let name = name_of(before);
        if let Some(places) = running.get_mut(&name) {
            // A place of this name in another workload may go on with another reference.
            places.retain(|place, reference| !(moved.by.contains(place) && reference == before));
        }
        touched.insert(name);
    }
    if let Some(after) = &moved.after {
        let name = name_of(after);
        let places = running.entry(name.clone()).or_default();
        places.extend(moved.by.iter().map(|place| (place.clone(), after.clone())));
        touched.insert(name);
    }
}

fn extend<'a>(spans: &mut Vec<Span<'a>>, references: BTreeSet<String>, entry: &'a Entry) {
    let last = spans.last().map(|span| &span.references);
    if last == Some(&references) || last.is_none() && references.is_empty() {
        return;
    }
    if let Some(last) = spans.last_mut() {
        last.until = Some(&entry.date);
    }
    let since = Since {
        date: &entry.date,
        commit: &entry.commit,
        author: &entry.author,
        pull_request: entry.pull_request.as_deref(),
    };
    spans.push(Span { references, since: Some(since), until: None });
}

fn references(places: &BTreeMap<String, String>) -> BTreeSet<String> {
    places.values().cloned().collect()
}

fn name_of(reference: &str) -> String {
    Split::parse(reference).name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{End, Moved};
    use super::*;

    fn moved(before: Option<&str>, after: Option<&str>, by: &[&str]) -> ImageMove {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let by = by.iter().map(|name| (*name).to_owned()).collect();
        let name = name_of(after.or(before).unwrap());
        ImageMove { name, before: owned(before), after: owned(after), by }
    }

    /// Entries as they are listed: newest first.
    fn history(path: &str, entries: Vec<(&str, Status, Vec<ImageMove>)>) -> OverlayHistory {
        let entry = |(day, status, images): (&str, Status, Vec<ImageMove>)| Entry {
            commit: format!("c{day}"),
            date: format!("2024-05-{day}T10:00:00Z"),
            author: "Ann <ann@example.test>".to_owned(),
            subject: String::new(),
            pull_request: None,
            is_merge: false,
            change: None,
            moved: Arc::new(Moved { status, images, ..Moved::default() }),
        };
        let entries = entries.into_iter().map(entry).collect();
        OverlayHistory { path: path.to_owned(), entries, walked: 0, end: End::Start }
    }

    /// `image overlay: reference[,reference]@day-day …`.
    fn told(histories: &[OverlayHistory]) -> Vec<String> {
        let day = |date: &str| date[8..10].to_owned();
        let mut lines = Vec::new();
        for image in timeline(histories) {
            for lane in image.lanes {
                let spans = lane.spans.iter().map(|span| {
                    let references: Vec<_> = span.references.iter().cloned().collect();
                    let since = span.since.map_or("?".to_owned(), |since| day(since.date));
                    let until = span.until.map_or("now".to_owned(), day);
                    format!("{}@{since}-{until}", references.join(","))
                });
                let spans: Vec<String> = spans.collect();
                lines.push(format!("{} {}: {}", image.name, lane.overlay, spans.join(" ")));
            }
        }
        lines
    }

    #[test]
    fn moves_become_spans_by_image_and_overlay() {
        let staging = history(
            "staging",
            vec![
                ("03", Status::Changed, vec![moved(Some("r/web:2"), Some("r/web:3"), &["web"])]),
                ("02", Status::Changed, vec![moved(Some("r/web:1"), Some("r/web:2"), &["web"])]),
                ("01", Status::Appeared, vec![moved(None, Some("r/web:1"), &["web"])]),
            ],
        );
        let prod = history(
            "prod",
            vec![("04", Status::Changed, vec![moved(Some("r/web:1"), Some("r/web:2"), &["web"])])],
        );
        assert_eq!(
            told(&[staging, prod]),
            [
                "r/web staging: r/web:1@01-02 r/web:2@02-03 r/web:3@03-now",
                "r/web prod: r/web:1@?-04 r/web:2@04-now",
            ]
        );
    }

    #[test]
    fn places_that_differ_are_told_together() {
        let o = history(
            "o",
            vec![
                (
                    "03",
                    Status::Changed,
                    vec![moved(Some("r/web:1"), Some("r/web:2"), &["app", "b"])],
                ),
                (
                    "02",
                    Status::Changed,
                    vec![moved(Some("r/web:1"), Some("r/web:2"), &["a", "app"])],
                ),
                ("01", Status::Appeared, vec![moved(None, Some("r/web:1"), &["a", "app", "b"])]),
            ],
        );
        assert_eq!(told(&[o]), ["r/web o: r/web:1@01-02 r/web:1,r/web:2@02-03 r/web:2@03-now"]);
    }

    #[test]
    fn an_image_that_is_renamed_or_gone_ends() {
        let o = history(
            "o",
            vec![
                ("03", Status::Removed, vec![moved(Some("m/web:1"), None, &["web"])]),
                ("02", Status::Changed, vec![moved(Some("r/web:1"), Some("m/web:1"), &["web"])]),
                ("01", Status::Appeared, vec![moved(None, Some("r/web:1"), &["web"])]),
            ],
        );
        assert_eq!(
            told(&[o]),
            ["m/web o: m/web:1@02-03 @03-now", "r/web o: r/web:1@01-02 @02-now"]
        );
    }
}
