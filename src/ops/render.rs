//! Loading and rendering: the built-in build, and another kustomize where that is wanted or needed.

use crate::error::{Error, codes, is_of_charts};
#[cfg(not(feature = "git"))]
use crate::kustomize::Files;
use crate::kustomize::{BuildErrorKind, Rendered, SourceTree};
use crate::render::{self, ExternalKustomize, Renderer as _};

use super::Context;

/// What an overlay renders.
#[derive(Clone, Debug)]
pub struct Built {
    /// The resources; their values know where they come from only if the built-in build made them.
    pub rendered: Rendered,
    /// What kustomize prints.
    pub text: String,
    /// The version of the external kustomize that made it; `None` for the built-in build.
    pub external: Option<String>,
}

impl Context {
    /// Everything that the overlay at `directory` reaches; remote bases are not seen without git.
    ///
    /// # Errors
    /// Where the overlay is no directory or reaches too much.
    #[cfg(not(feature = "git"))]
    pub fn load(&self, files: &dyn Files, directory: &str) -> Result<SourceTree, Error> {
        self.load_sharing(files, directory, &std::sync::Arc::default())
    }

    /// As [`Context::load`], for one of many overlays of the version that `files` is.
    ///
    /// # Errors
    /// As [`Context::load`].
    #[cfg(not(feature = "git"))]
    pub fn load_sharing(
        &self,
        files: &dyn Files,
        directory: &str,
        shared: &std::sync::Arc<crate::kustomize::SharedSources>,
    ) -> Result<SourceTree, Error> {
        let charts = self.chart_store();
        let supplied = crate::kustomize::Supplied { charts, ..Default::default() };
        Ok(SourceTree::load_sharing(files, directory, supplied, shared)?)
    }

    /// Renders the overlay at `overlay`, a real path of `tree`: by the program that `--kustomize`
    /// names, else by the built-in build, else (for what that does not know) by a kustomize or
    /// kubectl that is at hand.
    ///
    /// # Errors
    /// [`codes::BUILD_BROKEN`] where the overlay does not build; [`codes::NOT_BUILDABLE`] and
    /// [`codes::REMOTE_BASE`] where nothing at hand can build it.
    pub fn render(&self, tree: &SourceTree, overlay: &str) -> Result<Built, Error> {
        let mut built = self.render_unprinted(tree, overlay)?;
        if built.external.is_none() {
            built.text = built.rendered.to_yaml()?;
        }
        Ok(built)
    }

    /// As [`Context::render`], for who wants the resources alone: the built-in build prints no text.
    ///
    /// # Errors
    /// As [`Context::render`], but for values that cannot be printed.
    pub(crate) fn render_unprinted(
        &self,
        tree: &SourceTree,
        overlay: &str,
    ) -> Result<Built, Error> {
        if self.kustomize.is_some() {
            return self.render_externally(tree, overlay).map_err(|error| {
                match error.code() == codes::NOT_BUILDABLE
                    && self.enable_helm
                    && tree.names_charts()
                {
                    true => no_charts_elsewhere(),
                    false => error,
                }
            });
        }
        match self.build(tree, overlay)? {
            Ok(rendered) => Ok(Built { rendered, text: String::new(), external: None }),
            Err(error) => match &error.kind {
                BuildErrorKind::Unsupported { .. } => match tree.missing_remotes().first() {
                    Some(reference) => Err(self.remote_missing(reference, error.into())),
                    // No other program is ever allowed to run helm.
                    None if matches!(&error.kind, BuildErrorKind::Unsupported { field } if is_of_charts(field)) => {
                        Err(error.into())
                    }
                    None => {
                        render::check_local(tree)?;
                        self.fall_back(tree, overlay, error.into())
                    }
                },
                _ => Err(error.into()),
            },
        }
    }

    /// A remote base that could not be had, and why.
    fn remote_missing(&self, reference: &str, unsupported: Error) -> Error {
        let message = format!("the remote base {reference} cannot be had");
        let mut error = Error::new(codes::REMOTE_BASE, message);
        if let Some(location) = unsupported.location() {
            error = error.at(location.clone());
        }
        #[cfg(feature = "git")]
        for reason in self.remote_failures() {
            error = error.cause(reason);
        }
        error
    }

    /// The external renderer's word, or `unsupported` where there is no such program.
    fn fall_back(
        &self,
        tree: &SourceTree,
        overlay: &str,
        unsupported: Error,
    ) -> Result<Built, Error> {
        match self.render_externally(tree, overlay) {
            Err(error) if error.code() == codes::RENDERER_MISSING => {
                Err(unsupported.cause(error.message()))
            }
            // Another kustomize is at hand and does not help: the advice to install one would mislead.
            Err(error) if error.code() == codes::NOT_BUILDABLE => {
                let plain = Error::new(codes::NOT_BUILDABLE, unsupported.message());
                let location = unsupported.location().cloned();
                let placed = location.into_iter().fold(plain, Error::at);
                Err(placed.cause(error.message()))
            }
            outcome => outcome,
        }
    }

    fn render_externally(&self, tree: &SourceTree, overlay: &str) -> Result<Built, Error> {
        let external = self.external_kustomize()?;
        let text = external.render(tree, overlay)?;
        let rendered = Rendered::parse(&text).map_err(|error| {
            let message = "what the external kustomize printed cannot be read";
            Error::new(codes::RENDERER_FAILED, message).cause(Error::from(error).message())
        })?;
        Ok(Built { rendered, text, external: Some(external.version().to_owned()) })
    }

    /// The external kustomize, found and asked for its version once.
    fn external_kustomize(&self) -> Result<&ExternalKustomize, Error> {
        let found = self.external.get_or_init(|| match &self.kustomize {
            Some(program) => {
                let is_name =
                    program.components().count() == 1 && !self.cwd.join(program).is_file();
                let program = if is_name { program.clone() } else { self.cwd.join(program) };
                Ok(ExternalKustomize::at(&program, self.allowed_time())?)
            }
            None => Ok(ExternalKustomize::find(self.allowed_time())?),
        });
        found.as_ref().map_err(Clone::clone)
    }
}

/// `--enable-helm` beside `--kustomize`: two flags that do not go together where there are charts.
fn no_charts_elsewhere() -> Error {
    let message =
        "the program that --kustomize names may not run helm, whatever --enable-helm says";
    Error::new(codes::NOT_BUILDABLE, message)
        .hint("leave --kustomize out: the built-in build calls helm itself")
}
