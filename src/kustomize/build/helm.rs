//! Helm charts: `helmCharts`, `helmChartInflationGenerator`, and generators of that kind.
//!
//! What helm would be called with is worked out here; the call itself is made by who runs the build
//! ([`BuildErrorKind::Charts`]), and what came of it stands in the tree's
//! [`ChartStore`](crate::kustomize::ChartStore).
//!
//! Source: kustomize api v0.21.1 `internal/builtins/HelmChartInflationGenerator.go`,
//! `types/helmchartargs.go`.

mod aliases;
mod schemas;
mod values;

use std::sync::Arc;

use super::context::{Context, outside};
use super::generators;
use crate::kustomize::chart::{
    ChartFiles, ChartSource, ChartStore, ChartTemplate, ChartWanted, ChartWork, NEVER_FOLLOWED,
};
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::Text;
use crate::kustomize::read;
use crate::kustomize::resmap::ResMap;
use crate::kustomize::resource::Resource;
use crate::kustomize::source_tree::charts::{chart_path, is_chart_name};
use crate::kustomize::source_tree::join;
use crate::kustomize::types::{HelmChart, HelmCharts, HelmGlobals, Kustomization, Located};

/// Marks what helm made, until the build ends.
const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// The schemes of addresses that a chart may be pulled from.
const SCHEMES: [&str; 3] = ["https://", "http://", "oci://"];

/// Inflates the charts of a kustomization and puts what they render among `resources`.
///
/// # Errors
/// [`BuildErrorKind::Charts`] where helm has to be called first, [`BuildErrorKind::Unsupported`] where
/// a field is never followed; and for what kustomize refuses.
pub(super) fn run(
    resources: &mut ResMap,
    fields: &Kustomization,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    let Some(store) = context.loader.tree().charts() else { return Ok(()) };
    let mut helm = fields.helm()?;
    let namespace = match &*fields.namespace {
        "" => Text::clone(&context.chart_namespace),
        _ => Text::clone(&fields.namespace.text),
    };
    for chart in helm.charts.iter_mut().filter(|chart| chart.namespace.is_empty()) {
        chart.namespace = Located { text: Text::clone(&namespace), ..Located::default() };
    }
    let step = context.provenance.as_ref().map(|here| here.builtin("HelmChartInflationGenerator"));
    for chart in inflate(&helm, store, context)? {
        generators::absorb(resources, chart, step.as_ref())?;
    }
    Ok(())
}

/// What the chart that a generator configures renders.
///
/// # Errors
/// As [`run`].
pub(super) fn generate(
    plugin: &Resource,
    context: &Context<'_>,
) -> Result<Vec<Resource>, BuildError> {
    let Some(store) = context.loader.tree().charts() else {
        return Err(BuildError::unsupported("HelmChartInflationGenerator").at(plugin.origin));
    };
    let helm = HelmCharts::of_plugin(&plugin.node)?;
    Ok(inflate(&helm, store, context)?.into_iter().flatten().collect())
}

/// Refuses a kustomization with charts where the tree's builds must not inflate any.
///
/// # Errors
/// [`BuildErrorKind::Unsupported`].
pub(super) fn refuse_unless_allowed(
    fields: &Kustomization,
    context: &Context<'_>,
) -> Result<(), BuildError> {
    if context.loader.tree().charts().is_some() {
        return Ok(());
    }
    let charts = [
        ("helmCharts", &fields.helm_charts),
        ("helmChartInflationGenerator", &fields.helm_chart_inflation_generator),
    ];
    let used = charts.into_iter().find_map(|(name, field)| {
        field.value.as_ref().filter(|_| field.is_some()).map(|node| (name, node.origin))
    });
    used.map_or(Ok(()), |(name, origin)| Err(BuildError::unsupported(name).at(origin)))
}

