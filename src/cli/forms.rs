//! The forms that the result of each command has.

use clap::ValueEnum as _;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::options::OutputFormat;
use super::{Error, codes};

/// Whether the command called `name` (`set replicas`) has this form: those for machines other than JSON are those of
/// `check`; comparisons have Markdown, and what is better looked at has a page.
fn has(name: &str, form: OutputFormat) -> bool {
    if matches!(form, OutputFormat::Human | OutputFormat::Json) {
        return true;
    }
    let is_markdown = form == OutputFormat::Markdown;
    match name.split(' ').next().unwrap_or_default() {
        "check" => true,
        "verify" | "diff" | "affected" | "ship" => is_markdown,
        "history" | "drain-plan" => is_markdown || form.is_page(),
        "capacity" => form.is_page(),
        _ => name == "baseline compare" && is_markdown,
    }
}

/// The forms of the command, as they are typed.
fn words(name: &str) -> impl Iterator<Item = PossibleValue> {
    let forms = OutputFormat::value_variants().iter().filter(move |form| has(name, **form));
    forms.filter_map(clap::ValueEnum::to_possible_value)
}

/// Refuses a form that the result of the command has not.
///
/// # Errors
/// [`codes::USAGE`] with those that it has.
pub(super) fn require(name: &str, form: OutputFormat) -> Result<(), Error> {
    if has(name, form) {
        return Ok(());
    }
    let words: Vec<String> = words(name).map(|word| format!("-o {}", word.get_name())).collect();
    let message = format!("`{name}` has no such form of its result");
    Err(Error::new(codes::USAGE, message).hint(format!("it has {}", words.join(", "))))
}

/// The whole command line in which each command offers the forms that it has.
pub(super) fn with_own(program: clap::Command) -> clap::Command {
    program.mut_subcommands(|command| with_those_of(command, ""))
}

fn with_those_of(command: clap::Command, above: &str) -> clap::Command {
    let name = format!("{above}{}", command.get_name());
    // All are gone through: `mut_arg` would move the one to the end, and the others no longer be found.
    let command = command.mut_args(|argument| match argument.get_id() == "output" {
        true => argument.value_parser(PossibleValuesParser::new(words(&name))),
        false => argument,
    });
    command.mut_subcommands(|below| with_those_of(below, &format!("{name} ")))
}
