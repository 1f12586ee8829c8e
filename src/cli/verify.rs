//! `overlay verify`.

use std::ffi::OsString;

use clap::Args;

use super::cluster::ClusterArgs;
use super::options::{OutputFormat, TypedDuration};
use crate::error::Error;
use crate::ops::cluster::parse_namespace;
use crate::ops::verify::VerifyRequest;
use crate::ops::{self, Context};
use crate::report::Report;
use crate::report::verify::VerifyForm;

/// Verify that what runs is what git says: rolls, pods, digests, disruption budgets, databases, certificates. Only reads.
#[derive(Clone, Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The overlays: directories, kustomization files, or quoted patterns such as 'overlays/*'.
    #[arg(value_name = "OVERLAY")]
    overlays: Vec<OsString>,

    /// One more overlay; may be given again.
    #[arg(long = "overlay", value_name = "OVERLAY")]
    more: Vec<OsString>,

    /// The namespace of objects that state none. Without OVERLAY: everything in it is looked at, as before a node upgrade.
    #[arg(short, long, value_name = "NS", value_parser = parse_namespace)]
    namespace: Option<String>,

    /// Render this revision instead of HEAD.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    at: Option<String>,

    /// The commit that the Argo CD Application has to be Synced at, or at a later one that has it in its history.
    #[arg(long, value_name = "REV", allow_hyphen_values = true)]
    commit: Option<String>,

    /// How many evictions each disruption budget has to allow: 0 with OVERLAY, 1 with a namespace alone.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    min_allowed_disruptions: Option<i64>,

    /// Ask no registry whether what runs is a platform of a pinned index.
    #[arg(long)]
    no_registry: bool,

    /// The Prometheus server that the queries of .overlay.yaml are put to; else PROMETHEUS_URL, else the one that it names, without PROMETHEUS_TOKEN.
    #[arg(long, value_name = "URL")]
    prometheus: Option<String>,

    /// Look all the same where this runs in the cluster that it looks at, and a roll or a drain may end it.
    #[arg(long)]
    from_inside: bool,

    /// Watch until it is so, and tell what happened to every pod on the way.
    #[arg(long)]
    follow: bool,

    /// How long all has to be well before a roll that is followed is over; 30s where there is a database.
    #[arg(long, value_name = "DUR", requires = "follow", value_parser = TypedDuration::parse)]
    dwell: Option<TypedDuration>,

    /// Where Argo CD Applications are looked for; everywhere if it is not given.
    #[arg(long, value_name = "NAMESPACE", value_parser = parse_namespace)]
    argocd_namespace: Option<String>,

    #[command(flatten)]
    cluster: ClusterArgs,

    #[cfg(feature = "trust")]
    #[command(flatten)]
    trust: super::verify_trust::TrustArgs,
}

impl VerifyArgs {
    /// Verifies.
    ///
    /// # Errors
    /// As [`ops::verify::run`]; with `--trust` as `ops::trust::run`.
    pub(crate) fn run(&self, context: &Context, output: OutputFormat) -> Result<Report, Error> {
        #[cfg(feature = "trust")]
        if let Some(request) =
            self.trust.to_request(&self.cluster, self.all_overlays().next(), output)?
        {
            return ops::trust::run(context, &request);
        }
        ops::verify::run(context, &self.to_request(output))
    }

    fn all_overlays(&self) -> impl Iterator<Item = &OsString> {
        self.overlays.iter().chain(&self.more)
    }

    fn to_request(&self, output: OutputFormat) -> VerifyRequest {
        VerifyRequest {
            overlays: self.all_overlays().cloned().collect(),
            namespace: self.namespace.clone(),
            at: self.at.clone(),
            commit: self.commit.clone(),
            least_allowed: self.min_allowed_disruptions,
            no_registry: self.no_registry,
            prometheus: self.prometheus.clone(),
            from_inside: self.from_inside,
            is_followed: self.follow,
            dwell: self.dwell.as_ref().map(|dwell| dwell.length),
            argocd_namespace: self.argocd_namespace.clone(),
            access: self.cluster.to_access(),
            form: (output == OutputFormat::Markdown).then_some(VerifyForm::Markdown),
        }
    }
}
