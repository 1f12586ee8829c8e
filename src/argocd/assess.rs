//! The verdict on one read of an Application: a list of conjuncts, of which the first that does not hold says why.
//!
//! Order matters for the reason, not for the result: what is about another revision or spec is never judged further.
//! Success needs every conjunct; they are listed so that a test can leave one out and show what it is there for.

mod contains;
mod fence;
mod health;
mod settled;
mod sync;

pub(super) use settled::is_refresh_pending;

use super::application::Application;
use super::expectation::Expectation;
use super::facts::Facts;
use super::moment::{Contained, Moment};
use super::readiness::{Kind, Readiness, Reason, Want};

/// One part of the final predicate.
#[derive(Clone, Copy, Debug)]
pub struct Conjunct {
    /// Its name.
    pub name: &'static str,
    /// Why it does not hold.
    check: fn(&Moment<'_>) -> Result<(), Readiness>,
}

/// Every conjunct, in order.
#[must_use]
pub fn predicate() -> Vec<Conjunct> {
    let conjunct = |name, check| Conjunct { name, check };
    vec![
        conjunct("same-uid", contains::same_uid),
        conjunct("not-deleting", contains::not_deleting),
        conjunct("deploys-overlay", contains::deploys_overlay),
        conjunct("is-reconciled", contains::is_reconciled),
        conjunct("no-error-condition", contains::no_error_condition),
        conjunct("hydrated", contains::hydrated),
        conjunct("contains-commit", contains::contains_commit),
        conjunct("compared-to-spec", contains::compared_to_spec),
        conjunct("no-operation", sync::no_operation),
        conjunct("synced", sync::synced),
        conjunct("operation-succeeded", fence::operation_succeeded),
        conjunct("earlier-operations-succeeded", fence::earlier_operations_succeeded),
        conjunct("compared-after-operation", fence::compared_after_operation),
        conjunct("healthy", health::healthy),
        conjunct("no-refresh-pending", settled::no_refresh_pending),
        conjunct("objects-accepted", settled::objects_accepted),
        conjunct("effect-holds", settled::effect_holds),
        conjunct("databases-settled", settled::databases_settled),
        conjunct("dwell", settled::dwell),
    ]
}

/// The verdict on `app`.
#[must_use]
pub fn assess(app: &Application, expected: &Expectation, facts: &Facts) -> Readiness {
    assess_by(&predicate(), &Moment { app, expected, facts })
}

/// The verdict by these conjuncts alone.
#[must_use]
pub fn assess_by(predicate: &[Conjunct], moment: &Moment<'_>) -> Readiness {
    let unmet = predicate.iter().find_map(|conjunct| (conjunct.check)(moment).err());
    unmet.unwrap_or(Readiness::Ready)
}

fn progressing(kind: Kind, message: impl Into<String>, want: Want) -> Readiness {
    Readiness::Progressing(Reason::new(kind, message).wanting(want))
}

fn blocked(kind: Kind, message: impl Into<String>) -> Readiness {
    Readiness::Blocked(Reason::new(kind, message))
}

fn failed(kind: Kind, message: impl Into<String>) -> Readiness {
    Readiness::Failed(Reason::new(kind, message))
}

/// What is to be asked before more can be said.
fn asking(want: Want) -> Readiness {
    progressing(Kind::RevisionUnknown, "its revisions are being looked up", want)
}

/// The most characters of what Argo CD says that go into a message.
const MOST_WORDS: usize = 600;

/// `message`, and what Argo CD says about it where it says something: as one line, cut where it is very long.
fn with_words(message: &str, words: &str) -> String {
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let words = lines.collect::<Vec<_>>().join("; ");
    match words.char_indices().nth(MOST_WORDS) {
        _ if words.is_empty() => message.to_owned(),
        Some((end, _)) => format!("{message}: {}…", &words[..end]),
        None => format!("{message}: {words}"),
    }
}
