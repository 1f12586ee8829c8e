//! What CloudNativePG refuses when a Cluster is applied: its webhook, or a rule of its schema. One refused object makes the
//! sync of the whole Application fail.
//!
//! Source: cloudnative-pg `internal/webhook/v1/cluster_webhook.go`, and the validation rules in `api/v1/cluster_types.go`.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::Cluster;
use super::quantity::parse_quantity;
use super::{int_at, is_true, items_at, text_at, texts_at};
use crate::checks::finding::Spot;
use crate::image::{Split, postgres_major};
use crate::kustomize::node::{Node, Scalar, Tag};

/// The oldest major version that an upgrade leads to.
const OLDEST_UPGRADE: u32 = 16;

/// One value that is refused.
#[derive(Clone, Debug)]
pub struct Refusal<'a> {
    /// The value, or what stands nearest to where it is missing.
    pub spot: Spot<'a>,
    /// Why, as a part of a sentence.
    pub reason: String,
}

impl<'a> Refusal<'a> {
    fn of(cluster: &Cluster<'a>, path: &[&str], reason: String) -> Self {
        Self { spot: cluster.spot(path), reason }
    }
}

/// What is refused of the number of instances and of synchronous replication, if `cluster` had so many `instances`.
#[must_use]
pub fn number_refusals<'a>(cluster: &Cluster<'a>, instances: i64) -> Vec<Refusal<'a>> {
    let number = |field: &str| int_at(&cluster.resource.node, &["spec", field]).unwrap_or(0);
    let (least, most) = (number("minSyncReplicas"), number("maxSyncReplicas"));
    let mut found = Vec::new();
    let mut refuse = |path: &[&str], reason| found.push(Refusal::of(cluster, path, reason));
    if instances < 1 {
        refuse(&["instances"], format!("it has {instances} instances, and the least is 1"));
    }
    for (field, count) in [("minSyncReplicas", least), ("maxSyncReplicas", most)] {
        if count < 0 {
            refuse(&[field], format!("{field} {count} is below 0"));
        }
    }
    if most > 0 && most >= instances {
        let reason = format!("maxSyncReplicas {most} is not less than its {instances} instances");
        refuse(&["maxSyncReplicas"], reason);
    }
    if least > most {
        let reason = format!("minSyncReplicas {least} is more than maxSyncReplicas {most}");
        refuse(&["minSyncReplicas"], reason);
    }
    found.extend(synchronous_refusals(cluster, instances));
    found
}

/// What is refused of `postgresql.synchronous`.
fn synchronous_refusals<'a>(cluster: &Cluster<'a>, instances: i64) -> Vec<Refusal<'a>> {
    let path = ["spec", "postgresql", "synchronous"];
    let Some(stated) = cluster.resource.node.lookup(&path) else { return Vec::new() };
    let named = cluster.named_standbys();
    let mut found = Vec::new();
    let mut refuse = |field: &str, reason| {
        found.push(Refusal::of(cluster, &["postgresql", "synchronous", field], reason));
    };
    if let Some(number) = cluster.synchronous_number() {
        if number < 1 || number >= instances + named {
            refuse(
                "number",
                format!(
                    "synchronous number {number} is not between 1 and what its {instances} instances and {named} named standbys leave"
                ),
            );
        }
        if is_true(stated, &["failoverQuorum"]) && number <= named {
            refuse(
                "failoverQuorum",
                format!(
                    "failoverQuorum needs a synchronous number above the {named} named standbys, and it is {number}"
                ),
            );
        }
    }
    for (field, allowed) in
        [("method", ["any", "first"]), ("dataDurability", ["required", "preferred"])]
    {
        if let Some(reason) = not_among(stated, &[field], allowed) {
            refuse(field, format!("synchronous {reason}"));
        }
    }
    if text_at(stated, &["dataDurability"]) == Some("preferred") && named > 0 {
        let reason =
            format!("dataDurability preferred goes with no named standbys, and there are {named}");
        refuse("dataDurability", reason);
    }
    found
}

/// The refusal of supervised updates, if `cluster` had so many `instances`.
#[must_use]
pub fn supervised_refusal<'a>(cluster: &Cluster<'a>, instances: i64) -> Option<Refusal<'a>> {
    let path = ["primaryUpdateStrategy"];
    let is_supervised = text_at(&cluster.resource.node, &["spec", path[0]]) == Some("supervised");
    (instances == 1 && is_supervised).then(|| {
        let reason = "it has 1 instance and primaryUpdateStrategy supervised".to_owned();
        Refusal::of(cluster, &path, reason)
    })
}

