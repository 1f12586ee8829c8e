//! The results of `overlay images` and `overlay show`.

use serde_json::{Value as Json, json};

use super::change::resource_to_json;
use super::{Style, Text};
use crate::image::{Digest, Split};
use crate::kustomize::{Owner, ResourceId, shown_name};

/// A place that uses an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The rendered resource.
    pub resource: ResourceId,
    /// The field, in kustomize's notation.
    pub path: String,
    /// The container it belongs to.
    pub container: Option<String>,
}

/// An image reference as rendered, and who decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedImage {
    /// As rendered.
    pub reference: String,
    /// Who decided it; `None` where the renderer does not say.
    pub decided_by: Option<Owner>,
    /// Where it is used.
    pub uses: Vec<Use>,
    /// What its registry says of it, where that was asked.
    pub in_registry: Option<InRegistry>,
}

/// What a registry says of an image that is rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InRegistry {
    /// The tag stands for the digest beside it, or the digest is there.
    Current,
    /// The tag stands for this digest now.
    Moved(String),
    /// There is no digest beside the tag, which stands for this one.
    Unpinned(String),
    /// There is no such tag or digest.
    Gone,
    /// It could not be asked; the reason.
    Unknown(String),
}

impl InRegistry {
    fn to_json(&self) -> Json {
        let (state, digest, reason) = match self {
            Self::Current => ("current", None, None),
            Self::Moved(digest) => ("moved", Some(digest), None),
            Self::Unpinned(digest) => ("unpinned", Some(digest), None),
            Self::Gone => ("gone", None, None),
            Self::Unknown(reason) => ("unknown", None, Some(reason)),
        };
        json!({ "state": state, "digest": digest, "reason": reason })
    }

    fn to_line(&self) -> (Style, String) {
        match self {
            Self::Current => (Style::Faint, "    in the registry".to_owned()),
            Self::Moved(digest) => (Style::Warning, format!("    the tag stands for {digest} now")),
            Self::Unpinned(digest) => (Style::Faint, format!("    the tag stands for {digest}")),
            Self::Gone => (Style::Warning, "    not in the registry".to_owned()),
            Self::Unknown(reason) => (Style::Warning, format!("    not known: {reason}")),
        }
    }
}

impl UsedImage {
    /// Whether a digest, and no placeholder, says which image it is.
    pub fn is_pinned(&self) -> bool {
        Digest::parse(Split::parse(&self.reference).digest).is_ok()
    }

    /// Its JSON form.
    pub fn to_json(&self) -> Json {
        let split = Split::parse(&self.reference);
        let filled = |part: &str| Some(part).filter(|part| !part.is_empty()).map(str::to_owned);
        let uses = self.uses.iter().map(|place| {
            json!({
                "resource": resource_to_json(&place.resource),
                "path": place.path,
                "container": place.container,
            })
        });
        let mut image = json!({
            "reference": self.reference,
            "name": split.name,
            "tag": filled(split.tag),
            "digest": filled(split.digest),
            "pinned": self.is_pinned(),
            "uses": uses.collect::<Vec<_>>(),
            "decidedBy": self.decided_by.as_ref().map(owner_to_json),
        });
        if let Some(in_registry) = &self.in_registry {
            image["registry"] = in_registry.to_json();
        }
        image
    }

    /// Its lines for people.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        let (style, word) = match self.is_pinned() {
            true => (Style::Added, "pinned"),
            false => (Style::Warning, "not pinned"),
        };
        text.push(Style::Plain, format!("  {}  ", self.reference)).styled_line(style, word);
        if let Some((style, line)) = self.in_registry.as_ref().map(InRegistry::to_line) {
            text.styled_line(style, line);
        }
        if let Some(owner) = &self.decided_by {
            text.styled_line(Style::Faint, format!("    decided by {}", owner_text(owner)));
        }
        for place in &self.uses {
            text.line(format!("    {} {}", shown_name(&place.resource), place.path));
        }
        text
    }
}

/// A statement as JSON.
pub fn owner_to_json(owner: &Owner) -> Json {
    let line = Some(owner.line).filter(|line| *line > 0);
    json!({ "file": owner.file, "line": line, "kind": owner.kind })
}

/// A statement for people: `file:line (kind)`.
pub fn owner_text(owner: &Owner) -> String {
    match owner.line {
        0 => format!("{} ({})", owner.file, owner.kind),
        line => format!("{}:{line} ({})", owner.file, owner.kind),
    }
}

/// A value that another statement overrides.
#[derive(Clone, Debug, PartialEq)]
pub struct Shadowed {
    /// Who states it.
    pub owner: Owner,
    /// The value.
    pub value: Json,
}

/// The effective value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownField {
    /// The overlay.
    pub overlay: String,
    /// The rendered resource.
    pub resource: ResourceId,
    /// The field in kustomize's notation; empty for the whole resource.
    pub path: String,
    /// Its value.
    pub value: Json,
    /// Its value for people, with a newline at its end.
    pub text: String,
    /// Who decided it; `None` where the renderer does not say.
    pub decided_by: Option<Owner>,
    /// What it overrides, the nearest first.
    pub shadowed: Vec<Shadowed>,
}

impl ShownField {
    /// Its JSON form.
    pub fn to_json(&self) -> Json {
        let shadowed = self.shadowed.iter().map(|shadowed| {
            let mut object = owner_to_json(&shadowed.owner);
            object["value"] = shadowed.value.clone();
            object
        });
        json!({
            "path": self.overlay,
            "resource": resource_to_json(&self.resource),
            "field": self.path,
            "value": self.value,
            "decidedBy": self.decided_by.as_ref().map(owner_to_json),
            "shadowed": shadowed.collect::<Vec<_>>(),
        })
    }

    /// Its lines for people: the value, then who owns it.
    pub fn to_text(&self) -> Text {
        let mut text = Text::default();
        text.lines(Style::Plain, self.text.clone());
        if let Some(owner) = &self.decided_by {
            text.styled_line(Style::Faint, format!("# decided by {}", owner_text(owner)));
        }
        for shadowed in &self.shadowed {
            let line =
                format!("# instead of {} in {}", shadowed.value, owner_text(&shadowed.owner));
            text.styled_line(Style::Faint, line);
        }
        text
    }
}
