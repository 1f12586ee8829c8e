//! Aliases and merge keys of an object, expanded step by step as kyaml expands them.
//!
//! The order of the steps shows. A merge key takes what the anchor holds at that moment: where that has
//! a merge key of its own which was not expanded before, `<<` becomes a field of the result, and is one for
//! patches and transformers until the object is printed. So the nodes are held here as kyaml holds
//! them: an alias points to the node of its anchor, and everything else is expanded in copies.
//!
//! Source: kyaml v0.21.1 `yaml/rnode.go` (`deAnchor`, `mergeAll`), `yaml/fns.go` (`MapEntrySetter`).

use super::syntax::{Form, Syntax, SyntaxId};
use super::{Converter, MERGE_KEY};
use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Entry, Map, Node, Tag, Value};

/// A node by number; those of the text have the numbers of their syntax.
type Id = usize;

/// What a node holds.
#[derive(Clone)]
enum Held {
    Scalar,
    Seq(Vec<Id>),
    /// Keys and values.
    Map(Vec<(Id, Id)>),
    Alias(Id),
}

/// A node and where in the text it is from.
#[derive(Clone)]
struct Place {
    held: Held,
    syntax: SyntaxId,
}

/// Whether a text has aliases or merge keys.
pub(super) fn are_in(syntax: &Syntax<'_>) -> bool {
    syntax.ids().any(|id| match &syntax.node(id).form {
        Form::Alias(..) => true,
        Form::Scalar(text, _) => text == MERGE_KEY,
        Form::Seq | Form::Map => false,
    })
}

/// The object at `root` with everything expanded.
///
/// # Errors
/// [`BuildErrorKind::Yaml`](crate::kustomize::error::BuildErrorKind::Yaml) for a merge key whose value is
/// no object or list of objects, for two in one object, and for keys that are no scalars.
pub(super) fn expanded(converter: &Converter<'_, '_>, root: SyntaxId) -> Result<Node, BuildError> {
    let mut graph = Graph::new(converter);
    let root = graph.expand(root.index(), false)?;
    graph.node(root)
}

struct Graph<'c, 't, 's> {
    converter: &'c Converter<'t, 's>,
    nodes: Vec<Place>,
}

impl<'c, 't, 's> Graph<'c, 't, 's> {
    fn new(converter: &'c Converter<'t, 's>) -> Self {
        let tree = converter.tree;
        let place = |id: SyntaxId| {
            let held = match &tree.node(id).form {
                Form::Scalar(..) => Held::Scalar,
                Form::Seq => Held::Seq(tree.children(id).iter().map(|id| id.index()).collect()),
                Form::Map => {
                    Held::Map(tree.pairs(id).map(|(k, v)| (k.index(), v.index())).collect())
                }
                Form::Alias(target, _) => Held::Alias(target.index()),
            };
            Place { held, syntax: id }
        };
        Self { converter, nodes: tree.ids().map(place).collect() }
    }

    fn add(&mut self, place: Place) -> Id {
        self.nodes.push(place);
        self.nodes.len() - 1
    }

    /// A copy of everything below a node (`CopyYNode`); its aliases point to the same nodes.
    fn copy(&mut self, id: Id) -> Id {
        let Place { held, syntax } = self.nodes[id].clone();
        let held = match held {
            Held::Seq(items) => Held::Seq(items.into_iter().map(|item| self.copy(item)).collect()),
            Held::Map(entries) => Held::Map(self.copy_entries(entries)),
            other => other,
        };
        self.add(Place { held, syntax })
    }

    fn copy_entries(&mut self, entries: Vec<(Id, Id)>) -> Vec<(Id, Id)> {
        entries.into_iter().map(|(key, value)| (self.copy(key), self.copy(value))).collect()
    }

    /// `deAnchor`: expands a node where it is, and returns what stands for it. Nothing else points to
    /// one that is `owned`, so that its parts need not be copied.
    fn expand(&mut self, id: Id, owned: bool) -> Result<Id, BuildError> {
        match self.nodes[id].held.clone() {
            Held::Scalar => {}
            Held::Alias(target) => {
                let target = self.expand(target, false)?;
                return Ok(self.copy(target));
            }
            Held::Seq(mut items) => {
                for item in &mut items {
                    *item = self.expand(*item, owned)?;
                }
                self.nodes[id].held = Held::Seq(items);
            }
            Held::Map(entries) => {
                let entries = if owned { entries } else { self.copy_entries(entries) };
                let mut entries = self.merge(entries)?;
                for (key, value) in &mut entries {
                    *key = self.expand(*key, true)?;
                    *value = self.expand(*value, true)?;
                }
                self.nodes[id].held = Held::Map(entries);
            }
        }
        Ok(id)
    }

