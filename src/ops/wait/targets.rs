//! Which Applications are waited for, and what is expected of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::effect::{CommitEffect, Renders};
use super::overrides::{source_files, stated, stated_in_files};
use super::revisions::{GitRevisions, Known};
use super::{Deployer, WaitRequest, trouble};
use crate::argocd::{
    Application, ApplicationRef, ArgoCd, Containment, Expectation, ExpectedChange, ExpectedEffect,
    Facts, Moment, ObjectRef, Override, Source, clean_path, overrides_of,
};
use crate::error::{Error, codes};
use crate::git::ObjectId;
use crate::kustomize::Step;
use crate::repository_url::is_same_repository;

/// Overlays with what the commit changes in each, where that is known.
type EachOverlay = Vec<(String, Vec<ExpectedChange>)>;

/// Why an Application is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It was named, or deploys an overlay that was.
    Named,
    /// Another one manages it, and it deploys this repository too.
    Child,
    /// Another one manages it, and it deploys another repository: it has to be settled.
    Foreign,
}

/// What all waits of one command share.
pub(super) struct Setting<'a> {
    pub(super) renders: Renders<'a>,
    pub(super) commit: ObjectId,
    /// The overlays named, relative to the top of the repository.
    pub(super) overlays: Vec<String>,
    /// The remotes by name, each with its addresses.
    pub(super) remotes: Vec<(String, Vec<String>)>,
    pub(super) argocd: Arc<dyn ArgoCd>,
    pub(super) request: &'a WaitRequest,
    /// What the commit changes in each overlay that was looked at.
    pub(super) effects: Mutex<BTreeMap<String, CommitEffect>>,
    /// What git knows of the commit, for all Applications together.
    pub(super) known: Arc<Known>,
}

/// One Application that is waited for.
pub(super) struct Target<'a> {
    pub(super) app: ApplicationRef,
    /// Its namespace and name, as it states them itself.
    pub(super) identity: String,
    pub(super) expected: Expectation,
    pub(super) revisions: GitRevisions<'a>,
    /// What the user should know before.
    pub(super) warnings: Vec<String>,
}

