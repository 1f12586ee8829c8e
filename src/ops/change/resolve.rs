//! Pins whose digests a registry knows: which places are meant, what is asked, and the pins of each overlay.
//!
//! Every overlay is rendered and every name found before anything is asked, so that a wrong name costs no request; every
//! digest is there before anything is planned, so that no overlay is pinned half.

use std::collections::BTreeMap;

use super::{Context, Editable, Error, Planned, Proven, Viewed, plan_viewed, prove_planned};
use crate::change::{InUse, Key, NewTag, Pin, PinImages, PinValue, ResolveImages};
use crate::error::codes;
use crate::image::{Digest, Reference, Split, is_downgrade};
use crate::kustomize::{Files, ImageUse, UseKind};
use crate::ops::check_pins::is_floating;
use crate::ops::digests::{Digests, parse_reference};
use crate::ops::overlay::LoadedOverlay;
use crate::plan::{Note, PlanError, find_places};
use crate::registry::{Proof, Resolved, Wanted};

/// One key of an overlay, what it becomes, and what is asked for that.
struct Target {
    key: Key,
    /// The names under which its places are rendered, each once: it is pulled from there.
    names: Vec<String>,
    /// The tag that is asked for.
    tag: Option<String>,
    /// The digest that the places have, where it is enough to know whether that moved.
    pinned: Option<Digest>,
}

/// What is to be done in one overlay.
#[derive(Default)]
struct Targets {
    targets: Vec<Target>,
    notes: Vec<Note>,
    unmatched: BTreeMap<usize, PlanError>,
}

/// Resolves, plans and proves.
///
/// # Errors
/// As [`super::prove_change`], and where one of the images has no digest that may be used.
pub(super) fn prove(
    context: &Context,
    files: &dyn Files,
    editable: &[Editable],
    wanted: &ResolveImages,
) -> Result<Proven, Error> {
    let digests = context.digests();
    let digests =
        digests.ok_or_else(|| Error::new(codes::INTERNAL, "nobody to ask for digests"))?;
    let viewed = context.for_each_of(editable, |overlay| {
        let overlay = LoadedOverlay::load(files, overlay, context)?;
        Viewed::of(overlay, &wanted.pins.image_args)
    })?;
    let targets: Result<Vec<Targets>, Error> =
        viewed.iter().map(|viewed| find_targets(wanted, viewed)).collect();
    let targets = targets?;
    refuse_unmatched(wanted, &targets)?;
    let pins = resolve(context, digests, wanted, &targets)?;
    let mut planned: Vec<Planned<'_>> = Vec::new();
    for ((viewed, pins), targets) in viewed.into_iter().zip(&pins).zip(&targets) {
        let mut plan = plan_viewed(viewed, pins)?;
        plan.notes.extend(targets.notes.iter().cloned());
        // What is resolved and right already concerns the overlay all the same.
        plan.matched += targets.targets.len();
        planned.push(plan);
    }
    prove_planned(context, planned)
}

/// A name must mean something in at least one overlay.
fn refuse_unmatched(wanted: &ResolveImages, targets: &[Targets]) -> Result<(), Error> {
    let named = match &wanted.in_use {
        Some(InUse::Named(keys)) => keys.len(),
        _ => 0,
    };
    for at in 0..wanted.tags.len() + named {
        if wanted.tags.get(at).is_some_and(|new| new.is_optional) {
            continue;
        }
        let mut errors = targets.iter().map(|targets| targets.unmatched.get(&at));
        if errors.all(|error| error.is_some()) {
            let first = targets.first().and_then(|targets| targets.unmatched.get(&at));
            return Err(first.map_or_else(no_overlay, |error| error.clone().into()));
        }
    }
    Ok(())
}

fn no_overlay() -> Error {
    Error::new(codes::NO_SUCH_OVERLAY, "no overlay was named")
}

