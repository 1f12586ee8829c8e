//! Histories as a page: what each overlay runs now, since when as lanes of time, and the commits.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::timeline::{ImageLanes, Lane, Since, Span, timeline};
use super::{End, Entry, OverlayHistory, Status, counted, line, name_of, short};
use crate::clock::parse_rfc_3339;
use crate::error::Error;
use crate::image::Split;
use crate::report::page::{self, COLOURS, Head, page, web_address};

const TEMPLATE: &str = include_str!("../../../templates/pages/history.html");

/// Digits of a digest that tell it from its neighbours.
const DIGITS: usize = 12;
/// What the picture is divided into.
const WHOLE: u64 = 1_000_000;
/// How much of it is kept for what was before the first commit, and for what goes on.
const MARGIN: u64 = 120_000;
/// The least distance of two dates on the axis.
const TICK_DISTANCE: u64 = 160_000;
/// Widths in rem: of the lanes at least, and for each moment.
const LEAST_WIDTH: usize = 40;
const MOMENT_WIDTH: usize = 2;

#[derive(Serialize)]
struct View<'a> {
    paths: Vec<&'a str>,
    notices: Vec<Notice>,
    images: Vec<ImageView<'a>>,
    ticks: Vec<Tick<'a>>,
    width: String,
    overlays: Vec<OverlayView<'a>>,
}

/// What the picture cannot tell.
#[derive(Serialize)]
struct Notice {
    /// `warning` or `note`.
    word: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ImageView<'a> {
    name: &'a str,
    cells: Vec<Cell>,
    is_alike: bool,
    lanes: Vec<LaneView<'a>>,
}

/// What one overlay runs now.
#[derive(Serialize)]
struct Cell {
    versions: Vec<Version>,
    since: String,
    absent: &'static str,
}

#[derive(Serialize)]
struct Version {
    short: String,
    whole: String,
}

#[derive(Serialize)]
struct LaneView<'a> {
    overlay: &'a str,
    spans: Vec<SpanView>,
}

#[derive(Serialize)]
struct SpanView {
    name: String,
    told: String,
    class: String,
    left: String,
    width: String,
    is_now: bool,
}

#[derive(Serialize)]
struct Tick<'a> {
    left: String,
    name: &'a str,
}

#[derive(Serialize)]
struct OverlayView<'a> {
    path: &'a str,
    count: String,
    entries: Vec<EntryView<'a>>,
}

#[derive(Serialize)]
struct EntryView<'a> {
    date: &'a str,
    when: String,
    word: Option<&'static str>,
    summary: String,
    commit: &'a str,
    author: &'a str,
    subject: &'a str,
    request: Option<&'a str>,
    address: Option<&'a str>,
    is_merge: bool,
}

/// The page.
///
/// # Errors
/// Where the template and the view disagree.
pub(super) fn to_page(histories: &[OverlayHistory]) -> Result<Vec<u8>, Error> {
    let images = timeline(histories);
    let changes: usize = histories.iter().map(|history| history.entries.len()).sum();
    let (title, lead) = match histories {
        [one] => (format!("History of {}", one.path), format!("{}.", counted(one))),
        many => (
            "Who runs what since when".to_owned(),
            format!(
                "{} in {}, {} of what they render.",
                crate::report::counted(images.len(), "image"),
                crate::report::counted(many.len(), "overlay"),
                crate::report::counted(changes, "change"),
            ),
        ),
    };
    let head = Head { command: "history", title, lead, basis: "the commits of this repository" };
    page(&head, TEMPLATE, &view(histories, &images))
}

fn view<'a>(histories: &'a [OverlayHistory], images: &'a [ImageLanes<'a>]) -> View<'a> {
    let axis = Axis::of(images);
    View {
        paths: histories.iter().map(|history| &*history.path).collect(),
        notices: histories.iter().flat_map(notices).collect(),
        images: images.iter().map(|image| image_view(image, histories, &axis)).collect(),
        ticks: axis.ticks(),
        width: format!("{}rem", LEAST_WIDTH.max(axis.moments.len() * MOMENT_WIDTH)),
        overlays: histories.iter().map(overlay).collect(),
    }
}

fn notices(history: &OverlayHistory) -> Vec<Notice> {
    let path = &history.path;
    let mut notices = Vec::new();
    let mut push = |word, text| notices.push(Notice { word, text });
    match history.end {
        End::Start => {}
        End::Shallow => {
            push("warning", format!("{path}: the clone is shallow, what is before is not here."));
        }
        End::From | End::Enough => {
            push("note", format!("{path}: images that none of these commits moved are not shown."));
        }
    }
    let is_dark = |entry: &Entry| matches!(entry.moved.status, Status::Broken | Status::Unknown);
    if history.entries.iter().any(is_dark) {
        push(
            "warning",
            format!(
                "{path}: it did not build for a while; what moved meanwhile is told of the commit that mended it, where there is one."
            ),
        );
    }
    notices
}

