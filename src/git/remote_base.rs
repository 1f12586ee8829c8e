//! Remote bases: repositories fetched at one reference into a cache, as committed objects. Nothing is checked out, no hook
//! runs, no submodule is followed, and credentials go to no other host.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::kustomize::remote::GitUrl;

use super::error::GitError;
use super::id::ObjectId;
use super::lock_file::LockFile;
use super::program::{Git, Settings};
use super::remote::{Advertised, Remote};
use super::repository::Repository;
use super::revision_files::RevisionFiles;

/// The most bytes that one repository of the cache may bring.
pub const MAX_REPOSITORY_BYTES: u64 = 1 << 30;

/// How long one fetch may take, where the user allows more.
const MOST_TIME: Duration = Duration::from_secs(300);

/// How a reference was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// By a commit, or by the lock file.
    Commit,
    /// By a tag.
    Tag,
    /// By a branch, or by nothing: another commit tomorrow.
    Moving,
}

/// A remote base as it is at one commit.
pub struct RemoteBase {
    /// The address, without credentials.
    pub address: String,
    /// The commit.
    pub commit: ObjectId,
    /// What names that commit.
    pub pinning: Pinning,
    /// Its files.
    pub files: RevisionFiles,
}

/// The cache, and the rules of one run.
pub struct RemoteBases {
    settings: Arc<Settings>,
    cache: PathBuf,
    is_offline: bool,
    lock: LockFile,
    open: Mutex<HashMap<String, Arc<Repository>>>,
}

impl RemoteBases {
    /// Bases in the folder `cache`, which is made where it is missing. Offline, only what is there is used.
    pub fn new(mut settings: Settings, cache: &Path, is_offline: bool, lock: LockFile) -> Self {
        settings.network_limit = settings.network_limit.min(MOST_TIME);
        let cache = cache.join("git-1");
        Self { settings: Arc::new(settings), cache, is_offline, lock, open: Mutex::default() }
    }

    /// The base that `url` names, fetched where the cache has it not.
    ///
    /// # Errors
    /// [`GitError::BadReference`] for a reference that is no name, [`GitError::Offline`], and the errors of reaching the remote.
    pub fn load(&self, url: &GitUrl) -> Result<RemoteBase, GitError> {
        let reference = url.reference.as_deref().filter(|text| !text.is_empty());
        if let Some(text) = reference.filter(|text| !is_reference(text)) {
            return Err(GitError::BadReference { reference: text.chars().take(200).collect() });
        }
        let (repository, address) = self.repository(&url.address)?;
        let slot = Slot { repository: &repository, address: &address, url: &url.address };
        let (commit, pinning) = self.commit(&slot, reference)?;
        Ok(RemoteBase { address, commit, pinning, files: repository.files_of(commit)? })
    }

    /// What the remote says now that the reference of `url` is, whatever the lock file says.
    ///
    /// # Errors
    /// As for [`RemoteBases::load`].
    pub fn ask(&self, url: &GitUrl) -> Result<(ObjectId, Pinning), GitError> {
        let (repository, address) = self.repository(&url.address)?;
        let slot = Slot { repository: &repository, address: &address, url: &url.address };
        let reference = url.reference.as_deref().filter(|text| !text.is_empty());
        self.require_online(&slot, reference)?;
        self.commit_now(&slot, reference)
    }

