//! The judge: what an edit did to the rendered resources, compared with what was asked for.
//!
//! Sees the [`crate::change::Change`] and the resources before and after; never a plan, a text or an
//! edit. Its verdict is the measured [`Effect`], or the [`Refusal`] that says which resource and field
//! is not as asked.

mod effect;
mod fields;
mod objects;
mod pin;
mod restored;
mod secret;

pub use effect::{Effect, FieldChange, measure_effect, node_to_json};
pub use fields::{FieldRefusal, verify_fields};
pub use objects::{ChangedObject, ObjectDiff, compare_objects};
pub use pin::{Refusal, verify_pins};
pub use restored::{LeftImage, RestoredPins, verify_restored_pins};
pub use secret::{MASK, shown_value};
