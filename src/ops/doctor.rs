//! `overlay doctor`: the programs, credentials, files and hosts that commands may need, each with how it stands.
//!
//! Must show no credential: whether a variable is set is all that is told.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Context;
use crate::error::{Error, codes};
use crate::json::JsonProblem;
use crate::process::{self, Program};
use crate::render::ExternalKustomize;
use crate::report::Report;
use crate::report::doctor::{Examined, State, to_json, to_text};
use crate::yaml;

/// How long a program may take to tell its version.
const VERSION_TIME: Duration = Duration::from_secs(5);

/// Programs, how each is asked for its version, and what it is for.
const PROGRAMS: [(&str, &[&str], &str); 4] = [
    ("ssh", &["-V"], "remotes over SSH"),
    ("gpg", &["--version"], "--sign, where git signs by OpenPGP"),
    ("ssh-keygen", &[], "--sign, where git signs by SSH"),
    ("helm", &["version", "--short"], "--enable-helm, for charts that kustomizations name"),
];

/// Variables that hold credentials, any of which will do, and what each is for.
const CREDENTIALS: [(&[&str], &str); 7] = [
    (&["GITHUB_TOKEN", "GH_TOKEN"], "pull requests on GitHub"),
    (&["GITLAB_TOKEN"], "merge requests on GitLab"),
    (&["GITEA_TOKEN"], "pull requests on Gitea and Forgejo"),
    (&["ARGOCD_AUTH_TOKEN"], "wait, through Argo CD's server"),
    (&["PROMETHEUS_TOKEN"], "verify, for the queries of .overlay.yaml"),
    (&["ARGOCD_SERVER"], "wait: where Argo CD's server is"),
    (&["SSH_AUTH_SOCK"], "remotes over SSH: a running agent"),
];

/// Variables that are one credential together: a part of it is of no use.
const TOGETHER: (&[&str], &str) =
    (&["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"], "pull requests on GitHub, as an App");

/// Looks at everything.
///
/// # Errors
/// None of its own; the report's error is [`codes::TOOL_MISSING`] where git will not do.
pub fn run(context: &Context) -> Report {
    let mut examined = programs(context);
    examined.extend(credentials(context));
    examined.extend(files(context));
    #[cfg(feature = "git")]
    examined.extend(hosts::examine(context));
    let mut report = Report::unchanged("doctor", to_json(&examined), to_text(&examined));
    let problems = examined.iter().filter(|one| one.state == State::Problem);
    let names: Vec<&str> = problems.map(|one| one.name.as_str()).collect();
    if !names.is_empty() {
        let message = format!("not as commands will need it: {}", names.join(", "));
        report.error = Some(Error::new(codes::DOCTOR_PROBLEM, message));
    }
    report
}

fn programs(context: &Context) -> Vec<Examined> {
    let mut examined = Vec::new();
    #[cfg(feature = "git")]
    examined.push(hosts::git(context));
    examined.push(kustomize(context));
    for (name, args, purpose) in PROGRAMS {
        let version = find_program(context, name).map(|path| version(&path, args));
        let state = if version.is_some() { State::Ok } else { State::Absent };
        let detail = version.unwrap_or_default();
        examined.push(Examined { kind: "program", name: name.to_owned(), state, detail, purpose });
    }
    examined
}

/// The external renderer: only where `--kustomize` names one is it needed.
fn kustomize(context: &Context) -> Examined {
    let found = match &context.kustomize {
        Some(path) => ExternalKustomize::at(path, Some(VERSION_TIME)),
        None => ExternalKustomize::find(Some(VERSION_TIME)),
    };
    let (state, detail) = match found {
        Ok(found) => (State::Ok, found.version().to_owned()),
        Err(error) if context.kustomize.is_some() => (State::Problem, error.to_string()),
        Err(error) => (State::Absent, error.to_string()),
    };
    let purpose = "only for what the built-in build does not know";
    Examined { kind: "program", name: "kustomize or kubectl".to_owned(), state, detail, purpose }
}

