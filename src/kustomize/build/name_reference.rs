//! References by name: where one object names another whose name or namespace has changed.
//!
//! Source: kustomize `api/internal/accumulator/namereferencetransformer.go`, `api/filters/nameref`,
//! `api/resmap/reswrangler.go` (`SubsetThatCouldBeReferencedByResource`). Only objects whose identity
//! was changed can be referred to; which fields refer to which kinds is configuration.

use std::collections::{HashMap, HashSet};

use super::emit::{Typed, typed_in};
use super::field_path::{Create, FieldPathError, apply_specs, set_scalar, wrong_kind};
use super::field_spec::{FieldSpec, NameBackReferences, is_selected};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Tag, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resource::{NOT_A_NAMESPACE, Resource, ResourceId};
use crate::yaml::scalar::{Resolved, Rules, resolve};

/// Gives every field that refers to another object by name that object's present name.
///
/// # Errors
/// [`crate::kustomize::error::BuildErrorKind::Transformer`] where several objects could be meant, and
/// where such a field holds something that is no name.
pub(crate) fn fix_references(
    resources: &mut [Resource],
    references: &[NameBackReferences],
) -> Result<(), BuildError> {
    let candidates = Candidates::new(resources);
    let mut specs_by_kind: HashMap<(Text, Text), Vec<(usize, FieldSpec)>> = HashMap::new();
    let mut referred_by = Vec::new();
    for resource in resources.iter_mut() {
        let original = resource.original_id();
        let key = (original.api_version.clone(), original.kind.clone());
        let specs = specs_by_kind.entry(key).or_insert_with(|| specs_of(&original, references));
        if specs.is_empty() {
            continue;
        }
        check_api_version(&resource.node)?;
        let mut referrer = Referrer::new(resource, &candidates)?;
        for (target, spec) in specs.iter() {
            referrer.fix(&mut resource.node, &references[*target], spec)?;
        }
        let id = resource.current_id();
        referred_by.extend(referrer.referrals.into_iter().map(|at| (at, id.clone())));
    }
    for (at, id) in referred_by {
        resources[at].referred_by.push(id);
    }
    Ok(())
}

/// Kustomize compares the version with that of the identity, where a null is a text, and a slash
/// behind an empty group is gone.
fn check_api_version(node: &Node) -> Result<(), BuildError> {
    match node.get("apiVersion") {
        Some(null) if null.is_null() && null.as_text().is_some_and(|text| !text.is_empty()) => {
            let message = "apiVersion must not be null";
            Err(BuildError::new(BuildErrorKind::Transformer, message).at(null.origin))
        }
        Some(version) if version.as_text().is_some_and(|text| text.starts_with('/')) => {
            let message = "apiVersion must not begin with a slash";
            Err(BuildError::new(BuildErrorKind::Transformer, message).at(version.origin))
        }
        _ => Ok(()),
    }
}

/// The fields of objects of one kind that refer to others, in the order in which they are fixed.
fn specs_of(id: &ResourceId, references: &[NameBackReferences]) -> Vec<(usize, FieldSpec)> {
    let mut specs = Vec::new();
    for (at, target) in references.iter().enumerate() {
        for spec in target.referrers.iter() {
            if spec.selects(id.group(), id.version(), &id.kind) {
                // Selected by its first kind; its present one does not matter any more.
                specs.push((at, FieldSpec { path: spec.path.clone(), ..FieldSpec::default() }));
            }
        }
    }
    specs
}

/// An object that may be referred to, and what is compared of it.
struct Candidate {
    at: usize,
    id: ResourceId,
    previous: Vec<ResourceId>,
    prefixes: Vec<Text>,
    suffixes: Vec<Text>,
    name_origin: Origin,
}

/// The objects whose identity was changed, by every name they had.
struct Candidates {
    all: Vec<Candidate>,
    by_previous_name: HashMap<Text, Vec<usize>>,
    /// By first namespace: where the objects are now, as (effective, written) namespaces.
    now_by_original_namespace: HashMap<Text, HashSet<(Text, Text)>>,
}

