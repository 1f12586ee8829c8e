//! Completions: the shell's script, and the answers it asks the program for.
//!
//! The script asks `overlay` itself at each key press (clap's protocol, by the variable `OVERLAY_COMPLETE`), so that
//! overlays below the current directory and the workloads that an overlay renders are offered by name. Which value an
//! argument takes is told by its placeholder in `--help`, so that every command has it without more ado. Names are a
//! repository's: what a shell puts into the line as it comes is quoted here (bash, PowerShell), the others quote by themselves.

mod bash;
mod powershell;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::sync::Arc;

use clap::builder::Arg;
use clap::{Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::{Context, Environment, Error, Exit, Report, codes, whole_command};
use crate::ops::names::{self, ObjectName};
use crate::report::Text;

/// By this variable the shell's script says that it asks.
const VARIABLE: &str = "OVERLAY_COMPLETE";
/// The script of zsh: clap's adds a space after `NAME=`, and answers nothing to the first Tab where it is found by `fpath`.
const ZSH: &str = include_str!("../../templates/completions.zsh");
/// The script of bash: clap's inserts names unquoted, and takes a word apart at `=`.
const BASH: &str = include_str!("../../templates/completions.bash");
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
            Shell::Bash => BASH.as_bytes().to_vec(),
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

/// The words that stand on the line already, without their quotes, and which of them is being typed.
#[derive(Clone, Debug)]
struct Question {
    words: Arc<[OsString]>,
    at: usize,
}

impl Question {
    /// As clap's scripts ask: the words come behind `--`, and the shell tells the number of the one, or it is the last.
    fn of_words(args: &[OsString], environment: &Environment) -> Self {
        let words: Arc<[OsString]> =
            args.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
        let number = environment.variable("_CLAP_COMPLETE_INDEX");
        let number = number.and_then(|number| number.to_str()?.parse().ok());
        let at = number.unwrap_or_else(|| words.len().saturating_sub(1));
        Self { words, at }
    }

    fn of_line(line: &bash::Line) -> Self {
        let words: Arc<[OsString]> = line.words.iter().map(OsString::from).collect();
        Self { at: words.len() - 1, words }
    }

    fn wants_options(&self) -> bool {
        self.words.get(self.at).is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"))
    }

    /// What can stand there, as clap's engine finds it.
    fn candidates(&self) -> io::Result<Vec<CompletionCandidate>> {
        let cwd = std::env::current_dir().ok();
        let mut command = command(self);
        clap_complete::engine::complete(&mut command, self.words.to_vec(), self.at, cwd.as_deref())
    }
}

/// Answers the shell's script where it is the one that asks; `None` for any other command line.
pub(super) fn answer(args: &[OsString], environment: &Environment) -> Option<Exit> {
    let shell = environment.variable(VARIABLE)?;
    let answered = match shell.to_str() {
        Some("bash") => answer_bash(environment).map(|()| true),
        Some("powershell") if args.len() > 2 => {
            answer_powershell(&Question::of_words(args, environment)).map(|()| true)
        }
        _ => {
            let question = Question::of_words(args, environment);
            let factory = || command(&question);
            let complete = CompleteEnv::with_factory(factory).var(VARIABLE).bin("overlay");
            let cwd = std::env::current_dir().ok();
            complete
                .try_complete(args.iter().cloned(), cwd.as_deref())
                .map_err(|error| io::Error::other(error.to_string()))
        }
    };
    match answered {
        Ok(true) => Some(Exit::Done),
        Ok(false) => None,
        Err(error) => {
            let _ = writeln!(io::stderr(), "overlay: {error}");
            Some(Exit::Usage)
        }
    }
}

/// Answers [`BASH`]. A script of an older version does not tell the line, and would not quote: it is answered nothing.
fn answer_bash(environment: &Environment) -> io::Result<()> {
    let Some(line) = environment.variable("OVERLAY_COMPLETE_LINE") else { return Ok(()) };
    let replaced = environment.variable("OVERLAY_COMPLETE_WORD").unwrap_or_default();
    let line = bash::Line::read(&line.to_string_lossy(), &replaced.to_string_lossy());
    let mut answers = String::new();
    for candidate in Question::of_line(&line).candidates()? {
        if let Some(answer) = line.answer(&candidate.get_value().to_string_lossy()) {
            answers.push_str(&answer);
            answers.push('\n');
        }
    }
    io::stdout().write_all(answers.as_bytes())
}

/// Answers clap's script for PowerShell: a word, a tab, and what it is.
fn answer_powershell(question: &Question) -> io::Result<()> {
    let mut answers = String::new();
    for candidate in question.candidates()? {
        let value = candidate.get_value().to_string_lossy();
        let Some(answer) = powershell::answer(&value) else { continue };
        answers.push_str(&answer);
        if let Some(help) = candidate.get_help() {
            answers.push('\t');
            answers.push_str(help.to_string().lines().next().unwrap_or_default());
        }
        answers.push('\n');
    }
    io::stdout().write_all(answers.as_bytes())
}

/// The command line with a completer at each argument whose placeholder tells what it takes. Options are offered where they are
/// wanted, and where there is nothing else.
fn command(question: &Question) -> clap::Command {
    let command = with_completers(whole_command(), question);
    if question.wants_options() { command } else { with_options_hidden(command) }
}

fn with_completers(command: clap::Command, question: &Question) -> clap::Command {
    let command = command.mut_args(|arg| with_completer(arg, question));
    command.mut_subcommands(|command| with_completers(command, question))
}

fn with_options_hidden(command: clap::Command) -> clap::Command {
    let hide = |arg: Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    command.mut_args(hide).mut_subcommands(with_options_hidden)
}

fn with_completer(arg: Arg, question: &Question) -> Arg {
    let placeholder =
        arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    // What takes one of a few words has them by itself.
    if !arg.get_possible_values().is_empty() {
        return arg;
    }
    let form: Form = match placeholder.as_deref() {
        Some("OVERLAY") => return arg.add(ArgValueCompleter::new(overlays)),
        Some("NAME" | "[KIND/]NAME") if !arg.is_global_set() && arg.get_long().is_none() => {
            bare_name
        }
        Some("NAME=N" | "CLUSTER=N") => name_to_set,
        Some("KIND/NAME") => kind_and_name,
        Some("ID") if arg.is_positional() => return arg.add(ArgValueCompleter::new(ids)),
        Some("COMMAND") if arg.get_id() == "words" => {
            let words = Arc::clone(&question.words);
            return arg.add(ArgValueCompleter::new(move |typed: &OsStr| commands(typed, &words)));
        }
        _ => return arg,
    };
    let words = Arc::clone(&question.words);
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| objects(typed, &words, form)))
}

