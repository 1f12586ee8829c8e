//! Which step comes after which, and what a failure leads to.

/// One step of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// What has to hold before anything is written.
    Preflight,
    /// The edit on the base branch as the remote has it, planned and proven.
    Edit,
    /// Its branch and its pull request.
    PullRequest,
    /// The merge, by us or by a person.
    Merge,
    /// Argo CD has applied the commit.
    Wait,
    /// What runs is what git says.
    Verify,
    /// The endpoints answered all the while.
    Probe,
    /// The pull request that takes the change back.
    RevertPullRequest,
    /// Its merge.
    RevertMerge,
    /// Argo CD has applied what was before.
    RevertWait,
}

impl Step {
    /// The steps of a change that goes well, in their order.
    pub const FORWARD: [Self; 7] = [
        Self::Preflight,
        Self::Edit,
        Self::PullRequest,
        Self::Merge,
        Self::Wait,
        Self::Verify,
        Self::Probe,
    ];

    /// The steps back, in their order.
    pub const BACK: [Self; 3] = [Self::RevertPullRequest, Self::RevertMerge, Self::RevertWait];

    /// As in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Edit => "edit",
            Self::PullRequest => "pull-request",
            Self::Merge => "merge",
            Self::Wait => "wait",
            Self::Verify => "verify",
            Self::Probe => "probe",
            Self::RevertPullRequest => "revert-pull-request",
            Self::RevertMerge => "revert-merge",
            Self::RevertWait => "revert-wait",
        }
    }

    /// Whether it looks at a change that has landed.
    #[must_use]
    pub fn is_after_merge(self) -> bool {
        matches!(self, Self::Wait | Self::Verify | Self::Probe)
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It did something.
    Changed,
    /// It holds, and nothing had to be done.
    Held,
    /// There was nothing to do: a step before it has done it, long ago or just now.
    Skipped,
    /// It failed.
    Failed(Blame),
}

/// What a failure speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The change, or what became of it: taking it back helps.
    Change,
    /// Something that taking the change back would not mend, or that says nothing of the change.
    Elsewhere,
}

/// A step and how it ended.
pub type Taken = (Step, Ending);

/// What the user wants of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Nothing is written: the way ends with the edit.
    pub is_trial: bool,
    /// Argo CD is waited for.
    pub waits: bool,
    /// What runs is verified.
    pub verifies: bool,
    /// Endpoints are probed.
    pub probes: bool,
    /// What fails after its merge is taken back.
    pub takes_back: bool,
}

impl Policy {
    fn has(self, step: Step) -> bool {
        match step {
            Step::Preflight | Step::Edit => true,
            _ if self.is_trial => false,
            Step::Wait | Step::RevertWait => self.waits,
            Step::Verify => self.verifies,
            Step::Probe => self.probes,
            _ => true,
        }
    }
}

/// How the whole way ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The change landed now and holds.
    Shipped,
    /// It had landed before, and holds.
    AlreadySo,
    /// This step failed, and nothing was taken back.
    Failed(Step),
    /// This step failed, and the change was taken back.
    TakenBack(Step),
    /// The first step failed, and taking the change back ended at the second.
    StuckGoingBack(Step, Step),
}

/// The next step after those that were taken; `None` at the end of the way.
#[must_use]
pub fn next(policy: Policy, taken: &[Taken]) -> Option<Step> {
    let after = |steps: &[Step], last: Step| {
        let at = steps.iter().position(|step| *step == last)?;
        steps[at + 1..].iter().copied().find(|step| policy.has(*step))
    };
    let Some((last, ending)) = taken.last().copied() else { return Some(Step::Preflight) };
    match ending {
        Ending::Failed(Blame::Change) if last.is_after_merge() && policy.takes_back => {
            Some(Step::RevertPullRequest)
        }
        Ending::Failed(_) => None,
        _ if Step::BACK.contains(&last) => after(&Step::BACK, last),
        _ => after(&Step::FORWARD, last),
    }
}

/// How the way ended that was taken like this.
#[must_use]
pub fn verdict(taken: &[Taken]) -> Verdict {
    let is_failed = |(_, ending): &&Taken| matches!(ending, Ending::Failed(_));
    let mut failed = taken.iter().filter(is_failed).map(|(step, _)| *step);
    let went_back = taken.iter().any(|(step, _)| *step == Step::RevertPullRequest);
    match (failed.next(), failed.next()) {
        (Some(first), Some(second)) => Verdict::StuckGoingBack(first, second),
        (Some(first), None) if went_back => Verdict::TakenBack(first),
        (Some(first), None) => Verdict::Failed(first),
        (None, _) if taken.iter().any(|(_, ending)| *ending == Ending::Changed) => Verdict::Shipped,
        (None, _) => Verdict::AlreadySo,
    }
}

/// Codes of failures after a merge by which the change was seen to go wrong, or not to be well when the time was over: what has not
/// become healthy under watch is not left to become anything without one.
pub const OF_THE_CHANGE: [&str; 24] = [
    "commit-not-noticed",
    "commit-not-synced",
    "comparison-failed",
    "controller-silent",
    "degraded",
    "drift",
    "effect-ignored",
    "effect-missing",
    "health-unknown",
    "hydration-failed",
    "not-healthy",
    "not-settled",
    "not-verified",
    "object-excluded",
    "operation-stuck",
    "probe-failed",
    "prune-needed",
    "reconcile-skipped",
    "revision-pinned",
    "rollout-stalled",
    "suspended",
    "sync-failed",
    "sync-manual",
    "sync-window",
];

