//! `overlay history`.

use clap::Args;

use super::options::{OutputFormat, SeveralOverlays};
use crate::error::{Error, codes};
use crate::kustomize::ResourceName;
use crate::ops::history::{FieldFilter, Filter, HistoryRequest, Parents};
use crate::report::history::HistoryForm;

/// List the commits that changed what overlays render, newest first, each with its effect in one line.
#[derive(Clone, Debug, Args)]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    overlays: SeveralOverlays,

    /// List no more than N commits.
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    most: Option<usize>,

    /// Only commits that moved this image, named as in `overlay pin`; may be given again.
    #[arg(long = "image", value_name = "NAME")]
    images: Vec<String>,

    /// Only commits that moved this field; with the name of a resource before it, such as 'Deployment/web spec.replicas', of that one, and where it came or went; may be given again.
    #[arg(long = "field", value_name = "[[KIND/]NAME ]PATH")]
    fields: Vec<String>,

    /// Leave out this revision and what it stands on.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    from: Option<String>,

    /// Look back from this revision.
    #[arg(long, value_name = "REV", default_value = "HEAD", allow_hyphen_values = true)]
    to: String,

    /// Look at the commits that came in by merges too, not only at the merges.
    #[arg(long)]
    full: bool,
}

impl HistoryArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed field, and where both revisions are the same.
    pub(crate) fn to_request(&self, output: OutputFormat) -> Result<HistoryRequest, Error> {
        if self.from.as_ref() == Some(&self.to) {
            let message = format!("--from and --to are both `{}`", self.to);
            return Err(Error::new(codes::USAGE, message));
        }
        let fields = self.fields.iter().map(|text| parse_field(text)).collect::<Result<_, _>>()?;
        Ok(HistoryRequest {
            overlays: self.overlays.all(),
            from: self.from.clone(),
            to: self.to.clone(),
            filter: Filter { images: self.images.clone(), fields },
            most: self.most,
            parents: if self.full { Parents::All } else { Parents::First },
            form: match output {
                OutputFormat::Markdown => Some(HistoryForm::Markdown),
                #[cfg(feature = "templates")]
                OutputFormat::Html => Some(HistoryForm::Html),
                _ => None,
            },
        })
    }
}

/// `PATH`, or a resource, a space and `PATH`, as an effect is printed.
fn parse_field(text: &str) -> Result<FieldFilter, Error> {
    let (name, path) = match text.trim().split_once(' ') {
        Some((name, path)) => (Some(name), path.trim()),
        None => (None, text.trim()),
    };
    let wrong = || {
        let message = format!("`{text}` is no field such as 'Deployment/web spec.replicas'");
        Error::new(codes::USAGE, message)
    };
    let resource = name.map(|name| ResourceName::parse(name).ok_or_else(wrong)).transpose()?;
    match path.is_empty() || path.contains(' ') {
        true => Err(wrong()),
        false => Ok(FieldFilter { resource, path: path.to_owned() }),
    }
}
