//! The kustomization file itself.

use std::borrow::Cow;

use super::decode::{Decode, Located, Path, Strings, object};
use super::generator::{ConfigMapArgs, GeneratorOptions, SecretArgs};
use super::patch::Patch;
use super::replacement::{ReplacementField, Var};
use super::transformer::{Image, Label, Replica, SortOptions};
use crate::kustomize::build::fold_next_lines;
use crate::kustomize::error::{BuildError, BuildErrorKind, Warning, WarningKind};
use crate::kustomize::node::{Entry, Node, Style, Text, Value};
use crate::kustomize::origin::Origin;

/// What a kustomization file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A kustomization, named so or without a kind.
    #[default]
    Kustomization,
    /// A component: run over the resources of the kustomization that names it.
    Component,
}

object! {
    /// All fields of a kustomization file.
    pub struct Kustomization {
        /// `kustomize.config.k8s.io/v1beta1`, or `v1alpha1` for a component; may be missing.
        api_version: Located = "apiVersion",
        /// `Kustomization` or `Component`; may be missing. See [`Kustomization::file_kind`].
        kind: Located = "kind",
        /// Labels and annotations that nothing reads.
        metadata: Option<Metadata> = "metadata",
        /// The schema to merge by: `path` or `version`.
        openapi: Strings = "openapi",
        /// Put before every name.
        name_prefix: Located = "namePrefix",
        /// Put after every name.
        name_suffix: Located = "nameSuffix",
        /// The namespace of every resource that has one.
        namespace: Located = "namespace",
        /// Deprecated: labels for everything, selectors included.
        common_labels: Strings = "commonLabels",
        /// Labels.
        labels: Vec<Label> = "labels",
        /// Annotations for everything.
        common_annotations: Strings = "commonAnnotations",
        /// Deprecated: strategic merge patches, files or inline.
        patches_strategic_merge: Vec<Located> = "patchesStrategicMerge",
        /// Deprecated: JSON 6902 patches.
        patches_json_6902: Vec<Patch> = "patchesJson6902",
        /// Patches.
        patches: Vec<Patch> = "patches",
        /// Images; entries of the deprecated `imageTags` come last.
        images: Vec<Image> = "images",
        /// Deprecated; moved into `images` when read.
        image_tags: Vec<Image> = "imageTags",
        /// Replacements.
        replacements: Vec<ReplacementField> = "replacements",
        /// Numbers of replicas.
        replicas: Vec<Replica> = "replicas",
        /// Deprecated: vars.
        vars: Vec<Var> = "vars",
        /// The order of the output, of the root only.
        sort_options: Option<SortOptions> = "sortOptions",
        /// Files and directories of resources; entries of the deprecated `bases` come last.
        resources: Vec<Located> = "resources",
        /// Directories of components.
        components: Vec<Located> = "components",
        /// Files of custom resource definitions.
        crds: Vec<Located> = "crds",
        /// Deprecated; moved into `resources` when read.
        bases: Vec<Located> = "bases",
        /// Config maps to generate.
        config_map_generator: Vec<ConfigMapArgs> = "configMapGenerator",
        /// Secrets to generate.
        secret_generator: Vec<SecretArgs> = "secretGenerator",
        /// Where helm charts are.
        helm_globals: Opaque = "helmGlobals",
        /// Helm charts, which only kustomize itself can build.
        helm_charts: Opaque = "helmCharts",
        /// Deprecated: helm charts.
        helm_chart_inflation_generator: Opaque = "helmChartInflationGenerator",
        /// Options of all generators.
        generator_options: Option<GeneratorOptions> = "generatorOptions",
        /// Files that configure the builtin transformers.
        configurations: Vec<Located> = "configurations",
        /// Generator plugins, files or inline.
        generators: Vec<Located> = "generators",
        /// Transformer plugins, files or inline.
        transformers: Vec<Located> = "transformers",
        /// Validator plugins, files or inline.
        validators: Vec<Located> = "validators",
        /// `originAnnotations`, `transformerAnnotations`, `managedByLabel`.
        build_metadata: Vec<Located> = "buildMetadata",
    }
}

object! {
    /// Metadata of a kustomization file.
    pub struct Metadata {
        /// The name.
        name: Located = "name",
        /// The namespace.
        namespace: Located = "namespace",
        /// Labels.
        labels: Strings = "labels",
        /// Annotations.
        annotations: Strings = "annotations",
    }
}

