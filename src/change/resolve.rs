//! Pinning images to what a registry says: which, by which tag.

use super::image::PinImages;
use super::key::Key;

/// Images are pinned to what their tags stand for where they are pulled from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolveImages {
    /// How pins are written, and those whose digest is given.
    pub pins: PinImages,
    /// The images that go to another tag.
    pub tags: Vec<NewTag>,
    /// The images whose tag stays, if any.
    pub in_use: Option<InUse>,
    /// A tag may go to a lower version.
    pub allow_downgrade: bool,
}

impl ResolveImages {
    /// The images that it names; `unpinned` and `pinned` where it goes by what they have.
    pub(super) fn names(&self) -> Vec<String> {
        let given = self.pins.pins.iter().map(|pin| pin.key.as_str());
        let tagged = self.tags.iter().map(|tag| tag.key.as_str());
        let in_use: Vec<&str> = match &self.in_use {
            None => Vec::new(),
            Some(InUse::Unpinned) => vec!["unpinned"],
            Some(InUse::Pinned) => vec!["pinned"],
            Some(InUse::Named(keys)) => keys.iter().map(Key::as_str).collect(),
        };
        given.chain(tagged).chain(in_use).map(str::to_owned).collect()
    }
}

/// Images and the tag they go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTag {
    /// Which images.
    pub key: Key,
    /// The tag.
    pub tag: String,
    /// Nothing has to be rendered that the key names.
    pub is_optional: bool,
}

/// Which images are resolved by the tag that they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUse {
    /// Those without a digest.
    Unpinned,
    /// Those that the keys name, pinned or not.
    Named(Vec<Key>),
    /// Those with a digest beside their tag.
    Pinned,
}
