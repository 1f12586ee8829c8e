//! Places that `images:` does not reach: a field of a custom resource, an argument of a container. The
//! value is written where the overlay's own files state it, else in a patch after all others.

use std::collections::BTreeMap;

use super::error::PlanError;
use super::placement::{Ground, OwnStatement, group_pattern, own_decider, tests_on_the_way};
use super::write::{PlacementKind, WriteView, Written, not_editable};
use crate::kustomize::{FieldPath, ImageUse, Resource, Step, UseKind};
use crate::yaml::{Document, Kind, NodeId, Path, Tree, Value, parse};

/// A file of the overlay besides its kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFile {
    /// Its path relative to the boundary.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What is to be written at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceEdit<'a> {
    /// The place.
    pub(super) place: &'a ImageUse,
    /// The whole reference.
    pub(super) reference: &'a str,
    /// The key that asked for it.
    pub(super) key: &'a str,
}

impl PlaceEdit<'_> {
    /// The scalar that stands there today, and the one that shall.
    fn texts(&self) -> (String, String) {
        let prefix = match &self.place.kind {
            UseKind::Argument { prefix, .. } => prefix.as_ref(),
            _ => "",
        };
        (format!("{prefix}{}", self.place.reference), format!("{prefix}{}", self.reference))
    }

    fn user(&self) -> String {
        format!("{}/{} {}", self.place.resource.kind, self.place.resource.name, self.place.path)
    }
}

/// Writes one place: in `others` where one of the overlay's files alone states it, else as a patch.
///
/// # Errors
/// [`PlanError::NotEditable`], or [`PlanError::NoPlace`] where no patch can say it.
pub(super) fn write_place(
    view: &WriteView<'_>,
    edit: PlaceEdit<'_>,
    kustomization: &mut Document,
    others: &mut Vec<Document>,
) -> Result<Written, PlanError> {
    if let Some(statement) = own_decider_of(view, edit) {
        return set_statement(view, edit, statement, kustomization, others);
    }
    let mut stated = Vec::new();
    let is_one_namespace = states(kustomization, "namespace");
    for file in view.own {
        let Ok(tree) = parse(&file.text) else { continue };
        stated
            .extend(statements(&tree, edit, is_one_namespace).into_iter().map(|path| (file, path)));
    }
    match stated.as_slice() {
        [(file, path)] => {
            let (file, outer, inner) = (file.path.clone(), path.clone(), None);
            let statement = OwnStatement { file, outer, inner };
            set_statement(view, edit, statement, kustomization, others)
        }
        _ if view.may_add => add_patch(view, edit, kustomization),
        _ => Err(PlanError::NoAdd {
            key: edit.key.to_owned(),
            reference: edit.place.reference.to_string(),
            user: edit.user(),
        }),
    }
}

/// The statement that decides the place today, where the renderer says so and it is the overlay's own.
fn own_decider_of(view: &WriteView<'_>, edit: PlaceEdit<'_>) -> Option<OwnStatement> {
    let is_it = |resource: &&Resource| resource.current_id() == edit.place.resource;
    let resource = view.rendered.resources.iter().find(is_it)?;
    let own = view.own.iter().map(|file| (file.path.clone(), file.text.clone()));
    let mut texts: BTreeMap<String, String> = own.collect();
    texts.insert(view.file.to_owned(), view.text.to_owned());
    let ground = Ground { file: view.file.to_owned(), texts };
    own_decider(&ground, view.rendered, resource, &edit.place.path)
}

/// Writes the value into the statement, in the kustomization or another file of the overlay.
fn set_statement(
    view: &WriteView<'_>,
    edit: PlaceEdit<'_>,
    statement: OwnStatement,
    kustomization: &mut Document,
    others: &mut Vec<Document>,
) -> Result<Written, PlanError> {
    let OwnStatement { file, outer, inner } = statement;
    let is_other = file != view.file;
    let document = if is_other { opened(view, &file, others)? } else { kustomization };
    let value = Value::str(edit.texts().1);
    let set = match &inner {
        Some(inner) => document.edit_inline(&outer, |text| text.set(inner, &value)),
        None => document.set(&outer, &value),
    };
    set.map_err(not_editable)?;
    let (file, path, what) = (is_other.then_some(file), outer, edit.user());
    Ok(Written { file, path, inner, kind: PlacementKind::Field, what })
}

/// The document of a file of the overlay, opened once.
fn opened<'d>(
    view: &WriteView<'_>,
    file: &str,
    others: &'d mut Vec<Document>,
) -> Result<&'d mut Document, PlanError> {
    let position = match others.iter().position(|document| document.file() == file) {
        Some(position) => position,
        None => {
            let own = view.own.iter().find(|own| own.path == file);
            let text = own.map(|own| own.text.clone()).unwrap_or_default();
            others.push(Document::from_text(file, text).map_err(not_editable)?);
            others.len() - 1
        }
    };
    Ok(&mut others[position])
}

