//! `--commit-via-api`: the commit is made by the forge, which signs it, and not by git here.
//!
//! It is made on a branch of its own, at the base that the edit was proven on, and compared with what was proven; only then does the branch of
//! the pull request go there, by a push with the same lease as any other. So nobody sees a branch without the edit, and a pull request is never
//! closed because its branch equals its base for a moment.

use super::branch::Line;
use crate::error::{Error, codes};
use crate::forge::{FileChange, Forge, NewCommit};
use crate::git::{Built, Kind, MAX_FILE_BYTES, ObjectId, Outcome};

/// Where the forge makes its commits; each is named after the commit that was proven, and is gone afterwards.
const PLACE: &str = "refs/heads/overlay-commit";

/// Lets the forge make the commit that `built` is, and gives its name; it is here then, and on no branch that stays.
///
/// # Errors
/// What the forge or the remote refuses, and [`codes::FORGE_FAILED`] where the forge's commit is not what was proven.
pub(super) fn commit_by_forge(
    line: &Line<'_>,
    forge: &dyn Forge,
    built: &Built,
) -> Result<ObjectId, Error> {
    let (repository, remote) = (line.job.repository, line.remote);
    let place = format!("{PLACE}/{}", built.id);
    let new = describe(line, built, &place)?;
    if remote.push(repository, &place, None, built.base)? == Outcome::LostRace {
        let message = format!("another run of the same edit is making {}", built.id.short());
        return Err(Error::new(codes::PUSH_LOST_RACES, message));
    }
    let made = match forge.commit(&new) {
        Ok(_) => line.fetch(&place).map_err(Error::from),
        // Where the answer was lost, the branch tells whether the commit was made.
        Err(error) if error.is_ambiguous() => match line.fetch(&place) {
            Ok(Some(made)) if made != built.base => Ok(Some(made)),
            _ => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    };
    let made = made.and_then(|made| require_same(line, built, made));
    // What is left behind there does no harm, and the edit matters more.
    if let Err(error) = remote.remove(repository, &place) {
        line.job.context.say(|| format!("{place} is left at the remote: {error}"));
    }
    made
}

fn describe(line: &Line<'_>, built: &Built, place: &str) -> Result<NewCommit, Error> {
    let repository = line.job.repository;
    let change = |file: &crate::git::StoredFile| -> Result<FileChange, Error> {
        let read = |id| repository.objects().read(id, Kind::Blob, MAX_FILE_BYTES);
        let content = file.after.map(|entry| read(entry.id)).transpose()?;
        Ok(FileChange { path: file.path.clone(), content })
    };
    let message = repository.commit(built.id)?.message;
    Ok(NewCommit {
        branch: place.strip_prefix("refs/heads/").unwrap_or(place).to_owned(),
        head: built.base.to_string(),
        message,
        files: built.files.iter().map(change).collect::<Result<_, _>>()?,
    })
}

/// The forge's commit stands on the same base and holds the same files as the one that was proven.
fn require_same(line: &Line<'_>, built: &Built, made: Option<ObjectId>) -> Result<ObjectId, Error> {
    let wrong = |what: &str| {
        let message = format!("the commit that the forge made is not the edit: {what}");
        Err(Error::new(codes::FORGE_FAILED, message).hint("leave --commit-via-api out"))
    };
    let Some(made) = made else { return wrong("it is not there") };
    let repository = line.job.repository;
    let (proven, commit) = (repository.commit(built.id)?, repository.commit(made)?);
    match () {
        () if made == built.base => wrong("there is none"),
        () if commit.parents != proven.parents => wrong("it stands on another commit"),
        () if commit.tree != proven.tree => wrong("its files are others"),
        () => Ok(made),
    }
}
