//! The arguments of `overlay verify --trust`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::cluster::ClusterArgs;
use super::options::OutputFormat;
use crate::error::{Error, codes};
use crate::ops::trust::{SecretName, Source, TrustRequest};
use crate::report::verify::VerifyForm;
use crate::trust::Days;

/// What says how an overlay is verified, which is another question.
const OF_THE_OVERLAY: [&str; 8] = [
    "namespace",
    "at",
    "commit",
    "min_allowed_disruptions",
    "no_registry",
    "follow",
    "dwell",
    "argocd_namespace",
];

/// Whether clients trust what a server presents.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Trust")]
#[command(group = ArgGroup::new("authorities").multiple(false))]
#[command(group = ArgGroup::new("presented").multiple(false))]
pub(crate) struct TrustArgs {
    /// Whether clients that trust a CA trust what a server presents, as `openssl verify` sees it and as clients on rustls do. Needs no OVERLAY; one that is named is where restarts are advised.
    #[arg(long, conflicts_with_all = OF_THE_OVERLAY)]
    trust: bool,

    /// The authorities: a file of PEM. Without this and --ca-secret: those that this machine trusts.
    #[arg(long, value_name = "FILE", requires = "trust", group = "authorities")]
    ca_file: Option<PathBuf>,

    /// The authorities: a Secret that pods mount, by its key ca.crt unless another is named.
    #[arg(long, value_name = "NS/NAME[:KEY]", requires = "trust", group = "authorities", value_parser = SecretName::parse)]
    ca_secret: Option<SecretName>,

    /// The chain that a server presents: a file of PEM, the leaf first.
    #[arg(long, value_name = "FILE", requires = "trust", group = "presented")]
    leaf_file: Option<PathBuf>,

    /// The chain: a Secret, by its key tls.crt unless another is named. Its tls.key is compared with it.
    #[arg(long, value_name = "NS/NAME[:KEY]", requires = "trust", group = "presented", value_parser = SecretName::parse)]
    leaf_secret: Option<SecretName>,

    /// The chain: what this server presents in a TLS handshake, whatever it is.
    #[arg(long, value_name = "HOST:PORT", requires = "trust", group = "presented")]
    connect: Option<String>,

    /// The host that clients ask for: sent to the server (SNI), and the leaf must name it.
    #[arg(long, value_name = "HOST", requires = "trust")]
    host: Option<String>,

    /// The private key that should be the leaf's: a file of PEM. It is only compared.
    #[arg(long, value_name = "FILE", requires = "trust")]
    key_file: Option<PathBuf>,

    /// Fewer days than these before a certificate of the chain ends are an error; without it fewer than 14 are a warning.
    #[arg(long, value_name = "N", requires = "trust")]
    min_days: Option<u32>,
}

impl TrustArgs {
    /// The request, where trust is asked for.
    ///
    /// # Errors
    /// Where nothing says what the server presents.
    pub(crate) fn to_request(
        &self,
        cluster: &ClusterArgs,
        overlay: Option<&OsString>,
        output: OutputFormat,
    ) -> Result<Option<TrustRequest>, Error> {
        if !self.trust {
            return Ok(None);
        }
        let ca = match (&self.ca_file, &self.ca_secret) {
            (Some(file), _) => Source::File(file.clone()),
            (_, Some(secret)) => Source::Secret(secret.clone()),
            (None, None) => Source::System,
        };
        let leaf = match (&self.leaf_file, &self.leaf_secret, &self.connect) {
            (Some(file), ..) => Source::File(file.clone()),
            (_, Some(secret), _) => Source::Secret(secret.clone()),
            (.., Some(server)) => Source::Server(server.clone()),
            _ => {
                let message = "nothing says what the server presents";
                return Err(Error::new(codes::USAGE, message)
                    .hint("add --leaf-file FILE, --leaf-secret NS/NAME or --connect HOST:PORT"));
            }
        };
        let usual = TrustRequest::new(ca, leaf);
        Ok(Some(TrustRequest {
            key_file: self.key_file.clone(),
            host: self.host.clone(),
            days: self.min_days.map_or(usual.days, Days::AtLeast),
            access: cluster.to_access(),
            overlay: overlay.cloned(),
            form: (output == OutputFormat::Markdown).then_some(VerifyForm::Markdown),
            ..usual
        }))
    }
}
