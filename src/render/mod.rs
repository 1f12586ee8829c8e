//! Rendering by another program (kustomize or kubectl) on a temporary copy of the tree.
//!
//! Used where the user names one and where the built-in build does not know a feature. The copy
//! holds the files of the [`SourceTree`] and nothing else, and the program is kept off the network.
//! Must not know what was edited.

mod copy;
mod external;
mod message;

pub use copy::check_local;
pub use external::ExternalKustomize;

use std::path::PathBuf;

use crate::kustomize::SourceTree;
use crate::process::ProcessError;

/// Something that gives what an overlay renders.
pub trait Renderer {
    /// What kustomize prints for the overlay at `overlay`, a real path of `tree`.
    ///
    /// # Errors
    /// [`RenderError::Refused`] where the overlay does not build; else what stopped the renderer.
    fn render(&self, tree: &SourceTree, overlay: &str) -> Result<String, RenderError>;
}

/// Why there is no rendered text.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No program to render with.
    #[error("neither kustomize nor kubectl can be started")]
    NoProgram,
    /// The program is no kustomize, or does not say its version.
    #[error("{}: no kustomize, and no kubectl that holds one", program.display())]
    NotKustomize {
        /// The program.
        program: PathBuf,
    },
    /// The program's kustomize is below 5.0.
    #[error("{}: kustomize {version} is older than 5.0", program.display())]
    TooOld {
        /// The program.
        program: PathBuf,
        /// Its version.
        version: String,
    },
    /// The tree names something on the network, which is never fetched here.
    #[error("{reference}: a remote reference whose content is not at hand")]
    Remote {
        /// The reference.
        reference: String,
        /// The kustomization file that names it.
        file: String,
        /// Its line, from 1; 0 where it is not known.
        line: u32,
    },
    /// The program would have to run helm or a plugin, which it is never allowed to.
    #[error(
        "kustomize would have to run helm or a plugin of the repository's, which is never done"
    )]
    NotAllowed,
    /// The overlay does not build.
    #[error("{message}")]
    Refused {
        /// The first line of what the program says, paths relative to the boundary.
        message: String,
        /// The rest of what it says.
        details: Vec<String>,
        /// The file it speaks of, where that is known.
        file: Option<String>,
        /// The line in it, from 1.
        line: Option<usize>,
    },
    /// The program gave no result.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The temporary copy could not be made.
    #[error("the temporary copy: {0}")]
    Copy(#[from] std::io::Error),
}
