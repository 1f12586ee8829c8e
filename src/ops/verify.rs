//! `overlay verify`: what runs is what git says.

mod application;
mod conditions;
mod following;
#[cfg(feature = "http")]
mod metrics;
mod place;
#[cfg(feature = "registry")]
mod platforms;
mod reading;
mod rendering;

use std::ffi::OsString;
use std::time::Duration;

use super::Context;
use super::cluster::ClusterAccess;
use crate::checks::Subject;
use crate::clock;
use crate::error::{Error, codes};
use crate::report::Report;
use crate::report::verify::{Verified, VerifyForm};
use crate::rollout::{Case, Finding, Indexes, Wanted};

pub(super) use place::find_namespace;

use conditions::Asker;
use reading::Reading;

/// What the user asks of `overlay verify`.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// The overlays as typed; none for a whole namespace.
    pub overlays: Vec<OsString>,
    /// `--namespace`: the namespace of objects that state none, or the one that is looked at as a whole.
    pub namespace: Option<String>,
    /// `--at`: the revision to render; HEAD, or the files on disk where there is no git.
    pub at: Option<String>,
    /// `--commit`: the commit that the Application has to be Synced at.
    pub commit: Option<String>,
    /// `--min-allowed-disruptions`; 0 for overlays and 1 for a namespace if it is not given.
    pub least_allowed: Option<i64>,
    /// `--no-registry`: no registry is asked about digests.
    pub no_registry: bool,
    /// `--argocd-namespace`: where Applications are looked for; everywhere the account may look if it is not given.
    pub argocd_namespace: Option<String>,
    /// `--follow`: watch until it is so.
    pub is_followed: bool,
    /// `--prometheus`: the server that the repository's queries are put to, in place of the one that it names.
    pub prometheus: Option<String>,
    /// `--from-inside`: it runs in the cluster that it looks at, all the same.
    pub from_inside: bool,
    /// `--dwell`: how long all has to be well before a roll that is followed is over; 10s if it is not given, 30s with a
    /// database.
    pub dwell: Option<Duration>,
    /// How the cluster is reached.
    pub access: ClusterAccess,
    /// The form of the result where it is neither for people nor JSON.
    pub form: Option<VerifyForm>,
}

/// Verifies, and makes the report of it.
///
/// # Errors
/// As [`verify`]; where it runs in the cluster that it looks at.
pub fn run(context: &Context, request: &VerifyRequest) -> Result<Report, Error> {
    if !request.from_inside {
        super::inside::refuse(context, || request.access.server(context).into_iter().collect())?;
    }
    Ok(verify(context, request)?.into_report(request.form))
}

/// What is wrong with what runs, and the numbers.
///
/// # Errors
/// Where an overlay is not there or does not build, or the cluster cannot be read. What is wrong with what runs is no
/// error here: it is in the result.
pub fn verify(context: &Context, request: &VerifyRequest) -> Result<Verified, Error> {
    if request.overlays.is_empty() && request.namespace.is_none() {
        return Err(Error::new(codes::USAGE, "nothing is named that could be verified")
            .hint("name an OVERLAY, or a namespace with --namespace NS"));
    }
    if request.is_followed {
        return following::follow(context, request);
    }
    let reader = request.access.open(context)?;
    if reader.is_empty() {
        return Err(Error::from_empty_dump(&reader.described()));
    }
    let default = reader.default_namespace().unwrap_or("default").to_owned();
    let namespace = request.namespace.clone().unwrap_or(default);
    let rendered = rendering::render(context, request)?;
    let conditions = Asker::new(context, request, &rendered)?;
    let mut reading = Reading::new(&*reader);
    let wanted = match request.overlays.is_empty() {
        true => reading.whole_namespace(&namespace)?,
        false => reading.around(Wanted::all(&rendered.objects, &namespace))?,
    };
    let mut unreadable = Vec::new();
    let applications =
        application::findings(context, &*reader, request, &rendered, &mut |finding| {
            unreadable.push(finding);
        })?;
    let mut case = Case {
        snapshot: &reading.snapshot,
        wanted: &wanted,
        indexes: &Indexes::default(),
        least_allowed: request.least_allowed.unwrap_or(i64::from(request.overlays.is_empty())),
        now: i64::try_from(clock::now_unix()).unwrap_or(i64::MAX),
    };
    let indexes = ask_registries(context, request, &case)?;
    case.indexes = &indexes;
    let mut findings = applications;
    findings.extend(case.findings());
    if request.overlays.is_empty() {
        findings.extend(case.stray_findings(&namespace));
    }
    findings.extend(reading.unreadable.iter().cloned());
    findings.append(&mut unreadable);
    if !findings.iter().any(Finding::is_failure) {
        findings.extend(place::nothing_compared(&wanted, &rendered.directories, &namespace));
    }
    let broken = conditions.broken(&*reader, &case);
    findings.extend(broken.into_iter().map(|broken| broken.finding));
    Ok(Verified {
        overlays: rendered.overlays.clone(),
        namespace: request.overlays.is_empty().then_some(namespace),
        commit: rendered.commit.clone(),
        source: reader.described(),
        workloads: case.workload_lines(),
        budgets: case.budget_lines(),
        findings,
        followed: None,
    })
}

/// A right that is missing for something that is looked at.
fn unreadable(
    group: &str,
    kind: &str,
    namespace: &str,
    error: &crate::cluster::ClusterError,
) -> Finding {
    let subject = Subject {
        api_version: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: "*".to_owned(),
    };
    Finding::of(subject, "unreadable", error.to_string())
}

/// What registries say of the images that nodes run and git does not name.
#[cfg(feature = "registry")]
fn ask_registries(
    context: &Context,
    request: &VerifyRequest,
    case: &Case<'_>,
) -> Result<Indexes, Error> {
    match request.no_registry || context.offline {
        true => Ok(Indexes::default()),
        false => platforms::ask(context, &case.questions()),
    }
}

#[cfg(not(feature = "registry"))]
fn ask_registries(_: &Context, _: &VerifyRequest, _: &Case<'_>) -> Result<Indexes, Error> {
    Ok(Indexes::default())
}
