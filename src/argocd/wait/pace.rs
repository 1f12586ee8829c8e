//! How often the loop asks: every rate is bounded here.
//!
//! Per Application: a read each [`Expectation::poll`] at first and each five of them later; a refresh after 2, 4, 8, 16 and
//! then each 30 seconds, while one is pending not before 15; git is asked each 15 seconds at most. Of many Applications
//! the reads are spread, and refreshes are fewer still: each has the controller render anew.
//!
//! [`Expectation::poll`]: crate::argocd::Expectation::poll

use std::time::Duration;

use crate::argocd::application::Application;
use crate::argocd::assess::is_refresh_pending;
use crate::argocd::port::RefreshRequest;
use crate::argocd::time::Timestamp;

/// The pauses between refreshes; the last one repeats.
const REFRESH_PAUSES: [u64; 5] = [2, 4, 8, 16, 30];

/// A refresh that is pending is not asked for again earlier, in seconds.
const PENDING_PAUSE: u64 = 15;

/// The pause between questions to git, in seconds.
const GIT_PAUSE: u64 = 15;

/// The pause between tries of a sync that was not taken, and how many there are.
const SYNC_PAUSE: Duration = Duration::from_secs(5);
const SYNC_TRIES: u32 = 5;

/// The poll of a single Application, and how many times what goes beyond it the pause between refreshes is at least: with
/// 50 ms of it for each Application, all together ask for five a second.
const SINGLE_POLL: Duration = Duration::from_secs(1);
const REFRESHES_APART: u32 = 4;

/// The annotation that lists what paths count (argo-cd `common/common.go`): with it a comparison may take an old render
/// for the new revision.
const GENERATE_PATHS: &str = "argocd.argoproj.io/manifest-generate-paths";

/// What was asked when.
#[derive(Debug)]
pub(super) struct Pace {
    poll: Duration,
    compared: String,
    reconciled: Option<Timestamp>,
    reconciled_seen: Duration,
    pending_since: Option<Duration>,
    refreshed: Option<Duration>,
    refreshes: usize,
    git_asked: Option<Duration>,
    sync_asked: Option<(Duration, String)>,
    sync_tries: u32,
}

impl Pace {
    /// The pace of a loop that reads no more often than each `poll`.
    pub(super) fn new(poll: Duration) -> Self {
        Self {
            poll,
            compared: String::new(),
            reconciled: None,
            reconciled_seen: Duration::ZERO,
            pending_since: None,
            refreshed: None,
            refreshes: 0,
            git_asked: None,
            sync_asked: None,
            sync_tries: 0,
        }
    }

    /// The Application was read.
    pub(super) fn read(&mut self, after: Duration, app: &Application) {
        let status = &app.status;
        if status.reconciled_at != self.reconciled {
            self.reconciled = status.reconciled_at;
            self.reconciled_seen = after;
        }
        let compared = format!("{} {}", status.sync.revision, status.sync.revisions.join(" "));
        if compared != self.compared {
            self.compared = compared;
            self.refreshes = self.refreshes.min(1);
        }
        self.pending_since = is_refresh_pending(app).then(|| self.pending_since.unwrap_or(after));
    }

    /// How long a refresh has been pending while nothing was compared.
    pub(super) fn silence(&self, after: Duration) -> Duration {
        let since = self.pending_since.map(|since| since.max(self.reconciled_seen));
        since.map_or(Duration::ZERO, |since| after.saturating_sub(since))
    }

    /// A refresh, where it is time for one: not before the last comparison is `wait` old.
    pub(super) fn refresh(
        &mut self,
        after: Duration,
        app: &Application,
        wait: Duration,
    ) -> Option<RefreshRequest> {
        let pause = match self.refreshes {
            0 => 0,
            made => REFRESH_PAUSES[(made - 1).min(REFRESH_PAUSES.len() - 1)],
        };
        let pause = if self.pending_since.is_some() { pause.max(PENDING_PAUSE) } else { pause };
        let crowded = self.poll.saturating_sub(SINGLE_POLL) * REFRESHES_APART;
        let pause = Duration::from_secs(pause).max(crowded);
        let last = self.refreshed.map_or(Duration::ZERO, |last| last + pause);
        // A later comparison is waited for once, so that its pause does not grow with those before.
        let earliest = match wait.is_zero() {
            true => last,
            false => {
                let recent = self.refreshed.map_or(Duration::ZERO, |last| last + SYNC_PAUSE);
                (self.reconciled_seen + wait).max(recent)
            }
        };
        (after >= earliest).then(|| self.ask(after, app, app.annotation(GENERATE_PATHS).is_some()))
    }

