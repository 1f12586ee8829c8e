//! Conditions that a repository sets beside those of Kubernetes: numbers of a Prometheus server, and lines of logs.
//!
//! Pure: answers and logs are texts. Source: Prometheus' HTTP API (`/api/v1/query`, its result types and error types).

use regex::Regex;
use serde_json::Value;

use super::events::one_line;
use super::finding::Finding;
use super::live::{items_at, kubectl, shown, text_at};
use super::wanted::Wanted;
use crate::checks::Subject;

/// Everything that a repository asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The address of the Prometheus server, as the repository names it.
    pub prometheus: Option<String>,
    /// Numbers.
    pub queries: Vec<QueryCondition>,
    /// Lines of logs.
    pub logs: Vec<LogCondition>,
}

/// A number that a query has to give.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryCondition {
    /// Its name.
    pub name: String,
    /// The query, in Prometheus' language.
    pub query: String,
    /// The most that it may be.
    pub at_most: Option<f64>,
    /// The least that it has to be.
    pub at_least: Option<f64>,
    /// The overlays that it is for, as patterns; all where none is named.
    pub overlays: Vec<String>,
}

/// What the logs of a workload may not, or have to, hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCondition {
    /// The workload, `[KIND/]NAME`.
    pub workload: String,
    /// The container; without it the first of the pod.
    pub container: Option<String>,
    /// A regular expression that no line may match.
    pub forbid: Option<String>,
    /// A regular expression that a line of each pod has to match.
    pub require: Option<String>,
    /// The overlays that it is for, as patterns; all where none is named.
    pub overlays: Vec<String>,
}

/// A condition that does not hold, or of which nobody can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What is wrong.
    pub finding: Finding,
    /// Whether it may be well a moment later: a number may, a line that may not be in a log stays there.
    pub may_pass: bool,
}

impl Broken {
    fn passing(finding: Finding) -> Self {
        Self { finding, may_pass: true }
    }

    fn lasting(finding: Finding) -> Self {
        Self { finding, may_pass: false }
    }
}

impl QueryCondition {
    /// What is wrong with an answer of the server: its body, whatever its status. A server that cannot answer now is
    /// `unreadable`; a query that it does not understand, and a wrong number or none, are `query-failed`.
    #[must_use]
    pub fn judge(&self, body: &str) -> Option<Broken> {
        let Ok(answer) = serde_json::from_str::<Value>(body) else {
            return Some(self.unreadable("what answers there is no Prometheus"));
        };
        if text_at(&answer, "/status") != "success" {
            let said = one_line(text_at(&answer, "/error"));
            return Some(match text_at(&answer, "/errorType") {
                "bad_data" | "execution" => {
                    let why = format!("the server refuses the query: {said}");
                    Broken { may_pass: false, ..self.failed(why) }
                }
                "" => self.unreadable("what answers there is no Prometheus"),
                kind => self.unreadable(&format!("{kind}: {said}")),
            });
        }
        let numbers = match numbers(&answer["data"]) {
            Ok(numbers) => numbers,
            Err(kind) => {
                return Some(self.failed(format!("it gives a {kind}, which is no number")));
            }
        };
        if numbers.is_empty() {
            return Some(self.failed("it gives no number: no series fits".to_owned()));
        }
        let wrong: Vec<String> = numbers.iter().filter_map(|number| self.wrong(number)).collect();
        let more = wrong.len().saturating_sub(1);
        let more = if more > 0 { format!(", and {more} more series") } else { String::new() };
        Some(self.failed(format!("{}{more}", wrong.first()?)))
    }

    /// That it could not be asked.
    #[must_use]
    pub fn unreadable(&self, why: &str) -> Broken {
        let message = format!("query {} could not be asked: {why}", self.name);
        Broken::passing(Finding::of(self.subject(), "unreadable", message))
    }

    fn failed(&self, why: String) -> Broken {
        Broken::passing(Finding::of(self.subject(), "query-failed", why))
    }

    fn subject(&self) -> Subject {
        Subject {
            api_version: String::new(),
            kind: "Query".to_owned(),
            namespace: String::new(),
            name: self.name.clone(),
        }
    }

