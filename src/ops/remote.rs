//! Rendering without what cannot be had or built: what of an overlay can still be seen, and what is unknown.

use serde_json::Value as Json;

use crate::kustomize::SourceTree;
use crate::kustomize::remote::{REFERENCE_FIELDS, is_remote, without_credentials};
use crate::plan::layer;
use crate::yaml;

/// The fields that fail a build where what they change is not there.
const DEPENDENT: [&str; 6] =
    ["patches", "patchesStrategicMerge", "patchesJson6902", "replicas", "replacements", "vars"];

/// The fields that the built-in build does not do, or not with whatever they may hold.
const UNBUILDABLE: [&str; 6] = [
    "helmCharts",
    "helmChartInflationGenerator",
    "helmGlobals",
    "generators",
    "transformers",
    "validators",
];

/// What is left out of the kustomization files before they are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Without {
    /// Nothing.
    #[default]
    Nothing,
    /// Remote references.
    Remotes,
    /// Remote references, and in the files that have some every field that needs what they bring.
    RemotesAndDependents,
    /// Remote references, and charts that stand in another place than the repository.
    RemotesAndCharts,
    /// The same, and in the files that have some every field that needs what they bring.
    RemotesChartsAndDependents,
    /// Remote references, and what the built-in build does not do.
    Unbuildable,
    /// The same, and in the files that have some every field that needs what they bring.
    UnbuildableAndDependents,
    /// Everything: nothing is rendered.
    Everything,
}

impl Without {
    /// From the least to the most that may be left out where a remote base cannot be had.
    const LEVELS: [Self; 2] = [Self::Remotes, Self::RemotesAndDependents];

    /// The same where charts may be inflated.
    const CHART_LEVELS: [Self; 3] =
        [Self::Remotes, Self::RemotesAndCharts, Self::RemotesChartsAndDependents];

    /// The same where the edit goes on whatever can be rendered.
    pub(crate) const UNPROVEN_LEVELS: [Self; 3] =
        [Self::Unbuildable, Self::UnbuildableAndDependents, Self::Everything];

    /// What may be left out where a remote base, or a chart where those are inflated, cannot be had.
    pub(crate) fn levels(inflates_charts: bool) -> &'static [Self] {
        if inflates_charts { &Self::CHART_LEVELS } else { &Self::LEVELS }
    }

    /// What is left out of the files of `tree`, each with its file and line; not what depends on it.
    pub(crate) fn left_out(self, tree: &SourceTree) -> Vec<String> {
        let mut all = Vec::new();
        for (_, read) in tree.kustomizations() {
            let Ok(text) = std::str::from_utf8(&read.file.bytes) else { continue };
            for (what, line) in self.left_out_of(text) {
                let what = without_credentials(&what);
                all.push(format!("{what} ({}:{line})", read.file.path));
            }
        }
        all
    }

    /// Whether it leaves out more than remote references and their dependents.
    pub(crate) fn is_of_all(self) -> bool {
        matches!(self, Self::Unbuildable | Self::UnbuildableAndDependents | Self::Everything)
    }

    fn is_with_dependents(self) -> bool {
        matches!(
            self,
            Self::RemotesAndDependents
                | Self::RemotesChartsAndDependents
                | Self::UnbuildableAndDependents
        )
    }

    fn is_with_charts(self) -> bool {
        matches!(self, Self::RemotesAndCharts | Self::RemotesChartsAndDependents)
    }

    /// What is left out of a kustomization file, each with its line.
    fn left_out_of(self, text: &str) -> Vec<(String, u32)> {
        let mut all = references_of(text);
        if self.is_with_charts() {
            all.extend(pulled_charts_of(text));
        }
        if self.is_of_all() {
            all.extend(unbuildable_of(text));
        }
        all
    }

    /// Whether the lines of a kustomization file are not those on disk when it is rendered, for what
    /// is left out of it.
    pub(crate) fn moves_lines(self, text: &str) -> bool {
        !references_of(text).is_empty()
            || (self.is_with_charts() && !pulled_charts_of(text).is_empty())
    }

    /// `edits` and every other kustomization file of the tree, each without what is left out.
    pub(crate) fn apply(
        self,
        tree: &SourceTree,
        edits: &[(String, String)],
    ) -> Vec<(String, String)> {
        let mut texts = edits.to_vec();
        if self == Self::Nothing {
            return texts;
        }
        for (_, read) in tree.kustomizations() {
            let is_edited = edits.iter().any(|(path, _)| **path == *read.file.path);
            if let (false, Ok(text)) = (is_edited, std::str::from_utf8(&read.file.bytes)) {
                texts.push((read.file.path.to_string(), text.to_owned()));
            }
        }
        texts.iter_mut().for_each(|(_, text)| self.strip(text));
        texts
    }

    fn strip(self, text: &mut String) {
        if self.left_out_of(text).is_empty() {
            return;
        }
        let is = |fields: &[&str], key: &str| fields.iter().any(|f| f.eq_ignore_ascii_case(key));
        let local = |item: &Json| !item.as_str().is_some_and(is_remote);
        let change = |key: &str, value: Json| match value {
            Json::Array(items) if is(&REFERENCE_FIELDS, key) => {
                Some(Json::Array(items.into_iter().filter(local).collect()))
            }
            Json::Array(items) if self.is_with_charts() && chart_fields(key).is_some() => {
                Some(Json::Array(items.into_iter().filter(|item| !is_pulled(key, item)).collect()))
            }
            _ if self.is_with_dependents() && is(&DEPENDENT, key) => None,
            _ if self.is_of_all() && is(&UNBUILDABLE, key) => None,
            other => Some(other),
        };
        if let Ok(stripped) = layer::rewrite(text, &change, Vec::new()) {
            *text = stripped;
        }
    }
}

