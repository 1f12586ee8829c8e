//! Why a field is not placed.

use super::{Placer, Unproven};
use crate::change::Wish;
use crate::kustomize::node::Tag;
use crate::plan::error::PlanError;
use crate::plan::later::read_later;
use crate::yaml::parse;

impl Placer<'_> {
    /// Why none of the candidates is taken, by the reason of the best.
    pub(super) fn refusal(&self, wish: &Wish, reasons: Vec<Unproven>) -> PlanError {
        let user = wish.shown();
        let later = self.texts.get(self.file).and_then(|text| {
            let tree = parse(text).ok()?;
            read_later(&tree).pop()
        });
        let has_no_effect = reasons.iter().any(|r| matches!(r, Unproven::NoEffect(_)));
        match (later, reasons.into_iter().next()) {
            (Some(later), _) if has_no_effect => PlanError::FieldOverridden {
                user,
                file: self.file.to_owned(),
                line: later.line,
                by: later.field,
            },
            (_, Some(reason)) => {
                PlanError::FieldUnproven { user, reason, today: self.other_type_today(wish) }
            }
            (_, None) => PlanError::Unplaced {
                user,
                reason: "no statement of this overlay can say it".to_owned(),
            },
        }
    }

    /// The type of the value rendered today, where a text is wished in place of a number or a truth value.
    fn other_type_today(&self, wish: &Wish) -> Option<&'static str> {
        let resource = self.resource(&wish.resource)?;
        wish.value.as_ref().filter(|value| value.is_string())?;
        match wish.path.find(&resource.node)?.as_scalar()?.tag {
            Tag::Int => Some("a whole number"),
            Tag::Float => Some("a number"),
            Tag::Bool => Some("true or false"),
            _ => None,
        }
    }
}
