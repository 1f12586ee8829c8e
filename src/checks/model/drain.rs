//! How long the pods of a workload take to drain, from every source that states it: flags,
//! environment, ConfigMaps, `preStop` hooks.
//!
//! A name holds a drain if it speaks of draining or shutting down and of a time, or if the
//! repository's configuration names it. The later source wins: configuration, environment, flag.

use super::container::Container;
use super::workload::Workload;
use super::{items_at, text_at, texts_at};
use crate::checks::context::Context;
use crate::checks::finding::Spot;
use crate::checks::settings::matches_pattern;
use crate::clock::parse_duration;

/// Which part of the end of a pod a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Waiting before the drain begins.
    Delay,
    /// The drain itself.
    Period,
}

/// Where a setting was found; the later wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// In a text of a ConfigMap.
    Configuration,
    /// An environment variable.
    Environment,
    /// A flag.
    Flag,
}

/// One statement of a drain.
#[derive(Clone, Debug)]
pub struct DrainSetting<'a> {
    /// The name, as written.
    pub name: String,
    /// Where.
    pub source: Source,
    /// Which part.
    pub role: Role,
    /// How long, in milliseconds.
    pub millis: i64,
    /// The value's place.
    pub spot: Spot<'a>,
    words: Vec<String>,
}

/// The end of one container: what counts, and everything that states it.
#[derive(Clone, Debug)]
pub struct Drain<'a> {
    /// The container.
    pub container: Container<'a>,
    /// Every statement.
    pub settings: Vec<DrainSetting<'a>>,
}

impl<'a> Drain<'a> {
    /// The drains of all containers of `workload`.
    #[must_use]
    pub fn of(context: &Context<'a>, workload: &Workload<'a>) -> Vec<Self> {
        let containers = workload.containers();
        containers
            .into_iter()
            .map(|container| {
                let mut settings = flags(context, &container);
                settings.extend(environment(context, workload, &container));
                settings.extend(configuration(context, workload, &container));
                Drain { container, settings }
            })
            .collect()
    }

    /// The statement of `role` that counts: of several of one name the later source, of several
    /// names the longest.
    #[must_use]
    pub fn effective(&self, role: Role) -> Option<&DrainSetting<'a>> {
        let of_role = || self.settings.iter().filter(|setting| setting.role == role);
        let is_overridden = |setting: &DrainSetting<'_>| {
            of_role().any(|other| other.is_same_setting(setting) && other.source > setting.source)
        };
        of_role().filter(|setting| !is_overridden(setting)).max_by_key(|setting| setting.millis)
    }

    /// The whole of it in seconds, rounded up: delay, period and `preStop`.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        let part = |role| self.effective(role).map_or(0, |setting| setting.millis);
        (part(Role::Delay) + part(Role::Period) + 999) / 1000 + self.container.pre_stop_seconds()
    }

    /// What a `preStop` hook of unknown length may take on top, in seconds: it may wait for the drain
    /// that the order to end starts once more.
    #[must_use]
    pub fn possible_seconds(&self) -> i64 {
        let period = self.effective(Role::Period).map_or(0, |setting| setting.millis);
        if self.container.has_unknown_pre_stop() { (period + 999) / 1000 } else { 0 }
    }

    /// `delay 5s + drain 25s + preStop 5s`, as far as there is any.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut parts = Vec::new();
        for role in [Role::Delay, Role::Period] {
            if let Some(setting) = self.effective(role) {
                parts.push(format!("{} {}", setting.name, shown_millis(setting.millis)));
            }
        }
        match self.container.pre_stop_seconds() {
            0 if self.container.has_unknown_pre_stop() => {
                parts.push("a preStop hook of unknown length".to_owned());
            }
            0 => {}
            seconds => parts.push(format!("preStop {seconds}s")),
        }
        parts.join(" + ")
    }
}

impl DrainSetting<'_> {
    /// Whether both state the same setting: one name is the end of the other.
    #[must_use]
    pub fn is_same_setting(&self, other: &Self) -> bool {
        self.words.ends_with(&other.words) || other.words.ends_with(&self.words)
    }
}

/// `1.5s`, `90s`.
#[must_use]
pub fn shown_millis(millis: i64) -> String {
    match millis % 1000 {
        0 => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

fn setting<'a>(
    context: &Context<'_>,
    (name, value): (&str, &str),
    source: Source,
    spot: impl FnOnce() -> Spot<'a>,
) -> Option<DrainSetting<'a>> {
    let words = words_of(name);
    let role = role_of(context, name, &words)?;
    let millis = millis_of(value, &words)?;
    Some(DrainSetting { name: name.to_owned(), source, role, millis, spot: spot(), words })
}

/// The words of a name in lower case: `handoverDrainTimeout`, `HANDOVER_DRAIN_TIMEOUT` and
/// `handover-drain-timeout` are one.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = '_';
    for c in name.chars() {
        let starts = !previous.is_alphanumeric() || (c.is_uppercase() && previous.is_lowercase());
        if c.is_alphanumeric() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        previous = c;
    }
    words
}

