//! Finding and opening a repository, and what its names mean.

mod relation;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::GitError;
use super::id::ObjectId;
use super::objects::{Kind, Objects};
use super::program::{Git, Settings};
use super::revision_files::RevisionFiles;

/// No commit message that a person wrote comes near.
const MAX_COMMIT_BYTES: u64 = 16 << 20;

/// How many tags may point at tags.
const MAX_TAG_DEPTH: usize = 16;

/// One repository and, where it has one, the work tree it was opened from.
pub struct Repository {
    git: Git,
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_tree: Option<PathBuf>,
    objects: Arc<Objects>,
}

/// A commit, as its object says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub id: ObjectId,
    /// Its root tree.
    pub tree: ObjectId,
    /// The commits it stands on.
    pub parents: Vec<ObjectId>,
    /// `Name <address>` of its author.
    pub author: String,
    /// `Name <address>` of its committer.
    pub committer: String,
    /// When it was committed, in seconds since 1970.
    pub committed_at: i64,
    /// The message.
    pub message: String,
}

struct Layout {
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_tree: Option<PathBuf>,
}

impl Repository {
    /// Opens the repository that contains the directory `path`: a work tree of any kind (clone, linked work tree, submodule) or a bare one.
    ///
    /// # Errors
    /// [`GitError::NotARepository`] where there is none, [`GitError::Unusable`] where git may not use it.
    pub fn open(settings: &Arc<Settings>, path: &Path) -> Result<Self, GitError> {
        let git = Git::new(Arc::clone(settings), path);
        match git2::Repository::open_ext(path, git2::RepositoryOpenFlags::empty(), &[] as &[&Path])
        {
            Ok(library) if !leaves_objects_elsewhere(&library) => {
                Ok(Self::of_library(&git, library))
            }
            Err(error) if error.code() == git2::ErrorCode::NotFound => {
                Err(GitError::NotARepository { path: path.to_owned() })
            }
            _ => Self::of_program(&git, path),
        }
    }

    fn of_library(git: &Git, library: git2::Repository) -> Self {
        let layout = Layout {
            git_dir: library.path().to_owned(),
            common_dir: library.commondir().to_owned(),
            work_tree: library.workdir().map(Path::to_owned),
        };
        Self::assemble(git, layout, |_| Objects::of_library(library))
    }

    fn of_program(git: &Git, path: &Path) -> Result<Self, GitError> {
        git.version()?;
        let layout = ask_layout(git, path)?;
        let format = git.run(["rev-parse", "--show-object-format"]).text()?;
        let promisor = find_promisor(git)?;
        let folder = layout.common_dir.join("objects");
        let local = (format == "sha1").then_some(folder.as_path());
        Ok(Self::assemble(git, layout, |git| Objects::of_program(git.clone(), promisor, local)))
    }

    fn assemble(git: &Git, layout: Layout, objects: impl FnOnce(&Git) -> Objects) -> Self {
        let Layout { git_dir, common_dir, work_tree } = layout;
        let directory = work_tree.as_deref().unwrap_or(&git_dir);
        let git = git.in_directory(directory, work_tree.is_none().then_some(&git_dir));
        let objects = Arc::new(objects(&git));
        Self { git, git_dir, common_dir, work_tree, objects }
    }

    /// The git program, called in this repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The folder of this work tree's own state (`HEAD`, index).
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder that all work trees share (objects, refs).
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top of the work tree; a bare repository has none.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// The objects.
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// The commit that a revision names, in git's own syntax.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`] where it names none.
    pub fn resolve(&self, revision: &str) -> Result<ObjectId, GitError> {
        let unknown = || GitError::UnknownRevision {
            revision: revision.to_owned(),
            is_shallow: self.is_shallow().unwrap_or(false),
        };
        if revision.is_empty() || revision.starts_with('-') || revision.contains(['\0', '\n']) {
            return Err(unknown());
        }
        if let Ok(id) = revision.parse::<ObjectId>() {
            return self.peel(id).map_err(|_| unknown());
        }
        // The first form tells a short name of a commit from one of a file; `:/text` takes the second alone.
        for asked in [format!("{revision}^{{commit}}"), revision.to_owned()] {
            if let Some(id) = self.reference(&asked)? {
                return self.peel(id).map_err(|_| unknown());
            }
        }
        Err(unknown())
    }

    /// The commit an object is or, for a tag, leads to.
    ///
    /// # Errors
    /// [`GitError::BadObject`] where it leads to none.
    pub fn peel(&self, id: ObjectId) -> Result<ObjectId, GitError> {
        let mut id = id;
        for _ in 0..MAX_TAG_DEPTH {
            match self.objects.header(id)?.0 {
                Kind::Commit => return Ok(id),
                Kind::Tag => {
                    id = tag_target(&self.objects.read(id, Kind::Tag, MAX_COMMIT_BYTES)?, id)?
                }
                other => {
                    return Err(super::objects::bad(
                        id,
                        format!("a {}, not a commit", other.name()),
                    ));
                }
            }
        }
        Err(super::objects::bad(id, "tags of tags without end"))
    }

