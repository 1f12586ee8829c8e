//! The helm program: how charts are pulled and templated. No shell, bounded time and output, the C
//! locale, and a home of its own that is empty, so that no plugin and no configuration of anybody's is
//! used. Charts that were pulled are kept in the cache.
//!
//! Must not know what is built of what helm prints.

mod chart_folder;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kustomize::{ChartFiles, ChartKey, ChartSource, ChartTemplate};
use crate::process::{self, Finished, ProcessError, Program};
use crate::write::{Layout, TemporaryTree, copy_to_temporary, place_folder};

use chart_folder::{read_chart, too_large};

/// The folder of the cache; another number where what is in it changes.
const FOLDER: &str = "charts-1";
/// The time that helm has to say its version, unless the user says otherwise.
const VERSION_TIME: Duration = Duration::from_secs(20);
/// The time that helm has for one chart, unless the user says otherwise.
const TEMPLATE_TIME: Duration = Duration::from_secs(60);
/// The time that helm has to pull one chart, unless the user says otherwise.
const PULL_TIME: Duration = Duration::from_secs(120);
/// The most bytes that one chart may render.
const OUTPUT_LIMIT: usize = 64 << 20;
/// The most lines that are kept of what helm says beside its error.
const MOST_DETAILS: usize = 20;
/// Variables of the user's that say how to reach the network, and where docker keeps its credentials.
const NETWORK: [&str; 9] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "DOCKER_CONFIG",
];
/// A proxy that is not there: what keeps `helm template`, which needs no network, off it.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Why helm did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum HelmError {
    /// Helm cannot be started.
    #[error("the program helm, which --enable-helm needs, cannot be started: {reason}")]
    NoProgram {
        /// What the operating system says.
        reason: String,
    },
    /// It is no helm, or one that kustomize does not take.
    #[error("{}: no helm of version 3 or 4 (it says: {printed})", program.display())]
    OtherVersion {
        /// The program.
        program: PathBuf,
        /// What it says of its version.
        printed: String,
    },
    /// The chart is not in the cache, and the network must not be used.
    #[error("the chart is not in the cache, and --offline forbids to pull it")]
    Offline,
    /// Helm ended with an error.
    #[error("helm: {message}")]
    Failed {
        /// What it says.
        message: String,
        /// What more it says.
        details: Vec<String>,
    },
    /// What was pulled is no chart of that name, or larger than a chart may be.
    #[error("what helm pulled cannot be used: {reason}")]
    BadChart {
        /// In words.
        reason: String,
    },
    /// Helm gave no result.
    #[error(transparent)]
    Process(ProcessError),
    /// Something ended helm before it was done.
    #[error("helm was ended before it was done ({how})")]
    Ended {
        /// By what.
        how: String,
    },
    /// A file of ours cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// The rules of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folder that outlives the run; without one every run pulls anew.
    pub cache: Option<PathBuf>,
    /// Whether charts come from the cache alone.
    pub is_offline: bool,
    /// The time that each call may take.
    pub allowed: Option<Duration>,
    /// The user's environment, for how to reach the network.
    pub variables: Vec<(OsString, OsString)>,
}

/// A helm that was found and said its version.
#[derive(Debug)]
pub struct Helm {
    program: PathBuf,
    settings: Settings,
}

impl Helm {
    /// The helm in `PATH`.
    ///
    /// # Errors
    /// [`HelmError::NoProgram`] and [`HelmError::OtherVersion`].
    pub fn find(settings: Settings) -> Result<Self, HelmError> {
        let helm = Self { program: PathBuf::from("helm"), settings };
        let home = Home::new(&Layout::default())?;
        let mut ask = helm.call(&home, ["version".into(), "--short".into()].to_vec());
        ask.allowed = helm.settings.allowed.unwrap_or(VERSION_TIME);
        let Finished { status, stdout, .. } = process::run(&ask).map_err(not_started)?;
        if status.code().is_none() {
            return Err(HelmError::Ended { how: status.to_string() });
        }
        let printed = String::from_utf8_lossy(&stdout);
        match (status.success(), major_version(&printed)) {
            (true, Some(3 | 4)) => Ok(helm),
            _ => {
                let printed = printed.lines().next().unwrap_or_default().chars().take(80).collect();
                Err(HelmError::OtherVersion { program: helm.program, printed })
            }
        }
    }

