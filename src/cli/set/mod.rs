//! `overlay set …`: the levers of a workload, one file each.

mod components;
mod drain;
mod field;
mod instances;
mod replicas;
mod resources;
mod strategy;

use clap::{Args, Subcommand};

pub(super) use components::ComponentsArgs;
pub(super) use drain::DrainArgs;
pub(super) use field::FieldArgs;
pub(super) use instances::InstancesArgs;
pub(super) use replicas::ReplicasArgs;
pub(super) use resources::ResourcesArgs;
pub(super) use strategy::StrategyArgs;

use super::deliver::DeliveryArgs;
use crate::error::{Error, codes};
use crate::kustomize::ResourceName;
use crate::ops::edit::EditRequest;
use crate::ops::{self, Context};
use crate::report::Report;

/// Set a lever of a workload, in place and proven by rendering before and after.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetArgs {
    #[command(subcommand)]
    lever: Lever,
}

#[derive(Clone, Debug, Subcommand)]
enum Lever {
    Replicas(replicas::ReplicasArgs),
    Strategy(strategy::StrategyArgs),
    Drain(drain::DrainArgs),
    Instances(instances::InstancesArgs),
    Resources(resources::ResourcesArgs),
    Field(field::FieldArgs),
    Components(components::ComponentsArgs),
}

impl SetArgs {
    /// The words of the command.
    pub(crate) fn name(&self) -> &'static str {
        match &self.lever {
            Lever::Replicas(_) => "set replicas",
            Lever::Strategy(_) => "set strategy",
            Lever::Drain(_) => "set drain",
            Lever::Instances(_) => "set instances",
            Lever::Resources(_) => "set resources",
            Lever::Field(_) => "set field",
            Lever::Components(_) => "set components",
        }
    }

    /// The options of delivery.
    pub(super) fn delivery(&self) -> &DeliveryArgs {
        let edit = match &self.lever {
            Lever::Replicas(args) => &args.edit,
            Lever::Strategy(args) => &args.edit,
            Lever::Drain(args) => &args.edit,
            Lever::Instances(args) => &args.edit,
            Lever::Resources(args) => &args.edit,
            Lever::Field(args) => &args.edit,
            Lever::Components(args) => &args.edit,
        };
        &edit.delivery
    }

    /// The same, to be changed.
    #[cfg(all(feature = "forge", feature = "argocd"))]
    pub(super) fn delivery_mut(&mut self) -> &mut DeliveryArgs {
        let edit = match &mut self.lever {
            Lever::Replicas(args) => &mut args.edit,
            Lever::Strategy(args) => &mut args.edit,
            Lever::Drain(args) => &mut args.edit,
            Lever::Instances(args) => &mut args.edit,
            Lever::Resources(args) => &mut args.edit,
            Lever::Field(args) => &mut args.edit,
            Lever::Components(args) => &mut args.edit,
        };
        &mut edit.delivery
    }

    /// Runs the command.
    pub(crate) fn run(&self, context: &Context) -> Result<Report, Error> {
        ops::edit::run(context, &self.to_request()?)
    }

    /// The request.
    ///
    /// # Errors
    /// A malformed name or value.
    pub(crate) fn to_request(&self) -> Result<EditRequest, Error> {
        match &self.lever {
            Lever::Replicas(args) => args.to_request(),
            Lever::Strategy(args) => args.to_request(),
            Lever::Drain(args) => args.to_request(),
            Lever::Instances(args) => args.to_request(),
            Lever::Resources(args) => args.to_request(),
            Lever::Field(args) => args.to_request(),
            Lever::Components(args) => args.to_request(),
        }
    }
}

/// `[KIND[.GROUP]/]NAME`.
pub(super) fn parse_name(text: &str) -> Result<ResourceName, Error> {
    ResourceName::parse(text)
        .ok_or_else(|| usage(format!("`{text}` is no name: write NAME or KIND/NAME")))
}

/// `NAME=N`, divided.
pub(super) fn parse_count(text: &str) -> Result<(ResourceName, i64), Error> {
    let (name, count) = text
        .split_once('=')
        .ok_or_else(|| usage(format!("`{text}` has no number: write NAME=N")))?;
    let digits = count.strip_prefix('-').unwrap_or(count);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = count.parse::<i64>().ok().filter(|n| is_number && i32::try_from(*n).is_ok());
    let number = number.ok_or_else(|| usage(format!("`{count}` is no number, in {text}")))?;
    Ok((parse_name(name)?, number))
}

/// An error of the command line.
pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(codes::USAGE, message)
}
