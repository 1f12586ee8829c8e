//! The `checks` of `.overlay.yaml`: severities, exceptions with reasons, budgets and what is known of nodes.

use super::FILE_NAME;
use super::settings::{Reader, SettingsError};
use crate::checks::settings::{Exception, NodeSize, PerPod, Settings, SumBudget};
use crate::checks::{self, Place, Severity};
use crate::yaml::{Kind, NodeId};

/// Every key below `checks`.
pub const CHECK_KEYS: [&str; 9] = [
    "severity",
    "exceptions",
    "budgets",
    "nodeDrain",
    "nodes",
    "nodeSize",
    "imageArguments",
    "drainNames",
    "nodeLabels",
];

impl Reader<'_> {
    /// Reads the value of `checks`.
    pub(super) fn checks(&self, node: NodeId) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        for (name, _, value) in self.entries(node, "checks", &CHECK_KEYS)? {
            match name {
                "severity" => settings.severities = self.severities(value)?,
                "exceptions" => settings.exceptions = self.list(value, Self::exception)?,
                "budgets" => settings.budgets = self.list(value, Self::budget)?,
                "nodeDrain" => settings.node_drain = Some(self.duration(value)?),
                "nodes" => settings.nodes = Some(self.count(value)?),
                "nodeSize" => settings.node_size = self.node_size(value)?,
                "imageArguments" => settings.image_arguments = self.list(value, Self::filled)?,
                "drainNames" => settings.drain_names = self.list(value, Self::filled)?,
                _ => settings.node_labels = self.list(value, Self::node_label)?,
            }
        }
        Ok(settings)
    }

    fn severities(
        &self,
        node: NodeId,
    ) -> Result<std::collections::BTreeMap<String, Option<Severity>>, SettingsError> {
        let mut severities = std::collections::BTreeMap::new();
        for (name, key, value) in self.pairs(node)? {
            self.check_id(key, name)?;
            let severity = match self.text(value)? {
                "off" => None,
                "note" => Some(Severity::Note),
                "warning" => Some(Severity::Warning),
                "error" => Some(Severity::Error),
                other => {
                    let message = format!("`{other}` is no severity: off, note, warning or error");
                    return Err(self.error(value, message));
                }
            };
            severities.insert(name.to_owned(), severity);
        }
        Ok(severities)
    }

    fn check_id(&self, at: NodeId, id: &str) -> Result<(), SettingsError> {
        match checks::find(id) {
            Some(_) => Ok(()),
            None => Err(self.error(at, format!("`{id}` is no check; docs/checks.md lists them"))),
        }
    }

    fn exception(&self, node: NodeId) -> Result<Exception, SettingsError> {
        let mut exception = Exception {
            id: String::new(),
            resource: String::new(),
            overlay: String::new(),
            reason: String::new(),
        };
        let keys = ["check", "resource", "overlay", "reason"];
        for (name, _, value) in self.entries(node, "an exception", &keys)? {
            let text = self.filled(value)?;
            match name {
                "check" => {
                    self.check_id(value, &text)?;
                    exception.id = text;
                }
                "resource" => exception.resource = text,
                "overlay" => exception.overlay = text,
                _ => exception.reason = text,
            }
        }
        self.require(node, "check", &exception.id)?;
        self.require(node, "reason", &exception.reason)?;
        Ok(exception)
    }

    fn budget(&self, node: NodeId) -> Result<SumBudget, SettingsError> {
        let (mut name, mut limit, mut per_pod, mut workloads) =
            (String::new(), None, Vec::new(), Vec::new());
        let keys = ["name", "limit", "perPod", "workloads"];
        for (key, _, value) in self.entries(node, "a budget", &keys)? {
            match key {
                "name" => name = self.filled(value)?,
                "limit" => limit = Some(self.number(value)?),
                "perPod" => per_pod = self.per_pod(value)?,
                _ => workloads = self.list(value, Self::filled)?,
            }
        }
        self.require(node, "name", &name)?;
        let Some(limit) = limit else {
            return Err(self.error(node, "a budget needs a `limit`".to_owned()));
        };
        if per_pod.is_empty() {
            return Err(self.error(node, "a budget needs `perPod`".to_owned()));
        }
        Ok(SumBudget { name, limit, per_pod, workloads, place: self.place(node) })
    }

    /// A number, or sources that are asked one after the other: `env`, `configMap`, `number`.
    fn per_pod(&self, node: NodeId) -> Result<Vec<PerPod>, SettingsError> {
        if self.tree.node(node).scalar().is_some() {
            return Ok(vec![PerPod::Number(self.number(node)?)]);
        }
        let mut sources = Vec::new();
        for (key, _, value) in self.entries(node, "perPod", &["env", "configMap", "number"])? {
            sources.push(match key {
                "env" => PerPod::Env(self.filled(value)?),
                "configMap" => self.config_map_key(value)?,
                _ => PerPod::Number(self.number(value)?),
            });
        }
        Ok(sources)
    }

    fn config_map_key(&self, node: NodeId) -> Result<PerPod, SettingsError> {
        let (mut name, mut key) = (String::new(), String::new());
        for (field, _, value) in self.entries(node, "configMap", &["name", "key"])? {
            match field {
                "name" => name = self.filled(value)?,
                _ => key = self.filled(value)?,
            }
        }
        self.require(node, "name", &name)?;
        self.require(node, "key", &key)?;
        Ok(PerPod::ConfigMap { name, key })
    }

    fn node_size(&self, node: NodeId) -> Result<NodeSize, SettingsError> {
        let mut size = NodeSize::default();
        for (key, _, value) in self.entries(node, "nodeSize", &["cpu", "memory"])? {
            let amount = self.number(value)?;
            match key {
                "cpu" => size.cpu_cores = Some(amount),
                _ => size.memory_bytes = Some(amount),
            }
        }
        Ok(size)
    }

    fn node_label(&self, node: NodeId) -> Result<(String, Place), SettingsError> {
        Ok((self.filled(node)?, self.place(node)))
    }

    /// A quantity that is not negative.
    fn number(&self, node: NodeId) -> Result<f64, SettingsError> {
        let text = self.text(node)?;
        let number = checks::model::quantity::parse_quantity(text).filter(|n| *n >= 0.0);
        number
            .ok_or_else(|| self.error(node, format!("`{text}` is no quantity such as 400 or 2Gi")))
    }

    /// A whole number from 1.
    fn count(&self, node: NodeId) -> Result<i64, SettingsError> {
        let text = self.text(node)?;
        let count = text.parse::<i64>().ok().filter(|count| *count > 0);
        count.ok_or_else(|| self.error(node, format!("`{text}` is no number from 1")))
    }

    pub(super) fn filled(&self, node: NodeId) -> Result<String, SettingsError> {
        match self.text(node)?.trim() {
            "" => Err(self.error(node, "an empty text".to_owned())),
            text => Ok(text.to_owned()),
        }
    }

    pub(super) fn require(
        &self,
        node: NodeId,
        key: &str,
        value: &str,
    ) -> Result<(), SettingsError> {
        match value {
            "" => Err(self.error(node, format!("`{key}` is missing"))),
            _ => Ok(()),
        }
    }

    fn place(&self, node: NodeId) -> Place {
        Place { file: FILE_NAME.to_owned(), line: self.tree.node(node).line }
    }

    pub(super) fn text(&self, node: NodeId) -> Result<&str, SettingsError> {
        let node = self.tree.target(node);
        self.tree.node(node).scalar().ok_or_else(|| self.error(node, "not a text".to_owned()))
    }

    pub(super) fn list<T>(
        &self,
        node: NodeId,
        read: impl Fn(&Self, NodeId) -> Result<T, SettingsError>,
    ) -> Result<Vec<T>, SettingsError> {
        let node = self.tree.target(node);
        if !matches!(self.tree.node(node).kind, Kind::Seq { .. }) {
            return Err(self.error(node, "not a list".to_owned()));
        }
        self.tree.items(node).iter().map(|item| read(self, self.tree.target(*item))).collect()
    }

    /// The entries of a mapping, each key once.
    pub(super) fn pairs(&self, node: NodeId) -> Result<Vec<(&str, NodeId, NodeId)>, SettingsError> {
        let node = self.tree.target(node);
        if !matches!(self.tree.node(node).kind, Kind::Map { .. }) {
            return Err(self.error(node, "not a mapping".to_owned()));
        }
        let mut pairs: Vec<(&str, NodeId, NodeId)> = Vec::new();
        for (key, value) in self.tree.pairs(node) {
            let name = self.tree.node(key).scalar().unwrap_or_default();
            if pairs.iter().any(|(seen, _, _)| *seen == name) {
                return Err(self.error(key, format!("`{name}` stands twice")));
            }
            pairs.push((name, key, self.tree.target(value)));
        }
        Ok(pairs)
    }

    /// As [`Reader::pairs`], for a mapping that has these keys only.
    pub(super) fn entries(
        &self,
        node: NodeId,
        what: &str,
        keys: &[&str],
    ) -> Result<Vec<(&str, NodeId, NodeId)>, SettingsError> {
        let pairs = self.pairs(node)?;
        match pairs.iter().find(|(name, _, _)| !keys.contains(name)) {
            None => Ok(pairs),
            Some((name, key, _)) => {
                let message =
                    format!("`{name}` is no key of {what}; those are {}", keys.join(", "));
                Err(self.error(*key, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "checks:
  severity: {pdb-missing: off, statefulset-single: warning}
  nodeDrain: 300s
  nodes: 3
  nodeSize: {cpu: 1900m, memory: 5Gi}
  imageArguments: ['--worker-image']
  drainNames: ['*drain*']
  nodeLabels: [example.test/egress]
  budgets:
  - {name: connections, limit: 400, perPod: {env: POOL, number: 9}, workloads: ['web*']}
  exceptions:
  - {check: pdb-blocks-drain, resource: web, overlay: overlays/dev, reason: one node only}
";
        let settings = Settings::parse(text).unwrap().checks;
        assert_eq!(settings.severities["pdb-missing"], None);
        assert_eq!(settings.severities["statefulset-single"], Some(Severity::Warning));
        assert_eq!(settings.node_drain.unwrap().as_secs(), 300);
        assert_eq!((settings.nodes, settings.node_size.cpu_cores), (Some(3), Some(1.9)));
        assert_eq!(settings.node_labels[0].1.line, 8);
        assert_eq!(settings.budgets[0].per_pod.len(), 2);
        assert_eq!(settings.exceptions[0].reason, "one node only");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("checks: {severities: {}}", 1, 10),
            ("checks:\n  severity: {pdb-missing: bad}", 2, 27),
            ("checks:\n  severity: {no-such-check: off}", 2, 14),
            ("checks:\n  exceptions:\n  - {check: pdb-missing}", 3, 5),
            ("checks:\n  exceptions:\n  - {check: pdb-missing, reason: ''}", 3, 34),
            ("checks:\n  budgets: [{name: a, limit: x, perPod: 1}]", 2, 30),
            ("checks:\n  budgets: [{name: a, perPod: 1}]", 2, 13),
            ("checks:\n  nodes: 0", 2, 10),
            ("checks: []", 1, 9),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
