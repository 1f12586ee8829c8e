//! Arguments: structs, their documentation, and the conversion to requests.
//!
//! The doc comments of the structs are the reference that `--help` prints. Each command is a file
//! with its arguments and a `to_request`; what the command does lives in [`crate::ops`].

mod apply;
mod baseline;
#[cfg(feature = "git")]
mod bump;
mod capacity;
mod check;
mod cluster;
#[cfg(feature = "git")]
mod compare;
mod complete;
mod deferred;
mod deliver;
mod drain_plan;
mod edit;
mod forms;
#[cfg(feature = "git")]
mod history;
#[cfg(feature = "git")]
mod hold;
#[cfg(feature = "git")]
mod lock;
mod look;
mod options;
mod pin;
#[cfg(feature = "http")]
mod probe;
mod progress;
mod promote;
#[cfg(feature = "forge")]
mod pull_request;
mod reference;
#[cfg(feature = "registry")]
mod resolution;
mod restart;
#[cfg(feature = "git")]
mod revert;
mod schema;
mod set;
#[cfg(all(feature = "forge", feature = "argocd"))]
mod ship;
#[cfg(all(feature = "forge", feature = "argocd", feature = "trust"))]
mod ship_trust;
mod usage;
mod verify;
#[cfg(feature = "trust")]
mod verify_trust;
#[cfg(feature = "argocd")]
mod wait;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::config::Environment;
use crate::error::{Error, Exit, codes};
use crate::ops::parallel::Progress;
use crate::ops::{self, Context};
use crate::report::Report;
use crate::ui::{ColorChoice, ColorEnvironment, Format, Ui, Verbosity};

use deferred::{ArgsOf, AtOnce, Built, OnUse};
use options::{GlobalOptions, OutputFormat};

/// The kustomize whose output the built-in build gives byte for byte.
pub const KUSTOMIZE_VERSION: &str = "5.8.1";
/// The version of the program, the commit it was built from, and [`KUSTOMIZE_VERSION`].
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), env!("OVERLAY_COMMIT"), ", builds as kustomize 5.8.1");
/// Stack of the thread that runs a command: room for deeply nested documents.
const STACK_BYTES: usize = 256 * 1024 * 1024;

/// Edit kustomize overlays in git, and prove each edit by rendering before and after.
#[derive(Clone, Debug, Parser)]
#[command(name = "overlay", version = VERSION, arg_required_else_help = false, max_term_width = 100)]
#[command(subcommand_required = true)]
struct Cli<B: Built = OnUse> {
    #[command(flatten)]
    global: GlobalOptions,

    #[command(subcommand)]
    command: Command<B>,
}

#[derive(Clone, Debug, Subcommand)]
enum Command<B: Built = OnUse> {
    List(ArgsOf<look::ListArgs, B>),
    Images(ArgsOf<look::ImagesArgs, B>),
    Show(ArgsOf<look::ShowArgs, B>),
    Build(ArgsOf<look::BuildArgs, B>),
    #[cfg(feature = "git")]
    Bump(ArgsOf<bump::BumpArgs, B>),
    #[cfg(feature = "git")]
    Lock(ArgsOf<lock::LockArgs, B>),
    #[cfg(feature = "git")]
    Diff(ArgsOf<compare::DiffArgs, B>),
    #[cfg(feature = "git")]
    Affected(ArgsOf<compare::AffectedArgs, B>),
    #[cfg(feature = "git")]
    History(ArgsOf<history::HistoryArgs, B>),
    Check(ArgsOf<check::CheckArgs, B>),
    Capacity(ArgsOf<capacity::CapacityArgs, B>),
    DrainPlan(ArgsOf<drain_plan::DrainPlanArgs, B>),
    Baseline(ArgsOf<baseline::BaselineArgs, B>),
    Explain(ArgsOf<look::ExplainArgs, B>),
    Pin(ArgsOf<pin::PinArgs, B>),
    Set(ArgsOf<set::SetArgs, B>),
    Restart(ArgsOf<restart::RestartArgs, B>),
    Promote(ArgsOf<promote::PromoteArgs, B>),
    #[cfg(feature = "git")]
    Revert(ArgsOf<revert::RevertArgs, B>),
    #[cfg(feature = "git")]
    Hold(ArgsOf<hold::HoldArgs, B>),
    Apply(ArgsOf<apply::ApplyArgs, B>),
    #[cfg(feature = "forge")]
    Pr(ArgsOf<pull_request::PrArgs, B>),
    #[cfg(feature = "argocd")]
    Wait(ArgsOf<wait::WaitArgs, B>),
    Verify(ArgsOf<verify::VerifyArgs, B>),
    #[cfg(all(feature = "forge", feature = "argocd"))]
    Ship(ArgsOf<Box<ship::ShipArgs>, B>),
    #[cfg(feature = "http")]
    Probe(ArgsOf<probe::ProbeArgs, B>),
    /// Look at what commands may need: programs, credentials (never shown), files, remotes.
    Doctor,
    Completions(ArgsOf<complete::CompletionsArgs, B>),
    Man(ArgsOf<reference::ManArgs, B>),
    Schema(ArgsOf<schema::SchemaArgs, B>),
}

