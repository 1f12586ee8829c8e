//! The order of everything in a build.
//!
//! Source: kustomize api `internal/target/kusttarget.go`, `internal/accumulator/resaccumulator.go`,
//! `krusty/kustomizer.go`.

use std::sync::Arc;

use super::build_metadata::{Provenance, Step, set_managed_by};
use super::cache::BuiltDirectory;
use super::configurations::{load_configurations, load_crds};
use super::context::{Context, Loader};
use super::diagnostics::Diagnostics;
use super::generators;
use super::hash::add_name_suffixes;
use super::helm;
use super::limits::Limits;
use super::name_reference::fix_references;
use super::plugins;
use super::transformer_config::TransformerConfig;
use super::transformers;
use super::vars::VarSet;
use super::{finish, openapi, order};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::Text;
use crate::kustomize::remote;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::source_tree::{KustomizationFile, SourceTree, display_directory};
use crate::kustomize::types::{Kind, Located};

/// What a kustomization has gathered: resources, and the rules that hold for them further up.
#[derive(Clone, Default)]
pub(super) struct Accumulator {
    resources: ResMap,
    config: TransformerConfig,
    vars: VarSet,
}

impl Accumulator {
    fn merge(&mut self, other: Self) -> Result<(), BuildError> {
        self.resources.append_all(other.resources)?;
        self.merge_config(&other.config)?;
        self.vars.merge(other.vars)
    }

    fn merge_config(&mut self, config: &TransformerConfig) -> Result<(), BuildError> {
        self.config
            .merge(config)
            .map_err(|conflict| BuildError::new(BuildErrorKind::Transformer, conflict.to_string()))
    }
}

/// One kustomization being built.
struct Target<'a> {
    context: Context<'a>,
    file: Arc<KustomizationFile>,
}

/// Builds the overlay at `overlay` and does what is done at the root only.
pub(super) fn build_root(
    tree: &SourceTree,
    overlay: &str,
    diagnostics: &Diagnostics,
) -> Result<Vec<Resource>, BuildError> {
    let loader = Loader::new(tree, overlay)?;
    let schemas = openapi::schemas_of(&loader)?;
    let limits = Limits::default();
    let mut context = Context::new(loader, schemas, &limits, diagnostics);
    let root = context.loader.kustomization()?;
    let wants_history = !root.kustomization.build_metadata.is_empty();
    let wants =
        |option: &str| root.kustomization.build_metadata.iter().any(|given| &**given == option);
    let kept = [wants("originAnnotations"), wants("transformerAnnotations")];
    let is_printed = kept.contains(&true);
    context.provenance = wants_history.then(|| Provenance::of_root(is_printed));
    let target = Target::load(context)?;
    let mut accumulated = target.accumulate(Accumulator::default())?;
    let resources = accumulated.resources.resources_mut();
    add_name_suffixes(resources)?;
    resources.iter().try_for_each(Resource::check_history)?;
    fix_references(resources, &accumulated.config.name_reference)?;
    let specs = &accumulated.config.var_reference;
    accumulated.vars.resolve(resources, specs, &target.context)?;
    finish::drop_local(&mut accumulated.resources)?;
    let resources = accumulated.resources.resources_mut();
    order::sort(resources, target.file.kustomization.sort_options.as_ref())?;
    let options = &target.file.kustomization.build_metadata;
    finish::clean_annotations(resources, |key| {
        finish::HISTORY.iter().zip(kept).all(|(known, kept)| kept || *known != key)
    })?;
    if wants("managedByLabel") {
        set_managed_by(&mut accumulated.resources, options[0].origin)?;
    }
    Ok(accumulated.resources.into_resources())
}

impl<'a> Target<'a> {
    fn load(mut context: Context<'a>) -> Result<Self, BuildError> {
        let file = context.loader.kustomization()?;
        if let Some(provenance) = &mut context.provenance {
            provenance.file = file.name;
        }
        for warning in &file.deprecated {
            context.warn_of(warning.kind, warning.message.clone(), warning.origin);
        }
        Ok(Self { context, file })
    }

