//! The fewest ready pods of a workload, against what its strategy leaves.

use serde_json::Value;

use crate::rollout::finding::Finding;
use crate::rollout::live::Snapshot;
use crate::rollout::minimum::{least_ready, replicas};
use crate::rollout::pod::counts;

/// How long a number may be low because another stream has not told yet of a change of replicas, in seconds.
const RACE_SECONDS: i64 = 5;

/// The fewest ready pods so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Low {
    /// Whether the minimum has been reached since the number of replicas changed last.
    has_begun: bool,
    replicas: i64,
    dip: Option<Dip>,
}

#[derive(Clone, Debug)]
struct Dip {
    since: i64,
    ready: i64,
    least: i64,
    finding: Finding,
}

impl Low {
    /// Counts; a finding where fewer were ready than there are to be, once that is certain.
    pub(super) fn measure(
        &mut self,
        snapshot: &Snapshot,
        workload: &Value,
        now: i64,
    ) -> Option<Finding> {
        let pods = snapshot.pods_of(workload);
        let ready = pods.iter().filter(|pod| counts(pod)).count();
        let ready = i64::try_from(ready).unwrap_or(i64::MAX);
        let (wanted, least) = (replicas(workload), least_ready(workload));
        if wanted > self.replicas {
            // More are asked for: what is there is no less than before.
            self.has_begun = false;
        }
        self.replicas = wanted;
        if ready >= least {
            self.has_begun = true;
            let dip = self.dip.take()?;
            let is_race =
                least < dip.least && dip.ready >= least && now - dip.since <= RACE_SECONDS;
            return (!is_race).then_some(dip.finding);
        }
        if !self.has_begun {
            return None;
        }
        let message = format!(
            "{ready} pods were ready, fewer than the {least} of {wanted} that its strategy leaves"
        );
        let finding = Finding::about(workload, "below-minimum", message);
        match &mut self.dip {
            Some(dip) if ready < dip.ready => {
                (dip.ready, dip.finding) = (ready, finding);
            }
            Some(_) => {}
            None => self.dip = Some(Dip { since: now, ready, least, finding }),
        }
        None
    }

    /// A number that is low until the end.
    pub(super) fn last_word(&mut self, now: i64) -> Option<Finding> {
        let dip = self.dip.as_ref()?;
        (now - dip.since > RACE_SECONDS).then(|| dip.finding.clone())
    }
}
