//! `set drain`: the timeout where it is configured, and the grace that has to outlast it.
//!
//! A pod takes delay, drain and `preStop` one after the other, and its containers end side by side, so
//! that the longest counts.

use super::Resolved;
use super::error::{LeverError, LeverErrorKind};
use super::target::{find, shown, workload_of};
use crate::change::{DrainSource, SetDrain, Wish};
use crate::checks::context::Context;
use crate::checks::model::drain::{Drain, DrainSetting, Role, Source, shown_millis};
use crate::checks::model::workload::Workload;
use crate::kustomize::{FieldPath, Resource};

pub(super) fn resolve(change: &SetDrain, context: &Context<'_>) -> Result<Resolved, LeverError> {
    let mut resolved = Resolved::default();
    let Some(name) = &change.name else { return Ok(resolved) };
    let found = find(context, name, |r| Workload::new(r).is_some(), no_pods);
    let Some(resource) = resolved.keep(&shown(name), found)? else { return Ok(resolved) };
    let mut settings = context.settings.clone();
    let given = change.args.iter().map(|flag| flag.trim_start_matches('-')).map(str::to_owned);
    settings.drain_names.extend(given.chain(change.envs.iter().cloned()));
    if !(change.args.is_empty() && change.envs.is_empty()) {
        settings.drain_names.retain(|name| names(change).any(|given| given == name));
    }
    let context = Context::new(context.overlay, context.all, &settings, context.repository);
    let Some(workload) = workload_of(&context, resource) else { return Ok(resolved) };
    let drains = Drain::of(&context, workload);
    Resolver { change, workload, drains: &drains }.resolve(&mut resolved)?;
    Ok(resolved)
}

fn names(change: &SetDrain) -> impl Iterator<Item = &str> {
    let flags = change.args.iter().map(|flag| flag.trim_start_matches('-'));
    flags.chain(change.envs.iter().map(String::as_str))
}

fn no_pods(other: &Resource) -> LeverError {
    let (kind, name) = (other.kind(), other.name());
    let error = LeverError::new(
        LeverErrorKind::WrongKind,
        format!("{kind}/{name} has no pods of its own to drain"),
    );
    match kind {
        "Cluster" => error.hint(
            "a CloudNativePG Cluster drains by spec.stopDelay, smartShutdownTimeout and switchoverDelay: set field",
        ),
        _ => error,
    }
}

struct Resolver<'r, 'a> {
    change: &'r SetDrain,
    workload: &'r Workload<'a>,
    drains: &'r [Drain<'a>],
}