    /// Everything of one kustomization, on top of what `gathered` holds (a component's parent's
    /// resources).
    fn accumulate(&self, mut gathered: Accumulator) -> Result<Accumulator, BuildError> {
        let fields = &self.file.kustomization;
        self.accumulate_resources(&mut gathered, &fields.resources)?;
        gathered.merge_config(&load_configurations(&fields.configurations, &self.context)?)?;
        gathered.merge_config(&load_crds(&fields.crds, &self.context)?)?;
        self.run_generators(&mut gathered.resources)?;
        self.accumulate_components(&mut gathered, &fields.components)?;
        let (resources, config) = (&mut gathered.resources, &gathered.config);
        transformers::run_builtin(resources, fields, config, &self.context)?;
        for plugin in self.plugins(&fields.transformers)? {
            plugins::transform(resources, &plugin, &self.context)?;
            if let Some(step) = Step::of_plugin(&plugin) {
                step.record(resources);
            }
            drop_empty(resources);
        }
        for plugin in self.plugins(&fields.validators)? {
            plugins::validate(resources, &plugin, &self.context)?;
        }
        gathered.vars.add(&fields.vars, &mut gathered.resources)?;
        Ok(gathered)
    }

    fn run_generators(&self, resources: &mut ResMap) -> Result<(), BuildError> {
        let fields = &self.file.kustomization;
        helm::refuse_unless_allowed(fields, &self.context)?;
        generators::run_builtin(resources, fields, &self.context)?;
        helm::run(resources, fields, &self.context)?;
        for plugin in self.plugins(&fields.generators)? {
            let generated = plugins::generate(&plugin, &self.context)?;
            generators::absorb(resources, generated, Step::of_plugin(&plugin).as_ref())?;
        }
        Ok(())
    }

    /// The plugins that a field names: those given inline first, then those of files and
    /// directories.
    fn plugins(&self, entries: &[Located]) -> Result<Vec<Resource>, BuildError> {
        let mut gathered = Accumulator::default();
        let mut paths = Vec::new();
        for entry in entries {
            match self.context.inline_resources(entry) {
                Ok(inline) => inline.into_iter().try_for_each(|mut plugin| {
                    if let Some(provenance) = &self.context.provenance {
                        provenance.mark_inline(&mut plugin);
                    }
                    gathered.resources.append(plugin)
                })?,
                Err(_) => paths.push(entry.clone()),
            }
        }
        self.accumulate_resources(&mut gathered, &paths)?;
        Ok(gathered.resources.into_resources())
    }

    fn accumulate_resources(
        &self,
        gathered: &mut Accumulator,
        paths: &[Located],
    ) -> Result<(), BuildError> {
        paths.iter().try_for_each(|path| self.accumulate_resource(gathered, path))
    }

    /// The annotations of what comes from another repository name its URL and commit, which only
    /// kustomize knows how to write.
    fn refuse_remote_history(&self, path: &Located) -> Result<(), BuildError> {
        let is_printed = self.context.provenance.as_ref().is_some_and(|here| here.is_printed);
        let is_remote = || {
            let is_supplied = self.context.loader.tree().remote(path).is_some();
            is_supplied || remote::is_git_url(path) || remote::is_http_url(path)
        };
        if is_printed && is_remote() {
            let what = "buildMetadata of resources from another repository";
            return Err(BuildError::unsupported(what).at(path.origin));
        }
        Ok(())
    }

    /// A file of resources, or a directory that is built.
    fn accumulate_resource(
        &self,
        gathered: &mut Accumulator,
        path: &Located,
    ) -> Result<(), BuildError> {
        self.refuse_remote_history(path)?;
        if self.context.loader.find_file(path, path.origin)?.is_none() {
            let loader = self.context.loader.enter(path)?;
            return gathered.merge(self.accumulate_directory(loader, path)?);
        }
        let doing = || format!("accumulating resources from '{path}'");
        let resources = self.context.load_resources(path).map_err(|e| e.within(doing()))?;
        let mark = |resource: &mut Resource| match &self.context.provenance {
            Some(provenance) => provenance.mark_file(resource, path),
            None => Ok(()),
        };
        resources
            .into_iter()
            .try_for_each(|mut resource| {
                mark(&mut resource)?;
                gathered.resources.append(resource)
            })
            .map_err(|error| error.within(doing()))
    }

