//! `overlay pin --verify` and `--refresh --check`: does each digest exist, and does each tag still stand for it?

use serde_json::json;

use super::Context;
use super::change::{find_uses, read_entries};
use super::digests::{Digests, parse_reference};
use super::overlay::LoadedOverlay;
use super::preflight::Editable;
use crate::discover::DiskFiles;
use crate::error::{Code, Error, codes};
use crate::image::{Digest, Reference, Split};
use crate::kustomize::{ImageUse, shown_name};
use crate::registry::{Proof, RegistryError, Resolved, Wanted};
use crate::report::change::resource_to_json;
use crate::report::{Report, Style, Text};

/// What is asked about every pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether the registry has the digest.
    Exists,
    /// Whether the tag beside the digest stands for it.
    Current,
}

/// A place with a pin, and what is asked about it.
struct Asked<'a> {
    place: &'a ImageUse,
    reference: Reference,
    digest: Digest,
}

/// What the registry says of a pin that is not as it was.
enum Finding {
    Gone,
    Moved(Digest),
}

/// Asks the registries about every pin of the overlays.
///
/// # Errors
/// Where an overlay cannot be rendered or a registry asked; what was found is no such error but the `error` of the report.
pub(crate) fn check(
    context: &Context,
    files: &DiskFiles,
    editable: &[Editable],
    flags: &[String],
    question: Question,
) -> Result<Report, Error> {
    let digests = context.digests();
    let digests =
        digests.ok_or_else(|| Error::new(codes::INTERNAL, "nobody to ask for digests"))?;
    let loaded = context.for_each_of(editable, |overlay| {
        let overlay = LoadedOverlay::load(files, overlay, context)?;
        let uses = find_uses(&overlay, &read_entries(&overlay)?, flags)?;
        Ok((overlay, uses))
    })?;
    let mut asked = Vec::new();
    for (_, uses) in &loaded {
        asked.push(pins_of(uses, question)?);
    }
    let wanted: Vec<Wanted> = asked.iter().flatten().map(Asked::wanted).collect();
    let mut answers = digests.resolve(context, &wanted).into_iter();
    let (mut overlays, mut text, mut found) = (Vec::new(), Text::default(), 0);
    for ((overlay, _), asked) in loaded.iter().zip(&asked) {
        let mut findings = Vec::new();
        for one in asked {
            let finding = answers.next().map(|answer| one.judge(answer)).transpose()?.flatten();
            findings.extend(finding.map(|finding| (one, finding)));
        }
        found += findings.len();
        describe(overlay, &findings, asked.len(), question, &mut text);
        overlays.push(json!({
            "path": overlay.path,
            "status": question.status(findings.is_empty()),
            "unknown": overlay.unknown,
            "checked": asked.len(),
            "findings": findings.iter().map(|(one, finding)| one.to_json(finding)).collect::<Vec<_>>(),
        }));
    }
    let mut report = Report::unchanged("pin", json!({ "overlays": overlays }), text);
    report.error = (found > 0).then(|| question.verdict(found));
    Ok(report)
}

/// The pins to ask about. One without a tag has nothing that could have moved.
fn pins_of(uses: &[ImageUse], question: Question) -> Result<Vec<Asked<'_>>, Error> {
    let mut asked = Vec::new();
    for place in uses {
        let rendered = Split::parse(&place.reference);
        let Ok(digest) = Digest::parse(rendered.digest) else { continue };
        let reference = match question {
            Question::Exists => parse_reference(&format!("{}@{digest}", rendered.name))?,
            Question::Current if rendered.tag.is_empty() => continue,
            Question::Current => parse_reference(&format!("{}:{}", rendered.name, rendered.tag))?,
        };
        asked.push(Asked { place, reference, digest });
    }
    Ok(asked)
}