/// Where `tree` states the value of the place: the field of a document of its kind and name, or an
/// operation of a JSON 6902 patch.
fn statements(tree: &Tree<'_>, edit: PlaceEdit<'_>, is_one_namespace: bool) -> Vec<Path> {
    let old = edit.texts().0;
    let mut found = Vec::new();
    for (document, root) in tree.roots().iter().enumerate() {
        if !is_of_resource(tree, *root, edit.place, is_one_namespace) {
            continue;
        }
        let path = Path::root().in_document(document);
        collect(tree, *root, path, &|tree, id| tree.node(id).scalar() == Some(&old), &mut found);
    }
    found.retain(|path| ends_alike(path, &edit.place.path));
    found
}

/// Whether a document is, or is a patch for, the resource: its kind, its group where it says one, a name that may have
/// become the rendered one, and its namespace unless one is given to all.
fn is_of_resource(tree: &Tree<'_>, root: NodeId, place: &ImageUse, is_one_namespace: bool) -> bool {
    let text = |map: NodeId, key: &str| {
        tree.value_of(map, key)
            .and_then(|id| tree.node(tree.target(id)).scalar())
            .map(str::to_owned)
    };
    let metadata = tree.value_of(root, "metadata");
    let name = metadata.and_then(|metadata| text(metadata, "name"));
    let namespace = metadata.and_then(|metadata| text(metadata, "namespace"));
    let group_of = |version: &str| version.split_once('/').map_or("", |(g, _)| g).to_owned();
    let group = text(root, "apiVersion").map(|version| group_of(&version));
    text(root, "kind").is_some_and(|kind| *kind == *place.resource.kind)
        && group.is_none_or(|group| group == place.resource.group())
        && (is_one_namespace || namespace.is_none_or(|own| *own == *place.resource.namespace))
        && name.is_some_and(|name| place.resource.name.contains(&name))
}

/// Whether both paths end with the same key, or with an item of a list below the same key.
fn ends_alike(path: &Path, field: &FieldPath) -> bool {
    let key = |steps: &mut dyn Iterator<Item = Option<String>>| steps.flatten().next();
    let own = key(&mut path.steps.iter().rev().map(|step| match step {
        crate::yaml::Step::Key(key) => Some(key.clone()),
        _ => None,
    }));
    let wanted = key(&mut field.steps().iter().rev().map(|step| match step {
        Step::Key(key) => Some(key.to_string()),
        _ => None,
    }));
    own.is_some() && own == wanted
}

