//! The repository's own conditions: its queries put to a Prometheus server, and the logs that it speaks of read.

use globset::GlobBuilder;

use super::VerifyRequest;
use super::rendering::Rendered;
use crate::cluster::{ClusterError, ClusterReader, LogName};
use crate::error::Error;
use crate::ops::Context;
use crate::rollout::{Broken, Case, Conditions, LogCondition, name, namespace};

/// The most lines of one log that are looked at: the last ones.
const LINES: i64 = 5000;
/// The most pods whose logs are read for one condition.
const PODS: usize = 20;

/// Who asks: the conditions that concern the overlays, and the server of their numbers.
pub(super) struct Asker {
    conditions: Conditions,
    #[cfg(feature = "http")]
    metrics: Result<super::metrics::Metrics, String>,
}

impl Asker {
    /// The conditions that the repository has for what is rendered. Nothing is asked yet. There are none for a namespace
    /// as a whole, which no overlay stands for, nor for a dump, which has neither numbers nor logs.
    ///
    /// # Errors
    /// Where an address is none.
    pub(super) fn new(
        context: &Context,
        request: &VerifyRequest,
        rendered: &Rendered,
    ) -> Result<Self, Error> {
        let mut conditions = context.conditions();
        let concerns = |patterns: &[String]| concerns(patterns, &rendered.overlays);
        let is_asked = request.access.from.is_empty();
        conditions.queries.retain(|query| is_asked && concerns(&query.overlays));
        conditions.logs.retain(|log| is_asked && concerns(&log.overlays));
        Ok(Self {
            #[cfg(feature = "http")]
            metrics: match conditions.queries.is_empty() {
                true => Err("nobody asks".to_owned()),
                false => super::metrics::Metrics::new(context, request, &conditions)?,
            },
            conditions,
        })
    }

    /// Whether there is nothing to ask.
    pub(super) fn is_idle(&self) -> bool {
        self.conditions.queries.is_empty() && self.conditions.logs.is_empty()
    }

    /// The conditions that do not hold, and those of which nobody can tell.
    pub(super) fn broken(&self, reader: &dyn ClusterReader, case: &Case<'_>) -> Vec<Broken> {
        let mut broken = self.broken_queries();
        for log in &self.conditions.logs {
            broken.extend(broken_log(log, reader, case));
        }
        broken
    }

    #[cfg(feature = "http")]
    fn broken_queries(&self) -> Vec<Broken> {
        let queries = self.conditions.queries.iter();
        let asked = queries.filter_map(|query| match &self.metrics {
            Err(why) => Some(query.unreadable(why)),
            Ok(metrics) => match metrics.ask(&query.query) {
                Ok(body) => query.judge(&body),
                Err(why) => Some(query.unreadable(&why)),
            },
        });
        asked.collect()
    }

    #[cfg(not(feature = "http"))]
    fn broken_queries(&self) -> Vec<Broken> {
        let queries = self.conditions.queries.iter();
        queries.map(|query| query.unreadable("this build speaks to no server of metrics")).collect()
    }
}

/// Whether one of the patterns matches one of the overlays; without patterns all do.
fn concerns(patterns: &[String], overlays: &[String]) -> bool {
    let matches = |pattern: &String| {
        let glob = GlobBuilder::new(pattern.trim_end_matches('/')).literal_separator(true).build();
        let matcher = glob.ok().map(|glob| glob.compile_matcher());
        matcher.is_some_and(|matcher| overlays.iter().any(|overlay| matcher.is_match(overlay)))
    };
    !overlays.is_empty() && (patterns.is_empty() || patterns.iter().any(matches))
}

fn broken_log(log: &LogCondition, reader: &dyn ClusterReader, case: &Case<'_>) -> Vec<Broken> {
    let meant = case.wanted.iter().filter(|wanted| log.is_about(wanted));
    let meant: Vec<_> = meant.collect();
    if meant.is_empty() {
        // A condition of the whole repository speaks of what some overlays alone have.
        return if log.overlays.is_empty() { Vec::new() } else { vec![log.of_nothing()] };
    }
    let mut broken = Vec::new();
    for pod in meant.iter().flat_map(|wanted| case.present_pods(wanted)).take(PODS) {
        let asked = LogName {
            namespace: namespace(pod).to_owned(),
            pod: name(pod).to_owned(),
            container: log.container.clone().or_else(|| first_container(pod)),
            lines: LINES,
            since_seconds: None,
        };
        match reader.log(&asked) {
            Ok(text) => broken.extend(log.judge(pod, &text)),
            Err(error) => {
                broken.push(log.unreadable(pod, &error.to_string()));
                if matches!(error, ClusterError::Denied { .. }) {
                    break;
                }
            }
        }
    }
    broken
}

/// The server asks for a name where a pod has several containers.
fn first_container(pod: &serde_json::Value) -> Option<String> {
    pod.pointer("/spec/containers/0/name")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_which_overlays_a_condition_is_for() {
        let of = |patterns: &[&str], overlays: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
            concerns(&owned(patterns), &owned(overlays))
        };
        assert!(of(&[], &["overlays/prod"]));
        assert!(of(&["overlays/*"], &["overlays/prod"]));
        assert!(of(&["a", "overlays/prod/"], &["overlays/dev", "overlays/prod"]));
        assert!(!of(&["overlays/*"], &["overlays/eu/prod"]), "a star is one step");
        assert!(of(&["overlays/**"], &["overlays/eu/prod"]));
        assert!(!of(&[], &[]), "a whole namespace is no overlay");
    }
}