impl<'a> Setting<'a> {
    /// The Applications that the user named, or those that deploy the overlays named.
    ///
    /// # Errors
    /// Where one is not there, or none deploys an overlay.
    pub(super) fn find(&self) -> Result<Vec<Target<'a>>, Error> {
        if self.request.applications.is_empty() {
            return self.find_by_overlay();
        }
        let targets = self.request.applications.iter().map(|name| {
            let mut app = ApplicationRef::parse(name);
            app.project.clone_from(&self.request.project);
            let found = self.argocd.application(&app).map_err(|error| trouble(&app, error))?;
            Ok(self.target(app, &found, Role::Named))
        });
        targets.collect()
    }

    /// The Applications that deploy the overlays named, with what they state themselves.
    ///
    /// # Errors
    /// As [`Setting::find`].
    pub(super) fn deployers(&self) -> Result<Vec<Deployer>, Error> {
        let deployers = self.listed()?.into_iter().map(|found| Deployer {
            application: reference(&found).to_string(),
            files: source_files(&found),
            overlays: self
                .overlays
                .iter()
                .filter(|path| self.deploys(&found, path))
                .cloned()
                .collect(),
            overrides: self.kustomize_overrides(&found),
        });
        Ok(deployers.collect())
    }

    /// What an Application states of `kustomize` itself for the overlays named.
    fn kustomize_overrides(&self, app: &Application) -> Vec<Override> {
        let expected = |path: &String| self.expectation(Some(path.clone()), Containment::Required);
        let sources = self.overlays.iter().flat_map(|path| relevant(app, &expected(path)));
        let kustomize = sources.filter_map(|source| source.rest.get("kustomize")?.as_object());
        kustomize.flat_map(overrides_of).collect()
    }

    fn find_by_overlay(&self) -> Result<Vec<Target<'a>>, Error> {
        let listed = self.listed()?;
        let target = |found: &Arc<Application>| self.target(reference(found), found, Role::Named);
        Ok(listed.iter().map(target).collect())
    }

    /// The Applications that deploy the overlays named.
    fn listed(&self) -> Result<Vec<Arc<Application>>, Error> {
        let here = ApplicationRef::default();
        let all = self.argocd.applications().map_err(|error| trouble(&here, error))?;
        let looked_at = all.len();
        let mut listed = Vec::new();
        let mut deployed: BTreeSet<&str> = BTreeSet::new();
        for found in all {
            let paths = self.overlays.iter().filter(|path| self.deploys(&found, path));
            let paths: Vec<&str> = paths.map(String::as_str).collect();
            if !paths.is_empty() {
                deployed.extend(paths);
                listed.push(found);
            }
        }
        match self.overlays.iter().find(|path| !deployed.contains(path.as_str())) {
            Some(path) => Err(self.undeployed(path, looked_at)),
            None => Ok(listed),
        }
    }

    fn undeployed(&self, path: &str, looked_at: usize) -> Error {
        let addresses = self.remotes.iter().flat_map(|(_, addresses)| addresses);
        let addresses: BTreeSet<&str> = addresses.map(String::as_str).collect();
        let addresses: Vec<&str> = addresses.into_iter().collect();
        let message = format!(
            "none of {looked_at} Applications deploys {path} of {}",
            if addresses.is_empty() {
                "this repository".to_owned()
            } else {
                addresses.join(" or ")
            }
        );
        Error::new(codes::NO_SUCH_APPLICATION, message)
            .hint("name it: overlay wait APP; the account may not see every Application")
    }

    fn deploys(&self, app: &Application, path: &str) -> bool {
        let expected = self.expectation(Some(path.to_owned()), Containment::Required);
        !relevant(app, &expected).is_empty()
    }

    /// Whether `app` deploys anything of this repository.
    pub(super) fn deploys_repository(&self, app: &Application) -> bool {
        !relevant(app, &self.expectation(None, Containment::Required)).is_empty()
    }

    /// The wait for one Application.
    pub(super) fn target(
        &self,
        app: ApplicationRef,
        found: &Application,
        role: Role,
    ) -> Target<'a> {
        let path = self.overlays.iter().find(|path| self.deploys(found, path));
        let path = path.or(self.overlays.first()).filter(|_| role == Role::Named).cloned();
        let containment = match role {
            Role::Named | Role::Child => Containment::Required,
            Role::Foreign => Containment::NotAsked,
        };
        let mut expected = self.expectation(path, containment);
        let sources = relevant(found, &expected);
        let directories: BTreeSet<String> =
            sources.iter().map(|source| clean_path(&source.path)).collect();
        let (effect, overlays, hooks) = self.effect(&directories);
        expected.effect = effect;
        let mut warnings = self.overrides(found, &sources);
        let first = sources.first().map(|source| (&*source.repo_url, &*source.target_revision));
        let (repository, branch) = first.unwrap_or_default();
        let remote = self.remote_of(repository);
        let revisions = GitRevisions {
            renders: self.renders,
            commit: self.commit,
            had: self.known.had(self.renders.repository, &remote, branch, self.commit),
            remote,
            branch: branch.to_owned(),
            overlays,
            known: Arc::clone(&self.known),
        };
        warnings.extend(ignored(found, &expected));
        warnings.extend(only_hooks(&expected.effect, &hooks));
        Target { app, identity: identity(found), expected, revisions, warnings }
    }

    /// What wins over the overlay, each with where it is stated.
    fn overrides(&self, found: &Application, sources: &[&Source]) -> Vec<String> {
        let mut told = Vec::new();
        for source in sources {
            let all: Vec<String> = stated(source).iter().map(ToString::to_string).collect();
            if !all.is_empty() {
                let all = all.join(" and ");
                told.push(format!("the Application itself states {all}, which wins over git"));
            }
            let Ok(files) = self.renders.repository.files_of(self.commit) else { continue };
            let stated = stated_in_files(&files, &clean_path(&source.path), found);
            told.extend(stated.into_iter().map(|(file, fields)| {
                format!("{file} states {fields}, which Argo CD puts over the kustomization")
            }));
        }
        told
    }

    fn expectation(&self, path: Option<String>, containment: Containment) -> Expectation {
        let addresses = self.remotes.iter().flat_map(|(_, addresses)| addresses.iter().cloned());
        Expectation {
            repositories: addresses.collect(),
            path,
            containment,
            rules: self.request.options.rules,
            ..Expectation::of_commit(&self.commit.to_string(), "")
        }
    }

    /// What the commit changes in all of `directories` together, and in each; and the hooks that it changes.
    fn effect(
        &self,
        directories: &BTreeSet<String>,
    ) -> (ExpectedEffect, EachOverlay, Vec<ObjectRef>) {
        let (mut all, mut each, mut hooks) = (Vec::new(), Vec::new(), Vec::new());
        let mut unknown = None;
        for directory in directories {
            let changed = self.expected(directory);
            hooks.extend(changed.hooks);
            match changed.effect {
                ExpectedEffect::Known(changes) => {
                    all.extend(changes.clone());
                    each.push((directory.clone(), changes));
                }
                ExpectedEffect::Unknown { message } => unknown = Some(message),
            }
        }
        match unknown {
            Some(message) => (ExpectedEffect::Unknown { message }, each, hooks),
            None => (ExpectedEffect::Known(all), each, hooks),
        }
    }

    /// What the commit changes in one overlay, rendered once for all Applications that deploy it.
    fn expected(&self, directory: &str) -> CommitEffect {
        let mut effects = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
        let render = || self.renders.expected(self.commit, directory);
        effects.entry(directory.to_owned()).or_insert_with(render).clone()
    }

    /// The configured remote that is this repository, else its address.
    fn remote_of(&self, repository: &str) -> String {
        let is_it = |address: &String| is_same_repository(address, repository);
        let found = self.remotes.iter().find(|(_, addresses)| addresses.iter().any(is_it));
        found.map_or_else(|| repository.to_owned(), |(name, _)| name.clone())
    }
}

