//! From what keeps a drain from being planned to the error that users meet.

use super::{Error, codes};
use crate::drain::PlanError;
use crate::hint;

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let message = error.to_string();
        match error {
            PlanError::NothingAsked => Self::new(codes::USAGE, message).hint(
                "name the nodes with --nodes or --selector, or below `drain` in .overlay.yaml",
            ),
            PlanError::BadSelector(_) => Self::new(codes::USAGE, message),
            PlanError::NoSuchNode(_) | PlanError::NothingSelected(_) => {
                Self::new(codes::NO_SUCH_NODE, message)
            }
            PlanError::UnknownInRule { name, known, .. } => {
                let plain = Self::new(codes::DRAIN_RULE_UNKNOWN, message);
                let near = hint::did_you_mean(&name, known.iter().map(String::as_str));
                near.into_iter().fold(plain, Self::hint)
            }
            PlanError::Cycle(_) => Self::new(codes::DRAIN_RULES_CONTRADICT, message).hint(
                "take one of them out of `drain` in .overlay.yaml, or turn one off under `rules`",
            ),
        }
    }
}
