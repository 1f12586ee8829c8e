//! From a change and a view of the overlay to the text edits that bring it about.

pub mod entries;
pub mod tag_rule;
