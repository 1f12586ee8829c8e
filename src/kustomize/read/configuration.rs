//! Reading kustomization files and other configuration by version 2's rules.
//!
//! Source: go.yaml.in/yaml v2.4.2 `decode.go`, sigs.k8s.io/yaml `yaml.go` (`convertToJSONableObject`).

use super::syntax::{Form, Syntax, SyntaxId};
use super::{Converter, Part, text_of};
use crate::kustomize::build::emit;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Entry, Map, Node, Scalar, Tag, Text};
use crate::kustomize::origin::Origin;
use crate::kustomize::source_tree::SourceFile;
use crate::yaml::scalar::{Resolved, Rules, resolve};

/// Reads the first document of a kustomization file or of another text that version 2 reads. An
/// empty text is null.
///
/// # Errors
/// [`BuildErrorKind::Yaml`] for a text that is no UTF-8 or no YAML.
pub(crate) fn configuration(file: &SourceFile) -> Result<Node, BuildError> {
    configuration_text(&text_of(file)?, Origin::new(file.id, 1))
}

/// As [`configuration`], for a text that starts at `start`.
///
/// # Errors
/// As [`configuration`].
pub(crate) fn configuration_text(text: &str, start: Origin) -> Result<Node, BuildError> {
    first_document(Part { text, start }, false)
}

/// Whether a text is read as something else than a string; what cannot be read is not.
pub(crate) fn is_non_string(text: &str) -> bool {
    let Ok(node) = configuration_text(text, Origin::NONE) else { return false };
    match node.as_scalar().map(|scalar| emit::typed_by(scalar, Rules::Kustomization)) {
        Some(typed) => typed.is_ok_and(|typed| !matches!(typed, emit::Typed::Str(_))),
        None => true,
    }
}

/// As [`configuration`], and no key may stand twice in one object (sigs.k8s.io/yaml
/// `UnmarshalStrict`).
///
/// # Errors
/// As [`configuration`].
pub(crate) fn strict_configuration(file: &SourceFile) -> Result<Node, BuildError> {
    first_document(Part { text: &text_of(file)?, start: Origin::new(file.id, 1) }, true)
}

fn first_document(part: Part<'_>, is_strict: bool) -> Result<Node, BuildError> {
    let rules = Rules::Kustomization;
    let syntax = Syntax::parse(part.text, rules).map_err(|error| part.error(&error))?;
    let mut converter = Converter::new(&syntax, rules, part.start);
    converter.is_strict = is_strict;
    let node = syntax.root().map(|root| converter.node(root)).transpose()?;
    Ok(node.unwrap_or_else(|| Node::null(part.start)))
}

impl Converter<'_, '_> {
    /// Version 2 reads `!!binary` as the text that it encodes.
    pub(super) fn binary(&self, id: SyntaxId, text: &str) -> Result<Scalar, BuildError> {
        let bytes = emit::decode_base64(text)
            .ok_or_else(|| self.error(id, "the value of !!binary is not base64"))?;
        Ok(Scalar::string(emit::text_of_bytes(&bytes)))
    }

    /// Version 2: the last of two equal keys counts, and a merge key counts where it stands.
    pub(super) fn configuration_map(&self, id: SyntaxId) -> Result<Map, BuildError> {
        let pairs = self.tree.pairs(id);
        let mut map = Map::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key_node = self.key(key)?;
            if key_node.tag == Tag::Merge {
                self.merge_here(&mut map, value)?;
                continue;
            }
            let key_node = self.configuration_key(key, key_node)?;
            let value = self.node(value)?;
            self.put(&mut map, Entry { key: key_node, value })?;
        }
        Ok(map)
    }

    fn merge_here(&self, map: &mut Map, value: SyntaxId) -> Result<(), BuildError> {
        let id = self.tree.target(value);
        match &self.tree.node(id).form {
            Form::Map => {
                let entries = self.configuration_map(id)?.into_entries();
                entries.into_iter().try_for_each(|entry| self.put(map, entry))
            }
            Form::Seq if id == value => {
                let items = self.tree.children(id).iter().rev();
                items.copied().try_for_each(|item| {
                    match self.tree.node(self.tree.target(item)).form {
                        Form::Map => self.merge_here(map, item),
                        _ => Err(self.error(item, "only objects can be merged")),
                    }
                })
            }
            _ => Err(self.error(value, "only an object or a list of objects can be merged")),
        }
    }

    /// A key as sigs.k8s.io/yaml makes a JSON key of it.
    fn configuration_key(&self, id: SyntaxId, mut key: Scalar) -> Result<Scalar, BuildError> {
        let text = match (key.tag, resolve(&key.text, self.rules)) {
            (Tag::Null, _) => return Err(self.error(id, "a key must not be null")),
            (Tag::Bool, Resolved::Bool(value)) => Text::from(value.to_string()),
            (Tag::Int, Resolved::Int(value)) => Text::from(value.to_string()),
            (Tag::Float, Resolved::Float(value)) => Text::from(float_key(value)),
            _ => return Ok(key),
        };
        key.text = text;
        Ok(key)
    }

    fn put(&self, map: &mut Map, entry: Entry) -> Result<(), BuildError> {
        match map.position(&entry.key.text) {
            Some(_) if self.is_strict => {
                let message = format!("the key \"{}\" stands twice in one object", entry.key.text);
                return Err(BuildError::new(BuildErrorKind::Yaml, message).at(entry.value.origin));
            }
            Some(at) => map.entries_mut()[at] = entry,
            None => map.entries_mut().push(entry),
        }
        Ok(())
    }
}

/// A float as sigs.k8s.io/yaml makes a JSON key of it: with 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "so it is done there")]
fn float_key(value: f64) -> String {
    let narrow = value as f32;
    match narrow {
        _ if narrow.is_nan() => ".nan".to_owned(),
        f32::INFINITY => ".inf".to_owned(),
        f32::NEG_INFINITY => "-.inf".to_owned(),
        _ => {
            let shortest: f64 = narrow.to_string().parse().unwrap_or(value);
            emit::format_g(shortest)
        }
    }
}
