//! The result of `overlay verify --trust`.

mod remedy;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::verify::{VerifyForm, cell};
use super::{Report, Style, Text, escape_control};
use crate::clock::format_rfc_3339;
use crate::error::{Error, codes};
use crate::trust::chain::Link;
use crate::trust::rotation::{Reader, ReaderState};
use crate::trust::{Certificate, Finding, Judgement, KeyMatch, Severity, days_left};

/// Who reads a Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Clients: it holds the authorities.
    Authority,
    /// Servers: it holds what they present.
    Server,
}

/// Which containers read a Secret, and whether they have its present value.
#[derive(Clone, Debug)]
pub struct Reading {
    /// What it is to them.
    pub side: Side,
    /// The Secret, `NAMESPACE/NAME`.
    pub secret: String,
    /// When it changed, in seconds since 1970: at that time, or not before it.
    pub changed: i64,
    /// Whether that is when it changed, and not only a bound.
    pub is_dated: bool,
    /// The containers.
    pub containers: Vec<Reader>,
}

impl Reading {
    fn owners(&self, state: ReaderState) -> Vec<String> {
        let of_state = self.containers.iter().filter(|reader| reader.state == state);
        let mut owners: Vec<String> = of_state
            .map(|reader| reader.owner.clone().unwrap_or_else(|| format!("Pod/{}", reader.pod)))
            .collect();
        owners.sort();
        owners.dedup();
        owners
    }

    fn finding(&self) -> Option<Finding> {
        let stale = self.owners(ReaderState::Stale);
        if !stale.is_empty() {
            let when = format_rfc_3339(self.changed.try_into().unwrap_or(0));
            let message = format!(
                "{} started before {} last changed ({when}): what reads it when it starts has the old one",
                stale.join(", "),
                self.secret
            );
            return Some(Finding { id: "restart-owed", severity: Severity::Error, message });
        }
        let unknown = self.owners(ReaderState::Unknown);
        let why = match self.is_dated {
            true => "their start is not known",
            false => {
                "the Secret does not say when it was written (a dump needs `kubectl get --show-managed-fields`)"
            }
        };
        let message = format!(
            "whether {} started before {} last changed is not known: {why}",
            unknown.join(", "),
            self.secret
        );
        (!unknown.is_empty()).then_some(Finding {
            id: "restart-unknown",
            severity: Severity::Note,
            message,
        })
    }
}

/// Everything that is told.
#[derive(Clone, Debug)]
pub struct TrustReport<'c> {
    /// Where the authorities come from.
    pub ca: String,
    /// Where the chain comes from.
    pub leaf: String,
    /// The Secret of the leaf: namespace and name.
    pub leaf_secret: Option<(String, String)>,
    /// The host that clients ask for.
    pub host: Option<String>,
    /// The overlay in which restarts are made.
    pub overlay: Option<String>,
    /// Whether the key is the leaf's.
    pub key: Option<KeyMatch>,
    /// Seconds since 1970.
    pub now: i64,
    /// The authorities.
    pub authorities: &'c [Certificate],
    /// What the server presents.
    pub presented: &'c [Certificate],
    /// What was found.
    pub judgement: Judgement<'c>,
    /// Who reads the Secrets.
    pub pods: Vec<Reading>,
}

/// An end that is farther away is told by its date alone.
const SOON_DAYS: i64 = 90;