    /// Reads a commit.
    ///
    /// # Errors
    /// [`GitError::BadObject`] where it is none.
    pub fn commit(&self, id: ObjectId) -> Result<Commit, GitError> {
        let bytes = self.objects.read(id, Kind::Commit, MAX_COMMIT_BYTES)?;
        parse_commit(id, &bytes).ok_or_else(|| super::objects::bad(id, "a broken commit"))
    }

    /// Whether the commit is here, without asking a remote for it.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn has(&self, commit: ObjectId) -> Result<bool, GitError> {
        if self.objects.is_library() {
            return Ok(self.objects.header(commit).is_ok());
        }
        // A partial clone would fetch what it has not; a protocol that is not allowed fetches nothing.
        let call =
            self.git.run(["cat-file", "-e", &commit.to_string()]).env("GIT_ALLOW_PROTOCOL", "none");
        Ok(call.env("GIT_NO_LAZY_FETCH", "1").answer()?.is_success)
    }

    /// The files of a revision, as the build reads them.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`], [`GitError::BadObject`].
    pub fn files_at(&self, revision: &str) -> Result<RevisionFiles, GitError> {
        self.files_of(self.resolve(revision)?)
    }

    /// The files of a commit, as the build reads them.
    ///
    /// # Errors
    /// [`GitError::BadObject`].
    pub fn files_of(&self, commit: ObjectId) -> Result<RevisionFiles, GitError> {
        Ok(RevisionFiles::new(Arc::clone(&self.objects), self.commit(commit)?.tree))
    }

    /// The value of a setting of git, or `None` where it is not set.
    ///
    /// # Errors
    /// [`GitError::ProgramMissing`].
    pub fn setting(&self, name: &str) -> Result<Option<String>, GitError> {
        let answer = self.git.run(["config", "--get", name]).answer()?;
        let value = String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned();
        Ok(answer.is_success.then_some(value))
    }

    /// The URLs of all remotes, as configured.
    ///
    /// # Errors
    /// [`GitError::Failed`] where the configuration cannot be read.
    pub fn remote_urls(&self) -> Result<Vec<String>, GitError> {
        let answer = self.git.run(["config", "--get-regexp", r"^remote\..*\.url$"]).answer()?;
        let text = answer.text(&self.git);
        let urls = text.lines().filter_map(|line| line.split_once(' ')).map(|(_, url)| url);
        Ok(urls.map(str::to_owned).collect())
    }

    /// The configured remotes by name, each with its address as written and as git expands it, credentials taken out.
    ///
    /// # Errors
    /// [`GitError::Failed`] where the configuration cannot be read.
    pub fn remotes(&self) -> Result<Vec<(String, Vec<String>)>, GitError> {
        let names = self.git.run(["remote"]).text()?;
        let addresses = |name: &str| {
            let raw = self.setting(&format!("remote.{name}.url"))?;
            let expanded = self.git.run(["remote", "get-url", "--", name]).answer()?;
            let expanded = expanded.is_success.then(|| expanded.text(&self.git));
            let all = raw.into_iter().chain(expanded);
            let all = all.map(|address| self.git.scrub(address.trim()));
            Ok((name.to_owned(), all.collect()))
        };
        names.lines().filter(|name| !name.is_empty()).map(addresses).collect()
    }

    /// The short names of all branches, of this repository and as last fetched, and of all tags;
    /// `None` for a shallow clone, which has but some of them.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot list them.
    pub fn branches_and_tags(&self) -> Result<Option<Vec<String>>, GitError> {
        if self.is_shallow()? {
            return Ok(None);
        }
        let format = "--format=%(refname)";
        let listed = self.git.run(["for-each-ref", format]).text()?;
        let short = |name: &str| {
            let remote = name.strip_prefix("refs/remotes/").and_then(|name| name.split_once('/'));
            let local = || name.strip_prefix("refs/heads/").or(name.strip_prefix("refs/tags/"));
            remote.map(|(_, branch)| branch).or_else(local).map(str::to_owned)
        };
        Ok(Some(listed.lines().filter_map(short).collect()))
    }

    /// `path`, which must exist, relative to the top of the work tree with `/` between its parts; `None` outside of it.
    pub fn relative(&self, path: &Path) -> Option<String> {
        let top = self.work_tree()?.canonicalize().ok()?;
        let path = path.canonicalize().ok()?;
        let inside = path.strip_prefix(top).ok()?;
        let parts: Option<Vec<&str>> = inside.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// The full name of the branch that is checked out, commit or no commit; `None` for a detached `HEAD`.
    ///
    /// # Errors
    /// [`GitError::Failed`] where `HEAD` cannot be read.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        let answer = self.git.run(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
        match answer.code {
            Some(0) => Ok(Some(answer.text(&self.git).trim().to_owned())),
            Some(1) => Ok(None),
            _ => {
                Err(GitError::Failed { what: "symbolic-ref".to_owned(), message: answer.message() })
            }
        }
    }

    /// Whether commits are missing at the far end of its history.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn is_shallow(&self) -> Result<bool, GitError> {
        Ok(self.git.run(["rev-parse", "--is-shallow-repository"]).text()? != "false")
    }

    /// The value of a reference by its full name, or `None`.
    ///
    /// # Errors
    /// [`GitError::Failed`] where git cannot say.
    pub fn reference(&self, name: &str) -> Result<Option<ObjectId>, GitError> {
        let answer = self
            .git
            .run(["rev-parse", "--verify", "--quiet", "--end-of-options", name])
            .answer()?;
        Ok(String::from_utf8_lossy(&answer.stdout).trim().parse().ok())
    }
}

