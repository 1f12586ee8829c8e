//! From the errors of git to the ones that users meet.

use super::{Error, Location, codes};
use crate::git::GitError;

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let plain = Self::new(code(&error), one_line(&error.to_string()));
        let plain = match &error {
            GitError::NotEditable { path, .. } => plain.at(Location::file(path)),
            GitError::Dirty { paths } if paths.len() == 1 => plain.at(Location::file(&paths[0])),
            _ => plain,
        };
        match hint(&error) {
            Some(hint) => plain.hint(hint),
            None => plain,
        }
    }
}

/// What git says in several lines as one.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}

fn code(error: &GitError) -> super::Code {
    match error {
        GitError::ProgramMissing { .. } => codes::GIT_MISSING,
        GitError::ProgramTooOld { .. } => codes::GIT_TOO_OLD,
        GitError::Failed { .. } => codes::GIT_FAILED,
        GitError::TimedOut { .. } => codes::GIT_TIMEOUT,
        GitError::Stopped { .. } => codes::GIT_STOPPED,
        GitError::NotARepository { .. } => codes::NOT_A_REPOSITORY,
        GitError::Unusable { .. } => codes::REPOSITORY_UNUSABLE,
        GitError::UnknownRevision { .. } => codes::NO_SUCH_REVISION,
        GitError::BadObject { .. } => codes::GIT_OBJECT,
        GitError::Unborn { .. } => codes::UNBORN_BRANCH,
        GitError::Detached => codes::DETACHED_HEAD,
        GitError::InProgress { .. } => codes::IN_PROGRESS,
        GitError::BadBranchName { .. } => codes::BAD_BRANCH_NAME,
        GitError::CheckedOutElsewhere { .. } => codes::BRANCH_CHECKED_OUT,
        GitError::Dirty { .. } => codes::DIRTY_FILE,
        GitError::NotEditable { .. } => codes::GIT_PATH,
        GitError::NoIdentity { .. } => codes::NO_GIT_IDENTITY,
        GitError::BadAuthor { .. } => codes::BAD_AUTHOR,
        GitError::Signing { .. } => codes::SIGNING_FAILED,
        GitError::Moved { .. } => codes::CHANGED_MEANWHILE,
        GitError::Locked { .. } => codes::REPOSITORY_LOCKED,
        GitError::BadRemote { .. } => codes::BAD_REMOTE,
        GitError::Authentication { .. } => codes::GIT_AUTHENTICATION,
        GitError::Unreachable { .. } => codes::REMOTE_UNREACHABLE,
        GitError::RemoteMissing { .. } => codes::REMOTE_MISSING,
        GitError::NoSuchReference { .. } | GitError::LockedGone { .. } => codes::NO_SUCH_REFERENCE,
        GitError::BadReference { .. } | GitError::Offline { .. } => codes::REMOTE_BASE,
        GitError::PushRefused { .. } => codes::PUSH_REFUSED,
        GitError::Diverged { .. } => codes::BRANCH_DIVERGED,
        GitError::LostEveryRace { .. } => codes::PUSH_LOST_RACES,
        GitError::NotThere { .. } => codes::PUSH_NOT_THERE,
        GitError::Io { .. } => codes::WRITE_FAILED,
    }
}

fn hint(error: &GitError) -> Option<&'static str> {
    Some(match error {
        GitError::ProgramMissing { .. } => "install git, or put it on PATH",
        GitError::ProgramTooOld { .. } => "install a newer git",
        GitError::NotARepository { .. } => "go into a clone of the repository",
        GitError::UnknownRevision { is_shallow: true, .. } => {
            "this clone is shallow and holds few revisions; `git fetch --unshallow` brings the rest"
        }
        GitError::UnknownRevision { .. } => "`git log --oneline --all` shows those that there are",
        GitError::Unborn { .. } => "make a first commit",
        GitError::Detached => "name a branch with --branch",
        GitError::InProgress { .. } => {
            "finish it or give it up first, or commit beside the checkout with --branch NAME"
        }
        GitError::CheckedOutElsewhere { .. } => {
            "name another branch; without --branch, in that work tree, the commit goes to it and its checkout follows"
        }
        GitError::Dirty { .. } => {
            "commit or restore it first; with --branch or --push, --ignore-dirty leaves it as it is and out of the commit"
        }
        GitError::NoIdentity { .. } => "git config user.name NAME; git config user.email ADDRESS",
        GitError::Signing { .. } => "check user.signingKey and gpg.format with `git commit -S`",
        GitError::Moved { .. } | GitError::LostEveryRace { .. } => "run the command again",
        GitError::Locked { .. } => {
            "wait until the other git command has ended; if none runs, remove the lock file"
        }
        GitError::Authentication { .. } => {
            "give git credentials for this host: a credential helper, GIT_ASKPASS, or an SSH key in the agent"
        }
        GitError::Unreachable { .. } => "check the network, the proxy and the host name",
        GitError::RemoteMissing { .. } => {
            "check the address, and that the account may see the repository"
        }
        GitError::PushRefused { .. } => {
            "the branch may be protected; push to a branch of its own with --branch"
        }
        GitError::Diverged { .. } => "bring them together first: git pull --rebase",
        GitError::NoSuchReference { reference, .. } if reference == "HEAD" => {
            "name the branch to start from with --base BRANCH"
        }
        GitError::LockedGone { .. } => {
            "somebody moved it; look at what it is now, then take that with `overlay lock --update`"
        }
        GitError::TimedOut { .. } => "allow more with --timeout",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_once() {
        let error = Error::from(GitError::Dirty { paths: vec!["a/kustomization.yaml".into()] });
        assert_eq!(error.to_string(), "a file is not as committed: a/kustomization.yaml");
        assert_eq!(error.location(), Some(&Location::file("a/kustomization.yaml")));
    }

    #[test]
    fn what_git_says_is_one_line() {
        let message = "*** Please tell me who you are.\n\nfatal: empty ident name".to_owned();
        let error = Error::from(GitError::NoIdentity { message });
        let expected = "git does not know who commits: *** Please tell me who you are.; fatal: empty ident name";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn a_remote_without_a_head_needs_a_base() {
        let (remote, reference) = ("origin".to_owned(), "HEAD".to_owned());
        let error = Error::from(GitError::NoSuchReference { remote, reference });
        assert_eq!(error.hints(), ["name the branch to start from with --base BRANCH"]);
    }
}
