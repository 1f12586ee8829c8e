//! The arguments that say which cluster is read.

use std::path::PathBuf;

use clap::Args;

use crate::ops::cluster::ClusterAccess;

/// Which cluster is read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClusterArgs {
    /// The Kubernetes configuration; instead of KUBECONFIG and the usual place.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    kubeconfig: Option<PathBuf>,

    /// The context in it; instead of the current one.
    #[arg(long, value_name = "CONTEXT", conflicts_with = "from")]
    kube_context: Option<String>,

    /// Read a dump that `kubectl get … -o json` wrote (`-` for standard input) instead of a cluster; may be given again.
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
}

impl ClusterArgs {
    /// The way to it.
    pub(crate) fn to_access(&self) -> ClusterAccess {
        ClusterAccess {
            kubeconfig: self.kubeconfig.clone(),
            context: self.kube_context.clone(),
            from: self.from.clone(),
        }
    }
}
