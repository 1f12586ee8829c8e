//! Why a cluster cannot be read.

/// Why a cluster, or a part of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// The credentials are not taken.
    #[error("the cluster does not take the credentials: {message}")]
    Unauthenticated {
        /// What it says.
        message: String,
    },
    /// The account lacks a right.
    #[error("the account may not {verb} {resource} {}", place(namespace))]
    Denied {
        /// `get`, `list` or `watch`.
        verb: &'static str,
        /// The resource, such as `pods` or `clusters.postgresql.cnpg.io`.
        resource: String,
        /// The namespace; empty for the whole cluster.
        namespace: String,
    },
    /// No answer, or none in time.
    #[error("{message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// More than is read.
    #[error("{what}: more than {limit}")]
    TooLarge {
        /// What was asked for.
        what: String,
        /// How much may be read.
        limit: &'static str,
    },
    /// An answer that cannot be read, or a name that is none.
    #[error("{message}")]
    Invalid {
        /// What is wrong.
        message: String,
    },
}

fn place(namespace: &str) -> String {
    match namespace {
        "" => "in the whole cluster".to_owned(),
        named => format!("in namespace {named}"),
    }
}