    /// A directory of its own: what it builds to is the same for every overlay that names it.
    fn accumulate_directory(
        &self,
        loader: Loader<'a>,
        path: &Located,
    ) -> Result<Accumulator, BuildError> {
        let is_same_everywhere = self.context.is_plain() && !self.passes_namespace_to(&loader);
        let Some(shared) = loader.tree().shared().filter(|_| is_same_everywhere) else {
            return self.build_directory(loader, Kind::Kustomization, None, path);
        };
        let (tree, root) = (loader.tree(), loader.root().to_owned());
        let built = shared.builds().find(&root);
        if let Some(built) = built.filter(|built| loader.may_take(&built.directories)) {
            self.context.repeat(&built.said);
            return Ok(built.accumulated.clone());
        }
        let diagnostics = Diagnostics::default();
        let apart =
            Target { context: self.context.saying_to(&diagnostics), file: Arc::clone(&self.file) };
        let accumulated = apart.build_directory(loader, Kind::Kustomization, None, path);
        let said = diagnostics.into_said();
        self.context.repeat(&said);
        let accumulated = accumulated?;
        if tree.is_unedited() && shared.builds().is_wanted(&root) {
            let directories = tree.directories_reached(&root);
            let built = BuiltDirectory { accumulated: accumulated.clone(), said, directories };
            shared.builds().keep(&root, built);
        }
        Ok(accumulated)
    }

    /// Whether the directory builds charts, which get their namespace from further up.
    fn passes_namespace_to(&self, loader: &Loader<'a>) -> bool {
        let tree = loader.tree();
        let directories = || tree.directories_reached(loader.root());
        tree.charts().is_some() && directories().iter().any(|directory| tree.has_charts(directory))
    }

    fn accumulate_components(
        &self,
        gathered: &mut Accumulator,
        paths: &[Located],
    ) -> Result<(), BuildError> {
        for path in paths {
            self.refuse_remote_history(path)?;
            let loader = self.context.loader.enter(path)?;
            let below = std::mem::take(gathered);
            *gathered = self.build_directory(loader, Kind::Component, Some(below), path)?;
            gathered.resources.check_identities()?;
        }
        Ok(())
    }

    fn build_directory(
        &self,
        loader: Loader<'a>,
        expected: Kind,
        gathered: Option<Accumulator>,
        path: &Located,
    ) -> Result<Accumulator, BuildError> {
        self.context.limits.enter(path.origin)?;
        let directory = display_directory(loader.root()).to_owned();
        let mut context = self.context.with_loader(loader);
        context.provenance = self.context.provenance.as_ref().map(|here| here.enter(path));
        let namespace = &self.file.kustomization.namespace;
        if !namespace.is_empty() {
            context.chart_namespace = Text::clone(&namespace.text);
        }
        let target = Self::load(context).map_err(|error| error.at(path.origin))?;
        let root = target.context.loader.root();
        target.context.schemas.enter(root).map_err(|error| error.at(path.origin))?;
        if target.file.kustomization.file_kind() != expected {
            let message = match expected {
                Kind::Component => format!("'{path}' is a kustomization, not a component"),
                Kind::Kustomization => {
                    format!("'{path}' is a component; list it under `components`")
                }
            };
            return Err(BuildError::new(BuildErrorKind::Kustomization, message).at(path.origin));
        }
        let accumulated = target
            .accumulate(gathered.unwrap_or_default())
            .map_err(|error| error.within(format!("building '{directory}'")))?;
        self.context.limits.pass(accumulated.resources.len(), path.origin)?;
        Ok(accumulated)
    }
}

fn drop_empty(resources: &mut ResMap) {
    resources.resources_mut().retain(|resource| !resource.node.is_nil_or_empty());
}
