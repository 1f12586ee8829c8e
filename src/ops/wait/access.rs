//! The way to Argo CD: its API server, or the Kubernetes API, as flags and environment name them.

use std::sync::Arc;

use crate::argocd::{ArgoCd, Rest, ServerName};
use crate::clock::Allowance;
use crate::config::Environment;
use crate::error::{Error, codes};
use crate::http::{Options, Proxies, Secret, Trust};
use crate::ops::Context;
use crate::ops::cluster::ClusterAccess;

/// How the user wants Argo CD to be reached.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `--argocd-server`, in place of `ARGOCD_SERVER`.
    pub server: Option<String>,
    /// `--plaintext`: a server without scheme is asked by `http`.
    pub is_plaintext: bool,
    /// `--insecure`: any certificate is taken.
    pub is_insecure: bool,
    /// `--grpc-web-root-path`: where below the server the API stands.
    pub root_path: Option<String>,
    /// `--kube-context`: the context of the Kubernetes configuration; with it the API server is not asked.
    pub kube_context: Option<String>,
    /// `--argocd-namespace`: where Argo CD lives in the cluster.
    pub namespace: Option<String>,
}

impl Access {
    /// The addresses that this leads to, as far as they are known without asking anybody: Argo CD's server, or that of the cluster's
    /// configuration.
    #[must_use]
    pub fn servers(&self, context: &Context) -> Vec<String> {
        let environment = &context.environment;
        let named = self.server.clone().or_else(|| text(environment, "ARGOCD_SERVER"));
        match named.filter(|_| self.kube_context.is_none()) {
            Some(server) => vec![server],
            None => {
                let kube_context = self.kube_context.clone();
                let cluster = ClusterAccess { context: kube_context, ..ClusterAccess::default() };
                cluster.server(context).into_iter().collect()
            }
        }
    }

    /// The Argo CD that is meant.
    ///
    /// # Errors
    /// Where none is named, or its address is none.
    pub(super) fn open(&self, context: &Context) -> Result<Arc<dyn ArgoCd>, Error> {
        let environment = &context.environment;
        let named = self.server.clone().or_else(|| text(environment, "ARGOCD_SERVER"));
        match named.filter(|_| self.kube_context.is_none()) {
            Some(server) => self.open_server(context, server),
            None => self.open_cluster(context),
        }
    }

    fn open_server(&self, context: &Context, server: String) -> Result<Arc<dyn ArgoCd>, Error> {
        let environment = &context.environment;
        let root_path = self.root_path.clone().unwrap_or_default();
        let name = ServerName { server, is_plaintext: self.is_plaintext, root_path };
        let wrong = |error: crate::http::HttpError| {
            Error::new(codes::ARGOCD_UNCONFIGURED, error.to_string())
        };
        let token = text(environment, "ARGOCD_AUTH_TOKEN").map(Secret::new);
        let options = Options {
            proxies: Proxies::from_variables(&environment.variables),
            trust: if self.is_insecure { Trust::Anybody } else { Trust::Authorities },
            ..Options::default()
        };
        let rest = Rest::new(&options, name.address().map_err(wrong)?, token);
        // A server that keeps silent must not hold a command for longer than it may take.
        Ok(Arc::new(rest.until(context.allowed_time().map(Allowance::of))))
    }

    #[cfg(feature = "cluster")]
    fn open_cluster(&self, context: &Context) -> Result<Arc<dyn ArgoCd>, Error> {
        use crate::argocd::{ClusterName, DEFAULT_NAMESPACE, Kubernetes};
        let connection =
            crate::ops::cluster::connection_name(context, None, self.kube_context.as_ref());
        let namespace = self.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
        let name = ClusterName { connection, namespace: namespace.to_owned() };
        match Kubernetes::connect(&name) {
            Ok(kubernetes) => {
                Ok(Arc::new(kubernetes.until(context.allowed_time().map(Allowance::of))))
            }
            Err(trouble) => Err(nowhere().cause(trouble.to_string())),
        }
    }

    #[cfg(not(feature = "cluster"))]
    fn open_cluster(&self, _: &Context) -> Result<Arc<dyn ArgoCd>, Error> {
        Err(nowhere())
    }
}

fn nowhere() -> Error {
    Error::new(codes::ARGOCD_UNCONFIGURED, "where Argo CD is, is not known").hint(
        "set ARGOCD_SERVER and ARGOCD_AUTH_TOKEN, or KUBECONFIG for the cluster that Argo CD lives in",
    )
}

/// A variable that is set, not empty and a text.
fn text(environment: &Environment, name: &str) -> Option<String> {
    environment.variable(name)?.to_str().map(str::to_owned)
}
