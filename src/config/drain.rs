//! The `drain` of `.overlay.yaml`: which nodes are emptied, and by what rules.

use super::settings::{Reader, SettingsError};
use crate::drain::{BuiltIn, Named, OrderRule, PairRule, Rules};
use crate::kustomize::build::label_selector::LabelSelector;
use crate::yaml::NodeId;

/// Every key below `drain`.
pub const DRAIN_KEYS: [&str; 6] = ["nodes", "selector", "order", "pairs", "protected", "rules"];
/// Every key of a rule of `order`.
pub const ORDER_KEYS: [&str; 4] = ["before", "after", "reason", "optional"];
/// Every key of a pair.
pub const PAIR_KEYS: [&str; 4] = ["name", "namespace", "selector", "optional"];

impl Reader<'_> {
    /// Reads the value of `drain`.
    pub(super) fn drain(&self, node: NodeId) -> Result<Rules, SettingsError> {
        let mut rules = Rules::default();
        for (key, _, value) in self.entries(node, "drain", &DRAIN_KEYS)? {
            match key {
                "nodes" => rules.nodes = self.list(value, Self::filled)?,
                "selector" => rules.selector = Some(self.selector(value)?),
                "order" => rules.order = self.list(value, Self::order_rule)?,
                "pairs" => rules.pairs = self.list(value, Self::pair_rule)?,
                "protected" => rules.protected = self.list(value, Self::named)?,
                _ => rules.off = self.rules_off(value)?,
            }
        }
        Ok(rules)
    }

    fn selector(&self, node: NodeId) -> Result<String, SettingsError> {
        let text = self.filled(node)?;
        match LabelSelector::parse(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(self.error(node, error.to_string())),
        }
    }

    fn named(&self, node: NodeId) -> Result<Named, SettingsError> {
        let text = self.text(node)?;
        Named::parse(text).ok_or_else(|| {
            self.error(node, format!("`{text}` is no workload: write NAMESPACE/[KIND/]NAME"))
        })
    }

    fn is_optional(&self, node: NodeId) -> Result<bool, SettingsError> {
        match self.text(node)? {
            "true" => Ok(true),
            "false" => Ok(false),
            text => Err(self.error(node, format!("`{text}` is neither true nor false"))),
        }
    }

    fn order_rule(&self, node: NodeId) -> Result<OrderRule, SettingsError> {
        let (mut before, mut after, mut reason, mut is_optional) = (None, None, None, false);
        for (key, _, value) in self.entries(node, "a rule of order", &ORDER_KEYS)? {
            match key {
                "before" => before = Some(self.named(value)?),
                "after" => after = Some(self.named(value)?),
                "reason" => reason = Some(self.filled(value)?),
                _ => is_optional = self.is_optional(value)?,
            }
        }
        let missing = |key: &str| self.error(node, format!("`{key}` is missing"));
        let before = before.ok_or_else(|| missing("before"))?;
        let after = after.ok_or_else(|| missing("after"))?;
        if before == after {
            return Err(self.error(node, format!("`{before}` cannot move before itself")));
        }
        Ok(OrderRule { before, after, reason, is_optional })
    }

    fn pair_rule(&self, node: NodeId) -> Result<PairRule, SettingsError> {
        let (mut name, mut namespace) = (String::new(), String::new());
        let (mut selector, mut is_optional) = (String::new(), false);
        for (key, _, value) in self.entries(node, "a pair", &PAIR_KEYS)? {
            match key {
                "name" => name = self.filled(value)?,
                "namespace" => namespace = self.filled(value)?,
                "selector" => selector = self.selector(value)?,
                _ => is_optional = self.is_optional(value)?,
            }
        }
        self.require(node, "name", &name)?;
        self.require(node, "namespace", &namespace)?;
        self.require(node, "selector", &selector)?;
        Ok(PairRule { name, namespace, selector, is_optional })
    }

    fn rules_off(&self, node: NodeId) -> Result<Vec<BuiltIn>, SettingsError> {
        let mut off = Vec::new();
        for (name, key, value) in self.pairs(node)? {
            let rule = BuiltIn::ALL.into_iter().find(|rule| rule.word() == name);
            let words = BuiltIn::ALL.map(BuiltIn::word).join(", ");
            let unknown = || self.error(key, format!("`{name}` is no rule; those are {words}"));
            let rule = rule.ok_or_else(unknown)?;
            match self.text(value)? {
                "off" => off.push(rule),
                "on" => {}
                text => {
                    return Err(self.error(value, format!("`{text}` is neither on nor off")));
                }
            }
        }
        Ok(off)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn rules_are_read() {
        let text = "drain:
  selector: pool=old
  order:
  - {before: seal/transit, after: secrets/StatefulSet/vault, reason: it unseals}
  pairs:
  - {name: edge, namespace: edge, selector: app=edge, optional: true}
  protected: [core/mail]
  rules: {databases-last: off, pairs-apart: on}
";
        let rules = Settings::parse(text).unwrap().drain;
        assert_eq!(rules.order[0].shown(), "seal/transit before secrets/StatefulSet/vault");
        assert_eq!(rules.order[0].reason.as_deref(), Some("it unseals"));
        assert!(rules.pairs[0].is_optional && !rules.order[0].is_optional);
        assert_eq!(rules.off, [BuiltIn::DatabasesLast]);
        assert_eq!(rules.protected[0].to_string(), "core/mail");
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("drain: {node: [a]}", 1, 9),
            ("drain: {selector: 'a in'}", 1, 19),
            ("drain:\n  order: [{before: a/b}]", 2, 11),
            ("drain:\n  order: [{before: a/b, after: a/b}]", 2, 11),
            ("drain:\n  order: [{before: ab, after: a/b}]", 2, 20),
            ("drain:\n  order: [{before: a/-b, after: a/b}]", 2, 20),
            ("drain:\n  pairs: [{name: a, selector: a=b}]", 2, 11),
            ("drain:\n  rules: {pairs: off}", 2, 11),
            ("drain:\n  rules: {pairs-apart: no}", 2, 24),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
