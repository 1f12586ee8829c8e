//! `overlay ship`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::apply::ApplyArgs;
use super::bump::BumpArgs;
use super::deliver::DeliveryArgs;
use super::options::OutputFormat;
use super::pin::PinArgs;
use super::promote::PromoteArgs;
use super::restart::RestartArgs;
use super::revert::RevertArgs;
use super::set::{SetArgs, usage};
use super::wait::WaitOptionsArgs;
use crate::error::Error;
use crate::ops::baseline::BaselineRequest;
use crate::ops::cluster::ClusterAccess;
use crate::ops::edit::EditRequest;
use crate::ops::probe::ProbeRequest;
use crate::ops::ship::{ReturnRequest, ShipRequest, VerifyOptions, Waves, What};
use crate::ops::{self, Context};
use crate::probe::Expect;
use crate::ship::{Shard, is_name};

/// Make an edit, open its pull request, merge it, wait until Argo CD has applied it, and go back where that fails.
///
/// The same command again, here or on another machine, goes on where it stopped; once all is done it looks at everything again
/// and changes nothing.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShipArgs {
    #[command(subcommand)]
    edit: ShipEdit,

    /// Merge the pull request as soon as that is allowed; without it a person does, for whom is waited.
    #[arg(id = "ship_merge", long = "merge")]
    merge: bool,

    /// Take the change back by a pull request of its own where a step after its merge fails, and wait for that too.
    #[arg(long, global = true)]
    auto_revert: bool,

    /// Remember the change under this name as one to be returned: `overlay ship return NAME` is the second half.
    #[arg(long, global = true, value_name = "NAME")]
    then_revert: Option<String>,

    /// Ship again what failed before and was taken back.
    #[arg(long, global = true)]
    again: bool,

    /// Ship although the change brings findings that `overlay check` calls errors.
    #[arg(long, global = true)]
    allow_findings: bool,

    /// Overlays that go together, as quoted patterns with commas between them; given again for the next wave, which begins once
    /// the one before is done.
    #[arg(long = "wave", global = true, value_name = "OVERLAY,…", conflicts_with = "waves")]
    wave: Vec<String>,

    /// The waves of this name in `.overlay.yaml`.
    #[arg(long, global = true, value_name = "NAME")]
    waves: Option<String>,

    /// Ship this share of the overlays of each wave, such as 1/4, and wait for the others before the next wave.
    #[arg(long, global = true, value_name = "I/N")]
    shard: Option<Shard>,

    /// End with the merge; do not wait for Argo CD.
    #[arg(long, global = true, conflicts_with = "auto_revert")]
    no_wait: bool,

    /// Do not look at what runs once Argo CD has applied the change.
    #[arg(long, global = true)]
    no_verify: bool,

    /// The Kubernetes configuration of the cluster that is looked at; instead of KUBECONFIG and the usual place.
    #[arg(long, global = true, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context in it; instead of the current one.
    #[arg(long, global = true, value_name = "CONTEXT")]
    verify_context: Option<String>,

    /// The namespace of objects that state none.
    #[arg(long, global = true, value_name = "NS", conflicts_with = "no_verify")]
    verify_namespace: Option<String>,

    /// How many evictions each disruption budget has to allow once the change runs; 0 if it is not given.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(i64).range(0..), conflicts_with = "no_verify")]
    min_allowed_disruptions: Option<i64>,

    #[command(flatten)]
    before: BeforeArgs,

    /// Run although this is a pod of the cluster that is changed, which its own roll may end.
    #[arg(long, global = true)]
    from_inside: bool,

    #[command(flatten)]
    wait: WaitOptionsArgs,
}

/// What has to be so before the change, and, for endpoints, all the while.
#[derive(Clone, Debug, Args)]
struct BeforeArgs {
    /// Refuse where the cluster has trouble that this file of `overlay baseline record` does not know.
    #[arg(long, global = true, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Probe this address from before the merge to the end, and take failed tries for a failure of the change; given again for more.
    #[arg(long, global = true, value_name = "URL")]
    probe: Vec<String>,

    /// How many tries may fail, over all addresses; 0 if it is not given.
    #[arg(long, global = true, value_name = "N")]
    max_failures: Option<u64>,

    /// The statuses that are a success, such as 200,204 or 2xx or 200-399; 2xx if it is not given.
    #[arg(long, global = true, value_name = "STATUSES", value_parser = Expect::parse)]
    probe_expect: Option<Expect>,

    /// Judge the servers that are probed by the authorities in this file of PEM, and by no others.
    #[arg(long, global = true, value_name = "FILE")]
    probe_ca_file: Option<PathBuf>,

    #[cfg(feature = "trust")]
    #[command(flatten)]
    trust: super::ship_trust::ShipTrustArgs,
}

impl BeforeArgs {
    /// What is probed, where anything is.
    fn to_probe(&self) -> Result<Option<ProbeRequest>, Error> {
        if self.probe.is_empty() {
            let is_bare = self.max_failures.is_some()
                || self.probe_expect.is_some()
                || self.probe_ca_file.is_some();
            return match is_bare {
                true => Err(usage("nothing is probed: add --probe URL")),
                false => Ok(None),
            };
        }
        Ok(Some(ProbeRequest {
            urls: self.probe.clone(),
            expect: self.probe_expect.clone().unwrap_or_default(),
            ca_file: self.probe_ca_file.clone(),
            most_failures: self.max_failures.unwrap_or_default(),
            ..ProbeRequest::default()
        }))
    }
}

/// What is shipped.
#[derive(Clone, Debug, Subcommand)]
enum ShipEdit {
    Pin(PinArgs),
    Set(SetArgs),
    Restart(RestartArgs),
    Promote(PromoteArgs),
    Bump(BumpArgs),
    Apply(ApplyArgs),
    Revert(RevertArgs),
    Return(ReturnArgs),
}

