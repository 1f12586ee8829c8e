//! `overlay ship`: an edit, its pull request, the merge, the wait for Argo CD and what is looked at afterwards, as one command
//! that goes on where it stopped, and back where it has to.
//!
//! Nothing is kept here or there: what has been done is read from the base branch, which holds the change or not by what it
//! renders, from the branch and the marker of the pull request, and from the trailers of commits.

mod back;
mod claim;
mod fleet;
mod guards;
mod leg;
mod patches;
mod preflight;
mod probing;
mod returning;
mod step;
mod verifying;
mod voyage;

use std::ffi::OsString;

use super::Context;
use super::baseline::BaselineRequest;
use super::cluster::ClusterAccess;
use super::deliver::Delivery;
use super::edit::EditRequest;
use super::probe::ProbeRequest;
#[cfg(feature = "trust")]
use super::trust::TrustRequest;
use super::wait::WaitOptions;
use crate::error::{Error, codes};
use crate::report::Report;
use crate::report::ship::{Returned, ShipReport, WaveReport};
use crate::ship::{Policy, Shard};

pub use returning::ReturnRequest;
pub use verifying::VerifyOptions;
use verifying::has_cluster;

/// What the user asks of `overlay ship`.
#[derive(Clone, Debug)]
pub struct ShipRequest {
    /// What is shipped.
    pub what: What,
    /// `--wave`, or the order that `--waves` names.
    pub waves: Waves,
    /// `--shard`.
    pub shard: Option<Shard>,
    /// How Argo CD is waited for; `None` for `--no-wait`.
    pub wait: Option<WaitOptions>,
    /// How the cluster is reached that is looked at.
    pub access: ClusterAccess,
    /// How what runs is verified; `None` for `--no-verify`.
    pub verify: Option<VerifyOptions>,
    /// `--baseline`: trouble in the cluster that it does not know stands against the change.
    pub baseline: Option<BaselineRequest>,
    /// `--trust-leaf`: what a server presents has to be trusted before anything is changed.
    #[cfg(feature = "trust")]
    pub trust: Option<TrustRequest>,
    /// `--probe`: what is probed from before the merge to the end.
    pub probe: Option<ProbeRequest>,
    /// `--auto-revert`.
    pub takes_back: bool,
    /// `--then-revert`: the name by which the change is returned later.
    pub then_revert: Option<String>,
    /// `--again`: a change that was taken back is shipped again.
    pub again: bool,
    /// `--allow-findings`: findings of `check` that the change brings are no reason to refuse it.
    pub allow_findings: bool,
    /// `--from-inside`.
    pub from_inside: bool,
    /// Whether the report is wanted as Markdown.
    pub wants_markdown: bool,
}

/// What is shipped.
#[derive(Clone, Debug)]
pub enum What {
    /// An edit, whose delivery asks for a pull request.
    Edit(Box<EditRequest>),
    /// The second half of a change that was shipped by a name.
    Return(Box<ReturnRequest>),
}

/// The order in which overlays go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Waves {
    /// All at once.
    #[default]
    None,
    /// Patterns as typed, for each wave.
    Typed(Vec<Vec<OsString>>),
    /// The name of an order in `.overlay.yaml`.
    Named(String),
}

/// Ships.
///
/// # Errors
/// Where it cannot begin. How each wave ended, well or not, is in the report.
pub fn run(context: &Context, request: &ShipRequest) -> Result<Report, Error> {
    if !request.from_inside {
        refuse_inside(context, request)?;
    }
    let returning;
    let (edit, record, returned) = match &request.what {
        What::Edit(edit) => (&**edit, None, None),
        What::Return(wanted) => match returning::find(context, wanted)? {
            returning::Found::Open { edit, record, returned } => {
                returning = edit;
                let returned =
                    returned.map(|commit| Returned { name: wanted.name.clone(), commit });
                (&*returning, Some(record), returned)
            }
            returning::Found::Returned { commit } => {
                let returned = Returned { name: wanted.name.clone(), commit };
                return Ok(ShipReport::returned(&returned));
            }
        },
    };
    if edit.no_proof {
        context.go_on_unproven();
    }
    let delivery = delivery_of(edit)?;
    let fleet = fleet::Fleet::open(context, request, edit)?;
    let verifies = match &request.verify {
        Some(_) => request.wait.is_some() && has_cluster(context, &request.access)?,
        None => false,
    };
    let policy = Policy {
        is_trial: edit.dry_run,
        waits: request.wait.is_some(),
        verifies,
        probes: request.probe.is_some(),
        takes_back: request.takes_back,
    };
    let mut waves: Vec<WaveReport> = Vec::new();
    for wave in &fleet.waves {
        let stopped = waves.iter().any(|earlier| !earlier.is_good());
        if stopped || wave.own.is_empty() {
            waves.push(WaveReport::left_out(&wave.own, stopped));
            continue;
        }
        let edit = EditRequest { overlays: fleet.typed(&wave.own), ..edit.clone() };
        let shipping = voyage::Shipping {
            context,
            request,
            policy,
            delivery,
            record: record.as_ref(),
            earlier: fleet.typed(&wave.earlier_of_others),
        };
        waves.push(shipping.ship(&edit, &wave.own));
    }
    let command = edit.change.command();
    let report = ShipReport { command, is_trial: edit.dry_run, waves, returned };
    let mut report = report.into_report(request.wants_markdown);
    if request.verify.is_some() && request.wait.is_some() && !verifies {
        report.notes.warning("no cluster is configured, so that what runs is not verified: set KUBECONFIG, or say --no-verify");
    }
    Ok(report)
}

fn delivery_of(edit: &EditRequest) -> Result<&Delivery, Error> {
    let delivery = edit.delivery.as_ref().filter(|delivery| delivery.pull_request.is_some());
    delivery.ok_or_else(|| Error::new(codes::USAGE, "what is shipped goes by a pull request"))
}

/// A roll of the cluster would end the command half way, where it runs in that cluster.
fn refuse_inside(context: &Context, request: &ShipRequest) -> Result<(), Error> {
    let Some(wait) = &request.wait else { return Ok(()) };
    super::inside::refuse(context, || {
        let mut servers = wait.access.servers(context);
        servers.extend(request.verify.as_ref().and_then(|_| request.access.server(context)));
        servers
    })
}