impl Candidates {
    fn new(resources: &[Resource]) -> Self {
        let mut found = Self {
            all: Vec::new(),
            by_previous_name: HashMap::new(),
            now_by_original_namespace: HashMap::new(),
        };
        for (at, resource) in resources.iter().enumerate() {
            let original = Text::from(resource.original_id().effective_namespace());
            let now = resource.current_id();
            let place = found.now_by_original_namespace.entry(original).or_default();
            place.insert((Text::from(now.effective_namespace()), now.namespace));
            if !resource.previous_ids.is_empty() {
                found.add(at, resource);
            }
        }
        found
    }

    fn add(&mut self, at: usize, resource: &Resource) {
        let candidate = Candidate {
            at,
            id: resource.current_id(),
            previous: resource.previous_resource_ids(),
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
            name_origin: resource
                .node
                .lookup(&["metadata", "name"])
                .map_or(Origin::NONE, |name| name.origin),
        };
        let names: HashSet<&Text> = candidate.previous.iter().map(|id| &id.name).collect();
        for name in names {
            let place = self.by_previous_name.entry(Text::clone(name)).or_default();
            place.push(self.all.len());
        }
        self.all.push(candidate);
    }
}

/// An object whose fields are being fixed.
struct Referrer<'a> {
    candidates: &'a Candidates,
    id: ResourceId,
    prefixes: Vec<Text>,
    suffixes: Vec<Text>,
    /// Namespaces of service accounts that a role binding names.
    subject_namespaces: HashSet<Text>,
    role_ref: Option<(Text, Text)>,
    /// The objects it was found to refer to.
    referrals: Vec<usize>,
}

impl<'a> Referrer<'a> {
    fn new(resource: &Resource, candidates: &'a Candidates) -> Result<Self, BuildError> {
        let id = resource.current_id();
        let subject_namespaces =
            if id.cluster_scoped { HashSet::new() } else { subject_namespaces(resource)? };
        Ok(Self {
            candidates,
            id,
            prefixes: resource.prefixes.clone(),
            suffixes: resource.suffixes.clone(),
            subject_namespaces,
            role_ref: role_ref(resource),
            referrals: Vec::new(),
        })
    }

    fn fix(
        &mut self,
        node: &mut Node,
        target: &NameBackReferences,
        spec: &FieldSpec,
    ) -> Result<(), BuildError> {
        let is_role_ref = spec.path.ends_with("roleRef/name");
        let wanted = Wanted { target, is_role_ref };
        let set = |node: &mut Node| self.set(node, &wanted);
        apply_specs(node, [spec], Create::Never, Origin::NONE, set)
    }

