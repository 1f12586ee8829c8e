//! A connection to a Kubernetes API server: how the cluster is found, what one answer may take, and what a failure is.
//!
//! `argocd` and `cluster` speak through it. Must not know what is asked. Credentials come from the user's own Kubernetes
//! configuration, never from a repository.

use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::runtime::Runtime;

use crate::clock::Allowance;

/// How long one answer may take.
pub const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How the cluster is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionName {
    /// The configuration files in order; none is the usual place, or the pod that the program runs in.
    pub kubeconfig: Vec<PathBuf>,
    /// The context in them; `None` is the current one.
    pub context: Option<String>,
}

/// Why a request came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
}

/// The kinds of failure that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The credentials are not taken (401).
    Unauthenticated,
    /// The account may not do this (403).
    Denied,
    /// There is no such object or resource (404).
    NotFound,
    /// Somebody else wrote first (409).
    Conflict,
    /// The version that was asked for is too old to be served (410).
    Expired,
    /// No answer, or one that says to come again.
    Unreachable,
    /// The request or the answer is wrong.
    Invalid,
}

impl Failure {
    /// A failure of that kind.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// A client, and the runtime that it works in.
pub struct Connection {
    runtime: Runtime,
    client: Client,
    answer_time: Duration,
    allowance: Option<Allowance>,
}

impl Connection {
    /// Reads the configuration; nothing is asked yet.
    ///
    /// # Errors
    /// Where there is none, or it cannot be used.
    pub fn connect(name: &ConnectionName) -> Result<Self, Failure> {
        let invalid = |message: String| Failure::new(FailureKind::Invalid, message);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| invalid(error.to_string()))?;
        let config = runtime.block_on(load(name)).map_err(invalid)?;
        let client = {
            let _inside = runtime.enter();
            Client::try_from(config).map_err(|error| invalid(error.to_string()))?
        };
        Ok(Self { runtime, client, answer_time: ANSWER_TIME, allowance: None })
    }

    /// The same, where one answer may take no longer than `allowed` either.
    #[must_use]
    pub fn within(self, allowed: Option<Duration>) -> Self {
        let answer_time = allowed.map_or(ANSWER_TIME, |allowed| allowed.min(ANSWER_TIME));
        Self { answer_time, ..self }
    }

    /// The same, where no answer is waited for beyond that time.
    #[must_use]
    pub fn until(self, allowance: Option<Allowance>) -> Self {
        Self { allowance, ..self }
    }

    /// The client.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The namespace of the context, `default` where it states none.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        self.client.default_namespace()
    }

    /// What `answer` comes to, within [`ANSWER_TIME`], or the shorter time that [`Connection::within`] or [`Connection::until`] allows.
    ///
    /// # Errors
    /// As the request; [`FailureKind::Unreachable`] where the time is over.
    pub fn bounded<T>(&self, answer: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
        let time = match self.allowance {
            Some(allowance) => allowance.answer(self.answer_time).remaining(),
            None => self.answer_time,
        };
        let bounded = async { tokio::time::timeout(time, answer).await };
        match self.runtime.block_on(bounded) {
            Ok(answer) => answer.map_err(failure),
            Err(_) => {
                let tenths = u64::try_from((time.as_millis() + 50) / 100).unwrap_or(u64::MAX);
                let shown = Duration::from_millis(tenths.saturating_mul(100));
                let message = format!("the cluster does not answer within {shown:?}");
                Err(Failure::new(FailureKind::Unreachable, message))
            }
        }
    }

    /// What `answer` comes to, however long that takes: a stream that ends by its own rules.
    ///
    /// # Errors
    /// As the request.
    pub fn unbounded<T>(
        &self,
        answer: impl Future<Output = kube::Result<T>>,
    ) -> Result<T, Failure> {
        self.runtime.block_on(answer).map_err(failure)
    }
}

/// The address of the API server that the configuration leads to, of which nothing is asked; `None` where there is none.
#[must_use]
pub fn server_address(name: &ConnectionName) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(load(name)).ok().map(|config| config.cluster_url.to_string())
}

async fn load(name: &ConnectionName) -> Result<Config, String> {
    let options =
        KubeConfigOptions { context: name.context.clone(), ..KubeConfigOptions::default() };
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let mut config = match merged(&name.kubeconfig)? {
        Some(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| text(&error))?,
        None if name.context.is_some() => {
            Config::from_kubeconfig(&options).await.map_err(|error| text(&error))?
        }
        None => Config::infer().await.map_err(|error| text(&error))?,
    };
    config.connect_timeout = Some(Duration::from_secs(10));
    Ok(config)
}

/// All configuration files together, as kubectl merges those of `KUBECONFIG`.
fn merged(paths: &[PathBuf]) -> Result<Option<Kubeconfig>, String> {
    let mut all: Option<Kubeconfig> = None;
    for path in paths {
        let next =
            Kubeconfig::read_from(path).map_err(|error| format!("{}: {error}", path.display()))?;
        all = Some(match all {
            Some(before) => before.merge(next).map_err(|error| error.to_string())?,
            None => next,
        });
    }
    Ok(all)
}

fn failure(error: kube::Error) -> Failure {
    match error {
        kube::Error::Api(status) => {
            let message = format!("the cluster answers {}: {}", status.code, status.message);
            Failure::new(kind_of(status.code), message)
        }
        kube::Error::SerdeError(error) => Failure::new(FailureKind::Invalid, error.to_string()),
        kube::Error::Auth(error) => Failure::new(FailureKind::Unauthenticated, error.to_string()),
        other => Failure::new(FailureKind::Unreachable, with_sources(&other)),
    }
}

fn kind_of(status: u16) -> FailureKind {
    match status {
        401 => FailureKind::Unauthenticated,
        403 => FailureKind::Denied,
        404 => FailureKind::NotFound,
        409 => FailureKind::Conflict,
        410 => FailureKind::Expired,
        429 | 500..=599 => FailureKind::Unreachable,
        _ => FailureKind::Invalid,
    }
}

/// An error and what lies behind it, in one line.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        source = error.source();
    }
    text
}
