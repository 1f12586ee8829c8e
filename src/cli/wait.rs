//! `overlay wait`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use super::options::TypedDuration;
use crate::argocd::{DriftRule, HealthScope, RefreshRule, Rules, SyncRule};
use crate::error::{Error, codes};
use crate::ops::Context;
use crate::ops::wait::{Access, DEFAULT_TIMEOUT, WaitOptions, WaitRequest};

/// Wait until Argo CD has applied a commit, or a later one that still holds its change, and it is healthy.
#[derive(Clone, Debug, Args)]
pub(crate) struct WaitArgs {
    /// The Applications: NAME, or NAMESPACE/NAME where it is not in Argo CD's own namespace.
    #[arg(value_name = "APP")]
    applications: Vec<String>,

    /// Every Application that deploys this overlay of this repository; may be given again. With APP: what it has to deploy.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    overlays: Vec<OsString>,

    /// The commit.
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    commit: String,

    /// The project of the Applications; with it a server tells "not there" from "not allowed".
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// The remote, by name or address, that Argo CD reads; all configured ones if none is given.
    #[arg(long, value_name = "NAME|URL")]
    remote: Option<String>,

    #[command(flatten)]
    options: WaitOptionsArgs,
}

/// How is waited, whatever for.
#[derive(Clone, Debug, Args)]
pub(crate) struct WaitOptionsArgs {
    /// Ask for a sync where the Application does not sync by itself.
    #[arg(long, global = true)]
    sync: bool,

    /// Never ask Argo CD to compare; wait until it looks by itself.
    #[arg(long, global = true)]
    no_refresh: bool,

    /// How long after the end of the sync a comparison must begin to be believed.
    #[arg(long, global = true, value_name = "DUR", default_value = "30s", value_parser = TypedDuration::parse)]
    dwell: TypedDuration,

    /// Accept differences after a finished sync in objects that the commit does not change.
    #[arg(long, global = true)]
    allow_drift: bool,

    /// Whose health counts: that of the whole Application, or of the objects that the commit changes.
    #[arg(long, global = true, value_name = "WHOSE", default_value = "whole")]
    health: HealthChoice,

    #[command(flatten)]
    access: AccessArgs,
}

/// How Argo CD is reached.
#[derive(Clone, Debug, Args)]
struct AccessArgs {
    /// Argo CD's server: a host, or an address with scheme; instead of ARGOCD_SERVER.
    #[arg(long, global = true, value_name = "HOST|URL")]
    argocd_server: Option<String>,

    /// Ask a server that is named without scheme by http.
    #[arg(long, global = true)]
    plaintext: bool,

    /// Take any certificate of the server.
    #[arg(long, global = true)]
    insecure: bool,

    /// Where below the server its interface stands.
    #[arg(long, global = true, value_name = "PATH")]
    grpc_web_root_path: Option<String>,

    /// Go through the Kubernetes API, by this context of KUBECONFIG; without a server that is done by itself.
    #[arg(long, global = true, value_name = "CONTEXT")]
    kube_context: Option<String>,

    /// The namespace that Argo CD lives in, where it is not `argocd`; of use with the Kubernetes API.
    #[arg(long, global = true, value_name = "NAMESPACE")]
    argocd_namespace: Option<String>,
}

/// `--health`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HealthChoice {
    /// The whole Application.
    Whole,
    /// The objects that the commit changes.
    Touched,
}

impl WaitArgs {
    /// The request.
    ///
    /// # Errors
    /// Where neither an Application nor an overlay is named.
    pub(crate) fn to_request(&self, context: &Context) -> Result<WaitRequest, Error> {
        if self.applications.is_empty() && self.overlays.is_empty() {
            return Err(Error::new(codes::USAGE, "nothing is named that could be waited for")
                .hint("name an Application, or an overlay with --overlay"));
        }
        self.applications.iter().try_for_each(|text| check_application(text))?;
        let mut options = self.options.to_options();
        options.rules.timeout = context.allowed_time().unwrap_or(DEFAULT_TIMEOUT);
        Ok(WaitRequest {
            applications: self.applications.clone(),
            overlays: self.overlays.clone(),
            commit: self.commit.clone(),
            project: self.project.clone(),
            remote: self.remote.clone(),
            options,
        })
    }
}

impl WaitOptionsArgs {
    /// The options; how long may be waited is not theirs.
    pub(crate) fn to_options(&self) -> WaitOptions {
        let rules = Rules {
            dwell: self.dwell.length,
            drift: if self.allow_drift { DriftRule::Accepted } else { DriftRule::Refused },
            health: match self.health {
                HealthChoice::Whole => HealthScope::Whole,
                HealthChoice::Touched => HealthScope::Touched,
            },
            refresh: if self.no_refresh { RefreshRule::Never } else { RefreshRule::Asked },
            sync: if self.sync { SyncRule::WhereManual } else { SyncRule::Never },
            ..Rules::default()
        };
        WaitOptions { access: self.access.to_access(), rules }
    }
}

/// `NAME` or `NAMESPACE/NAME`, as Kubernetes names objects (RFC 1123).
fn check_application(text: &str) -> Result<(), Error> {
    let is_name = |part: &str| {
        let is_inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        part.chars().all(is_inside)
            && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.ends_with(|c: char| c.is_ascii_alphanumeric())
    };
    let (namespace, name) = text.split_once('/').map_or((None, text), |(n, rest)| (Some(n), rest));
    if is_name(name) && namespace.is_none_or(is_name) {
        return Ok(());
    }
    let message = format!("`{text}` is no name of an Application: write NAME or NAMESPACE/NAME");
    Err(Error::new(codes::USAGE, message))
}

impl AccessArgs {
    fn to_access(&self) -> Access {
        Access {
            server: self.argocd_server.clone(),
            is_plaintext: self.plaintext,
            is_insecure: self.insecure,
            root_path: self.grpc_web_root_path.clone(),
            kube_context: self.kube_context.clone(),
            namespace: self.argocd_namespace.clone(),
        }
    }
}
