//! What stands between the controller and git: the answers of ls-remote, the manifests and their keys, and
//! the webhook.

use super::git::CommitId;
use super::objects::Values;
use super::settings::GeneratePaths;
use super::world::World;

impl World {
    /// Asks the remote, or the replica of it that Argo CD reads.
    pub(super) fn list_remote(&mut self) -> Option<CommitId> {
        if let Some(sha) = &self.settings.pinned {
            return self.git.find(sha);
        }
        let tip = self.git.tip_at(self.now.saturating_sub(self.settings.replica_lag));
        self.caches.revision = Some((self.now, tip));
        tip
    }

    pub(super) fn list_remote_cached(&mut self) -> Option<CommitId> {
        let lasts = self.settings.revision_cache;
        match self.caches.revision {
            Some((at, Some(tip))) if self.now < at + lasts => Some(tip),
            _ => self.list_remote(),
        }
    }

    /// The manifests of `commit`: from the cache, by a new key for old ones, or rendered.
    pub(super) fn manifests(
        &mut self,
        commit: CommitId,
        prod: bool,
        hard: bool,
        compared: Option<CommitId>,
    ) -> Result<Values, String> {
        let key = (prod, commit);
        let fresh = hard && !self.settings.poisoned_cache;
        if !fresh && !self.settings.hydrator && !self.caches.manifests.contains_key(&key) {
            self.rekey(compared, commit, prod);
        }
        if let Some(values) = self.caches.manifests.get(&key).filter(|_| !fresh) {
            return Ok(*values);
        }
        let found = self.git.at(commit);
        if prod && found.broken {
            return Err("kustomize build failed: no matches for Id Deployment.apps/web".to_owned());
        }
        let staging = [Some(900), None, Some(901), Some(902), None, None];
        let values = if prod { found.values } else { staging };
        self.caches.manifests.insert(key, values);
        Ok(values)
    }

    /// Files the manifests of `old` under `new` where manifest-generate-paths says that nothing
    /// relevant changed.
    pub(super) fn rekey(&mut self, old: Option<CommitId>, new: CommitId, prod: bool) -> bool {
        let Some(old) = old else { return false };
        let irrelevant = self.is_irrelevant(old, new);
        let known = self.caches.manifests.get(&(prod, old)).copied();
        if let (true, Some(values)) = (irrelevant, known) {
            self.note(|_| format!("manifests of {old} are filed under {new}"));
            self.caches.manifests.insert((prod, new), values);
        }
        irrelevant
    }

    /// Whether manifest-generate-paths says that nothing between the commits matters.
    pub(super) fn is_irrelevant(&self, old: CommitId, new: CommitId) -> bool {
        let between = self.git.since(old, new);
        between.is_some_and(|commits| commits.iter().all(|&commit| !self.is_relevant(commit)))
    }

    fn is_relevant(&self, commit: CommitId) -> bool {
        match self.settings.generate_paths {
            GeneratePaths::Absent => true,
            GeneratePaths::Covers => self.git.changes_render(commit),
            GeneratePaths::OmitsBase => {
                self.git.changes_render(commit) && !self.git.at(commit).in_base
            }
        }
    }

    /// A push reached Argo CD by webhook.
    pub(super) fn webhook(&mut self, before: Option<CommitId>, after: CommitId) {
        let prod = self.app.as_ref().is_some_and(|app| app.spec.prod);
        let filtered = self.settings.generate_paths != GeneratePaths::Absent
            && !self.settings.hydrator
            && self.rekey(before, after, prod);
        if !filtered && self.app.is_some() {
            self.annotate(false, None);
        }
    }
}