impl Command {
    /// Its words, as in the `command` of the JSON form.
    fn name(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Images(_) => "images",
            Self::Show(_) => "show",
            Self::Build(_) => "build",
            #[cfg(feature = "git")]
            Self::Bump(_) => "bump",
            #[cfg(feature = "git")]
            Self::Lock(_) => "lock",
            #[cfg(feature = "git")]
            Self::Diff(_) => "diff",
            #[cfg(feature = "git")]
            Self::Affected(_) => "affected",
            #[cfg(feature = "git")]
            Self::History(_) => "history",
            Self::Check(_) => "check",
            Self::Capacity(_) => "capacity",
            Self::DrainPlan(_) => "drain-plan",
            Self::Baseline(args) => args.name(),
            Self::Explain(_) => "explain",
            Self::Pin(_) => "pin",
            Self::Set(args) => args.name(),
            Self::Restart(_) => "restart",
            Self::Promote(_) => "promote",
            #[cfg(feature = "git")]
            Self::Revert(_) => "revert",
            #[cfg(feature = "git")]
            Self::Hold(_) => "hold",
            Self::Apply(_) => "apply",
            #[cfg(feature = "forge")]
            Self::Pr(_) => "pr",
            #[cfg(feature = "argocd")]
            Self::Wait(_) => "wait",
            Self::Verify(_) => "verify",
            #[cfg(all(feature = "forge", feature = "argocd"))]
            Self::Ship(_) => "ship",
            #[cfg(feature = "http")]
            Self::Probe(_) => "probe",
            Self::Doctor => "doctor",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Schema(_) => "schema",
        }
    }

    fn run(&self, context: &Context, output: OutputFormat) -> Result<Report, Error> {
        forms::require(self.name(), output)?;
        match self {
            Self::Check(args) => ops::check::run(context, &args.to_request(output)),
            Self::Capacity(args) => ops::capacity::run(context, &args.to_request(output)),
            Self::DrainPlan(args) => ops::drain_plan::run(context, &args.to_request(output)),
            Self::Baseline(args) => args.run(context, output),
            Self::List(args) => ops::list::run(context, &args.directories()),
            Self::Images(args) => args.run(context),
            Self::Show(args) => ops::show::run(context, &args.to_request()),
            Self::Build(args) => ops::build::run(context, &args.to_request()),
            #[cfg(feature = "git")]
            Self::Bump(args) => ops::bump::run(context, &args.to_request(context)?),
            #[cfg(feature = "git")]
            Self::Lock(args) => ops::lock::run(context, &args.to_request()),
            #[cfg(feature = "git")]
            Self::Diff(args) => ops::diff::run(context, &args.to_request(output)?),
            #[cfg(feature = "git")]
            Self::Affected(args) => ops::affected::run(context, &args.to_request(output)?),
            #[cfg(feature = "git")]
            Self::History(args) => ops::history::run(context, &args.to_request(output)?),
            Self::Explain(args) => ops::explain::run(args.id()),
            Self::Pin(args) => ops::pin::run(context, &args.to_request(context)?),
            Self::Set(args) => args.run(context),
            Self::Restart(args) => args.run(context),
            Self::Promote(args) => ops::promote::run(context, &args.to_request()?),
            #[cfg(feature = "git")]
            Self::Revert(args) => ops::revert::run(context, &args.to_request()?),
            #[cfg(feature = "git")]
            Self::Hold(args) => ops::hold::run(context, &args.to_request()?),
            Self::Apply(args) => args.run(context),
            #[cfg(feature = "forge")]
            Self::Pr(args) => ops::deliver::propose_branch(context, &args.to_request()),
            #[cfg(feature = "argocd")]
            Self::Wait(args) => ops::wait::run(context, &args.to_request(context)?),
            Self::Verify(args) => args.run(context, output),
            #[cfg(all(feature = "forge", feature = "argocd"))]
            Self::Ship(args) => ops::ship::run(context, &args.to_request(context, output)?),
            #[cfg(feature = "http")]
            Self::Probe(args) => ops::probe::run(context, &args.to_request()?),
            Self::Doctor => Ok(ops::doctor::run(context)),
            Self::Completions(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Schema(args) => args.run(),
        }
    }

    /// Whether `--timeout` is the command's own and not the longest time to wait.
    fn owns_timeout(&self) -> bool {
        #[cfg(all(feature = "forge", feature = "argocd"))]
        if let Self::Ship(args) = self {
            return args.owns_timeout();
        }
        self.name() == "set drain"
    }

    /// Whether an overlay that is held is edited all the same.
    fn overrides_hold(&self) -> bool {
        let delivery = match self {
            Self::Pin(args) => &args.delivery,
            Self::Set(args) => args.delivery(),
            Self::Restart(args) => &args.edit.delivery,
            Self::Promote(args) => &args.delivery,
            Self::Apply(args) => &args.edit.delivery,
            #[cfg(feature = "git")]
            Self::Bump(args) => &args.delivery,
            #[cfg(feature = "git")]
            Self::Revert(args) => &args.delivery,
            #[cfg(feature = "git")]
            Self::Hold(args) => &args.delivery,
            #[cfg(all(feature = "forge", feature = "argocd"))]
            Self::Ship(args) => args.delivery(),
            _ => return false,
        };
        delivery.override_hold
    }
}

