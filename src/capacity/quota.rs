//! What a provider still grants: how many more nodes fit before it refuses.

use super::amounts::Amounts;
use super::node::{NodeKind, NodeKindError, quantity, size};

/// A quota, as written in `cores=10,used=6` or `ports=50,used=44,per=1`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    /// What is granted: `cores`, `memory`, `ports`, `volumes`, `instances` or any other word.
    pub name: String,
    /// How much, in thousandths of a core, bytes, or thousandths of a piece.
    limit: u64,
    used: u64,
    per_node: Option<u64>,
}

impl Quota {
    /// Reads its text.
    ///
    /// # Errors
    /// [`NodeKindError`].
    pub fn parse(text: &str) -> Result<Self, NodeKindError> {
        let mut parts = text.split(',').map(str::trim);
        let unknown = |part: &str| NodeKindError::UnknownPart(part.to_owned());
        let first = parts.next().unwrap_or_default();
        let (name, limit) = first.split_once('=').ok_or_else(|| unknown(first))?;
        if name.is_empty() || ["used", "per"].contains(&name) {
            return Err(unknown(first));
        }
        let scale = if name == "memory" { 1.0 } else { 1000.0 };
        let limit = match name {
            "memory" => size((name, limit), 1 << 20, "GiB")?,
            _ => quantity((name, limit), scale)?,
        };
        let mut quota = Self { name: name.to_owned(), limit, used: 0, per_node: None };
        for part in parts {
            match part.split_once('=') {
                Some(("used", "0")) => quota.used = 0,
                Some(("used", value)) => quota.used = quantity(("used", value), scale)?,
                Some(("per", value)) => quota.per_node = Some(quantity(("per", value), scale)?),
                _ => return Err(unknown(part)),
            }
        }
        Ok(quota)
    }

    /// What is left of it, in the measure in which it is kept; less than nothing where more is used than is granted.
    #[must_use]
    pub fn left(&self) -> i64 {
        let whole = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
        whole(self.limit) - whole(self.used)
    }

    /// What one node takes of it: what `per=` says; else of cores and memory what the node has, where that is known, and of all else
    /// one piece.
    #[must_use]
    pub fn taken_by(&self, size: Option<Amounts>) -> u64 {
        let own = match self.name.as_str() {
            "cores" | "cpu" => size.map(|size| size.millicores),
            "memory" => size.map(|size| size.bytes),
            _ => None,
        };
        self.per_node.or(own).unwrap_or(1000).max(1)
    }

    /// How many more nodes it lets come of which each takes so much.
    #[must_use]
    pub fn more_of(&self, taken_by_each: u64) -> u64 {
        self.limit.saturating_sub(self.used) / taken_by_each.max(1)
    }

    /// How many more nodes of `kind` it lets come.
    #[must_use]
    pub fn more_nodes(&self, kind: &NodeKind) -> u64 {
        self.more_of(self.taken_by(Some(kind.bought())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_lets_whole_nodes_come() {
        let kind = NodeKind::parse("memory=15.62GiB,cpu=4,purchased=16GiB").unwrap();
        for (text, more) in [
            ("cores=10,used=6", 1),
            ("cores=10,used=7", 0),
            ("cores=10", 2),
            ("ports=50,used=44", 6),
            ("ports=50,used=44,per=2", 3),
            ("memory=64GiB,used=16GiB", 3),
            ("ports=5,used=9", 0),
            ("volumes=5,used=0", 5),
        ] {
            assert_eq!(Quota::parse(text).unwrap().more_nodes(&kind), more, "{text}");
        }
        let over = Quota::parse("ports=5,used=9").unwrap();
        assert_eq!((over.left(), over.taken_by(None)), (-4000, 1000));
        let error = Quota::parse("memory=64").unwrap_err().to_string();
        assert_eq!(error, "`memory=64` is 64 bytes: did you mean 64GiB?");
        for text in ["cores", "used=5", "cores=x", "cores=5,free=2", "=5"] {
            assert!(Quota::parse(text).is_err(), "{text}");
        }
    }
}
