//! Images: `images`, over the containers everywhere and over the configured fields.
//!
//! Source: kustomize `api/filters/imagetag`, `api/internal/image/image.go`. The name of an entry is
//! put into a regular expression as it is.

use std::collections::BTreeSet;

use super::context::Context;
use super::field_path::{Create, FieldPathError, apply_specs, set_scalar, wrong_kind};
use super::field_spec::FieldSpecs;
use super::go_regexp;
use crate::image::{PlainName, pattern_of};
use crate::kustomize::error::{BuildError, BuildErrorKind, WarningKind};
use crate::kustomize::node::{Node, Tag, Text, Value};
use crate::kustomize::resmap::ResMap;
use crate::kustomize::types::Image;

/// Applies one entry of `images` to every resource but custom resource definitions.
///
/// # Errors
/// [`BuildErrorKind::Transformer`] where the name is no regular expression and an image is there to
/// compare it with, or where an image is no scalar.
pub(crate) fn set_images(
    resmap: &mut ResMap,
    image: &Image,
    specs: &FieldSpecs,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let mut updater = Updater { image, matcher: None, matched: BTreeSet::new() };
    for resource in resmap.resources_mut() {
        if resource.kind() == "CustomResourceDefinition" {
            continue;
        }
        let id = resource.current_id();
        updater.walk(&mut resource.node).map_err(|error| {
            let message = format!("images: containers of {id}: {error}");
            BuildError::new(BuildErrorKind::Transformer, message).at(image.origin)
        })?;
    }
    for resource in resmap.resources_mut() {
        if resource.kind() != "CustomResourceDefinition" {
            let set = |node: &mut Node| updater.update(node);
            apply_specs(&mut resource.node, specs.iter(), Create::Never, image.origin, set)?;
        }
    }
    warn_about(image, &updater.matched, context);
    Ok(())
}

/// Says what an entry did that is probably not meant; `matched` are the images it found.
fn warn_about(image: &Image, matched: &BTreeSet<Text>, context: &Context<'_>) {
    let name = &*image.name;
    let message = format!("images: no image is named `{name}` here; the entry does nothing");
    match matched.is_empty() {
        true => context.warn_of(WarningKind::ImageUnmatched, message, image.origin),
        false => context.mark_effective(message, image.origin),
    }
    let is_plain = Matcher::new(name).is_ok_and(|matcher| matches!(matcher, Matcher::Name(_)));
    let sets_tag_only =
        image.digest.is_empty() && !(image.new_tag.is_empty() && image.tag_suffix.is_empty());
    let mut others = BTreeSet::new();
    for text in matched {
        let (found, _, digest) = split(text);
        if is_plain && !text.starts_with(name) && others.insert(found) {
            let message = format!(
                "images: `{name}` also changes `{found}`, for a dot stands for any character"
            );
            context.warn_of(WarningKind::ImageOvermatched, message, image.origin);
        }
        if sets_tag_only && !digest.is_empty() {
            let message =
                format!("images: the entry for `{name}` takes away the digest of `{text}`");
            context.warn_of(WarningKind::DigestDropped, message, image.origin);
        }
    }
}

struct Updater<'a> {
    image: &'a Image,
    matcher: Option<Matcher>,
    /// The images that matched, as they were.
    matched: BTreeSet<Text>,
}