    fn set(&mut self, node: &mut Node, wanted: &Wanted<'_>) -> Result<(), FieldPathError> {
        match &mut node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null => Ok(()),
            Value::Scalar(_) => self.set_name(node, wanted),
            Value::Map(map) => self.set_name_and_namespace(map, wanted),
            Value::Seq(items) => items.iter_mut().try_for_each(|item| match &mut item.value {
                Value::Seq(_) => Err(wrong_kind("a scalar or a map", item)),
                _ => self.set(item, wanted),
            }),
        }
    }

    fn set_name(&mut self, node: &mut Node, wanted: &Wanted<'_>) -> Result<(), FieldPathError> {
        let Some(old) = node.as_text() else { return Ok(()) };
        let same = |a: &Candidate, b: &Candidate| a.id.name == b.id.name;
        let Some(referral) = self.select(old, wanted, None, same)? else { return Ok(()) };
        if referral.id.name == *old {
            return Ok(());
        }
        let (name, origin) = (Text::clone(&referral.id.name), referral.name_origin);
        set_scalar(node, name, Tag::Unset, origin)
    }

    fn set_name_and_namespace(
        &mut self,
        map: &mut Map,
        wanted: &Wanted<'_>,
    ) -> Result<(), FieldPathError> {
        // What is no scalar has an empty text.
        let text = |key: &str| map.get(key).map(|node| node.as_text().cloned().unwrap_or_default());
        let Some(old) = text("name") else {
            return Err(FieldPathError::Refused("the map has no `name`".to_owned()));
        };
        let namespace = text("namespace");
        let same = |a: &Candidate, b: &Candidate| {
            a.id.name == b.id.name && a.id.namespace == b.id.namespace
        };
        let referral = self.select(&old, wanted, namespace.as_ref(), same)?;
        let Some(referral) = referral else { return Ok(()) };
        let id = &referral.id;
        if id.name == old && id.namespace.is_empty() {
            return Ok(());
        }
        map.set_field("name", Node::untagged(Text::clone(&id.name), referral.name_origin));
        if !id.namespace.is_empty() {
            let namespace = Node::untagged(Text::clone(&id.namespace), referral.name_origin);
            map.set_field("namespace", namespace);
        }
        Ok(())
    }

    /// The object that `old` names (`selectReferral`).
    fn select(
        &mut self,
        old: &str,
        wanted: &Wanted<'_>,
        namespace: Option<&Text>,
        same: impl Fn(&Candidate, &Candidate) -> bool,
    ) -> Result<Option<&'a Candidate>, FieldPathError> {
        let Some(named) = self.candidates.by_previous_name.get(old) else { return Ok(None) };
        let mut found: Vec<&'a Candidate> = named
            .iter()
            .map(|at| &self.candidates.all[*at])
            .filter(|candidate| self.may_refer_to(candidate))
            .filter(|candidate| namespace.is_none_or(|ns| self.is_in(candidate, ns)))
            .filter(|candidate| candidate.was_selected(wanted.target.gvk()))
            .filter(|candidate| !wanted.is_role_ref || self.is_role(candidate))
            .filter(|candidate| self.shares_namespace_with(candidate))
            .collect();
        if found.len() > 1 {
            found.retain(|candidate| self.shares_affixes_with(candidate, true));
        }
        if found.len() > 1 {
            found.retain(|candidate| self.shares_affixes_with(candidate, false));
        }
        match found.as_slice() {
            [] => Ok(None),
            [first, others @ ..] if others.iter().all(|other| same(first, other)) => {
                self.referrals.push(first.at);
                Ok(Some(first))
            }
            several => Err(ambiguous(old, several)),
        }
    }

    /// Whether the two may refer to each other at all.
    fn may_refer_to(&self, candidate: &Candidate) -> bool {
        self.id.cluster_scoped
            || candidate.id.cluster_scoped
            || self.id.is_namespace_equal(&candidate.id)
            || self.subject_namespaces.contains(&candidate.id.namespace)
    }

    /// Whether the candidate is in the namespace that the reference names: by the first namespace of
    /// all objects, if any had it, else by the present ones.
    fn is_in(&self, candidate: &Candidate, namespace: &Text) -> bool {
        if &**namespace == NOT_A_NAMESPACE {
            return false;
        }
        if self.any_reachable_was_in(namespace) {
            return candidate.original_namespace() == &**namespace;
        }
        candidate.id.effective_namespace() == &**namespace
    }

    fn any_reachable_was_in(&self, namespace: &Text) -> bool {
        let places = self.candidates.now_by_original_namespace.get(namespace);
        places.into_iter().flatten().any(|(effective, written)| {
            self.id.cluster_scoped
                || &**effective == NOT_A_NAMESPACE
                || &**effective == self.id.effective_namespace()
                || self.subject_namespaces.contains(written)
        })
    }

    fn is_role(&self, candidate: &Candidate) -> bool {
        self.role_ref.as_ref().is_none_or(|(group, kind)| candidate.was_selected((group, "", kind)))
    }

    fn shares_namespace_with(&self, candidate: &Candidate) -> bool {
        self.id.cluster_scoped
            || candidate.id.cluster_scoped
            || &*candidate.id.kind == "ServiceAccount"
            || self.id.is_namespace_equal(&candidate.id)
    }

    fn shares_affixes_with(&self, candidate: &Candidate, empty_fits: bool) -> bool {
        let fits = |a: &[Text], b: &[Text]| {
            (empty_fits && (a.is_empty() || b.is_empty())) || is_same_ending(a, b)
        };
        fits(&candidate.prefixes, &self.prefixes) && fits(&candidate.suffixes, &self.suffixes)
    }
}

