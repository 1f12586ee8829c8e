//! Vars: `$(NAME)` in some fields stands for a field of another object.
//!
//! Source: kustomize `api/internal/accumulator/resaccumulator.go`, `api/filters/refvar`,
//! `api/types/var.go`. Deprecated in favour of replacements, and still built.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::field_path::{Create, FieldPathError, apply_specs};
use super::field_spec::FieldSpecs;
use super::generators::encode_base64;
use super::go_json;
use super::limits::Limits;
use super::lookup::{integer, lookup, split_path};
use super::shared_values::settle;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Scalar, Style, Tag, Text, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{Resource, ResourceId};
use crate::kustomize::types::Var;

/// The vars that a kustomization has gathered, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct VarSet {
    vars: BTreeMap<Text, Var>,
}

impl VarSet {
    /// Adds the vars of one kustomization and marks the objects they take their values from.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where several objects fit, or a name is taken.
    pub(crate) fn add(&mut self, vars: &[Var], resources: &mut ResMap) -> Result<(), BuildError> {
        for var in vars {
            let wanted = target_id(var);
            let is_meant = |id: &ResourceId| {
                if wanted.namespace.is_empty() {
                    id.is_gvkn_equal(&wanted)
                } else {
                    id.is_same(&wanted)
                }
            };
            let fits = |resource: &&mut Resource| {
                !resource.node.is_nil_or_empty() && resource.all_ids().iter().any(is_meant)
            };
            let mut matched: Vec<_> = resources.resources_mut().iter_mut().filter(fits).collect();
            match matched.as_mut_slice() {
                [] => {}
                [one] => one.var_names.push(Text::clone(&var.name.text)),
                several => {
                    let message = format!(
                        "var `{}` fits {} objects; give a namespace that only one has",
                        var.name,
                        several.len()
                    );
                    return Err(refuse(message, var.origin));
                }
            }
        }
        vars.iter().try_for_each(|var| self.insert(var.clone()))
    }

    /// Adds the vars of a base.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where a name is taken.
    pub(crate) fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        other.vars.into_values().try_for_each(|var| self.insert(var))
    }

    fn insert(&mut self, var: Var) -> Result<(), BuildError> {
        if self.vars.contains_key(&var.name.text) {
            let message = format!("var `{}` is defined twice; rename one", var.name);
            return Err(refuse(message, var.origin));
        }
        self.vars.insert(Text::clone(&var.name.text), var);
        Ok(())
    }

    /// Replaces `$(NAME)` in the fields of `specs`.
    ///
    /// # Errors
    /// [`BuildErrorKind::Transformer`] where a var's object or field is not there, and where a field
    /// holds something that cannot be replaced in.
    pub(crate) fn resolve(
        &self,
        resources: &mut [Resource],
        specs: &FieldSpecs,
        context: &Context<'_>,
    ) -> Result<(), BuildError> {
        if self.vars.is_empty() {
            return Ok(());
        }
        let mut values = BTreeMap::new();
        for var in self.vars.values() {
            values.insert(Text::clone(&var.name.text), value_of(var, resources)?);
        }
        let mut replacer = Replacer { values, used: BTreeSet::new(), limits: context.limits };
        for resource in resources.iter_mut() {
            for spec in specs.iter() {
                let mut visited = false;
                let set = |node: &mut Node| {
                    visited = true;
                    replacer.replace(node)
                };
                apply_specs(&mut resource.node, [spec], Create::Never, resource.origin, set)?;
                if visited {
                    settle(resource);
                }
            }
        }
        for var in self.vars.values().filter(|var| !replacer.used.contains(&var.name.text)) {
            context.warn(format!("var `{}` is never used", var.name), var.origin);
        }
        Ok(())
    }
}

fn refuse(message: String, origin: Origin) -> BuildError {
    BuildError::new(BuildErrorKind::Transformer, message).at(origin)
}

/// The identity that a var asks for; `apiVersion` overrides group and version.
fn target_id(var: &Var) -> ResourceId {
    let target = &var.object_ref;
    let (group, version) = match target.api_version.split('/').collect::<Vec<_>>().as_slice() {
        [""] => (&*target.group, &*target.version),
        [version] => (&*target.group, *version),
        [group, version] => (*group, *version),
        _ => (&*target.group, &*target.version),
    };
    let api_version =
        if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    ResourceId {
        api_version: Text::from(api_version),
        kind: Text::clone(&target.kind.text),
        name: Text::clone(&target.name.text),
        namespace: Text::clone(&target.namespace.text),
        cluster_scoped: false,
    }
}

