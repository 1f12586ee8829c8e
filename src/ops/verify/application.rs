//! The Argo CD Applications that deploy an overlay, where the cluster has some.

use serde_json::Value;

use super::VerifyRequest;
use super::rendering::Rendered;
use crate::checks::Subject;
use crate::checks::model::application::Application;
use crate::cluster::{ClusterError, ClusterReader, KindName};
use crate::error::Error;
use crate::ops::Context;
use crate::repository_url::normalised;
use crate::rollout::{Finding, revisions, sync_finding};

/// Whether the Applications of these overlays are Synced, at the commit where one is asked for.
///
/// # Errors
/// Where the cluster does not answer, or `--commit` names no commit. A right that is missing is told to `missed`.
pub(super) fn findings(
    context: &Context,
    reader: &dyn ClusterReader,
    request: &VerifyRequest,
    rendered: &Rendered,
    missed: &mut dyn FnMut(Finding),
) -> Result<Vec<Finding>, Error> {
    let git = Git::open(context, request)?;
    let kind = KindName::new("argoproj.io", "Application");
    let live = match reader.list(&kind, request.argocd_namespace.as_deref()) {
        Ok(listing) => listing.items,
        Err(error @ ClusterError::Denied { .. }) => {
            let namespace = request.argocd_namespace.as_deref().unwrap_or_default();
            if request.commit.is_some() {
                missed(super::unreadable(&kind.group, &kind.kind, namespace, &error));
            }
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.into()),
    };
    let deploys = |application: &&Value| deploys(application, rendered, request, &git);
    let own: Vec<&Value> = live.iter().filter(deploys).collect();
    if own.is_empty() {
        return Ok(git.wanted.is_some().then(|| nobody(rendered)).into_iter().collect());
    }
    let mut found = Vec::new();
    for application in own {
        found.extend(sync_finding(application));
        found.extend(git.other_commit(application));
    }
    Ok(found)
}

fn nobody(rendered: &Rendered) -> Finding {
    let subject = Subject::kustomization(rendered.directories.first().map_or("", String::as_str));
    let message =
        "no Application that can be read deploys it, so that nobody says at which commit it is";
    Finding::of(subject, "application-other-commit", message)
}

/// Whether an Application deploys one of the overlays, or into the namespace that is looked at.
fn deploys(live: &Value, rendered: &Rendered, request: &VerifyRequest, git: &Git) -> bool {
    if rendered.directories.is_empty() {
        let target = live["spec"]["destination"]["namespace"].as_str();
        return target.is_some() && target == request.namespace.as_deref();
    }
    let found = Application::find_in("", &live.to_string()).unwrap_or_default();
    found.iter().flat_map(Application::sources).any(|source| {
        let is_here = rendered.directories.iter().any(|directory| directory == source.path);
        is_here && git.is_own(source.repository)
    })
}

/// What git knows: the addresses of the repository, and the commit that is asked for.
#[derive(Default)]
struct Git {
    urls: Vec<String>,
    #[cfg(feature = "git")]
    repository: Option<crate::git::Repository>,
    wanted: Option<String>,
}

impl Git {
    #[cfg(feature = "git")]
    fn open(context: &Context, request: &VerifyRequest) -> Result<Self, Error> {
        use crate::git::Repository;
        let settings = std::sync::Arc::new(context.git_settings());
        let repository = match Repository::open(&settings, &context.cwd) {
            Ok(repository) => repository,
            Err(error) if request.commit.is_some() => return Err(error.into()),
            Err(_) => return Ok(Self::default()),
        };
        let wanted =
            request.commit.as_ref().map(|commit| repository.resolve(commit)).transpose()?;
        let urls = repository.remote_urls().unwrap_or_default();
        let wanted = wanted.map(|commit| commit.to_string());
        Ok(Self { urls, repository: Some(repository), wanted })
    }

    #[cfg(not(feature = "git"))]
    fn open(_: &Context, request: &VerifyRequest) -> Result<Self, Error> {
        Ok(Self { wanted: request.commit.clone(), ..Self::default() })
    }

    /// Whether an address is this repository; where none is known, any is taken for it.
    fn is_own(&self, url: &str) -> bool {
        let wanted = normalised(url);
        self.urls.is_empty() || self.urls.iter().any(|own| normalised(own) == wanted)
    }

    /// Where an Application was compared at a commit that does not hold the one that is asked for.
    fn other_commit(&self, application: &Value) -> Option<Finding> {
        let wanted = self.wanted.as_deref()?;
        let seen = revisions(application);
        if seen.iter().any(|revision| self.holds(revision, wanted)) {
            return None;
        }
        let message =
            format!("it was compared at {}, which does not hold {wanted}", seen.join(", "));
        Some(Finding::about(application, "application-other-commit", message))
    }

    /// Whether `revision` is `wanted` or comes after it.
    fn holds(&self, revision: &str, wanted: &str) -> bool {
        #[cfg(feature = "git")]
        if let Some(repository) = &self.repository
            && let (Ok(tip), Ok(commit)) = (revision.parse(), wanted.parse())
        {
            return revision == wanted || repository.is_ancestor(commit, tip).unwrap_or(false);
        }
        revision == wanted
    }
}
