//! The life of one pod, as it was seen.

use serde_json::Value;

use crate::rollout::live::{is_terminating, items_at, name, namespace, text_at};
use crate::rollout::pod::{has_running_container, is_over, is_ready};

/// What happened to one pod, in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodLife {
    /// Whether it was there when the watch began.
    pub was_there: bool,
    /// When it was first seen.
    pub seen_at: i64,
    /// When it became ready first.
    pub ready_at: Option<i64>,
    /// When it became unready last.
    pub unready_at: Option<i64>,
    /// When it was seen that it is told to end.
    pub terminating_at: Option<i64>,
    /// When its last container ended.
    pub ended_at: Option<i64>,
    /// When it was gone.
    pub gone_at: Option<i64>,
    /// Whether its end was seen; not where the watch had to begin anew meanwhile.
    pub is_end_seen: bool,
    /// Whether it belongs to what is followed.
    pub(super) is_followed: bool,
    /// Whether it belongs to a workload that is followed, for which there are rules.
    pub(super) is_of_workload: bool,
    is_ready: bool,
    /// Whether what came before its end may have been missed.
    is_end_unsure: bool,
    /// Whether it was seen not ready while a container of it still ran.
    turned_unready: bool,
    has_probe: bool,
    is_known: bool,
}

/// Namespace, name and uid: what tells one object from a later one of its name.
pub(super) type Key = (String, String, String);

/// The key of an object.
pub(super) fn key(object: &Value) -> Key {
    let uid = text_at(object, "/metadata/uid");
    (namespace(object).to_owned(), name(object).to_owned(), uid.to_owned())
}

impl PodLife {
    /// One that comes now.
    pub(super) fn new(now: i64) -> Self {
        Self { seen_at: now, ..Self::default() }
    }

    /// One that was there before the watch.
    pub(super) fn at_start(pod: &Value, now: i64) -> Self {
        let mut life = Self { was_there: true, ..Self::new(now) };
        let _ = life.see(pod, now, true);
        life
    }

    /// Takes its present state; what is new. `is_next` where nothing was missed since the last one.
    pub(super) fn see(&mut self, pod: &Value, now: i64, is_next: bool) -> Vec<&'static str> {
        let mut news = Vec::new();
        let mut probes = items_at(pod, "/spec/containers").iter();
        self.has_probe = probes.any(|container| container["readinessProbe"].is_object());
        let (ready, running) = (is_ready(pod), has_running_container(pod));
        if !self.is_known && !self.was_there {
            news.push("came");
        }
        self.is_known = true;
        if ready && !self.is_ready {
            self.ready_at = self.ready_at.or(Some(now));
            news.push("became ready");
        }
        if !ready && self.is_ready {
            self.unready_at = Some(now);
            news.push("became unready");
        }
        if is_terminating(pod) && self.terminating_at.is_none() {
            self.terminating_at = Some(now);
            news.push("was told to end");
        }
        if !is_next && !ready && !running {
            self.is_end_unsure = true;
        }
        match (ready, running) {
            (true, _) => self.turned_unready = false,
            (false, true) => self.turned_unready = true,
            (false, false) => {}
        }
        let had_containers = self.ready_at.is_some() || self.ended_at.is_some();
        let ends = self.terminating_at.is_some() || is_over(pod);
        if !running && ends && had_containers && self.ended_at.is_none() {
            self.ended_at = Some(now);
            news.push("ended");
        }
        self.is_ready = ready;
        news
    }

    /// It is gone.
    pub(super) fn end(&mut self, now: i64, was_seen: bool) -> &'static str {
        self.gone_at = Some(now);
        self.ended_at = self.ended_at.or(Some(now));
        self.is_end_seen = was_seen;
        if was_seen { "is gone" } else { "is gone, unseen" }
    }

    /// Whether it took requests until it ended, although it could have said otherwise.
    pub(super) fn exited_ready(&self) -> bool {
        let is_seen = self.is_end_seen && !self.is_end_unsure;
        is_seen && self.has_probe && self.ready_at.is_some() && !self.turned_unready
    }
}