/// A partial clone: libgit2 would take what it has not for broken.
fn leaves_objects_elsewhere(library: &git2::Repository) -> bool {
    let Ok(config) = library.config() else { return true };
    let mut found = config.get_string("extensions.partialclone").is_ok();
    if let Ok(entries) = config.entries(Some(r"remote\..*\.promisor")) {
        let _ = entries.for_each(|_| found = true);
    }
    found
}

fn ask_layout(git: &Git, path: &Path) -> Result<Layout, GitError> {
    let questions = [
        "rev-parse",
        "--path-format=absolute",
        "--git-dir",
        "--git-common-dir",
        "--is-bare-repository",
        "--is-inside-work-tree",
    ];
    let answer = git.run(questions).answer()?;
    if !answer.is_success {
        return Err(classify(&answer.message(), path));
    }
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let [git_dir, common_dir, _bare, inside] = lines[..] else {
        return Err(classify("git did not say where the repository is", path));
    };
    let work_tree = match inside {
        "true" => Some(PathBuf::from(git.run(["rev-parse", "--show-toplevel"]).text()?)),
        _ => None,
    };
    Ok(Layout { git_dir: PathBuf::from(git_dir), common_dir: PathBuf::from(common_dir), work_tree })
}

fn classify(message: &str, path: &Path) -> GitError {
    if message.contains("not a git repository") {
        return GitError::NotARepository { path: path.to_owned() };
    }
    GitError::Unusable { path: path.to_owned(), reason: message.to_owned() }
}

fn find_promisor(git: &Git) -> Result<Option<String>, GitError> {
    let named = git.run(["config", "--get", "extensions.partialClone"]).answer()?;
    if named.is_success {
        return Ok(Some(named.text(git).trim().to_owned()));
    }
    let remotes =
        git.run(["config", "--get-regexp", r"^remote\..*\.promisor$", "true"]).answer()?;
    let text = remotes.text(git);
    let first = text.lines().next().and_then(|line| line.split_whitespace().next());
    Ok(first
        .and_then(|key| key.strip_prefix("remote.")?.strip_suffix(".promisor"))
        .map(str::to_owned))
}

fn tag_target(bytes: &[u8], id: ObjectId) -> Result<ObjectId, GitError> {
    let text = String::from_utf8_lossy(bytes);
    let target = text.lines().next().and_then(|line| line.strip_prefix("object "));
    target.and_then(|hex| hex.parse().ok()).ok_or_else(|| super::objects::bad(id, "a broken tag"))
}

fn parse_commit(id: ObjectId, bytes: &[u8]) -> Option<Commit> {
    let text = String::from_utf8_lossy(bytes);
    let (head, message) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let tree = lines.next()?.strip_prefix("tree ")?.parse().ok()?;
    let mut commit = Commit {
        id,
        tree,
        parents: Vec::new(),
        author: String::new(),
        committer: String::new(),
        committed_at: 0,
        message: message.to_owned(),
    };
    for line in lines {
        match line.split_once(' ')? {
            ("parent", hex) => commit.parents.push(hex.parse().ok()?),
            ("author", person) => commit.author = split_person(person)?.0.to_owned(),
            ("committer", person) => {
                let (person, time) = split_person(person)?;
                (commit.committer, commit.committed_at) = (person.to_owned(), time);
                break;
            }
            _ => {}
        }
    }
    Some(commit)
}

fn split_person(text: &str) -> Option<(&str, i64)> {
    let (person, rest) = text.rsplit_once("> ")?;
    let seconds = rest.split_whitespace().next()?.parse().ok()?;
    Some((text.get(..=person.len())?, seconds))
}