impl TrustReport<'_> {
    /// The report; the exit status is that of a check.
    pub fn into_report(self, form: Option<VerifyForm>) -> Report {
        let mut findings = self.judgement.findings.clone();
        findings.extend(self.pods.iter().filter_map(Reading::finding));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let remedy = self.remedy(&findings);
        let mut report =
            Report::unchanged("verify", self.to_json(&findings, &remedy), self.to_text(&findings));
        report.data =
            form.map(|VerifyForm::Markdown| self.to_markdown(&findings, &remedy).into_bytes());
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        report.error =
            findings.iter().find(|finding| finding.severity == Severity::Error).map(|first| {
                let more =
                    if errors > 1 { format!(" (and {} more)", errors - 1) } else { String::new() };
                let error = Error::new(codes::TRUST_BROKEN, format!("{}{more}", first.message));
                remedy.iter().fold(error, |error, step| error.hint(step.clone()))
            });
        report
    }

    fn to_json(&self, findings: &[Finding], remedy: &[String]) -> Json {
        let openssl = &self.judgement.openssl;
        let clients = &self.judgement.clients;
        let problems = openssl.problems.iter().map(|problem| {
            json!({
                "number": problem.reason.number(),
                "depth": problem.depth,
                "subject": openssl.chain.get(problem.depth).map(|link| &link.certificate.subject.text),
                "message": problem.reason.words(),
                "detail": problem.detail,
            })
        });
        let chain = openssl.chain.iter().map(|link| self.link_json(*link));
        let certificates = |all: &[Certificate]| -> Vec<Json> {
            all.iter().map(|certificate| self.certificate_json(certificate)).collect()
        };
        json!({
            "trust": {
                "ca": self.ca,
                "leaf": self.leaf,
                "host": self.host,
                "openssl": { "ok": openssl.is_ok(), "problems": problems.collect::<Vec<_>>() },
                "rustls": {
                    "ok": clients.refusal.is_none(),
                    "error": clients.refusal.as_ref().map(|refusal| &refusal.word),
                    "message": clients.refusal.as_ref().map(|refusal| &refusal.meaning),
                    "unusableAuthorities": clients.unusable_anchors,
                },
                "difference": self.judgement.difference,
                "chain": chain.collect::<Vec<_>>(),
                "presented": certificates(self.presented),
                "authorities": certificates(self.authorities),
                "key": self.key.as_ref().map(KeyMatch::word),
                "readers": self.pods.iter().map(reading_json).collect::<Vec<_>>(),
                "remedy": remedy,
            },
            "findings": findings.iter().map(|finding| json!({
                "id": finding.id,
                "severity": finding.severity.word(),
                "message": finding.message,
            })).collect::<Vec<_>>(),
        })
    }

    fn link_json(&self, link: Link<'_>) -> Json {
        let mut json = self.certificate_json(link.certificate);
        json["trusted"] = json!(link.is_trusted);
        json
    }

    fn certificate_json(&self, certificate: &Certificate) -> Json {
        let digest = Sha256::digest(&certificate.der);
        json!({
            "subject": certificate.subject.text,
            "issuer": certificate.issuer.text,
            "notBefore": time(certificate.not_before),
            "notAfter": time(certificate.not_after),
            "daysLeft": days_left(certificate, self.now),
            "sha256": digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
        })
    }

    fn to_markdown(&self, findings: &[Finding], remedy: &[String]) -> String {
        let is_well = !findings.iter().any(|finding| finding.severity == Severity::Error);
        let mark = if is_well { "✅" } else { "❌" };
        let clients = self.judgement.clients.refusal.as_ref();
        let mut lines = vec![
            format!("### {mark} Trust: {} by {}\n", cell(&self.leaf), cell(&self.ca)),
            "| client | verdict |\n|---|---|".to_owned(),
            format!(
                "| openssl | {} |",
                if self.judgement.openssl.is_ok() { "trusted" } else { "refused" }
            ),
            format!("| rustls | {} |", clients.map_or("trusted", |refusal| refusal.word.as_str())),
        ];
        if !findings.is_empty() {
            lines.push("\n| finding | severity | what |\n|---|---|---|".to_owned());
        }
        lines.extend(findings.iter().map(|finding| {
            format!("| {} | {} | {} |", finding.id, finding.severity.word(), cell(&finding.message))
        }));
        lines.extend(remedy.iter().enumerate().map(|(at, step)| {
            let gap = if at == 0 { "\n" } else { "" };
            format!("{gap}{}. {}", at + 1, escape_control(step))
        }));
        lines.join("\n") + "\n"
    }

    fn to_text(&self, findings: &[Finding]) -> Text {
        let mut text = Text::default();
        text.styled_line(Style::Heading, format!("{} by {}", self.leaf, self.ca));
        let openssl = &self.judgement.openssl;
        let says = |text: &mut Text, who: &str, refusal: Option<String>| {
            match refusal {
                None => text
                    .push(Style::Plain, format!("  {who}: "))
                    .styled_line(Style::Added, "trusted"),
                Some(why) => text
                    .push(Style::Plain, format!("  {who}: "))
                    .push(Style::Removed, "refused")
                    .line(format!(", {why}")),
            };
        };
        let problem = openssl.problems.first().map(|problem| {
            format!(
                "error {} at depth {}: {}",
                problem.reason.number(),
                problem.depth,
                problem.reason.words()
            )
        });
        says(&mut text, "openssl", problem);
        let refusal = self.judgement.clients.refusal.as_ref();
        says(
            &mut text,
            "rustls ",
            refusal.map(|refusal| format!("{}: {}", refusal.word, refusal.meaning)),
        );
        if let Some(difference) = &self.judgement.difference {
            text.line(format!("  {difference}"));
        }
        for (depth, link) in openssl.chain.iter().enumerate() {
            let certificate = link.certificate;
            let left = days_left(certificate, self.now);
            let soon = if left < SOON_DAYS { format!(" ({left} days)") } else { String::new() };
            let trusted = if link.is_trusted { ", trusted" } else { "" };
            let end = time(certificate.not_after);
            text.line(format!("  {depth} {} until {end}{soon}{trusted}", certificate.subject.text));
        }
        for finding in findings {
            let style = match finding.severity {
                Severity::Error => Style::Removed,
                Severity::Warning => Style::Warning,
                Severity::Note => Style::Faint,
            };
            text.push(style, format!("{}[{}]", finding.severity.word(), finding.id));
            text.line(format!(": {}", finding.message));
        }
        text
    }
}

fn time(seconds: i64) -> String {
    format_rfc_3339(u64::try_from(seconds).unwrap_or(0))
}

fn reading_json(reading: &Reading) -> Json {
    let containers = reading.containers.iter().map(|reader| {
        json!({
            "pod": reader.pod,
            "container": reader.container,
            "owner": reader.owner,
            "startedAt": reader.started.map(time),
            "state": reader.state.word(),
        })
    });
    json!({
        "secret": reading.secret,
        "side": match reading.side { Side::Authority => "authority", Side::Server => "server" },
        "changed": time(reading.changed),
        "changedIsKnown": reading.is_dated,
        "containers": containers.collect::<Vec<_>>(),
    })
}
