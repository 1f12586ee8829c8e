//! From what keeps a cluster from being read to the error that users meet.

use super::{Error, Location, codes};
use crate::cluster::{ClusterError, DumpError};

impl From<ClusterError> for Error {
    fn from(error: ClusterError) -> Self {
        let message = error.to_string();
        match error {
            ClusterError::Unauthenticated { .. } => Self::new(codes::CLUSTER_DENIED, message)
                .hint("log in to the cluster again, or choose another context with --kube-context"),
            ClusterError::Denied { verb, resource, namespace } => {
                let whose = match namespace.as_str() {
                    "" => "cluster role",
                    _ => "role",
                };
                Self::new(codes::CLUSTER_DENIED, message)
                    .hint(format!("a {whose} that allows to {verb} {resource} is needed"))
            }
            ClusterError::Unreachable { .. } | ClusterError::Invalid { .. } => {
                Self::new(codes::CLUSTER_UNREACHABLE, message)
            }
            ClusterError::TooLarge { .. } => Self::new(codes::CLUSTER_UNREACHABLE, message)
                .hint("name one namespace with --namespace"),
        }
    }
}

/// How a dump is written.
const HOW_TO_DUMP: &str = "a dump is what `kubectl get KINDS -A -o json` prints: the pages of verify, baseline and drain-plan name the kinds";

impl Error {
    /// Why the file `name` is no dump of a cluster.
    #[must_use]
    pub fn from_dump(name: &str, error: DumpError) -> Self {
        Self::new(codes::DUMP_INVALID, error.message)
            .at(Location::at(name, error.line, error.column))
            .hint(HOW_TO_DUMP)
    }

    /// That the dumps of those names hold nothing that could be looked at: nothing can be said then, least of all that all is well.
    #[must_use]
    pub fn from_empty_dump(names: &str) -> Self {
        Self::new(codes::DUMP_INVALID, format!("{names}: nothing in it that could be looked at"))
            .hint(HOW_TO_DUMP)
    }
}