impl Asked<'_> {
    fn wanted(&self) -> Wanted {
        Wanted { reference: self.reference.clone(), proof: Proof::Claim }
    }

    fn judge(&self, answer: Result<Resolved, RegistryError>) -> Result<Option<Finding>, Error> {
        match answer {
            Ok(resolved) if resolved.digest == self.digest => Ok(None),
            Ok(resolved) => Ok(Some(Finding::Moved(resolved.digest))),
            Err(RegistryError::NotFound { .. }) => Ok(Some(Finding::Gone)),
            Err(error) => Err(error.into()),
        }
    }

    fn to_json(&self, finding: &Finding) -> serde_json::Value {
        let (state, now) = match finding {
            Finding::Gone => ("gone", None),
            Finding::Moved(now) => ("moved", Some(now.as_str())),
        };
        json!({
            "reference": &*self.place.reference,
            "state": state,
            "digest": now,
            "resource": resource_to_json(&self.place.resource),
            "path": self.place.path.to_string(),
        })
    }
}

impl Question {
    fn status(self, is_good: bool) -> &'static str {
        match (self, is_good) {
            (Self::Exists, true) => "verified",
            (Self::Exists, false) => "gone",
            (Self::Current, true) => "current",
            (Self::Current, false) => "moved",
        }
    }

    fn verdict(self, found: usize) -> Error {
        let (code, one, many): (Code, _, _) = match self {
            Self::Exists => {
                (codes::DIGESTS_GONE, "is not in its registry", "are not in their registries")
            }
            Self::Current => (
                codes::TAGS_MOVED,
                "stands for another image now, or for none",
                "stand for other images now, or for none",
            ),
        };
        let what = if self == Self::Exists { "digest" } else { "tag" };
        Error::new(
            code,
            match found {
                1 => format!("1 {what} {one}"),
                found => format!("{found} {what}s {many}"),
            },
        )
    }
}

fn describe(
    overlay: &LoadedOverlay<'_>,
    findings: &[(&Asked<'_>, Finding)],
    all: usize,
    question: Question,
    text: &mut Text,
) {
    let what = if question == Question::Exists { "digests are gone" } else { "tags have moved" };
    text.push(Style::Heading, overlay.path.clone());
    text.line(format!(": {} of {all} {what}", findings.len()));
    for (one, finding) in findings {
        let place = one.place;
        let now = match finding {
            Finding::Gone => "gone".to_owned(),
            Finding::Moved(now) => format!("now {now}"),
        };
        let user = shown_name(&place.resource);
        text.line(format!("  {user} {}: {} ({now})", place.path, place.reference));
    }
    for reference in &overlay.unknown {
        text.styled_line(Style::Warning, format!("  not seen: {reference}"));
    }
}

/// What a registry says of an image that is rendered.
pub(crate) fn ask_about(
    context: &Context,
    digests: &Digests,
    references: &[String],
) -> Vec<crate::report::look::InRegistry> {
    use crate::report::look::InRegistry;
    let asked: Vec<Option<Reference>> = references.iter().map(|text| by_tag(text)).collect();
    let wanted =
        |reference: &Reference| Wanted { reference: reference.clone(), proof: Proof::Claim };
    let all: Vec<Wanted> = asked.iter().flatten().map(wanted).collect();
    let mut answers = digests.resolve(context, &all).into_iter();
    let judge = |(text, reference): (&String, &Option<Reference>)| {
        let Some(answer) = reference.as_ref().and_then(|_| answers.next()) else {
            return InRegistry::Unknown("no image that a registry can be asked for".to_owned());
        };
        let pinned = Digest::parse(Split::parse(text).digest).ok();
        match (answer, pinned) {
            (Err(RegistryError::NotFound { .. }), _) => InRegistry::Gone,
            (Err(error), _) => InRegistry::Unknown(error.to_string()),
            (Ok(now), None) => InRegistry::Unpinned(now.digest.to_string()),
            (Ok(now), Some(pinned)) if now.digest == pinned => InRegistry::Current,
            (Ok(now), Some(_)) => InRegistry::Moved(now.digest.to_string()),
        }
    };
    references.iter().zip(&asked).map(judge).collect()
}

/// A reference by its tag, or where it has none beside a digest, by that.
fn by_tag(text: &str) -> Option<Reference> {
    let Split { name, tag, digest } = Split::parse(text);
    let text = match (tag.is_empty(), digest.is_empty()) {
        (false, _) => format!("{name}:{tag}"),
        (true, false) => format!("{name}@{digest}"),
        (true, true) => name.to_owned(),
    };
    Reference::parse(&text).ok()
}
