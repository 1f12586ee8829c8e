//! A command line that cannot be parsed, reported in the form that it asks for.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{ColorChoice, Environment, Error, Exit, Format, Report, Ui, Verbosity};
use super::{codes, color_environment, whole_command};
use crate::{hint, shell};

/// Prints what clap has to say: help and version as they are, an error as a [`Report`].
pub(super) fn report(error: &clap::Error, args: &[OsString], environment: &Environment) -> Exit {
    let format = if wants_json(args) { Format::Json } else { Format::Human };
    let ui = Ui::new(format, Verbosity::Normal, ColorChoice::Auto, color_environment(environment));
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            ui.print_bytes(error.render().to_string().as_bytes())
        }
        // clap would print the help in place of a word on what is missing.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let words = command_words(args);
            ui.print_report(&Report::failure(&words, command_missing(&words)))
        }
        _ => ui.print_report(&Report::failure(&command_words(args), usage_error(error, args))),
    }
}

/// A command of commands (`set`) that is given without one.
fn command_missing(words: &str) -> Error {
    let command = command_of(words);
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let whole = format!("overlay {words}");
    let whole = whole.trim_end();
    Error::new(codes::USAGE, format!("`{whole}` needs one of: {}", names.join(", ")))
        .hint(format!("`{whole} --help` says what each does"))
}

fn usage_error(error: &clap::Error, args: &[OsString]) -> Error {
    let rendered = error.render().to_string();
    let (message, advice) = split_message(&rendered);
    let mut usage = Error::new(codes::USAGE, message);
    let (far, near): (Vec<String>, Vec<String>) =
        advice.into_iter().partition(|line| is_far_fetched(error, line));
    for line in near {
        // clap knows of positional arguments alone.
        let typed = line.strip_prefix("to pass '").and_then(|rest| rest.split('\'').next());
        usage = match typed {
            Some(typed) => usage.hint(format!(
                "as the value of an option write {}; as a name put it behind `--`",
                shell::word(&format!("--OPTION={typed}"))
            )),
            None => usage.hint(line),
        };
    }
    if let Some(line) = own_advice(error).or_else(|| advice_on_resources(error, args)) {
        usage = usage.hint(line);
    }
    // The usage that clap gives with an option is that of the option.
    let own =
        (!far.is_empty()).then(|| command_of(&command_words(args)).render_usage().to_string());
    let shown = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        _ => None,
    };
    if let Some(text) = own.or(shown) {
        usage = usage.hint(text.trim().replacen("Usage: ", "usage: ", 1));
    }
    usage
}

fn context_text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Whether clap offers an option that is like the one typed in its first letters alone.
fn is_far_fetched(error: &clap::Error, advice: &str) -> bool {
    let offered = advice.strip_prefix("a similar argument exists: '--");
    let offered = offered.and_then(|rest| rest.split(['\'', ' ', '=']).next());
    let typed =
        context_text(error, ContextKind::InvalidArg).map(|typed| typed.trim_start_matches('-'));
    let is_near = |(typed, offered)| !hint::nearest(typed, [offered], 1).is_empty();
    typed.zip(offered).is_some_and(|pair| !is_near(pair))
}

/// `--memory 200Mi` of `set resources`: requests and limits are two things.
fn advice_on_resources(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let typed = context_text(error, ContextKind::InvalidArg)?;
    let name = typed.trim_start_matches('-');
    let is_resource = ["cpu", "memory", "ephemeral-storage"].contains(&name);
    if !is_resource || !command_words(args).ends_with("set resources") {
        return None;
    }
    let mut behind =
        args.iter().filter_map(|arg| arg.to_str()).skip_while(|arg| !arg.starts_with(typed));
    let first = behind.next()?;
    let amount = first.split_once('=').map(|(_, amount)| amount);
    let amount = amount.or_else(|| behind.next().filter(|next| !next.starts_with('-')));
    let wanted = format!("{name}={}", amount.unwrap_or("…"));
    let wanted = shell::word(&wanted);
    Some(format!("write --requests {wanted}, or --limits {wanted}"))
}

/// What clap has no advice for: an exchanged pair of letters in a command, and a pattern that the shell expanded.
fn own_advice(error: &clap::Error) -> Option<String> {
    let text = |kind| context_text(error, kind);
    match error.kind() {
        ErrorKind::InvalidSubcommand if error.get(ContextKind::SuggestedSubcommand).is_none() => {
            let command = whole_command();
            let names = command.get_subcommands().map(clap::Command::get_name);
            hint::did_you_mean(text(ContextKind::InvalidSubcommand)?, names)
        }
        ErrorKind::UnknownArgument => {
            let extra = text(ContextKind::InvalidArg)?;
            let advice = "is a directory: quote the pattern ('overlays/*'), or add --overlay";
            Path::new(extra).is_dir().then(|| format!("{extra} {advice} {}", shell::word(extra)))
        }
        _ => None,
    }
}

/// clap's rendering: `error: MESSAGE` over one or more lines, then paragraphs of tips and usage.
fn split_message(rendered: &str) -> (String, Vec<String>) {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let mut paragraphs = text.split("\n\n");
    let joined = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = joined(paragraphs.next().unwrap_or_default());
    let tips = paragraphs.flat_map(str::lines).filter_map(|line| line.trim().strip_prefix("tip: "));
    (message, tips.map(joined).collect())
}

/// Whether `-o json` is among the arguments, in any of its spellings.
fn wants_json(args: &[OsString]) -> bool {
    let args = args.iter().skip(1).map(|arg| arg.to_string_lossy());
    let mut option_before = false;
    for arg in args.take_while(|arg| arg != "--") {
        if option_before && arg == "json" {
            return true;
        }
        let cluster = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let cluster = cluster.unwrap_or_default().trim_start_matches(['q', 'v']);
        if arg == "--output=json" || cluster == "ojson" || cluster == "o=json" {
            return true;
        }
        option_before = arg == "--output" || cluster == "o";
    }
    false
}

/// The command of these words.
fn command_of(words: &str) -> clap::Command {
    let mut command = whole_command();
    for word in words.split_whitespace() {
        if let Some(below) = command.find_subcommand(word) {
            command = below.clone();
        }
    }
    command
}

/// The words of the command, as far as they are there: `pin`, `set replicas`, or nothing.
fn command_words(args: &[OsString]) -> String {
    let mut command = whole_command();
    let mut words: Vec<String> = Vec::new();
    for arg in args.iter().skip(1).take_while(|arg| *arg != "--") {
        let Some(word) = arg.to_str() else { continue };
        if let Some(below) = command.find_subcommand(word) {
            words.push(word.to_owned());
            command = below.clone();
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn json_is_seen_in_every_spelling() {
        for line in [
            "overlay pin -o json",
            "overlay -ojson pin",
            "overlay -qo json",
            "overlay --output json",
            "overlay pin x --output=json --nope",
            "overlay -o=json",
        ] {
            assert!(wants_json(&args(line)), "{line}");
        }
        for line in
            ["overlay pin", "overlay pin -- -o json", "overlay -o human json", "overlay json"]
        {
            assert!(!wants_json(&args(line)), "{line}");
        }
    }

    #[test]
    fn the_command_is_named_as_far_as_it_is_known() {
        assert_eq!(command_words(&args("overlay -o json pin --nope x")), "pin");
        assert_eq!(command_words(&args("overlay nope")), "");
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        whole_command().debug_assert();
    }
}
