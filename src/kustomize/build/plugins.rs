//! Builtin generators, transformers and validators that are given as objects, in files or inline:
//! `generators`, `transformers`, `validators`.
//!
//! Source: kustomize `api/internal/plugins/loader`, `api/internal/plugins/builtinhelpers` and the
//! configuration structs of `api/internal/builtins`. Their unknown fields do not matter.

use super::annotations::set_annotations;
use super::config_map::config_map;
use super::context::Context;
use super::emit::as_yaml;
use super::field_spec::{FieldSpec, FieldSpecs};
use super::finish::check_pairs;
use super::hash::add_name_suffixes;
use super::helm;
use super::images::set_images;
use super::labels::set_labels;
use super::namespace::{NamespaceTransformer, RoleBindingSubjects};
use super::patches;
use super::prefix_suffix::{Affix, add_affix};
use super::replacements::replace;
use super::replicas::set_replicas;
use super::secret::secret;
use super::value_add::{ValueAdd, add_values};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Node, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::types::decode::{Decode, Path, object};
use crate::kustomize::types::{
    ConfigMapArgs, FieldSpecField, Image, Located, Metadata, ReplacementField, Replica, SecretArgs,
    Strings,
};
use crate::kustomize::types::{Patch, Selector};

/// The kinds of builtin generators.
const GENERATORS: [&str; 4] =
    ["ConfigMapGenerator", "SecretGenerator", "IAMPolicyGenerator", "HelmChartInflationGenerator"];

/// Runs the generator that `plugin` configures.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`] for what is not builtin, and as the generators.
pub(super) fn generate(
    plugin: &Resource,
    context: &Context<'_>,
) -> Result<Vec<Resource>, BuildError> {
    let node = &builtin(plugin, "generators")?;
    let generated = match plugin.kind() {
        "ConfigMapGenerator" => {
            let mut args: ConfigMapArgs = decode_embedded(node)?;
            let names = decode::<Named>(node)?;
            names.fill(&mut args.name, &mut args.namespace);
            config_map(&args, None, context)?
        }
        "SecretGenerator" => {
            let mut args: SecretArgs = decode_embedded(node)?;
            let names = decode::<Named>(node)?;
            names.fill(&mut args.name, &mut args.namespace);
            secret(&args, None, context)?
        }
        "IAMPolicyGenerator" => service_account(&decode_embedded(node)?, context)?,
        "HelmChartInflationGenerator" => return helm::generate(plugin, context),
        kind => return Err(unknown(kind, "generator", plugin)),
    };
    Ok(vec![generated])
}

/// Runs the transformer that `plugin` configures over `resources`.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`] for what is not builtin, and as the transformers.
pub(super) fn transform(
    resources: &mut ResMap,
    plugin: &Resource,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let node = &builtin(plugin, "transformers")?;
    let run = match plugin.kind() {
        "AnnotationsTransformer" => annotate,
        "HashTransformer" => hash,
        "ImageTagTransformer" => retag,
        "LabelTransformer" => label,
        "NamespaceTransformer" => set_namespace,
        "PatchJson6902Transformer" => patch_json_6902,
        "PatchStrategicMergeTransformer" => patch_strategic_merge,
        "PatchTransformer" => patch,
        "PrefixSuffixTransformer" => add_prefix_and_suffix,
        "PrefixTransformer" => add_prefix,
        "ReplacementTransformer" => replace_values,
        "ReplicaCountTransformer" => scale,
        "SuffixTransformer" => add_suffix,
        "ValueAddTransformer" => add_value,
        kind => return Err(unknown(kind, "transformer", plugin)),
    };
    run(resources, node, context).map_err(|error| error.at(plugin.origin))
}

/// Runs a transformer that must not change anything but the label `validated-by`.
///
/// # Errors
/// As [`transform`], and [`BuildErrorKind::Transformer`] where it changed something.
pub(super) fn validate(
    resources: &mut ResMap,
    plugin: &Resource,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let before: Vec<Node> = resources.resources().iter().map(without_validation).collect();
    let histories = |resources: &ResMap| -> Vec<usize> {
        resources.resources().iter().map(|resource| resource.previous_ids.len()).collect()
    };
    let history = histories(resources);
    transform(resources, plugin, context)?;
    resources.resources().iter().try_for_each(|resource| check_pairs(resource, "labels"))?;
    let mut after: Vec<Node> = resources.resources().iter().map(without_validation).collect();
    if history == histories(resources) && before == after {
        return Ok(());
    }
    // Kustomize takes a value for changed where it was read and is written again.
    after.iter_mut().zip(&before).for_each(|(after, before)| adopt_origins(after, before));
    if history == histories(resources) && before == after {
        let what = "a validator that writes what is there";
        return Err(BuildError::unsupported(what).at(plugin.origin));
    }
    let message = format!("validator {} changed a resource, which it must not", plugin.name());
    Err(BuildError::new(BuildErrorKind::Transformer, message).at(plugin.origin))
}