fn find_program(context: &Context, name: &str) -> Option<PathBuf> {
    let path = context.environment.path.as_ref()?;
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path).map(|directory| directory.join(&name)).find(|path| path.is_file())
}

/// The first line that a program prints of its version.
fn version(program: &Path, args: &[&str]) -> String {
    if args.is_empty() {
        return String::new();
    }
    let mut ask = Program::new(program, args, Path::new("/"));
    (ask.allowed, ask.output_limit) = (VERSION_TIME, 64 * 1024);
    match process::run(&ask) {
        Ok(finished) => {
            let printed = [finished.stdout, finished.stderr].concat();
            let printed = String::from_utf8_lossy(&printed).into_owned();
            printed.lines().next().unwrap_or_default().chars().take(80).collect()
        }
        Err(error) => error.to_string(),
    }
}

fn credentials(context: &Context) -> Vec<Examined> {
    let is_set = |name: &&&str| context.environment.variable(name).is_some();
    let examine = |(names, purpose): (&[&str], &'static str)| {
        let set: Vec<&str> = names.iter().filter(is_set).copied().collect();
        let state = if set.is_empty() { State::Absent } else { State::Ok };
        let name = if set.is_empty() { names.join(" or ") } else { set.join(", ") };
        let detail = if set.is_empty() { "" } else { "set" }.to_owned();
        Examined { kind: "credential", name, state, detail, purpose }
    };
    let mut examined: Vec<Examined> = CREDENTIALS.into_iter().map(examine).collect();
    let (names, purpose) = TOGETHER;
    let (set, unset): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| is_set(name));
    let (state, detail) = match (set.is_empty(), unset.is_empty()) {
        (true, _) => (State::Absent, String::new()),
        (_, true) => (State::Ok, "set".to_owned()),
        _ => {
            let (set, unset) = (set.join(" and "), unset.join(" and "));
            (State::Problem, format!("{set} alone is of no use: set {unset}, or unset {set}"))
        }
    };
    let name = names.join(" and ");
    examined.insert(1, Examined { kind: "credential", name, state, detail, purpose });
    examined
}

/// Files that hold credentials or settings, and the cache.
fn files(context: &Context) -> Vec<Examined> {
    let variable = |name| context.environment.variable(name).map(PathBuf::from);
    let home = |below: &str| context.environment.home.as_ref().map(|home| home.join(below));
    let docker = variable("DOCKER_CONFIG").map(|dir| dir.join("config.json"));
    let docker = docker.or_else(|| home(".docker/config.json"));
    let kubeconfig = variable("KUBECONFIG").map(|list| {
        let files = std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty());
        files.collect::<Vec<_>>()
    });
    let kubeconfig = kubeconfig.unwrap_or_else(|| home(".kube/config").into_iter().collect());
    let mut examined: Vec<Examined> = Vec::new();
    examined.extend(docker.map(|path| file(path, "registries: Docker's credentials", as_json)));
    let podman = variable("REGISTRY_AUTH_FILE");
    examined.extend(podman.map(|path| file(path, "registries: Podman's credentials", as_json)));
    let clusters = kubeconfig.into_iter();
    examined
        .extend(clusters.map(|path| file(path, "wait and verify, through Kubernetes", as_yaml)));
    examined.push(settings(context));
    let cache = context.environment.cache_dir();
    examined.extend(cache.map(|path| file(path, "the cache of remote bases and charts", |_| None)));
    examined
}

/// A file, and what `judge` has against what is in it; nothing of that is shown.
fn file(path: PathBuf, purpose: &'static str, judge: fn(&str) -> Option<String>) -> Examined {
    let wrong = match std::fs::metadata(&path) {
        Err(_) => None,
        Ok(found) if found.is_dir() => Some(String::new()),
        Ok(found) if found.len() > MOST_OF_FILE => Some(format!("more than {MOST_OF_FILE} bytes")),
        Ok(_) => match std::fs::read_to_string(&path) {
            Ok(text) => Some(judge(&text).unwrap_or_default()),
            Err(error) => Some(error.to_string()),
        },
    };
    let (state, detail) = match wrong {
        None => (State::Absent, String::new()),
        Some(wrong) if wrong.is_empty() => (State::Ok, wrong),
        Some(wrong) => (State::Problem, wrong),
    };
    Examined { kind: "file", name: path.display().to_string(), state, detail, purpose }
}

