//! The ordered set of resources that a build works on.
//!
//! Source: kustomize api `resmap/reswrangler.go`.

use std::collections::HashSet;

use super::error::{BuildError, BuildErrorKind};
use super::node::Text;
use super::origin::Origin;
use super::resource::{Behavior, Resource, ResourceId};

/// What makes two resources the same one: group/version, kind, name, effective namespace.
type Key = (Text, Text, Text, Text);

fn key_of(id: &ResourceId) -> Key {
    let namespace = Text::from(id.effective_namespace());
    (Text::clone(&id.api_version), Text::clone(&id.kind), Text::clone(&id.name), namespace)
}

fn registered_already(resource: &Resource) -> BuildError {
    let id = resource.current_id();
    let message = format!("may not add resource with an already registered id: {id}");
    BuildError::new(BuildErrorKind::Conflict, message).at(resource.origin)
}

/// Resources in the order they were loaded.
#[derive(Clone, Debug, Default)]
pub struct ResMap {
    resources: Vec<Resource>,
    /// The identities of all resources; `None` after something may have changed them.
    known: Option<HashSet<Key>>,
}

impl ResMap {
    /// No resources.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of resources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The resources in order.
    #[must_use]
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resources in order, to change.
    pub fn resources_mut(&mut self) -> &mut Vec<Resource> {
        self.known = None;
        &mut self.resources
    }

    /// The resources in order, owned.
    #[must_use]
    pub fn into_resources(self) -> Vec<Resource> {
        self.resources
    }

    /// Adds a resource at the end.
    ///
    /// # Errors
    /// [`BuildErrorKind::Conflict`] where one of the same identity is there already.
    pub fn append(&mut self, resource: Resource) -> Result<(), BuildError> {
        let id = resource.current_id();
        let resources = &self.resources;
        let known = self.known.get_or_insert_with(|| {
            resources.iter().map(|resource| key_of(&resource.current_id())).collect()
        });
        if !known.insert(key_of(&id)) {
            return Err(registered_already(&resource));
        }
        self.resources.push(resource);
        Ok(())
    }

    /// Refuses two resources of one identity, after something may have changed names.
    ///
    /// # Errors
    /// [`BuildErrorKind::Conflict`] at `origin`.
    pub fn check_conflicts(&mut self, origin: Origin) -> Result<(), BuildError> {
        let mut known = HashSet::with_capacity(self.resources.len());
        for resource in &self.resources {
            let id = resource.current_id();
            if !known.insert(key_of(&id)) {
                let message = format!("two resources have the id {id}");
                return Err(BuildError::new(BuildErrorKind::Conflict, message).at(origin));
            }
        }
        self.known = Some(known);
        Ok(())
    }

    /// Refuses two resources of one identity.
    ///
    /// # Errors
    /// [`BuildErrorKind::Conflict`] at the later one.
    pub fn check_identities(&self) -> Result<(), BuildError> {
        let mut known = HashSet::with_capacity(self.resources.len());
        match self.resources.iter().find(|resource| !known.insert(key_of(&resource.current_id()))) {
            None => Ok(()),
            Some(resource) => Err(registered_already(resource)),
        }
    }

    /// Adds all of `other` at the end (`AppendAll`).
    ///
    /// # Errors
    /// As [`ResMap::append`].
    pub fn append_all(&mut self, other: Self) -> Result<(), BuildError> {
        other.resources.into_iter().try_for_each(|resource| self.append(resource))
    }

    /// Adds what a generator made: new, or in place of or merged into an existing resource as its
    /// behavior says (`AbsorbAll`).
    ///
    /// # Errors
    /// [`BuildErrorKind::Conflict`] where the behavior does not fit what is there.
    pub fn absorb_all(&mut self, other: Self) -> Result<(), BuildError> {
        other.resources.into_iter().try_for_each(|resource| self.absorb(resource))
    }

    fn absorb(&mut self, generated: Resource) -> Result<(), BuildError> {
        let id = generated.current_id();
        let behavior = generated.behavior.unwrap_or_default();
        let conflict = |message: String| {
            Err(BuildError::new(BuildErrorKind::Conflict, message).at(generated.origin))
        };
        match self.indexes_with_any_id(&id)?.as_slice() {
            [] => match behavior {
                Behavior::Merge | Behavior::Replace => {
                    conflict(format!("id {id} does not exist; cannot merge or replace"))
                }
                _ => self.append(generated),
            },
            [index] => match behavior {
                // It takes name and namespace of the other one, and must then be in its place.
                Behavior::Merge | Behavior::Replace if !self.is_of_type(*index, &id) => {
                    conflict(format!("cannot find a resource with the id {id} to replace"))
                }
                Behavior::Merge | Behavior::Replace => {
                    self.known = None;
                    super::build::absorb::absorb_into(&mut self.resources[*index], generated);
                    Ok(())
                }
                _ => conflict(format!(
                    "id {id} exists; can not use behavior: '{}', behavior must be merge or replace",
                    behavior.as_str()
                )),
            },
            several => {
                conflict(format!("found {} objects that could accept merge of {id}", several.len()))
            }
        }
    }

    fn is_of_type(&self, index: usize, id: &ResourceId) -> bool {
        let found = self.resources[index].current_id();
        found.api_version == id.api_version && found.kind == id.kind
    }

    /// The positions of the resources that have or had the identity `id`.
    ///
    /// # Errors
    /// As [`Resource::check_history`], for any of all resources.
    pub(crate) fn indexes_with_any_id(&self, id: &ResourceId) -> Result<Vec<usize>, BuildError> {
        self.resources.iter().try_for_each(Resource::check_history)?;
        let had = |resource: &Resource| !resource.node.is_nil_or_empty() && resource.had_id(id);
        Ok(self.indexes_where(had))
    }

    /// The positions of the resources whose identity is `id` now.
    #[must_use]
    pub fn indexes_with_current_id(&self, id: &ResourceId) -> Vec<usize> {
        self.indexes_where(|resource| resource.current_id().is_same(id))
    }

    fn indexes_where(&self, matches: impl Fn(&Resource) -> bool) -> Vec<usize> {
        self.resources
            .iter()
            .enumerate()
            .filter(|(_, resource)| matches(resource))
            .map(|(index, _)| index)
            .collect()
    }
}
