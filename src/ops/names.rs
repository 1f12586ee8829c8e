//! The names that completions offer: overlays below the current directory, objects of an overlay.
//!
//! Must be silent: a shell that completes has no place for an error, so what cannot be read offers nothing.

use std::ffi::OsString;

use super::Context;
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::discover;

/// Kinds whose replicas, strategy or instances the commands set.
const WORKLOADS: [&str; 4] = ["Deployment", "StatefulSet", "DaemonSet", "Cluster"];

/// An object that a command may be asked to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// Its kind, such as `Deployment`.
    pub kind: String,
    /// Its rendered name.
    pub name: String,
}

impl ObjectName {
    /// Whether commands take it by its bare name.
    pub fn is_workload(&self) -> bool {
        WORKLOADS.contains(&self.kind.as_str())
    }
}

/// The directories with a kustomization below the current one, relative to it, by path.
pub fn find_overlays(context: &Context) -> Vec<String> {
    let found = discover::find_kustomizations(&context.cwd);
    let directories = found.map(|found| found.directories).unwrap_or_default();
    directories.iter().map(|directory| discover::shown_directory(directory)).collect()
}

/// What `overlay` renders, in the order of the render; nothing where it does not build.
pub fn find_objects(context: &Context, overlay: &OsString) -> Vec<ObjectName> {
    let rendered = || {
        let (files, located) = context.locate(std::slice::from_ref(overlay)).ok()?;
        let overlay = Editable::load(context, &files, located.into_iter().next()?).ok()?;
        let overlay = LoadedOverlay::load(&files, &overlay, context).ok()?;
        let ids = overlay.before.resources.iter().map(|resource| resource.current_id());
        Some(
            ids.map(|id| ObjectName { kind: id.kind.to_string(), name: id.name.to_string() })
                .collect(),
        )
    };
    rendered().unwrap_or_default()
}
