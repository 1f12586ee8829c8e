//! What runs, looked at before the change and until it is well after it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

use crate::clock::{self, Deadline};
use crate::error::{Error, codes};
use crate::ops::Context;
use crate::ops::cluster::ClusterAccess;
use crate::ops::verify::{VerifyRequest, verify};
use crate::report::verify::Verified;
use crate::ship::Blame;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_secs(5);

/// How what runs is verified.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// `--verify-namespace`: that of objects which state none.
    pub namespace: Option<String>,
    /// `--min-allowed-disruptions`.
    pub least_allowed: Option<i64>,
    /// `--no-registry`.
    pub no_registry: bool,
}

/// Whether there is a cluster to look at; `false` where none is configured.
///
/// # Errors
/// Where the configuration that there is cannot be used.
pub(super) fn has_cluster(context: &Context, access: &ClusterAccess) -> Result<bool, Error> {
    match access.open(context) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == codes::CLUSTER_UNCONFIGURED => {
            let is_meant = access.kubeconfig.is_some() || access.context.is_some();
            if is_meant { Err(error) } else { Ok(false) }
        }
        Err(error) => Err(error),
    }
}

/// Findings that say that nobody could tell.
const UNSEEN: [&str; 2] = ["image-unknown", "unreadable"];

/// An object and what is wrong with it.
type Trouble = (&'static str, String);

/// What was wrong before the change: old trouble is not mistaken for new.
#[derive(Clone, Debug, Default)]
pub(super) struct Before(BTreeSet<Trouble>);

/// Overlays at a revision, in the cluster that is meant.
pub(super) struct Look<'a> {
    pub(super) context: &'a Context,
    pub(super) access: &'a ClusterAccess,
    pub(super) options: &'a VerifyOptions,
    pub(super) overlays: &'a [OsString],
    pub(super) at: String,
}

impl Look<'_> {
    fn once(&self) -> Result<Verified, Error> {
        verify(
            self.context,
            &VerifyRequest {
                overlays: self.overlays.to_vec(),
                namespace: self.options.namespace.clone(),
                at: Some(self.at.clone()),
                least_allowed: self.options.least_allowed,
                no_registry: self.options.no_registry,
                access: self.access.clone(),
                ..VerifyRequest::default()
            },
        )
    }

    /// What is wrong now.
    ///
    /// # Errors
    /// Where the cluster cannot be read.
    pub(super) fn before(&self) -> Result<Before, Error> {
        Ok(Before(troubles(&self.once()?)))
    }

    /// Looks until nothing is wrong, or the time is over: what was found last.
    ///
    /// # Errors
    /// Where the cluster cannot be read.
    pub(super) fn until_well(&self, allowed: Duration) -> Result<Verified, Error> {
        let deadline = Deadline::after(allowed);
        loop {
            let found = self.once()?;
            if found.is_well() || deadline.is_over() {
                return Ok(found);
            }
            clock::sleep(PAUSE.min(deadline.remaining()));
        }
    }
}

fn troubles(found: &Verified) -> BTreeSet<Trouble> {
    let bad = found.findings.iter().filter(|finding| finding.is_failure());
    let name = |finding: &crate::rollout::Finding| {
        let of = &finding.resource;
        format!("{}/{}/{}", of.kind, of.namespace, of.name)
    };
    bad.map(|finding| (finding.id, name(finding))).collect()
}

impl Before {
    /// How many things are wrong.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Whose fault what is wrong now is: nobody's that can be taken back, where all of it was so before or could not be seen.
    pub(super) fn blame(&self, now: &Verified) -> Blame {
        let now = troubles(now);
        let mut new = now.difference(&self.0);
        match new.any(|(id, _)| !UNSEEN.contains(id)) {
            true => Blame::Change,
            false => Blame::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Subject;
    use crate::rollout::Finding;

    #[test]
    fn what_was_so_before_and_what_nobody_sees_is_not_the_changes_fault() {
        let found = |ids: &[&'static str]| {
            let of = |id: &&'static str| Finding::of(Subject::kustomization("a"), id, "wrong");
            Verified { findings: ids.iter().map(of).collect(), ..Verified::default() }
        };
        let before = Before(troubles(&found(&["budget-low"])));
        for (now, want) in [
            (vec!["budget-low"], Blame::Elsewhere),
            (vec!["budget-low", "unreadable"], Blame::Elsewhere),
            (vec!["image-unknown"], Blame::Elsewhere),
            (vec!["unreadable", "query-failed"], Blame::Change),
            (vec!["crash-loop"], Blame::Change),
        ] {
            assert_eq!(before.blame(&found(&now)), want, "{now:?}");
        }
    }
}
