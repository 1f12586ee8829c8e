//! Helm charts of an overlay: what a build asks for is done by helm once a run, and the build goes on.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Context;
use crate::error::{Error, Location, codes};
use crate::helm::{Helm, HelmError, Settings};
use crate::kustomize::remote::without_credentials;
use crate::kustomize::{
    self, BuildError, BuildErrorKind, ChartKey, ChartSource, ChartStore, ChartWanted, ChartWork,
    Rendered, SourceTree,
};
use crate::plan::Note;

/// How often a build may come back for more: each time it gets a kustomization further.
const MOST_ROUNDS: usize = 10_000;

/// What came of one piece of work; one thread does it, and others wait for it.
type Done = Arc<OnceLock<Result<(), Error>>>;

/// What a run knows of charts.
#[derive(Default)]
pub(crate) struct Charts {
    store: Arc<ChartStore>,
    helm: OnceLock<Result<Helm, Error>>,
    done: Mutex<HashMap<ChartKey, Done>>,
    notes: Mutex<Vec<Note>>,
}

impl fmt::Debug for Charts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charts").finish_non_exhaustive()
    }
}

impl Context {
    /// What charts came to in this run; `None` where `--enable-helm` was not given.
    pub(crate) fn chart_store(&self) -> Option<Arc<ChartStore>> {
        self.enable_helm.then(|| Arc::clone(&self.charts.store))
    }

    /// The built-in build, helm called for what it asks for.
    ///
    /// # Errors
    /// Where helm cannot do what is asked for; the build's own error is the inner one.
    pub(super) fn build(
        &self,
        tree: &SourceTree,
        overlay: &str,
    ) -> Result<Result<Rendered, BuildError>, Error> {
        for _ in 0..MOST_ROUNDS {
            match kustomize::build(tree, overlay) {
                Err(BuildError { kind: BuildErrorKind::Charts(wanted), .. }) => {
                    wanted.iter().try_for_each(|wanted| self.inflate(tree, wanted))?;
                }
                outcome => return Ok(outcome),
            }
        }
        Err(Error::new(codes::INTERNAL, "a build that asks for charts without end"))
    }

    /// What is to be said of the charts in use.
    pub(crate) fn chart_notes(&self) -> Vec<Note> {
        self.charts.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn inflate(&self, tree: &SourceTree, wanted: &ChartWanted) -> Result<(), Error> {
        let key = wanted.work.key();
        let slot = {
            let mut done = self.charts.done.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(done.entry(key).or_default())
        };
        let outcome = slot.get_or_init(|| self.work(&wanted.work, key));
        outcome.clone().map_err(|error| match place_of(tree, wanted) {
            Some(place) if error.location().is_none() => error.at(place),
            _ => error,
        })
    }

    fn work(&self, work: &ChartWork, key: ChartKey) -> Result<(), Error> {
        let helm = self.charts.helm.get_or_init(|| Ok(Helm::find(self.helm_settings())?));
        let helm = helm.as_ref().map_err(Clone::clone)?;
        match work {
            ChartWork::Template(template) => {
                self.say(|| format!("helm template of the chart {}", template.name));
                let printed = helm.template(template).map_err(|error| match error {
                    HelmError::Failed { message, details } => {
                        let message =
                            format!("the chart {} does not render: {message}", template.name);
                        details
                            .into_iter()
                            .fold(Error::new(codes::BUILD_BROKEN, message), Error::cause)
                    }
                    other => other.into(),
                })?;
                self.charts.store.supply_output(key, printed);
            }
            ChartWork::Pull(source) => {
                let shown = shown(source);
                self.say(|| format!("{shown}: from the cache, or pulled"));
                let files = helm.pull(source, key).map_err(|error| not_had(&shown, error))?;
                if !source.is_pinned() {
                    let text = files.get("Chart.yaml").map(|bytes| String::from_utf8_lossy(bytes));
                    let mut notes =
                        self.charts.notes.lock().unwrap_or_else(PoisonError::into_inner);
                    notes.push(moving(&shown, text.as_deref().unwrap_or_default()));
                }
                self.charts.store.supply_chart(key, files);
            }
        }
        Ok(())
    }

    fn helm_settings(&self) -> Settings {
        Settings {
            cache: self.environment.cache_dir(),
            is_offline: self.offline,
            allowed: self.allowed_time(),
            variables: self.environment.variables.clone(),
        }
    }
}

/// The place of the statement that asks for a chart.
fn place_of(tree: &SourceTree, wanted: &ChartWanted) -> Option<Location> {
    let file = tree.file_table().path(wanted.origin.file);
    let line = usize::try_from(wanted.origin.line).ok().filter(|line| *line > 0);
    (!file.is_empty()).then(|| Location { file: file.to_owned(), line, column: None })
}

/// A chart in words.
fn shown(source: &ChartSource) -> String {
    let repo = without_credentials(&source.repo);
    let version =
        if source.version.is_empty() { String::new() } else { format!(" {}", source.version) };
    format!("the chart {}{version} of {repo}", source.name)
}

/// As for a remote base: the rest of the overlay may be rendered without it.
fn not_had(shown: &str, error: HelmError) -> Error {
    let plain = |reason: String| {
        Error::new(codes::REMOTE_BASE, format!("{shown} cannot be had"))
            .cause(without_credentials(&reason))
    };
    match error {
        HelmError::Failed { message, details } => {
            details.iter().map(|line| without_credentials(line)).fold(plain(message), Error::cause)
        }
        HelmError::NoProgram { .. } | HelmError::OtherVersion { .. } => error.into(),
        other => plain(other.to_string()),
    }
}

/// Said of a chart that may be another one tomorrow.
fn moving(shown: &str, chart: &str) -> Note {
    let version = chart.lines().find_map(|line| line.strip_prefix("version:"));
    let version = version.map_or("one", |text| text.trim().trim_matches(['"', '\'']));
    let message =
        format!("{shown} names no one version: it was {version} now and may be another tomorrow");
    Note { code: "moving-chart", message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_chart_is_told_with_the_version_that_it_was() {
        let note = moving("the chart web of https://h", "apiVersion: v2\nversion: \"1.2.3\"\n");
        let said = "the chart web of https://h names no one version: it was 1.2.3 now and may be another tomorrow";
        assert_eq!(note.message, said);
        assert!(moving("x", "").message.contains("it was one now"));
    }
}
