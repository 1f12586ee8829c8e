//! One kind of node: what it is, what it keeps for itself, and what it has left for pods.

use super::amounts::Amounts;
use super::eligible::{Face, Taint};
use super::pack::Room;
use super::reservation::{DEFAULT_PODS, Provider};
use crate::checks::model::quantity::parse_quantity;

/// A kind of node, as written in `memory=16GiB,cpu=4,pods=110,provider=aks,purchased=…,name=…,price=…,labels=…,taints=…`.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeKind {
    /// What it is called.
    pub name: String,
    /// What the kubelet sees of it.
    pub seen: Amounts,
    /// The pods that it takes.
    pub pods: u64,
    /// By whose formula it reserves.
    pub provider: Provider,
    /// The bytes that are paid for, where they are told.
    pub purchased: Option<u64>,
    /// What one costs, in whatever money and time.
    pub price: Option<f64>,
    /// Its labels and taints, where they are told.
    pub face: Option<Face>,
}

/// What is wrong with the text of a kind of node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeKindError {
    /// A part is not of the form `key=value`, or its key is unknown.
    #[error(
        "`{0}`: expected memory=…, cpu=…, pods=…, provider=…, purchased=…, name=…, price=…, labels=… or taints=…"
    )]
    UnknownPart(String),
    /// A value cannot be read.
    #[error("`{key}={value}`: {reason}")]
    BadValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What is expected.
        reason: &'static str,
    },
    /// A size whose unit was forgotten.
    #[error("`{key}={value}` is {bytes} bytes: did you mean {meant}?")]
    TooSmall {
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// What it comes to.
        bytes: u64,
        /// What may have been meant.
        meant: String,
    },
    /// A key is there twice.
    #[error("`{0}` stands twice")]
    Twice(String),
    /// Memory or processor is not told.
    #[error("`{0}=…` is missing")]
    Missing(&'static str),
}

const QUANTITY: &str = "expected a quantity greater than 0, such as 16GiB, 16Gi or 4";
const LABELS: &str = "expected labels such as pool:large+zone:az-1";
const TAINTS: &str = "expected taints such as gpu:NoSchedule or gpu:yes:NoSchedule, joined by +";
const WHOLE: &str = "expected a whole number from 1 to 10000";

impl NodeKind {
    /// What a provider counts: the processors that it has, and the memory that is bought where that is told.
    #[must_use]
    pub fn bought(&self) -> Amounts {
        Amounts { bytes: self.purchased.unwrap_or(self.seen.bytes), ..self.seen }
    }

    /// Reads its text.
    ///
    /// # Errors
    /// [`NodeKindError`].
    pub fn parse(text: &str) -> Result<Self, NodeKindError> {
        let mut parts: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let unknown = || NodeKindError::UnknownPart(part.to_owned());
            let (key, value) = part.split_once('=').ok_or_else(unknown)?;
            if !KEYS.contains(&key) {
                return Err(unknown());
            }
            if parts.iter().any(|(known, _)| *known == key) {
                return Err(NodeKindError::Twice(key.to_owned()));
            }
            parts.push((key, value));
        }
        let find = |wanted| parts.iter().find(|(key, _)| *key == wanted).copied();
        let bytes = |part| size(part, LEAST_MEMORY, "GiB");
        let memory = bytes(find("memory").ok_or(NodeKindError::Missing("memory"))?)?;
        let cpu = quantity(find("cpu").ok_or(NodeKindError::Missing("cpu"))?, 1000.0)?;
        Ok(Self {
            name: find("name").map_or_else(|| text.to_owned(), |(_, name)| name.to_owned()),
            seen: Amounts { millicores: cpu, bytes: memory },
            pods: find("pods").map_or(Ok(DEFAULT_PODS), whole)?,
            provider: find("provider").map_or(Ok(Provider::default()), provider)?,
            purchased: find("purchased").map(bytes).transpose()?,
            price: find("price").map(price).transpose()?,
            face: face(find("labels"), find("taints"))?,
        })
    }

    /// What it keeps for itself.
    #[must_use]
    pub fn reserved(&self) -> Amounts {
        self.provider.reserved(self.seen, self.pods)
    }

    /// What is left for all pods: `status.allocatable` of the node.
    #[must_use]
    pub fn allocatable(&self) -> Amounts {
        self.seen - self.reserved()
    }

    /// What is left for pods beside `daemons`, which ask for that much on every node and are so many.
    #[must_use]
    pub fn room(&self, daemons: Amounts, daemon_pods: u64) -> Room {
        let pods = self.pods.saturating_sub(daemon_pods);
        Room { free: self.allocatable() - daemons, pods }
    }
}

/// The keys of a kind of node.
const KEYS: [&str; 9] =
    ["memory", "cpu", "pods", "provider", "purchased", "name", "price", "labels", "taints"];

