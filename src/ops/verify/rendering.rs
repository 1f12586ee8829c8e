//! What git says there is to be.

use serde_json::Value;

use super::VerifyRequest;
use crate::discover::Located;
use crate::error::Error;
use crate::kustomize::Files;
use crate::ops::Context;
use crate::ops::version::Version;
use crate::verify::node_to_json;

/// What the overlays render.
#[derive(Clone, Debug, Default)]
pub(super) struct Rendered {
    /// The overlays, relative to the boundary.
    pub(super) overlays: Vec<String>,
    /// Their directories.
    pub(super) directories: Vec<String>,
    /// The commit that was rendered; `None` for files on disk.
    pub(super) commit: Option<String>,
    /// The objects.
    pub(super) objects: Vec<Value>,
}

/// Renders every overlay named, as it is in the revision that is asked for, else in HEAD, else on disk.
///
/// # Errors
/// Where one of them is not there or does not build.
pub(super) fn render(context: &Context, request: &VerifyRequest) -> Result<Rendered, Error> {
    if request.overlays.is_empty() {
        return Ok(Rendered::default());
    }
    #[cfg(feature = "git")]
    if let Some(revision) = revision(context, request)? {
        let at = context.locate_at(&revision, &request.overlays)?;
        let mut rendered = render_all(context, &at.files, &at.located)?;
        rendered.commit = Some(revision);
        return Ok(rendered);
    }
    let (files, located) = context.locate(&request.overlays)?;
    render_all(context, &files, &located)
}

/// The commit to render; `None` where there is no git to ask.
#[cfg(feature = "git")]
fn revision(context: &Context, request: &VerifyRequest) -> Result<Option<String>, Error> {
    // The boundary and the settings come from the files on disk; an overlay that is not there may be in a commit alone.
    let _ = context.locate(&request.overlays);
    let settings = std::sync::Arc::new(context.git_settings());
    let repository = crate::git::Repository::open(&settings, &context.cwd);
    match (&request.at, repository) {
        (Some(revision), Ok(repository)) => Ok(Some(repository.resolve(revision)?.to_string())),
        (Some(_), Err(error)) => Err(error.into()),
        (None, Ok(repository)) => {
            Ok(repository.resolve("HEAD").ok().map(|commit| commit.to_string()))
        }
        (None, Err(_)) => Ok(None),
    }
}

fn render_all(
    context: &Context,
    files: &dyn Files,
    located: &[Located],
) -> Result<Rendered, Error> {
    let version = Version::new(context, files);
    let built = context.for_each_of(located, |located| version.build(&located.directory))?;
    let objects = built.iter().flat_map(|built| &built.rendered.resources);
    Ok(Rendered {
        overlays: located.iter().map(Located::shown).collect(),
        directories: located.iter().map(|located| located.directory.clone()).collect(),
        commit: None,
        objects: objects.map(|resource| node_to_json(&resource.node)).collect(),
    })
}
