//! `overlay set resources`.

use clap::Args;

use super::{parse_name, usage};
use crate::change::{Change, SetResources};
use crate::checks::model::quantity::parse_quantity;
use crate::cli::edit::EditArgs;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Set what a container requests and what it may use.
#[derive(Clone, Debug, Args)]
pub(crate) struct ResourcesArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// The workload: [KIND[.GROUP]/]NAME.
    #[arg(value_name = "NAME")]
    name: String,

    /// The container; needed where there are several.
    #[arg(long, value_name = "C")]
    container: Option<String>,

    /// Requests, such as cpu=50m,memory=128Mi.
    #[arg(long, value_name = "NAME=QUANTITY,…", value_delimiter = ',')]
    requests: Vec<String>,

    /// Limits, such as memory=256Mi.
    #[arg(long, value_name = "NAME=QUANTITY,…", value_delimiter = ',')]
    limits: Vec<String>,
}

impl ResourcesArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed name or quantity, or nothing to set.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        if self.requests.is_empty() && self.limits.is_empty() {
            return Err(usage("nothing to set: --requests or --limits"));
        }
        self.edit.to_request(Change::SetResources(SetResources {
            name: parse_name(&self.name)?,
            container: self.container.clone(),
            requests: quantities(&self.requests)?,
            limits: quantities(&self.limits)?,
        }))
    }
}

fn quantities(texts: &[String]) -> Result<Vec<(String, String)>, Error> {
    let parse = |text: &String| {
        let (name, quantity) = text.split_once('=')?;
        let value = parse_quantity(quantity).filter(|value| *value >= 0.0)?;
        (value.is_finite() && !name.is_empty()).then(|| (name.to_owned(), quantity.to_owned()))
    };
    let wrong =
        |text: &String| usage(format!("`{text}` is no quantity: write cpu=50m, memory=128Mi"));
    texts.iter().map(|text| parse(text).ok_or_else(|| wrong(text))).collect()
}
