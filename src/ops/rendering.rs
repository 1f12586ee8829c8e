//! One way to render for every use case: the external kustomize that the user named, or the first that
//! can be found.

use std::cell::OnceCell;

use super::Context;
use crate::kustomize::{Rendered, SourceTree};
use crate::render::{ExternalKustomize, RenderError, Renderer};

/// Renders trees; finds its program when it first needs it.
#[derive(Debug)]
pub(crate) struct Rendering<'a> {
    context: &'a Context,
    external: OnceCell<ExternalKustomize>,
}

impl<'a> Rendering<'a> {
    /// The rendering that `context` asks for.
    pub(crate) fn new(context: &'a Context) -> Self {
        Self { context, external: OnceCell::new() }
    }

    /// What the overlay of `tree` renders.
    ///
    /// # Errors
    /// [`RenderError::Remote`] where a remote base is not at hand, [`RenderError::Refused`] where the
    /// overlay does not build.
    pub(crate) fn render(&self, tree: &SourceTree) -> Result<Rendered, RenderError> {
        let text = self.external()?.render(tree)?;
        Rendered::parse(&text).map_err(|error| RenderError::Refused {
            message: error.message,
            details: Vec::new(),
            file: None,
            line: None,
        })
    }

    fn external(&self) -> Result<&ExternalKustomize, RenderError> {
        if let Some(found) = self.external.get() {
            return Ok(found);
        }
        let allowed = self.context.timeout;
        let found = match &self.context.kustomize {
            Some(program) => ExternalKustomize::at(program, allowed)?,
            None => ExternalKustomize::find(allowed)?,
        };
        Ok(self.external.get_or_init(|| found))
    }
}
