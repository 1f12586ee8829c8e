//! The model of a kustomization and its build, from texts in memory.
//!
//! | part | is |
//! |---|---|
//! | [`Files`] | the port that texts come through |
//! | [`SourceTree`] | everything an overlay reaches, loaded |
//! | [`Kustomization`](types::Kustomization) | a kustomization file under kustomize's own names |
//! | [`Node`](node::Node), [`Resource`](resource::Resource) | values that know which file and line decided them |
//! | [`build`](build::build), [`Rendered`] | what `kustomize build` prints, byte for byte |

pub mod build;
mod build_annotations;
mod chart;
pub mod error;
mod field_path;
mod field_query;
mod field_shape;
mod files;
mod from_json;
mod image_use;
mod named;
pub mod node;
pub mod origin;
mod owner;
pub(crate) mod read;
pub mod remote;
mod rendered;
pub mod resmap;
pub mod resource;
pub mod scope;
pub mod source_tree;
pub mod types;

#[cfg(feature = "trust")]
pub(crate) use build::emit::decode_base64;
pub(crate) use build::tables::types::Shape;
pub use build::{build, find_targets, select_targets};
pub use chart::{
    ChartFiles, ChartKey, ChartSource, ChartStore, ChartTemplate, ChartWanted, ChartWork,
    NEVER_FOLLOWED,
};
pub use error::{BuildError, BuildErrorKind, Warning, WarningKind};
pub use field_path::{FieldPath, Step, item_steps};
pub use field_query::{FieldQueryError, path_of_field, query_field};
pub(crate) use field_shape::shape_at;
pub use files::{Entry, Files, FilesError, LEADS_OUT};
pub use image_use::{ImageUse, UseKind, find_image_uses};
pub use named::{ResourceName, shown_name};
pub use origin::{FileId, Origin};
pub use owner::{Owner, owner_of, statement_kind};
pub use rendered::Rendered;
pub use resource::{Resource, ResourceId};
pub use source_tree::{EditedFiles, LoadError, ReplacedFiles, SharedSources, SourceTree, Supplied};