    /// What `helm template` prints, off the network.
    ///
    /// # Errors
    /// [`HelmError`]; where the chart does not render, [`HelmError::Failed`].
    pub fn template(&self, template: &ChartTemplate) -> Result<Vec<u8>, HelmError> {
        let directory = format!("chart/{}", template.name);
        let named: Vec<(String, &[u8])> = (template.chart.iter())
            .map(|(path, bytes)| (format!("{directory}/{path}"), &**bytes))
            .chain(template.values.iter().zip(0..).map(|(text, n)| (values_file(n), &**text)))
            .collect();
        let files = named.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
        let home = Home::new(&Layout { files, directories: vec![&directory], links: Vec::new() })?;
        let mut args: Vec<OsString> = vec!["template".into()];
        args.extend(template.options.iter().map(Into::into));
        args.extend(
            (0..template.values.len()).map(|n| format!("--values={}", values_file(n)).into()),
        );
        args.push("--".into());
        args.extend(template.release.iter().map(Into::into));
        args.push(format!("./{directory}").into());
        let mut program = self.call(&home, args);
        program.allowed = self.settings.allowed.unwrap_or(TEMPLATE_TIME);
        program.environment.push(("HOME".into(), home.path().into()));
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            program.environment.push((name.into(), NOWHERE.into()));
        }
        let finished = process::run(&program).map_err(not_started)?;
        succeeded(&finished, &home)?;
        Ok(finished.stdout)
    }

    /// The files of a chart: from the cache where it names one version that is there, else pulled.
    ///
    /// # Errors
    /// [`HelmError`]; where the chart cannot be pulled, [`HelmError::Failed`] or [`HelmError::Offline`].
    pub fn pull(&self, source: &ChartSource, key: ChartKey) -> Result<ChartFiles, HelmError> {
        let cache = self.settings.cache.as_ref().map(|cache| cache.join(FOLDER));
        let kept = cache.as_ref().map(|cache| cache.join(key.to_string()));
        if let Some(kept) = kept.as_ref().filter(|_| source.is_pinned() || self.settings.is_offline)
            && kept.is_dir()
        {
            return read_chart(&kept.join(&source.name));
        }
        if self.settings.is_offline {
            return Err(HelmError::Offline);
        }
        let folder = new_folder(cache.as_deref())?;
        self.pull_to(source, folder.path())?;
        let files = read_chart(&folder.path().join(&source.name))?;
        // Another run may have been faster; one version is the same for both.
        if let Some(kept) = kept.filter(|kept| !(source.is_pinned() && kept.is_dir())) {
            let failed = |source| HelmError::Io { path: kept.clone(), source };
            place_folder(folder.path(), &kept).map_err(failed)?;
        }
        Ok(files)
    }

    fn pull_to(&self, source: &ChartSource, folder: &Path) -> Result<(), HelmError> {
        let home = Home::new(&Layout { directories: vec!["tmp"], ..Layout::default() })?;
        let mut directory = OsString::from("--untardir=");
        directory.push(folder);
        let mut args: Vec<OsString> = vec!["pull".into(), "--untar".into(), directory];
        let is_oci = source.repo.starts_with("oci://");
        if !is_oci {
            args.push(format!("--repo={}", source.repo).into());
        }
        if !source.version.is_empty() {
            args.push(format!("--version={}", source.version).into());
        }
        if source.devel {
            args.push("--devel".into());
        }
        args.push("--".into());
        args.push(match is_oci {
            true => format!("{}/{}", source.repo.trim_end_matches('/'), source.name).into(),
            false => source.name.clone().into(),
        });
        let mut program = self.call(&home, args);
        program.allowed = self.settings.allowed.unwrap_or(PULL_TIME);
        // What is left of a call that was ended goes away with the rest.
        program.environment.push(("TMPDIR".into(), home.path().join("tmp").into()));
        let known = self.settings.variables.iter();
        program
            .environment
            .extend(known.filter(|(name, _)| NETWORK.iter().any(|n| name == n)).cloned());
        let mut watch = || too_large(folder).or_else(|| too_large(home.path()));
        let finished = process::run_watched(&program, &mut watch).map_err(not_started)?;
        succeeded(&finished, &home)
    }

    fn call(&self, home: &Home, args: Vec<OsString>) -> Program {
        let mut program = Program::new(&self.program, &args, home.path());
        program.output_limit = OUTPUT_LIMIT;
        for (name, folder) in [
            ("HELM_CONFIG_HOME", "config"),
            ("HELM_CACHE_HOME", "cache"),
            ("HELM_DATA_HOME", "data"),
        ] {
            program.environment.push((name.into(), home.path().join("helm").join(folder).into()));
        }
        program.environment.push(("HELM_NO_PLUGINS".into(), "1".into()));
        program.environment.push(("KUBECONFIG".into(), home.path().join("no-cluster").into()));
        program
    }
}

