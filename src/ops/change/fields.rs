//! Changes of fields: what they come to, where they go, and the proof of each candidate.

use super::{Planned, Wanted, unseen};
use crate::change::{Change, Wish};
use crate::checks::Overlay;
use crate::checks::context::Context as CheckContext;
use crate::checks::model::application::Repository;
use crate::error::{Error, codes};
use crate::kustomize::{Rendered, Resource};
use crate::levers;
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::plan::{Placed, Prover, Unproven, place_wishes};
use crate::report::change::Proof;
use crate::verify::{FieldRefusal, verify_fields};

/// Plans a change of fields in one overlay.
pub(super) fn plan<'a>(
    context: &Context,
    overlay: LoadedOverlay<'a>,
    change: &Change,
) -> Result<Planned<'a>, Error> {
    let unseen = unseen::stand_ins(context, &overlay, change)?;
    let mut seen = overlay.before.clone();
    seen.resources.extend(unseen.iter().cloned());
    let resolved = resolve(context, &overlay, &seen, change)?;
    let ground = overlay.ground();
    let prover = RenderProver { context, overlay: &overlay, unseen: &unseen };
    let Placed { plan, notes } = place_wishes(&ground, &seen, &resolved.wishes, &prover)?;
    let mut all = resolved.notes;
    all.extend(notes);
    all.extend(unseen.iter().map(|resource| unseen::note(&resource.current_id())));
    let unmatched = resolved.unmatched.into_iter();
    let unmatched = unmatched.map(|(name, error)| (name, perhaps_unseen(&overlay, error.into())));
    Ok(Planned {
        unmatched: unmatched.collect(),
        matched: resolved.matched,
        wanted: Wanted::Fields(prover.provable(&resolved.wishes)),
        plan,
        notes: all,
        overlay,
    })
}

/// A name that nothing rendered has may be that of something that could not be rendered.
fn perhaps_unseen(overlay: &LoadedOverlay<'_>, error: Error) -> Error {
    if overlay.proof == Proof::Full {
        return error;
    }
    let unknown = overlay.unknown.join(", ");
    error
        .hint(format!("it may be in what could not be rendered: {unknown}"))
        .hint("--no-proof edits what this overlay says of it, without a proof")
}

fn resolve(
    context: &Context,
    overlay: &LoadedOverlay<'_>,
    rendered: &Rendered,
    change: &Change,
) -> Result<levers::Resolved, Error> {
    let tree = overlay.tree();
    let view = Overlay { directory: tree.overlay(), rendered, tree };
    let repository = Repository::default();
    let views = [view];
    let settings = context.check_settings();
    let view = CheckContext::new(view, &views, &settings, &repository);
    Ok(levers::resolve(change, &view, &context.groups()?)?)
}

/// Proves candidates by rendering; what cannot be seen is taken as said.
struct RenderProver<'p, 'a> {
    context: &'p Context,
    overlay: &'p LoadedOverlay<'a>,
    unseen: &'p [Resource],
}

impl RenderProver<'_, '_> {
    /// The wishes that a render can show.
    fn provable(&self, wishes: &[Wish]) -> Vec<Wish> {
        let is_unseen = |wish: &&Wish| self.unseen.iter().any(|r| r.current_id() == wish.resource);
        wishes.iter().filter(|wish| !is_unseen(wish)).cloned().collect()
    }

    fn measure(&self, texts: &[(String, String)], wishes: &[Wish]) -> Result<Rendered, Unproven> {
        let mut after = self.overlay.render_with(texts).map_err(|error| match error.code() {
            code if code == codes::BUILD_BROKEN => Unproven::Breaks(error.to_string()),
            _ => Unproven::Failed(error.to_string()),
        })?;
        let before = &self.overlay.before.resources;
        match verify_fields(&self.provable(wishes), before, &after.resources) {
            Ok(_) => {
                after.resources.extend(self.unseen.iter().cloned());
                Ok(after)
            }
            Err(error @ FieldRefusal::NoEffect { .. }) => {
                Err(Unproven::NoEffect(error.to_string()))
            }
            Err(error @ FieldRefusal::Wider { .. }) => Err(Unproven::Wider(error.to_string())),
        }
    }
}

impl Prover for RenderProver<'_, '_> {
    fn prove(&self, texts: &[(String, String)], wishes: &[Wish]) -> Result<Rendered, Unproven> {
        let outcome = self.measure(texts, wishes);
        self.context.say(|| {
            let files: Vec<&str> = texts.iter().map(|(file, _)| &**file).collect();
            let verdict = match &outcome {
                Ok(_) => "taken".to_owned(),
                Err(reason) => format!("not taken: {}", reason.message()),
            };
            format!("{}: an edit of {} is {verdict}", self.overlay.path, files.join(", "))
        });
        outcome
    }
}
