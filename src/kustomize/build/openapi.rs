//! The `openapi` field: which schema a build merges by.
//!
//! Kustomize keeps one schema for the whole build. The root's counts; where it has none, that of the
//! first kustomization below that has one, from where the build enters it. Source: kyaml `openapi.SetSchema`, kustomize api
//! `krusty/kustomizer.go`, `internal/target/kusttarget.go`.

use std::collections::HashSet;

use super::context::Loader;
use super::schema::Schemas;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::read;
use crate::kustomize::types::Kustomization;

/// The version of Kubernetes that kustomize has built in.
const BUILTIN_VERSION: &str = "v1.21.2";

/// The schema of the overlay that `root` is at.
///
/// # Errors
/// Of the file that `openapi.path` names; [`BuildErrorKind::Kustomization`] for a version that is
/// not built in, or a version beside a file.
pub(super) fn schemas_of(root: &Loader<'_>) -> Result<Schemas, BuildError> {
    let file = root.kustomization()?;
    let found = match own(root, &file.kustomization)? {
        Some(schemas) => Some(schemas),
        None => below(root, &file.kustomization, &mut HashSet::new())?,
    };
    let schemas = found.unwrap_or_else(Schemas::builtin);
    schemas.enter(root.root())?;
    Ok(schemas)
}

/// What one kustomization says.
fn own(loader: &Loader<'_>, fields: &Kustomization) -> Result<Option<Schemas>, BuildError> {
    let refuse = |message: String, origin| {
        Err(BuildError::new(BuildErrorKind::Kustomization, message).at(origin))
    };
    match (fields.openapi.find("path"), fields.openapi.find("version")) {
        (Some(path), Some(_)) => {
            refuse("openapi has a path or a version, not both".to_owned(), path.origin)
        }
        (Some(path), None) => {
            let document = read::configuration(loader.load(path)?)?;
            Schemas::custom(document, loader.root()).map(Some)
        }
        (None, Some(version)) if !version.is_empty() && &**version != BUILTIN_VERSION => {
            let message =
                format!("openapi version '{version}' is not built in: {BUILTIN_VERSION} is");
            refuse(message, version.origin)
        }
        (None, Some(version)) if !version.is_empty() => Ok(Some(Schemas::builtin())),
        (None, _) => Ok(None),
    }
}

/// What the first kustomization below says, in the order of the build; each directory is `seen` once.
/// Directories that cannot be entered are left for the build to refuse.
fn below(
    loader: &Loader<'_>,
    fields: &Kustomization,
    seen: &mut HashSet<String>,
) -> Result<Option<Schemas>, BuildError> {
    let plugins = fields.transformers.iter().chain(&fields.validators);
    let first = fields.resources.iter().chain(&fields.generators);
    for path in first.chain(&fields.components).chain(plugins) {
        let is_file = loader.find_file(path, path.origin).is_ok_and(|file| file.is_some());
        let Some(next) = Some(path).filter(|_| !is_file).and_then(|path| loader.enter(path).ok())
        else {
            continue;
        };
        if !seen.insert(next.root().to_owned()) {
            continue;
        }
        let Ok(file) = next.kustomization() else { continue };
        let found = match own(&next, &file.kustomization)? {
            Some(schemas) => Some(schemas),
            None => below(&next, &file.kustomization, seen)?,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
