//! `overlay set drain`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{parse_name, usage};
use crate::change::{Change, DrainSource, SetDrain};
use crate::cli::edit::EditArgs;
use crate::cli::options::TypedDuration;
use crate::clock::parse_duration;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Set the drain timeout where it is configured and the termination grace period, together.
#[derive(Clone, Debug, Args)]
pub(crate) struct DrainArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The workload: [KIND[.GROUP]/]NAME.
    #[arg(value_name = "NAME")]
    name: String,

    /// The drain timeout, such as 30m or 1h30m; here this is not the longest time to wait.
    #[arg(long, value_name = "DUR", conflicts_with_all = ["align", "grace"], value_parser = TypedDuration::parse)]
    timeout: Option<TypedDuration>,

    /// Derive the grace from the timeout that is configured.
    #[arg(long, conflicts_with = "grace")]
    align: bool,

    /// Set the grace alone, checked against the drain.
    #[arg(long, value_name = "DUR", value_parser = parse_duration)]
    grace: Option<Duration>,

    /// The timeout to count where none is configured.
    #[arg(long, value_name = "DUR", value_parser = parse_duration)]
    assume: Option<Duration>,

    /// What the grace has beyond the drain.
    #[arg(long, value_name = "DUR", default_value = "30s", value_parser = parse_duration)]
    margin: Duration,

    /// A flag of the container that holds the timeout; may be given again.
    #[arg(long = "arg", value_name = "FLAG", allow_hyphen_values = true)]
    args: Vec<String>,

    /// A variable that holds the timeout; may be given again.
    #[arg(long = "env", value_name = "NAME")]
    envs: Vec<String>,

    /// Which source wins where several disagree.
    #[arg(long, value_name = "SOURCE")]
    precedence: Option<SourceName>,

    /// Allow a shorter drain or grace.
    #[arg(long)]
    shorten: bool,
}

/// `--precedence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SourceName {
    /// A flag of the container.
    Flag,
    /// An environment variable.
    Env,
    /// A text in a ConfigMap.
    Config,
}

impl DrainArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or duration, or nothing to set.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let timeout = self.timeout.as_ref().map(|typed| (typed.text.clone(), millis(typed.length)));
        let says_nothing =
            self.timeout.is_none() && !self.align && self.grace.is_none() && self.assume.is_none();
        if says_nothing {
            return Err(usage("nothing to set: --timeout, --align, --grace or --assume"));
        }
        self.edit.to_request(Change::SetDrain(SetDrain {
            name: Some(parse_name(&self.name)?),
            timeout,
            align: self.align,
            grace: self.grace.map(millis),
            assume: self.assume.map(millis),
            margin: millis(self.margin),
            args: self.args.clone(),
            envs: self.envs.clone(),
            precedence: self.precedence.map(|source| match source {
                SourceName::Flag => DrainSource::Flag,
                SourceName::Env => DrainSource::Environment,
                SourceName::Config => DrainSource::Configuration,
            }),
            shorten: self.shorten,
        }))
    }
}

fn millis(length: Duration) -> i64 {
    i64::try_from(length.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX / 4)
}