fn image_view<'a>(
    image: &'a ImageLanes<'a>,
    histories: &'a [OverlayHistory],
    axis: &Axis<'a>,
) -> ImageView<'a> {
    let lane_of = |history: &OverlayHistory| image.lanes.iter().find(|l| l.overlay == history.path);
    let now = |lane: &Lane<'_>| lane.spans.last().map(|span| span.references.clone());
    let all: BTreeSet<_> = histories.iter().map(|h| lane_of(h).and_then(now)).collect();
    let colours = colours(image);
    let lane_view = |lane: &'a Lane<'a>| LaneView {
        overlay: lane.overlay,
        spans: lane.spans.iter().filter_map(|span| span_view(span, axis, &colours)).collect(),
    };
    ImageView {
        name: &image.name,
        cells: histories.iter().map(|history| cell(lane_of(history))).collect(),
        is_alike: all.len() == 1,
        lanes: image.lanes.iter().map(lane_view).collect(),
    }
}

fn cell(lane: Option<&Lane<'_>>) -> Cell {
    let Some(span) = lane.and_then(|lane| lane.spans.last()) else {
        return Cell { versions: Vec::new(), since: String::new(), absent: "not seen" };
    };
    let version = |whole: &String| Version { short: version(whole), whole: whole.clone() };
    Cell {
        versions: span.references.iter().map(version).collect(),
        since: told_since(span.since),
        absent: "no longer",
    }
}

fn told_since(since: Option<Since<'_>>) -> String {
    let Some(since) = since else { return "since before the first commit looked at".to_owned() };
    let author = name_of(since.author);
    let mut told = format!("since {} by {author}, {}", moment(since.date), short(since.commit));
    if let Some(request) = since.pull_request {
        told.push_str(&format!(", {request}"));
    }
    told
}

/// The number of a colour for each set of references, by first appearance in any lane.
fn colours<'a>(image: &'a ImageLanes<'a>) -> BTreeMap<&'a BTreeSet<String>, usize> {
    let mut spans: Vec<&Span<'_>> = image.lanes.iter().flat_map(|lane| &lane.spans).collect();
    spans.sort_by_key(|span| span.since.map(|since| since.date));
    let mut colours = BTreeMap::new();
    for span in spans {
        let next = colours.len() % COLOURS;
        colours.entry(&span.references).or_insert(next);
    }
    colours
}

/// None for a time in which nothing ran.
fn span_view(
    span: &Span<'_>,
    axis: &Axis<'_>,
    colours: &BTreeMap<&BTreeSet<String>, usize>,
) -> Option<SpanView> {
    if span.references.is_empty() {
        return None;
    }
    let left = span.since.map_or(0, |since| axis.place(since.date));
    let right = span.until.map_or(WHOLE, |until| axis.place(until));
    let mut told = told_since(span.since);
    if let Some(until) = span.until {
        told.push_str(&format!(" until {}", moment(until)));
    }
    let names: Vec<String> = span.references.iter().map(|reference| version(reference)).collect();
    Some(SpanView {
        name: names.join(", "),
        told,
        class: format!("c{}", colours.get(&span.references).copied().unwrap_or_default()),
        left: page::percent(left, WHOLE),
        width: page::percent(right.saturating_sub(left), WHOLE),
        is_now: span.until.is_none(),
    })
}

/// The tag and the beginning of the digest, as far as they are there.
fn version(reference: &str) -> String {
    let split = Split::parse(reference);
    let digest = split.digest.split_once(':').map_or(split.digest, |(_, hex)| hex);
    let digest: String = digest.chars().take(DIGITS).collect();
    match (split.tag, &*digest) {
        ("", "") => "untagged".to_owned(),
        (tag, "") => tag.to_owned(),
        ("", _) => digest,
        (tag, _) => format!("{tag} {digest}"),
    }
}

/// `2024-05-01 10:00`.
fn moment(date: &str) -> String {
    date.get(..16).unwrap_or(date).replace('T', " ")
}

fn overlay(history: &OverlayHistory) -> OverlayView<'_> {
    OverlayView {
        path: &history.path,
        count: counted(history),
        entries: history.entries.iter().map(entry).collect(),
    }
}

fn entry(entry: &Entry) -> EntryView<'_> {
    let request = entry.pull_request.as_deref();
    let word = match entry.moved.status {
        status @ (Status::Broken | Status::Removed | Status::Unknown) => Some(status.word()),
        _ => None,
    };
    EntryView {
        date: &entry.date,
        when: moment(&entry.date),
        word,
        summary: line::summary(&entry.moved),
        commit: short(&entry.commit),
        author: name_of(&entry.author),
        subject: &entry.subject,
        request,
        address: request.and_then(web_address),
        is_merge: entry.is_merge,
    }
}

