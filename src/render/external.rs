//! A kustomize of the user's: found, asked for its version once, run without a network.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::copy::copy_tree;
use super::message::refused;
use super::{RenderError, Renderer};
use crate::kustomize::SourceTree;
use crate::process::{self, Finished, ProcessError, Program};

/// The oldest major version whose output is close enough to be compared.
const OLDEST_MAJOR: u32 = 5;
/// The time that a program has to say its version.
const VERSION_TIME: Duration = Duration::from_secs(20);
/// The time that a build may take unless the user says otherwise.
const BUILD_TIME: Duration = Duration::from_secs(120);

/// The two programs that hold a kustomize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Kustomize,
    Kubectl,
}

impl Flavour {
    fn version_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Kustomize => &["version"],
            Self::Kubectl => &["version", "--client", "--output=json"],
        }
    }

    /// The version of its kustomize in what it prints: `v5.8.1`, `{Version:kustomize/v4.5.7 …}`, or
    /// the `kustomizeVersion` of kubectl's JSON.
    fn version_in(self, printed: &str) -> Option<String> {
        match self {
            Self::Kustomize => {
                let text = printed.trim().trim_start_matches("{Version:");
                let text = text.strip_prefix("kustomize/").unwrap_or(text);
                let end = text.find(char::is_whitespace).unwrap_or(text.len());
                Some(text[..end].to_owned())
            }
            Self::Kubectl => {
                let document: serde_json::Value = serde_json::from_str(printed).ok()?;
                Some(document.get("kustomizeVersion")?.as_str()?.to_owned())
            }
        }
        .filter(|version| major(version).is_some())
    }

    fn build_argument(self) -> &'static str {
        match self {
            Self::Kustomize => "build",
            Self::Kubectl => "kustomize",
        }
    }
}

/// `5` for `v5.8.1`.
fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// An external kustomize, at least 5.0.
#[derive(Clone, Debug)]
pub struct ExternalKustomize {
    program: PathBuf,
    flavour: Flavour,
    version: String,
    allowed: Duration,
}

impl ExternalKustomize {
    /// The kustomize or kubectl at `program` (a path, or a name to be found in `PATH`), which may
    /// take `allowed` for a build.
    ///
    /// # Errors
    /// Where it cannot be started, is neither, or is older than 5.0.
    pub fn at(program: &Path, allowed: Option<Duration>) -> Result<Self, RenderError> {
        let is_kubectl =
            program.file_stem().is_some_and(|n| n.to_string_lossy().contains("kubectl"));
        let order = match is_kubectl {
            true => [Flavour::Kubectl, Flavour::Kustomize],
            false => [Flavour::Kustomize, Flavour::Kubectl],
        };
        for flavour in order {
            if let Some(version) = ask_version(program, flavour)? {
                let program = program.to_path_buf();
                if major(&version) < Some(OLDEST_MAJOR) {
                    return Err(RenderError::TooOld { program, version });
                }
                let allowed = allowed.unwrap_or(BUILD_TIME);
                return Ok(Self { program, flavour, version, allowed });
            }
        }
        Err(RenderError::NotKustomize { program: program.to_path_buf() })
    }

    /// The first of `kustomize` and `kubectl` in `PATH` that will do.
    ///
    /// # Errors
    /// [`RenderError::NoProgram`] where neither is there; else why the last one found will not do.
    pub fn find(allowed: Option<Duration>) -> Result<Self, RenderError> {
        let mut reason = RenderError::NoProgram;
        for name in ["kustomize", "kubectl"] {
            match Self::at(Path::new(name), allowed) {
                Ok(found) => return Ok(found),
                Err(RenderError::Process(ProcessError::NotStarted { .. })) => {}
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }

    /// The version of its kustomize, such as `v5.8.1`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

impl Renderer for ExternalKustomize {
    fn render(&self, tree: &SourceTree, overlay: &str) -> Result<String, RenderError> {
        let copy = copy_tree(tree)?;
        let overlay = format!("./{overlay}");
        let args = [self.flavour.build_argument(), &overlay];
        let mut program = Program::new(&self.program, &args, copy.path());
        program.allowed = self.allowed;
        program.environment.extend(offline_environment());
        let Finished { status, stdout, stderr } = process::run(&program)?;
        if !status.success() {
            let top = copy.path().to_string_lossy();
            return Err(refused(&String::from_utf8_lossy(&stderr), &top, tree));
        }
        let not_text = |_| RenderError::NotKustomize { program: self.program.clone() };
        String::from_utf8(stdout).map_err(not_text)
    }
}

/// What keeps the program off the network: git may use no protocol, and HTTP goes to a proxy that is not there.
fn offline_environment() -> Vec<(OsString, OsString)> {
    let nowhere = "http://127.0.0.1:9";
    let pairs = [
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("HTTP_PROXY", nowhere),
        ("HTTPS_PROXY", nowhere),
        ("http_proxy", nowhere),
        ("https_proxy", nowhere),
        ("KUBECONFIG", "/dev/null"),
    ];
    pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn ask_version(program: &Path, flavour: Flavour) -> Result<Option<String>, RenderError> {
    let mut ask = Program::new(program, flavour.version_arguments(), Path::new("/"));
    ask.allowed = VERSION_TIME;
    ask.output_limit = 1024 * 1024;
    ask.environment.extend(offline_environment());
    let finished = process::run(&ask)?;
    let printed = String::from_utf8_lossy(&finished.stdout);
    Ok(finished.status.success().then(|| flavour.version_in(&printed)).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_every_form() {
        let kustomize = |printed| Flavour::Kustomize.version_in(printed);
        assert_eq!(kustomize("v5.8.1\n").as_deref(), Some("v5.8.1"));
        let old = "{Version:kustomize/v4.5.7 GitCommit:56d8 BuildDate:2022}\n";
        assert_eq!(kustomize(old).as_deref(), Some("v4.5.7"));
        assert_eq!(kustomize("usage: something else"), None);
        let kubectl = r#"{"clientVersion":{},"kustomizeVersion":"v5.6.0"}"#;
        assert_eq!(Flavour::Kubectl.version_in(kubectl).as_deref(), Some("v5.6.0"));
        assert_eq!(Flavour::Kubectl.version_in("{}"), None);
    }

    #[test]
    fn a_program_that_is_no_kustomize_is_refused() {
        let error = ExternalKustomize::at(Path::new("true"), None);
        assert!(matches!(error, Err(RenderError::NotKustomize { .. })), "{error:?}");
        let error = ExternalKustomize::at(Path::new("/none/kustomize"), None);
        assert!(matches!(error, Err(RenderError::Process(_))), "{error:?}");
    }
}