/// Parses `args` (the program name first), runs the command and returns its exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let environment = Environment::read();
    if let Some(exit) = complete::answer(&args, &environment) {
        return ExitCode::from(exit.status());
    }
    let exit = match parse(&args) {
        Ok(cli) => run(cli, environment),
        Err(error) => usage::report(&error, &args, &environment),
    };
    ExitCode::from(exit.status())
}

/// What is no command to run (help, a mistake) is looked at again with every command there, since what is said tells of them.
fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(args).map_err(|error| match error.kind() {
        ErrorKind::DisplayVersion => error,
        _ => whole_command().try_get_matches_from(args).err().unwrap_or(error),
    })
}

/// The command line with the arguments of all commands.
fn whole_command() -> clap::Command {
    let mut command = Cli::<AtOnce>::command();
    command.build();
    forms::with_own(command)
}

/// Runs the command on a thread of its own, so that a panic becomes an error like any other.
fn run(cli: Cli, environment: Environment) -> Exit {
    let ui = Ui::new(
        cli.global.output.into(),
        cli.global.verbosity(),
        cli.global.color.into(),
        color_environment(&environment),
    );
    let name = cli.command.name();
    let is_dumb = color_environment(&environment).dumb;
    let progress = ui.shows_progress().then(|| {
        let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr()) && !is_dumb;
        let wants_steps = cli.global.verbose;
        Arc::new(progress::StderrProgress::start(name, is_terminal, wants_steps))
            as Arc<dyn Progress>
    });
    let panic = record_panics();
    let thread = std::thread::Builder::new().name("overlay".into()).stack_size(STACK_BYTES);
    let outcome = thread.spawn(move || {
        let mut context = context(&cli.global, environment)?;
        context.progress = progress;
        context.override_hold = cli.command.overrides_hold();
        if cli.command.owns_timeout() {
            context.timeout = None;
        }
        let outcome = cli.command.run(&context, cli.global.output);
        outcome.map_err(|error| context.with_boundary(error))
    });
    let outcome = match outcome.map(std::thread::JoinHandle::join) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(internal(&panic.lock().map_or_else(|_| String::new(), |m| m.clone()))),
        Err(error) => Err(internal(&format!("no thread: {error}"))),
    };
    ui.print_report(&outcome.unwrap_or_else(|error| Report::failure(name, error)))
}

fn color_environment(environment: &Environment) -> ColorEnvironment {
    ColorEnvironment {
        no_color: environment.no_color,
        force: environment.force_color,
        dumb: environment.dumb_terminal,
    }
}

fn context(global: &GlobalOptions, environment: Environment) -> Result<Context, Error> {
    let gone = |e| Error::new(codes::NO_SUCH_DIRECTORY, format!("the current directory: {e}"));
    let started_in: PathBuf = std::env::current_dir().map_err(gone)?;
    let mut cwd = started_in.clone();
    if let Some(directory) = &global.directory {
        cwd = std::fs::canonicalize(cwd.join(directory)).map_err(|error| {
            Error::new(codes::NO_SUCH_DIRECTORY, format!("{}: {error}", directory.display()))
        })?;
    }
    let mut context = Context::new(cwd, environment);
    context.started_in = started_in;
    context.root.clone_from(&global.root);
    context.kustomize.clone_from(&global.kustomize);
    context.timeout = global.timeout.as_ref().map(|timeout| timeout.length);
    context.config.clone_from(&global.config);
    context.offline = global.offline;
    context.enable_helm = global.enable_helm;
    Ok(context)
}

/// Replaces the panic message by a record of it.
fn record_panics() -> Arc<Mutex<String>> {
    let message = Arc::new(Mutex::new(String::new()));
    let record = Arc::clone(&message);
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line()));
        if let Ok(mut record) = record.lock() {
            *record = text + &place.unwrap_or_default();
        }
    }));
    message
}

fn internal(message: &str) -> Error {
    Error::new(codes::INTERNAL, format!("internal error: {message}"))
        .hint("this is a fault of the program; please report it with the command line")
}