/// What a field refers to.
struct Wanted<'a> {
    target: &'a NameBackReferences,
    is_role_ref: bool,
}

impl Candidate {
    fn was_selected(&self, gvk: (&str, &str, &str)) -> bool {
        let selected = |id: &ResourceId| is_selected((id.group(), id.version(), &id.kind), gvk);
        self.previous.iter().any(selected)
    }

    fn original_namespace(&self) -> &str {
        self.previous.first().map_or("", |id| id.effective_namespace())
    }
}

/// Whether one list is the end of the other; an empty one is so only of an empty one
/// (`SameEndingSubSlice`).
fn is_same_ending(a: &[Text], b: &[Text]) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.is_empty() { long.is_empty() } else { long.ends_with(short) }
}

fn ambiguous(old: &str, candidates: &[&Candidate]) -> FieldPathError {
    let ids: Vec<String> = candidates.iter().map(|candidate| candidate.id.to_string()).collect();
    let ids = ids.join(", ");
    FieldPathError::Refused(format!(
        "`{old}` may mean any of {ids}; give them names that differ before they are combined"
    ))
}

/// The namespaces of the service accounts that a role binding names as its subjects.
///
/// # Errors
/// For a subject that is no object, or whose kind or namespace is no text.
fn subject_namespaces(resource: &Resource) -> Result<HashSet<Text>, BuildError> {
    if resource.kind() != "RoleBinding" {
        return Ok(HashSet::new());
    }
    let subjects = resource.node.get("subjects").and_then(Node::as_seq).unwrap_or_default();
    let namespaces = subjects.iter().map(subject_namespace).collect::<Result<Vec<_>, _>>()?;
    Ok(namespaces.into_iter().flatten().collect())
}

fn subject_namespace(subject: &Node) -> Result<Option<Text>, BuildError> {
    let refuse = |message: &str, origin| {
        Err(BuildError::new(BuildErrorKind::Transformer, message).at(origin))
    };
    if subject.as_map().is_none() {
        return refuse("a subject of a RoleBinding must be an object", subject.origin);
    }
    let (Some(kind), Some(namespace)) = (subject.get("kind"), subject.get("namespace")) else {
        return Ok(None);
    };
    match (text_of(kind), text_of(namespace)) {
        (None, _) => refuse("the kind of a subject must be a text", kind.origin),
        (Some("ServiceAccount"), None) => {
            refuse("the namespace of a service account must be a text", namespace.origin)
        }
        (Some("ServiceAccount"), Some(namespace)) => Ok(Some(Text::from(namespace))),
        (Some(_), _) => Ok(None),
    }
}

/// The text of a scalar that is read as a string, which a time is not here.
fn text_of(node: &Node) -> Option<&str> {
    let scalar = node.as_scalar()?;
    let is_unquoted = scalar.tag == Tag::Unset && !scalar.style.is_quoted();
    if scalar.tag == Tag::Timestamp
        || (is_unquoted && resolve(&scalar.text, Rules::Resource) == Resolved::Timestamp)
    {
        return None;
    }
    matches!(typed_in(scalar, node.layout), Ok(Typed::Str(_))).then_some(&*scalar.text)
}

/// Group and kind of the role that a role binding refers to, an object or a list there being no text (kustomize
/// `getRoleRefGvk`).
fn role_ref(resource: &Resource) -> Option<(Text, Text)> {
    let text = |field: &str| {
        let node = resource.node.lookup(&["roleRef", field])?;
        Some(node.as_text().cloned().unwrap_or_default())
    };
    Some((text("apiGroup")?, text("kind")?))
}
