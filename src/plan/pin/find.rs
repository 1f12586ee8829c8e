//! Which places a key names, for those who have to know before there is a digest.

use super::{PinView, Planner};
use crate::change::{Key, PinImages};
use crate::plan::PlanError;

/// The places of `view` that `key` names, by position; `change` says which arguments count.
///
/// # Errors
/// As deciding a pin: the key names nothing, images of several repositories, or an entry that does nothing.
pub fn find_places(
    change: &PinImages,
    view: PinView<'_>,
    key: &Key,
) -> Result<Vec<usize>, PlanError> {
    let planner = Planner::new(change, view);
    let named = planner.named();
    planner.places(key, key.find_fields(&named))
}