/// The most bytes of a file that is looked into.
const MOST_OF_FILE: u64 = 16 << 20;

fn as_json(text: &str) -> Option<String> {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text) {
        Ok(_) => None,
        Err(error) => {
            let JsonProblem { line, column, reason } = (&error).into();
            Some(format!("no JSON object: line {line}, column {column}: {reason}"))
        }
    }
}

fn as_yaml(text: &str) -> Option<String> {
    let is_map = |tree: &yaml::Tree<'_>, root: &yaml::NodeId| {
        matches!(tree.node(*root).kind, yaml::Kind::Map { .. })
    };
    match yaml::parse(text) {
        Ok(tree) if tree.roots().iter().any(|root| is_map(&tree, root)) => None,
        Ok(_) => Some("no mapping, as a configuration of kubectl is".to_owned()),
        Err(error) => Some(format!("no YAML: {error}")),
    }
}

/// The settings of the repository, read as any command reads them.
fn settings(context: &Context) -> Examined {
    let read = context.locate_directories(&[".".into()]).and_then(|_| context.groups());
    let root = context.boundary.get().unwrap_or(&context.cwd);
    let path = match &context.config {
        Some(file) => context.cwd.join(file),
        None => root.join(crate::config::FILE_NAME),
    };
    let (state, detail) = match read {
        Err(error) => {
            let place = error.location().map(|place| format!("{place}: ")).unwrap_or_default();
            (State::Problem, format!("{place}{}", error.message()))
        }
        Ok(_) if path.exists() => (State::Ok, String::new()),
        Ok(_) => (State::Absent, String::new()),
    };
    let (name, purpose) = (path.display().to_string(), "settings of this repository");
    Examined { kind: "file", name, state, detail, purpose }
}

#[cfg(feature = "git")]
mod hosts {
    //! Git, and the remotes of the repository around the current directory.

    use std::sync::Arc;
    use std::time::Duration;

    use super::{Context, Examined, State};
    use crate::git::{Git, OLDEST_GIT, Remote, Repository};

    /// How long a remote may take to answer.
    const ANSWER_TIME: Duration = Duration::from_secs(10);

    /// The git program.
    pub(super) fn git(context: &Context) -> Examined {
        let git = Git::new(Arc::new(context.git_settings()), &context.cwd);
        let (state, detail) = match git.version() {
            Ok(version) => (State::Ok, format!("{version}, at least {OLDEST_GIT} is needed")),
            Err(error) => (State::Problem, error.to_string()),
        };
        let purpose = "revisions, remote bases, commits and pushes";
        Examined { kind: "program", name: "git".to_owned(), state, detail, purpose }
    }

    /// Each configured remote, asked for its default branch; with `--offline` none.
    pub(super) fn examine(context: &Context) -> Vec<Examined> {
        if context.offline {
            return Vec::new();
        }
        let mut settings = context.git_settings();
        settings.network_limit = settings.network_limit.min(ANSWER_TIME);
        let Ok(repository) = Repository::open(&Arc::new(settings), &context.cwd) else {
            return Vec::new();
        };
        let names = repository.git().run(["remote"]).answer();
        let names = names.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned());
        names.unwrap_or_default().lines().map(|name| remote(&repository, name)).collect()
    }

    fn remote(repository: &Repository, name: &str) -> Examined {
        let asked = Remote::open(repository.git(), name).and_then(|remote| remote.list(&["HEAD"]));
        let (state, detail) = match asked {
            Ok(answer) => {
                let head = answer.head.map(|head| format!("answers; its branch is {head}"));
                (State::Ok, head.unwrap_or_else(|| "answers; it has no branch yet".to_owned()))
            }
            Err(error) => (State::Problem, error.to_string()),
        };
        let purpose = "--push, and bases of this repository";
        Examined { kind: "host", name: format!("remote {name}"), state, detail, purpose }
    }
}