fn find_targets(wanted: &ResolveImages, viewed: &Viewed<'_>) -> Result<Targets, Error> {
    let mut out = Targets::default();
    for (at, new) in wanted.tags.iter().enumerate() {
        match find_places(&wanted.pins, viewed.as_pin_view(), &new.key) {
            Ok(places) => out.targets.push(new_tag(wanted, viewed, new, &places)?),
            Err(error @ PlanError::Ambiguous { .. }) => return Err(error.into()),
            Err(error) => drop(out.unmatched.insert(at, error)),
        }
    }
    match &wanted.in_use {
        None => {}
        Some(InUse::Unpinned) => {
            let places = viewed.uses.iter().filter(|place| is_floating(place));
            in_use(wanted, places, &mut out)?;
        }
        Some(InUse::Pinned) => {
            let is_pinned =
                |place: &&ImageUse| Digest::parse(Split::parse(&place.reference).digest).is_ok();
            in_use(wanted, viewed.uses.iter().filter(is_pinned), &mut out)?;
        }
        Some(InUse::Named(keys)) => {
            for (at, key) in keys.iter().enumerate() {
                match find_places(&wanted.pins, viewed.as_pin_view(), key) {
                    Ok(places) => {
                        let places = places.iter().map(|i| &viewed.uses[*i]);
                        in_use(wanted, places, &mut out)?;
                    }
                    Err(error @ PlanError::Ambiguous { .. }) => return Err(error.into()),
                    Err(error) => drop(out.unmatched.insert(wanted.tags.len() + at, error)),
                }
            }
        }
    }
    Ok(out)
}

/// The images of a key go to another tag.
fn new_tag(
    wanted: &ResolveImages,
    viewed: &Viewed<'_>,
    new: &NewTag,
    places: &[usize],
) -> Result<Target, Error> {
    let mut names: Vec<String> = Vec::new();
    for place in places.iter().map(|i| &viewed.uses[*i]) {
        let rendered = Split::parse(&place.reference);
        let old = rendered.tag.split(':').next().unwrap_or_default();
        if !wanted.allow_downgrade && is_downgrade(old, &new.tag) {
            let (kind, user) = (&place.resource.kind, &place.resource.name);
            let message = format!(
                "{}: {} is a lower version than {old}, which {kind}/{user} uses",
                new.key.as_str(),
                new.tag
            );
            return Err(Error::new(codes::DOWNGRADE, message).hint("--allow-downgrade allows it"));
        }
        if !names.iter().any(|name| name == rendered.name) {
            names.push(rendered.name.to_owned());
        }
    }
    Ok(Target { key: new.key.clone(), names, tag: Some(new.tag.clone()), pinned: None })
}

/// One target for each reference that is rendered, by the tag that it has.
fn in_use<'v>(
    wanted: &ResolveImages,
    places: impl Iterator<Item = &'v ImageUse>,
    out: &mut Targets,
) -> Result<(), Error> {
    let refreshes = wanted.in_use == Some(InUse::Pinned);
    for place in places.filter(|place| is_askable(&wanted.pins, place)) {
        let rendered = Split::parse(&place.reference);
        let is_known =
            |target: &Target| target.key.is_exact() && target.key.as_str() == &*place.reference;
        if out.targets.iter().any(is_known) {
            continue;
        }
        if Digest::is_placeholder(rendered.digest) && !wanted.pins.replace_placeholder {
            out.notes.push(note(
                "placeholder",
                place,
                "is held by a placeholder; --replace-placeholder pins it",
            ));
            continue;
        }
        if rendered.tag.is_empty() && !rendered.digest.is_empty() {
            if refreshes {
                out.notes.push(note(
                    "no-tag",
                    place,
                    "has no tag beside its digest, so nothing says whether it moved",
                ));
                continue;
            }
            return Err(no_tag(place));
        }
        let tag = Some(rendered.tag.to_owned()).filter(|tag| !tag.is_empty());
        let pinned = Digest::parse(rendered.digest).ok();
        let (key, names) = (Key::exactly(&place.reference), vec![rendered.name.to_owned()]);
        out.targets.push(Target { key, names, tag, pinned });
    }
    Ok(())
}