/// The moments at which something began or ended, each with its place from left to right. The order is exact; what lies between
/// two moments is as wide as it lasted, but never so narrow that it is lost.
struct Axis<'a> {
    moments: Vec<(&'a str, u64)>,
}

impl<'a> Axis<'a> {
    fn of(images: &'a [ImageLanes<'a>]) -> Self {
        let spans = || images.iter().flat_map(|image| &image.lanes).flat_map(|lane| &lane.spans);
        let dates: BTreeSet<&str> = spans().filter_map(|span| span.since.map(|s| s.date)).collect();
        let dates: Vec<&str> = dates.into_iter().collect();
        let first = if spans().any(|span| span.since.is_none()) { MARGIN } else { 0 };
        let lengths: Vec<u64> = dates
            .windows(2)
            .map(|pair| seconds(pair[1]).saturating_sub(seconds(pair[0])))
            .collect();
        let least = lengths.iter().sum::<u64>() / (2 * lengths.len().max(1) as u64);
        let weights: Vec<u64> =
            lengths.into_iter().map(|length| length.max(least).max(1)).collect();
        let (sum, room) = (weights.iter().sum::<u64>().max(1), WHOLE - MARGIN - first);
        let mut before = 0u64;
        let mut moments = Vec::with_capacity(dates.len());
        for (number, date) in dates.into_iter().enumerate() {
            let part = u128::from(room) * u128::from(before) / u128::from(sum);
            moments.push((date, first + u64::try_from(part).unwrap_or(room)));
            before += weights.get(number).copied().unwrap_or(0);
        }
        Self { moments }
    }

    fn place(&self, date: &str) -> u64 {
        let found = self.moments.binary_search_by(|(known, _)| (*known).cmp(date));
        found.map_or(0, |at| self.moments[at].1)
    }

    /// Dates along the axis, as many as have room; the time of day where the day is that of the one before.
    fn ticks(&self) -> Vec<Tick<'a>> {
        let mut ticks = Vec::new();
        let (mut free_from, mut last_day) = (0, "");
        for (date, place) in &self.moments {
            if *place >= free_from {
                let day = date.get(..10).unwrap_or(date);
                let name = if day == last_day { date.get(11..16).unwrap_or(day) } else { day };
                ticks.push(Tick { left: page::percent(*place, WHOLE), name });
                (free_from, last_day) = (place + TICK_DISTANCE, day);
            }
        }
        ticks
    }
}

/// Since 1970; 0 for a date that cannot be read.
fn seconds(date: &str) -> u64 {
    parse_rfc_3339(date).and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a` at midnight, ten days later, and a minute after that; and at last on the same day.
    const DATES: [&str; 4] = [
        "2024-05-01T00:00:00Z",
        "2024-05-11T00:00:00Z",
        "2024-05-11T00:01:00Z",
        "2024-05-11T18:00:00Z",
    ];

    fn images(dates: &'static [&'static str], knows_start: bool) -> Vec<ImageLanes<'static>> {
        let since = |date| Since { date, commit: "c", author: "a", pull_request: None };
        let span = |since, until| Span { references: BTreeSet::new(), since, until };
        let mut spans: Vec<Span<'static>> =
            dates.iter().map(|date| span(Some(since(date)), None)).collect();
        if !knows_start {
            spans.insert(0, span(None, Some(dates[0])));
        }
        vec![ImageLanes { name: "n".to_owned(), lanes: vec![Lane { overlay: "o", spans }] }]
    }

    #[test]
    fn moments_keep_their_order_and_short_spans_are_seen() {
        let images = images(&DATES, true);
        let axis = Axis::of(&images);
        let places: Vec<u64> = DATES.iter().map(|date| axis.place(date)).collect();
        assert_eq!((places[0], places[3]), (0, WHOLE - MARGIN));
        let gaps: Vec<u64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps[0] > gaps[1] && gaps.iter().all(|gap| *gap > 100_000), "{gaps:?}");
    }

    #[test]
    fn what_was_before_the_first_commit_has_its_room() {
        let images = images(&DATES[..1], false);
        assert_eq!(Axis::of(&images).place(DATES[0]), MARGIN);
    }

    #[test]
    fn a_second_date_of_the_same_day_is_told_by_its_time() {
        let images = images(&DATES, true);
        let axis = Axis::of(&images);
        let names: Vec<&str> = axis.ticks().iter().map(|tick| tick.name).collect();
        assert_eq!(names[..2], ["2024-05-01", "2024-05-11"]);
        assert!(names[2..].iter().all(|name| name.len() == 5), "{names:?}");
    }
}
