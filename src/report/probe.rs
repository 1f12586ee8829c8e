//! The result of `overlay probe`.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{Report, Style, Text};
use crate::clock::format_rfc_3339_milliseconds;
use crate::error::{Error, codes};
use crate::probe::{Bucket, Cause, Outcome, Tally, Try};

/// The most failures that are listed one by one for people.
const MOST_SHOWN: usize = 10;

/// One address and what came of its tries.
#[derive(Clone, Debug)]
pub struct Target {
    /// The address, without its query.
    pub address: String,
    /// The tries.
    pub tally: Tally,
}

/// Why the probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time was over.
    Time,
    /// A signal asked for it.
    Signal,
    /// The command beside it ended, or was ended.
    Command(CommandEnd),
}

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// With this status.
    Status(i32),
    /// By a signal.
    Killed,
    /// It took longer than it might, and was ended.
    TooSlow,
}

impl CommandEnd {
    /// Of the status, where there is one.
    pub fn of(code: Option<i32>) -> Self {
        code.map_or(Self::Killed, Self::Status)
    }
}

/// Everything that is told.
#[derive(Clone, Debug)]
pub struct ProbeReport {
    /// The addresses.
    pub targets: Vec<Target>,
    /// When it began, in milliseconds since 1970.
    pub started_at: u64,
    /// How long it went on.
    pub lasted: Duration,
    /// The time between two tries.
    pub interval: Duration,
    /// The statuses that are a success, as typed.
    pub expect: String,
    /// How many failures are allowed.
    pub most_failures: u64,
    /// The command beside, in words.
    pub command: Vec<String>,
    /// Why it ended.
    pub ended: Ended,
}

/// A number of tries, in words.
#[must_use]
pub fn shown_tries(count: u64) -> String {
    match count {
        1 => "1 try".to_owned(),
        count => format!("{count} tries"),
    }
}

impl ProbeReport {
    /// The report. A command that failed weighs more than failures of the probe.
    pub fn into_report(self) -> Report {
        let mut report = Report::unchanged("probe", self.to_json(), self.to_text());
        report.error = self.error();
        report
    }

    /// How many tries failed, over all addresses.
    pub fn failures(&self) -> u64 {
        self.targets.iter().map(|target| target.tally.failures()).sum()
    }

    /// How many of those were counted apart.
    pub fn marked_failures(&self) -> u64 {
        self.targets.iter().map(|target| target.tally.marked()).sum()
    }

    fn has_met(&self, cause: Cause) -> bool {
        let mut causes = self.targets.iter().flat_map(|target| target.tally.causes());
        causes.any(|(met, _)| met == cause)
    }

    /// The command as a person would paste it.
    fn command_line(&self) -> String {
        crate::shell::words(self.command.iter().map(String::as_str))
    }

    fn error(&self) -> Option<Error> {
        let (failures, tries) =
            (self.failures(), self.targets.iter().map(|target| target.tally.tries()).sum::<u64>());
        let counted = format!("{failures} of {} failed", shown_tries(tries));
        let command = self.command_line();
        let failed = match self.ended {
            Ended::Time | Ended::Signal | Ended::Command(CommandEnd::Status(0)) => None,
            Ended::Command(CommandEnd::Status(status)) => {
                Some((codes::COMMAND_FAILED, format!("`{command}` ended with {status}")))
            }
            Ended::Command(CommandEnd::Killed) => {
                Some((codes::COMMAND_FAILED, format!("`{command}` was killed")))
            }
            Ended::Command(CommandEnd::TooSlow) => Some((
                codes::COMMAND_TOO_SLOW,
                format!("`{command}` did not end in time and was ended"),
            )),
        };
        if let Some((code, message)) = failed {
            return Some(Error::new(code, message).hint(format!("of the probe, {counted}")));
        }
        if tries == 0 {
            let message = "it ended before a single try was made";
            return Some(Error::new(codes::PROBE_FAILED, message));
        }
        let allowed = self.most_failures;
        (failures > allowed).then(|| {
            let allowed =
                if allowed == 0 { String::new() } else { format!(", {allowed} are allowed") };
            let error = Error::new(codes::PROBE_FAILED, format!("{counted}{allowed}"));
            match self.has_met(Cause::Tls) {
                true => error.hint("`overlay verify --trust --connect HOST:PORT` says what is wrong with a certificate; --ca-file FILE names your own authorities"),
                false => error,
            }
        })
    }

    fn to_json(&self) -> Json {
        let command = (!self.command.is_empty()).then(|| {
            let status = match self.ended {
                Ended::Command(CommandEnd::Status(status)) => Some(status),
                _ => None,
            };
            json!({ "words": self.command, "status": status })
        });
        json!({
            "startedAt": format_rfc_3339_milliseconds(self.started_at),
            "durationMs": milliseconds(self.lasted),
            "intervalMs": milliseconds(self.interval),
            "expect": self.expect,
            "maxFailures": self.most_failures,
            "failures": self.failures(),
            "command": command,
            "endedBy": match self.ended {
                Ended::Time => "time",
                Ended::Signal => "signal",
                Ended::Command(_) => "command",
            },
            "targets": self.targets.iter().map(|target| self.target_json(target)).collect::<Vec<_>>(),
        })
    }

