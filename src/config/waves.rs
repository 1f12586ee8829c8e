//! The `waves` of `.overlay.yaml`: the orders in which overlays are shipped.

use super::settings::{Reader, SettingsError};
use crate::yaml::{Kind, NodeId};

/// One order, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaveSetting {
    /// Its name.
    pub name: String,
    /// Each wave with its overlays: directories or patterns, relative to the repository's root.
    pub waves: Vec<Vec<String>>,
}

impl Reader<'_> {
    /// Reads the value of `waves`: for each name a list of waves, each an overlay or a list of them.
    pub(super) fn waves(&self, node: NodeId) -> Result<Vec<WaveSetting>, SettingsError> {
        let mut orders = Vec::new();
        for (name, key, value) in self.pairs(node)? {
            if name.trim().is_empty() {
                return Err(self.error(key, "waves without a name".to_owned()));
            }
            let waves = self.list(value, Self::wave)?;
            if waves.is_empty() {
                return Err(self.error(value, "no wave".to_owned()));
            }
            orders.push(WaveSetting { name: name.to_owned(), waves });
        }
        Ok(orders)
    }

    fn wave(&self, node: NodeId) -> Result<Vec<String>, SettingsError> {
        if !matches!(self.tree.node(node).kind, Kind::Seq { .. }) {
            return Ok(vec![self.filled(node)?]);
        }
        let overlays = self.list(node, Self::filled)?;
        if overlays.is_empty() {
            return Err(self.error(node, "a wave of nothing".to_owned()));
        }
        Ok(overlays)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn a_wave_is_an_overlay_or_a_list() {
        let text = "waves:\n  fleet: [overlays/dev, [overlays/stage-a, 'overlays/lab-*'], overlays/prod]\n";
        let list = |of: &[&str]| of.iter().map(|text| (*text).to_owned()).collect();
        let waves = vec![
            list(&["overlays/dev"]),
            list(&["overlays/stage-a", "overlays/lab-*"]),
            list(&["overlays/prod"]),
        ];
        let expected = [WaveSetting { name: "fleet".to_owned(), waves }];
        assert_eq!(Settings::parse(text).unwrap().waves, expected);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, line, column) in [
            ("waves: [a]", 1, 8),
            ("waves:\n  fleet: []", 2, 10),
            ("waves:\n  fleet: [[]]", 2, 11),
            ("waves:\n  fleet: ['']", 2, 11),
            ("waves:\n  fleet: [{a: b}]", 2, 11),
            ("waves:\n  fleet: a", 2, 10),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text:?} {error}");
        }
    }
}
