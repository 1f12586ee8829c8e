//! The errors of planning and proving an edit, with their codes and hints.

use super::{Code, Error, Location, codes};
use crate::change::DigestsError;
use crate::hint;
use crate::levers::{LeverError, LeverErrorKind};
use crate::plan::{PlanError, Statement, Unproven};
use crate::shell;
use crate::verify::{FieldRefusal, Refusal};

impl From<DigestsError> for Error {
    fn from(error: DigestsError) -> Self {
        let code = match &error {
            DigestsError::Json { .. } | DigestsError::EmptyKey => codes::USAGE,
            DigestsError::DuplicateKey { .. } => codes::DUPLICATE_KEY,
            DigestsError::Value { .. } => codes::INVALID_DIGEST,
        };
        Self::new(code, error.to_string())
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let plain = Self::new(plan_code(&error), error.to_string());
        match error {
            PlanError::Yaml { file, error } => plain.at(line_of(file, error.line, error.column)),
            PlanError::NotListed { file, .. } => plain.at(Location::file(file)),
            PlanError::Entries { file, error } => plain.at(line_of(file, error.line(), 0)),
            PlanError::NotEditable { file, line, column, .. }
            | PlanError::Hold { file, line, column, .. } => plain.at(line_of(file, line, column)),
            PlanError::NoSuchImage { key, rendered }
            | PlanError::DeadEntry { key, rendered, .. } => {
                with_hint(plain, nearest_image(&key, &rendered))
            }
            PlanError::Placeholder { at, .. } => {
                plain.at(statement(at)).hint("--replace-placeholder writes a digest in their place")
            }
            PlanError::SeveralEntries { entries, .. } => {
                let last = entries.into_iter().next_back();
                let plain = last.map_or(plain.clone(), |entry| plain.at(statement(entry)));
                plain.hint("name one of them by its own `name` where those differ, or remove one")
            }
            PlanError::AlsoDecides { entry, .. } => plain.at(statement(entry)),
            PlanError::PatternHits { entry, .. } => {
                let name = entry.name.replace('.', "[.]");
                plain.at(statement(entry)).hint(format!("write `{name}` as the name of the entry"))
            }
            PlanError::Overridden { file, line, .. }
            | PlanError::FieldOverridden { file, line, .. } => plain.at(line_of(file, line, 0)),
            PlanError::Unseen { .. } => plain.hint("--unseen pins a name that only they can use"),
            PlanError::TagForName { key, image, name } => {
                let value = format!("{key}={image}:{name}@sha256:…");
                plain.hint(format!("for a tag and a digest write `{}`", shell::word(&value)))
            }
            PlanError::NoAdd { .. } => plain.hint("without --no-add an entry is added"),
            PlanError::Ambiguous { .. } => plain.hint("use a whole name"),
            PlanError::FieldUnproven { today: Some(today), .. } => {
                plain.hint(format!("the field holds {today} today, and the value is a text"))
            }
            _ => plain,
        }
    }
}