    /// The repository of the cache for an address, and the address without credentials.
    fn repository(&self, address: &str) -> Result<(Arc<Repository>, String), GitError> {
        let clean = super::credentials::Address::parse(address).clean;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&clean) {
            return Ok((Arc::clone(known), clean));
        }
        let folder = self.cache.join(format!("{}.git", hex(&Sha256::digest(clean.as_bytes()))));
        let wrong =
            |e: std::io::Error| GitError::Io { path: folder.clone(), reason: e.to_string() };
        std::fs::create_dir_all(&self.cache).map_err(wrong)?;
        let _held = self.hold(&folder)?;
        if !folder.join("HEAD").exists() {
            std::fs::create_dir_all(&folder).map_err(wrong)?;
            let git = Git::new(Arc::clone(&self.settings), &folder);
            git.run(["init", "--quiet", "--bare", "--template=", "."]).bytes()?;
        }
        let repository = Arc::new(Repository::open(&self.settings, &folder)?);
        open.insert(clean.clone(), Arc::clone(&repository));
        Ok((repository, clean))
    }

    /// One process at a time makes or fills a repository of the cache.
    fn hold(&self, folder: &Path) -> Result<File, GitError> {
        let path = folder.with_extension("lock");
        let file = File::options().create(true).append(true).open(&path);
        let file = file.and_then(|file| file.lock().map(|()| file));
        file.map_err(|e| GitError::Io { path, reason: e.to_string() })
    }

    fn commit(
        &self,
        slot: &Slot<'_>,
        reference: Option<&str>,
    ) -> Result<(ObjectId, Pinning), GitError> {
        let named = reference.and_then(|text| text.parse::<ObjectId>().ok());
        let locked = named.is_none().then(|| self.lock.find(slot.address, reference)).flatten();
        if let Some(wanted) = named.or(locked) {
            if slot.repository.has(wanted)? {
                return Ok((slot.repository.peel(wanted)?, Pinning::Commit));
            }
            self.require_online(slot, reference)?;
            let fetched = self.fetch(slot, &wanted.to_string(), wanted);
            return match (fetched, locked) {
                (Ok(true), _) => Ok((slot.repository.peel(wanted)?, Pinning::Commit)),
                (Ok(false), None) => Err(slot.missing(&wanted.to_string())),
                (Ok(false) | Err(GitError::Failed { .. }), Some(_)) => {
                    Err(slot.lost(reference, wanted))
                }
                (Err(error), _) => Err(error),
            };
        }
        if self.is_offline {
            let known = slot.repository.reference(&known_as(reference))?;
            let commit = known.ok_or_else(|| offline(slot, reference))?;
            let is_tag = slot.repository.reference(&known_tag(reference))?.is_some();
            return Ok((commit, if is_tag { Pinning::Tag } else { Pinning::Moving }));
        }
        self.commit_now(slot, reference)
    }

    /// What the remote says that the reference is, now.
    fn commit_now(
        &self,
        slot: &Slot<'_>,
        reference: Option<&str>,
    ) -> Result<(ObjectId, Pinning), GitError> {
        let remote = Remote::open(slot.repository.git(), slot.url)?;
        // It may move between looking and fetching.
        for _ in 0..5 {
            let Some((name, id)) = look_up(&remote, reference)? else {
                let reference = reference.unwrap_or("HEAD").to_owned();
                return Err(GitError::NoSuchReference {
                    remote: remote.shown().to_owned(),
                    reference,
                });
            };
            if !slot.repository.has(id)? && !self.fetch(slot, &name, id)? {
                continue;
            }
            let commit = slot.repository.peel(id)?;
            let is_tag = name.starts_with("refs/tags/");
            remember(slot.repository, reference, commit, is_tag)?;
            return Ok((commit, if is_tag { Pinning::Tag } else { Pinning::Moving }));
        }
        Err(GitError::LostEveryRace { branch: reference.unwrap_or("HEAD").to_owned(), tries: 5 })
    }

    fn require_online(&self, slot: &Slot<'_>, reference: Option<&str>) -> Result<(), GitError> {
        if self.is_offline { Err(offline(slot, reference)) } else { Ok(()) }
    }

    /// Fetches `source` without its history and keeps `id`, where it came with it; whether it did.
    fn fetch(&self, slot: &Slot<'_>, source: &str, id: ObjectId) -> Result<bool, GitError> {
        let folder = slot.repository.git_dir().to_owned();
        let _held = self.hold(&folder)?;
        if slot.repository.has(id)? {
            return Ok(true);
        }
        let remote = Remote::open(slot.repository.git(), slot.url)?;
        remote.fetch_alone(slot.repository, source, || too_large(&folder))?;
        if !slot.repository.has(id)? {
            return Ok(false);
        }
        // Kept by a name of its own, so that nothing that is in use is ever cleaned away.
        let name = format!("refs/overlay/kept/{id}");
        slot.repository.git().run(["update-ref", &name, &id.to_string()]).bytes()?;
        Ok(true)
    }
}

