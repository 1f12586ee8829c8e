//! One image field in the words that people use for it.

use super::Split;

/// The names of one image field: of its image, and of the container and resource around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// The reference as rendered.
    pub reference: &'a str,
    /// What the `images:` entries that act on the field call it: `name` and `newName` of each.
    pub entry_names: Vec<&'a str>,
    /// The container that the field belongs to.
    pub container: Option<&'a str>,
    /// The resource that the field belongs to.
    pub workload: &'a str,
}

impl<'a> Named<'a> {
    /// The name in the reference.
    #[must_use]
    pub fn name(&self) -> &'a str {
        Split::parse(self.reference).name
    }

    /// The reference, and every name that an entry has for it.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        std::iter::once(self.reference).chain(self.entry_names.iter().copied())
    }
}
