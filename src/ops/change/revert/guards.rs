//! When an overlay does not go back.

use super::{note, presence};
use crate::change::Revert;
use crate::error::{Error, codes};
use crate::image::{Digest, Split, postgres_major};
use crate::kustomize::node::Node;
use crate::kustomize::{ImageUse, Resource, ResourceId, find_image_uses, shown_name};
use crate::ops::Context;
use crate::ops::change::removals::refuse_removals;
use crate::plan::Note;
use crate::verify::ObjectDiff;

/// Images whose tag is the version of a database, by the last part of their names. The data that a newer
/// major version has written cannot be read by an older one.
const DATABASES: [&str; 14] = [
    "cassandra",
    "clickhouse-server",
    "elasticsearch",
    "etcd",
    "influxdb",
    "mariadb",
    "mongo",
    "mongodb",
    "mysql",
    "neo4j",
    "opensearch",
    "postgres",
    "postgresql",
    "timescaledb",
];

/// Compares what is rendered before and after going back, and tells what a person should know.
///
/// # Errors
/// The first refusal.
pub(super) fn check(
    context: &Context,
    revert: &Revert,
    before: &[Resource],
    after: &[Resource],
    objects: &ObjectDiff,
) -> Result<Vec<Note>, Error> {
    refuse_removals(objects, "on going back", |id| revert.allows_removal(id))?;
    let [old, new] = [before, after].map(|resources| find_image_uses(resources, &[]));
    if !revert.allow_downgrade {
        refuse_downgrade(&old, &new, before, after)?;
    }
    refuse_placeholders(revert, &old, &new)?;
    let mut notes = turned_on(before, after);
    notes.extend(presence::check(context, revert, &old, &new)?);
    Ok(notes)
}

pub(super) fn same_place<'u>(uses: &'u [ImageUse], place: &ImageUse) -> Option<&'u ImageUse> {
    uses.iter().find(|used| used.resource == place.resource && used.path == place.path)
}

fn refuse_downgrade(
    old: &[ImageUse],
    new: &[ImageUse],
    before: &[Resource],
    after: &[Resource],
) -> Result<(), Error> {
    for used in new.iter().filter(|used| is_database(used)) {
        let Some(was) = same_place(old, used) else { continue };
        let version = |used: &ImageUse| postgres_major(Split::parse(&used.reference).tag);
        if let (Some(from), Some(to)) = (version(was), version(used))
            && to < from
        {
            return Err(downgrade(&used.resource, from, to));
        }
    }
    for resource in after {
        let id = resource.current_id();
        let was = before.iter().find(|other| other.current_id() == id).and_then(catalog_major);
        if let (Some(from), Some(to)) = (was, catalog_major(resource))
            && to < from
        {
            return Err(downgrade(&id, from, to));
        }
    }
    Ok(())
}

fn is_database(used: &ImageUse) -> bool {
    let name = Split::parse(&used.reference).name;
    used.needs_tag() || DATABASES.contains(&name.rsplit('/').next().unwrap_or_default())
}

/// `spec.imageCatalogRef.major` of a CloudNativePG Cluster.
fn catalog_major(resource: &Resource) -> Option<u32> {
    let major = resource.node.get("spec")?.get("imageCatalogRef")?.get("major")?;
    major.as_scalar()?.text.parse().ok()
}

fn downgrade(id: &ResourceId, from: u32, to: u32) -> Error {
    let name = shown_name(id);
    let message = format!(
        "{name} would go from major version {from} to {to}, which cannot read what {from} wrote"
    );
    Error::new(codes::DATABASE_DOWNGRADE, message)
        .hint("where its data was never opened by the newer one: --allow-downgrade")
}

fn refuse_placeholders(revert: &Revert, old: &[ImageUse], new: &[ImageUse]) -> Result<(), Error> {
    let is_placeholder =
        |used: &ImageUse| Digest::is_placeholder(Split::parse(&used.reference).digest);
    for used in new {
        let was = same_place(old, used).is_some_and(&is_placeholder);
        let name = shown_name(&used.resource);
        match (was, is_placeholder(used)) {
            (false, true) if !revert.allow_placeholder => {
                let message = format!("{name} {} would be {} again", used.path, used.reference);
                return Err(Error::new(codes::PLACEHOLDER_RETURNS, message)
                    .hint("where it shall fail closed: --allow-placeholder"));
            }
            (true, false) if !revert.replace_placeholder => {
                let message = format!(
                    "{name} {} is pinned to sixty-four zeros, which would be replaced by {}",
                    used.path, used.reference
                );
                return Err(Error::new(codes::PLACEHOLDER, message)
                    .hint("where that is meant: --replace-placeholder"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Workloads that are at 0 and will not be.
fn turned_on(before: &[Resource], after: &[Resource]) -> Vec<Note> {
    let mut notes = Vec::new();
    for resource in after {
        let id = resource.current_id();
        let was = before.iter().find(|other| other.current_id() == id).and_then(replicas);
        if let (Some("0"), Some(now)) =
            (was.as_deref(), replicas(resource).filter(|now| now != "0"))
        {
            let message = format!("{} is turned on: replicas 0 → {now}", shown_name(&id));
            notes.push(note("turned-on", message));
        }
    }
    notes
}

fn replicas(resource: &Resource) -> Option<String> {
    let replicas: &Node = resource.node.get("spec")?.get("replicas")?;
    Some(replicas.as_scalar()?.text.to_string())
}
