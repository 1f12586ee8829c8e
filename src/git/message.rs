//! The message of a commit: a subject and a text for people, and trailers that carry the change as data, so that history
//! can be read back by a later version of the program.

use serde_json::Value;

/// The form of [`ChangeRecord::data`] that this version writes.
pub const RECORD_VERSION: u32 = 1;

/// The trailer that holds a [`ChangeRecord`]: `Overlay-Change: v1 {…}`.
pub const RECORD_KEY: &str = "Overlay-Change";

const SIGNED_OFF: &str = "Signed-off-by";

/// A change as data: what was asked for, not how it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRecord {
    /// The form of `data`.
    pub version: u32,
    /// The change.
    pub data: Value,
}

impl ChangeRecord {
    /// A record in the form of this version.
    pub fn new(data: Value) -> Self {
        Self { version: RECORD_VERSION, data }
    }

    /// The line of the trailer.
    pub fn to_trailer(&self) -> String {
        format!("{RECORD_KEY}: v{} {}", self.version, self.data)
    }

    fn parse(value: &str) -> Option<Self> {
        let (version, data) = value.trim().strip_prefix('v')?.split_once(' ')?;
        Some(Self { version: version.parse().ok()?, data: serde_json::from_str(data).ok()? })
    }
}

/// A whole message: `text` as a person wrote it, then the records and other trailers, then the sign-off, in one block.
pub fn compose(
    text: &str,
    records: &[ChangeRecord],
    others: &[String],
    signed_off_by: Option<&str>,
) -> String {
    let text = clean(text);
    let mut trailers: Vec<String> = records.iter().map(ChangeRecord::to_trailer).collect();
    trailers.extend(others.iter().cloned());
    if let Some(person) = signed_off_by {
        let line = format!("{SIGNED_OFF}: {person}");
        if !text.lines().any(|existing| existing == line) {
            trailers.push(line);
        }
    }
    if trailers.is_empty() {
        return format!("{text}\n");
    }
    let gap = if ends_in_trailers(&text) { "\n" } else { "\n\n" };
    format!("{text}{gap}{}\n", trailers.join("\n"))
}

/// The changes that a message records, oldest form included; what this version cannot read is left out.
pub fn parse_records(message: &str) -> Vec<ChangeRecord> {
    let block = last_paragraph(message.trim_end());
    let values = block.lines().filter_map(|line| line.strip_prefix(RECORD_KEY)?.strip_prefix(':'));
    values.filter_map(ChangeRecord::parse).collect()
}

/// No bytes that end a message early, no spaces at line ends, no empty lines around it.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\0', "");
    let lines: Vec<&str> =
        text.trim_matches(['\n', ' ', '\t']).lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn last_paragraph(text: &str) -> &str {
    text.rsplit_once("\n\n").map_or("", |(_, last)| last)
}

/// The subject alone is never a block of trailers.
fn ends_in_trailers(text: &str) -> bool {
    let block = last_paragraph(text);
    !block.is_empty() && block.lines().all(|line| line.starts_with(' ') || is_trailer(line))
}

fn is_trailer(line: &str) -> bool {
    line.split_once(':').is_some_and(|(token, value)| {
        !token.is_empty()
            && value.starts_with(' ')
            && token.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_comes_back() {
        let record = ChangeRecord::new(json!({"pin": {"r/web": "sha256:00"}, "text": "a\nb"}));
        let message = compose("Pin web\n\nBecause.\n", std::slice::from_ref(&record), &[], None);
        assert!(message.starts_with("Pin web\n\nBecause.\n\nOverlay-Change: v1 {"), "{message}");
        assert_eq!(parse_records(&message), vec![record]);
    }

    #[test]
    fn trailers_of_the_user_share_the_block() {
        let message = compose(
            "Pin web\n\nRefs: #3",
            &[ChangeRecord::new(json!(1))],
            &["Key: x".to_owned()],
            Some("A <a@b>"),
        );
        assert_eq!(
            message,
            "Pin web\n\nRefs: #3\nOverlay-Change: v1 1\nKey: x\nSigned-off-by: A <a@b>\n"
        );
    }

    #[test]
    fn a_subject_that_looks_like_a_trailer_is_none() {
        let message = compose("pin: web", &[], &[], Some("A <a@b>"));
        assert_eq!(message, "pin: web\n\nSigned-off-by: A <a@b>\n");
    }

    #[test]
    fn text_in_the_body_is_no_record() {
        assert!(parse_records("x\n\nOverlay-Change: v1 {\"a\":1}\n\nRefs: 1\n").is_empty());
        assert!(parse_records("x\n\nOverlay-Change: v1 {broken\n").is_empty());
    }
}
