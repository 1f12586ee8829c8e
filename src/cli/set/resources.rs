//! `overlay set resources`.

use clap::Args;

use super::{parse_name, usage};
use crate::change::{Change, SetResources};
use crate::checks::model::quantity::parse_quantity;
use crate::cli::edit::EditArgs;
use crate::error::{Error, codes};
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
    texts.iter().map(|text| quantity(text)).collect()
}

/// `NAME=QUANTITY`; 16GiB is 16Gi, which Kubernetes wants to read.
fn quantity(text: &str) -> Result<(String, String), Error> {
    let wrong = || usage(format!("`{text}` is no quantity: write cpu=50m, memory=128Mi"));
    let (name, quantity) = text.split_once('=').ok_or_else(wrong)?;
    let quantity = match quantity.strip_suffix('B') {
        Some(short) if short.ends_with('i') => short,
        _ => quantity,
    };
    let value = parse_quantity(quantity).filter(|value| value.is_finite()).ok_or_else(wrong)?;
    if name.is_empty() {
        return Err(wrong());
    }
    if value < 0.0 {
        let message = format!("{text}: an amount is 0 or more");
        return Err(Error::new(codes::NOT_ALLOWED, message));
    }
    Ok((name.to_owned(), quantity.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_written_as_kubernetes_reads_it() {
        let written = |text| quantity(text).map(|(_, quantity)| quantity);
        for (typed, wanted) in [
            ("memory=128MiB", "128Mi"),
            ("memory=16Gi", "16Gi"),
            ("cpu=50m", "50m"),
            ("cpu=0", "0"),
        ] {
            assert_eq!(written(typed).as_deref(), Ok(wanted), "{typed}");
        }
        for malformed in ["cpu", "cpu=", "=1", "cpu=x", "memory=128MB", "memory=1B", "cpu=1e400"] {
            assert_eq!(written(malformed).unwrap_err().code(), codes::USAGE, "{malformed}");
        }
        assert_eq!(written("cpu=-1").unwrap_err().code(), codes::NOT_ALLOWED);
    }
}
