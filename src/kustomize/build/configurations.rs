//! Reads what files say about the fields that transformers touch: `configurations` and `crds`.
//!
//! Source: kustomize `api/internal/plugins/builtinconfig`,
//! `api/internal/accumulator/loadconfigfromcrds.go`.

use std::borrow::Cow;

use super::context::Context;
use super::field_spec::{FieldSpec, FieldSpecs, NameBackReferences, merge_one};
use super::transformer_config::TransformerConfig;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::types::decode::{Decode, Path};
use crate::kustomize::types::{Configuration, FieldSpecField, Located, NameReferenceField};

/// How deep references between definitions of `crds` may go.
const MAX_DEPTH: usize = 64;

/// The builtin configuration with the files of `configurations` merged into it.
///
/// # Errors
/// For a file that is no configuration, and for field specs that contradict each other.
pub(super) fn load_configurations(
    paths: &[Located],
    context: &Context<'_>,
) -> Result<TransformerConfig, BuildError> {
    let mut files = TransformerConfig::default();
    for path in paths {
        let file = context.loader.load(path)?;
        let node = read::strict_configuration(file)?;
        let configuration = Configuration::decode_nullable(&node, &Path::TypedRoot)?;
        merge(&mut files, &config_of(&configuration), node.origin)?;
    }
    let mut config = TransformerConfig::builtin();
    if !paths.is_empty() {
        merge(&mut config, &files, paths[0].origin)?;
    }
    Ok(config)
}

fn merge(
    config: &mut TransformerConfig,
    other: &TransformerConfig,
    origin: Origin,
) -> Result<(), BuildError> {
    config.merge(other).map_err(|error| {
        BuildError::new(BuildErrorKind::Transformer, format!("configurations: {error}")).at(origin)
    })
}

fn config_of(file: &Configuration) -> TransformerConfig {
    let specs =
        |fields: &[FieldSpecField]| -> FieldSpecs { fields.iter().map(FieldSpec::from).collect() };
    TransformerConfig {
        name_prefix: specs(&file.name_prefix),
        name_suffix: specs(&file.name_suffix),
        namespace: specs(&file.namespace),
        common_labels: specs(&file.common_labels),
        labels: specs(&file.labels),
        template_labels: specs(&file.template_labels),
        common_annotations: specs(&file.common_annotations),
        name_reference: file.name_reference.iter().map(references_of).collect(),
        var_reference: specs(&file.var_reference),
        images: specs(&file.images),
        replicas: specs(&file.replicas),
    }
    .sorted()
}

fn references_of(field: &NameReferenceField) -> NameBackReferences {
    let owned = |text: &str| Cow::Owned(text.to_owned());
    NameBackReferences {
        group: owned(&field.group),
        version: owned(&field.version),
        kind: owned(&field.kind),
        referrers: field.field_specs.iter().map(FieldSpec::from).collect(),
    }
}

/// What the OpenAPI definitions in the files of `crds` say about fields of custom resources.
///
/// # Errors
/// For a file that holds something else than definitions by name.
pub(super) fn load_crds(
    paths: &[Located],
    context: &Context<'_>,
) -> Result<TransformerConfig, BuildError> {
    let mut config = TransformerConfig::default();
    for path in paths {
        let node = read::configuration(context.loader.load(path)?)?;
        let Some(definitions) = node.as_map() else {
            return Err(no_definition(&node));
        };
        for entry in definitions.entries() {
            if entry.value.as_map().is_none() && !entry.value.is_null() {
                return Err(no_definition(&entry.value));
            }
        }
        for entry in definitions.entries() {
            let mut crd = Crd { definitions, config: TransformerConfig::default(), kind: "" };
            crd.kind = entry.key.text.rsplit('.').next().unwrap_or_default();
            if is_kubernetes_type(&entry.value) {
                crd.read(&entry.key.text, &mut Vec::new(), path.origin)?;
                merge(&mut config, &crd.config, path.origin)?;
            }
        }
    }
    Ok(config)
}

fn no_definition(node: &Node) -> BuildError {
    let message = "a file of `crds` holds OpenAPI definitions by name: {name: {Schema: …}}; list a \
                   CustomResourceDefinition under `resources`";
    BuildError::new(BuildErrorKind::Transformer, message).at(node.origin)
}

/// A field by its name without regard to case, as Go reads it.
fn field<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let exact = node.get(name);
    exact.or_else(|| {
        let mut entries = node.as_map()?.entries().iter();
        entries.find(|entry| entry.key.text.eq_ignore_ascii_case(name)).map(|entry| &entry.value)
    })
}

fn properties(definition: &Node) -> Option<&Map> {
    field(definition, "Schema")?.get("properties")?.as_map()
}

fn is_kubernetes_type(definition: &Node) -> bool {
    let has = |name| properties(definition).is_some_and(|map| map.get(name).is_some());
    has("kind") && has("apiVersion") && has("metadata")
}

/// One custom resource of a file of `crds`.
struct Crd<'n> {
    definitions: &'n Map,
    config: TransformerConfig,
    kind: &'n str,
}

impl<'n> Crd<'n> {
    fn read(
        &mut self,
        name: &str,
        path: &mut Vec<&'n str>,
        origin: Origin,
    ) -> Result<(), BuildError> {
        if path.len() > MAX_DEPTH {
            let message = format!("definitions refer to each other more than {MAX_DEPTH} deep");
            return Err(BuildError::new(BuildErrorKind::Limit, message).at(origin));
        }
        let definitions = self.definitions;
        let Some(properties) = definitions.get(name).and_then(properties) else { return Ok(()) };
        for entry in properties.entries() {
            path.push(&entry.key.text);
            self.read_property(&entry.value, path).map_err(|error| error.at(origin))?;
            if let Some(reference) = entry.value.get("$ref").and_then(Node::as_str) {
                self.read(reference, path, origin)?;
            }
            path.pop();
        }
        Ok(())
    }

    fn read_property(&mut self, property: &Node, path: &[&str]) -> Result<(), BuildError> {
        let extension = |name: &str| {
            let entries = property.as_map()?.entries().iter();
            let mut named = entries.filter(|entry| entry.key.text.eq_ignore_ascii_case(name));
            named.next().and_then(|entry| entry.value.as_str())
        };
        let spec = self.spec(path);
        let mut added = Ok(());
        if extension("x-kubernetes-annotation").is_some() {
            added = added.and(merge_one(&mut self.config.common_annotations, &spec));
        }
        if extension("x-kubernetes-label-selector").is_some() {
            added = added.and(merge_one(&mut self.config.common_labels, &spec));
        }
        if extension("x-kubernetes-identity").is_some() {
            added = added.and(merge_one(&mut self.config.name_prefix, &spec));
        }
        let version = extension("x-kubernetes-object-ref-api-version");
        if let (Some(version), Some(kind)) = (version, extension("x-kubernetes-object-ref-kind")) {
            let name = extension("x-kubernetes-object-ref-name-key").unwrap_or("name");
            let referrer = self.spec(&[path, &[name]].concat());
            added = added.and(self.config.add_name_references(&NameBackReferences {
                version: Cow::Owned(version.to_owned()),
                kind: Cow::Owned(kind.to_owned()),
                referrers: Cow::Owned(vec![referrer]),
                ..NameBackReferences::default()
            }));
        }
        added.map_err(|error| BuildError::new(BuildErrorKind::Transformer, error.to_string()))
    }

    fn spec(&self, path: &[&str]) -> FieldSpec {
        FieldSpec {
            kind: Cow::Owned(self.kind.to_owned()),
            path: Cow::Owned(path.join("/")),
            ..FieldSpec::default()
        }
    }
}