impl Updater<'_> {
    /// Every list named `containers` or `initContainers`, at any depth.
    fn walk(&mut self, node: &mut Node) -> Result<(), FieldPathError> {
        match &mut node.value {
            Value::Scalar(_) => Ok(()),
            Value::Seq(items) => items.iter_mut().try_for_each(|item| self.walk(item)),
            Value::Map(map) => map.entries_mut().iter_mut().try_for_each(|entry| {
                self.walk(&mut entry.value)?;
                match &*entry.key.text {
                    "containers" | "initContainers" => self.update_containers(&mut entry.value),
                    _ => Ok(()),
                }
            }),
        }
    }

    fn update_containers(&mut self, node: &mut Node) -> Result<(), FieldPathError> {
        for container in node.as_seq_mut().into_iter().flatten() {
            if let Value::Map(map) = &mut container.value {
                map.get_mut("image").map_or(Ok(()), |image| self.update(image))?;
            } else if !container.is_null() {
                return Err(wrong_kind("a map", container));
            }
        }
        Ok(())
    }

    fn update(&mut self, node: &mut Node) -> Result<(), FieldPathError> {
        let Some(text) = node.as_text() else { return Err(wrong_kind("a scalar", node)) };
        if !self.matches(text)? {
            return Ok(());
        }
        if !self.matched.contains(text) {
            self.matched.insert(Text::clone(text));
        }
        let updated = Text::from(updated(text, self.image));
        set_scalar(node, updated, Tag::Unset, self.image.origin)
    }

    fn matches(&mut self, text: &str) -> Result<bool, FieldPathError> {
        if self.matcher.is_none() {
            let matcher = Matcher::new(&self.image.name);
            let refuse =
                |error: go_regexp::PatternError| FieldPathError::Refused(error.to_string());
            self.matcher = Some(matcher.map_err(refuse)?);
        }
        Ok(self.matcher.as_ref().is_some_and(|matcher| matcher.is_match(text)))
    }
}

/// Whether an image has the name of an entry (`IsImageMatched`).
enum Matcher {
    Name(PlainName),
    Pattern(Box<regex::Regex>),
}

impl Matcher {
    fn new(name: &str) -> Result<Self, go_regexp::PatternError> {
        match PlainName::new(name) {
            Some(plain) => Ok(Self::Name(plain)),
            None => Ok(Self::Pattern(Box::new(go_regexp::compile(&pattern_of(name))?))),
        }
    }

    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Pattern(regex) => regex.is_match(text),
            Self::Name(name) => name.is_match(text),
        }
    }
}

/// The parts of an image: name, tag and digest (`image.Split`). A host before the first `/` may have
/// a port.
fn split(image: &str) -> (&str, &str, &str) {
    let path = image.find('/').filter(|at| *at > 0).unwrap_or(0);
    let find = |c: char| image[path..].find(c).map(|at| at + path);
    match (find(':'), find('@')) {
        (None, None) => (image, "", ""),
        (Some(colon), None) => (&image[..colon], &image[colon + 1..], ""),
        (Some(colon), Some(at)) if colon < at => {
            (&image[..colon], &image[colon + 1..at], &image[at + 1..])
        }
        (_, Some(at)) => (&image[..at], "", &image[at + 1..]),
    }
}

fn updated(text: &str, image: &Image) -> String {
    let (old_name, old_tag, old_digest) = split(text);
    let name = if image.new_name.is_empty() { old_name } else { &image.new_name };
    let suffixed;
    let (tag, digest): (&str, &str) = if !image.new_tag.is_empty() || !image.digest.is_empty() {
        (&image.new_tag, &image.digest)
    } else if image.tag_suffix.is_empty() {
        (old_tag, old_digest)
    } else {
        suffixed = format!("{old_tag}{}", image.tag_suffix);
        (&suffixed, "")
    };
    let mut updated = name.to_owned();
    for (separator, part) in [(':', tag), ('@', digest)] {
        if !part.is_empty() {
            updated.push(separator);
            updated.push_str(part);
        }
    }
    updated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_split_at_the_tag_and_the_digest() {
        for (image, parts) in [
            ("app", ("app", "", "")),
            ("app:1", ("app", "1", "")),
            ("reg:5000/app", ("reg:5000/app", "", "")),
            ("reg:5000/app:1@sha256:ab", ("reg:5000/app", "1", "sha256:ab")),
            ("app@sha256:ab", ("app", "", "sha256:ab")),
        ] {
            assert_eq!(split(image), parts, "{image}");
        }
    }

    #[test]
    fn a_name_and_its_pattern_match_the_same_images() {
        let images = [
            "my.reg/app",
            "myxreg/app:1",
            "my.reg/app:1@sha256:ab",
            "my.reg/app@sha256:",
            "my.reg/app:",
            "my.reg/app2",
            "x/my.reg/app",
            "my.reg/app@sha512:ab",
            "my.reg/app:1:2",
            "my.reg/app:a@sha256:b:c",
        ];
        let name = Matcher::new("my.reg/app").unwrap();
        let pattern = Matcher::new("(?:my.reg/app)").unwrap();
        for image in images {
            assert_eq!(name.is_match(image), pattern.is_match(image), "{image}");
        }
    }
}