    /// A refresh that renders anew, now.
    pub(super) fn render_anew(&mut self, after: Duration, app: &Application) -> RefreshRequest {
        self.ask(after, app, true)
    }

    fn ask(&mut self, after: Duration, app: &Application, is_hard: bool) -> RefreshRequest {
        self.refreshed = Some(after);
        self.refreshes += 1;
        RefreshRequest { is_hard, with_hydration: app.spec.source_hydrator.is_some() }
    }

    /// Whether git may be asked again; then it counts as asked.
    pub(super) fn is_git_due(&mut self, after: Duration) -> bool {
        let pause = Duration::from_secs(GIT_PAUSE);
        let is_due = after >= self.git_asked.unwrap_or_default() + pause;
        if is_due {
            self.git_asked = Some(after);
        }
        is_due
    }

    /// The token of a sync, where one may be asked for: once for a revision, unless it was not taken.
    pub(super) fn sync(&mut self, after: Duration, revision: &str, commit: &str) -> Option<String> {
        let is_other = self.sync_asked.as_ref().is_none_or(|(_, asked)| asked != revision);
        if is_other {
            self.sync_tries = 0;
        }
        let last = self.sync_asked.as_ref().map(|(last, _)| *last);
        let is_due = self.sync_tries == 0 || last.is_none_or(|last| after >= last + SYNC_PAUSE);
        let was_taken = !is_other && self.sync_tries > SYNC_TRIES;
        if was_taken || !is_due {
            return None;
        }
        self.sync_asked = Some((after, revision.to_owned()));
        // Taken until the contrary is heard.
        let tries = self.sync_tries + 1;
        self.sync_tries = SYNC_TRIES + tries;
        let commit = commit.get(..12).unwrap_or(commit);
        Some(format!("{commit}-{}-{tries}", after.as_millis()))
    }

    /// The sync was not taken.
    pub(super) fn sync_not_taken(&mut self) {
        self.sync_tries = self.sync_tries.saturating_sub(SYNC_TRIES);
    }

    /// How long to sleep, where the present state was first seen at `since`.
    pub(super) fn sleep(&self, after: Duration, since: Option<Duration>) -> Duration {
        let lasted = after.saturating_sub(since.unwrap_or_default()).as_secs();
        match lasted {
            0..30 => self.poll,
            30..120 => self.poll * 2,
            _ => self.poll * 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_are_asked_for_at_a_bounded_rate() {
        let (mut pace, app) = (Pace::new(Duration::from_secs(1)), Application::default());
        let asked = (0..120).filter(|second| {
            pace.refresh(Duration::from_secs(*second), &app, Duration::ZERO).is_some()
        });
        assert_eq!(asked.collect::<Vec<_>>(), [0, 2, 6, 14, 30, 60, 90]);
    }

    #[test]
    fn five_hundred_applications_ask_for_few_refreshes_a_second() {
        // As many as there are, each with its share of the reads.
        let poll = Duration::from_millis(50) * 500;
        let app = Application::default();
        let mut paces: Vec<Pace> = (0..500).map(|_| Pace::new(poll)).collect();
        let mut asked = |seconds: std::ops::Range<u64>| {
            let at = seconds.map(Duration::from_secs);
            let of =
                |at| paces.iter_mut().filter_map(|p| p.refresh(at, &app, Duration::ZERO)).count();
            at.map(of).sum::<usize>()
        };
        asked(0..60);
        let later = asked(60..660);
        assert!(later <= 5 * 600 + 500, "{later} in ten minutes");
    }

    #[test]
    fn a_sync_that_was_taken_is_not_asked_for_again() {
        let mut pace = Pace::new(Duration::from_secs(1));
        let at = Duration::from_secs;
        assert!(pace.sync(at(0), "a", "c").is_some());
        assert!(pace.sync(at(60), "a", "c").is_none());
        assert!(pace.sync(at(61), "b", "c").is_some());
        pace.sync_not_taken();
        assert!(pace.sync(at(62), "b", "c").is_none());
        assert!(pace.sync(at(66), "b", "c").is_some());
        for second in 0..100 {
            pace.sync_not_taken();
            let _ = pace.sync(at(70 + second), "b", "c");
        }
        assert!(pace.sync(at(500), "b", "c").is_none());
    }
}