fn collect(
    tree: &Tree<'_>,
    id: NodeId,
    path: Path,
    is_wanted: &dyn Fn(&Tree<'_>, NodeId) -> bool,
    found: &mut Vec<Path>,
) {
    match tree.node(id).kind {
        Kind::Scalar { .. } if is_wanted(tree, id) => found.push(path),
        Kind::Map { .. } => {
            for (key, value) in tree.pairs(id) {
                if let Some(text) = tree.node(key).scalar() {
                    collect(tree, value, path.clone().key(text), is_wanted, found);
                }
            }
        }
        Kind::Seq { .. } => {
            for (i, item) in tree.items(id).iter().enumerate() {
                collect(tree, *item, path.clone().index(i), is_wanted, found);
            }
        }
        _ => {}
    }
}

/// A new patch at the end of `patches:`: a strategic merge for a field that keys alone lead to, else
/// operations, of which the first tests what the position is thought to hold.
fn add_patch(
    view: &WriteView<'_>,
    edit: PlaceEdit<'_>,
    kustomization: &mut Document,
) -> Result<Written, PlanError> {
    let resource = view.rendered.resources.iter().find(|r| r.current_id() == edit.place.resource);
    let resource =
        resource.ok_or_else(|| no_place(edit, "it is not among the rendered resources"))?;
    let name = name_below(kustomization, &edit.place.resource.name);
    let body = match is_plain(edit) && !ends_with_operations(kustomization) {
        true => merge_patch(edit, &name),
        false => operations(edit, resource)?,
    };
    let target = target(view, resource, kustomization, &name);
    let item = Value::map([("target", target), ("patch", Value::literal(body))]);
    let patches = Path::kustomization().key("patches");
    let position = {
        let tree = kustomization.tree().map_err(not_editable)?;
        let list = kustomization.find(&tree, &patches).map_err(not_editable)?;
        list.map_or(0, |id| tree.items(id).len())
    };
    kustomization.append(&patches, &item).map_err(not_editable)?;
    let path = patches.index(position).key("patch");
    let what = edit.user();
    Ok(Written { file: None, path, inner: None, kind: PlacementKind::NewPatch, what })
}

/// Whether keys alone lead to the place.
fn is_plain(edit: PlaceEdit<'_>) -> bool {
    edit.place.path.steps().iter().all(|step| matches!(step, Step::Key(_)))
}

/// What tells the resource from all others: kind and name, the group as [`group_pattern`] has it, and of version
/// and namespace those by which another of the same kind and name differs. Kustomize reads each as a regular
/// expression.
fn target(view: &WriteView<'_>, resource: &Resource, document: &Document, name: &str) -> Value {
    let id = resource.current_id();
    let others = view.rendered.resources.iter().map(Resource::current_id);
    let (mut version, mut namespace) = (false, false);
    for other in others.filter(|other| other.kind == id.kind && other.name == id.name) {
        // The empty group cannot be named: its version tells it from another.
        version |= match other.group() == id.group() {
            true => other.version() != id.version(),
            false => id.group().is_empty(),
        };
        namespace |= other.namespace != id.namespace;
    }
    // A namespace that this layer gives is not there yet when its patches act.
    namespace &= !states(document, "namespace");
    let literal = |text: &str| text.replace('.', "[.]");
    let own = if id.namespace.is_empty() { "default" } else { &*id.namespace };
    let parts = [
        ("group", group_pattern(&id, view.rendered)),
        ("version", version.then(|| literal(id.version()))),
        ("kind", Some(literal(&id.kind))),
        ("name", Some(literal(name))),
        ("namespace", namespace.then(|| literal(own))),
    ];
    Value::map(parts.into_iter().filter_map(|(key, text)| Some((key, Value::str(text?)))))
}

fn states(document: &Document, key: &str) -> bool {
    document.locate(&Path::kustomization().key(key)).is_ok_and(|found| found.is_some())
}

/// The resource's name before this layer's own prefix and suffix, as a patch of the layer finds it.
fn name_below(kustomization: &Document, name: &str) -> String {
    let field = |key: &str| {
        let located = kustomization.locate(&Path::kustomization().key(key)).ok().flatten();
        located.map(|l| l.text).unwrap_or_default()
    };
    let name = name.strip_prefix(&*field("namePrefix")).unwrap_or(name);
    name.strip_suffix(&*field("nameSuffix")).unwrap_or(name).to_owned()
}

/// Whether the last inline patch of the file is a list of operations.
fn ends_with_operations(kustomization: &Document) -> bool {
    let Ok(tree) = kustomization.tree() else { return false };
    let patches = Path::kustomization().key("patches");
    let list = kustomization.find(&tree, &patches).ok().flatten();
    let items = list.map(|id| tree.items(id)).unwrap_or_default();
    let inline = items.iter().rev().find_map(|item| tree.value_of(*item, "patch"));
    let text = inline.and_then(|id| tree.node(id).scalar());
    text.and_then(|text| parse(text).ok()).is_some_and(|inner| {
        inner.roots().first().is_some_and(|root| matches!(inner.node(*root).kind, Kind::Seq { .. }))
    })
}

fn merge_patch(edit: PlaceEdit<'_>, name: &str) -> String {
    let id = &edit.place.resource;
    let quoted = |text: &str| crate::yaml::scalar::encode(text, crate::yaml::Style::Plain, false);
    let mut text = format!(
        "apiVersion: {}\nkind: {}\nmetadata:\n  name: {}\n",
        quoted(&id.api_version),
        quoted(&id.kind),
        quoted(name)
    );
    let steps = edit.place.path.steps();
    for (depth, step) in steps.iter().enumerate() {
        let Step::Key(key) = step else { continue };
        text.push_str(&"  ".repeat(depth));
        text.push_str(&quoted(key));
        text.push(':');
        match depth + 1 == steps.len() {
            true => text.push_str(&format!(" {}\n", quoted(&edit.texts().1))),
            false => text.push('\n'),
        }
    }
    text
}

/// The operation that replaces the value; where its path leads through positions, after tests of what they hold.
fn operations(edit: PlaceEdit<'_>, resource: &Resource) -> Result<String, PlanError> {
    let untold = || no_place(edit, "its position cannot be told");
    let pointer = edit.place.path.to_json_pointer(&resource.node).ok_or_else(untold)?;
    let (old, new) = edit.texts();
    let tests = match &edit.place.kind {
        UseKind::Argument { flag, prefix } if prefix.is_empty() => {
            vec![(previous(&pointer).unwrap_or_else(|| pointer.clone()), flag.to_string())]
        }
        UseKind::Argument { .. } => vec![(pointer.clone(), old)],
        _ if is_plain(edit) => Vec::new(),
        _ => match tests_on_the_way(&resource.node, &edit.place.path).ok_or_else(untold)? {
            // Items without names: what stands there is all that tells the position.
            none if none.is_empty() => vec![(pointer.clone(), old)],
            tests => tests,
        },
    };
    let quoted = |text: &str| crate::yaml::scalar::encode(text, crate::yaml::Style::Plain, false);
    let operation = |op: &str, path: &str, value: &str| {
        format!("- op: {op}\n  path: {}\n  value: {}\n", quoted(path), quoted(value))
    };
    let mut text: String =
        tests.iter().map(|(path, value)| operation("test", path, value)).collect();
    text.push_str(&operation("replace", &pointer, &new));
    Ok(text)
}

/// The pointer to the item before.
fn previous(pointer: &str) -> Option<String> {
    let (list, index) = pointer.rsplit_once('/')?;
    let index: usize = index.parse().ok()?;
    Some(format!("{list}/{}", index.checked_sub(1)?))
}

fn no_place(edit: PlaceEdit<'_>, reason: &str) -> PlanError {
    let key = edit.key.to_owned();
    PlanError::NoPlace { key, user: edit.user(), reason: reason.to_owned() }
}