/// What each chart renders, in order; where helm has not yet been called for all of them, what has to
/// be done for those.
fn inflate(
    helm: &HelmCharts,
    store: &ChartStore,
    context: &Context<'_>,
) -> Result<Vec<Vec<Resource>>, BuildError> {
    let mut wanted = Vec::new();
    let mut rendered = Vec::with_capacity(helm.charts.len());
    for chart in &helm.charts {
        let inflation = Inflation { globals: &helm.globals, chart, store, context };
        match inflation.render().map_err(|error| error.at(chart.origin))? {
            Ok(resources) => rendered.push(resources),
            Err(work) => wanted.push(ChartWanted { work, origin: chart.origin }),
        }
    }
    match wanted.first() {
        None => Ok(rendered),
        Some(first) => {
            let message = format!("helm has to inflate the chart {}", first.work.name());
            let origin = first.origin;
            Err(BuildError::new(BuildErrorKind::Charts(wanted), message).at(origin))
        }
    }
}

/// The error for one of [`NEVER_FOLLOWED`].
fn never(field: &str, reason: &str) -> BuildError {
    let message = format!("{field} {reason}");
    BuildError::new(BuildErrorKind::Unsupported { field: field.to_owned() }, message)
}

/// One chart, and what its inflation may see.
struct Inflation<'a> {
    globals: &'a HelmGlobals,
    chart: &'a HelmChart,
    store: &'a ChartStore,
    context: &'a Context<'a>,
}

/// What was asked for, or what has to be done before it can be had.
type Outcome<T> = Result<Result<T, ChartWork>, BuildError>;

