//! What a dump of a cluster has to hold, and the commands that write one.

/// The kinds that every cluster has, in kubectl's short words.
const EVERYWHERE: &str = "nodes,pods,pdb,pvc,pv,volumeattachments,deploy,sts,hpa,csr,ns";
/// The kinds of operators. They are asked for one by one: where kubectl does not know one kind, it prints none of those beside it.
const OF_OPERATORS: [&str; 2] = ["clusters.postgresql.cnpg.io", "rollouts.argoproj.io"];

/// The kinds that a cluster may lack by right, but a dump only if they were not asked for.
pub const MATTERS: [&str; 7] = [
    "Deployment",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "VolumeAttachment",
];

/// The command by which a dump of what every cluster has is written.
#[must_use]
pub fn dump_command() -> String {
    format!("kubectl get {EVERYWHERE} -A -o json")
}

/// The commands that write a dump to `file`: all but the first append what an operator has, and fail where there is none,
/// which does no harm.
#[must_use]
pub fn dump_commands(file: &str) -> Vec<String> {
    let append = |kind: &&str| format!("kubectl get {kind} -A -o json >> {file} || true");
    let first = format!("{} > {file}", dump_command());
    std::iter::once(first).chain(OF_OPERATORS.iter().map(append)).collect()
}
