//! Helm charts, as far as a build knows them: what has to be pulled, what has to be templated, and
//! what came of it. The build itself starts no program: what it misses it asks for
//! ([`BuildErrorKind::Charts`](super::BuildErrorKind::Charts)), and who called it supplies that to the
//! [`ChartStore`] of its tree and builds again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest as _, Sha256};

use super::origin::{FileId, Origin};
use super::source_tree::SourceFile;

/// What kustomize does with charts and this program never does, whatever is asked for: a configuration
/// of helm's in the repository, credentials in the address of a chart repository, and references of a
/// schema that helm would load from files or the network.
pub const NEVER_FOLLOWED: [&str; 3] =
    ["helmGlobals.configHome", "helmCharts.repo", "references of a chart's schema"];

/// The files of a chart: paths seen from its directory, in order, and their bytes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChartFiles(Arc<[(String, Arc<[u8]>)]>);

impl ChartFiles {
    /// The files of a chart, in any order.
    #[must_use]
    pub fn new(mut files: Vec<(String, Arc<[u8]>)>) -> Self {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Self(files.into())
    }

    /// Paths and bytes, in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.0.iter().map(|(path, bytes)| (&**path, bytes))
    }

    /// The bytes of the file at `path`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(path)).ok()?;
        Some(&self.0[at].1)
    }
}

impl fmt::Debug for ChartFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(path, _)| path)).finish()
    }
}

/// A chart that stands in no directory of the repository, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChartSource {
    /// Its name in the chart repository.
    pub name: String,
    /// Its version or a range of versions; empty for the newest.
    pub version: String,
    /// The address of the chart repository: `http://`, `https://` or `oci://`.
    pub repo: String,
    /// Whether a version that is still being developed may be the newest.
    pub devel: bool,
}

impl ChartSource {
    /// Whether it names one version, and so the same chart tomorrow.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        let version = self.version.strip_prefix('v').unwrap_or(&self.version);
        let numbers = version.split(['-', '+']).next().unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        numbers.split('.').count() == 3 && numbers.split('.').all(is_number)
    }
}

/// One call of `helm template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartTemplate {
    /// The name of the chart: the directory that its files are put in.
    pub name: String,
    /// The name of the release; helm makes one up where there is none.
    pub release: Option<String>,
    /// Options, each one argument with its value.
    pub options: Vec<String>,
    /// The chart.
    pub chart: ChartFiles,
    /// The texts of the files of values, the last winning.
    pub values: Vec<Arc<[u8]>>,
}

/// What the build cannot do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChartWork {
    /// A chart has to be pulled.
    Pull(ChartSource),
    /// A chart has to be templated.
    Template(Arc<ChartTemplate>),
}

impl ChartWork {
    /// The name of the chart.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Pull(source) => &source.name,
            Self::Template(template) => &template.name,
        }
    }

    /// What tells it from all other work: two with the same key have the same outcome.
    #[must_use]
    pub fn key(&self) -> ChartKey {
        let mut hash = Sha256::new();
        // Every part is preceded by its length, so that no two lists of parts are one text.
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        match self {
            Self::Pull(ChartSource { name, version, repo, devel }) => {
                add(b"pull");
                [name, version, repo].into_iter().for_each(|text| add(text.as_bytes()));
                add(&[u8::from(*devel)]);
            }
            Self::Template(template) => {
                add(b"template");
                add(template.name.as_bytes());
                add(&[u8::from(template.release.is_some())]);
                add(template.release.as_deref().unwrap_or_default().as_bytes());
                add(&(template.options.len() as u64).to_le_bytes());
                template.options.iter().for_each(|option| add(option.as_bytes()));
                add(&(template.values.len() as u64).to_le_bytes());
                template.values.iter().for_each(|values| add(values));
                for (path, bytes) in template.chart.iter() {
                    add(path.as_bytes());
                    add(bytes);
                }
            }
        }
        ChartKey(hash.finalize().into())
    }
}

/// See [`ChartWork::key`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChartKey([u8; 32]);

impl fmt::Display for ChartKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ChartKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Work that a build needs, and the statement that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartWanted {
    /// What has to be done.
    pub work: ChartWork,
    /// The entry of the kustomization, or the generator's configuration.
    pub origin: Origin,
}

/// What was done for the builds of a run, by its key.
#[derive(Default)]
pub struct ChartStore {
    pulled: RwLock<HashMap<ChartKey, ChartFiles>>,
    templated: RwLock<HashMap<ChartKey, Arc<SourceFile>>>,
}

impl fmt::Debug for ChartStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChartStore").finish_non_exhaustive()
    }
}

impl ChartStore {
    /// Supplies a chart that was pulled.
    pub fn supply_chart(&self, key: ChartKey, files: ChartFiles) {
        self.pulled.write().unwrap_or_else(PoisonError::into_inner).insert(key, files);
    }

    /// Supplies what helm printed.
    pub fn supply_output(&self, key: ChartKey, output: Vec<u8>) {
        let file = SourceFile::new(Arc::from(""), FileId::NONE, output.into());
        let mut templated = self.templated.write().unwrap_or_else(PoisonError::into_inner);
        templated.insert(key, Arc::new(file));
    }

    pub(super) fn chart(&self, key: ChartKey) -> Option<ChartFiles> {
        self.pulled.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    pub(super) fn output(&self, key: ChartKey) -> Option<Arc<SourceFile>> {
        self.templated.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(version: &str) -> ChartSource {
        let (name, repo) = ("web".to_owned(), "https://charts.example".to_owned());
        ChartSource { name, version: version.to_owned(), repo, devel: false }
    }

    #[test]
    fn one_version_is_pinned_and_a_range_is_not() {
        for version in ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.4"] {
            assert!(source(version).is_pinned(), "{version}");
        }
        for version in ["", "1", "1.2", "^1.2.3", "~1.2.3", "1.2.x", ">=1.0.0", "1.2.3 - 2.0.0"] {
            assert!(!source(version).is_pinned(), "{version}");
        }
    }

    #[test]
    fn other_work_has_another_key() {
        let file = |path: &str, text: &str| (path.to_owned(), Arc::from(text.as_bytes()));
        let template = |options: &[&str], files: Vec<(String, Arc<[u8]>)>, values: &[&str]| {
            ChartWork::Template(Arc::new(ChartTemplate {
                name: "web".to_owned(),
                release: None,
                options: options.iter().map(|&option| option.to_owned()).collect(),
                chart: ChartFiles::new(files),
                values: values.iter().map(|text| Arc::from(text.as_bytes())).collect(),
            }))
        };
        let all = [
            template(&["--a"], vec![file("b", "c")], &["v"]),
            template(&["--a"], vec![file("b", "c")], &["v", ""]),
            template(&["--a"], vec![file("b", "d")], &["v"]),
            template(&["--a"], vec![file("bc", "")], &["v"]),
            template(&["--a", "v"], vec![file("b", "c")], &[]),
            ChartWork::Pull(source("1.2.3")),
            ChartWork::Pull(source("1.2.4")),
            ChartWork::Pull(ChartSource { devel: true, ..source("1.2.3") }),
        ];
        for (at, one) in all.iter().enumerate() {
            for (other_at, other) in all.iter().enumerate() {
                assert_eq!(one.key() == other.key(), at == other_at, "{one:?} {other:?}");
            }
        }
        let swapped = vec![file("b", "2"), file("a", "1")];
        let ordered = vec![file("a", "1"), file("b", "2")];
        assert_eq!(template(&[], swapped, &[]).key(), template(&[], ordered, &[]).key());
    }
}
