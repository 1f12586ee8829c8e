//! The loop connected to the world: carries out what [`Wait`] asks for and gives it the answers.

use std::collections::VecDeque;
use std::time::Duration;

use super::port::{ApplicationRef, ArgoCd, Clock, Revisions};
use super::wait::{Action, Input, Outcome, Transition, Wait};

/// One wait and where it asks.
pub struct Drive<'a> {
    /// The Application.
    pub app: ApplicationRef,
    /// The wait.
    pub wait: Wait,
    /// What git knows of revisions, for its commit.
    pub revisions: &'a dyn Revisions,
}

/// Where an Application stands on its way.
enum Turn {
    /// It is asked again at this time.
    Due(Duration),
    /// It is over.
    Over(Box<Outcome>),
}

/// Waits for all of `drives`, each as long as it takes, on this thread; the outcomes are in their order. Each transition
/// is told with the position of its Application.
pub fn drive(
    mut drives: Vec<Drive<'_>>,
    argocd: &dyn ArgoCd,
    clock: &dyn Clock,
    tell: &dyn Fn(usize, &Transition),
) -> Vec<Outcome> {
    let count = drives.len();
    let mut outcomes: Vec<Option<Outcome>> = drives.iter().map(|_| None).collect();
    let mut due: VecDeque<(Duration, usize)> = VecDeque::new();
    let mut turn = |at: usize, input: Input, due: &mut VecDeque<(Duration, usize)>| match drives[at]
        .turn(input, argocd, clock, &|transition| tell(at, transition))
    {
        Turn::Due(time) => due.push_back((time, at)),
        Turn::Over(outcome) => outcomes[at] = Some(*outcome),
    };
    for at in 0..count {
        turn(at, Input::Begin, &mut due);
    }
    let now = clock.now();
    for (time, at) in &mut due {
        *time = spread(now, *time, *at, count);
    }
    while let Some((time, at)) = earliest(&due).and_then(|next| due.remove(next)) {
        let now = clock.now();
        if time > now {
            clock.sleep(time - now);
        }
        turn(at, Input::Woken, &mut due);
    }
    outcomes.into_iter().flatten().collect()
}

/// When the Application at this place of `count` is asked a second time: all that are asked at once at the beginning would be so
/// for ever, and are spread over the time that each of them wants to pass.
fn spread(now: Duration, due: Duration, at: usize, count: usize) -> Duration {
    now + due.saturating_sub(now).mul_f64((at + 1) as f64 / count as f64)
}

/// The position of what is due first.
fn earliest(due: &VecDeque<(Duration, usize)>) -> Option<usize> {
    (0..due.len()).min_by_key(|at| due[*at].0)
}

impl Drive<'_> {
    /// Everything until the Application wants time to pass, or is done.
    fn turn(
        &mut self,
        mut input: Input,
        argocd: &dyn ArgoCd,
        clock: &dyn Clock,
        tell: &dyn Fn(&Transition),
    ) -> Turn {
        loop {
            let mut answer = Input::Woken;
            for action in self.wait.step(clock.now(), input) {
                answer = match action {
                    Action::Tell(transition) => {
                        tell(&transition);
                        continue;
                    }
                    Action::Sleep(time) => return Turn::Due(clock.now() + time),
                    Action::End(outcome) => return Turn::Over(outcome),
                    action => self.answer(action, argocd),
                };
            }
            input = answer;
        }
    }

    /// Carries out an action that has an answer.
    fn answer(&self, action: Action, argocd: &dyn ArgoCd) -> Input {
        let app = &self.app;
        match action {
            Action::Read => Input::Application(argocd.application(app)),
            Action::Refresh(request) => Input::Refreshed(argocd.refresh(app, request)),
            Action::Sync(request) => Input::Synced(argocd.sync(app, &request)),
            Action::Relate(revisions) => {
                let relate = |revision: String| {
                    let relation = self.revisions.relate(&revision);
                    (revision, relation)
                };
                Input::Relations(revisions.into_iter().map(relate).collect())
            }
            Action::RelateHydrated(query) => {
                let relation = self.revisions.relate_hydrated(&query);
                Input::Hydrated(query, relation)
            }
            Action::AskDelivery => Input::Delivered(self.revisions.is_delivered()),
            Action::ReadManagedResources => {
                let changes = self.wait.expected().effect.changes().iter();
                let objects: Vec<_> = changes.map(|change| change.object.clone()).collect();
                Input::ManagedResources(argocd.managed_resources(app, &objects))
            }
            Action::ReadTree => Input::Tree(argocd.resource_tree(app)),
            Action::ReadWindows => Input::Windows(argocd.sync_windows(app)),
            Action::ReadRollingSync(set) => Input::RollingSync(argocd.has_rolling_sync(app, &set)),
            Action::Tell(_) | Action::Sleep(_) | Action::End(_) => Input::Woken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_reads_are_apart() {
        let at = Duration::from_secs;
        assert_eq!(spread(at(5), at(6), 0, 1), at(6));
        let dues = (0..4).map(|place| spread(at(5), at(25), place, 4));
        assert_eq!(dues.collect::<Vec<_>>(), [at(10), at(15), at(20), at(25)]);
        assert_eq!(spread(at(5), at(4), 0, 2), at(5));
    }
}