    /// What is wrong with one number; one that is not a number (0/0) is neither at most nor at least anything.
    fn wrong(&self, (series, value): &(String, f64)) -> Option<String> {
        let of = if series.is_empty() { String::new() } else { format!(" for {series}") };
        if value.is_nan() {
            return Some(format!("it is not a number (NaN){of}"));
        }
        let above = self.at_most.filter(|most| value > most);
        let below = self.at_least.filter(|least| value < least);
        let above = above.map(|most| format!("it is {value}{of}, and may be {most} at most"));
        above.or_else(|| below.map(|least| format!("it is {value}{of}, and has to be {least}")))
    }
}

/// The numbers of a result, each with the labels of its series; what it is instead, where it is none.
fn numbers(data: &Value) -> Result<Vec<(String, f64)>, String> {
    let number = |sample: &Value| sample[1].as_str().and_then(|text| text.parse::<f64>().ok());
    let kind = text_at(data, "/resultType");
    match kind {
        "scalar" => {
            let value = number(&data["result"]).ok_or("text")?;
            Ok(vec![(String::new(), value)])
        }
        "vector" => items_at(data, "/result")
            .iter()
            .map(|one| Ok((labels(&one["metric"]), number(&one["value"]).ok_or("histogram")?)))
            .collect(),
        "" => Err("text".to_owned()),
        other => Err(one_line(other)),
    }
}

/// `{job="web", code="500"}`; empty for a number without labels.
fn labels(metric: &Value) -> String {
    let all = metric.as_object().into_iter().flatten();
    let all = all.filter_map(|(key, value)| Some(format!("{key}={:?}", value.as_str()?)));
    let all: Vec<String> = all.collect();
    if all.is_empty() { String::new() } else { one_line(&format!("{{{}}}", all.join(", "))) }
}

impl LogCondition {
    /// Whether it speaks of `wanted`.
    #[must_use]
    pub fn is_about(&self, wanted: &Wanted) -> bool {
        let (kind, name) = match self.workload.split_once('/') {
            Some((kind, name)) => (Some(kind), name),
            None => (None, self.workload.as_str()),
        };
        wanted.group() == "apps"
            && wanted.subject.name == name
            && kind.is_none_or(|kind| kind.eq_ignore_ascii_case(&wanted.subject.kind))
    }

    /// What is wrong with the log of `pod`. Of a line only what the pattern matches is told: the rest may be nobody's
    /// business.
    #[must_use]
    pub fn judge(&self, pod: &Value, log: &str) -> Vec<Broken> {
        let compiled = |pattern: &Option<String>| Regex::new(pattern.as_deref()?).ok();
        let mut found = Vec::new();
        if let Some(pattern) = compiled(&self.forbid) {
            let matches: Vec<&str> =
                log.lines().filter_map(|line| Some(pattern.find(line)?.as_str())).collect();
            if let Some(last) = matches.last() {
                let message = format!(
                    "its log has {} that may not be there, the last of them: {}",
                    lines(matches.len()),
                    one_line(last)
                );
                let finding = Finding::about(pod, "log-pattern", message).fix(read_it(pod));
                found.push(Broken::lasting(finding));
            }
        }
        if let Some(pattern) = compiled(&self.require)
            && !log.lines().any(|line| pattern.is_match(line))
        {
            let message = format!("its log has no line that matches {pattern}");
            let finding = Finding::about(pod, "log-pattern", message).fix(read_it(pod));
            found.push(Broken::passing(finding));
        }
        found
    }

    /// That the log of `pod` could not be read.
    #[must_use]
    pub fn unreadable(&self, pod: &Value, why: &str) -> Broken {
        let message = format!("the log of {} could not be read: {why}", shown(pod));
        Broken::passing(Finding::about(pod, "unreadable", message))
    }

    /// That nothing that is rendered is meant.
    #[must_use]
    pub fn of_nothing(&self) -> Broken {
        let subject = Subject {
            api_version: String::new(),
            kind: "Workload".to_owned(),
            namespace: String::new(),
            name: self.workload.clone(),
        };
        let message = "a condition speaks of its logs, and the overlay renders no such workload";
        Broken::lasting(Finding::of(subject, "log-pattern", message))
    }
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}