/// The refusal of an image whose tag names no PostgreSQL version.
#[must_use]
pub fn image_refusal<'a>(cluster: &Cluster<'a>) -> Option<Refusal<'a>> {
    let image = text_at(&cluster.resource.node, &["spec", "imageName"]);
    let image = image.filter(|image| !image.is_empty())?;
    let tag = Split::parse(image).tag;
    if postgres_major(tag).is_some() {
        return None;
    }
    let what = if tag.is_empty() { "no tag".to_owned() } else { format!("the tag {tag}") };
    Some(Refusal::of(cluster, &["imageName"], format!("the image {image} with {what}")))
}

/// What is refused of fields that take certain values only, and of fields that exclude each other.
#[must_use]
pub fn value_refusals<'a>(cluster: &Cluster<'a>) -> Vec<Refusal<'a>> {
    let node = &cluster.resource.node;
    let mut found = type_refusals(cluster);
    if is_stated(node, &["spec", "imageName"]) && is_stated(node, &["spec", "imageCatalogRef"]) {
        let reason = "imageName and imageCatalogRef exclude each other".to_owned();
        found.push(Refusal::of(cluster, &["imageCatalogRef"], reason));
    }
    let affinity = ["spec", "affinity", "podAntiAffinityType"];
    let strategy = ["spec", "primaryUpdateStrategy"];
    for (path, allowed) in [
        (&affinity[..], ["preferred", "required"]),
        (&strategy[..], ["supervised", "unsupervised"]),
    ] {
        if let Some(reason) = not_among(node, path, allowed) {
            found.push(Refusal::of(cluster, &path[1..], reason));
        }
    }
    let hibernation = ["metadata", "annotations", "cnpg.io/hibernation"];
    if let Some(value) = text_at(node, &hibernation).filter(|v| !["on", "off"].contains(v)) {
        let reason = format!("the annotation cnpg.io/hibernation is `{value}`, and not on or off");
        found.push(Refusal { spot: Spot::at(cluster.resource, &hibernation), reason });
    }
    found
}

/// The fields of `spec` that hold a whole number, by the schema of the Cluster.
const WHOLE_NUMBERS: [&str; 11] = [
    "failoverDelay",
    "instances",
    "livenessProbeTimeout",
    "maxSyncReplicas",
    "minSyncReplicas",
    "postgresGID",
    "postgresUID",
    "smartShutdownTimeout",
    "startDelay",
    "stopDelay",
    "switchoverDelay",
];
/// Those that hold a truth value.
const TRUTH_VALUES: [&str; 2] = ["enablePDB", "enableSuperuserAccess"];

/// What the schema refuses of the types of fields. `${NAME}` is left to what fills it in after the build.
fn type_refusals<'a>(cluster: &Cluster<'a>) -> Vec<Refusal<'a>> {
    let whole = WHOLE_NUMBERS.map(|field| (field, Tag::Int, "a whole number"));
    let truth = TRUTH_VALUES.map(|field| (field, Tag::Bool, "true or false"));
    let refusal = |(field, tag, what): (&'static str, Tag, &str)| {
        let value =
            cluster.resource.node.lookup(&["spec", field]).filter(|node| !node.is_null())?;
        let scalar = value.as_scalar();
        let fits = |scalar: &Scalar| scalar.tag == tag || scalar.text.contains("${");
        let given = scalar.map_or_else(|| "something else".to_owned(), |s| format!("`{}`", s.text));
        let reason = format!("{field} is {what}, and not {given}");
        (!scalar.is_some_and(fits)).then(|| Refusal::of(cluster, &[field], reason))
    };
    whole.into_iter().chain(truth).filter_map(refusal).collect()
}

/// Why the text at `path` is refused, where it is there and none of the two that are taken.
fn not_among(node: &Node, path: &[&str], allowed: [&str; 2]) -> Option<String> {
    let value = text_at(node, path).filter(|v| !v.is_empty() && !allowed.contains(v))?;
    let [one, other] = allowed;
    let field = path.last().unwrap_or(&"");
    Some(format!("{field} is `{value}`, and not {one} or {other}"))
}

/// What is refused of the way from `before` to `after`, two states of one Cluster.
#[must_use]
pub fn change_refusals<'a>(before: &Cluster<'_>, after: &Cluster<'a>) -> Vec<Refusal<'a>> {
    let mut found: Vec<Refusal<'a>> = Vec::new();
    found.extend(major_refusal(before, after));
    found.extend(switchover_refusal(before, after));
    found.extend(volume_refusals(before, after));
    found
}

