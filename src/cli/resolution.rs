//! The options by which registries are asked: those of `pin`, and those that every such command has.

use std::path::PathBuf;

use clap::Args;

use crate::ops::digests::DigestRequest;
use crate::ops::pin::Resolution;
use crate::registry::Platform;

/// How registries are reached.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Registries")]
pub(crate) struct RegistryArgs {
    /// Ask MIRROR (HOST[:PORT][/PATH]) for the images of HOST, with the login for MIRROR or none; may be given again.
    #[arg(long = "mirror", value_name = "HOST=MIRROR")]
    mirrors: Vec<String>,

    /// Ask the registry HOST[:PORT] without TLS, as this machine's own are without saying so; may be given again.
    #[arg(long = "plain-http", value_name = "HOST")]
    plain_http: Vec<String>,

    /// Trust the certificate authorities in FILE too, beside the system's or those of SSL_CERT_FILE; may be given again.
    #[arg(long = "registry-ca", value_name = "FILE")]
    authorities: Vec<PathBuf>,
}

impl RegistryArgs {
    /// A request with nothing but these.
    pub(crate) fn to_request(&self) -> DigestRequest {
        DigestRequest {
            mirrors: self.mirrors.clone(),
            plain_http: self.plain_http.clone(),
            authorities: self.authorities.clone(),
            ..DigestRequest::default()
        }
    }
}

/// What `pin` leaves to registries.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Registries")]
pub(crate) struct ResolutionArgs {
    /// Ask the registries for the digest of the tag in use and pin it: of the images named as for NAME=REF, else of those without a digest.
    #[arg(long, value_name = "NAME,…", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_missing_value = "", conflicts_with_all = ["check", "refresh", "verify"])]
    resolve: Option<Vec<String>>,

    /// Ask the registries what each tag beside a digest stands for now, and pin what has moved.
    #[arg(long, conflicts_with = "digests")]
    pub(super) refresh: bool,

    /// Ask the registries whether each digest exists; exit 7 if one does not.
    #[arg(long, conflicts_with_all = ["check", "refresh", "digests", "dry_run", "references", "commit", "branch", "push"])]
    pub(super) verify: bool,

    /// Pin the image for this one platform, such as linux/amd64, in place of the index of all.
    #[arg(long, value_name = "OS/ARCH[/VARIANT]")]
    platform: Option<Platform>,

    /// Refuse an image that lacks one of these platforms.
    #[arg(long = "require-platforms", value_name = "OS/ARCH,…", value_delimiter = ',')]
    required: Vec<Platform>,

    /// Refuse an image that cosign has not signed with the key pair whose public key, in PEM, is in FILE.
    #[arg(long = "verify-signature", value_name = "FILE")]
    key: Option<PathBuf>,

    /// Let a tag go to a lower version.
    #[arg(long)]
    allow_downgrade: bool,

    /// Write to FILE what each tag stood for, so that the same edit can be made again without network.
    #[arg(long, value_name = "FILE")]
    write_lock: Option<PathBuf>,

    /// Take digests from FILE, which --write-lock wrote, and ask no registry; with nothing else, pin all that it holds.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write_lock", "platform", "required", "key", "refresh", "verify", "check"])]
    from_lock: Option<PathBuf>,

    #[command(flatten)]
    registries: RegistryArgs,
}

impl ResolutionArgs {
    /// What of the request is for registries.
    pub(crate) fn to_resolution(&self) -> Resolution {
        let names = |names: &Vec<String>| names.iter().filter(|n| !n.is_empty()).cloned().collect();
        Resolution {
            resolve: self.resolve.as_ref().map(names),
            refresh: self.refresh,
            allow_downgrade: self.allow_downgrade,
            digests: DigestRequest {
                platform: self.platform.clone(),
                required: self.required.clone(),
                key: self.key.clone(),
                write_lock: self.write_lock.clone(),
                from_lock: self.from_lock.clone(),
                ..self.registries.to_request()
            },
        }
    }
}