/// The resource without the label that validators may set, where it is the only one: kustomize writes
/// the others anew, and then takes them for changed.
fn without_validation(resource: &Resource) -> Node {
    let mut node = resource.node.clone();
    let labels = node.lookup(&["metadata", "labels"]).and_then(Node::as_map);
    if labels.is_some_and(|labels| labels.len() == 1 && labels.get("validated-by").is_some()) {
        let metadata = node.get_mut("metadata").and_then(Node::as_map_mut);
        metadata.map(|metadata| metadata.remove("labels"));
    }
    node
}

/// Gives the values of `node` that are those of `known` their origins, and texts the way they were
/// written, which says where their lines are.
fn adopt_origins(node: &mut Node, known: &Node) {
    node.origin = known.origin;
    match (&mut node.value, &known.value) {
        (Value::Scalar(scalar), Value::Scalar(known)) => scalar.style = known.style,
        (Value::Map(map), Value::Map(known)) => {
            for entry in map.entries_mut() {
                if let Some(known) = known.get(&entry.key.text) {
                    adopt_origins(&mut entry.value, known);
                }
            }
        }
        (Value::Seq(items), Value::Seq(known)) => {
            items.iter_mut().zip(known).for_each(|(item, known)| adopt_origins(item, known));
        }
        _ => {}
    }
}

/// The configuration of a builtin plugin, as it is when it was printed for the plugin to read it.
fn builtin(plugin: &Resource, field: &str) -> Result<Node, BuildError> {
    let id = plugin.current_id();
    if &*id.api_version == "builtin" {
        let text = as_yaml(std::slice::from_ref(plugin))?;
        let mut node = read::configuration_text(&text, plugin.origin)?;
        adopt_origins(&mut node, &plugin.node);
        return Ok(node);
    }
    Err(BuildError::unsupported(format!("{field}: {id}")).at(plugin.origin))
}

fn unknown(kind: &str, expected: &str, plugin: &Resource) -> BuildError {
    let message = if GENERATORS.contains(&kind) || kind.ends_with("Transformer") {
        format!("`{kind}` is not a {expected}")
    } else {
        format!("there is no builtin {expected} `{kind}`")
    };
    BuildError::new(BuildErrorKind::Transformer, message).at(plugin.origin)
}

fn decode<T: Decode>(node: &Node) -> Result<T, BuildError> {
    T::decode(node, &Path::LenientRoot)
}

/// As [`decode`], for a plugin that embeds the type.
fn decode_embedded<T: Decode>(node: &Node) -> Result<T, BuildError> {
    T::decode(node, &Path::EmbeddedRoot)
}

fn specs(fields: &[FieldSpecField]) -> FieldSpecs {
    fields.iter().map(FieldSpec::from).collect()
}

object! {
    /// A plugin that has a name and a namespace of its own.
    struct Named {
        metadata: Option<Metadata> = "metadata",
    }
}

impl Named {
    /// The metadata's name and namespace stand in for those that are not given.
    fn fill(self, name: &mut Located, namespace: &mut Located) {
        let metadata = self.metadata.unwrap_or_default();
        if name.is_empty() {
            *name = metadata.name;
        }
        if namespace.is_empty() {
            *namespace = metadata.namespace;
        }
    }
}

object! {
    struct ServiceAccountArgs {
        cloud: Located = "cloud",
        kubernetes_service: KubernetesService = "kubernetesService",
        service_account: CloudAccount = "serviceAccount",
    }
}

object! {
    struct KubernetesService {
        name: Located = "name",
        namespace: Located = "namespace",
    }
}

object! {
    struct CloudAccount {
        name: Located = "name",
        project_id: Located = "projectId",
    }
}

/// A Kubernetes service account that stands for a cloud's (`IAMPolicyGenerator`).
fn service_account(
    args: &ServiceAccountArgs,
    context: &Context<'_>,
) -> Result<Resource, BuildError> {
    if &*args.cloud != "gke" {
        let message = format!("cloud provider `{}` is not supported; use `gke`", args.cloud);
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(args.origin));
    }
    let (account, service) = (&args.service_account, &args.kubernetes_service);
    let mut text = format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  annotations:\n    \
         iam.gke.io/gcp-service-account: {}@{}.iam.gserviceaccount.com\n  name: {}\n",
        account.name, account.project_id, service.name,
    );
    if !service.namespace.is_empty() {
        text.push_str(&format!("  namespace: {}\n", service.namespace));
    }
    let mut node = read::embedded(&text, Origin::NONE)?;
    node.set_origin_deep(args.origin);
    Ok(Resource::new(node, context.scopes.clone()))
}

object! {
    struct AnnotationsConfig {
        annotations: Strings = "annotations",
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
    }
}

fn annotate(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let config: AnnotationsConfig = decode(node)?;
    set_annotations(resources, &config.annotations, &specs(&config.field_specs))
}