    /// `removeMergeTags` and `mergeAll`: what merge keys add stands behind the own entries, which stay.
    fn merge(&mut self, mut own: Vec<(Id, Id)>) -> Result<Vec<(Id, Id)>, BuildError> {
        let sources = self.sources(&own)?;
        if let Some(at) = own.iter().position(|(key, _)| self.text(*key) == MERGE_KEY) {
            own.remove(at);
        }
        let mut merged = own.clone();
        for source in sources {
            if let Held::Map(entries) = self.nodes[source].held.clone() {
                self.set_all(&mut merged, &entries);
            }
        }
        self.set_all(&mut merged, &own);
        Ok(merged)
    }

    /// Sets every field of one object in another. Of a key that stands twice the first value counts.
    fn set_all(&mut self, fields: &mut Vec<(Id, Id)>, entries: &[(Id, Id)]) {
        for (key, _) in entries {
            let text = self.text(*key);
            let found = entries.iter().find(|(key, _)| self.text(*key) == text);
            let Some((key, value)) = found.copied() else { continue };
            // A null has no name, and is not found by its text.
            let name = if self.is_null(key) { "" } else { text };
            let at = fields.iter().position(|(key, _)| self.text(*key) == name);
            if at.is_some_and(|at| fields[at] == (key, value)) {
                continue;
            }
            let copied = (self.copy(key), self.copy(value));
            match at {
                Some(at) => fields[at] = copied,
                None => fields.push(copied),
            }
        }
    }

    /// The objects that the merge key of an object names, the one that counts most last.
    fn sources(&self, entries: &[(Id, Id)]) -> Result<Vec<Id>, BuildError> {
        let mut keys = entries.iter().filter(|(key, _)| self.is_merge_key(*key));
        match (keys.next(), keys.next()) {
            (_, Some((key, _))) => Err(self.error(*key, "two merge keys in one object")),
            (Some((_, value)), None) => self.sources_of(*value),
            (None, None) => Ok(Vec::new()),
        }
    }

    fn sources_of(&self, value: Id) -> Result<Vec<Id>, BuildError> {
        if let Held::Seq(items) = &self.nodes[value].held {
            // Earlier ones of the list override later ones.
            let items = items.iter().rev();
            return items.map(|item| self.object(*item, "only objects can be merged")).collect();
        }
        let message = "only an object or a list of objects can be merged";
        self.object(value, message).map(|object| vec![object])
    }

    /// The object itself, or the one that an alias stands for.
    fn object(&self, id: Id, message: &str) -> Result<Id, BuildError> {
        let target = match self.nodes[id].held {
            Held::Alias(target) => target,
            _ => id,
        };
        match self.nodes[target].held {
            Held::Map(_) => Ok(target),
            _ => Err(self.error(id, message)),
        }
    }

    /// The text of a key: of an alias, the name of its anchor.
    fn text(&self, id: Id) -> &'t str {
        match &self.converter.tree.node(self.nodes[id].syntax).form {
            Form::Scalar(text, _) => text,
            Form::Alias(_, name) => name,
            Form::Seq | Form::Map => "",
        }
    }

    fn is_null(&self, key: Id) -> bool {
        self.tag(key) == Some(Tag::Null)
    }

    fn is_merge_key(&self, key: Id) -> bool {
        self.tag(key) == Some(Tag::Merge)
    }

    fn tag(&self, id: Id) -> Option<Tag> {
        match self.nodes[id].held {
            Held::Scalar => self.converter.key(self.nodes[id].syntax).ok().map(|key| key.tag),
            _ => None,
        }
    }

    fn error(&self, id: Id, message: &str) -> BuildError {
        self.converter.error(self.nodes[id].syntax, message)
    }

    fn node(&self, id: Id) -> Result<Node, BuildError> {
        let Place { held, syntax } = &self.nodes[id];
        let value = match held {
            Held::Scalar => return self.converter.node(*syntax),
            Held::Seq(items) => {
                Value::Seq(items.iter().map(|item| self.node(*item)).collect::<Result<_, _>>()?)
            }
            Held::Map(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    let key = self.converter.key(self.nodes[*key].syntax)?;
                    map.entries_mut().push(Entry { key, value: self.node(*value)? });
                }
                Value::Map(map)
            }
            Held::Alias(_) => return Err(self.error(id, "an alias of an alias")),
        };
        Ok(self.converter.laid_out(*syntax, value))
    }
}
