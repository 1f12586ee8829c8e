//! `overlay man`: the manual, from the same source as `--help`.

use clap::Args;

use super::{Error, Report, codes, whole_command};
use crate::hint;
use crate::report::Text;

/// Print a page of the manual, for example: overlay man pin | man -l -
#[derive(Clone, Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, in its words; the program itself where none is given.
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl ManArgs {
    /// The page, in roff.
    ///
    /// # Errors
    /// [`codes::USAGE`] where there is no such command.
    pub(crate) fn run(&self) -> Result<Report, Error> {
        let mut page = Vec::new();
        let mut command = self.find_command()?;
        let usage = command.render_usage().to_string();
        clap_mangen::Man::new(command)
            .render(&mut page)
            .map_err(|error| Error::new(codes::INTERNAL, format!("the manual: {error}")))?;
        let page = with_synopsis(&String::from_utf8_lossy(&page), &usage).into_bytes();
        let result = serde_json::json!({ "page": String::from_utf8_lossy(&page) });
        Ok(Report { data: Some(page), ..Report::unchanged("man", result, Text::default()) })
    }

    fn find_command(&self) -> Result<clap::Command, Error> {
        let whole = whole_command();
        let mut command = &whole;
        for word in &self.words {
            command = below(command, word).ok_or_else(|| self.no_such(command, word))?;
        }
        Ok(command.clone())
    }

    fn no_such(&self, command: &clap::Command, word: &str) -> Error {
        let message = format!("there is no command `{}`", self.words.join(" "));
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let there_are = || match names.is_empty() {
            true => format!("`{}` has no commands below it", command.get_name()),
            false => format!("there are: {}", names.join(", ")),
        };
        let advice = hint::did_you_mean(word, names.iter().copied()).unwrap_or_else(there_are);
        Error::new(codes::USAGE, message).hint(advice)
    }
}

/// The command `word` below `command`; pages are called `set-replicas`, and that of the program stands before them.
fn below<'c>(command: &'c clap::Command, word: &str) -> Option<&'c clap::Command> {
    let word = word.strip_prefix("overlay-").unwrap_or(word);
    command.find_subcommand(word).or_else(|| {
        let mut parts = word.match_indices('-');
        parts.find_map(|(at, _)| below(command.find_subcommand(&word[..at])?, &word[at + 1..]))
    })
}

/// The page with the usage of `--help` as its synopsis: the generated one leaves out what values options take.
fn with_synopsis(page: &str, usage: &str) -> String {
    const TITLE: &str = ".SH SYNOPSIS\n";
    let Some((before, rest)) = page.split_once(TITLE) else { return page.to_owned() };
    let after = rest.split_once("\n.SH ").map_or("", |(_, after)| after);
    let usage = usage.trim_start_matches("Usage:").trim();
    let lines: Vec<String> =
        usage.lines().map(|line| line.trim().replace('\\', "\\\\").replace('-', "\\-")).collect();
    format!("{before}{TITLE}{}\n.SH {after}", lines.join("\n.br\n"))
}