fn hash(resources: &mut ResMap, _: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    add_name_suffixes(resources.resources_mut())
}

object! {
    struct ImageTagConfig {
        image_tag: Image = "imageTag",
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
    }
}

fn retag(resources: &mut ResMap, node: &Node, context: &Context<'_>) -> Result<(), BuildError> {
    let config: ImageTagConfig = decode(node)?;
    set_images(resources, &config.image_tag, &specs(&config.field_specs), context)
}

object! {
    struct LabelConfig {
        labels: Strings = "labels",
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
    }
}

fn label(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let config: LabelConfig = decode(node)?;
    set_labels(resources, &config.labels, &specs(&config.field_specs))
}

object! {
    struct NamespaceConfig {
        metadata: Metadata = "metadata",
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
        unset_only: bool = "unsetOnly",
        set_role_binding_subjects: Located = "setRoleBindingSubjects",
    }
}

fn set_namespace(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let config: NamespaceConfig = decode(node)?;
    let mode = &config.set_role_binding_subjects;
    let Some(subjects) = RoleBindingSubjects::parse(mode) else {
        let message = format!(
            "setRoleBindingSubjects: `{mode}` must be defaultOnly, none or allServiceAccounts"
        );
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(mode.origin));
    };
    let specs = specs(&config.field_specs);
    NamespaceTransformer {
        namespace: &config.metadata.namespace,
        specs: &specs,
        unset_only: config.unset_only,
        subjects,
    }
    .transform(resources)
}

object! {
    struct JsonPatchConfig {
        target: Option<Selector> = "target",
        path: Located = "path",
        json_op: Located = "jsonOp",
    }
}

fn patch_json_6902(
    resources: &mut ResMap,
    node: &Node,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let config: JsonPatchConfig = decode(node)?;
    let (target, path, patch) = (config.target, config.path, config.json_op);
    let entry = Patch { path, patch, target, options: None, origin: node.origin };
    patches::apply(&patches::load_json(&entry, context)?, resources, context)
}

object! {
    struct StrategicMergeConfig {
        paths: Vec<Located> = "paths",
        patches: Located = "patches",
    }
}

fn patch_strategic_merge(
    resources: &mut ResMap,
    node: &Node,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let config: StrategicMergeConfig = decode(node)?;
    if config.paths.is_empty() && config.patches.is_empty() {
        let message = "one of paths and patches must be given";
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(node.origin));
    }
    let inline = Some(&config.patches).filter(|patches| !patches.is_empty());
    for entry in config.paths.iter().chain(inline) {
        let patch = patches::load_strategic(entry, context)?;
        patches::apply_named_as_text(&patch, resources, context)?;
    }
    Ok(())
}

fn patch(resources: &mut ResMap, node: &Node, context: &Context<'_>) -> Result<(), BuildError> {
    let entry: Patch = decode(node)?;
    patches::apply(&patches::load(&entry, context)?, resources, context)
}

object! {
    struct AffixConfig {
        prefix: Located = "prefix",
        suffix: Located = "suffix",
        field_specs: Option<Vec<FieldSpecField>> = "fieldSpecs",
    }
}

/// The configuration and its field specs, which must be given.
fn affix_config(node: &Node) -> Result<(AffixConfig, FieldSpecs), BuildError> {
    let mut config: AffixConfig = decode(node)?;
    let Some(fields) = config.field_specs.take() else {
        let message = "fieldSpecs must say which fields are changed, as `- path: metadata/name`";
        return Err(BuildError::new(BuildErrorKind::Transformer, message).at(node.origin));
    };
    let specs = specs(&fields);
    Ok((config, specs))
}

fn add_prefix(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let (config, specs) = affix_config(node)?;
    add_affix(resources, Affix::Prefix, &config.prefix, &specs)
}

fn add_suffix(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let (config, specs) = affix_config(node)?;
    add_affix(resources, Affix::Suffix, &config.suffix, &specs)
}

fn add_prefix_and_suffix(
    resources: &mut ResMap,
    node: &Node,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    add_prefix(resources, node, context)?;
    add_suffix(resources, node, context)
}

object! {
    struct ReplacementConfig {
        replacements: Vec<ReplacementField> = "replacements",
    }
}

fn replace_values(
    resources: &mut ResMap,
    node: &Node,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let config: ReplacementConfig = decode_embedded(node)?;
    replace(resources, &config.replacements, context)
}

object! {
    struct ReplicaCountConfig {
        replica: Replica = "replica",
        field_specs: Vec<FieldSpecField> = "fieldSpecs",
    }
}

fn scale(resources: &mut ResMap, node: &Node, _: &Context<'_>) -> Result<(), BuildError> {
    let config: ReplicaCountConfig = decode(node)?;
    set_replicas(resources, &config.replica, &specs(&config.field_specs))
}

fn add_value(resources: &mut ResMap, node: &Node, context: &Context<'_>) -> Result<(), BuildError> {
    add_values(resources, decode::<ValueAdd>(node)?, context)
}
