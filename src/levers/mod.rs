//! What a change of a lever means on what is rendered: the fields and values that it comes to, what a
//! person should know, and what must not be done.
//!
//! Sees the [`Change`] and the render with its workloads, budgets and databases (`checks::model`);
//! knows no files, and not where a field will be written.

mod drain;
mod error;
mod field;
mod instances;
mod replicas;
mod resources;
mod restart;
mod strategy;
mod target;

pub use error::{LeverError, LeverErrorKind};

use crate::change::{Change, Groups, Wish};
use crate::checks::context::Context;
use crate::plan::Note;

/// What a change comes to in one overlay.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The fields and their values, those that are so already included.
    pub wishes: Vec<Wish>,
    /// What to know.
    pub notes: Vec<Note>,
    /// Names that mean nothing here, each with its error; another overlay may know them.
    pub unmatched: Vec<(String, LeverError)>,
    /// How many names, or workloads of a choice, mean something here.
    pub matched: usize,
}

impl Resolved {
    fn note(&mut self, code: &'static str, message: impl Into<String>) {
        self.notes.push(Note { code, message: message.into() });
    }

    /// Says everything once; two values for one field are no wish that could be granted.
    fn without_repetitions(mut self) -> Result<Self, LeverError> {
        let mut wishes: Vec<Wish> = Vec::new();
        for wish in self.wishes {
            let is_same = |w: &&Wish| w.resource == wish.resource && w.path == wish.path;
            match wishes.iter().find(is_same) {
                None => wishes.push(wish),
                Some(other) if other.value == wish.value => {}
                Some(other) => return Err(LeverError::contradiction(other, &wish)),
            }
        }
        let mut notes: Vec<Note> = Vec::new();
        for note in self.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        (self.wishes, self.notes) = (wishes, notes);
        Ok(self)
    }

    /// Keeps a name that nothing here has for later; every other error ends the change.
    fn keep<T>(
        &mut self,
        name: &str,
        found: Result<T, LeverError>,
    ) -> Result<Option<T>, LeverError> {
        match found {
            Ok(found) => {
                self.matched += 1;
                Ok(Some(found))
            }
            Err(error) if error.kind == LeverErrorKind::NoSuchResource => {
                self.unmatched.push((name.to_owned(), error));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// What `change` comes to on the render of `context`; nothing for a change of images or of a base.
/// `groups` are those that the change may name.
///
/// # Errors
/// [`LeverError`] for what must not be done.
pub fn resolve(
    change: &Change,
    context: &Context<'_>,
    groups: &Groups,
) -> Result<Resolved, LeverError> {
    let resolved = resolve_kind(change, context, groups)?;
    resolved.without_repetitions()
}

fn resolve_kind(
    change: &Change,
    context: &Context<'_>,
    groups: &Groups,
) -> Result<Resolved, LeverError> {
    match change {
        #[cfg(feature = "registry")]
        Change::ResolveImages(_) => Ok(Resolved::default()),
        Change::PinImages(_)
        | Change::BumpBase(_)
        | Change::SetComponents(_)
        | Change::Revert(_)
        | Change::SetHold(_)
        | Change::Several(_) => Ok(Resolved::default()),
        Change::SetReplicas(change) => replicas::resolve(change, context, groups),
        Change::SetStrategy(change) => strategy::resolve(change, context, groups),
        Change::SetInstances(change) => instances::resolve(change, context),
        Change::SetDrain(change) => drain::resolve(change, context),
        Change::SetResources(change) => resources::resolve(change, context),
        Change::SetFields(change) => field::resolve(change, context),
        Change::Restart(change) => restart::resolve(change, context),
    }
}