/// Whose fault a failure with the code of this name is. One that is not known says nothing of the change: something could not be
/// reached or seen, or somebody has already put another value in its place.
#[must_use]
pub fn blame(code: &str) -> Blame {
    if OF_THE_CHANGE.contains(&code) { Blame::Change } else { Blame::Elsewhere }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Policy =
        Policy { is_trial: false, waits: true, verifies: true, probes: true, takes_back: true };
    const NO_WAY_BACK: Policy = Policy { takes_back: false, ..ALL };

    /// The steps of a way on which these end badly.
    fn way(policy: Policy, bad: &[(Step, Blame)]) -> (Vec<Step>, Verdict) {
        let mut taken: Vec<Taken> = Vec::new();
        while let Some(step) = next(policy, &taken) {
            let fault = bad.iter().find(|(at, _)| *at == step);
            taken.push((step, fault.map_or(Ending::Changed, |(_, blame)| Ending::Failed(*blame))));
        }
        let last = verdict(&taken);
        (taken.into_iter().map(|(step, _)| step).collect(), last)
    }

    #[test]
    fn a_good_way_has_every_step_once_and_leaves_out_what_is_not_wanted() {
        assert_eq!(way(ALL, &[]), (Step::FORWARD.to_vec(), Verdict::Shipped));
        let plain = Policy { verifies: false, probes: false, ..ALL };
        let steps = Step::FORWARD[..5].to_vec();
        assert_eq!(way(plain, &[]), (steps, Verdict::Shipped));
        let trial = Policy { is_trial: true, ..ALL };
        assert_eq!(way(trial, &[]).0, [Step::Preflight, Step::Edit]);
    }

    #[test]
    fn a_failure_before_the_merge_ends_the_way() {
        for step in &Step::FORWARD[..4] {
            for blame in [Blame::Change, Blame::Elsewhere] {
                let (steps, last) = way(ALL, &[(*step, blame)]);
                assert_eq!((steps.last(), last), (Some(step), Verdict::Failed(*step)));
            }
        }
    }

    #[test]
    fn a_failure_after_the_merge_is_taken_back_where_that_is_wanted_and_helps() {
        for step in [Step::Wait, Step::Verify, Step::Probe] {
            let (steps, last) = way(ALL, &[(step, Blame::Change)]);
            assert_eq!(steps[steps.len() - 3..], Step::BACK);
            assert_eq!(last, Verdict::TakenBack(step));
            let fault = [(step, Blame::Elsewhere)];
            assert_eq!(way(ALL, &fault).1, Verdict::Failed(step));
            let fault = [(step, Blame::Change)];
            assert_eq!(way(NO_WAY_BACK, &fault).1, Verdict::Failed(step));
        }
    }

    #[test]
    fn a_way_back_that_fails_is_told_and_not_taken_back_itself() {
        for back in Step::BACK {
            let (steps, last) = way(ALL, &[(Step::Verify, Blame::Change), (back, Blame::Change)]);
            assert_eq!(steps.last(), Some(&back));
            assert_eq!(last, Verdict::StuckGoingBack(Step::Verify, back));
        }
    }

    #[test]
    fn nothing_done_is_already_so() {
        let taken = Step::FORWARD.map(|step| (step, Ending::Held));
        assert_eq!(verdict(&taken), Verdict::AlreadySo);
        let landed = [(Step::Preflight, Ending::Held), (Step::Merge, Ending::Skipped)];
        assert_eq!(verdict(&landed), Verdict::AlreadySo);
    }

    #[test]
    fn what_was_not_seen_takes_nothing_back() {
        for code in
            ["argocd-unreachable", "superseded", "degraded-before", "git-timeout", "internal"]
        {
            assert_eq!(blame(code), Blame::Elsewhere, "{code}");
        }
        for code in ["degraded", "sync-failed", "not-healthy", "not-verified", "comparison-failed"]
        {
            assert_eq!(blame(code), Blame::Change, "{code}");
        }
    }

    proptest! {
        /// Whatever happens: the way ends, no step is taken twice, and nothing is taken back that had not landed.
        #[test]
        fn every_way_ends(endings in prop::collection::vec(0..4u8, 10), flags in 0..16u8) {
            let policy = Policy {
                is_trial: false,
                waits: flags & 1 > 0,
                verifies: flags & 2 > 0,
                probes: flags & 4 > 0,
                takes_back: flags & 8 > 0,
            };
            let mut taken: Vec<Taken> = Vec::new();
            while let Some(step) = next(policy, &taken) {
                prop_assert!(taken.iter().all(|(before, _)| *before != step));
                let ending = match endings.get(taken.len()) {
                    Some(0) => Ending::Failed(Blame::Change),
                    Some(1) => Ending::Failed(Blame::Elsewhere),
                    Some(2) => Ending::Skipped,
                    _ => Ending::Changed,
                };
                taken.push((step, ending));
            }
            let back = taken.iter().position(|(step, _)| *step == Step::RevertPullRequest);
            if let Some(back) = back {
                let (step, ending) = taken[back - 1];
                prop_assert!(step > Step::Merge && ending == Ending::Failed(Blame::Change));
                let merge = taken.iter().find(|(step, _)| *step == Step::Merge);
                prop_assert!(merge.is_some_and(|(_, e)| !matches!(e, Ending::Failed(_))));
            }
        }
    }
}