/// The value of a var and where it stands.
#[derive(Clone, Debug)]
struct VarValue {
    value: Primitive,
    origin: Origin,
}

#[derive(Clone, Debug, PartialEq)]
enum Primitive {
    Text(Text),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A map or a list, which takes no part in replacing.
    Other,
}

fn value_of(var: &Var, resources: &[Resource]) -> Result<VarValue, BuildError> {
    let given = &*var.field_ref.field_path;
    let path = if given.is_empty() { "metadata.name" } else { given };
    let is_source = |resource: &&Resource| resource.var_names.contains(&var.name.text);
    let Some(resource) = resources.iter().find(is_source) else {
        let message = format!(
            "var `{}` takes its value from {}, which is not there",
            var.name,
            target_id(var)
        );
        return Err(refuse(message, var.origin));
    };
    let parts: Vec<String> = split_path(path).iter().flat_map(|part| split_index(part)).collect();
    let not_there = |reason: &str| {
        let id = resource.current_id();
        refuse(format!("var `{}`: field `{path}` of {id} {reason}", var.name), var.origin)
    };
    let found = lookup(&resource.node, &parts).map_err(|reason| not_there(&reason))?;
    let node = found.ok_or_else(|| not_there("is not there"))?;
    let value = primitive(node).ok_or_else(|| not_there("is no number that can be used"))?;
    Ok(VarValue { value, origin: node.origin })
}

/// `ports[0]` is the field `ports` and the place 0.
fn split_index(part: &str) -> Vec<String> {
    let inside = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
    match inside {
        Some((field, place)) if !place.is_empty() && place.bytes().all(|b| b.is_ascii_digit()) => {
            [field, place].into_iter().filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        _ => vec![part.to_owned()],
    }
}

fn primitive(node: &Node) -> Option<Primitive> {
    let Some(scalar) = node.as_scalar() else { return Some(Primitive::Other) };
    match scalar.tag {
        Tag::Int => integer(&scalar.text).map(Primitive::Int),
        Tag::Float => float(&scalar.text).map(Primitive::Float),
        Tag::Bool => Some(Primitive::Bool(scalar.text.starts_with(['t', 'T']))),
        _ => Some(Primitive::Text(Text::clone(&scalar.text))),
    }
}

/// What Go's `strconv.ParseFloat` makes of a decimal number: an underscore may stand between two digits, infinity is refused.
fn float(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let separates = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    if !(0..bytes.len()).filter(|at| bytes[*at] == b'_').all(separates) {
        return None;
    }
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

struct Replacer<'a> {
    limits: &'a Limits,
    values: BTreeMap<Text, VarValue>,
    used: BTreeSet<Text>,
}

impl Replacer<'_> {
    fn replace(&mut self, node: &mut Node) -> Result<(), FieldPathError> {
        if node.is_string() {
            return self.replace_in(node);
        }
        match &mut node.value {
            Value::Scalar(_) => Ok(()),
            Value::Map(map) => map.entries_mut().iter_mut().try_for_each(|entry| {
                if !matches!(entry.key.tag, Tag::Str | Tag::Unset) {
                    let key = &entry.key.text;
                    return Err(FieldPathError::Refused(format!("the key `{key}` is no string")));
                }
                if entry.value.is_string() { self.replace_in(&mut entry.value) } else { Ok(()) }
            }),
            Value::Seq(items) => items.iter_mut().try_for_each(|item| {
                if !item.is_string() {
                    let message = "every element of the list must be a string".to_owned();
                    return Err(FieldPathError::Refused(message));
                }
                self.replace_in(item)
            }),
        }
    }

    /// Every string that is looked at becomes a plain one, whether it holds a var or not.
    fn replace_in(&mut self, node: &mut Node) -> Result<(), FieldPathError> {
        let Value::Scalar(scalar) = &mut node.value else { return Ok(()) };
        let (value, origin) = self.expand(&scalar.text).map_err(FieldPathError::Refused)?;
        let (text, tag) = match value {
            Primitive::Text(text) => (text, Tag::Str),
            Primitive::Int(number) => (Text::from(number.to_string()), Tag::Int),
            Primitive::Float(number) => (Text::from(number.to_string()), Tag::Float),
            Primitive::Bool(value) => (Text::from(value.to_string()), Tag::Bool),
            Primitive::Other => return Ok(()),
        };
        *scalar = Scalar { text, tag, style: Style::Plain, shared: scalar.shared };
        node.origin = origin.unwrap_or(node.origin);
        Ok(())
    }

    /// A text with its vars replaced. A text that is one var alone takes the var's type. In words, why
    /// not: too much would be written.
    fn expand(&mut self, text: &str) -> Result<(Primitive, Option<Origin>), String> {
        let mut out: Vec<u8> = Vec::with_capacity(text.len());
        let mut origin = None;
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
            out.extend(&rest[..at]);
            let after = &rest[at + 1..];
            if let Some(name) = var_name(after) {
                let found = self.find(name);
                origin = found.as_ref().map(|value| value.origin).or(origin);
                if name.len() + 3 == text.len() {
                    let unknown = Primitive::Text(Text::from(text));
                    return Ok((found.map_or(unknown, |value| value.value), origin));
                }
                match found {
                    Some(value) => {
                        let text = value.value.to_text();
                        self.limits.write_text(text.len())?;
                        out.extend(text.as_bytes());
                    }
                    None => out.extend(format!("$({name})").as_bytes()),
                }
                rest = &after[name.len() + 2..];
                continue;
            }
            out.push(b'$');
            match after.first() {
                None | Some(b'$') => {}
                // Kustomize takes the byte for a character.
                Some(byte) => out.extend(char::from(*byte).to_string().as_bytes()),
            }
            rest = after.get(1..).unwrap_or_default();
        }
        out.extend(rest);
        Ok((Primitive::Text(text_of_bytes(out)), origin))
    }

    fn find(&mut self, name: &str) -> Option<VarValue> {
        let (key, value) = self.values.get_key_value(name)?;
        if value.value == Primitive::Other {
            return None;
        }
        self.used.insert(Text::clone(key));
        Some(value.clone())
    }
}

