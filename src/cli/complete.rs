//! Completions: the shell's script, and the answers it asks the program for.
//!
//! The script asks `overlay` itself at each key press (clap's protocol, by the variable `OVERLAY_COMPLETE`), so that
//! overlays below the current directory and the workloads that an overlay renders are offered by name. Which value an
//! argument takes is told by its placeholder in `--help`, so that every command has it without more ado.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use clap::builder::Arg;
use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::{Cli, Context, Environment, Error, Exit, Report, codes};
use crate::ops::names::{self, ObjectName};
use crate::report::Text;

/// By this variable the shell's script says that it asks.
const VARIABLE: &str = "OVERLAY_COMPLETE";
/// The script of zsh: clap's adds a space after `NAME=`, and answers nothing to the first Tab where it is found by `fpath`.
const ZSH: &str = include_str!("../../templates/completions.zsh");
/// The most candidates that one question is answered with.
const MOST_CANDIDATES: usize = 500;

/// Print the completions of a shell: overlays and workloads are completed by name.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell, for example: overlay completions bash > ~/.local/share/bash-completion/completions/overlay
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The shells that there are completions for.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl CompletionsArgs {
    /// The script.
    pub(crate) fn run(&self) -> Result<Report, Error> {
        let script = match self.shell {
            Shell::Zsh => ZSH.as_bytes().to_vec(),
            _ => self.generated()?,
        };
        let result = serde_json::json!({ "script": String::from_utf8_lossy(&script) });
        let report = Report::unchanged("completions", result, Text::default());
        Ok(Report { data: Some(script), ..report })
    }

    /// The script that clap has for the shell.
    fn generated(&self) -> Result<Vec<u8>, Error> {
        let name = self.shell.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        let mut script = Vec::new();
        let shells = Shells::builtins();
        let written = shells.completer(name).map(|completer| {
            completer.write_registration(VARIABLE, "overlay", "overlay", "overlay", &mut script)
        });
        match written {
            Some(Ok(())) => Ok(script),
            _ => Err(Error::new(codes::INTERNAL, format!("no completions for {name}"))),
        }
    }
}

/// Answers the shell's script where it is the one that asks; `None` for any other command line.
pub(super) fn answer(args: &[OsString], environment: &Environment) -> Option<Exit> {
    environment.variable(VARIABLE)?;
    let wants_options = typed_word(args, environment).is_some_and(|word| word.starts_with("-"));
    let complete =
        CompleteEnv::with_factory(|| command(wants_options)).var(VARIABLE).bin("overlay");
    let cwd = std::env::current_dir().ok();
    match complete.try_complete(args.iter().cloned(), cwd.as_deref()) {
        Ok(true) => Some(Exit::Done),
        Ok(false) => None,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "overlay: {error}");
            Some(Exit::Usage)
        }
    }
}

/// The word that is being completed: the shell tells its number, or it is the last.
fn typed_word(args: &[OsString], environment: &Environment) -> Option<String> {
    let mut words = args.iter().skip_while(|word| *word != "--").skip(1);
    let number = environment.variable("_CLAP_COMPLETE_INDEX");
    let word = match number.and_then(|number| number.to_str()?.parse().ok()) {
        Some(number) => words.nth(number),
        None => words.last(),
    };
    word.map(|word| word.to_string_lossy().into_owned())
}

/// The command line with a completer at each argument whose placeholder tells what it takes. Options are offered where they are
/// wanted, and where there is nothing else.
fn command(wants_options: bool) -> clap::Command {
    let command = with_completers(Cli::command());
    if wants_options { command } else { with_options_hidden(command) }
}

fn with_completers(command: clap::Command) -> clap::Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

fn with_options_hidden(command: clap::Command) -> clap::Command {
    let hide = |arg: Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    command.mut_args(hide).mut_subcommands(with_options_hidden)
}

fn with_completer(arg: Arg) -> Arg {
    let placeholder =
        arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match placeholder.as_deref() {
        Some("OVERLAY") => arg.add(ArgValueCompleter::new(overlays)),
        Some("NAME" | "[KIND/]NAME") if !arg.is_global_set() && arg.get_long().is_none() => {
            arg.add(ArgValueCompleter::new(|typed: &OsStr| objects(typed, bare_name)))
        }
        Some("NAME=N" | "CLUSTER=N") => {
            arg.add(ArgValueCompleter::new(|typed: &OsStr| objects(typed, name_to_set)))
        }
        Some("KIND/NAME") => {
            arg.add(ArgValueCompleter::new(|typed: &OsStr| objects(typed, kind_and_name)))
        }
        _ => arg,
    }
}

fn context() -> Option<Context> {
    Some(Context::new(std::env::current_dir().ok()?, Environment::read()))
}

/// Overlays below the current directory that begin with what is typed.
fn overlays(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = context().map(|context| names::find_overlays(&context)).unwrap_or_default();
    matching(typed, found)
}

/// Objects of the overlay that stands on the command line already, in the form that the argument takes.
fn objects(typed: &OsStr, form: fn(&ObjectName) -> Option<String>) -> Vec<CompletionCandidate> {
    let found = context().and_then(|mut context| {
        context.offline = true;
        let overlay = typed_overlay(&context)?;
        Some(names::find_objects(&context, &overlay).iter().filter_map(form).collect())
    });
    matching(typed, found.unwrap_or_default())
}

/// The first word of the command line being completed that is a directory: no completer is told of the other words.
fn typed_overlay(context: &Context) -> Option<OsString> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.into_iter().find(|word| !word.is_empty() && context.cwd.join(word).is_dir())
}

fn bare_name(object: &ObjectName) -> Option<String> {
    object.is_workload().then(|| object.name.clone())
}

fn name_to_set(object: &ObjectName) -> Option<String> {
    object.is_workload().then(|| format!("{}=", object.name))
}

fn kind_and_name(object: &ObjectName) -> Option<String> {
    Some(format!("{}/{}", object.kind, object.name))
}

/// Names are a repository's: those with control characters are not offered to a shell.
fn matching(typed: &OsStr, names: Vec<String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fits = |name: &String| name.starts_with(&*typed) && !name.contains(char::is_control);
    names.into_iter().filter(fits).take(MOST_CANDIDATES).map(CompletionCandidate::new).collect()
}