/// The sources that deploy what is expected.
fn relevant<'f>(app: &'f Application, expected: &Expectation) -> Vec<&'f Source> {
    let facts = Facts::default();
    let relevant = Moment { app, expected, facts: &facts }.relevant_sources();
    let all = match &app.spec.source_hydrator {
        Some(hydrator) => vec![&hydrator.dry_source],
        None => app.sources(),
    };
    relevant.into_iter().filter_map(|(at, _)| all.get(at).copied()).collect()
}

/// The namespace and name of an Application: one may be named without the namespace, and be the child of another.
pub(super) fn identity(found: &Application) -> String {
    format!("{}/{}", found.metadata.namespace, found.metadata.name)
}

/// An Application that was listed.
fn reference(found: &Application) -> ApplicationRef {
    let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ApplicationRef {
        name: found.metadata.name.clone(),
        namespace: named(&found.metadata.namespace),
        project: named(&found.spec.project),
    }
}

/// Hooks are left out of the comparison, so that a commit that changes nothing else begins no sync.
fn only_hooks(effect: &ExpectedEffect, hooks: &[ObjectRef]) -> Option<String> {
    let is_all = *effect == ExpectedEffect::Known(Vec::new());
    let names = hooks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    (is_all && !hooks.is_empty()).then(|| {
        format!("the commit changes only hooks, which run when something is synced next: {names}")
    })
}

/// Changed fields that the comparison leaves out: a difference there is no drift.
fn ignored(found: &Application, expected: &Expectation) -> Vec<String> {
    let rules = &found.spec.ignore_differences;
    let mut warnings = Vec::new();
    for change in expected.effect.changes() {
        let crate::argocd::Presence::Present(fields) = &change.presence else { continue };
        for field in fields {
            let keys = field.path.steps().iter().map(|step| match step {
                Step::Key(key) => key.to_string(),
                Step::Named(_) | Step::Index(_) => "*".to_owned(),
            });
            let pointer = keys.fold(String::new(), |path, key| path + "/" + &key);
            let is_covered = rules.iter().any(|rule| {
                rule.kind == change.object.kind
                    && rule
                        .json_pointers
                        .iter()
                        .any(|ignored| pointer.starts_with(ignored.as_str()))
            });
            if is_covered {
                warnings.push(format!(
                    "ignoreDifferences leaves {} of {} out of the comparison: look at the object itself",
                    field.path, change.object
                ));
            }
        }
    }
    warnings
}
