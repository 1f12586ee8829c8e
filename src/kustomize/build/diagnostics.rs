//! What a build has to say besides its result: warnings. A base or component may be used several
//! times in one build; a statement of it is dead only if it does nothing in every use.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::kustomize::error::{Warning, WarningKind};
use crate::kustomize::origin::Origin;

/// The warnings of a build, and which statements had an effect.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    said: RefCell<Said>,
}

/// What was said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    warnings: Vec<Warning>,
    effective: HashSet<(Origin, String)>,
}

impl Diagnostics {
    /// Adds a warning.
    pub(crate) fn warn(&self, warning: Warning) {
        self.said.borrow_mut().warnings.push(warning);
    }

    /// Remembers that a statement did something, by the message it would warn with if not.
    pub(crate) fn mark_effective(&self, message: String, origin: Origin) {
        self.said.borrow_mut().effective.insert((origin, message));
    }

    /// What was said, to be repeated where the same is not built again.
    pub(super) fn into_said(self) -> Said {
        self.said.into_inner()
    }

    /// Says what was said elsewhere.
    pub(super) fn repeat(&self, said: &Said) {
        let mut here = self.said.borrow_mut();
        here.warnings.extend_from_slice(&said.warnings);
        here.effective.extend(said.effective.iter().cloned());
    }

    /// The warnings in order, each once, without those about statements that did something after all.
    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        let Said { mut warnings, effective } = self.into_said();
        let mut seen = HashSet::new();
        warnings.retain(|warning| {
            let key = (warning.origin, warning.message.clone());
            let is_dead =
                matches!(warning.kind, WarningKind::PatchUnmatched | WarningKind::ImageUnmatched);
            !(is_dead && effective.contains(&key)) && seen.insert(key)
        });
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kustomize::origin::FileId;

    #[test]
    fn a_statement_that_did_something_once_is_not_dead() {
        let diagnostics = Diagnostics::default();
        let origin = |line| Origin::new(FileId(1), line);
        for line in [3, 3, 9] {
            diagnostics.warn(Warning {
                kind: WarningKind::PatchUnmatched,
                message: "nothing".to_owned(),
                origin: origin(line),
            });
        }
        diagnostics.mark_effective("nothing".to_owned(), origin(9));
        let warnings = diagnostics.into_warnings();
        assert_eq!(warnings.iter().map(|w| w.origin.line).collect::<Vec<_>>(), [3]);
    }
}
