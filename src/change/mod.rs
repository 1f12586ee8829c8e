//! The intent: what the user wants, as data.
//!
//! A [`Change`] is made from arguments alone and knows no file and no rendered resource. `plan` turns it
//! into edits, `verify` compares it with what the edits did; neither sees the other.

mod digests;
mod image;
mod key;

pub use digests::{DigestsError, parse_assignment, parse_digests};
pub use image::{Pin, PinImages, PinValue, PinValueError, TagChoice};
pub use key::{Found, Key, KeyError};

/// What a command wants of an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Images get a digest.
    PinImages(PinImages),
}