/// The field that decides the major version, and the version where it can be told.
fn major(cluster: &Cluster<'_>) -> (&'static [&'static str], Option<u32>) {
    let node = &cluster.resource.node;
    if is_stated(node, &["spec", "imageCatalogRef"]) {
        let number = int_at(node, &["spec", "imageCatalogRef", "major"]);
        return (&["imageCatalogRef", "major"], number.and_then(|n| u32::try_from(n).ok()));
    }
    let image = text_at(node, &["spec", "imageName"]);
    (&["imageName"], image.and_then(|image| postgres_major(Split::parse(image).tag)))
}

fn major_refusal<'a>(before: &Cluster<'_>, after: &Cluster<'a>) -> Option<Refusal<'a>> {
    let (path, to) = major(after);
    let (from, to) = (major(before).1?, to?);
    let reason = if to < from {
        format!("PostgreSQL goes back from major version {from} to {to}")
    } else if from < to && to < OLDEST_UPGRADE {
        format!(
            "PostgreSQL goes from major version {from} to {to}, and upgrades lead to {OLDEST_UPGRADE} or higher"
        )
    } else {
        return None;
    };
    Some(Refusal::of(after, path, reason))
}

/// With a switchover an instance with the new image has to run with the parameters of the old one.
fn switchover_refusal<'a>(before: &Cluster<'_>, after: &Cluster<'a>) -> Option<Refusal<'a>> {
    let text = |cluster: &Cluster<'_>, field: &str| {
        text_at(&cluster.resource.node, &["spec", field]).unwrap_or_default().to_owned()
    };
    let is_switchover = text(after, "primaryUpdateMethod") == "switchover";
    if !is_switchover || text(before, "imageName") == text(after, "imageName") {
        return None;
    }
    let [old, new] = [before.resource, after.resource].map(|resource| {
        let all = texts_at(&resource.node, &["spec", "postgresql", "parameters"]);
        all.into_iter().collect::<BTreeMap<_, _>>()
    });
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let differ: Vec<&str> =
        names.into_iter().filter(|name| old.get(name) != new.get(name)).collect();
    if differ.is_empty() {
        return None;
    }
    let reason = format!(
        "imageName and postgresql.parameters ({}) change at once, with primaryUpdateMethod switchover",
        differ.join(", ")
    );
    Some(Refusal::of(after, &["postgresql", "parameters"], reason))
}

/// Volumes neither shrink nor go.
fn volume_refusals<'a>(before: &Cluster<'_>, after: &Cluster<'a>) -> Vec<Refusal<'a>> {
    let (old, new) = (&before.resource.node, &after.resource.node);
    let mut found = Vec::new();
    for field in ["storage", "walStorage"] {
        let path = ["spec", field, "size"];
        let volume = &path[..2];
        if field == "walStorage" && is_stated(old, volume) && !is_stated(new, volume) {
            let reason = "walStorage is taken away".to_owned();
            found.push(Refusal::of(after, &[field], reason));
        } else if let Some(reason) = shrinks(text_at(old, &path), text_at(new, &path)) {
            found.push(Refusal::of(after, &path[1..], format!("{field}.size {reason}")));
        }
    }
    let path = ["spec", "tablespaces"];
    let space = |name: &str| {
        items_at(new, &path).iter().find(|item| text_at(item, &["name"]) == Some(name))
    };
    for item in items_at(old, &path) {
        let Some(name) = text_at(item, &["name"]) else { continue };
        let size = ["storage", "size"];
        let refusal = match space(name) {
            None => Some((after.spot(&path[1..]), "is taken away".to_owned())),
            Some(kept) => shrinks(text_at(item, &size), text_at(kept, &size)).map(|reason| {
                let node = kept.lookup(&size).unwrap_or(kept);
                let field = format!("spec.tablespaces.[name={name}].storage.size");
                (Spot::of(after.resource, node, field), format!("size {reason}"))
            }),
        };
        found.extend(refusal.map(|(spot, what)| {
            let reason = format!("the tablespace {name}: {what}");
            Refusal { spot, reason }
        }));
    }
    found
}

/// Whether there is a value; the API server takes null for none.
fn is_stated(node: &Node, path: &[&str]) -> bool {
    node.lookup(path).is_some_and(|found| !found.is_null())
}

fn shrinks(old: Option<&str>, new: Option<&str>) -> Option<String> {
    let (old, new) = (old?, new?);
    let is_less = parse_quantity(new)? < parse_quantity(old)?;
    is_less.then(|| format!("shrinks from {old} to {new}"))
}
