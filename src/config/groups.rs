//! The `groups` of `.overlay.yaml`: workloads that a repository names together.

use super::settings::{Reader, SettingsError};
use crate::yaml::{Kind, NodeId};

/// Every key of a group that is a mapping.
pub const GROUP_KEYS: [&str; 2] = ["workloads", "selector"];

/// One group, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSetting {
    /// Its name.
    pub name: String,
    /// The workloads, `[KIND[.GROUP]/]NAME`, each with its line and column.
    pub workloads: Vec<(String, usize, usize)>,
    /// A label selector.
    pub selector: Option<String>,
}

impl Reader<'_> {
    /// Reads the value of `groups`: for each name a list of workloads, or a mapping of [`GROUP_KEYS`].
    pub(super) fn groups(&self, node: NodeId) -> Result<Vec<GroupSetting>, SettingsError> {
        let mut groups = Vec::new();
        for (name, key, value) in self.pairs(node)? {
            if name.trim().is_empty() {
                return Err(self.error(key, "a group without a name".to_owned()));
            }
            groups.push(GroupSetting { name: name.to_owned(), ..self.group(value)? });
        }
        Ok(groups)
    }

    fn group(&self, node: NodeId) -> Result<GroupSetting, SettingsError> {
        let mut group = GroupSetting::default();
        if matches!(self.tree.node(node).kind, Kind::Seq { .. }) {
            group.workloads = self.list(node, Self::workload)?;
        } else {
            for (key, _, value) in self.entries(node, "a group", &GROUP_KEYS)? {
                match key {
                    "workloads" => group.workloads = self.list(value, Self::workload)?,
                    _ => group.selector = Some(self.filled(value)?),
                }
            }
        }
        if group.workloads.is_empty() && group.selector.is_none() {
            return Err(self.error(node, "a group of nothing".to_owned()));
        }
        Ok(group)
    }

    fn workload(&self, node: NodeId) -> Result<(String, usize, usize), SettingsError> {
        let at = self.tree.node(node);
        Ok((self.filled(node)?, at.line as usize, at.column as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn a_group_is_a_list_or_a_mapping() {
        let text = "groups:\n  mesh: [web, Deployment/api]\n  heavy: {selector: tier=heavy}\n";
        let groups = Settings::parse(text).unwrap().groups;
        let workloads = vec![("web".to_owned(), 2, 10), ("Deployment/api".to_owned(), 2, 15)];
        assert_eq!(
            groups,
            [
                GroupSetting { name: "mesh".to_owned(), workloads, selector: None },
                GroupSetting {
                    name: "heavy".to_owned(),
                    selector: Some("tier=heavy".to_owned()),
                    ..GroupSetting::default()
                },
            ]
        );
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("groups: [web]", 1, 9),
            ("groups:\n  mesh: web", 2, 9),
            ("groups:\n  mesh: []", 2, 9),
            ("groups:\n  mesh: {}", 2, 9),
            ("groups:\n  mesh: {names: [web]}", 2, 10),
            ("groups:\n  mesh: [web, '']", 2, 15),
            ("groups:\n  mesh: [web]\n  mesh: [api]", 3, 3),
            ("groups:\n  mesh: {selector: [a]}", 2, 20),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