/// One repository of the cache, and where it comes from.
struct Slot<'a> {
    repository: &'a Repository,
    address: &'a str,
    url: &'a str,
}

impl Slot<'_> {
    fn missing(&self, reference: &str) -> GitError {
        let remote = self.repository.git().scrub(self.address);
        GitError::NoSuchReference { remote, reference: reference.to_owned() }
    }

    /// The remote does not give the commit that the lock file names: its tag or branch was moved, and the history dropped.
    fn lost(&self, reference: Option<&str>, commit: ObjectId) -> GitError {
        GitError::LockedGone {
            remote: self.repository.git().scrub(self.address),
            reference: reference.unwrap_or("HEAD").to_owned(),
            commit: commit.to_string(),
        }
    }
}

fn offline(slot: &Slot<'_>, reference: Option<&str>) -> GitError {
    GitError::Offline {
        remote: slot.repository.git().scrub(slot.address),
        reference: reference.unwrap_or("HEAD").to_owned(),
    }
}

/// The reference that git would take for this text, tags before branches, as `git fetch` does.
fn look_up(
    remote: &Remote<'_>,
    reference: Option<&str>,
) -> Result<Option<(String, ObjectId)>, GitError> {
    let Some(text) = reference else {
        let all = remote.list(&["HEAD"])?;
        return Ok(all.find("HEAD").map(|id| ("HEAD".to_owned(), id)));
    };
    let names = [
        text.to_owned(),
        format!("refs/{text}"),
        format!("refs/tags/{text}"),
        format!("refs/heads/{text}"),
    ];
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: Advertised = remote.list(&wanted)?;
    Ok(names.iter().find_map(|name| Some((name.clone(), all.find(name)?))))
}

fn remember(
    repository: &Repository,
    reference: Option<&str>,
    commit: ObjectId,
    is_tag: bool,
) -> Result<(), GitError> {
    let id = commit.to_string();
    let mut names = vec![known_as(reference)];
    names.extend(is_tag.then(|| known_tag(reference)));
    for name in names {
        if repository.reference(&name)? != Some(commit) {
            repository.git().run(["update-ref", &name, &id]).bytes()?;
        }
    }
    Ok(())
}

/// The name under which the cache keeps what a reference was; spelled in hexadecimal, for names nest.
fn known_as(reference: Option<&str>) -> String {
    format!("refs/overlay/known/x{}", hex(reference.unwrap_or_default().as_bytes()))
}

fn known_tag(reference: Option<&str>) -> String {
    format!("refs/overlay/tags/x{}", hex(reference.unwrap_or_default().as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name that can be neither an option nor a pattern nor two names (git-check-ref-format).
fn is_reference(text: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"~^:?*[\\".contains(c);
    text.len() <= 200
        && text.chars().all(is_plain)
        && !text.starts_with(['-', '+', '/', '.'])
        && !text.contains("..")
        && !text.contains("@{")
        && !text.contains("//")
        && !text.ends_with(['/', '.'])
}

/// Says so once the packs of a repository are larger than allowed.
fn too_large(folder: &Path) -> Option<String> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder.join("objects/pack")).ok()?.flatten() {
        bytes += entry.metadata().map_or(0, |data| data.len());
    }
    (bytes > MAX_REPOSITORY_BYTES)
        .then(|| format!("the repository is larger than {MAX_REPOSITORY_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_names_and_nothing_else() {
        for text in ["v1", "release/1.2", "main", "refs/tags/v1", "a-b_c.d", "0123abc"] {
            assert!(is_reference(text), "{text}");
        }
        for text in [
            "-x",
            "--upload-pack=touch x",
            "+main",
            "a b",
            "a..b",
            "a:b",
            "a*",
            "a\nb",
            "@{1}",
            "/a",
            "a/",
            "a^{}",
        ] {
            assert!(!is_reference(text), "{text}");
        }
    }
}