fn plan_code(error: &PlanError) -> Code {
    match error {
        PlanError::Yaml { .. } => codes::BUILD_BROKEN,
        PlanError::NotListed { .. } => codes::NOT_ALLOWED,
        PlanError::Hold { .. } => codes::HOLD_INVALID,
        PlanError::Entries { .. } | PlanError::NotEditable { .. } => codes::NOT_EDITABLE,
        PlanError::Ambiguous { .. } => codes::AMBIGUOUS_IMAGE,
        PlanError::NoSuchImage { .. } => codes::NO_SUCH_IMAGE,
        PlanError::DeadEntry { .. } => codes::DEAD_ENTRY,
        PlanError::Unseen { .. } => codes::UNSEEN_IMAGE,
        PlanError::SeveralEntries { .. } => codes::SEVERAL_ENTRIES,
        PlanError::AlsoDecides { .. }
        | PlanError::NoPattern { .. }
        | PlanError::PatternHits { .. } => codes::WIDER_EFFECT,
        PlanError::Placeholder { .. } => codes::PLACEHOLDER,
        PlanError::Tag { .. } => codes::TAG_NEEDED,
        PlanError::TagForName { .. } => codes::INVALID_DIGEST,
        PlanError::Overridden { .. } | PlanError::Unmatchable { .. } => codes::NO_EFFECT,
        PlanError::Database { .. } => codes::DATABASE_TAG,
        PlanError::NoAdd { .. } => codes::NO_ENTRY,
        PlanError::EphemeralOnly { .. } => codes::EPHEMERAL_ONLY,
        PlanError::Contradiction { .. } => codes::CONTRADICTION,
        PlanError::NoPlace { .. } | PlanError::Unplaced { .. } => codes::NO_PLACE,
        PlanError::FieldOverridden { .. } => codes::NO_EFFECT,
        PlanError::FieldUnproven { reason, .. } => match reason {
            Unproven::Breaks(_) => codes::EDIT_BREAKS_BUILD,
            Unproven::Wider(_) => codes::WIDER_EFFECT,
            Unproven::NoEffect(_) => codes::NO_EFFECT,
            Unproven::Failed(_) => codes::NO_PLACE,
        },
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let code = match &refusal {
            Refusal::NoEffect { .. } => codes::NO_EFFECT,
            Refusal::Wider { .. } => codes::WIDER_EFFECT,
            Refusal::OtherValue { .. } => codes::OTHER_VALUE,
            Refusal::Contradiction { .. } => codes::CONTRADICTION,
        };
        Self::new(code, refusal.to_string())
    }
}

/// The nearest names, by their last segments where the whole names are far apart.
fn nearest_image(key: &str, rendered: &[String]) -> Option<String> {
    let whole = hint::did_you_mean(key, rendered.iter().map(String::as_str));
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    whole.or_else(|| {
        let near = hint::nearest(
            &last(key),
            rendered.iter().map(|n| n.rsplit('/').next().unwrap_or(n)),
            3,
        );
        let full = rendered.iter().filter(|name| near.contains(&last(name).as_str()));
        let full: Vec<&str> = full.map(String::as_str).take(3).collect();
        (!full.is_empty()).then(|| format!("did you mean {}?", full.join(" or ")))
    })
}

fn statement(at: Statement) -> Location {
    line_of(at.file, at.line, 0)
}

/// A place; a line or column of 0 is not known.
fn line_of(file: String, line: u32, column: u32) -> Location {
    let number = |n: u32| usize::try_from(n).ok().filter(|n| *n > 0);
    Location { file, line: number(line), column: number(line).and(number(column)) }
}

fn with_hint(error: Error, hint: Option<String>) -> Error {
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

impl From<FieldRefusal> for Error {
    fn from(refusal: FieldRefusal) -> Self {
        let code = match &refusal {
            FieldRefusal::NoEffect { .. } => codes::NO_EFFECT,
            FieldRefusal::Wider { .. } => codes::WIDER_EFFECT,
        };
        Self::new(code, refusal.to_string())
    }
}

impl From<LeverError> for Error {
    fn from(error: LeverError) -> Self {
        let code = match error.kind {
            LeverErrorKind::NoSuchGroup => codes::NO_SUCH_GROUP,
            LeverErrorKind::NoSuchResource => codes::NO_SUCH_WORKLOAD,
            LeverErrorKind::Ambiguous => codes::AMBIGUOUS_NAME,
            LeverErrorKind::WrongKind => codes::WRONG_KIND,
            LeverErrorKind::NoSuchField => codes::FIELD_UNREACHABLE,
            LeverErrorKind::OwnedByAutoscaler => codes::OWNED_BY_AUTOSCALER,
            LeverErrorKind::HeldOff => codes::HELD_OFF,
            LeverErrorKind::Unpinned => codes::TURNS_ON_UNPINNED,
            LeverErrorKind::NotAllowed => codes::NOT_ALLOWED,
            LeverErrorKind::Malformed => codes::USAGE,
            LeverErrorKind::DrainUnknown => codes::DRAIN_UNKNOWN,
            LeverErrorKind::DrainAmbiguous => codes::DRAIN_AMBIGUOUS,
            LeverErrorKind::Shortens => codes::SHORTENS_DRAIN,
            LeverErrorKind::GraceTooShort => codes::GRACE_TOO_SHORT,
            LeverErrorKind::Contradiction => codes::CONTRADICTION,
        };
        error.hints.into_iter().fold(Self::new(code, error.message), Self::hint)
    }
}
