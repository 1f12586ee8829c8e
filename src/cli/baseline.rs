//! `overlay baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::cluster::ClusterArgs;
use super::options::OutputFormat;
use crate::error::Error;
use crate::ops::Context;
use crate::ops::baseline::{self, BaselineRequest};
use crate::ops::cluster::parse_namespace;
use crate::report::Report;
use crate::report::verify::VerifyForm;

/// Record the state of a cluster before a change, and tell after it which trouble is new. Only reads.
#[derive(Clone, Debug, Args)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Write what there is into FILE: nodes, what is wrong already, addresses of load balancers, phases of databases. No Secret is read.
    Record(FileArgs),
    /// Compare what there is with FILE: trouble that is new, that is still there, that is gone. New trouble ends with 7.
    Compare(FileArgs),
}

#[derive(Clone, Debug, Args)]
struct FileArgs {
    /// The baseline.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Look at one namespace alone.
    #[arg(short, long, value_name = "NS", value_parser = parse_namespace)]
    namespace: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,
}

impl BaselineArgs {
    /// Its words, as in the `command` of the JSON form.
    pub(crate) fn name(&self) -> &'static str {
        match &self.action {
            Action::Record(_) => "baseline record",
            Action::Compare(_) => "baseline compare",
        }
    }

    /// Records or compares.
    ///
    /// # Errors
    /// As [`baseline::record`] and [`baseline::compare`].
    pub(crate) fn run(&self, context: &Context, output: OutputFormat) -> Result<Report, Error> {
        match &self.action {
            Action::Record(args) => baseline::record(context, &args.to_request(output)),
            Action::Compare(args) => baseline::compare(context, &args.to_request(output)),
        }
    }
}

impl FileArgs {
    fn to_request(&self, output: OutputFormat) -> BaselineRequest {
        BaselineRequest {
            file: self.file.clone(),
            namespace: self.namespace.clone(),
            access: self.cluster.to_access(),
            form: (output == OutputFormat::Markdown).then_some(VerifyForm::Markdown),
        }
    }
}
