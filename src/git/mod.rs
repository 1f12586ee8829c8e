//! Git: reading any revision without a checkout, building commits in the object store, and delivering them.
//!
//! libgit2 reads and writes objects where it understands the repository; everything else (references, the index, fetch,
//! push, signing) is the git program's, so that it works as the user configured it. Must not know what a change is, nor
//! how it is rendered. Start at [`Repository`].

mod attributes;
mod batch;
mod call;
mod checkout;
mod commit;
mod credentials;
mod error;
mod footprint;
mod id;
mod in_progress;
mod journal;
mod lock_file;
mod message;
mod objects;
mod program;
mod push;
mod remote;
mod remote_base;
mod repository;
mod revision_files;
mod scrub;
mod temporary;
mod tree;
mod walk;

pub use attributes::{FileChange, StoredFile, store_files};
pub use call::{Answer, Call};
pub use checkout::{
    advance_current_branch, branch_reference, finish_interrupted, move_branch, require_clean,
    short_name,
};
pub use commit::{Author, Built, CommitText, Signing, build_commit, committer};
pub use error::GitError;
pub use footprint::{Footprint, TreeReader};
pub use id::{NotAnObjectId, ObjectId};
pub use in_progress::require_nothing_in_progress;
pub use lock_file::{LOCK_FILE, LockEntry, LockFile, LockFileError};
pub use message::{ChangeRecord, RECORD_KEY, RECORD_VERSION, compose, parse_records};
pub use objects::{Kind, Objects};
pub use program::{Git, OLDEST_GIT, Settings};
pub use push::{MOST_TRIES, Outcome, Pushed, Remade, push_with_retry};
pub use remote::{Advertised, Remote, is_address};
pub use remote_base::{MAX_REPOSITORY_BYTES, Pinning, RemoteBase, RemoteBases};
pub use repository::{Commit, Repository};
pub use revision_files::{FilesBelow, Found, MAX_FILE_BYTES, RevisionFiles};
pub use temporary::{TEMPORARY_REMOTE, TemporaryClone};
pub use tree::{Mode, Placed, Tree, TreeEntry, write_trees};
pub use walk::{Parents, Walk, Walked};
