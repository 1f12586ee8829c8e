//! Generators of config maps and secrets.

use super::decode::{Located, Strings, object};

object! {
    /// A config map to generate.
    pub struct ConfigMapArgs {
        /// Its namespace.
        namespace: Located = "namespace",
        /// Its name.
        name: Located = "name",
        /// `create`, `replace` or `merge`.
        behavior: Located = "behavior",
        /// `key=value` pairs.
        literals: Vec<Located> = "literals",
        /// Files, as `path` or `key=path`.
        files: Vec<Located> = "files",
        /// Files of `key=value` lines.
        envs: Vec<Located> = "envs",
        /// Deprecated: one file of `key=value` lines.
        env: Located = "env",
        /// How it is generated.
        options: Option<GeneratorOptions> = "options",
    }
}

object! {
    /// A secret to generate.
    pub struct SecretArgs {
        /// Its namespace.
        namespace: Located = "namespace",
        /// Its name.
        name: Located = "name",
        /// `create`, `replace` or `merge`.
        behavior: Located = "behavior",
        /// `key=value` pairs.
        literals: Vec<Located> = "literals",
        /// Files, as `path` or `key=path`.
        files: Vec<Located> = "files",
        /// Files of `key=value` lines.
        envs: Vec<Located> = "envs",
        /// Deprecated: one file of `key=value` lines.
        env: Located = "env",
        /// How it is generated.
        options: Option<GeneratorOptions> = "options",
        /// The type of the secret; `Opaque` if empty.
        secret_type: Located = "type",
    }
}

object! {
    /// Options of one generator or of all of a kustomization.
    pub struct GeneratorOptions {
        /// Labels of the result.
        labels: Strings = "labels",
        /// Annotations of the result.
        annotations: Strings = "annotations",
        /// Whether the name gets no hash.
        disable_name_suffix_hash: bool = "disableNameSuffixHash",
        /// Whether the result is immutable.
        immutable: bool = "immutable",
    }
}
