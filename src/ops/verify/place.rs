//! Whether there is the namespace that is looked at as a whole: where nothing of it is seen, all would seem to be well.

use crate::checks::Subject;
use crate::cluster::{ClusterError, ClusterReader, KindName, ObjectName};
use crate::error::{Error, codes};
use crate::rollout::{Finding, Snapshot, Wanted};

/// Asks for the namespace, where `snapshot` has nothing of it: a right that is missing is a finding.
///
/// # Errors
/// As [`find_namespace`].
pub(super) fn require_namespace(
    reader: &dyn ClusterReader,
    snapshot: &Snapshot,
    namespace: &str,
) -> Result<Option<Finding>, Error> {
    let denied = find_namespace(reader, snapshot, namespace)?;
    Ok(denied.map(|error| {
        let message = format!(
            "nothing of it was seen, and whether there is such a namespace cannot be told: {error}"
        );
        Finding::of(subject(namespace), "unreadable", message)
    }))
}

/// Asks for the namespace, where `snapshot` has nothing of it. The right to ask that is missing is given back.
///
/// # Errors
/// Where there is none, or the cluster does not answer.
pub(in crate::ops) fn find_namespace(
    reader: &dyn ClusterReader,
    snapshot: &Snapshot,
    namespace: &str,
) -> Result<Option<ClusterError>, Error> {
    if snapshot.has_any_in(namespace) {
        return Ok(None);
    }
    let kind = KindName::new("", "Namespace");
    let object = ObjectName { kind, namespace: String::new(), name: namespace.to_owned() };
    match reader.find(&object) {
        Ok(Some(_)) => Ok(None),
        Ok(None) => Err(no_such(&reader.described(), namespace)),
        Err(error @ ClusterError::Denied { .. }) => Ok(Some(error)),
        Err(error) => Err(error.into()),
    }
}

/// That there is no such namespace in `source`.
pub(super) fn no_such(source: &str, namespace: &str) -> Error {
    let message = format!("there is no namespace {namespace} in {source}");
    Error::new(codes::NO_SUCH_NAMESPACE, message)
        .hint("--namespace names one that is there; --kube-context the cluster that it is in")
}

/// That nothing was compared, where `wanted` is empty: all is well then whatever runs.
pub(super) fn nothing_compared(
    wanted: &[Wanted],
    directories: &[String],
    namespace: &str,
) -> Option<Finding> {
    let subject = match directories.first() {
        Some(directory) => Subject::kustomization(directory),
        None => subject(namespace),
    };
    let message = "no workload, disruption budget, database, certificate or external secret is here that could be compared with what runs";
    wanted.is_empty().then(|| Finding::of(subject, "nothing-compared", message))
}

fn subject(namespace: &str) -> Subject {
    Subject {
        api_version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        namespace: String::new(),
        name: namespace.to_owned(),
    }
}