/// The fields of an item of `key` that name a chart and where it is pulled from; `None` where `key`
/// lists no charts.
fn chart_fields(key: &str) -> Option<(&'static str, &'static str)> {
    const LISTS: [(&str, &str, &str); 2] = [
        ("helmCharts", "name", "repo"),
        ("helmChartInflationGenerator", "chartName", "chartRepoUrl"),
    ];
    let found = LISTS.into_iter().find(|(list, ..)| list.eq_ignore_ascii_case(key));
    found.map(|(_, name, repo)| (name, repo))
}

fn is_pulled(key: &str, item: &Json) -> bool {
    let field = chart_fields(key).map(|(_, repo)| repo);
    let is_repo = |name: &str| field.is_some_and(|repo| repo.eq_ignore_ascii_case(name));
    let fields = item.as_object().into_iter().flatten();
    fields.into_iter().any(|(name, value)| {
        is_repo(name) && value.as_str().is_some_and(|address| !address.is_empty())
    })
}

/// The charts of a kustomization file that may be pulled, each with its line.
fn pulled_charts_of(text: &str) -> Vec<(String, u32)> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in tree.pairs(tree.target(*root)) {
        let Some((name, repo)) = tree.node(key).scalar().and_then(chart_fields) else { continue };
        for item in tree.items(tree.target(value)) {
            let of = |field: &str| {
                let mut pairs = tree.pairs(tree.target(*item));
                let is_it = |key: &str| key.eq_ignore_ascii_case(field);
                let value = pairs.find(|(key, _)| tree.node(*key).scalar().is_some_and(is_it))?.1;
                tree.node(tree.target(value)).scalar().filter(|text| !text.is_empty())
            };
            if let Some(repo) = of(repo) {
                let what = format!("the chart {} of {repo}", of(name).unwrap_or_default());
                found.push((what, tree.node(*item).line));
            }
        }
    }
    found
}

/// The fields of a kustomization file that the built-in build may not do, each with its line.
fn unbuildable_of(text: &str) -> Vec<(String, u32)> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let is_one = |key: &str| UNBUILDABLE.iter().any(|field| field.eq_ignore_ascii_case(key));
    let pairs = tree.pairs(tree.target(*root)).filter(|(_, value)| !tree.node(*value).is_absent());
    let named = pairs.filter_map(|(key, _)| {
        let node = tree.node(key);
        Some((node.scalar().filter(|text| is_one(text))?.to_owned(), node.line))
    });
    named.collect()
}

/// The remote references of a kustomization file, each with its line.
fn references_of(text: &str) -> Vec<(String, u32)> {
    let Ok(tree) = yaml::parse(text) else { return Vec::new() };
    let Some(root) = tree.roots().first() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in tree.pairs(tree.target(*root)) {
        let is_list = |key: &str| REFERENCE_FIELDS.iter().any(|f| f.eq_ignore_ascii_case(key));
        if !tree.node(key).scalar().is_some_and(is_list) {
            continue;
        }
        for item in tree.items(tree.target(value)) {
            let node = tree.node(tree.target(*item));
            if let Some(text) = node.scalar().filter(|text| is_remote(text)) {
                found.push((text.to_owned(), tree.node(*item).line));
            }
        }
    }
    found
}