/// A field that is only known to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opaque {
    /// The value.
    pub value: Option<Box<Node>>,
}

impl Decode for Opaque {
    fn decode(node: &Node, _: &Path<'_>) -> Result<Self, BuildError> {
        Ok(Self { value: Some(Box::new(node.clone())) })
    }
}

impl Opaque {
    /// Whether there is something: not null and not empty.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.value.as_ref().is_some_and(|node| !node.is_nil_or_empty())
    }
}

const DEPRECATED: [(&str, &str); 6] = [
    ("bases", "resources"),
    ("commonLabels", "labels"),
    ("imageTags", "images"),
    ("patchesJson6902", "patches"),
    ("patchesStrategicMerge", "patches"),
    ("vars", "replacements"),
];

impl Kustomization {
    /// Reads the first document of a kustomization file, read by go-yaml version 2's rules, and
    /// moves deprecated fields to the ones that took their place.
    ///
    /// # Errors
    /// [`BuildErrorKind::Kustomization`]: an unknown field, a value of the wrong type, an empty
    /// file, or another kind or version.
    pub fn from_node(node: &Node) -> Result<Self, BuildError> {
        let mut kustomization = Self::decode_nullable(&as_handed_on(node), &Path::Root)?;
        let empty = node.is_null() || !has_content(node);
        if empty {
            let message = "the kustomization file is empty; give it at least one field";
            return Err(BuildError::new(BuildErrorKind::Kustomization, message).at(node.origin));
        }
        check_characters(node)?;
        kustomization.move_deprecated_fields();
        kustomization.check_kind_and_version()?;
        Ok(kustomization)
    }

    /// Everything that may name a directory with another kustomization.
    pub fn directory_references(&self) -> impl Iterator<Item = &Located> {
        self.resources
            .iter()
            .chain(&self.bases)
            .chain(&self.components)
            .chain(&self.generators)
            .chain(&self.transformers)
            .chain(&self.validators)
    }

    /// Whether it is a kustomization or a component.
    #[must_use]
    pub fn file_kind(&self) -> Kind {
        if &*self.kind == "Component" { Kind::Component } else { Kind::Kustomization }
    }

    /// Deprecated fields that `node`, a kustomization file, uses.
    #[must_use]
    pub fn deprecated_fields(node: &Node) -> Vec<Warning> {
        DEPRECATED
            .iter()
            .filter_map(|(old, new)| {
                let value = node.get(old).filter(|value| !value.is_null())?;
                Some(Warning {
                    kind: WarningKind::DeprecatedField,
                    message: format!("'{old}' is deprecated. Please use '{new}' instead."),
                    origin: value.origin,
                })
            })
            .collect()
    }

    fn move_deprecated_fields(&mut self) {
        self.resources.append(&mut self.bases);
        self.images.append(&mut self.image_tags);
        for args in &mut self.config_map_generator {
            move_env(&mut args.envs, &mut args.env);
        }
        for args in &mut self.secret_generator {
            move_env(&mut args.envs, &mut args.env);
        }
    }

    fn check_kind_and_version(&self) -> Result<(), BuildError> {
        let refuse = |message: String, origin: Origin| {
            Err(BuildError::new(BuildErrorKind::Kustomization, message).at(origin))
        };
        if !matches!(&*self.kind, "" | "Kustomization" | "Component") {
            let message = format!("kind: \"{}\" should be Kustomization or Component", self.kind);
            return refuse(message, self.kind.origin);
        }
        let version = match self.file_kind() {
            Kind::Component => "kustomize.config.k8s.io/v1alpha1",
            Kind::Kustomization => "kustomize.config.k8s.io/v1beta1",
        };
        if !self.api_version.is_empty() && &*self.api_version != version {
            let message = format!("apiVersion: \"{}\" should be {version}", self.api_version);
            return refuse(message, self.api_version.origin);
        }
        Ok(())
    }
}

fn move_env(envs: &mut Vec<Located>, env: &mut Located) {
    if !env.is_empty() {
        envs.push(std::mem::take(env));
    }
}

