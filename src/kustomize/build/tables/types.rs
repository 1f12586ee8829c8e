//! What the fields of Kubernetes' own kinds hold: look-ups in the table of [`field_types`].

use super::field_types;

/// What a field holds; the numbers are those of other shapes in the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Anything.
    Any,
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A whole number or a text.
    WholeOrText,
    /// A truth value.
    Truth,
    /// A quantity.
    Quantity,
    /// A list, and what its items are.
    List(u16),
    /// A map with any keys, and what they hold.
    Map(u16),
    /// A map with these keys, sorted.
    Object(&'static [(&'static str, u16)]),
}

impl Shape {
    /// What the field `name` holds; `None` where that is not known: what newer versions of Kubernetes have is
    /// not in the table.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Self> {
        match self {
            Self::Map(values) => Some(at(*values)),
            Self::Object(fields) => {
                let found = fields.binary_search_by(|field| field.0.cmp(name));
                found.ok().map(|position| at(fields[position].1))
            }
            _ => None,
        }
    }

    /// Whether it is a map whose keys are free and whose values are scalars, such as annotations: there a dot
    /// in a key divides nothing.
    pub(crate) fn is_map_of_scalars(&self) -> bool {
        matches!(self, Self::Map(values) if at(*values).is_scalar())
    }

    /// Whether nothing is below it.
    pub(crate) fn is_scalar(&self) -> bool {
        matches!(self, Self::Text | Self::Whole | Self::WholeOrText | Self::Truth | Self::Quantity)
    }

    /// In words, with the article.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Text => "a text",
            Self::Whole => "a whole number",
            Self::WholeOrText => "a whole number or a text",
            Self::Truth => "true or false",
            Self::Quantity => "a quantity",
            Self::List(_) => "a list",
            Self::Map(_) | Self::Object(_) => "a map",
        }
    }

    /// What an item of the list is; `None` for what is no list.
    pub(crate) fn item(&self) -> Option<&'static Self> {
        match self {
            Self::List(item) => Some(at(*item)),
            _ => None,
        }
    }
}

/// The shape of a resource of `kind` in `api_version`; of a kind that is not Kubernetes' own the shape of what
/// every object has.
pub(crate) fn shape_of(api_version: &str, kind: &str) -> &'static Shape {
    let wanted = (api_version, kind);
    let found = field_types::KINDS.binary_search_by(|row| (row.0, row.1).cmp(&wanted));
    at(field_types::KINDS[found.unwrap_or_default()].2)
}

fn at(number: u16) -> &'static Shape {
    &field_types::TYPES[usize::from(number)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_at(api_version: &str, kind: &str, path: &[&str]) -> &'static Shape {
        let root = shape_of(api_version, kind);
        path.iter().fold(root, |shape, name| match *name {
            "*" => shape.item().unwrap(),
            name => shape.field(name).unwrap_or_else(|| panic!("{name}")),
        })
    }

    #[test]
    fn fields_hold_what_the_api_reference_says() {
        let deployment = |path: &[&str]| shape_at("apps/v1", "Deployment", path);
        assert_eq!(deployment(&["spec", "minReadySeconds"]), &Shape::Whole);
        assert_eq!(deployment(&["spec", "paused"]), &Shape::Truth);
        let surge = ["spec", "strategy", "rollingUpdate", "maxSurge"];
        assert_eq!(deployment(&surge), &Shape::WholeOrText);
        let container = ["spec", "template", "spec", "containers", "*"];
        let of_container = |path: &[&str]| deployment(&[&container[..], path].concat());
        assert_eq!(of_container(&["args", "*"]), &Shape::Text);
        assert_eq!(of_container(&["resources", "limits", "cpu"]), &Shape::Quantity);
        assert_eq!(deployment(&["metadata", "annotations", "a.b/c"]), &Shape::Text);
        assert_eq!(shape_at("v1", "Secret", &["stringData", "a.b"]), &Shape::Text);
        assert!(shape_of("apps/v1", "Deployment").field("spek").is_none());
    }

    #[test]
    fn of_an_unknown_kind_only_the_metadata_are_known() {
        let of = |path: &[&str]| shape_at("example.com/v1", "Widget", path);
        assert_eq!(of(&["metadata", "labels", "a"]), &Shape::Text);
        assert!(shape_of("example.com/v1", "Widget").field("spec").is_none());
    }

    #[test]
    fn rows_are_sorted_for_the_binary_searches() {
        assert!(field_types::KINDS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
        assert_eq!((field_types::KINDS[0].0, field_types::KINDS[0].1), ("", ""));
        let is_sorted = |shape: &Shape| match shape {
            Shape::Object(fields) => fields.is_sorted_by(|a, b| a.0 < b.0),
            _ => true,
        };
        assert!(field_types::TYPES.iter().all(is_sorted));
    }
}
