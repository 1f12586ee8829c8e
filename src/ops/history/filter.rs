//! Which entries of a history are wanted.

use crate::image::{is_same_name, last_segments_match};
use crate::kustomize::ResourceName;
use crate::report::history::{FieldMove, ImageMove, Moved, ObjectName};

/// Which entries are wanted: all that fit every part that is given.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only where one of these images moved: by the name, the end of it, or who runs it.
    pub images: Vec<String>,
    /// Only where one of these fields moved.
    pub fields: Vec<FieldFilter>,
}

/// A field, of every resource or of one.
#[derive(Clone, Debug)]
pub struct FieldFilter {
    /// The resource; any where there is none.
    pub resource: Option<ResourceName>,
    /// The field as its path is printed; all below it count, and so do fields around it.
    pub path: String,
}

impl Filter {
    /// Whether an entry with these moves is wanted.
    pub(super) fn takes(&self, moved: &Moved) -> bool {
        let has_image = |image: &String| moved.images.iter().any(|moved| names(moved, image));
        let has_field = |field: &FieldFilter| field.is_in(moved);
        (self.images.is_empty() || self.images.iter().any(has_image))
            && (self.fields.is_empty() || self.fields.iter().any(has_field))
    }
}

fn names(moved: &ImageMove, wanted: &str) -> bool {
    is_same_name(&moved.name, wanted)
        || last_segments_match(&moved.name, wanted)
        || moved.by.iter().any(|by| by == wanted)
}

impl FieldFilter {
    fn is_in(&self, moved: &Moved) -> bool {
        let comes_or_goes = self.resource.is_some()
            && moved.added.iter().chain(&moved.removed).any(|object| self.is_of(object));
        comes_or_goes || moved.fields.iter().any(|field| self.is_field(field))
    }

    fn is_field(&self, field: &FieldMove) -> bool {
        self.is_of(&field.resource) && is_within(&field.path, &self.path)
    }

    fn is_of(&self, object: &ObjectName) -> bool {
        self.resource.as_ref().is_none_or(|name| {
            name.name == object.name
                && name.kind.as_ref().is_none_or(|kind| kind.eq_ignore_ascii_case(&object.kind))
                && name.group.as_ref().is_none_or(|group| *group == object.group())
        })
    }
}

/// Whether one path is the other or lies within it.
fn is_within(one: &str, other: &str) -> bool {
    let starts = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    one.is_empty() || other.is_empty() || starts(one, other) || starts(other, one)
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn a_field_counts_with_all_around_and_below_it() {
        assert!(is_within("spec.replicas", "spec.replicas"));
        assert!(is_within("spec.template.spec.containers.[name=web].image", "spec.template"));
        assert!(is_within("spec", "spec.replicas"));
        assert!(!is_within("spec.replicas", "spec.replica"));
        assert!(!is_within("spec.paused", "spec.replicas"));
    }
}