impl Inflation<'_> {
    fn render(&self) -> Outcome<Vec<Resource>> {
        self.check()?;
        let (files, is_local) = match self.files()? {
            Ok(found) => found,
            Err(work) => return Ok(Err(work)),
        };
        if let Some((file, what)) = schemas::find_outside(&files) {
            let field = NEVER_FOLLOWED[2];
            let reason = format!(
                "that lead out of it are never followed: {file} of the chart {} {what}",
                self.chart.name
            );
            return Err(never(field, &reason));
        }
        let pulled = (!is_local).then_some(&files);
        let values = values::of(self.chart, &self.path(), pulled, self.context)?;
        let template = ChartTemplate {
            name: self.chart.name.to_string(),
            release: Some(self.chart.release_name.to_string()).filter(|name| !name.is_empty()),
            options: self.options(),
            chart: files,
            values,
        };
        let work = ChartWork::Template(Arc::new(template));
        match self.store.output(work.key()) {
            Some(output) => Ok(Ok(self.resources(&output)?)),
            None => Ok(Err(work)),
        }
    }

    /// Where the chart stands, seen from the directory of the kustomization.
    fn path(&self) -> String {
        chart_path(self.globals, self.chart)
    }

    /// Refuses what could be an option, a way out of a directory, or code of the repository's.
    fn check(&self) -> Result<(), BuildError> {
        let HelmChart { name, version, release_name, .. } = self.chart;
        let refuse = |message: String, at: &Located| {
            let error = BuildError::new(BuildErrorKind::Kustomization, message);
            Err(error.at(at.origin).at(self.chart.origin))
        };
        if !is_chart_name(name) {
            return refuse(format!("`{name}` is no name of a chart"), name);
        }
        if !version.is_empty() && !is_chart_name(version) {
            return refuse(format!("`{version}` is no version of a chart"), version);
        }
        if release_name.starts_with('-') {
            return refuse(format!("`{release_name}` is no name of a release"), release_name);
        }
        let home = &self.globals.config_home;
        if !home.is_empty() {
            let reason = "is never followed: plugins of helm that lie there would run";
            return Err(never(NEVER_FOLLOWED[0], reason).at(home.origin));
        }
        let merge = &self.chart.values_merge;
        if !matches!(&**merge, "" | "merge" | "override" | "replace") {
            let message = format!("valuesMerge: `{merge}` must be merge, override or replace");
            return refuse(message, merge);
        }
        Ok(())
    }

    /// The chart's files, and whether they stand in the repository.
    fn files(&self) -> Outcome<(ChartFiles, bool)> {
        let (loader, chart) = (&self.context.loader, self.chart);
        let path = self.path();
        let directory = join(loader.root(), &path).ok_or_else(|| outside(&path, chart.origin))?;
        if let Some(found) = loader.tree().chart_files(&directory) {
            let files = found.map_err(|reason| {
                BuildError::new(BuildErrorKind::Restricted, reason).at(chart.origin)
            })?;
            return Ok(Ok((files, true)));
        }
        if chart.repo.is_empty() {
            let message = format!(
                "the chart {} is not there: '{path}' is no directory, and no `repo` is given to pull it from",
                chart.name
            );
            return Err(BuildError::new(BuildErrorKind::Missing, message).at(chart.origin));
        }
        let work = ChartWork::Pull(self.source()?);
        match self.store.chart(work.key()) {
            Some(files) => Ok(Ok((files, false))),
            None => Ok(Err(work)),
        }
    }

    fn source(&self) -> Result<ChartSource, BuildError> {
        let HelmChart { name, version, repo, devel, .. } = self.chart;
        let authority = SCHEMES.iter().find_map(|scheme| repo.strip_prefix(scheme));
        let Some(authority) = authority.filter(|_| !repo.contains(char::is_control)) else {
            let message =
                "repo: charts are pulled from addresses with https://, http:// and oci:// only";
            return Err(BuildError::new(BuildErrorKind::Restricted, message).at(repo.origin));
        };
        if authority.split('/').next().is_some_and(|host| host.contains('@')) {
            let reason = "with credentials in it is never used: they would stand in helm's argument list, which every user of the machine can read";
            return Err(never(NEVER_FOLLOWED[1], reason).at(repo.origin));
        }
        if authority.contains(['?', '#']) {
            let reason = "with a query in it is never used: what is secret in it would stand in helm's argument list, which every user of the machine can read";
            return Err(never(NEVER_FOLLOWED[1], reason).at(repo.origin));
        }
        Ok(ChartSource {
            name: name.to_string(),
            version: version.to_string(),
            repo: repo.to_string(),
            devel: *devel,
        })
    }

    /// The options of `helm template`, in kustomize's order.
    fn options(&self) -> Vec<String> {
        let chart = self.chart;
        let mut options = Vec::new();
        let mut add = |option: &str, value: &str| {
            if !value.is_empty() {
                options.push(format!("--{option}={value}"));
            }
        };
        add("namespace", &chart.namespace);
        add("name-template", &chart.name_template);
        chart.api_versions.iter().for_each(|version| add("api-versions", version));
        add("kube-version", &chart.kube_version);
        let flags = [
            (chart.release_name.is_empty(), "--generate-name"),
            (chart.include_crds, "--include-crds"),
            (chart.skip_tests, "--skip-tests"),
            (chart.skip_hooks, "--no-hooks"),
            (chart.debug, "--debug"),
            (chart.devel, "--devel"),
        ];
        options.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, o)| (*o).to_owned()));
        options
    }

    /// The objects that helm printed, all decided by the entry that names the chart.
    fn resources(
        &self,
        output: &crate::kustomize::source_tree::SourceFile,
    ) -> Result<Vec<Resource>, BuildError> {
        let origin = self.chart.origin;
        let doing = || format!("reading what helm printed for the chart {}", self.chart.name);
        let nodes =
            read::resources(output).map_err(|error| error.moved_to(origin).within(doing()))?;
        let make = |mut node: crate::kustomize::node::Node| {
            node.set_origin_deep(origin);
            node
        };
        let mut resources = self.context.make_resources(nodes.into_iter().map(make).collect())?;
        for resource in &mut resources {
            let mut annotations = resource.annotations();
            annotations.retain(|(key, _)| &**key != HELM_GENERATED);
            annotations.push((Text::from(HELM_GENERATED), Text::from("true")));
            resource.set_annotations(annotations, origin);
        }
        Ok(resources)
    }
}
