//! Options that every command has, and the overlays that most commands name.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::clock::parse_duration;
use crate::ui::{ColorChoice, Format, Verbosity};

/// Options that every command has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// Change to DIR before doing anything else.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,

    /// The form of the result on standard output.
    #[arg(short, long, value_name = "FORMAT", global = true, default_value = "human")]
    pub(crate) output: OutputFormat,

    /// Say nothing but errors on standard error.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say every step on standard error.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// When to colour.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorWhen,

    /// The configuration file, instead of `.overlay.yaml` at the repository's root.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,

    /// The longest time to wait for anything outside, such as 90s or 15m.
    #[arg(long, value_name = "DUR", global = true, value_parser = TypedDuration::parse)]
    pub(crate) timeout: Option<TypedDuration>,

    /// Render with this kustomize or kubectl (kustomize 5.0 or later) instead of the built-in build.
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) kustomize: Option<PathBuf>,

    /// Take remote bases and charts from the cache alone; touch no network.
    #[arg(long, global = true)]
    pub(crate) offline: bool,

    /// Let the built-in build call the program helm for the charts that kustomizations name.
    #[arg(long, global = true)]
    pub(crate) enable_helm: bool,

    /// The directory that nothing reaches beyond, where the overlay is in no git work tree.
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) root: Option<PathBuf>,
}

/// A duration, and how it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedDuration {
    /// As typed.
    pub(crate) text: String,
    /// How long.
    pub(crate) length: Duration,
}

impl TypedDuration {
    /// Reads a Go duration.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse_duration(text).map(|length| Self { text: text.to_owned(), length })
    }
}

impl GlobalOptions {
    /// How much to say.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}

/// The overlays that a command works on.
#[derive(Clone, Debug, Args)]
pub(crate) struct OverlayArgs {
    /// The overlay: a directory, the kustomization file in it, or a quoted pattern such as 'overlays/*'.
    #[arg(value_name = "OVERLAY")]
    pub(crate) overlay: OsString,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    pub(crate) more: Vec<OsString>,
}

impl OverlayArgs {
    /// All of them, in the order typed.
    pub(crate) fn all(&self) -> Vec<OsString> {
        std::iter::once(&self.overlay).chain(&self.more).cloned().collect()
    }
}

/// The overlays of a command that has no other positional arguments.
#[derive(Clone, Debug, Args)]
pub(crate) struct SeveralOverlays {
    /// The overlays: directories, kustomization files in them, or quoted patterns such as 'overlays/*'.
    #[arg(value_name = "OVERLAY", required = true)]
    overlays: Vec<OsString>,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    more: Vec<OsString>,
}

impl SeveralOverlays {
    /// All of them, in the order typed.
    pub(crate) fn all(&self) -> Vec<OsString> {
        self.overlays.iter().chain(&self.more).cloned().collect()
    }
}

/// `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    Human,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// JUnit XML.
    Junit,
    /// Markdown.
    Markdown,
    /// A page of HTML that stands by itself.
    #[cfg(feature = "templates")]
    Html,
}

impl OutputFormat {
    /// Whether a page of HTML is wanted.
    pub(crate) fn is_page(self) -> bool {
        #[cfg(feature = "templates")]
        return self == Self::Html;
        #[cfg(not(feature = "templates"))]
        return false;
    }
}

impl From<OutputFormat> for Format {
    fn from(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Json => Self::Json,
            _ => Self::Human,
        }
    }
}

/// `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE colours everywhere.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl From<ColorWhen> for ColorChoice {
    fn from(when: ColorWhen) -> Self {
        match when {
            ColorWhen::Auto => Self::Auto,
            ColorWhen::Always => Self::Always,
            ColorWhen::Never => Self::Never,
        }
    }
}
