//! A kustomization and its fields, under kustomize's own names.
//!
//! Every object and every text knows the file and line it stands in. Reading follows kustomize:
//! go-yaml version 2 (YAML 1.1 words are bools, the last of two equal keys counts), then Go's JSON
//! rules. Nothing here reads files or builds.
//!
//! Source: kustomize api v0.21.1 `types/`.

mod chart;
mod configuration;
pub(crate) mod decode;
mod generator;
mod kustomization;
mod patch;
mod replacement;
mod transformer;

pub use chart::{HelmChart, HelmCharts, HelmGlobals};
pub use configuration::{Configuration, NameReferenceField};
pub use decode::{Located, StringMap, Strings};
pub use generator::{ConfigMapArgs, GeneratorOptions, SecretArgs};
pub use kustomization::{Kind, Kustomization, Metadata};
pub use patch::{Patch, PatchArgs, Selector};
pub use replacement::{
    FieldOptions, ReplacementField, SourceSelector, TargetSelector, Var, VarField, VarTarget,
};
pub use transformer::{FieldSpecField, Image, Label, LegacySortOptions, Replica, SortOptions};
