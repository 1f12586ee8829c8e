//! `placeholder-digest`: pods that run have an image whose digest is sixty-four zeros.

use super::context::Context;
use super::finding::{Finding, Severity};
use super::{Check, CheckId};
use crate::image::{Digest, Split};

pub(super) const CHECK: Check =
    Check { id: CheckId("placeholder-digest"), severity: Severity::Warning, run };

fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for image in &context.images {
        if !Digest::is_placeholder(Split::parse(image.text).digest) {
            continue;
        }
        let replicas = image.replicas();
        let message = format!(
            "{} has a digest of sixty-four zeros, a placeholder that no registry has; {}",
            image.shown(),
            fate(replicas),
        );
        let severity = if replicas == Some(0) { Severity::Note } else { CHECK.severity };
        found.push(context.finding(&CHECK, &image.spot, message).graded(severity));
    }
    found
}

fn fate(replicas: Option<i64>) -> String {
    match replicas {
        None => "it cannot start".to_owned(),
        Some(0) => "it is at 0 replicas, so nothing tries to start it".to_owned(),
        Some(1) => "its 1 replica cannot start".to_owned(),
        Some(many) => format!("its {many} replicas cannot start"),
    }
}
