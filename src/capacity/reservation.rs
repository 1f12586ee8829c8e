//! What a node keeps for itself: the formulas of providers, and what is left for pods.
//!
//! allocatable = what the kubelet sees − reserved for kubelet and system − hard eviction threshold.
//! Sources: the tiered formula and GKE, cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes; AKS from 1.29 on,
//! learn.microsoft.com/azure/aks/node-resource-reservations; EKS, amazon-eks-ami nodeadm `internal/kubelet/config.go`.

use super::amounts::{Amounts, MIB};

/// The pods that a node takes where nothing else is said (the kubelet's default).
pub const DEFAULT_PODS: u64 = 110;
/// The hard eviction threshold of memory.
const EVICTION: u64 = 100 * MIB;
/// A decimal megabyte, in which AKS reckons.
const MEGABYTE: u64 = 1_000_000;

/// By whose formula a node reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Provider {
    /// 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % up to 128 GiB, 2 % above: many providers.
    #[default]
    Tiered,
    /// The same, 255 MiB below 1 GiB.
    Gke,
    /// By the number of pods, at most a quarter of the memory (Kubernetes 1.29 and later).
    Aks,
    /// By the number of pods.
    Eks,
}

impl Provider {
    /// Its word, as in `provider=aks`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tiered => "tiered",
            Self::Gke => "gke",
            Self::Aks => "aks",
            Self::Eks => "eks",
        }
    }

    /// The provider of this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Tiered, Self::Gke, Self::Aks, Self::Eks].into_iter().find(|p| p.word() == word)
    }

    /// What a node that has `seen` and takes `pods` pods keeps for itself, the eviction threshold included.
    #[must_use]
    pub fn reserved(self, seen: Amounts, pods: u64) -> Amounts {
        let bytes = match self {
            Self::Gke if seen.bytes < 1024 * MIB => 255 * MIB,
            Self::Tiered | Self::Gke => tiered_memory(seen.bytes),
            Self::Aks => (20 * MEGABYTE * pods + 50 * MEGABYTE).min(seen.bytes / 4),
            Self::Eks => (11 * pods + 255) * MIB,
        };
        let millicores = match self {
            Self::Aks => aks_processor(seen.millicores),
            Self::Tiered | Self::Gke | Self::Eks => tiered_processor(seen.millicores),
        };
        let reserved = Amounts { millicores, bytes: bytes + EVICTION };
        Amounts {
            millicores: reserved.millicores.min(seen.millicores),
            bytes: reserved.bytes.min(seen.bytes),
        }
    }
}

/// Tenths of a percent of each step of memory, in GiB.
const MEMORY_STEPS: [(u64, u64); 4] = [(4, 250), (4, 200), (8, 100), (112, 60)];
/// Of what is above the steps.
const MEMORY_ABOVE: u64 = 20;

fn tiered_memory(bytes: u64) -> u64 {
    let (mut left, mut thousandths) = (bytes, 0u64);
    for (size, share) in MEMORY_STEPS {
        let taken = left.min(size * 1024 * MIB);
        thousandths += taken * share;
        left -= taken;
    }
    (thousandths + left * MEMORY_ABOVE) / 1000
}

/// Hundred-thousandths of each step of processors, in millicores: 6 %, 1 %, 0.5 %, then 0.25 %.
const PROCESSOR_STEPS: [(u64, u64); 3] = [(1000, 6000), (1000, 1000), (2000, 500)];
/// Of what is above the steps.
const PROCESSOR_ABOVE: u64 = 250;

fn tiered_processor(millicores: u64) -> u64 {
    let (mut left, mut parts) = (millicores, 0u64);
    for (size, share) in PROCESSOR_STEPS {
        let taken = left.min(size);
        parts += taken * share;
        left -= taken;
    }
    (parts + left * PROCESSOR_ABOVE) / 100_000
}

/// AKS publishes a table; between its rows it is a straight line.
const AKS_PROCESSOR: [(u64, u64); 8] = [
    (0, 0),
    (1000, 60),
    (2000, 100),
    (4000, 140),
    (8000, 180),
    (16000, 260),
    (32000, 420),
    (64000, 740),
];

fn aks_processor(millicores: u64) -> u64 {
    let last = AKS_PROCESSOR.len() - 1;
    let above = AKS_PROCESSOR.iter().position(|(cores, _)| *cores >= millicores).unwrap_or(last);
    let ((from, low), (to, high)) = (AKS_PROCESSOR[above.max(1) - 1], AKS_PROCESSOR[above.max(1)]);
    low + (high - low) * (millicores - from) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(gib: f64, cores: u64) -> Amounts {
        Amounts { millicores: cores * 1000, bytes: (gib * 1024.0) as u64 * MIB }
    }

    #[test]
    fn tiered_memory_is_that_of_the_published_examples() {
        for (gib, reserved, allocatable) in [
            (1.0, 256.0, 668.0),
            (2.0, 512.0, 1436.0),
            (4.0, 1024.0, 2972.0),
            (8.0, 1843.2, 6248.8),
            (16.0, 2662.4, 13621.6),
            (32.0, 3645.44, 29022.56),
            (64.0, 5611.52, 59824.48),
            (128.0, 9543.68, 121_428.32),
            (256.0, 12165.12, 249_878.88),
        ] {
            let seen = node(gib, 4);
            let kept = Provider::Tiered.reserved(seen, DEFAULT_PODS);
            assert!((kept.mebibytes() - 100.0 - reserved).abs() < 0.01, "{gib} GiB: {kept:?}");
            let left = (seen - kept).mebibytes();
            assert!((left - allocatable).abs() < 0.01, "{gib} GiB: {left}");
        }
    }

    #[test]
    fn tiered_processors_are_those_of_the_published_examples() {
        for (cores, reserved) in
            [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (32, 150), (64, 230), (96, 310)]
        {
            let kept = Provider::Eks.reserved(node(16.0, cores), DEFAULT_PODS);
            assert_eq!(kept.millicores, reserved, "{cores} cores");
        }
    }

    #[test]
    fn eks_reserves_by_pods_whatever_the_size() {
        for (pods, reserved) in [(17, 442), (29, 574), (58, 893), (110, 1465), (234, 2829)] {
            let kept = Provider::Eks.reserved(node(64.0, 4), pods);
            assert_eq!(kept.bytes, (reserved + 100) * MIB, "{pods} pods");
        }
    }

    #[test]
    fn aks_reserves_by_pods_up_to_a_quarter() {
        for (gigabytes, pods, reserved) in [(4, 30, 650), (8, 110, 2000), (16, 110, 2250)] {
            let seen = Amounts { millicores: 4000, bytes: gigabytes * 1000 * MEGABYTE };
            let kept = Provider::Aks.reserved(seen, pods);
            assert_eq!(kept.bytes, reserved * MEGABYTE + EVICTION, "{gigabytes} GB, {pods} pods");
        }
    }

    #[test]
    fn aks_processors_are_those_of_its_table() {
        for (cores, reserved) in
            [(1, 60), (2, 100), (3, 120), (4, 140), (8, 180), (16, 260), (64, 740), (96, 1060)]
        {
            let kept = Provider::Aks.reserved(node(64.0, cores), DEFAULT_PODS);
            assert_eq!(kept.millicores, reserved, "{cores} cores");
        }
    }

    #[test]
    fn gke_keeps_255_mib_of_a_tiny_node() {
        let kept = Provider::Gke.reserved(node(0.5, 1), DEFAULT_PODS);
        assert_eq!(kept.bytes, 355 * MIB);
    }
}
