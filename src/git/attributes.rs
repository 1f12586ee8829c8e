//! What `git add` would store for an edited file: the rules of `.gitattributes` and `core.autocrlf` at any revision.
//!
//! Git applies its own rules: it is given a small index with the attribute files along the changed paths and the changed
//! files, and an empty work tree, so that neither the user's index nor the checkout plays a part.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tempfile::TempDir;

use super::call::Call;
use super::error::GitError;
use super::id::ObjectId;
use super::objects::Kind;
use super::repository::Repository;
use super::revision_files::{Found, RevisionFiles};
use super::tree::{Mode, TreeEntry};

/// The attributes that change content between object store and work tree.
const CONVERTING: [&str; 6] = ["filter", "text", "eol", "working-tree-encoding", "ident", "crlf"];

/// A file of a change: its new content as the object store would show it, or `None` where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the top of the work tree, links followed.
    pub path: String,
    /// The new bytes.
    pub content: Option<Vec<u8>>,
}

/// A file of a change, stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Relative to the top of the work tree.
    pub path: String,
    /// What stands there in the base.
    pub before: Option<TreeEntry>,
    /// What stands there afterwards.
    pub after: Option<TreeEntry>,
    /// Whether a checkout may show other bytes than the object store.
    pub is_converted: bool,
}

/// Stores the new content of each file as blobs of `repository`; `base` are the files of the revision that is changed.
///
/// # Errors
/// [`GitError::NotEditable`] for a path that is no regular file there, is not a path, or belongs to a filter such as Git LFS.
pub fn store_files(
    repository: &Repository,
    base: &RevisionFiles,
    files: &[FileChange],
) -> Result<Vec<StoredFile>, GitError> {
    let mut stored = files.iter().map(|file| locate(base, file)).collect::<Result<Vec<_>, _>>()?;
    let room = Room::new(repository)?;
    room.fill_index(repository, base, &stored)?;
    let attributes = room.attributes(repository, files)?;
    let converts_all = converts_line_ends(repository)?;
    for (file, change) in stored.iter_mut().zip(files) {
        let own = attributes.get(&file.path);
        if own.is_some_and(|own| own.contains_key("filter")) {
            return Err(not_editable(&file.path, "a filter (Git LFS, say) owns its content"));
        }
        file.is_converted = converts_all || own.is_some();
        let Some(content) = &change.content else { continue };
        let id = match own {
            Some(own) if own.contains_key("working-tree-encoding") => {
                store_encoded(repository, content, own)?
            }
            _ if file.is_converted => {
                room.add(repository, &file.path, content, file.before.is_none())?
            }
            _ => repository.objects().write(Kind::Blob, content)?,
        };
        file.after =
            Some(TreeEntry { mode: file.before.map_or(Mode::NEW, |before| before.mode), id });
    }
    Ok(stored)
}

fn not_editable(path: &str, reason: &str) -> GitError {
    GitError::NotEditable { path: path.to_owned(), reason: reason.to_owned() }
}

fn locate(base: &RevisionFiles, change: &FileChange) -> Result<StoredFile, GitError> {
    let path = &change.path;
    if !is_path(path) {
        return Err(not_editable(path, "not a path that git takes"));
    }
    let before = match base.find(path).map_err(|e| not_editable(path, &e.to_string()))? {
        None => None,
        Some(Found { real, .. }) if real != *path => {
            return Err(not_editable(path, "it stands behind a symbolic link"));
        }
        Some(Found { entry, .. }) if entry.mode.is_file() => Some(entry),
        Some(_) => return Err(not_editable(path, "it is a directory")),
    };
    Ok(StoredFile { path: path.clone(), before, after: None, is_converted: false })
}

/// Git never stores empty, `.`, `..` or `.git` parts.
fn is_path(path: &str) -> bool {
    !path.contains(['\0', '\n', '\\'])
        && path
            .split('/')
            .all(|part| !["", ".", ".."].contains(&part) && !part.eq_ignore_ascii_case(".git"))
}

fn converts_line_ends(repository: &Repository) -> Result<bool, GitError> {
    let answer = repository.git().run(["config", "--get", "core.autocrlf"]).answer()?;
    let value = answer.text(repository.git()).trim().to_ascii_lowercase();
    Ok(answer.is_success && !["", "false", "no", "off", "0"].contains(&value.as_str()))
}

type Attributes = BTreeMap<String, BTreeMap<String, String>>;

/// The object store holds UTF-8 whatever the checkout shows; of the rules only the one for line ends is left.
fn store_encoded(
    repository: &Repository,
    content: &[u8],
    own: &BTreeMap<String, String>,
) -> Result<ObjectId, GitError> {
    let is_text = own.get("text").is_some_and(|value| value != "unset") || own.contains_key("eol");
    let text = String::from_utf8_lossy(content);
    if is_text && text.contains("\r\n") {
        return repository.objects().write(Kind::Blob, text.replace("\r\n", "\n").as_bytes());
    }
    repository.objects().write(Kind::Blob, content)
}