fn read_it(pod: &Value) -> String {
    kubectl("logs", pod)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn condition(at_most: Option<f64>, at_least: Option<f64>) -> QueryCondition {
        QueryCondition { name: "errors".into(), at_most, at_least, ..QueryCondition::default() }
    }

    fn vector(values: &[&str]) -> String {
        let series = |value: &&str| json!({"metric": {"code": "500"}, "value": [1.5, value]});
        let result: Vec<Value> = values.iter().map(series).collect();
        json!({"status": "success", "data": {"resultType": "vector", "result": result}}).to_string()
    }

    /// The id and the message of a finding, or none.
    fn said(condition: &QueryCondition, body: &str) -> String {
        let found = condition.judge(body);
        let shown = |found: Broken| format!("{}: {}", found.finding.id, found.finding.message);
        found.map(shown).unwrap_or_default()
    }

    #[test]
    fn a_number_is_held_against_its_bounds() {
        let most = condition(Some(0.5), None);
        assert_eq!(said(&most, &vector(&["0.5"])), "");
        assert_eq!(
            said(&most, &vector(&["0.4", "0.51", "2"])),
            "query-failed: it is 0.51 for {code=\"500\"}, and may be 0.5 at most, and 1 more series"
        );
        assert_eq!(
            said(&most, &vector(&["NaN"])),
            "query-failed: it is not a number (NaN) for {code=\"500\"}"
        );
        assert!(said(&most, &vector(&["+Inf"])).starts_with("query-failed: it is inf"));
        assert_eq!(said(&most, &vector(&["-Inf"])), "");
        assert_eq!(said(&most, &vector(&[])), "query-failed: it gives no number: no series fits");
        let least = condition(None, Some(2.0));
        assert_eq!(said(&least, &vector(&["2"])), "");
        assert!(said(&least, &vector(&["1.9"])).ends_with("and has to be 2"));
        let scalar = r#"{"status":"success","data":{"resultType":"scalar","result":[1.5,"3"]}}"#;
        assert_eq!(said(&least, scalar), "");
        assert!(said(&most, scalar).contains("it is 3, and"));
        let text = r#"{"status":"success","data":{"resultType":"string","result":[1.5,"3"]}}"#;
        assert_eq!(said(&most, text), "query-failed: it gives a string, which is no number");
    }

    /// The error types of Prometheus' API: what is the query's own fault, and what is the server's.
    #[test]
    fn a_server_that_cannot_answer_is_no_wrong_number() {
        let condition = condition(Some(1.0), None);
        let failed = |kind: &str| {
            let body = json!({"status": "error", "errorType": kind, "error": "it says"});
            said(&condition, &body.to_string())
        };
        for kind in ["bad_data", "execution"] {
            assert_eq!(failed(kind), "query-failed: the server refuses the query: it says");
        }
        for kind in ["timeout", "canceled", "unavailable", "internal", "not_found"] {
            assert!(failed(kind).starts_with("unreadable: query errors could not be asked: "));
        }
        assert!(said(&condition, "<html>").starts_with("unreadable: "));
        assert!(said(&condition, "{}").starts_with("unreadable: "));
    }

    #[test]
    fn a_log_is_held_against_its_patterns() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-1", "namespace": "shop"}});
        let condition = LogCondition {
            forbid: Some("panic: [a-z ]+".into()),
            require: Some("^listening".into()),
            ..LogCondition::default()
        };
        let said = |log: &str| {
            let found = condition.judge(&pod, log).into_iter();
            found.map(|broken| broken.finding.message).collect::<Vec<_>>()
        };
        assert_eq!(said("starting\nlistening on 8080\n"), [""; 0]);
        assert_eq!(said("not listening\n"), ["its log has no line that matches ^listening"]);
        assert_eq!(
            said("listening\npanic: one\nkey=hunter2 panic: no route; key=hunter2\n"),
            ["its log has 2 lines that may not be there, the last of them: panic: no route"]
        );
    }
}