fn context() -> Option<Context> {
    Some(Context::new(std::env::current_dir().ok()?, Environment::read()))
}

/// Overlays below the current directory that begin with what is typed.
fn overlays(typed: &OsStr) -> Vec<CompletionCandidate> {
    let found = context().map(|context| names::find_overlays(&context)).unwrap_or_default();
    matching(typed, found)
}

/// What `overlay explain` explains.
fn ids(typed: &OsStr) -> Vec<CompletionCandidate> {
    matching(typed, crate::ops::explain::ids().map(str::to_owned).collect())
}

/// The commands below those that stand on the line of `overlay man` already.
fn commands(typed: &OsStr, words: &[OsString]) -> Vec<CompletionCandidate> {
    let whole = whole_command();
    let mut command = &whole;
    for word in words.iter().skip_while(|word| *word != "man").skip(1) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let names = command.get_subcommands().map(|below| below.get_name().to_owned());
    matching(typed, names.collect())
}

/// The form of a name that an argument takes; none where it does not take the object.
type Form = fn(&ObjectName) -> Option<String>;

/// Objects of the overlay that stands on the command line already.
fn objects(typed: &OsStr, words: &[OsString], form: Form) -> Vec<CompletionCandidate> {
    let found = context().and_then(|mut context| {
        context.offline = true;
        let overlay = typed_overlay(&context, words)?;
        Some(names::find_objects(&context, overlay).iter().filter_map(form).collect())
    });
    matching(typed, found.unwrap_or_default())
}

/// The first word behind the program's name that is a directory.
fn typed_overlay<'a>(context: &Context, words: &'a [OsString]) -> Option<&'a OsString> {
    words.iter().skip(1).find(|word| !word.is_empty() && context.cwd.join(word).is_dir())
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
