//! The intent: what the user wants, as data.
//!
//! A [`Change`] is made from arguments alone and knows no file and no rendered resource. `plan` turns it
//! into edits, `verify` compares it with what the edits did; neither sees the other.

mod bump;
mod components;
mod digests;
mod hold;
mod image;
mod key;
mod lever;
#[cfg(feature = "registry")]
mod resolve;
mod revert;
mod several;
mod wish;

pub use bump::BumpBase;
pub use components::SetComponents;
pub use digests::{DigestsError, parse_assignment, parse_digests};
pub use hold::{HOLD_FILE, HOLD_VERSION, Hold, HoldScope, SetHold};
pub use image::{Pin, PinImages, PinValue, PinValueError, TagChoice};
pub use key::{Found, Key, KeyError};
pub use lever::{
    Among, DrainSource, Group, Groups, PodAmount, Restart, SetDrain, SetFields, SetInstances,
    SetReplicas, SetResources, SetStrategy, WantedStrategy,
};
#[cfg(feature = "registry")]
pub use resolve::{InUse, NewTag, ResolveImages};
pub use revert::{Restored, Revert, RevertTarget};
pub use several::Part;
pub use wish::Wish;

use crate::kustomize::ResourceName;

/// What a command wants of an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Images get a digest.
    PinImages(PinImages),
    /// Images get the digest that a registry has for them.
    #[cfg(feature = "registry")]
    ResolveImages(ResolveImages),
    /// Workloads get a number of replicas.
    SetReplicas(SetReplicas),
    /// Workloads roll in another way.
    SetStrategy(SetStrategy),
    /// Databases get a number of instances.
    SetInstances(SetInstances),
    /// A workload drains for another time, and has the grace for it.
    SetDrain(SetDrain),
    /// Containers ask for other resources.
    SetResources(SetResources),
    /// Fields get values.
    SetFields(SetFields),
    /// Workloads roll without another change.
    Restart(Restart),
    /// A remote base goes to another version.
    BumpBase(BumpBase),
    /// Components come and go.
    SetComponents(SetComponents),
    /// Overlays go back to what they were.
    Revert(Revert),
    /// Edits of overlays are refused for a time, or again allowed.
    SetHold(SetHold),
    /// Several changes, one after the other, and all or nothing.
    Several(Vec<Part>),
}

impl Change {
    /// The words of the command that makes it.
    #[must_use]
    pub fn command(&self) -> &'static str {
        match self {
            Self::PinImages(_) => "pin",
            #[cfg(feature = "registry")]
            Self::ResolveImages(_) => "pin",
            Self::SetReplicas(_) => "set replicas",
            Self::SetStrategy(_) => "set strategy",
            Self::SetInstances(_) => "set instances",
            Self::SetDrain(_) => "set drain",
            Self::SetResources(_) => "set resources",
            Self::SetFields(_) => "set field",
            Self::Restart(_) => "restart",
            Self::BumpBase(_) => "bump",
            Self::SetComponents(_) => "set components",
            Self::Revert(_) => "revert",
            Self::SetHold(_) => "hold",
            Self::Several(_) => "apply",
        }
    }

    /// What it speaks of, without the values: the same for the next release. Sorted, each once.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = self.spoken_of();
        names.sort();
        names.dedup();
        names
    }

    fn spoken_of(&self) -> Vec<String> {
        let all = |names: &[ResourceName]| names.iter().map(ToString::to_string).collect();
        let pins = |pins: &PinImages| pins.pins.iter().map(|p| p.key.as_str().to_owned()).collect();
        match self {
            Self::PinImages(wanted) => pins(wanted),
            #[cfg(feature = "registry")]
            Self::ResolveImages(wanted) => wanted.names(),
            Self::SetReplicas(wanted) => {
                let named = wanted.named.iter().map(|(name, _)| name.to_string());
                named.chain(wanted.all_at.map(|_| "all".to_owned())).collect()
            }
            Self::SetStrategy(wanted) if wanted.names.is_empty() => vec!["all".to_owned()],
            Self::SetStrategy(wanted) => all(&wanted.names),
            Self::SetInstances(wanted) => wanted.named.iter().map(|(n, _)| n.to_string()).collect(),
            Self::SetDrain(wanted) => wanted.name.iter().map(ToString::to_string).collect(),
            Self::SetResources(wanted) => vec![wanted.name.to_string()],
            Self::SetFields(wanted) => {
                let field = |(path, _): &(String, _)| format!("{} {path}", wanted.name);
                wanted.fields.iter().map(field).collect()
            }
            Self::Restart(wanted) => all(&wanted.names),
            Self::Revert(wanted) => vec![wanted.restored.word().to_owned()],
            Self::SetHold(_) => vec!["hold".to_owned()],
            Self::BumpBase(wanted) => vec![wanted.repository.clone().unwrap_or("base".to_owned())],
            Self::SetComponents(wanted) => {
                let replaced = wanted.replace.iter().flat_map(|(old, new)| [old, new]);
                wanted.add.iter().chain(&wanted.remove).chain(replaced).cloned().collect()
            }
            Self::Several(parts) => parts.iter().flat_map(|part| part.change.spoken_of()).collect(),
        }
    }
}
