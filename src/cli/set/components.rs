//! `overlay set components`.

use clap::Args;

use super::usage;
use crate::change::{Change, SetComponents};
use crate::cli::edit::EditArgs;
use crate::error::Error;
use crate::ops::edit::EditRequest;

/// Change which components an overlay uses; everything that moves with them is listed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ComponentsArgs {
    #[command(flatten)]
    pub(super) edit: EditArgs,

    /// Put this component behind all others; a path from the overlay; may be given again.
    #[arg(long, value_name = "P")]
    add: Vec<String>,

    /// Take this component out; may be given again.
    #[arg(long, value_name = "P")]
    remove: Vec<String>,

    /// Put NEW in the place of OLD; may be given again.
    #[arg(long, value_name = "OLD=NEW")]
    replace: Vec<String>,

    /// An object with data that may leave the render; may be given again.
    #[arg(long = "allow-removal", value_name = "KIND/NAME")]
    allowed_removals: Vec<String>,
}

impl ComponentsArgs {
    /// The request.
    ///
    /// # Errors
    /// A malformed replacement, an empty path, or nothing to change.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        let divide = |text: &String| {
            let pair = text.split_once('=').map(|(old, new)| (old.to_owned(), new.to_owned()));
            pair.ok_or_else(|| usage(format!("`{text}` has no `=`: write OLD=NEW")))
        };
        let replace: Vec<(String, String)> =
            self.replace.iter().map(divide).collect::<Result<_, _>>()?;
        let replaced = replace.iter().flat_map(|(old, new)| [old, new]);
        let paths: Vec<&String> = self.add.iter().chain(&self.remove).chain(replaced).collect();
        if paths.is_empty() {
            return Err(usage("nothing to change: --add, --remove or --replace"));
        }
        if paths.iter().any(|path| path.is_empty()) {
            return Err(usage("the path of a component is empty"));
        }
        if let Some(both) = self.add.iter().find(|path| self.remove.contains(path)) {
            return Err(usage(format!("{both} is both to be added and to be removed")));
        }
        self.edit.to_request(Change::SetComponents(SetComponents {
            add: self.add.clone(),
            remove: self.remove.clone(),
            replace,
            allowed_removals: self.allowed_removals.clone(),
        }))
    }
}