/// The name in `(name)` at the start of a text.
fn var_name(text: &[u8]) -> Option<&str> {
    let inner = text.strip_prefix(b"(")?;
    let end = inner.iter().position(|byte| *byte == b')')?;
    std::str::from_utf8(&inner[..end]).ok()
}

/// go-yaml writes what is no UTF-8 as base64.
fn text_of_bytes(bytes: Vec<u8>) -> Text {
    match String::from_utf8(bytes) {
        Ok(text) => Text::from(text),
        Err(error) => Text::from(encode_base64(error.as_bytes())),
    }
}

impl Primitive {
    /// Go's `%v`.
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Float(number) => go_json::float_text(*number),
            Self::Bool(value) => value.to_string(),
            Self::Other => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> Primitive {
        let value = |value| VarValue { value, origin: Origin::NONE };
        let values = [
            (Text::from("A"), value(Primitive::Text(Text::from("a")))),
            (Text::from("N"), value(Primitive::Int(7))),
            (Text::from("F"), value(Primitive::Float(2_500_000.0))),
        ];
        let limits = Limits::default();
        let mut replacer =
            Replacer { values: values.into(), used: BTreeSet::new(), limits: &limits };
        replacer.expand(text).unwrap().0
    }

    #[test]
    fn vars_are_expanded_as_kubernetes_expands_them() {
        for (text, expanded) in [
            ("$(A)-$(A)", "a-a"),
            ("x$(N)", "x7"),
            ("$(F)!", "2.5e+06!"),
            ("$(MISSING)", "$(MISSING)"),
            ("$$(A)", "$(A)"),
            ("$A $", "$A $"),
            ("$(A", "$(A"),
            ("a$$", "a$"),
            // Printed by kustomize 5.8.1.
            ("\u{2028}y_$\u{65e5}", "4oCoeV8kw6aXpQ=="),
        ] {
            assert_eq!(expand(text), Primitive::Text(Text::from(expanded)), "{text}");
        }
        assert_eq!(expand("$(N)"), Primitive::Int(7));
    }
}
