//! The Argo CD Applications that deploy an overlay, where the cluster has some.

use std::collections::BTreeMap;

use serde_json::Value;

use super::VerifyRequest;
use super::rendering::Rendered;
use crate::checks::Subject;
use crate::checks::model::application::Application;
use crate::cluster::{ClusterError, ClusterReader, KindName};
use crate::error::Error;
use crate::ops::Context;
use crate::repository_url::normalised;
use crate::rollout::{Finding, revisions, shown, sync_finding};

/// The kind.
pub(super) fn kind() -> KindName {
    KindName::new("argoproj.io", "Application")
}

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
    let question = Question::open(context, request, rendered)?;
    let kind = kind();
    match reader.list(&kind, request.argocd_namespace.as_deref()) {
        Ok(listing) => Ok(question.judge(listing.items.iter())),
        Err(error @ ClusterError::Denied { .. }) => {
            let namespace = request.argocd_namespace.as_deref().unwrap_or_default();
            let unreadable = super::unreadable(&kind.group, &kind.kind, namespace, &error);
            missed(match request.commit {
                Some(_) => unreadable,
                None => unreadable.as_note(),
            });
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// What is asked of Applications.
pub(super) struct Question<'a> {
    git: Git,
    request: &'a VerifyRequest,
    rendered: &'a Rendered,
}

impl<'a> Question<'a> {
    /// The question for these overlays, or for the namespace that is looked at.
    ///
    /// # Errors
    /// Where `--commit` names no commit.
    pub(super) fn open(
        context: &Context,
        request: &'a VerifyRequest,
        rendered: &'a Rendered,
    ) -> Result<Self, Error> {
        Ok(Self { git: Git::open(context, request)?, request, rendered })
    }

    /// What is wrong with those of `live` that deploy what is looked at, or that none of them does.
    fn judge<'l>(&self, live: impl Iterator<Item = &'l Value>) -> Vec<Finding> {
        let own: Vec<&Value> = live.filter(|application| self.concerns(application)).collect();
        if own.is_empty() {
            return self.git.wanted.is_some().then(|| nobody(self.rendered)).into_iter().collect();
        }
        own.into_iter().flat_map(|application| self.judge_one(application)).collect()
    }

    fn judge_one(&self, application: &Value) -> Vec<Finding> {
        sync_finding(application).into_iter().chain(self.git.other_commit(application)).collect()
    }

    fn concerns(&self, application: &Value) -> bool {
        deploys(application, self.rendered, self.request, &self.git)
    }
}

/// The Applications while a roll is followed.
pub(super) struct Watched<'a> {
    question: Question<'a>,
    /// Those that deploy what is looked at, by namespace and name, each with what was said of it last.
    own: BTreeMap<String, (Value, String)>,
    well_since: Option<i64>,
}

impl<'a> Watched<'a> {
    /// Nothing is heard yet.
    pub(super) fn new(question: Question<'a>) -> Self {
        Self { question, own: BTreeMap::new(), well_since: None }
    }

    /// Takes everything there is.
    pub(super) fn relist(&mut self, items: Vec<Value>) {
        let names: Vec<String> = items.iter().map(key).collect();
        self.own.retain(|name, _| names.contains(name));
        items.into_iter().for_each(|item| self.change(item));
    }

    /// Takes the present state of one.
    pub(super) fn change(&mut self, application: Value) {
        let key = key(&application);
        if self.question.concerns(&application) {
            let told = self.own.remove(&key).map(|(_, told)| told).unwrap_or_default();
            self.own.insert(key, (application, told));
        } else {
            self.own.remove(&key);
        }
    }

    /// One is gone.
    pub(super) fn forget(&mut self, application: &Value) {
        self.own.remove(&key(application));
    }

    /// What there is to tell that was not told yet: of which Application, and what.
    pub(super) fn news(&mut self, now: i64) -> Vec<(String, String)> {
        let mut news = Vec::new();
        let mut is_well = true;
        for (application, told) in self.own.values_mut() {
            let findings = self.question.judge_one(application);
            is_well &= findings.is_empty();
            let said = match findings.as_slice() {
                [] => format!("is Synced at {}", shortened(&revisions(application))),
                some => some.iter().map(|f| &*f.message).collect::<Vec<_>>().join("; "),
            };
            if *told != said {
                news.push((shown(application), said.clone()));
                *told = said;
            }
        }
        self.well_since = is_well.then(|| self.well_since.unwrap_or(now));
        news
    }

    /// Since when all of them are well, as of the last look; they may be none, which no waiting mends.
    pub(super) fn well_since(&self) -> Option<i64> {
        self.well_since
    }

    /// What is wrong now.
    pub(super) fn findings(&self) -> Vec<Finding> {
        self.question.judge(self.own.values().map(|(application, _)| application))
    }
}

fn key(application: &Value) -> String {
    let part = |field: &str| application["metadata"][field].as_str().unwrap_or_default();
    format!("{}/{}", part("namespace"), part("name"))
}

fn shortened(revisions: &[&str]) -> String {
    let short = |revision: &&str| revision.chars().take(12).collect::<String>();
    revisions.iter().map(short).collect::<Vec<_>>().join(", ")
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
        let known = if seen.iter().any(|revision| self.lacks(revision)) {
            " as far as this clone knows: it does not have all of that (git fetch)"
        } else {
            ""
        };
        let message =
            format!("it was compared at {}, which does not hold {wanted}{known}", seen.join(", "));
        Some(Finding::about(application, "application-other-commit", message))
    }

    /// Whether `revision` is a commit that is not here, so that what it holds is not known.
    fn lacks(&self, revision: &str) -> bool {
        #[cfg(feature = "git")]
        if let (Some(repository), Ok(commit)) = (&self.repository, revision.parse()) {
            return !repository.has(commit).unwrap_or(true);
        }
        let _ = revision;
        false
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
