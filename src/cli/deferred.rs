//! Arguments of commands that are built when their command is used: a run needs those of one command, and building those of
//! all takes longer than many an edit.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Deref;

use clap::{ArgMatches, Args, Command, FromArgMatches};

/// When the arguments of a command are built.
pub(super) trait Built: Clone + Debug {
    /// Whether that waits until the command is used.
    const DEFERRED: bool;
}

/// To run a command.
#[derive(Clone, Debug)]
pub(super) enum OnUse {}

/// To tell of all commands: help, manuals, completions.
#[derive(Clone, Debug)]
pub(super) enum AtOnce {}

impl Built for OnUse {
    const DEFERRED: bool = true;
}

impl Built for AtOnce {
    const DEFERRED: bool = false;
}

/// The arguments `A` of a command. (clap's own `defer` of a derived enum has no form that builds them at once, and those that
/// are built late stand behind the global options in the help.)
#[derive(Clone, Debug)]
pub(super) struct ArgsOf<A, B>(A, PhantomData<B>);

impl<A, B> Deref for ArgsOf<A, B> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.0
    }
}

impl<A: FromArgMatches, B> FromArgMatches for ArgsOf<A, B> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(A::from_arg_matches(matches)?, PhantomData))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(A::from_arg_matches_mut(matches)?, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args, B: Built> Args for ArgsOf<A, B> {
    fn augment_args(command: Command) -> Command {
        if B::DEFERRED { command.defer(A::augment_args) } else { A::augment_args(command) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}
