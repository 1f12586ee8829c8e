//! The git program: one place that says how it is called (no shell, no prompt, C locale, bounded time, no hooks of ours)
//! and that scrubs what it prints.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::process::{ProcessError, Program, Session};

use super::call::Call;
use super::error::GitError;
use super::scrub::Scrubber;

/// The oldest git this crate is tested with (Debian 12's).
pub const OLDEST_GIT: &str = "2.39";

/// Local work: even a large index is written in far less.
const LOCAL_LIMIT: Duration = Duration::from_secs(120);

/// Set on every call. Paths are names, never patterns; nothing is asked; status takes no lock.
const FIXED: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("LANGUAGE", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
];

/// Settings of every call: no program of a file-system monitor, and no cleaning up in the middle of other work.
const ALWAYS: [&str; 3] = ["core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false"];

/// No program that lies in a repository runs, but for `pre-push`, which is the user's own rule for what leaves the machine.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Variables of a caller (a hook, say) that would lead git to another repository, and traces that print secrets.
const LEFT_OUT: [&str; 18] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_ATTR_SOURCE",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_CURL_VERBOSE",
];

/// Names of variables whose values are secrets.
const SECRET_NAMES: [&str; 5] = ["TOKEN", "PASSWORD", "PASSWD", "SECRET", "PRIVATE_KEY"];

/// How git is to be called, the same for a whole run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program, `git` for the one on PATH.
    pub program: PathBuf,
    /// How long one network operation may take.
    pub network_limit: Duration,
    environment: Vec<(OsString, OsString)>,
    config_count: usize,
    has_ssh_command: bool,
    secrets: Vec<String>,
}

