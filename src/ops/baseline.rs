//! `overlay baseline`: the state of a cluster before a change, and what of the trouble after it is new.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::cluster::{ClusterAccess, parse_namespace};
use super::verify::find_namespace;
use super::{Context, input};
use crate::baseline::{Baseline, Comparison, KINDS, Origin, VERSION};
use crate::clock;
use crate::cluster::{ClusterError, KindName};
use crate::error::{Error, Location, codes};
use crate::json::JsonProblem;
use crate::report::Report;
use crate::report::baseline::{compared, recorded};
use crate::report::verify::VerifyForm;
use crate::rollout::Snapshot;
use crate::write::write_below;

/// What the user asks of `overlay baseline`.
#[derive(Clone, Debug)]
pub struct BaselineRequest {
    /// The file that is written, or compared with.
    pub file: PathBuf,
    /// The one namespace that is looked at; everything if it is not given.
    pub namespace: Option<String>,
    /// Which cluster.
    pub access: ClusterAccess,
    /// The form of the result where it is neither for people nor JSON.
    pub form: Option<VerifyForm>,
}

/// Records what there is. A file that is there is replaced where it is a baseline.
///
/// # Errors
/// Where the cluster cannot be read, or the file not written.
pub fn record(context: &Context, request: &BaselineRequest) -> Result<Report, Error> {
    let path = context.cwd.join(&request.file);
    let there = path.exists();
    if there {
        load(context, &request.file).map_err(|error| {
            error.hint("a baseline is written over another baseline only; name another file")
        })?;
    }
    let (baseline, _) = look(context, request)?;
    let text = serde_json::to_string_pretty(&baseline)
        .map_err(|error| Error::new(codes::INTERNAL, format!("the baseline: {error}")))?;
    let (folder, name) = split(&path)?;
    write_below(folder, &name, format!("{text}\n").as_bytes())?;
    Ok(recorded(&request.file.display().to_string(), &baseline, there))
}

/// Compares what there is with what was recorded.
///
/// # Errors
/// Where the file is no baseline, or the cluster cannot be read. New trouble is in the report.
pub fn compare(context: &Context, request: &BaselineRequest) -> Result<Report, Error> {
    let before = load(context, &request.file)?;
    let namespace = request.namespace.clone().or_else(|| before.namespace.clone());
    if namespace != before.namespace {
        let message = match &before.namespace {
            Some(recorded) => format!("the baseline is of the namespace {recorded} alone"),
            None => "the baseline is of the whole cluster".to_owned(),
        };
        return Err(Error::new(codes::NOT_ALLOWED, message).hint("leave --namespace out"));
    }
    let (after, denied) = look(context, &BaselineRequest { namespace, ..request.clone() })?;
    let kinds: Vec<String> = denied.iter().map(|(kind, _)| kind.clone()).collect();
    let comparison = Comparison::of(&before, &after, &kinds);
    let file = request.file.display().to_string();
    let mut report = compared(&file, &before, &after, &comparison, request.form);
    report.error = report
        .error
        .map(|error| denied.iter().fold(error, |error, (_, why)| error.cause(why.to_string())));
    Ok(report)
}

/// Lists all kinds. A right that is missing, or a kind that a dump does not have, is remembered: nothing is said of it. The
/// rights that are missing are given too, each with its kind.
///
/// # Errors
/// Where the cluster cannot be read, there is no kind that can be looked at, or no such namespace.
fn look(
    context: &Context,
    request: &BaselineRequest,
) -> Result<(Baseline, Vec<(String, ClusterError)>), Error> {
    let reader = request.access.open(context)?;
    let is_dump = !request.access.from.is_empty();
    let (mut snapshot, mut unseen) = (Snapshot::default(), Vec::new());
    let mut denied = Vec::new();
    // A kind that the cluster does not have is none that was looked at, nor one that could not be.
    let mut is_anything_known = false;
    for (group, kind) in KINDS {
        match reader.list(&KindName::new(group, kind), request.namespace.as_deref()) {
            Ok(listing) if listing.is_known || !is_dump => {
                is_anything_known |= listing.is_known;
                snapshot.extend(listing.items);
            }
            Ok(_) => unseen.push(kind.to_owned()),
            Err(error @ ClusterError::Denied { .. }) => {
                unseen.push(kind.to_owned());
                denied.push((kind.to_owned(), error));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if !is_anything_known {
        let nothing = || Error::from_empty_dump(&reader.described());
        return Err(denied.into_iter().next().map_or_else(nothing, |(_, why)| why.into()));
    }
    if let Some(namespace) = &request.namespace
        && let Some(error) = find_namespace(&*reader, &snapshot, namespace)?
    {
        let unknown = format!("nothing was seen of {namespace}, which may not be there at all");
        return Err(Error::from(error).cause(unknown));
    }
    let now = clock::now_unix();
    let origin = Origin {
        recorded_at: clock::format_rfc_3339(now),
        now: i64::try_from(now).unwrap_or(i64::MAX),
        source: reader.described(),
        namespace: request.namespace.clone(),
        unseen,
    };
    Ok((Baseline::of(&snapshot, origin), denied))
}

/// Reads a baseline.
fn load(context: &Context, file: &Path) -> Result<Baseline, Error> {
    let name = file.display().to_string();
    let invalid = |message: String| Error::new(codes::BASELINE_INVALID, message);
    let text = match input::load_file(&context.cwd, file) {
        Ok(input) => input.text,
        // Bytes that are no text, or far too many of them.
        Err(error) if error.code() == codes::USAGE => {
            return Err(invalid("not a baseline that `overlay baseline record` writes".to_owned())
                .at(Location::file(&name))
                .cause(error.to_string()));
        }
        Err(error) => return Err(error),
    };
    let broken = |error: serde_json::Error| {
        let JsonProblem { line, column, reason } = (&error).into();
        invalid("not a baseline that `overlay baseline record` writes".to_owned())
            .at(Location::at(&name, line, column))
            .cause(reason)
    };
    let json: serde_json::Value = serde_json::from_str(&text).map_err(broken)?;
    // Another form may have anything else in it: its version is looked at first.
    match json["baselineVersion"].as_u64() {
        Some(version) if version != u64::from(VERSION) => {
            let message = format!(
                "{name}: the baseline is of version {version}, this program knows {VERSION} alone"
            );
            Err(invalid(message).hint("use the program that recorded it, or record anew"))
        }
        _ => {
            let baseline: Baseline = serde_json::from_str(&text).map_err(broken)?;
            let namespace = baseline.namespace.as_deref().unwrap_or("default");
            // It becomes a part of the addresses that are asked.
            parse_namespace(namespace).map_err(|why| invalid(format!("{name}: {why}")))?;
            Ok(baseline)
        }
    }
}

/// The folder and the name of a file.
fn split(path: &Path) -> Result<(&Path, String), Error> {
    let name = path.file_name().and_then(OsStr::to_str);
    match (path.parent(), name) {
        (Some(folder), Some(name)) => Ok((folder, name.to_owned())),
        _ => Err(Error::new(codes::USAGE, format!("{}: names no file", path.display()))),
    }
}