    fn target_json(&self, target: &Target) -> Json {
        let tally = &target.tally;
        let causes = tally.causes().map(|(cause, count)| {
            json!({ "cause": cause.word(), "status": cause.status(), "count": count })
        });
        let latency = tally.latency().map(|latency| {
            json!({
                "min": milliseconds(latency.least),
                "p50": milliseconds(latency.half),
                "p90": milliseconds(latency.p90),
                "p99": milliseconds(latency.p99),
                "max": milliseconds(latency.most),
            })
        });
        let (length, buckets) = tally.timeline();
        json!({
            "url": target.address,
            "tries": tally.tries(),
            "successes": tally.tries() - tally.failures(),
            "failures": tally.failures(),
            "leftOut": tally.left_out,
            "longestOutageMs": milliseconds(tally.longest_outage()),
            "latencyMs": latency,
            "causes": causes.collect::<Vec<_>>(),
            "failed": tally.first_failures().iter().map(|one| self.try_json(one)).collect::<Vec<_>>(),
            "timeline": {
                "pieceMs": milliseconds(length),
                "pieces": buckets.iter().map(|bucket| json!({ "tries": bucket.tries, "failures": bucket.failures })).collect::<Vec<_>>(),
            },
        })
    }

    fn try_json(&self, one: &Try) -> Json {
        let (cause, message) = match &one.outcome {
            Outcome::Failure { cause, message } => (Some(cause), message.as_str()),
            Outcome::Success { .. } => (None, ""),
        };
        json!({
            "number": one.number,
            "at": self.time(one.at),
            "afterMs": milliseconds(one.at),
            "tookMs": milliseconds(one.took),
            "cause": cause.map(|cause| cause.word()),
            "status": cause.and_then(|cause| cause.status()),
            "message": message,
        })
    }

    /// The time of day at that time of the probe.
    fn time(&self, at: Duration) -> String {
        let after = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        format_rfc_3339_milliseconds(self.started_at.saturating_add(after))
    }

    fn to_text(&self) -> Text {
        let mut text = Text::default();
        for target in &self.targets {
            self.target_text(target, &mut text);
        }
        match self.ended {
            Ended::Time => {}
            Ended::Signal => {
                text.line("ended by a signal");
            }
            Ended::Command(CommandEnd::Status(status)) => {
                text.line(format!("`{}` ended with {status}", self.command_line()));
            }
            Ended::Command(_) => {
                text.line(format!("`{}` did not end by itself", self.command_line()));
            }
        }
        text
    }

    fn target_text(&self, target: &Target, text: &mut Text) {
        let tally = &target.tally;
        let failures = tally.failures();
        text.styled_line(Style::Heading, &target.address);
        let counted = format!("  {} in {}", shown_tries(tally.tries()), shown(self.lasted));
        text.push(Style::Plain, counted).push(Style::Plain, ", ");
        let style = if failures == 0 { Style::Added } else { Style::Removed };
        text.push(style, format!("{failures} failed"));
        let left_out = tally.left_out;
        let left_out = if left_out == 0 { String::new() } else { format!(", {left_out} left out") };
        text.line(left_out);
        if let Some(latency) = tally.latency() {
            text.line(format!(
                "  answers in {} (half), {} (90 %), {} (99 %), {} (longest)",
                shown(latency.half),
                shown(latency.p90),
                shown(latency.p99),
                shown(latency.most)
            ));
        }
        let (length, buckets) = tally.timeline();
        let signs: String = buckets.into_iter().map(Bucket::sign).collect();
        text.line(format!(
            "  [{signs}] {} each; . well, ! some failed, x all failed",
            shown(length)
        ));
        if failures == 0 {
            return;
        }
        let causes = tally.causes().map(|(cause, count)| match cause.status() {
            Some(status) => format!("{count} with status {status}"),
            None => format!("{count} {}", cause.word()),
        });
        let outage = shown(tally.longest_outage());
        text.line(format!(
            "  {}; longest time without a success {outage}",
            causes.collect::<Vec<_>>().join(", ")
        ));
        for one in tally.first_failures().iter().take(MOST_SHOWN) {
            if let Outcome::Failure { message, .. } = &one.outcome {
                let message =
                    message.strip_prefix(&format!("{}: ", target.address)).unwrap_or(message);
                text.line(format!("  {} (+{}) {message}", self.time(one.at), shown(one.at)));
            }
        }
        if failures > MOST_SHOWN as u64 {
            text.line(format!("  and {} more", failures - MOST_SHOWN as u64));
        }
    }
}

/// With three decimals at most.
fn milliseconds(time: Duration) -> Json {
    let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    match microseconds % 1000 {
        0 => json!(microseconds / 1000),
        #[allow(clippy::cast_precision_loss, reason = "times of probes are short")]
        _ => json!(microseconds as f64 / 1000.0),
    }
}

fn shown(time: Duration) -> String {
    match time.as_millis() {
        ..1000 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}
