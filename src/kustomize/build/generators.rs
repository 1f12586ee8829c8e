//! What the generators of config maps and secrets share, and their order.
//!
//! Source: kustomize `api/internal/generators`, `api/types/generatoroptions.go`.

use super::build_metadata::Step;
use super::config_map::config_map;
use super::context::Context;
use super::secret::secret;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Scalar, Style, Tag, Text};
use crate::kustomize::origin::Origin;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::{Behavior, Resource};
use crate::kustomize::types::{GeneratorOptions, Kustomization, Located, StringMap, Strings};

/// What every generated object is made of, beside its data.
pub(super) struct Base<'a> {
    pub(super) kind: &'static str,
    pub(super) name: &'a Located,
    pub(super) namespace: &'a Located,
    pub(super) behavior: &'a Located,
    pub(super) options: Option<&'a GeneratorOptions>,
    pub(super) global: Option<&'a GeneratorOptions>,
    pub(super) origin: Origin,
}

/// Generates the config maps and secrets of `fields` and puts them among `resources`.
///
/// # Errors
/// As the generators, and for a behavior that does not fit what is there.
pub(super) fn run_builtin(
    resources: &mut ResMap,
    fields: &Kustomization,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let global = fields.generator_options.as_ref();
    let step = |kind: &str| context.provenance.as_ref().map(|here| here.builtin(kind));
    for args in &fields.config_map_generator {
        let generated = config_map(args, global, context)?;
        absorb(resources, [generated], step("ConfigMapGenerator").as_ref())?;
    }
    for args in &fields.secret_generator {
        let generated = secret(args, global, context)?;
        absorb(resources, [generated], step("SecretGenerator").as_ref())?;
    }
    Ok(())
}

/// Puts what one generator made among `resources`, as the behavior of each says.
///
/// # Errors
/// For a behavior that does not fit what is there.
pub(super) fn absorb(
    resources: &mut ResMap,
    generated: impl IntoIterator<Item = Resource>,
    step: Option<&Step>,
) -> Result<(), BuildError> {
    let mut all = ResMap::new();
    for mut resource in generated {
        if let Some(step) = step {
            step.mark_generated(&mut resource);
        }
        all.append(resource)?;
    }
    resources.absorb_all(all)
}

impl Base<'_> {
    /// The object without its data, and the map that its fields are added to.
    pub(super) fn object(&self) -> Result<Map, BuildError> {
        if self.name.is_empty() {
            let message = format!("a generator of a {} needs a name", self.kind);
            return Err(BuildError::new(BuildErrorKind::Transformer, message).at(self.origin));
        }
        let mut metadata = Map::new();
        metadata.push("name", new_string(Text::clone(&self.name.text), self.name.origin));
        if !self.namespace.is_empty() {
            let namespace = Text::clone(&self.namespace.text);
            metadata.push("namespace", new_string(namespace, self.namespace.origin));
        }
        // Kyaml sets labels and annotations in single quotes, and kustomize then sets the annotations
        // once more, with its own.
        let labels = self.merged(|options| &options.labels);
        if !labels.is_empty() {
            metadata.push("labels", string_map(&labels, self.origin, single_quoted));
        }
        let annotations = self.merged(|options| &options.annotations);
        if !annotations.is_empty() {
            metadata.push("annotations", string_map(&annotations, self.origin, new_string));
        }
        let mut object = Map::new();
        object.push("apiVersion", Node::string("v1", self.origin));
        object.push("kind", Node::string(self.kind, self.origin));
        object.push("metadata", Node::map(metadata, self.origin));
        if self.has_option(|options| options.immutable) {
            let scalar = Scalar { tag: Tag::Bool, ..Scalar::untagged("true") };
            object.push("immutable", Node::scalar(scalar, self.origin));
        }
        Ok(object)
    }

    /// The resource of a finished object.
    pub(super) fn resource(&self, object: Map, context: &Context<'_>) -> Resource {
        let node = Node::map(object, self.origin);
        let mut resource = Resource::new(node, context.scopes.clone());
        let behavior = Behavior::parse(self.behavior);
        if behavior == Behavior::Unspecified && !self.behavior.is_empty() {
            context.warn(
                format!("unknown behavior `{}`; kustomize takes it as `create`", self.behavior),
                self.behavior.origin,
            );
        }
        resource.behavior = Some(behavior);
        resource.needs_hash = !self.has_option(|options| options.disable_name_suffix_hash);
        resource
    }

    fn has_option(&self, option: impl Fn(&GeneratorOptions) -> bool) -> bool {
        [self.options, self.global].into_iter().flatten().any(option)
    }

    /// The generator's own pairs, and those of all generators whose keys it has not.
    fn merged(&self, choose: fn(&GeneratorOptions) -> &Strings) -> StringMap {
        let own = self.options.map(choose).map_or(&[][..], |strings| &strings[..]);
        let global = self.global.map(choose).map_or(&[][..], |strings| &strings[..]);
        let is_new = |pair: &&(Text, Located)| own.iter().all(|known| known.0 != pair.0);
        let mut merged: StringMap =
            own.iter().chain(global.iter().filter(is_new)).cloned().collect();
        merged.sort_by(|a, b| a.0.cmp(&b.0));
        merged
    }
}

fn string_map(pairs: &StringMap, origin: Origin, string: fn(Text, Origin) -> Node) -> Node {
    let mut map = Map::with_capacity(pairs.len());
    for (key, value) in pairs {
        map.push(Text::clone(key), string(Text::clone(&value.text), value.origin));
    }
    Node::map(map, origin)
}

fn single_quoted(text: Text, origin: Origin) -> Node {
    Node::scalar(Scalar { style: Style::SingleQuoted, ..Scalar::string(text) }, origin)
}

/// A string as kyaml sets it in a new field: several lines are a block, and what YAML 1.1 reads as
/// another type is in quotes. A patch that overwrites it keeps that style.
pub(super) fn new_string(text: impl Into<Text>, origin: Origin) -> Node {
    let mut node = Node::string(text, origin);
    node.quote_if_yaml_1_1_differs();
    node
}

/// Base64, in lines of 70 characters that all end in a line break where there is more than one, or
/// exactly one full one (kyaml `encodeBase64`).
pub(super) fn encode_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const LINE: usize = 70;
    let mut plain = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |group, byte| (group << 8) | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let index = (group >> (18 - 6 * place)) & 63;
            let is_padding = place as usize > chunk.len();
            plain.push(if is_padding { '=' } else { ALPHABET[index as usize] as char });
        }
    }
    if plain.len() < LINE {
        return plain;
    }
    let mut lines = String::with_capacity(plain.len() + plain.len() / LINE + 1);
    for line in plain.as_bytes().chunks(LINE) {
        lines.extend(line.iter().map(|byte| *byte as char));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded_and_broken_into_lines_of_70() {
        for (text, encoded) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj")] {
            assert_eq!(encode_base64(text.as_bytes()), encoded);
        }
        assert_eq!(encode_base64(&[0xfb, 0xff, 0xfe]), "+//+");
        assert_eq!(encode_base64(&[0; 51]), "A".repeat(68));
        assert_eq!(encode_base64(&[0; 54]), format!("{}\nAA\n", "A".repeat(70)));
    }
}
