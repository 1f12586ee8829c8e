//! `overlay check`.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::options::OutputFormat;
use crate::checks::Severity;
use crate::checks::model::quantity::parse_quantity;
use crate::checks::settings::NodeSize;
use crate::clock::parse_duration;
use crate::ops::check::{CheckRequest, Namespaces};
use crate::report::check::CheckForm;

/// Check what overlays render: what will hang, fail or interrupt service, with the numbers and who owns them.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// The overlays: directories, kustomization files, or quoted patterns such as 'overlays/*'.
    #[arg(value_name = "OVERLAY", required_unless_present = "more")]
    overlays: Vec<OsString>,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    more: Vec<OsString>,

    /// The least severity that ends the command with exit status 7.
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    fail_on: FailOn,

    /// Report only what is new since the git revision REV, and what is gone.
    #[arg(long, value_name = "REV")]
    new_since: Option<String>,

    /// List every disruption budget with what it allows, those of namespace NS alone if it is given as --namespace=NS.
    #[arg(long, value_name = "NS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    namespace: Option<String>,

    /// How long a node drain waits for a pod, such as 300s.
    #[arg(long, value_name = "DUR", value_parser = parse_duration)]
    node_drain: Option<Duration>,

    /// The number of nodes that pods can be placed on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    nodes: Option<i64>,

    /// What one of these nodes has for pods, such as cpu=1900m,memory=5Gi.
    #[arg(long, value_name = "RESOURCES", value_parser = parse_node_size)]
    node_size: Option<NodeSize>,
}

/// `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Errors.
    Error,
    /// Warnings and errors.
    Warning,
    /// Anything.
    Note,
    /// Nothing.
    Never,
}

impl CheckArgs {
    /// The request; `output` decides the form.
    pub(crate) fn to_request(&self, output: OutputFormat) -> CheckRequest {
        CheckRequest {
            overlays: self.overlays.iter().chain(&self.more).cloned().collect(),
            fail_on: match self.fail_on {
                FailOn::Error => Some(Severity::Error),
                FailOn::Warning => Some(Severity::Warning),
                FailOn::Note => Some(Severity::Note),
                FailOn::Never => None,
            },
            new_since: self.new_since.clone(),
            budgets: self.budgets(output),
            node_drain: self.node_drain,
            nodes: self.nodes,
            node_size: self.node_size,
            form: form_of(output),
        }
    }

    /// Whose budgets are listed; a page always has them.
    fn budgets(&self, output: OutputFormat) -> Option<Namespaces> {
        match self.namespace.as_deref() {
            Some("") => Some(Namespaces::All),
            Some(name) => Some(Namespaces::One(name.to_owned())),
            None => output.is_page().then_some(Namespaces::All),
        }
    }
}

fn form_of(output: OutputFormat) -> Option<CheckForm> {
    match output {
        OutputFormat::Human | OutputFormat::Json => None,
        OutputFormat::Sarif => Some(CheckForm::Sarif),
        OutputFormat::Github => Some(CheckForm::Github),
        OutputFormat::Junit => Some(CheckForm::Junit),
        OutputFormat::Markdown => Some(CheckForm::Markdown),
        #[cfg(feature = "templates")]
        OutputFormat::Html => Some(CheckForm::Html),
    }
}

/// `cpu=1900m,memory=5Gi`, one of them or both.
fn parse_node_size(text: &str) -> Result<NodeSize, String> {
    let mut size = NodeSize::default();
    for part in text.split(',') {
        let wrong = || format!("`{part}` is not cpu=QUANTITY or memory=QUANTITY");
        let (name, value) = part.split_once('=').ok_or_else(wrong)?;
        let amount = parse_quantity(value).filter(|n| *n > 0.0).ok_or_else(wrong)?;
        match name {
            "cpu" => size.cpu_cores = Some(amount),
            "memory" => size.memory_bytes = Some(amount),
            _ => return Err(wrong()),
        }
    }
    Ok(size)
}
