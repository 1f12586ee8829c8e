//! Changes of fields: what they come to, where they go, and the proof of each candidate.

use std::collections::BTreeMap;

use super::{Planned, Wanted};
use crate::change::{Change, Wish};
use crate::checks::context::Context as CheckContext;
use crate::checks::model::application::Repository;
use crate::checks::{self, Overlay};
use crate::error::{Error, codes};
use crate::kustomize::Rendered;
use crate::levers;
use crate::ops::Context;
use crate::ops::overlay::LoadedOverlay;
use crate::plan::{Ground, Placed, Prover, Unproven, place_wishes};
use crate::verify::{FieldRefusal, verify_fields};

/// Plans a change of fields in one overlay.
pub(super) fn plan<'a>(
    context: &Context,
    overlay: LoadedOverlay<'a>,
    change: &Change,
) -> Result<Planned<'a>, Error> {
    let resolved = resolve(&context.check_settings(), &overlay, change)?;
    let ground = ground_of(&overlay);
    let prover = RenderProver { overlay: &overlay };
    let Placed { plan, notes } = place_wishes(&ground, &overlay.before, &resolved.wishes, &prover)?;
    let mut all = resolved.notes;
    all.extend(notes);
    let unmatched = resolved.unmatched.into_iter().map(|(name, error)| (name, error.into()));
    Ok(Planned {
        unmatched: unmatched.collect(),
        matched: resolved.matched,
        wanted: Wanted::Fields(resolved.wishes),
        plan,
        notes: all,
        overlay,
    })
}

fn resolve(
    settings: &checks::Settings,
    overlay: &LoadedOverlay<'_>,
    change: &Change,
) -> Result<levers::Resolved, Error> {
    let tree = overlay.tree();
    let view = Overlay { directory: tree.overlay(), rendered: &overlay.before, tree };
    let repository = Repository::default();
    let views = [view];
    let context = CheckContext::new(view, &views, settings, &repository);
    Ok(levers::resolve(change, &context)?)
}

fn ground_of(overlay: &LoadedOverlay<'_>) -> Ground {
    let own = overlay.own_files().into_iter().map(|file| (file.path, file.text));
    let mut texts: BTreeMap<String, String> = own.collect();
    texts.insert(overlay.file.clone(), overlay.text.clone());
    Ground { file: overlay.file.clone(), texts }
}

struct RenderProver<'p, 'a> {
    overlay: &'p LoadedOverlay<'a>,
}

impl Prover for RenderProver<'_, '_> {
    fn prove(&self, texts: &[(String, String)], wishes: &[Wish]) -> Result<Rendered, Unproven> {
        let after = self.overlay.render_with(texts).map_err(|error| match error.code() {
            code if code == codes::BUILD_BROKEN => Unproven::Breaks(error.to_string()),
            _ => Unproven::Failed(error.to_string()),
        })?;
        let before = &self.overlay.before.resources;
        match verify_fields(wishes, before, &after.resources) {
            Ok(_) => Ok(after),
            Err(error @ FieldRefusal::NoEffect { .. }) => {
                Err(Unproven::NoEffect(error.to_string()))
            }
            Err(error @ FieldRefusal::Wider { .. }) => Err(Unproven::Wider(error.to_string())),
        }
    }
}
