//! What a commit did, in one line: images by short digest, numbers, objects that come and go, and how much more.

use serde_json::Value as Json;

use super::{FieldMove, ImageMove, Moved, ObjectName, Status};
use crate::image::Split;

/// The most things of one sort that are named.
const MOST: usize = 4;

/// Digits of a digest that tell it from its neighbours.
const DIGITS: usize = 8;

/// The line.
pub(super) fn summary(moved: &Moved) -> String {
    let mut parts: Vec<String> = match moved.status {
        Status::Changed => Vec::new(),
        Status::Appeared => vec![appeared(moved)],
        Status::Removed => vec!["is gone".to_owned()],
        Status::Broken => vec![broken(moved)],
        Status::Mended => vec!["builds again".to_owned()],
        Status::Unknown => vec![unknown(moved)],
    };
    if matches!(moved.status, Status::Changed | Status::Mended) {
        parts.extend(named(moved.images.iter().map(image).collect(), "images"));
        let fields = || moved.fields.iter().filter(|field| !is_image(moved, field));
        let numbers = fields().filter_map(number).collect();
        parts.extend(named(numbers, "numbers"));
        parts.extend(named(objects("+", &moved.added), "new objects"));
        parts.extend(named(objects("-", &moved.removed), "objects gone"));
        let others = fields().filter(|field| number(field).is_none());
        parts.extend(named(others.map(field).collect(), "fields"));
    } else if moved.status == Status::Appeared {
        parts.extend(named(objects("+", &moved.added), "objects"));
    }
    if parts.is_empty() {
        // What is printed differs, and no object: their order.
        parts.push("the order of objects".to_owned());
    }
    parts.join("; ")
}

fn appeared(moved: &Moved) -> String {
    match &moved.reason {
        Some(reason) => format!("appears, and does not build: {reason}"),
        None => "appears".to_owned(),
    }
}

fn broken(moved: &Moved) -> String {
    match &moved.reason {
        Some(reason) => format!("no longer builds: {reason}"),
        None => "does not build".to_owned(),
    }
}

fn unknown(moved: &Moved) -> String {
    let reason = moved.reason.as_deref().unwrap_or("it does not build");
    format!("what it changes is not known: {reason}")
}

/// The first few, and how many there are beside.
fn named(mut all: Vec<String>, what: &str) -> Vec<String> {
    let left = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    if left > 0 {
        all.push(format!("and {left} more {what}"));
    }
    all
}

fn image(moved: &ImageMove) -> String {
    let name = moved.name.rsplit('/').next().unwrap_or_default();
    match (&moved.before, &moved.after) {
        (Some(before), Some(after)) => {
            let renamed = Split::parse(before).name != Split::parse(after).name;
            let from = if renamed { before.clone() } else { version(before) };
            format!("{name} {from} → {}", version(after))
        }
        (None, Some(after)) => format!("{name} {} new", version(after)),
        (Some(before), None) => format!("{name} {} gone", version(before)),
        (None, None) => name.to_owned(),
    }
}

/// The tag and the digest, cut short: `1.2@686a84a2`.
fn version(reference: &str) -> String {
    let split = Split::parse(reference);
    let digest = split.digest.split_once(':').map_or(split.digest, |(_, hex)| hex);
    match (digest, split.tag) {
        ("", "") => "untagged".to_owned(),
        ("", tag) => tag.to_owned(),
        (digest, tag) => {
            let short: String = digest.chars().take(DIGITS).collect();
            if tag.is_empty() { short } else { format!("{tag}@{short}") }
        }
    }
}

/// Whether the move of an image says the same.
fn is_image(moved: &Moved, field: &FieldMove) -> bool {
    let text = |value: &Option<Json>| value.as_ref().and_then(Json::as_str).map(str::to_owned);
    let (before, after) = (text(&field.before), text(&field.after));
    (before.is_some() || after.is_some())
        && moved.images.iter().any(|image| image.before == before && image.after == after)
}

/// `web replicas 1 → 2`, for the numbers that people look for.
fn number(field: &FieldMove) -> Option<String> {
    let name = field.path.strip_prefix("spec.")?;
    matches!(name, "replicas" | "instances").then_some(())?;
    let value = |value: &Option<Json>| value.as_ref().map_or("unset".to_owned(), Json::to_string);
    Some(format!(
        "{} {name} {} → {}",
        field.resource.name,
        value(&field.before),
        value(&field.after)
    ))
}

fn objects(sign: &str, objects: &[ObjectName]) -> Vec<String> {
    objects.iter().map(|object| format!("{sign}{}", object.shown())).collect()
}

fn field(moved: &FieldMove) -> String {
    format!("{} {}", moved.resource.shown(), moved.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, name: &str) -> ObjectName {
        let (kind, name) = (kind.to_owned(), name.to_owned());
        ObjectName { api_version: "apps/v1".to_owned(), kind, namespace: None, name }
    }

    #[test]
    fn a_line_says_images_numbers_objects_and_fields() {
        let digest = |digit: &str| format!("r/team/web@sha256:{}", digit.repeat(64));
        let field = |path: &str, before: Json, after: Json| FieldMove {
            resource: object("Deployment", "web"),
            path: path.to_owned(),
            before: Some(before),
            after: Some(after),
        };
        let moved = Moved {
            images: vec![ImageMove {
                name: "r/team/web".to_owned(),
                before: Some(digest("a")),
                after: Some(digest("b")),
                by: Vec::new(),
            }],
            fields: vec![
                field("spec.x.image", json!(digest("a")), json!(digest("b"))),
                field("spec.replicas", json!(1), json!(2)),
                field("spec.paused", json!(true), json!(false)),
            ],
            added: vec![object("Service", "web")],
            ..Moved::default()
        };
        assert_eq!(
            summary(&moved),
            "web aaaaaaaa → bbbbbbbb; web replicas 1 → 2; +Service/web; Deployment/web spec.paused"
        );
        assert_eq!(summary(&Moved::default()), "the order of objects");
    }
}
