//! The way to a cluster: over the Kubernetes API, or a dump of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Context, input};
#[cfg(feature = "cluster")]
use crate::clock::Allowance;
use crate::cluster::{ClusterReader, Dump};
use crate::error::{Error, codes};

/// The most bytes of a dump.
pub(super) const MOST_OF_DUMP: u64 = 512 << 20;

/// How long a cluster may take, where that is bounded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// One answer.
    Each(Option<Duration>),
    /// All that is asked of it, from now on.
    All(Option<Duration>),
}

/// How the user wants the cluster to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterAccess {
    /// `--kubeconfig`, in place of `KUBECONFIG`.
    pub kubeconfig: Option<PathBuf>,
    /// `--kube-context`.
    pub context: Option<String>,
    /// `--from`: dumps that are read in place of a cluster; `-` is standard input.
    pub from: Vec<PathBuf>,
}

impl ClusterAccess {
    /// The cluster that is meant. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Where none is named, its configuration cannot be used, or a dump is none.
    pub fn open(&self, context: &Context) -> Result<Arc<dyn ClusterReader>, Error> {
        self.open_within(context, Bound::Each(context.allowed_time()))
    }

    /// The same within other bounds.
    ///
    /// # Errors
    /// As [`ClusterAccess::open`].
    pub(super) fn open_within(
        &self,
        context: &Context,
        bound: Bound,
    ) -> Result<Arc<dyn ClusterReader>, Error> {
        if self.from.is_empty() {
            return self.open_live(context, bound);
        }
        let mut all = Dump::default();
        for file in &self.from {
            // One that is no text is a broken dump, and no mistake of the command line.
            let broken = |error: Error| match error.code() == codes::USAGE {
                true => Error::new(codes::DUMP_INVALID, error.message()),
                false => error,
            };
            let text = input::load_large(&context.cwd, file, MOST_OF_DUMP).map_err(broken)?;
            let dump = Dump::parse(&text.name, &text.text)
                .map_err(|error| Error::from_dump(&text.name, error))?;
            all.append(dump);
        }
        Ok(Arc::new(all.without_repeats()))
    }

    /// The address of the API server, as far as it is known without asking anybody; none for a dump.
    pub(super) fn server(&self, context: &Context) -> Option<String> {
        #[cfg(feature = "cluster")]
        if self.from.is_empty() {
            let name = connection_name(context, self.kubeconfig.as_ref(), self.context.as_ref());
            return crate::kubernetes::server_address(&name);
        }
        let _ = context;
        None
    }

    #[cfg(feature = "cluster")]
    fn open_live(&self, context: &Context, bound: Bound) -> Result<Arc<dyn ClusterReader>, Error> {
        use crate::cluster::LiveCluster;
        let name = connection_name(context, self.kubeconfig.as_ref(), self.context.as_ref());
        match LiveCluster::connect(&name) {
            Ok(cluster) => Ok(match bound {
                Bound::Each(allowed) => Arc::new(cluster.within(allowed)),
                Bound::All(allowed) => Arc::new(cluster.until(allowed.map(Allowance::of))),
            }),
            Err(error) => Err(nowhere().cause(error.to_string())),
        }
    }

    #[cfg(not(feature = "cluster"))]
    fn open_live(&self, _: &Context, _: Bound) -> Result<Arc<dyn ClusterReader>, Error> {
        Err(nowhere())
    }
}

/// Reads the name of a namespace: a label of RFC 1123, as the API takes it.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn parse_namespace(text: &str) -> Result<String, String> {
    let is_inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let is_label = !text.is_empty()
        && text.len() <= 63
        && text.bytes().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_label {
        true => Ok(text.to_owned()),
        false => Err(format!("`{text}` is no name of a namespace")),
    }
}

fn nowhere() -> Error {
    Error::new(codes::CLUSTER_UNCONFIGURED, "which cluster is meant is not known")
        .hint("set KUBECONFIG, or name a file with --kubeconfig, or read a dump with --from FILE")
}

/// The configuration files and the context: a file that is named, else those of `KUBECONFIG` that are there.
#[cfg(feature = "cluster")]
pub(super) fn connection_name(
    context: &Context,
    kubeconfig: Option<&PathBuf>,
    kube_context: Option<&String>,
) -> crate::kubernetes::ConnectionName {
    let files = match kubeconfig {
        Some(file) => vec![context.cwd.join(file)],
        None => {
            let files = context.environment.variable("KUBECONFIG").unwrap_or_default();
            std::env::split_paths(files).filter(|path| path.exists()).collect()
        }
    };
    crate::kubernetes::ConnectionName { kubeconfig: files, context: kube_context.cloned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_namespaces_are_labels() {
        for name in ["memql", "argo-cd", "7", "a"] {
            assert_eq!(parse_namespace(name).as_deref(), Ok(name));
        }
        let long = "a".repeat(64);
        for wrong in ["", "-a", "a-", "A", "a.b", "a/b", "../a", "a b", "ä", long.as_str()] {
            assert!(parse_namespace(wrong).is_err(), "{wrong}");
        }
    }
}
