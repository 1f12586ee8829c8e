//! The charts that kustomizations name and that stand in the repository. They are loaded even where the
//! builds of the tree must not inflate charts: what they render is not known there, but that they differ is.
//!
//! Source: kustomize api v0.21.1 `internal/builtins/HelmChartInflationGenerator.go`.

use std::sync::Arc;

use super::crawl::Crawler;
use super::{Found, SourceTree, is_within, join};
use crate::kustomize::chart::{ChartFiles, ChartStore};
use crate::kustomize::files::FilesError;
use crate::kustomize::node::Node;
use crate::kustomize::types::{HelmChart, HelmCharts, HelmGlobals, Kustomization};

/// The directory of charts where none is named.
const DEFAULT_HOME: &str = "charts";
/// The most files and directories that a chart may have.
const MAX_ENTRIES: usize = 10_000;
/// How deep they may lie: no more than a loop of links can make of it.
const MAX_DEPTH: usize = 32;
/// The most bytes that the files of a chart may have, each counted as often as a link names it.
const MAX_BYTES: usize = 64 << 20;

/// The kind of a generator that is configured for one chart.
pub(crate) const PLUGIN_KIND: &str = "HelmChartInflationGenerator";

/// What stands in the directory of a chart: paths seen from it, or why they cannot be told.
pub(super) type ChartListing = Result<Arc<[String]>, FilesError>;

/// Where `chart` stands, seen from the directory of its kustomization.
pub(crate) fn chart_path(globals: &HelmGlobals, chart: &HelmChart) -> String {
    let home = match &*globals.chart_home {
        "" => DEFAULT_HOME,
        home => home,
    };
    // The name kustomize gives a chart that it pulls, so that two versions can stand beside each other.
    let pulled = match chart.version.is_empty() || chart.repo.is_empty() {
        true => String::new(),
        false => format!("{}-{}/", chart.name, chart.version),
    };
    format!("{home}/{pulled}{}", chart.name)
}

/// Whether `name` can be that of a chart: one part of a path, and no option.
pub(crate) fn is_chart_name(name: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && c != '/' && c != '\\';
    !matches!(name, "" | "." | "..") && !name.starts_with('-') && name.chars().all(is_plain)
}

impl SourceTree {
    /// What charts came to, where the tree's builds may inflate charts.
    #[must_use]
    pub fn charts(&self) -> Option<&Arc<ChartStore>> {
        self.charts.as_ref()
    }

    /// Whether what the tree builds to depends on helm.
    #[must_use]
    pub fn inflates_charts(&self) -> bool {
        self.charts.is_some() && self.names_charts()
    }

    /// Whether a kustomization of the tree may name charts, inflated or not.
    #[must_use]
    pub fn names_charts(&self) -> bool {
        self.kustomizations.keys().any(|directory| self.has_charts(directory))
    }

    /// Whether a chart that the tree names stands in the repository.
    #[must_use]
    pub fn holds_charts(&self) -> bool {
        !self.chart_listings.is_empty()
    }

    /// Whether the kustomization of a directory names charts itself.
    pub(crate) fn has_charts(&self, directory: &str) -> bool {
        self.kustomization(directory).is_some_and(|read| {
            let fields = &read.kustomization;
            // A generator may be configured in a file or a directory: all of them are taken for one.
            fields.helm_charts.is_some()
                || fields.helm_chart_inflation_generator.is_some()
                || !fields.generators.is_empty()
        })
    }

    /// Whether the file at `path`, a real path, is a chart's.
    #[must_use]
    pub fn is_of_chart(&self, path: &str) -> bool {
        self.chart_listings.keys().any(|asked| match self.find(asked) {
            Found::Directory(real) => is_within(path, real),
            _ => false,
        })
    }

    /// The files of the chart in `directory`, as asked for; `None` where there is no such directory.
    ///
    /// # Errors
    /// In words, for a chart of which something must not or cannot be read.
    pub(crate) fn chart_files(&self, directory: &str) -> Option<Result<ChartFiles, String>> {
        let listing = self.chart_listings.get(directory)?;
        Some(listing.clone().map_err(|error| error.to_string()).and_then(|paths| {
            let mut files = Vec::with_capacity(paths.len());
            let mut bytes = 0;
            for path in paths.iter() {
                let asked = format!("{directory}/{path}");
                let file = match self.find(&asked) {
                    Found::File(real) => self.files.get(real),
                    Found::Refused(error) => return Err(error.to_string()),
                    Found::Directory(_) | Found::Missing => None,
                };
                let Some(file) = file else { continue };
                bytes += file.bytes.len();
                if bytes > MAX_BYTES {
                    return Err(format!("{directory}: larger than {} MiB", MAX_BYTES >> 20));
                }
                files.push((path.clone(), Arc::clone(&file.bytes)));
            }
            Ok(ChartFiles::new(files))
        }))
    }
}

impl Crawler<'_> {
    /// Loads the charts of the kustomization in `root`.
    pub(super) fn charts_of(&mut self, root: &str, fields: &Kustomization) {
        // What cannot be read is an error of the build.
        self.charts(root, &fields.helm().unwrap_or_default());
    }

    /// Loads the chart of a generator that `document` configures, seen from `root`.
    pub(super) fn chart_of_plugin(&mut self, root: &str, document: &Node) {
        let is_one = document.get("kind").and_then(Node::as_str) == Some(PLUGIN_KIND);
        if is_one {
            self.charts(root, &HelmCharts::of_plugin(document).unwrap_or_default());
        }
    }

    fn charts(&mut self, root: &str, charts: &HelmCharts) {
        for chart in charts.charts.iter().filter(|chart| is_chart_name(&chart.name)) {
            if let Some(directory) = join(root, &chart_path(&charts.globals, chart)) {
                self.chart(&directory);
            }
            let own = Some(&chart.values_file).filter(|file| !file.is_empty());
            self.follow_all(root, own.into_iter().chain(&chart.additional_values_files));
        }
    }

    fn chart(&mut self, directory: &str) {
        if self.tree.chart_listings.contains_key(directory) {
            return;
        }
        let listing = match self.find(directory) {
            Found::Directory(_) => self.list_chart(directory),
            Found::Refused(error) => Err(error),
            Found::File(_) | Found::Missing => return,
        };
        self.tree.chart_listings.insert(directory.to_owned(), listing);
    }

    /// Every file below `directory`, links followed as helm does, loaded.
    fn list_chart(&mut self, directory: &str) -> ChartListing {
        let too_much =
            |reason: String| FilesError::Unreadable { path: directory.to_owned(), reason };
        let mut files = Vec::new();
        let mut entries = 0;
        let mut ahead = vec![(String::new(), 0)];
        while let Some((below, depth)) = ahead.pop() {
            if depth > MAX_DEPTH {
                let reason =
                    format!("a chart with more than {MAX_DEPTH} directories in each other");
                return Err(too_much(reason));
            }
            let here = format!("{directory}/{below}");
            for name in self.files.list(here.trim_end_matches('/'))? {
                entries += 1;
                if entries > MAX_ENTRIES {
                    return Err(too_much(format!("a chart of more than {MAX_ENTRIES} files")));
                }
                let path = format!("{below}{name}");
                match self.find(&format!("{directory}/{path}")) {
                    Found::Directory(_) => ahead.push((format!("{path}/"), depth + 1)),
                    Found::File(_) => files.push(path),
                    Found::Refused(error) => return Err(error),
                    Found::Missing => {}
                }
            }
        }
        files.sort_unstable();
        Ok(files.into())
    }
}
