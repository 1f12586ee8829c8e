//! From a change and a view of the overlay to the text edits that bring it about.
//!
//! Pure: takes texts and rendered resources, returns decisions and edits. Knows no file system, no
//! renderer and no judge; what an edit does is measured by `verify`.

mod bump;
mod components;
mod database;
mod entries;
mod error;
mod hold;
mod later;
pub mod layer;
mod new_entry;
mod pin;
mod place;
pub mod placement;
mod restore;
mod tag_rule;
mod write;

pub use bump::{BaseReference, find_base_references, move_references};
pub use components::{changed_components, edit_components, read_components};
pub use database::DatabaseTagError;
pub use entries::{EntriesError, ImagesEntry, read_entries};
pub use error::{PlanError, Statement};
pub use hold::{HOLD_KEYS, read_hold, write_hold};
pub use later::{LaterField, read_later};
#[cfg(feature = "registry")]
pub use pin::find_places;
pub use pin::{Decision, Decisions, Note, PinView, decide_pins, trace_entries};
pub use place::OwnFile;
pub use placement::{
    Ground, Overwritten, Placed, Prover, Stated, Unproven, find_overwritten, own_statements,
    place_wishes,
};
pub use restore::{RestoredEntries, restore_entries};
pub use tag_rule::{EntryField, FieldEdit, TagError};
pub use write::{Placement, PlacementKind, Plan, WriteView, write_decisions};
