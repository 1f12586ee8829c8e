//! The `verify` of `.overlay.yaml`: conditions beside those of Kubernetes.

use regex::Regex;

use super::settings::{Reader, SettingsError};
use crate::rollout::{Conditions, LogCondition, QueryCondition};
use crate::yaml::scalar::resolve_node;
use crate::yaml::{NodeId, Resolved, Rules};

/// Every key below `verify`.
pub const VERIFY_KEYS: [&str; 3] = ["logs", "prometheus", "queries"];
/// Every key of a query.
pub const QUERY_KEYS: [&str; 5] = ["name", "query", "atMost", "atLeast", "overlays"];
/// Every key of what is asked of logs.
pub const LOG_KEYS: [&str; 5] = ["workload", "container", "forbid", "require", "overlays"];

impl Reader<'_> {
    /// Reads the value of `verify`.
    pub(super) fn verify(&self, node: NodeId) -> Result<Conditions, SettingsError> {
        let mut conditions = Conditions::default();
        for (key, _, value) in self.entries(node, "verify", &VERIFY_KEYS)? {
            match key {
                "prometheus" => conditions.prometheus = Some(self.server(value)?),
                "queries" => conditions.queries = self.list(value, Self::query)?,
                _ => conditions.logs = self.list(value, Self::log)?,
            }
        }
        Ok(conditions)
    }

    fn server(&self, node: NodeId) -> Result<String, SettingsError> {
        let text = self.filled(node)?;
        let is_one = text.starts_with("https://") || text.starts_with("http://");
        let message = || format!("`{text}` is no address: write https://HOST");
        is_one.then(|| text.clone()).ok_or_else(|| self.error(node, message()))
    }

    fn query(&self, node: NodeId) -> Result<QueryCondition, SettingsError> {
        let mut query = QueryCondition::default();
        for (key, _, value) in self.entries(node, "a query", &QUERY_KEYS)? {
            match key {
                "name" => query.name = self.filled(value)?,
                "query" => query.query = self.filled(value)?,
                "atMost" => query.at_most = Some(self.real(value)?),
                "atLeast" => query.at_least = Some(self.real(value)?),
                _ => query.overlays = self.list(value, Self::overlays)?,
            }
        }
        self.require(node, "name", &query.name)?;
        self.require(node, "query", &query.query)?;
        match query.at_most.or(query.at_least) {
            Some(_) => Ok(query),
            None => Err(self.error(node, "`atMost` or `atLeast` is missing".to_owned())),
        }
    }

    fn log(&self, node: NodeId) -> Result<LogCondition, SettingsError> {
        let mut log = LogCondition::default();
        for (key, _, value) in self.entries(node, "what is asked of logs", &LOG_KEYS)? {
            match key {
                "workload" => log.workload = self.filled(value)?,
                "container" => log.container = Some(self.filled(value)?),
                "forbid" => log.forbid = Some(self.pattern(value)?),
                "require" => log.require = Some(self.pattern(value)?),
                _ => log.overlays = self.list(value, Self::overlays)?,
            }
        }
        self.require(node, "workload", &log.workload)?;
        match log.forbid.as_ref().or(log.require.as_ref()) {
            Some(_) => Ok(log),
            None => Err(self.error(node, "`forbid` or `require` is missing".to_owned())),
        }
    }

    fn real(&self, node: NodeId) -> Result<f64, SettingsError> {
        let text = self.text(node)?;
        let resolved = resolve_node(self.tree.node(node), Rules::Kustomization);
        let is_number = matches!(resolved, Some(Resolved::Int(_) | Resolved::Float(_)));
        let number = text.parse::<f64>().ok().filter(|number| is_number && number.is_finite());
        number.ok_or_else(|| self.error(node, format!("`{text}` is no number")))
    }

    fn pattern(&self, node: NodeId) -> Result<String, SettingsError> {
        let text = self.filled(node)?;
        match Regex::new(&text) {
            Ok(_) => Ok(text),
            Err(error) => {
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
                Err(self.error(node, format!("not a regular expression: {why}")))
            }
        }
    }

    fn overlays(&self, node: NodeId) -> Result<String, SettingsError> {
        let text = self.filled(node)?;
        match globset::Glob::new(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(self.error(node, format!("not a pattern: {}", error.kind()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;

    #[test]
    fn conditions_are_read() {
        let text = "verify:
  prometheus: https://prometheus.example
  queries:
  - {name: errors, query: 'sum(rate(errors[5m]))', atMost: 0.01, overlays: ['overlays/*']}
  - {name: up, query: sum(up), atLeast: 2}
  logs:
  - {workload: Deployment/web, container: web, forbid: 'panic|FATAL', require: listening}
";
        let conditions = Settings::parse(text).unwrap().verify;
        assert_eq!(conditions.prometheus.as_deref(), Some("https://prometheus.example"));
        assert_eq!(conditions.queries[0].at_most, Some(0.01));
        assert_eq!(conditions.queries[0].overlays, ["overlays/*"]);
        assert_eq!(conditions.queries[1].at_least, Some(2.0));
        assert_eq!(conditions.logs[0].forbid.as_deref(), Some("panic|FATAL"));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("verify: []", 1, 9),
            ("verify: {promql: a}", 1, 10),
            ("verify: {prometheus: prometheus.example}", 1, 22),
            ("verify:\n  queries: [{name: a, query: b}]", 2, 13),
            ("verify:\n  queries: [{name: a, atMost: 1}]", 2, 13),
            ("verify:\n  queries: [{name: a, query: b, atMost: '1'}]", 2, 41),
            ("verify:\n  queries: [{name: a, query: b, atMost: .inf}]", 2, 41),
            ("verify:\n  logs: [{workload: a}]", 2, 10),
            ("verify:\n  logs: [{workload: a, forbid: '('}]", 2, 32),
            ("verify:\n  logs: [{workload: a, forbid: b, overlays: ['[']}]", 2, 46),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
