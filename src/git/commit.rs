//! Building a commit in the object store: new blobs, the trees along their paths, and the commit; nothing moves yet.

use super::attributes::{FileChange, StoredFile, store_files};
use super::error::GitError;
use super::id::ObjectId;
use super::message::{ChangeRecord, compose};
use super::repository::Repository;
use super::revision_files::RevisionFiles;
use super::tree::{Placed, write_trees};

/// Whether a commit is signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signing {
    /// As `commit.gpgSign` says.
    #[default]
    AsConfigured,
    /// With the key of `user.signingKey`, by the program of `gpg.format`.
    Always,
}

/// Who wrote a commit, where it is not whom git's configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    name: String,
    address: String,
}

impl std::str::FromStr for Author {
    type Err = GitError;

    /// Reads `Name <address>`.
    fn from_str(text: &str) -> Result<Self, GitError> {
        let wrong = || GitError::BadAuthor { text: text.to_owned() };
        let (name, rest) = text.split_once('<').ok_or_else(wrong)?;
        let address = rest.trim_end().strip_suffix('>').ok_or_else(wrong)?;
        let name = name.trim();
        if name.is_empty()
            || text.contains(['\n', '\r', '\0'])
            || address.contains(['<', '>', ' '])
            || name.contains('>')
        {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), address: address.to_owned() })
    }
}

/// What a commit says about itself.
#[derive(Clone, Debug, Default)]
pub struct CommitText {
    /// Subject and text for people.
    pub message: String,
    /// The change as data.
    pub records: Vec<ChangeRecord>,
    /// More trailers, each a whole line.
    pub trailers: Vec<String>,
    /// Who wrote it, in place of the configured author.
    pub author: Option<Author>,
    /// Whether `Signed-off-by` is added.
    pub sign_off: bool,
    /// Whether it is signed.
    pub signing: Signing,
}

/// A commit that exists in the object store and that no branch holds yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Its name.
    pub id: ObjectId,
    /// The commit it stands on.
    pub base: ObjectId,
    /// The files it changes.
    pub files: Vec<StoredFile>,
    /// The first line of its message.
    pub subject: String,
}

/// Builds the commit that puts `files` on top of `base`, or `None` where the base holds them already.
///
/// # Errors
/// [`GitError::NotEditable`], [`GitError::NoIdentity`], [`GitError::Signing`], and what git says otherwise.
pub fn build_commit(
    repository: &Repository,
    base: ObjectId,
    files: &[FileChange],
    text: &CommitText,
) -> Result<Option<Built>, GitError> {
    let root = repository.commit(base)?.tree;
    let tree = RevisionFiles::new(std::sync::Arc::clone(repository.objects()), root);
    let stored: Vec<StoredFile> = store_files(repository, &tree, files)?
        .into_iter()
        .filter(|file| file.before != file.after)
        .collect();
    if stored.is_empty() {
        return Ok(None);
    }
    let placed: Vec<Placed<'_>> =
        stored.iter().map(|file| (file.path.as_str(), file.after)).collect();
    let new_root = write_trees(repository.objects(), root, &placed)?;
    let signed_off_by = if text.sign_off { Some(committer(repository)?) } else { None };
    let message = compose(&text.message, &text.records, &text.trailers, signed_off_by.as_deref());
    let id = write_commit(repository, new_root, base, &message, text)?;
    let subject = message.lines().next().unwrap_or_default().to_owned();
    Ok(Some(Built { id, base, files: stored, subject }))
}

/// `Name <address>` of the configured committer.
///
/// # Errors
/// [`GitError::NoIdentity`] where none is configured.
pub fn committer(repository: &Repository) -> Result<String, GitError> {
    let call =
        repository.git().run(["var", "GIT_COMMITTER_IDENT"]).config("user.useConfigOnly=true");
    let answer = call.answer()?;
    if !answer.is_success {
        return Err(GitError::NoIdentity { message: answer.message() });
    }
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let person = text.rsplit_once('>').map(|(person, _)| format!("{person}>"));
    person.ok_or(GitError::NoIdentity { message: text })
}

fn write_commit(
    repository: &Repository,
    tree: ObjectId,
    base: ObjectId,
    message: &str,
    text: &CommitText,
) -> Result<ObjectId, GitError> {
    let git = repository.git();
    git.version()?;
    let is_signed = text.signing == Signing::Always || signs_by_configuration(repository)?;
    let (tree, base) = (tree.to_string(), base.to_string());
    let mut call = git.run(["commit-tree", &tree, "-p", &base, "-F", "-"]);
    if is_signed {
        call = call.arg("-S");
    }
    if let Some(author) = &text.author {
        call = call.env("GIT_AUTHOR_NAME", &author.name).env("GIT_AUTHOR_EMAIL", &author.address);
    }
    let call = call.config("user.useConfigOnly=true").config("i18n.commitEncoding=UTF-8");
    let answer = call.stdin(message.as_bytes()).answer()?;
    if answer.is_success {
        let id = String::from_utf8_lossy(&answer.stdout).trim().parse();
        return id.map_err(|e| GitError::Failed {
            what: "commit-tree".to_owned(),
            message: format!("{e}"),
        });
    }
    Err(classify(answer.message(), is_signed))
}

fn classify(message: String, is_signed: bool) -> GitError {
    const NO_IDENTITY: [&str; 4] = [
        "tell me who you are",
        "empty ident name",
        "auto-detection is disabled",
        "unable to auto-detect",
    ];
    if NO_IDENTITY.iter().any(|words| message.contains(words)) {
        return GitError::NoIdentity { message };
    }
    if is_signed {
        return GitError::Signing { message };
    }
    super::call::failure("commit-tree".to_owned(), message)
}

fn signs_by_configuration(repository: &Repository) -> Result<bool, GitError> {
    let answer =
        repository.git().run(["config", "--type=bool", "--get", "commit.gpgSign"]).answer()?;
    Ok(answer.text(repository.git()).trim() == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_are_a_name_and_an_address() {
        let author: Author = "Ann Example <ann@example.com>".parse().unwrap();
        assert_eq!(
            (author.name.as_str(), author.address.as_str()),
            ("Ann Example", "ann@example.com")
        );
        for text in ["", "ann", "<a@b>", "A <a", "A <a@b> x", "A\nB <a@b>", "A <a b>"] {
            assert!(text.parse::<Author>().is_err(), "{text}");
        }
    }
}
