//! Secrets from literals, files and files of `key=value` lines: `secretGenerator`.
//!
//! Source: kustomize `api/internal/generators/secret.go`, kyaml `yaml/datamap.go`.

use super::context::Context;
use super::generators::{Base, encode_base64, new_string};
use super::kv::Sources;
use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Map, Node, Text};
use crate::kustomize::resource::Resource;
use crate::kustomize::types::{GeneratorOptions, SecretArgs};

/// The secret that `args` asks for, without its hash. All values are written in base64.
///
/// # Errors
/// For a missing name, for sources that cannot be read, and for a key given twice.
pub(crate) fn secret(
    args: &SecretArgs,
    global: Option<&GeneratorOptions>,
    context: &Context<'_>,
) -> Result<Resource, BuildError> {
    let base = Base {
        kind: "Secret",
        name: &args.name,
        namespace: &args.namespace,
        behavior: &args.behavior,
        options: args.options.as_ref(),
        global,
        origin: args.origin,
    };
    let mut object = base.object()?;
    let secret_type = match &args.secret_type {
        given if given.is_empty() => new_string("Opaque", args.origin),
        given => new_string(Text::clone(&given.text), given.origin),
    };
    object.push("type", secret_type);
    let sources = Sources { envs: &args.envs, literals: &args.literals, files: &args.files };
    let mut data = Map::new();
    for pair in
        sources.load(context).map_err(|error| error.within(format!("secret {}", args.name)))?
    {
        data.push(pair.key, new_string(encode_base64(&pair.value), pair.origin));
    }
    object.push("data", Node::map(data, args.origin));
    Ok(base.resource(object, context))
}
