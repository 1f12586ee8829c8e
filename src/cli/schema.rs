//! `overlay schema`: the JSON schemas of what the program reads and prints.

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use super::apply;
use crate::error::{Error, codes};
use crate::report::{Report, Text};

/// Print the JSON schema of a file that the program reads, or of what it prints.
#[derive(Clone, Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which one.
    #[arg(value_name = "NAME")]
    name: SchemaName,
}

/// The schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SchemaName {
    /// A file of changes, as `overlay apply` reads it.
    #[value(alias = "change")]
    Changes,
    /// The settings of a repository, `.overlay.yaml`.
    Config,
    /// The hold of an overlay, `overlay-hold.yaml`.
    Hold,
    /// What every command prints with `--output json`.
    Result,
}

impl SchemaName {
    /// Its text, with a newline at its end.
    fn text(self) -> String {
        match self {
            Self::Changes => format!("{:#}\n", apply::schema()),
            Self::Config => include_str!("../../docs/config.schema.json").to_owned(),
            Self::Hold => include_str!("../../docs/hold.schema.json").to_owned(),
            Self::Result => include_str!("../../docs/result.schema.json").to_owned(),
        }
    }
}

impl SchemaArgs {
    /// The schema as it is; in the JSON form it is the `schema` of the result.
    ///
    /// # Errors
    /// Never, unless the program was built with a schema that is no JSON.
    pub(crate) fn run(&self) -> Result<Report, Error> {
        let text = self.name.text();
        let schema: Json = serde_json::from_str(&text)
            .map_err(|error| Error::new(codes::INTERNAL, format!("the schema: {error}")))?;
        let mut report = Report::unchanged("schema", json!({ "schema": schema }), Text::default());
        report.data = Some(text.into_bytes());
        Ok(report)
    }
}
