//! `overlay verify --trust`: do clients trust what a server presents?

mod sources;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::Context;
use crate::clock;
use crate::error::Error;
use crate::report::Report;
use crate::report::trust::{Reading, Side, TrustReport};
use crate::report::verify::VerifyForm;
use crate::trust::rotation::{self, Changed, Reader};
use crate::trust::{Days, KeyMatch, Question, judge};

use super::cluster::ClusterAccess;
use sources::{Opened, Sources};
pub use sources::{SecretName, Source};

/// How long a server may take for its handshake where nothing else is said.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Days that should be left where nothing is said.
const USUAL_DAYS: u32 = 14;

/// What the user asks of `overlay verify --trust`.
#[derive(Clone, Debug)]
pub struct TrustRequest {
    /// Where the authorities come from.
    pub ca: Source,
    /// Where the chain that a server presents comes from.
    pub leaf: Source,
    /// The private key that should be the leaf's.
    pub key_file: Option<PathBuf>,
    /// The host that clients ask for.
    pub host: Option<String>,
    /// How many days must be left.
    pub days: Days,
    /// Which cluster Secrets come from.
    pub access: ClusterAccess,
    /// The overlay in which restarts are made, for advice.
    pub overlay: Option<OsString>,
    /// The form of the result where it is neither for people nor JSON.
    pub form: Option<VerifyForm>,
}

impl TrustRequest {
    /// Do clients that trust `ca` trust `leaf`? Two weeks should be left, and nothing else is asked.
    pub fn new(ca: Source, leaf: Source) -> Self {
        Self {
            ca,
            leaf,
            key_file: None,
            host: None,
            days: Days::Preferably(USUAL_DAYS),
            access: ClusterAccess::default(),
            overlay: None,
            form: None,
        }
    }
}

/// Judges; what is wrong is in the report.
///
/// # Errors
/// Where a file, a Secret or a server cannot be read.
pub fn run(context: &Context, request: &TrustRequest) -> Result<Report, Error> {
    // It is only named in advice, which would be worth nothing where there is none.
    if let Some(overlay) = &request.overlay {
        context.locate(std::slice::from_ref(overlay))?;
    }
    let allowed = context.allowed_time().unwrap_or(HANDSHAKE);
    let sources = Sources::open(context, request, allowed)?;
    let ca = sources.read(&request.ca, "ca.crt")?;
    let leaf = sources.read(&request.leaf, "tls.crt")?;
    let key = key_match(&sources, request, &leaf)?;
    let now = i64::try_from(clock::now_unix()).unwrap_or(i64::MAX);
    let host = request.host.as_deref().or_else(|| request.leaf.host());
    let question = Question {
        trusted: &ca.certificates,
        presented: &leaf.certificates,
        host,
        now,
        days: request.days,
        key: key.as_ref(),
    };
    let judgement = judge(&question);
    let readings = [(Side::Authority, &request.ca, &ca), (Side::Server, &request.leaf, &leaf)];
    let mut pods = Vec::new();
    for (side, source, opened) in readings {
        pods.extend(reading(&sources, side, source, opened)?);
    }
    let report = TrustReport {
        ca: ca.described.clone(),
        leaf: leaf.described.clone(),
        leaf_secret: request
            .leaf
            .secret()
            .map(|secret| (secret.namespace.clone(), secret.name.clone())),
        host: host.map(str::to_owned),
        overlay: request.overlay.as_ref().map(|overlay| overlay.to_string_lossy().into_owned()),
        key: key.clone(),
        now,
        authorities: &ca.certificates,
        presented: &leaf.certificates,
        judgement,
        pods,
    };
    Ok(report.into_report(request.form))
}

/// Of the file that was named, else of the Secret that the leaf comes from.
fn key_match(
    sources: &Sources<'_>,
    request: &TrustRequest,
    leaf: &Opened,
) -> Result<Option<KeyMatch>, Error> {
    let Some(first) = leaf.certificates.first() else { return Ok(None) };
    if let Some(file) = &request.key_file {
        let text = sources.read_file(file)?;
        let matched = KeyMatch::of(first, text.as_bytes());
        return matched
            .map(Some)
            .map_err(|why| sources::unreadable(&file.display().to_string(), why));
    }
    let key = leaf.secret.as_ref().and_then(|secret| sources::value_of(secret, "tls.key"));
    Ok(key.map(|key| KeyMatch::of(first, &key).unwrap_or(KeyMatch::Unknown)))
}

/// Which running containers read the Secret of that side, and whether they have its present value.
fn reading(
    sources: &Sources<'_>,
    side: Side,
    source: &Source,
    opened: &Opened,
) -> Result<Option<Reading>, Error> {
    let (Some(name), Some(secret)) = (source.secret(), &opened.secret) else { return Ok(None) };
    let newest = opened.certificates.iter().map(|certificate| certificate.not_before).max();
    let changed = rotation::changed(secret, &opened.key, newest, clock::parse_rfc_3339);
    let containers: Vec<Reader> = match sources.pods(&name.namespace)? {
        Some(pods) => rotation::readers(&pods, &name.name, &changed, clock::parse_rfc_3339),
        None => return Ok(None),
    };
    let is_dated = matches!(changed, Changed::At(_));
    let (Changed::At(at) | Changed::NotBefore(at)) = changed;
    Ok(Some(Reading { side, secret: name.to_string(), changed: at, is_dated, containers }))
}