fn role_of(context: &Context<'_>, name: &str, words: &[String]) -> Option<Role> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&&**word));
    let patterns = &context.settings.drain_names;
    let is_drain = if patterns.is_empty() {
        let is_end = has(&["drain", "draining", "shutdown", "graceful"]);
        let is_time = has(&["timeout", "period", "delay", "duration", "time", "wait", "seconds"]);
        is_end && is_time && !has(&["node", "interval"])
    } else {
        patterns.iter().any(|pattern| matches_pattern(pattern, name))
    };
    is_drain.then(|| if has(&["delay", "wait"]) { Role::Delay } else { Role::Period })
}

/// A Go duration, or a number in the unit that the name ends with.
fn millis_of(value: &str, words: &[String]) -> Option<i64> {
    let value = value.trim().trim_matches(['"', '\'']);
    if let Ok(number) = value.parse::<u32>() {
        let unit = words.last().map_or("", |word| word);
        let is_millis = matches!(unit, "ms" | "millis" | "milliseconds");
        let is_seconds = matches!(unit, "s" | "sec" | "secs" | "seconds");
        return match number {
            0 => Some(0),
            _ if is_millis => Some(i64::from(number)),
            _ if is_seconds => Some(i64::from(number) * 1000),
            _ => None,
        };
    }
    let duration = parse_duration(value).ok()?;
    i64::try_from(duration.as_millis()).ok().map(|millis| millis.min(super::MOST))
}

fn flags<'a>(context: &Context<'_>, container: &Container<'a>) -> Vec<DrainSetting<'a>> {
    let flags = container.flags().into_iter();
    flags
        .filter_map(|(name, value, node, field)| {
            let spot = || Spot::of(container.resource, node, field);
            setting(context, (name, value), Source::Flag, spot)
        })
        .collect()
}

/// Variables given outright, by a key of a ConfigMap, or by all keys of one.
fn environment<'a>(
    context: &Context<'a>,
    workload: &Workload<'a>,
    container: &Container<'a>,
) -> Vec<DrainSetting<'a>> {
    let mut found = Vec::new();
    for (name, value, spot) in context.environment(workload, container) {
        found.retain(|old: &DrainSetting<'_>| old.name != name);
        found.extend(setting(context, (name, value), Source::Environment, || spot));
    }
    found
}

/// Lines `name: value` and `name = value` in the ConfigMaps that the container mounts.
fn configuration<'a>(
    context: &Context<'a>,
    workload: &Workload<'a>,
    container: &Container<'a>,
) -> Vec<DrainSetting<'a>> {
    let mounted: Vec<&str> = items_at(container.node, &["volumeMounts"])
        .iter()
        .filter_map(|mount| text_at(mount, &["name"]))
        .collect();
    let mut found = Vec::new();
    for volume in items_at(workload.pod, &["volumes"]) {
        let is_mounted = text_at(volume, &["name"]).is_some_and(|name| mounted.contains(&name));
        let config_map = text_at(volume, &["configMap", "name"]).filter(|_| is_mounted);
        let Some(resource) = config_map.and_then(|name| context.config_map(workload, name)) else {
            continue;
        };
        for (key, text) in texts_at(&resource.node, &["data"]) {
            let Some(node) = resource.node.lookup(&["data", key]) else { continue };
            for pair in text.lines().filter_map(name_and_value) {
                let spot = || Spot::of(resource, node, format!("data.{key}"));
                found.extend(setting(context, pair, Source::Configuration, spot));
            }
        }
    }
    found
}

fn name_and_value(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once([':', '='])?;
    let name = name.trim().trim_matches(['"', '\'']);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let value = value.split(" #").next().unwrap_or_default();
    is_name.then(|| (name, value.trim().trim_end_matches([',', ';'])))
}

/// The node that states the grace of a pod, or what stands nearest.
#[must_use]
pub fn grace_spot<'a>(workload: &Workload<'a>) -> Spot<'a> {
    workload.pod_spot(&["terminationGracePeriodSeconds"])
}

/// The container whose end takes longest: containers end side by side.
#[must_use]
pub fn longest<'d, 'a>(drains: &'d [Drain<'a>]) -> Option<&'d Drain<'a>> {
    drains.iter().max_by_key(|drain| drain.seconds()).filter(|drain| drain.seconds() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_in_every_spelling() {
        let want = ["handover", "drain", "timeout"];
        for name in ["handover-drain-timeout", "HANDOVER_DRAIN_TIMEOUT", "handoverDrainTimeout"] {
            assert_eq!(words_of(name), want, "{name}");
        }
    }

    #[test]
    fn a_bare_number_counts_in_the_unit_of_its_name_only() {
        let words = |name: &str| words_of(name);
        assert_eq!(millis_of("15m", &words("drain-timeout")), Some(900_000));
        assert_eq!(millis_of("20", &words("DRAIN_SECONDS")), Some(20_000));
        assert_eq!(millis_of("20", &words("DRAIN_TIMEOUT_MS")), Some(20));
        assert_eq!(millis_of("20", &words("drain-timeout")), None);
        assert_eq!(millis_of("x", &words("drain-timeout")), None);
    }

    #[test]
    fn a_line_of_configuration_is_a_name_and_a_value() {
        assert_eq!(name_and_value("  drain_timeout: 15m # long"), Some(("drain_timeout", "15m")));
        assert_eq!(name_and_value("\"drain\" = \"5s\","), Some(("drain", "\"5s\"")));
        assert_eq!(name_and_value("# a b: c"), None);
    }
}
