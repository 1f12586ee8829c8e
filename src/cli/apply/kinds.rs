//! The kinds of changes that a file may hold: the arguments of each, and what they come to.

use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::change::{Change, PinImages, parse_assignment};
use crate::cli::edit::EditArgs;
use crate::cli::pin::PinForm;
use crate::cli::restart::RestartArgs;
use crate::cli::set::{
    ComponentsArgs, DrainArgs, FieldArgs, InstancesArgs, ReplicasArgs, ResourcesArgs, StrategyArgs,
    usage,
};
use crate::error::Error;

/// One kind of change.
pub(super) struct ChangeKind {
    /// Its key, whose value are the positional arguments of the command.
    pub(super) name: &'static str,
    /// The arguments of the command.
    pub(super) augment: fn(Command) -> Command,
    /// From the arguments to the change.
    pub(super) change: fn(&ArgMatches) -> Result<Change, Error>,
}

macro_rules! kinds {
    ($($name:literal = $args:ty;)*) => {
        [$(ChangeKind {
            name: $name,
            augment: <$args>::augment_args,
            change: |matches| Ok(parsed::<$args>(matches)?.to_request()?.change),
        }),*]
    };
}

/// Every kind, `pin` aside.
const SET: [ChangeKind; 8] = kinds! {
    "replicas" = ReplicasArgs;
    "strategy" = StrategyArgs;
    "drain" = DrainArgs;
    "instances" = InstancesArgs;
    "resources" = ResourcesArgs;
    "field" = FieldArgs;
    "components" = ComponentsArgs;
    "restart" = RestartArgs;
};

const PIN: ChangeKind = ChangeKind {
    name: "pin",
    augment: PinPart::augment_args,
    change: |matches| parsed::<PinPart>(matches)?.to_change(),
};

/// Every kind of change.
pub(super) fn all() -> impl Iterator<Item = ChangeKind> {
    std::iter::once(PIN).chain(SET)
}

impl ChangeKind {
    /// The command whose arguments read the change.
    pub(super) fn command(&self) -> Command {
        (self.augment)(Command::new(self.name).no_binary_name(true).disable_help_flag(true))
    }

    /// Whether the file, and not each change of it, says this option: overlays and delivery.
    pub(super) fn is_of_the_whole(option: &str) -> bool {
        let edit = EditArgs::augment_args(Command::new("edit"));
        edit.get_arguments().any(|argument| argument.get_long() == Some(option))
    }
}

fn parsed<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Error> {
    T::from_arg_matches(matches).map_err(|error| usage(error.to_string()))
}

/// The pins of one change: `overlay pin` without what asks a registry.
#[derive(Clone, Debug, Args)]
struct PinPart {
    #[command(flatten)]
    edit: EditArgs,

    /// NAME=REF: the image and its digest.
    #[arg(value_name = "NAME=REF", required = true)]
    pins: Vec<String>,

    #[command(flatten)]
    form: PinForm,
}

impl PinPart {
    fn to_change(&self) -> Result<Change, Error> {
        let pin = |text: &String| {
            let (key, value) = text
                .split_once('=')
                .ok_or_else(|| usage(format!("`{text}` has no digest: write NAME: REF")))?;
            Ok::<_, Error>(parse_assignment(key, value)?)
        };
        let pins = self.pins.iter().map(pin).collect::<Result<_, _>>()?;
        Ok(Change::PinImages(PinImages {
            pins,
            tag: self.form.tag(),
            image_args: self.form.image_arguments.clone(),
            no_add: self.form.no_add,
            replace_placeholder: self.form.replace_placeholder,
            unseen: self.form.unseen,
        }))
    }
}
