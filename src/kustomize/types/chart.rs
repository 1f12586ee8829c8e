//! Helm charts of a kustomization file.
//!
//! Source: kustomize api v0.21.1 `types/helmchartargs.go`.

use super::decode::{Decode, Located, Path, object};
use super::kustomization::{Kustomization, Opaque};
use crate::kustomize::error::BuildError;
use crate::kustomize::node::Node;

object! {
    /// What holds for all charts of a kustomization.
    pub struct HelmGlobals {
        /// The directory with a directory for each chart; `charts` where it is empty.
        chart_home: Located = "chartHome",
        /// A configuration of helm's own.
        config_home: Located = "configHome",
    }
}

object! {
    /// A chart to inflate.
    pub struct HelmChart {
        /// Its name.
        name: Located = "name",
        /// Its version in the chart repository.
        version: Located = "version",
        /// The chart repository.
        repo: Located = "repo",
        /// The name of the release.
        release_name: Located = "releaseName",
        /// The namespace of the release.
        namespace: Located = "namespace",
        /// Files of values beside `values_file`.
        additional_values_files: Vec<Located> = "additionalValuesFiles",
        /// A file of values in place of the chart's own.
        values_file: Located = "valuesFile",
        /// Values.
        values_inline: Opaque = "valuesInline",
        /// How they go together with those of the file: `override`, `merge` or `replace`.
        values_merge: Located = "valuesMerge",
        /// Whether the chart's definitions of custom resources are rendered.
        include_crds: bool = "includeCRDs",
        /// Whether hooks are left out.
        skip_hooks: bool = "skipHooks",
        /// The API versions that templates see.
        api_versions: Vec<Located> = "apiVersions",
        /// The version of Kubernetes that templates see.
        kube_version: Located = "kubeVersion",
        /// A template for the name of the release.
        name_template: Located = "nameTemplate",
        /// Whether tests are left out.
        skip_tests: bool = "skipTests",
        /// Whether helm says more.
        debug: bool = "debug",
        /// Whether a version that is still being developed may be taken.
        devel: bool = "devel",
    }
}

object! {
    /// Deprecated: a chart and what holds for all, in one.
    struct HelmChartArgs {
        chart_name: Located = "chartName",
        chart_version: Located = "chartVersion",
        chart_repo_url: Located = "chartRepoUrl",
        chart_home: Located = "chartHome",
        chart_repo_name: Located = "chartRepoName",
        helm_bin: Located = "helmBin",
        helm_home: Located = "helmHome",
        values: Located = "values",
        values_local: Opaque = "valuesLocal",
        values_merge: Located = "valuesMerge",
        release_name: Located = "releaseName",
        release_namespace: Located = "releaseNamespace",
        extra_args: Vec<Located> = "extraArgs",
    }
}

impl HelmChartArgs {
    /// The fields that count; kustomize reads the others and forgets them.
    fn into_chart(self) -> HelmChart {
        HelmChart {
            name: self.chart_name,
            version: self.chart_version,
            repo: self.chart_repo_url,
            release_name: self.release_name,
            values_file: self.values,
            values_inline: self.values_local,
            values_merge: self.values_merge,
            origin: self.origin,
            ..HelmChart::default()
        }
    }
}

/// The charts of a kustomization file.
#[derive(Clone, Debug, Default)]
pub struct HelmCharts {
    /// What holds for all of them.
    pub globals: HelmGlobals,
    /// Each one, those of the deprecated field last.
    pub charts: Vec<HelmChart>,
}

impl HelmCharts {
    /// The one chart that a `HelmChartInflationGenerator` configures.
    ///
    /// # Errors
    /// A value of the wrong type.
    pub(crate) fn of_plugin(node: &Node) -> Result<Self, BuildError> {
        let globals = HelmGlobals::decode(node, &Path::LenientRoot)?;
        let charts = vec![HelmChart::decode(node, &Path::LenientRoot)?];
        Ok(Self { globals, charts })
    }
}

impl Kustomization {
    /// The charts, read.
    ///
    /// # Errors
    /// An unknown field, or a value of the wrong type.
    pub fn helm(&self) -> Result<HelmCharts, BuildError> {
        let mut charts: Vec<HelmChart> = decode(&self.helm_charts, "helmCharts")?;
        let old: Vec<HelmChartArgs> =
            decode(&self.helm_chart_inflation_generator, "helmChartInflationGenerator")?;
        let mut globals = HelmGlobals::default();
        for args in &old {
            let fields = [
                (&mut globals.chart_home, &args.chart_home),
                (&mut globals.config_home, &args.helm_home),
            ];
            for (field, given) in fields.into_iter().filter(|(_, given)| !given.is_empty()) {
                field.clone_from(given);
            }
        }
        if self.helm_globals.value.is_some() {
            globals = decode(&self.helm_globals, "helmGlobals")?;
        }
        charts.extend(old.into_iter().map(HelmChartArgs::into_chart));
        Ok(HelmCharts { globals, charts })
    }
}

fn decode<T: Decode>(field: &Opaque, name: &str) -> Result<T, BuildError> {
    match &field.value {
        Some(node) => T::decode_nullable(node, &Path::Field(&Path::Root, name)),
        None => Ok(T::default()),
    }
}
