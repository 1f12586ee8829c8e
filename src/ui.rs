//! The terminal: the only place that prints.
//!
//! Data goes to standard output, everything else to standard error; a closed pipe on either is no
//! error. Colour is decided once, here.

use std::io::{IsTerminal, Write};

use crate::error::{Error, Exit};
use crate::report::{Report, Style, Text, escape_control, to_json};

/// The form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON object.
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the environment says about colour.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorEnvironment {
    /// `NO_COLOR` is set and not empty (<https://no-color.org>).
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set and neither empty nor `0` (<https://bixense.com/clicolors>).
    pub force: bool,
    /// `TERM` is `dumb`.
    pub dumb: bool,
}

/// How much is said on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Notes and warnings too.
    #[default]
    Normal,
    /// Every step.
    Verbose,
}

/// Where results go and how they look.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    format: Format,
    verbosity: Verbosity,
    color_stdout: bool,
    color_stderr: bool,
}

impl Ui {
    /// Decides on colour: the choice, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether it is a terminal.
    pub fn new(
        format: Format,
        verbosity: Verbosity,
        choice: ColorChoice,
        environment: ColorEnvironment,
    ) -> Self {
        let color = |is_terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if environment.no_color => false,
            ColorChoice::Auto if environment.force => true,
            ColorChoice::Auto => is_terminal && !environment.dumb,
        };
        let color_stdout = color(std::io::stdout().is_terminal());
        let color_stderr = color(std::io::stderr().is_terminal());
        Self { format, verbosity, color_stdout, color_stderr }
    }

    /// Prints a report in the chosen form and returns the exit status: that of the report, or
    /// [`Exit::Outside`] where standard output cannot be written (a full disk).
    pub fn print_report(&self, report: &Report) -> Exit {
        let printed = match self.format {
            Format::Json => print_stdout(format!("{}\n", to_json(report)).as_bytes()),
            Format::Human => {
                if self.verbosity > Verbosity::Quiet {
                    print_stderr(&report.notes.render(self.color_stderr));
                }
                let printed = match &report.data {
                    Some(bytes) => print_stdout(bytes),
                    None if self.is_silent_about(report) => Ok(()),
                    None => print_stdout(report.human.render(self.color_stdout).as_bytes()),
                };
                if let Some(error) = &report.error {
                    print_stderr(&error_text(error).render(self.color_stderr));
                }
                printed
            }
        };
        self.settle(printed, report.exit())
    }

    /// Prints bytes as they are on standard output; the exit status as for [`Ui::print_report`].
    pub fn print_bytes(&self, bytes: &[u8]) -> Exit {
        self.settle(print_stdout(bytes), Exit::Done)
    }

    /// Whether people want to know how far long work has gone.
    pub fn shows_progress(&self) -> bool {
        self.verbosity > Verbosity::Quiet
    }

    /// Whether results are wanted as JSON.
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// With `--quiet` a report of what was done or found is not printed; what was asked to be shown is.
    fn is_silent_about(&self, report: &Report) -> bool {
        let shows = [
            "show", "list", "images", "explain", "diff", "affected", "build", "doctor", "capacity",
        ];
        self.verbosity == Verbosity::Quiet && !shows.contains(&report.command.as_str())
    }

    fn settle(&self, printed: std::io::Result<()>, exit: Exit) -> Exit {
        match printed {
            Err(error) if exit == Exit::Done => {
                let mut text = Text::default();
                text.push(Style::Removed, "error").line(format!(": standard output: {error}"));
                print_stderr(&text.render(self.color_stderr));
                Exit::Outside
            }
            _ => exit,
        }
    }
}

/// One line of error, then its causes, then `hint:` lines.
fn error_text(error: &Error) -> Text {
    let mut text = Text::default();
    text.push(Style::Removed, "error")
        .push(Style::Plain, ": ")
        .line(escape_control(&error.to_string()));
    for cause in error.causes() {
        text.push(Style::Faint, "  caused by").line(format!(": {cause}"));
    }
    for hint in error.hints() {
        text.push(Style::Added, "hint").line(format!(": {hint}"));
    }
    text
}

/// Writes all bytes to standard output; a reader that went away is no error.
fn print_stdout(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes to standard error; where that fails there is nobody to tell.
pub(crate) fn print_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
