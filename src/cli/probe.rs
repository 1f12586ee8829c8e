//! `overlay probe`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::options::TypedDuration;
use crate::error::{Error, codes};
use crate::ops::probe::ProbeRequest;
use crate::probe::{Expect, split_words};

/// Without --for and without a command.
const USUAL_LENGTH: Duration = Duration::from_secs(30);
/// The shortest time between two tries.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);

/// Poll endpoints at a steady pace and count what is not a success; with a command after `--` for as long as it runs.
///
/// Each try has a connection of its own, and begins when it is due however long those before it take. Any failure ends with
/// exit status 7, unless --max-failures allows it; a command that fails with 5, whatever the probe found.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProbeArgs {
    /// The addresses: http://… or https://….
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,

    /// The time between two tries of an address.
    #[arg(long, value_name = "DUR", default_value = "500ms", value_parser = TypedDuration::parse)]
    interval: TypedDuration,

    /// For how long; 30s without it and without a command.
    #[arg(long = "for", value_name = "DUR", value_parser = TypedDuration::parse)]
    length: Option<TypedDuration>,

    /// How long one try may take, from finding the host to the end of the answer.
    #[arg(long, value_name = "DUR", default_value = "5s", value_parser = TypedDuration::parse)]
    try_timeout: TypedDuration,

    /// The statuses that are a success, such as 200,204 or 2xx or 200-399.
    #[arg(long, value_name = "STATUSES", default_value = "2xx", value_parser = Expect::parse)]
    expect: Expect,

    /// How many failures are allowed, over all addresses.
    #[arg(long, value_name = "N", default_value = "0")]
    max_failures: u64,

    /// Judge servers by the authorities in this file of PEM, and by no others.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca_file: Option<PathBuf>,

    /// Do not check who answers: anybody on the way could.
    #[arg(long)]
    insecure: bool,

    /// Follow redirects; without it a redirect is an answer like any other.
    #[arg(long)]
    follow: bool,

    /// Run this command, split at spaces by no shell, and probe for as long as it runs; --timeout bounds it.
    #[arg(long = "while", value_name = "COMMAND", conflicts_with_all = ["command", "length"])]
    beside: Option<String>,

    /// The same, as words of their own.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "length")]
    command: Vec<OsString>,
}

impl ProbeArgs {
    /// The request.
    ///
    /// # Errors
    /// Times of nothing, and a command that only a shell could read.
    pub(crate) fn to_request(&self) -> Result<ProbeRequest, Error> {
        let usage = |message: String| Error::new(codes::USAGE, message);
        if self.interval.length < LEAST_INTERVAL {
            return Err(usage("--interval: 10ms is the least".to_owned()));
        }
        if self.try_timeout.length.is_zero() {
            return Err(usage("--try-timeout: no try can end in no time".to_owned()));
        }
        let length = self.length.as_ref().map_or(USUAL_LENGTH, |length| length.length);
        if length.is_zero() {
            return Err(usage("--for: nothing can be tried in no time".to_owned()));
        }
        let command = match &self.beside {
            None => self.command.clone(),
            Some(line) => {
                let words = split_words(line).map_err(|why| usage(format!("--while: {why}")))?;
                words.into_iter().map(OsString::from).collect()
            }
        };
        Ok(ProbeRequest {
            urls: self.urls.clone(),
            interval: self.interval.length,
            length,
            patience: self.try_timeout.length,
            expect: self.expect.clone(),
            ca_file: self.ca_file.clone(),
            is_insecure: self.insecure,
            follows_redirects: self.follow,
            most_failures: self.max_failures,
            command,
        })
    }
}
