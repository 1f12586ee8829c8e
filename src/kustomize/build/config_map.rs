//! Config maps from literals, files and files of `key=value` lines: `configMapGenerator`.
//!
//! Source: kustomize `api/internal/generators/configmap.go`, kyaml `yaml/datamap.go`.

use super::context::Context;
use super::generators::{Base, encode_base64, new_string};
use super::kv::Sources;
use crate::kustomize::error::BuildError;
use crate::kustomize::node::{Map, Node};
use crate::kustomize::resource::Resource;
use crate::kustomize::types::{ConfigMapArgs, GeneratorOptions};

/// The config map that `args` asks for, without its hash. Values that are no text go into
/// `binaryData`.
///
/// # Errors
/// For a missing name, for sources that cannot be read, and for a key given twice.
pub(crate) fn config_map(
    args: &ConfigMapArgs,
    global: Option<&GeneratorOptions>,
    context: &Context<'_>,
) -> Result<Resource, BuildError> {
    let base = Base {
        kind: "ConfigMap",
        name: &args.name,
        namespace: &args.namespace,
        behavior: &args.behavior,
        options: args.options.as_ref(),
        global,
        origin: args.origin,
    };
    let mut object = base.object()?;
    let sources = Sources { envs: &args.envs, literals: &args.literals, files: &args.files };
    let (mut data, mut binary) = (Map::new(), Map::new());
    for pair in
        sources.load(context).map_err(|error| error.within(format!("config map {}", args.name)))?
    {
        match std::str::from_utf8(&pair.value) {
            Ok(text) => data.push(pair.key, new_string(text, pair.origin)),
            Err(_) => binary.push(pair.key, new_string(encode_base64(&pair.value), pair.origin)),
        }
    }
    for (field, map) in [("data", data), ("binaryData", binary)] {
        if !map.is_empty() {
            object.push(field, Node::map(map, args.origin));
        }
    }
    Ok(base.resource(object, context))
}