/// What a node shows: `labels=pool:large+topology.kubernetes.io/zone:az-1`, `taints=gpu:yes:NoSchedule`.
fn face(
    labels: Option<(&str, &str)>,
    taints: Option<(&str, &str)>,
) -> Result<Option<Face>, NodeKindError> {
    let mut face = Face::default();
    for (part, label) in
        labels.iter().flat_map(|part| part.1.split('+').map(move |one| (part, one)))
    {
        let (key, value) = label.split_once(':').ok_or_else(|| bad(*part, LABELS))?;
        face.labels.insert(key.to_owned(), value.to_owned());
    }
    for (part, taint) in
        taints.iter().flat_map(|part| part.1.split('+').map(move |one| (part, one)))
    {
        let words: Vec<&str> = taint.split(':').collect();
        let (key, value, effect) = match words.as_slice() {
            [key, effect] => (*key, "", *effect),
            [key, value, effect] => (*key, *value, *effect),
            _ => return Err(bad(*part, TAINTS)),
        };
        if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
            return Err(bad(*part, TAINTS));
        }
        let (key, value, effect) = (key.to_owned(), value.to_owned(), effect.to_owned());
        face.taints.push(Taint { key, value, effect });
    }
    Ok((labels.is_some() || taints.is_some()).then_some(face))
}

fn bad(part: (&str, &str), reason: &'static str) -> NodeKindError {
    NodeKindError::BadValue { key: part.0.to_owned(), value: part.1.to_owned(), reason }
}

/// A size that people write (`16GiB` as well as `16Gi`), in bytes or other whole parts.
///
/// # Errors
/// [`NodeKindError::BadValue`].
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded on both sides")]
pub fn quantity(part: (&str, &str), parts: f64) -> Result<u64, NodeKindError> {
    let text = part.1.strip_suffix('B').unwrap_or(part.1);
    let number = parse_quantity(text).map(|number| (number * parts).round());
    let number = number.filter(|number| (1.0..=1e15).contains(number));
    number.map(|number| number as u64).ok_or_else(|| bad(part, QUANTITY))
}

/// A size in bytes, at least `least`: less is a number whose unit was forgotten, which was to be `unit`.
///
/// # Errors
/// [`NodeKindError`].
pub fn size(part: (&str, &str), least: u64, unit: &str) -> Result<u64, NodeKindError> {
    let bytes = quantity(part, 1.0)?;
    if bytes >= least {
        return Ok(bytes);
    }
    let (key, value) = (part.0.to_owned(), part.1.to_owned());
    let number = value.trim_end_matches(|c: char| !c.is_ascii_digit()).to_owned();
    Err(NodeKindError::TooSmall { key, value, bytes, meant: format!("{number}{unit}") })
}

/// No node has less memory, and no kubelet runs in less.
const LEAST_MEMORY: u64 = 128 << 20;

fn whole(part: (&str, &str)) -> Result<u64, NodeKindError> {
    let number = part.1.parse().ok().filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| bad(part, WHOLE))
}

fn provider(part: (&str, &str)) -> Result<Provider, NodeKindError> {
    Provider::parse(part.1).ok_or_else(|| bad(part, "expected tiered, gke, aks or eks"))
}

fn price(part: (&str, &str)) -> Result<f64, NodeKindError> {
    let number = part.1.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| bad(part, "expected a number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::amounts::MIB;

    /// Two measured flavours: what the kubelet saw, was allocatable, was left beside about 340 MiB of daemons, and its share.
    #[test]
    fn measured_flavours_are_reproduced() {
        let daemons = Amounts { millicores: 0, bytes: 340 * MIB };
        for (seen, cores, allocatable, usable, share) in
            [("3.82GiB", "2", 2.77, 2.44, 63.7), ("15.62GiB", "4", 12.96, 12.62, 80.8)]
        {
            let kind = NodeKind::parse(&format!("memory={seen},cpu={cores}")).unwrap();
            let gib = |bytes: u64| bytes as f64 / (1024.0 * MIB as f64);
            assert!((gib(kind.allocatable().bytes) - allocatable).abs() < 0.01, "{seen}");
            let left = kind.room(daemons, 5).free.bytes;
            assert!((gib(left) - usable).abs() < 0.01, "{seen}: {}", gib(left));
            let percent = left as f64 / kind.seen.bytes as f64 * 100.0;
            assert!((percent - share).abs() < 0.1, "{seen}: {percent}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_kind_of_node_is_told() {
        for (text, message) in [
            ("memory=16Gi", "`cpu=…` is missing"),
            ("cpu=4", "`memory=…` is missing"),
            ("memory=16Gi,cpu=4,cpu=5", "`cpu` stands twice"),
            (
                "memory=16Gi,cpu=4,provider=acme",
                "`provider=acme`: expected tiered, gke, aks or eks",
            ),
            (
                "memory=-1Gi,cpu=4",
                "`memory=-1Gi`: expected a quantity greater than 0, such as 16GiB, 16Gi or 4",
            ),
            ("memory=16Gi,cpu=4,pods=0", "`pods=0`: expected a whole number from 1 to 10000"),
            ("memory=16,cpu=4", "`memory=16` is 16 bytes: did you mean 16GiB?"),
            ("memory=16k,cpu=4", "`memory=16k` is 16000 bytes: did you mean 16GiB?"),
            ("memory=16Gi,cpu=4,purchased=17", "`purchased=17` is 17 bytes: did you mean 17GiB?"),
        ] {
            assert_eq!(NodeKind::parse(text).unwrap_err().to_string(), message);
        }
        let unknown = NodeKind::parse("memory=16Gi,cpu=4,disk=5").unwrap_err().to_string();
        assert!(unknown.starts_with("`disk=5`: expected memory="), "{unknown}");
    }

    #[test]
    fn both_spellings_of_a_size_are_one() {
        let read =
            |memory: &str| NodeKind::parse(&format!("memory={memory},cpu=500m")).unwrap().seen;
        assert_eq!(read("16GiB"), read("16Gi"));
        assert_eq!(read("16Gi").millicores, 500);
    }
}
