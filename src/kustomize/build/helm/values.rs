//! The values of a chart: its own or those of a file, and what the kustomization states beside them.

use std::sync::Arc;

use super::aliases::drop_aliases;
use crate::kustomize::build::context::Context;
use crate::kustomize::build::{go_json, merge};
use crate::kustomize::chart::ChartFiles;
use crate::kustomize::error::{BuildError, BuildErrorKind};
use crate::kustomize::node::{Map, Node, Scalar, Tag, Value};
use crate::kustomize::origin::Origin;
use crate::kustomize::read;
use crate::kustomize::source_tree::{is_within, join};
use crate::kustomize::types::HelmChart;
use crate::yaml::scalar::{Resolved, Rules, resolve};

/// A text of values.
type Text = Arc<[u8]>;

/// The texts of values that helm gets, the last winning. `path` is where the chart stands seen from
/// the directory of the kustomization, and `pulled` what stands there where it was pulled.
///
/// # Errors
/// For a file that is not there or must not be read, and for values that cannot be merged.
pub(super) fn of(
    chart: &HelmChart,
    path: &str,
    pulled: Option<&ChartFiles>,
    context: &Context<'_>,
) -> Result<Vec<Text>, BuildError> {
    let files = ValuesFiles { path, pulled, context };
    let mut texts = Vec::with_capacity(1 + chart.additional_values_files.len());
    let own = match &*chart.values_file {
        "" => files.load(&format!("{path}/values.yaml"), chart.origin)?,
        file => files.load(file, chart.values_file.origin)?,
    };
    texts.push(match chart.values_inline.value.as_deref() {
        Some(inline) if !inline.is_nil_or_empty() => with_inline(chart, &own, inline, context)?,
        _ => own,
    });
    for file in &chart.additional_values_files {
        texts.push(files.load(file, file.origin)?);
    }
    Ok(texts)
}

/// The files that values may come from: the kustomization's own, and those of a pulled chart, which
/// stand where kustomize would have put it.
struct ValuesFiles<'a> {
    path: &'a str,
    pulled: Option<&'a ChartFiles>,
    context: &'a Context<'a>,
}

impl ValuesFiles<'_> {
    fn load(&self, file: &str, origin: Origin) -> Result<Text, BuildError> {
        let loader = &self.context.loader;
        if let Some(chart) = self.pulled
            && let Some(name) = self.name_in_chart(file)
        {
            let missing =
                || BuildError::new(BuildErrorKind::Missing, format!("'{file}': no such file"));
            return chart.get(&name).cloned().ok_or_else(|| missing().at(origin));
        }
        Ok(Arc::clone(&loader.load_path(file, origin)?.bytes))
    }

    /// The path of `file` in the pulled chart, where it stands there and the kustomization may read it.
    fn name_in_chart(&self, file: &str) -> Option<String> {
        let root = self.context.loader.root();
        let (chart, file) = (join(root, self.path)?, join(root, file)?);
        let name = file.strip_prefix(&chart)?.strip_prefix('/')?;
        is_within(&file, root).then(|| name.to_owned())
    }
}

/// `own` and the values that stand in the kustomization file, as one text.
fn with_inline(
    chart: &HelmChart,
    own: &[u8],
    inline: &Node,
    context: &Context<'_>,
) -> Result<Text, BuildError> {
    let failed = |message: String| {
        let message = format!("the values of the chart {} cannot be merged: {message}", chart.name);
        BuildError::new(BuildErrorKind::Transformer, message).at(inline.origin)
    };
    if inline.as_map().is_none() {
        return Err(failed("valuesInline must be an object".to_owned()));
    }
    let mut inline = as_passed_on(inline);
    let merged = match &*chart.values_merge {
        "replace" => inline,
        mode => {
            let text = std::str::from_utf8(own).map_err(|_| failed("not UTF-8".to_owned()))?;
            let mut own =
                read::embedded(text, Origin::NONE).map_err(|error| failed(error.message))?;
            if own.is_null() {
                return Err(failed(
                    "its file of values holds none, which is an error; write `{}`".to_owned(),
                ));
            }
            let lost = drop_aliases(text, &mut own, &mut inline);
            if !lost.is_empty() {
                let message = format!(
                    "kustomize drops aliases where it merges values; the chart {} does not get {}",
                    chart.name,
                    lost.join(", ")
                );
                context.warn(message, chart.origin);
            }
            let (mut under, over) = if mode == "merge" { (inline, own) } else { (own, inline) };
            match merge::merge(&mut under, over, &context.schemas) {
                Ok(true) => under,
                Ok(false) => Node::map(Map::new(), Origin::NONE),
                Err(error) => return Err(failed(error.message)),
            }
        }
    };
    let mut json = String::new();
    go_json::write_node(&mut json, &merged).map_err(failed)?;
    Ok(Arc::from(escape_for_yaml(&json).into_bytes()))
}

/// The values as kustomize passes them on: every number is a float64 by then.
fn as_passed_on(node: &Node) -> Node {
    let mut node = node.clone();
    pass_on(&mut node);
    node
}

fn pass_on(node: &mut Node) {
    match &mut node.value {
        Value::Seq(items) => items.iter_mut().for_each(pass_on),
        Value::Map(map) => {
            for entry in map.entries_mut() {
                entry.key = Scalar::string(entry.key.text.clone());
                pass_on(&mut entry.value);
            }
        }
        Value::Scalar(scalar) => *scalar = pass_on_scalar(scalar),
    }
}

fn pass_on_scalar(scalar: &Scalar) -> Scalar {
    let number = |value: f64| {
        let mut text = String::new();
        // YAML's numbers that are no JSON do not come as far as here.
        let _ = go_json::write_float(&mut text, value);
        Scalar { tag: Tag::Float, ..Scalar::untagged(text) }
    };
    match (scalar.tag, resolve(&scalar.text, Rules::Kustomization)) {
        (Tag::Null, _) => Scalar::null(),
        (Tag::Bool, Resolved::Bool(value)) => {
            Scalar { tag: Tag::Bool, ..Scalar::untagged(value.to_string()) }
        }
        #[expect(clippy::cast_precision_loss, reason = "so it is done there")]
        (Tag::Int | Tag::Float, Resolved::Int(value)) => number(value as f64),
        (Tag::Int | Tag::Float, Resolved::Float(value)) => number(value),
        _ => Scalar::string(scalar.text.clone()),
    }
}

/// JSON in which the characters that YAML does not allow are escaped; they stand in strings only.
fn escape_for_yaml(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}
