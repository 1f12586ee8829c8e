//! Container registries: from a tag to a proven digest, over the OCI distribution specification 1.1 and Docker's API v2.
//!
//! [`DigestResolver`] is the port: [`Registries`] asks the servers, [`LockedDigests`] a file that an earlier run wrote. What a
//! resolver holds to:
//! * the *index* of a multi-platform image is what a tag means, never one platform's manifest: one `Accept` with all four
//!   media types, and the type that comes back is checked;
//! * a digest that will be *written* is the SHA-256 of a body that was read, compared with every claim about it; a mere
//!   question (has the tag moved, is the digest there) is a `HEAD`;
//! * each image is asked *once* a run, at most eight connections to a host, with patience where a server asks for it;
//! * a credential goes to the host that its key in the user's configuration names, and to the token service which that host
//!   names, over TLS; a mirror gets its own or none.
//!
//! Must not know kustomize, overlays or plans: it takes references and gives digests. `http` speaks, `process` runs helpers.

mod challenge;
mod client;
mod credentials;
mod error;
mod host;
mod lock;
mod manifest;
mod names;
mod platform;
mod resolver;
mod signature;
mod token;

use crate::image::{Digest, Reference};

pub use credentials::{Credentials, Environment};
pub use error::RegistryError;
pub use lock::{LockFileError, LockedDigests, LockedImage, to_lock_text};
pub use manifest::MediaType;
pub use names::{Mirrors, Repository};
pub use platform::{Platform, PlatformError};
pub use resolver::{Options, Registries};
pub use signature::{PublicKey, PublicKeyError};

/// How sure a digest has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Proof {
    /// What the registry says is enough: nothing is written by it.
    Claim,
    /// The body was read and has that digest.
    Body,
}

/// What is asked of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The image: a digest in it is what is asked for, else its tag, else `latest`.
    pub reference: Reference,
    /// How sure the answer has to be.
    pub proof: Proof,
}

/// What a registry has under a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What was asked for.
    pub reference: Reference,
    /// What it stands for.
    pub digest: Digest,
    /// What kind of manifest that is.
    pub media_type: MediaType,
    /// The platforms that it has, attestations left out; `None` where nobody looked.
    pub platforms: Option<Vec<Platform>>,
}

/// Hears how far a long resolution has gone: done, and of how many.
pub type Step<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Where digests come from.
pub trait DigestResolver: Send + Sync {
    /// What each of `wanted` stands for, in their order; equal ones are asked once.
    fn resolve(&self, wanted: &[Wanted], step: Step<'_>) -> Vec<Result<Resolved, RegistryError>>;
}