/// The directory that helm works in, which goes away with it.
struct Home(TemporaryTree);

impl Home {
    fn new(layout: &Layout<'_>) -> Result<Self, HelmError> {
        let failed = |source| HelmError::Io { path: std::env::temp_dir(), source };
        copy_to_temporary(layout).map(Self).map_err(failed)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A folder that is not there yet, in the cache where there is one.
fn new_folder(cache: Option<&Path>) -> Result<tempfile::TempDir, HelmError> {
    let parent = cache.map_or_else(std::env::temp_dir, Path::to_path_buf);
    let failed = |source| HelmError::Io { path: parent.clone(), source };
    std::fs::create_dir_all(&parent).map_err(failed)?;
    tempfile::Builder::new().prefix(".new-").tempdir_in(&parent).map_err(failed)
}

fn values_file(number: usize) -> String {
    format!("values-{number}.yaml")
}

fn not_started(error: ProcessError) -> HelmError {
    match error {
        ProcessError::NotStarted { source, .. } => {
            HelmError::NoProgram { reason: source.to_string() }
        }
        other => HelmError::Process(other),
    }
}

/// `3` in `v3.18.4+gd80839c`, as kustomize finds it: the first number with a dot behind it.
fn major_version(printed: &str) -> Option<u32> {
    let is_of_version = |c: char| c.is_ascii_digit() || c == '.';
    let words = printed.split(|c| !is_of_version(c));
    words.filter(|word| word.contains('.')).find_map(|word| word.split('.').next()?.parse().ok())
}

/// What helm says where it failed, without the paths of its temporary directory.
fn succeeded(finished: &Finished, home: &Home) -> Result<(), HelmError> {
    if finished.status.success() {
        return Ok(());
    }
    // An exit code is helm's own word; without one it never came to say anything.
    if finished.status.code().is_none() {
        return Err(HelmError::Ended { how: finished.status.to_string() });
    }
    let top = home.path().to_string_lossy();
    let said = String::from_utf8_lossy(&finished.stderr).replace(&format!("{top}/"), "");
    let (message, details) = error_in(&said.replace(&*top, "."));
    Err(HelmError::Failed { message, details })
}

/// The line with the error, and the lines behind it.
fn error_in(said: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> =
        said.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let at = lines.iter().position(|line| line.starts_with("Error: "));
    let at = at.unwrap_or(lines.len().saturating_sub(1));
    let message = lines.get(at).map_or("it ended with an error and says nothing", |line| {
        line.strip_prefix("Error: ").unwrap_or(line)
    });
    let details = lines.iter().skip(at + 1).take(MOST_DETAILS).map(|line| (*line).to_owned());
    (message.to_owned(), details.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_found_in_what_each_helm_prints() {
        for (printed, major) in [
            ("v3.18.4+gd80839c\n", Some(3)),
            ("v4.1.4+g05fa379\n", Some(4)),
            ("Client: v2.17.0+ga690bad\n", Some(2)),
            ("3.9.4\n", Some(3)),
            ("", None),
            ("usage: something else\n", None),
        ] {
            assert_eq!(major_version(printed), major, "{printed}");
        }
    }

    #[test]
    fn the_error_is_told_from_what_else_helm_says() {
        let said =
            "WARNING: a file is readable\nError: values don't meet the schema\nweb:\n- a: no\n\n";
        let (message, details) = error_in(said);
        assert_eq!(message, "values don't meet the schema");
        assert_eq!(details, ["web:", "- a: no"]);
        assert_eq!(error_in("plain\n"), ("plain".to_owned(), Vec::new()));
        assert_eq!(error_in("").0, "it ended with an error and says nothing");
    }
}
