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
        let man = clap_mangen::Man::new(self.find_command()?);
        man.render(&mut page)
            .map_err(|error| Error::new(codes::INTERNAL, format!("the manual: {error}")))?;
        let result = serde_json::json!({ "page": String::from_utf8_lossy(&page) });
        Ok(Report { data: Some(page), ..Report::unchanged("man", result, Text::default()) })
    }

    fn find_command(&self) -> Result<clap::Command, Error> {
        let mut command = whole_command();
        for word in &self.words {
            let Some(below) = command.find_subcommand(word) else {
                let message = format!("there is no command `{}`", self.words.join(" "));
                let names = command.get_subcommands().map(clap::Command::get_name);
                let error = Error::new(codes::USAGE, message);
                return Err(hint::did_you_mean(word, names).into_iter().fold(error, Error::hint));
            };
            command = below.clone();
        }
        Ok(command)
    }
}