/// Return a change that was shipped with --then-revert: what it moved becomes again what it was.
#[derive(Clone, Debug, Args)]
struct ReturnArgs {
    /// The name of --then-revert.
    #[arg(value_name = "NAME")]
    name: String,

    /// The commit of the change, where its merge has dropped what the commit said.
    #[arg(long, value_name = "COMMIT")]
    of: Option<String>,

    /// Show what would be done; write nothing.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    delivery: DeliveryArgs,
}

impl ShipEdit {
    fn delivery_mut(&mut self) -> &mut DeliveryArgs {
        match self {
            Self::Pin(args) => &mut args.delivery,
            Self::Set(args) => args.delivery_mut(),
            Self::Restart(args) => &mut args.edit.delivery,
            Self::Promote(args) => &mut args.delivery,
            Self::Bump(args) => &mut args.delivery,
            Self::Apply(args) => &mut args.edit.delivery,
            Self::Revert(args) => &mut args.delivery,
            Self::Return(args) => &mut args.delivery,
        }
    }

    fn to_what(&self, context: &Context) -> Result<What, Error> {
        let edit: EditRequest = match self {
            Self::Pin(args) => args.to_request(context)?.to_edit(context)?,
            Self::Set(args) => args.to_request()?,
            Self::Restart(args) if !args.has_time() => {
                return Err(usage(
                    "a restart that is shipped needs --at TIME: run again, the command has to mean the same restart",
                ));
            }
            Self::Restart(args) => args.to_request()?,
            Self::Promote(args) => ops::promote::to_edit(context, &args.to_request()?)?,
            Self::Bump(args) => args.to_request(context)?.to_edit(context)?,
            Self::Apply(args) => args.to_request(context)?,
            Self::Revert(args) => ops::revert::to_edit(context, &args.to_request()?)?,
            Self::Return(args) => return Ok(What::Return(Box::new(args.to_request()?))),
        };
        Ok(What::Edit(Box::new(edit)))
    }
}

impl ReturnArgs {
    fn to_request(&self) -> Result<ReturnRequest, Error> {
        let delivery = self.delivery.to_delivery(false)?.unwrap_or_default();
        let (name, of) = (named(&self.name)?, self.of.clone());
        Ok(ReturnRequest { name, of, dry_run: self.dry_run, delivery })
    }
}

impl ShipArgs {
    /// The request.
    ///
    /// # Errors
    /// What is wrong with the edit, or with how it goes.
    pub(crate) fn to_request(
        &self,
        context: &Context,
        output: OutputFormat,
    ) -> Result<ShipRequest, Error> {
        let mut edit = self.edit.clone();
        edit.delivery_mut().require_pull_request(self.merge);
        let waves = self.waves();
        let is_parted = waves != Waves::None || self.shard.is_some();
        if is_parted && matches!(edit, ShipEdit::Return(_)) {
            return Err(usage(
                "what is returned goes as one: leave --wave, --waves and --shard out",
            ));
        }
        if is_parted && self.then_revert.is_some() {
            return Err(usage("--then-revert names one change, and waves are several"));
        }
        let access = ClusterAccess {
            kubeconfig: self.kubeconfig.clone(),
            context: self.verify_context.clone(),
            ..ClusterAccess::default()
        };
        Ok(ShipRequest {
            what: edit.to_what(context)?,
            waves,
            shard: self.shard,
            wait: (!self.no_wait).then(|| self.wait.to_options()),
            verify: (!self.no_verify).then(|| VerifyOptions {
                namespace: self.verify_namespace.clone(),
                least_allowed: self.min_allowed_disruptions,
                no_registry: context.offline,
            }),
            baseline: self.before.baseline.clone().map(|file| BaselineRequest {
                file,
                namespace: None,
                access: access.clone(),
                form: None,
            }),
            #[cfg(feature = "trust")]
            trust: self.before.trust.to_request(&access)?,
            probe: self.before.to_probe()?,
            access,
            takes_back: self.auto_revert,
            then_revert: self.then_revert.as_deref().map(named).transpose()?,
            again: self.again,
            allow_findings: self.allow_findings,
            from_inside: self.from_inside,
            wants_markdown: output == OutputFormat::Markdown,
        })
    }

    fn waves(&self) -> Waves {
        let patterns = |wave: &String| wave.split(',').map(OsString::from).collect();
        match (&self.waves, self.wave.as_slice()) {
            (Some(name), _) => Waves::Named(name.clone()),
            (None, []) => Waves::None,
            (None, waves) => Waves::Typed(waves.iter().map(patterns).collect()),
        }
    }

    /// Whether `--timeout` is that of the edit and not the longest time to wait.
    pub(super) fn owns_timeout(&self) -> bool {
        matches!(&self.edit, ShipEdit::Set(args) if args.name() == "set drain")
    }

    /// The options of delivery.
    pub(super) fn delivery(&self) -> &DeliveryArgs {
        match &self.edit {
            ShipEdit::Pin(args) => &args.delivery,
            ShipEdit::Set(args) => args.delivery(),
            ShipEdit::Restart(args) => &args.edit.delivery,
            ShipEdit::Promote(args) => &args.delivery,
            ShipEdit::Bump(args) => &args.delivery,
            ShipEdit::Apply(args) => &args.edit.delivery,
            ShipEdit::Revert(args) => &args.delivery,
            ShipEdit::Return(args) => &args.delivery,
        }
    }
}

/// A name by which a change is returned.
fn named(text: &str) -> Result<String, Error> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(usage(format!(
            "`{text}` is no name: letters, digits, `-`, `_` and `.`, at most 60 and a letter or digit first"
        ))),
    }
}