/// A folder with an index and a work tree of its own.
struct Room {
    folder: TempDir,
}

impl Room {
    fn new(repository: &Repository) -> Result<Self, GitError> {
        let io = |e: std::io::Error| GitError::Io {
            path: repository.git_dir().to_owned(),
            reason: e.to_string(),
        };
        let folder = tempfile::Builder::new().prefix("overlay-").tempdir().map_err(io)?;
        std::fs::create_dir(folder.path().join("work")).map_err(io)?;
        Ok(Self { folder })
    }

    fn work_tree(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    fn isolate<'a>(&self, repository: &Repository, call: Call<'a>) -> Call<'a> {
        call.config("index.sparse=false")
            .config("core.sparseCheckout=false")
            .config("core.splitIndex=false")
            .config("core.bare=false")
            .config("core.safecrlf=false")
            .env_path("GIT_DIR", repository.git_dir())
            .env_path("GIT_WORK_TREE", &self.work_tree())
            .env_path("GIT_INDEX_FILE", &self.folder.path().join("index"))
            .directory(&self.work_tree())
    }

    fn fill_index(
        &self,
        repository: &Repository,
        base: &RevisionFiles,
        files: &[StoredFile],
    ) -> Result<(), GitError> {
        let mut lines: BTreeMap<String, TreeEntry> = BTreeMap::new();
        for path in attribute_files(files) {
            if let Ok(Some(found)) = base.find(&path)
                && found.real == path
                && found.entry.mode.is_file()
            {
                lines.insert(path, found.entry);
            }
        }
        lines.extend(files.iter().filter_map(|file| Some((file.path.clone(), file.before?))));
        let call = repository
            .git()
            .run(["update-index", "-z", "--index-info"])
            .stdin(&index_lines(&lines));
        self.isolate(repository, call).bytes().map(|_| ())
    }

    fn attributes(
        &self,
        repository: &Repository,
        files: &[FileChange],
    ) -> Result<Attributes, GitError> {
        let paths: String = files.iter().map(|file| format!("{}\0", file.path)).collect();
        let args = ["check-attr", "--cached", "-z", "--stdin"].into_iter().chain(CONVERTING);
        let call = repository.git().run(args).stdin(paths.as_bytes());
        let bytes = self.isolate(repository, call).bytes()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let fields: Vec<&str> = text.split('\0').collect();
        let mut found = Attributes::new();
        for triple in fields.chunks_exact(3) {
            let is_unset =
                triple[2] == "unspecified" || (triple[2] == "unset" && triple[1] != "text");
            if !is_unset {
                found
                    .entry(triple[0].to_owned())
                    .or_default()
                    .insert(triple[1].to_owned(), triple[2].to_owned());
            }
        }
        Ok(found)
    }

    /// `git add` of one file, in the room.
    fn add(
        &self,
        repository: &Repository,
        path: &str,
        content: &[u8],
        is_new: bool,
    ) -> Result<ObjectId, GitError> {
        let file = self.work_tree().join(path);
        write_new(&file, content)
            .map_err(|e| GitError::Io { path: file.clone(), reason: e.to_string() })?;
        let args: &[&str] = if is_new {
            &["update-index", "--add", "--", path]
        } else {
            &["update-index", "--", path]
        };
        self.isolate(repository, repository.git().run(args.iter().copied())).bytes()?;
        let listed = self
            .isolate(repository, repository.git().run(["ls-files", "-s", "-z", "--", path]))
            .text()?;
        let id = listed.split_whitespace().nth(1).and_then(|id| id.parse().ok());
        id.ok_or_else(|| not_editable(path, "git did not store it"))
    }
}

fn write_new(path: &Path, content: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(content)
}

/// The lines of `git update-index -z --index-info`.
pub(super) fn index_lines(entries: &BTreeMap<String, TreeEntry>) -> Vec<u8> {
    let line = |(path, entry): (&String, &TreeEntry)| {
        format!("{:o} {}\t{path}\0", entry.mode.bits(), entry.id)
    };
    entries.iter().map(line).collect::<String>().into_bytes()
}

/// Where attribute files could stand that concern these files.
fn attribute_files(files: &[StoredFile]) -> BTreeSet<String> {
    let mut found = BTreeSet::from([".gitattributes".to_owned()]);
    for file in files {
        for (at, _) in file.path.match_indices('/') {
            found.insert(format!("{}/.gitattributes", &file.path[..at]));
        }
    }
    found
}