impl Settings {
    /// Git from PATH, with the environment of the user: credential helpers, agents, proxies and identities are named there.
    /// Variables that lead to another repository are left out; values that are secrets by their name are scrubbed from output.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let environment: Vec<(OsString, OsString)> = environment
            .into_iter()
            .filter(|(name, _)| is_passed_on(&name.to_string_lossy()))
            .collect();
        let find = |wanted: &str| {
            environment.iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
        };
        let count = find("GIT_CONFIG_COUNT").and_then(|value| value.to_str()?.parse().ok());
        Self {
            program: PathBuf::from("git"),
            network_limit: Duration::from_secs(300),
            config_count: count.unwrap_or(0),
            has_ssh_command: find("GIT_SSH_COMMAND").or(find("GIT_SSH")).is_some(),
            secrets: environment.iter().filter_map(|(name, value)| secret(name, value)).collect(),
            environment,
        }
    }

    /// Adds settings of git and variables, all through the environment.
    pub(super) fn extend(
        &mut self,
        config: &[(String, String)],
        variables: &[(&'static str, String)],
    ) {
        let mut set = |name: String, value: &str| {
            self.environment.retain(|(known, _)| *known != *name);
            self.environment.push((name.into(), value.into()));
        };
        for (at, (name, value)) in config.iter().enumerate() {
            let at = self.config_count + at;
            set(format!("GIT_CONFIG_KEY_{at}"), name);
            set(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        self.config_count += config.len();
        set("GIT_CONFIG_COUNT".to_owned(), &self.config_count.to_string());
        for (name, value) in variables {
            self.has_ssh_command |= *name == "GIT_SSH_COMMAND";
            set((*name).to_owned(), value);
        }
    }

    /// How many settings the environment holds already (`GIT_CONFIG_COUNT`).
    pub(super) fn config_count(&self) -> usize {
        self.config_count
    }

    /// Whether the user says in the environment how SSH is to be called.
    pub(super) fn has_ssh_command(&self) -> bool {
        self.has_ssh_command
    }
}

fn is_passed_on(name: &str) -> bool {
    !LEFT_OUT.contains(&name) && !name.starts_with("GIT_TRACE")
}

fn secret(name: &OsStr, value: &OsStr) -> Option<String> {
    let name = name.to_str()?.to_ascii_uppercase();
    let is_secret = SECRET_NAMES.iter().any(|word| name.contains(word))
        || name.starts_with("GIT_CONFIG_VALUE_");
    // A setting given by the environment is a secret only where it is a header that lets in.
    let is_plain = name.starts_with("GIT_CONFIG_VALUE_")
        && !value.to_str()?.to_ascii_lowercase().contains("authorization");
    (is_secret && !is_plain).then(|| value.to_str().map(str::to_owned))?
}

/// The git program, called in one directory.
#[derive(Clone, Debug)]
pub struct Git {
    settings: Arc<Settings>,
    directory: PathBuf,
    git_dir: Option<PathBuf>,
    version: Arc<OnceLock<String>>,
    scrubber: Scrubber,
}

impl Git {
    /// Called in `directory`, where git finds its repository itself.
    pub fn new(settings: Arc<Settings>, directory: &Path) -> Self {
        let scrubber = Scrubber::new(&settings.secrets);
        Self {
            settings,
            directory: directory.to_owned(),
            git_dir: None,
            version: Arc::default(),
            scrubber,
        }
    }

    /// The same in another directory, and for the repository `git_dir` where git is not to look for one.
    #[must_use]
    pub fn in_directory(&self, directory: &Path, git_dir: Option<&PathBuf>) -> Self {
        Self { directory: directory.to_owned(), git_dir: git_dir.cloned(), ..self.clone() }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Hides credentials in a text.
    pub fn scrub(&self, text: &str) -> String {
        self.scrubber.scrub(text)
    }

    /// The version, asked once.
    ///
    /// # Errors
    /// [`GitError::ProgramMissing`], or [`GitError::ProgramTooOld`] below [`OLDEST_GIT`].
    pub fn version(&self) -> Result<&str, GitError> {
        if let Some(known) = self.version.get() {
            return Ok(known);
        }
        let text = self.run(["version"]).text()?;
        let found = text.split_whitespace().nth(2).unwrap_or_default().to_owned();
        if !is_at_least(&found, OLDEST_GIT) {
            return Err(GitError::ProgramTooOld { found, needed: OLDEST_GIT });
        }
        Ok(self.version.get_or_init(|| found))
    }

    /// A call of a subcommand with its arguments.
    pub fn run<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Call<'_> {
        Call::new(self, args.into_iter().map(str::to_owned).collect(), LOCAL_LIMIT)
    }

    pub(super) fn prepare(
        &self,
        config: &[String],
        args: &[String],
        extra: &[(String, String)],
    ) -> Program {
        let mut all: Vec<&str> = Vec::new();
        if args.first().is_none_or(|subcommand| subcommand != "push") {
            all.extend(["-c", NO_HOOKS]);
        }
        for setting in ALWAYS.iter().copied().chain(config.iter().map(String::as_str)) {
            all.extend(["-c", setting]);
        }
        all.extend(args.iter().map(String::as_str));
        let mut program = Program::new(&self.settings.program, &all, &self.directory);
        program.environment = self.settings.environment.clone();
        let mut set =
            |name: &str, value: &OsStr| program.environment.push((name.into(), value.into()));
        for (name, value) in FIXED {
            set(name, value.as_ref());
        }
        if let Some(git_dir) = &self.git_dir {
            set("GIT_DIR", git_dir.as_os_str());
        }
        for (name, value) in extra {
            set(name, value.as_ref());
        }
        program
    }

    /// A child that answers for as long as it is kept.
    ///
    /// # Errors
    /// [`GitError::ProgramMissing`] where it cannot be started.
    pub(super) fn session<'a>(
        &self,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Result<Session, GitError> {
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        Session::start(&self.prepare(&[], &args, &[])).map_err(|e| self.unfinished(&args, &e))
    }

    /// Why a call came to no end of its own.
    pub(super) fn unfinished(&self, args: &[String], error: &ProcessError) -> GitError {
        let what = args.first().cloned().unwrap_or_default();
        match error {
            ProcessError::TooSlow { allowed, .. } => {
                GitError::TimedOut { what, seconds: allowed.as_secs() }
            }
            ProcessError::NotStarted { program, source } => GitError::ProgramMissing {
                program: program.display().to_string(),
                reason: source.to_string(),
            },
            ProcessError::Stopped { reason, .. } => {
                GitError::Stopped { what, reason: reason.clone() }
            }
            other => GitError::Failed { what, message: self.scrub(&other.to_string()) },
        }
    }
}

fn is_at_least(found: &str, needed: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> {
        text.split('.').map_while(|part| part.parse().ok()).take(2).collect()
    };
    numbers(found) >= numbers(needed)
}
