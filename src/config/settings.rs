//! `.overlay.yaml`: settings that belong to a repository. Read strictly; trusted no more than the repository.

use std::time::Duration;

use super::groups::GroupSetting;
use super::waves::WaveSetting;
use crate::checks;
use crate::clock::parse_duration;
use crate::drain;
use crate::rollout::Conditions;
use crate::yaml::scalar::resolve_node;
use crate::yaml::{self, NodeId, Resolved, Rules, Tree};

/// The name of the file at the root of a repository.
pub const FILE_NAME: &str = ".overlay.yaml";
/// Every key that the file may have.
pub const KEYS: [&str; 8] = [
    "checks",
    "commitMessageTemplate",
    "drain",
    "groups",
    "pullRequestTemplate",
    "timeout",
    "verify",
    "waves",
];

/// What `.overlay.yaml` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// `checks`: what the repository decides about its checks.
    pub checks: checks::Settings,
    /// `commitMessageTemplate`: the file with the words of a commit message, relative to the repository's root.
    pub commit_message_template: Option<String>,
    /// `drain`: the rules by which nodes are emptied.
    pub drain: drain::Rules,
    /// `groups`: workloads that are named together.
    pub groups: Vec<GroupSetting>,
    /// `pullRequestTemplate`: the file with the body of pull requests, relative to the repository's root.
    pub pull_request_template: Option<String>,
    /// `timeout`: the time that a command may wait for anything outside.
    pub timeout: Option<Duration>,
    /// `verify`: conditions of the repository's own.
    pub verify: Conditions,
    /// `waves`: the orders in which overlays are shipped, by their names.
    pub waves: Vec<WaveSetting>,
}

/// Why the file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    /// One sentence.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The key that is not known, for a suggestion.
    pub unknown_key: Option<String>,
}

impl Settings {
    /// Reads the text of the file; an empty one says nothing.
    ///
    /// # Errors
    /// [`SettingsError`] for broken YAML, a second document, an unknown key, a key that stands twice, or a wrong value.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let tree = yaml::parse(text).map_err(|error| SettingsError {
            message: error.message,
            line: error.line as usize,
            column: error.column as usize,
            unknown_key: None,
        })?;
        let reader = Reader { tree: &tree };
        match tree.roots() {
            [] => Ok(Self::default()),
            [root] => reader.settings(*root),
            [_, second, ..] => Err(reader.error(*second, "a second document".to_owned())),
        }
    }
}

pub(super) struct Reader<'a> {
    pub(super) tree: &'a Tree<'a>,
}

impl Reader<'_> {
    fn settings(&self, root: NodeId) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        let node = self.tree.node(root);
        if resolve_node(node, Rules::Kustomization) == Some(Resolved::Null) {
            return Ok(settings);
        }
        if !matches!(node.kind, yaml::Kind::Map { .. }) {
            return Err(self.error(root, "not a mapping of settings".to_owned()));
        }
        let mut seen = Vec::new();
        for (key, value) in self.tree.pairs(root) {
            let name = self.tree.node(key).scalar().unwrap_or_default();
            if seen.contains(&name) {
                return Err(self.error(key, format!("`{name}` stands twice")));
            }
            seen.push(name);
            match name {
                "checks" => settings.checks = self.checks(value)?,
                "commitMessageTemplate" => {
                    settings.commit_message_template = Some(self.file(value)?);
                }
                "drain" => settings.drain = self.drain(value)?,
                "groups" => settings.groups = self.groups(value)?,
                "pullRequestTemplate" => settings.pull_request_template = Some(self.file(value)?),
                "timeout" => settings.timeout = Some(self.duration(value)?),
                "verify" => settings.verify = self.verify(value)?,
                "waves" => settings.waves = self.waves(value)?,
                _ => {
                    let error = self.error(key, format!("`{name}` is no setting"));
                    return Err(SettingsError { unknown_key: Some(name.to_owned()), ..error });
                }
            }
        }
        Ok(settings)
    }

    fn file(&self, value: NodeId) -> Result<String, SettingsError> {
        match self.tree.node(value).scalar().unwrap_or_default() {
            "" => Err(self.error(value, "not the name of a file".to_owned())),
            text => Ok(text.trim_start_matches("./").to_owned()),
        }
    }

    pub(super) fn duration(&self, value: NodeId) -> Result<Duration, SettingsError> {
        let text = self.tree.node(value).scalar().unwrap_or_default();
        parse_duration(text).map_err(|message| self.error(value, message))
    }

    pub(super) fn error(&self, at: NodeId, message: String) -> SettingsError {
        let node = self.tree.node(at);
        let (line, column) = (node.line as usize, node.column as usize);
        SettingsError { message, line, column, unknown_key: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let timeout = Some(Duration::from_secs(90));
        assert_eq!(
            Settings::parse("# ours\ntimeout: 1m30s\n"),
            Ok(Settings { timeout, ..Settings::default() })
        );
        for empty in ["", "# nothing\n", "---\n", "{}"] {
            assert_eq!(Settings::parse(empty), Ok(Settings::default()), "{empty:?}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("timeout: 90s\ntimout: 5s\n", 2, 1),
            ("timeout: 5\n", 1, 10),
            ("timeout: [5s]\n", 1, 10),
            ("commitMessageTemplate: []\n", 1, 24),
            ("timeout: 5s\ntimeout: 5s\n", 2, 1),
            ("- timeout\n", 1, 1),
            ("timeout: 5s\n---\ntimeout: 6s\n", 3, 1),
            ("timeout: {\n", 1, 10),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