/// Fields that kustomize hands to its transformers and generators as YAML that it prints itself.
const HANDED_ON: [&str; 17] = [
    "commonAnnotations",
    "commonLabels",
    "configMapGenerator",
    "generatorOptions",
    "images",
    "imageTags",
    "labels",
    "namePrefix",
    "namespace",
    "nameSuffix",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "secretGenerator",
    "helmCharts",
];

/// The fields as transformers and generators get them: in JSON a next-line character (U+0085) stands
/// as it is, and YAML reads it as a line break. Known from kustomize's output; source:
/// sigs.k8s.io/yaml `JSONToYAML`.
fn as_handed_on(node: &Node) -> Cow<'_, Node> {
    let is_affected =
        |entry: &Entry| HANDED_ON.contains(&&*entry.key.text) && has_next_line(&entry.value);
    match node.as_map() {
        Some(map) if map.entries().iter().any(is_affected) => {
            let mut node = node.clone();
            let entries = node.as_map_mut().map(|map| map.entries_mut().iter_mut());
            for entry in entries.into_iter().flatten().filter(|entry| is_affected(entry)) {
                fold(&mut entry.value);
            }
            Cow::Owned(node)
        }
        _ => Cow::Borrowed(node),
    }
}

fn has_next_line(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.contains('\u{85}'),
        Value::Seq(items) => items.iter().any(has_next_line),
        Value::Map(map) => map.entries().iter().any(|entry| has_next_line(&entry.value)),
    }
}

fn fold(node: &mut Node) {
    match &mut node.value {
        Value::Scalar(scalar) if scalar.text.contains('\u{85}') => {
            scalar.text = Text::from(fold_next_lines(&scalar.text));
            // Its lines are not those of the file.
            scalar.style = Style::DoubleQuoted;
        }
        Value::Scalar(_) => {}
        Value::Seq(items) => items.iter_mut().for_each(fold),
        Value::Map(map) => map.entries_mut().iter_mut().for_each(|entry| fold(&mut entry.value)),
    }
}

/// Refuses characters that escapes can write and that cannot be handed on.
fn check_characters(node: &Node) -> Result<(), BuildError> {
    let entries = node.as_map().map(|map| map.entries()).unwrap_or_default();
    let handed_on = entries.iter().filter(|entry| HANDED_ON.contains(&&*entry.key.text));
    handed_on.into_iter().try_for_each(|entry| check_text(&entry.value))
}

fn check_text(node: &Node) -> Result<(), BuildError> {
    let check = |text: &str| match text.chars().find(is_unprintable) {
        None => Ok(()),
        Some(c) => {
            let message = format!("the control character {c:?} is not allowed here");
            Err(BuildError::new(BuildErrorKind::Kustomization, message).at(node.origin))
        }
    };
    match &node.value {
        Value::Scalar(scalar) => check(&scalar.text),
        Value::Seq(items) => items.iter().try_for_each(check_text),
        Value::Map(map) => map.entries().iter().try_for_each(|entry| {
            check(&entry.key.text)?;
            if entry.key.text.contains('\u{85}') {
                let message = "a key with a next-line character (U+0085) is not allowed here";
                let error = BuildError::new(BuildErrorKind::Kustomization, message);
                return Err(error.at(entry.value.origin));
            }
            check_text(&entry.value)
        }),
    }
}

/// A character that JSON writes as it is and YAML does not allow.
fn is_unprintable(c: &char) -> bool {
    matches!(c, '\u{7F}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Whether a field other than kind and version is set to something, and no null in another case takes that back: Go reads keys
/// in the order of their bytes, and fields by names in any case.
fn has_content(node: &Node) -> bool {
    node.as_map().is_some_and(|map| {
        let is_taken_back = |entry: &Entry| {
            let is_later = |other: &&Entry| {
                other.key.text > entry.key.text
                    && other.key.text.eq_ignore_ascii_case(&entry.key.text)
            };
            let is_text = entry.value.as_scalar().is_some();
            !is_text && map.entries().iter().filter(is_later).any(|other| other.value.is_null())
        };
        map.entries().iter().any(|entry| {
            let key = entry.key.text.to_ascii_lowercase();
            let is_type = key == "kind" || key == "apiversion";
            !is_type && is_set(&entry.value) && !is_taken_back(entry)
        })
    })
}

fn is_set(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => !node.is_null() && !scalar.text.is_empty(),
        _ => true,
    }
}
