//! The arguments by which `overlay ship` looks at certificates first.

use clap::Args;

use super::set::usage;
use crate::error::Error;
use crate::ops::cluster::ClusterAccess;
use crate::ops::trust::{SecretName, Source, TrustRequest};

/// What `overlay verify --trust` would be asked.
#[derive(Clone, Debug, Args)]
pub(super) struct ShipTrustArgs {
    /// Refuse where clients do not trust what is presented: a file of PEM, a Secret, or what a server presents. Pods that roll would find out.
    #[arg(long, global = true, value_name = "FILE|secret:NS/NAME[:KEY]|tls:HOST:PORT", value_parser = leaf)]
    trust_leaf: Option<Source>,

    /// The authorities that clients trust; without it those that this machine trusts.
    #[arg(long, global = true, value_name = "FILE|secret:NS/NAME[:KEY]", value_parser = authorities)]
    trust_ca: Option<Source>,

    /// The host that clients ask for.
    #[arg(long, global = true, value_name = "HOST")]
    trust_host: Option<String>,
}

impl ShipTrustArgs {
    /// The request, where trust is looked at.
    ///
    /// # Errors
    /// Where nothing says what is presented.
    pub(super) fn to_request(&self, access: &ClusterAccess) -> Result<Option<TrustRequest>, Error> {
        let Some(leaf) = &self.trust_leaf else {
            return match self.trust_ca.is_some() || self.trust_host.is_some() {
                true => Err(usage("nothing says what is presented: add --trust-leaf")),
                false => Ok(None),
            };
        };
        let ca = self.trust_ca.clone().unwrap_or(Source::System);
        let host = self.trust_host.clone();
        Ok(Some(TrustRequest {
            host,
            access: access.clone(),
            ..TrustRequest::new(ca, leaf.clone())
        }))
    }
}

fn authorities(text: &str) -> Result<Source, String> {
    match text.strip_prefix("secret:") {
        Some(secret) => SecretName::parse(secret).map(Source::Secret),
        None if text.starts_with("tls:") => {
            Err("no server presents the authorities that its clients trust".to_owned())
        }
        None => Ok(Source::File(text.into())),
    }
}

fn leaf(text: &str) -> Result<Source, String> {
    match text.strip_prefix("tls:") {
        Some(server) => Ok(Source::Server(server.to_owned())),
        None => authorities(text),
    }
}