impl<'a> Resolver<'_, 'a> {
    fn resolve(&self, resolved: &mut Resolved) -> Result<(), LeverError> {
        self.check_sources()?;
        let mut timeout = None;
        if let Some((text, millis)) = &self.change.timeout {
            resolved.wishes.extend(self.write_timeout(text, *millis)?);
            timeout = Some(*millis);
        }
        let sum = self.longest_sum(timeout, resolved);
        let now = self.workload.grace_seconds();
        let grace = match (self.change.grace, sum) {
            (Some(grace), sum) => self.checked_grace((seconds(grace), now), sum, resolved)?,
            (None, Some(sum)) => {
                let grace = seconds(sum + self.change.margin);
                self.refuse_shorter_grace(grace, now)?;
                let margin = shown_millis(self.change.margin);
                let message = format!(
                    "{}: grace {grace}s = {} and a margin of {margin}",
                    self.workload.shown(),
                    shown_millis(sum)
                );
                resolved.note("grace", message);
                grace
            }
            (None, None) => return Err(self.unknown()),
        };
        let mut path: Vec<String> =
            self.workload.pod_path().split('.').map(str::to_owned).collect();
        path.push("terminationGracePeriodSeconds".to_owned());
        path.retain(|key| !key.is_empty());
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let id = self.workload.resource.current_id();
        resolved.wishes.push(Wish::set(id, FieldPath::of_keys(&keys), grace));
        Ok(())
    }

    fn unknown(&self) -> LeverError {
        let named: Vec<&str> = names(self.change).collect();
        let where_it_is = match named.as_slice() {
            [] => "how long it drains".to_owned(),
            named => format!("a duration at {}", named.join(" or ")),
        };
        let message = format!(
            "{}: nothing rendered states {where_it_is}, and a program's default may be without limit",
            self.workload.shown()
        );
        let error = LeverError::new(LeverErrorKind::DrainUnknown, message);
        let error = match named.is_empty() {
            true => error.hint("--arg FLAG or --env NAME says where it is configured"),
            false => error,
        };
        match (self.change.timeout.is_some(), self.change.assume.is_some()) {
            (false, _) => error.hint("--assume DUR counts that long"),
            (true, true) => {
                error.hint("--assume DUR alone sets the grace for a drain of that length")
            }
            (true, false) => error,
        }
    }

    /// What the container that takes longest takes, in milliseconds; `None` where nothing is known.
    fn longest_sum(&self, timeout: Option<i64>, resolved: &mut Resolved) -> Option<i64> {
        let mut longest: Option<i64> = None;
        for drain in self.drains {
            let delay = self.part(drain, Role::Delay);
            let stated = self.part(drain, Role::Period);
            let period = match (stated, timeout, self.change.assume) {
                (Some(_), Some(timeout), _) if self.has_target(drain) => Some(timeout),
                (Some(stated), _, _) => Some(stated),
                (None, _, assumed) => assumed,
            };
            let Some(period) = period else { continue };
            let mut hook = drain.container.pre_stop_seconds() * 1000;
            if drain.container.has_unknown_pre_stop() {
                hook = period;
                let message = format!(
                    "{} {}: nothing states how long its preStop hook takes; a full drain of {} is counted for it",
                    self.workload.shown(),
                    drain.container.name(),
                    shown_millis(period)
                );
                resolved.note("prestop-unknown", message);
            }
            let sum = delay.unwrap_or(0) + period + hook;
            longest = Some(longest.map_or(sum, |known| known.max(sum)));
        }
        longest
    }

    /// The part of the end of a container: the winner by `--precedence`, several that were named added.
    fn part(&self, drain: &Drain<'a>, role: Role) -> Option<i64> {
        let effective = self.effective(drain, role);
        if names(self.change).count() > 1 {
            let sum: i64 = effective.iter().map(|setting| setting.millis).sum();
            return (!effective.is_empty()).then_some(sum);
        }
        effective.iter().map(|setting| setting.millis).max()
    }

    /// Of each setting the statement that counts.
    fn effective<'d>(&self, drain: &'d Drain<'a>, role: Role) -> Vec<&'d DrainSetting<'a>> {
        let of_role: Vec<&DrainSetting<'a>> =
            drain.settings.iter().filter(|s| s.role == role).collect();
        let wins = |a: &DrainSetting<'_>, b: &DrainSetting<'_>| {
            let rank = |s: &DrainSetting<'_>| {
                (self.change.precedence.map(source_of) == Some(s.source), s.source)
            };
            rank(a) > rank(b)
        };
        let counts = |setting: &&&DrainSetting<'a>| {
            !of_role.iter().any(|other| other.is_same_setting(setting) && wins(other, setting))
        };
        of_role.iter().filter(counts).copied().collect()
    }

    fn has_target(&self, drain: &Drain<'a>) -> bool {
        !self.effective(drain, Role::Period).is_empty()
    }

    /// Two sources that state one setting differently: which wins is the program's own rule.
    fn check_sources(&self) -> Result<(), LeverError> {
        if self.change.precedence.is_some() {
            return Ok(());
        }
        for drain in self.drains {
            for a in &drain.settings {
                let differs = |b: &&DrainSetting<'_>| {
                    b.role == a.role && b.is_same_setting(a) && b.millis != a.millis
                };
                if let Some(b) = drain.settings.iter().find(differs) {
                    let message = format!(
                        "{}: {} says {} ({}) and {} says {} ({})",
                        self.workload.shown(),
                        a.name,
                        shown_millis(a.millis),
                        word(a.source),
                        b.name,
                        shown_millis(b.millis),
                        word(b.source)
                    );
                    let error = LeverError::new(LeverErrorKind::DrainAmbiguous, message);
                    return Err(
                        error.hint("--precedence flag, env or config names the one that wins")
                    );
                }
            }
        }
        Ok(())
    }

    /// The new timeout at every statement of the one setting that it is.
    fn write_timeout(&self, text: &str, millis: i64) -> Result<Vec<Wish>, LeverError> {
        let mut targets: Vec<&DrainSetting<'a>> = Vec::new();
        for drain in self.drains {
            let effective = self.effective(drain, Role::Period);
            let is_same = |s: &&DrainSetting<'a>| effective.iter().any(|e| e.is_same_setting(s));
            let statements = drain.settings.iter().filter(|s| s.role == Role::Period);
            match self.change.precedence {
                Some(_) => targets.extend(effective.iter().copied()),
                None => targets.extend(statements.filter(is_same)),
            }
        }
        let Some(first) = targets.first() else { return Err(self.unknown()) };
        if let Some(other) = targets.iter().find(|s| !s.is_same_setting(first)) {
            let message = format!(
                "{}: {} and {} both state a drain; one of them has to be named",
                self.workload.shown(),
                first.name,
                other.name
            );
            let error = LeverError::new(LeverErrorKind::DrainAmbiguous, message);
            return Err(error.hint("--arg FLAG or --env NAME names the one to set"));
        }
        let longest = targets.iter().map(|s| s.millis).max().unwrap_or(0);
        if millis < longest && !self.change.shorten {
            let message = format!(
                "{}: {} would fall from {} to {}",
                self.workload.shown(),
                first.name,
                shown_millis(longest),
                shown_millis(millis)
            );
            let error = LeverError::new(LeverErrorKind::Shortens, message);
            return Err(error.hint("--shorten allows a shorter drain"));
        }
        let changes = targets.into_iter().filter(|setting| setting.millis != millis);
        changes.map(|setting| self.timeout_wish(setting, text, millis)).collect()
    }

    fn timeout_wish(
        &self,
        setting: &DrainSetting<'a>,
        text: &str,
        millis: i64,
    ) -> Result<Wish, LeverError> {
        let resource = setting.spot.resource;
        let refuse = |what: &str| {
            let message = format!("{}: {} {what}", self.workload.shown(), setting.name);
            LeverError::new(LeverErrorKind::NotAllowed, message)
        };
        if setting.source == Source::Configuration {
            let place = format!(
                "stands inside of a text of {}/{}, which is edited by hand",
                resource.kind(),
                resource.name()
            );
            return Err(refuse(&place));
        }
        let path = FieldPath::to_node(&resource.node, setting.spot.node);
        let path = path.ok_or_else(|| refuse("has no place that can be told"))?;
        let old = setting.spot.node.as_str().unwrap_or_default();
        let (prefix, value) = match old.split_once('=') {
            Some((flag, value)) if old.starts_with('-') => (format!("{flag}="), value),
            _ => (String::new(), old),
        };
        let value = in_unit_of(value, setting.millis, text, millis)
            .ok_or_else(|| refuse("counts in a unit that the new value is no multiple of"))?;
        Ok(Wish::set(resource.current_id(), path, format!("{prefix}{value}")))
    }

    fn checked_grace(
        &self,
        (grace, now): (i64, i64),
        sum: Option<i64>,
        resolved: &mut Resolved,
    ) -> Result<i64, LeverError> {
        let shown = self.workload.shown();
        let Some(sum) = sum else {
            self.refuse_shorter_grace(grace, now)?;
            let message = format!(
                "{shown}: nothing rendered states how long it drains, so that the grace cannot be compared with it"
            );
            resolved.note("drain-unknown", message);
            return Ok(grace);
        };
        if grace < seconds(sum) {
            let message = format!(
                "{shown}: a grace of {grace}s is below the {} that it takes to drain",
                shown_millis(sum)
            );
            return Err(LeverError::new(LeverErrorKind::GraceTooShort, message));
        }
        if grace < seconds(sum + self.change.margin) {
            let message = format!(
                "{shown}: a grace of {grace}s leaves {}s after a drain of {}, less than the margin of {}",
                grace - seconds(sum),
                shown_millis(sum),
                shown_millis(self.change.margin)
            );
            resolved.note("grace-margin", message);
        }
        Ok(grace)
    }

    fn refuse_shorter_grace(&self, grace: i64, now: i64) -> Result<(), LeverError> {
        if grace >= now || self.change.shorten {
            return Ok(());
        }
        let message =
            format!("{}: the grace would fall from {now}s to {grace}s", self.workload.shown());
        let error = LeverError::new(LeverErrorKind::Shortens, message);
        Err(error.hint("--shorten allows a shorter grace"))
    }
}

/// Whole seconds, rounded up.
fn seconds(millis: i64) -> i64 {
    (millis + 999) / 1000
}

/// The new value as the old one is written: a bare number counts in the unit of the field.
fn in_unit_of(old: &str, old_millis: i64, text: &str, millis: i64) -> Option<String> {
    let Some(number) = old.trim().parse::<i64>().ok().filter(|number| *number > 0) else {
        return Some(text.to_owned());
    };
    let unit = old_millis / number;
    (unit > 0 && millis % unit == 0).then(|| (millis / unit).to_string())
}

fn source_of(source: DrainSource) -> Source {
    match source {
        DrainSource::Flag => Source::Flag,
        DrainSource::Environment => Source::Environment,
        DrainSource::Configuration => Source::Configuration,
    }
}

fn word(source: Source) -> &'static str {
    match source {
        Source::Flag => "a flag",
        Source::Environment => "an environment variable",
        Source::Configuration => "a ConfigMap",
    }
}