/// No transformer reaches ephemeral containers, and arguments are images only where the user says so.
fn is_askable(pins: &PinImages, place: &ImageUse) -> bool {
    match &place.kind {
        UseKind::Ephemeral => false,
        UseKind::Argument { flag, .. } => pins.has_image_arg(flag),
        _ => !place.is_unmatchable(),
    }
}

fn note(code: &'static str, place: &ImageUse, what: &str) -> Note {
    Note { code, message: format!("{} {what}", place.reference) }
}

fn no_tag(place: &ImageUse) -> Error {
    let name = Split::parse(&place.reference).name;
    let message =
        format!("{} has no tag beside its digest, so there is nothing to resolve", place.reference);
    Error::new(codes::TAG_NEEDED, message).hint(format!("name one: {name}:TAG"))
}

/// The pins of each overlay. Where a digest stands already, the tag is asked whether it moved, and only then for a proof.
fn resolve(
    context: &Context,
    digests: &Digests,
    wanted: &ResolveImages,
    targets: &[Targets],
) -> Result<Vec<PinImages>, Error> {
    let all: Vec<&Target> = targets.iter().flat_map(|targets| &targets.targets).collect();
    let mut claims = Vec::new();
    for target in all.iter().filter(|target| target.pinned.is_some()) {
        claims.push(target.wanted(Proof::Claim)?);
    }
    let claims: Vec<Wanted> = claims.into_iter().flatten().collect();
    let claimed = by_reference(digests.resolve_all(context, &claims)?);
    let mut bodies = Vec::new();
    for target in &all {
        let asked = target.wanted(Proof::Body)?;
        bodies.extend(asked.into_iter().filter(|wanted| {
            let claimed = claimed.get(&wanted.reference.to_string());
            claimed.is_none_or(|resolved| Some(&resolved.digest) != target.pinned.as_ref())
        }));
    }
    let proven = by_reference(digests.resolve_all(context, &bodies)?);
    let digest_of = |reference: &Reference| {
        let reference = reference.to_string();
        proven.get(&reference).or_else(|| claimed.get(&reference)).map(|r| r.digest.clone())
    };
    let pins_of = |targets: &Targets| {
        let mut pins = wanted.pins.clone();
        for target in &targets.targets {
            pins.pins.extend(target.pin(&digest_of)?);
        }
        Ok(pins)
    };
    targets.iter().map(pins_of).collect()
}

fn by_reference(resolved: Vec<Resolved>) -> BTreeMap<String, Resolved> {
    resolved.into_iter().map(|resolved| (resolved.reference.to_string(), resolved)).collect()
}

impl Target {
    fn wanted(&self, proof: Proof) -> Result<Vec<Wanted>, Error> {
        let references = self.names.iter().map(|name| self.reference(name));
        references.map(|reference| Ok(Wanted { reference: reference?, proof })).collect()
    }

    fn reference(&self, name: &str) -> Result<Reference, Error> {
        match &self.tag {
            Some(tag) => parse_reference(&format!("{name}:{tag}")),
            None => parse_reference(name),
        }
    }

    /// The pin; none where the digest that stands is still what the tag means.
    fn pin(&self, digest_of: &dyn Fn(&Reference) -> Option<Digest>) -> Result<Option<Pin>, Error> {
        let mut digest: Option<Digest> = None;
        for name in &self.names {
            let reference = self.reference(name)?;
            let Some(found) = digest_of(&reference) else { continue };
            if let Some(other) = digest.replace(found).filter(|d| Some(d) != digest.as_ref()) {
                let message = format!(
                    "{} is pulled from several registries, which have different images of that tag: {other} and another at {reference}",
                    self.key.as_str()
                );
                return Err(Error::new(codes::CONTRADICTION, message));
            }
        }
        let Some(digest) = digest.filter(|digest| Some(digest) != self.pinned.as_ref()) else {
            return Ok(None);
        };
        let name = Some(self.names[0].clone()).filter(|_| self.names.len() == 1);
        let value = PinValue { name, tag: self.tag.clone(), digest };
        Ok(Some(Pin { key: self.key.clone(), value }))
    }
}
