//! Both verdicts together, why they differ, and what neither of them says.

use super::certificate::{
    ANY_PURPOSE, AuthorityKind, Certificate, GeneralName, KeyKind, SERVER_AUTH,
};
use super::chain::{self, Problem, Reason, Verdict};
use super::clients::{self, ClientVerdict};
use super::keys::KeyMatch;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'c> {
    /// The certificates that clients trust.
    pub trusted: &'c [Certificate],
    /// What the server presents, the leaf first.
    pub presented: &'c [Certificate],
    /// The host that clients ask for.
    pub host: Option<&'c str>,
    /// Seconds since 1970.
    pub now: i64,
    /// How many days must be left of every certificate of the chain.
    pub days: Days,
    /// What is known of the key.
    pub key: Option<&'c KeyMatch>,
}

/// How many days must be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Days {
    /// Fewer are an error.
    AtLeast(u32),
    /// Fewer are worth a warning.
    Preferably(u32),
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Judgement<'c> {
    /// openssl's verdict.
    pub openssl: Verdict<'c>,
    /// That of clients on rustls.
    pub clients: ClientVerdict,
    /// Why the two differ, where they do.
    pub difference: Option<String>,
    /// All that is worth saying, worst first.
    pub findings: Vec<Finding>,
}

/// One thing worth saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its id, of words.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Some clients, or later.
    Warning,
    /// Trust is broken, or what was asked for does not hold.
    Error,
}

impl Severity {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Finding {
    pub(super) fn error(id: &'static str, message: impl Into<String>) -> Self {
        Self { id, severity: Severity::Error, message: message.into() }
    }

    pub(super) fn warning(id: &'static str, message: impl Into<String>) -> Self {
        Self { id, severity: Severity::Warning, message: message.into() }
    }

    pub(super) fn note(id: &'static str, message: impl Into<String>) -> Self {
        Self { id, severity: Severity::Note, message: message.into() }
    }
}

/// Judges.
pub fn judge<'c>(question: &Question<'c>) -> Judgement<'c> {
    let Question { trusted, presented, host, now, .. } = *question;
    let openssl = chain::judge(trusted, presented, now);
    let clients = clients::judge(trusted, presented, host, now);
    let difference = difference(&openssl, &clients, now);
    let mut findings = Vec::new();
    findings.extend(refusal(&openssl, trusted));
    findings.extend(refusal_of_clients(&openssl, &clients));
    if let Some(leaf) = presented.first() {
        let order = order(presented);
        // Where the leaf is not the first, its names and its key were not looked at.
        let is_leaf = !order.iter().any(|finding| finding.id == "leaf-not-first");
        findings.extend(order);
        if is_leaf {
            findings.extend(names(leaf, host));
            findings.extend(is_authority(presented));
            findings.extend(question.key.and_then(KeyMatch::finding));
        }
    }
    let links: Vec<&Certificate> = openssl.chain.iter().map(|link| link.certificate).collect();
    findings.extend(links.iter().filter_map(|link| expiry(link, question)));
    findings.extend(purposes(&openssl));
    findings.extend(algorithms(&openssl));
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    Judgement { openssl, clients, difference, findings }
}

/// Whole days until a certificate ends; negative where it has ended.
pub fn days_left(certificate: &Certificate, now: i64) -> i64 {
    (certificate.not_after - now).div_euclid(DAY)
}

fn refusal(openssl: &Verdict<'_>, trusted: &[Certificate]) -> Option<Finding> {
    let problem = openssl.problems.first()?;
    let subject = openssl.chain.get(problem.depth).map(|link| &link.certificate.subject.text);
    let subject = subject.map_or("the chain", String::as_str);
    let detail = problem.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let words = problem.reason.words();
    if problem.reason == Reason::Unchecked {
        return Some(Finding::error("chain-unchecked", format!("{subject}: {words}{detail}")));
    }
    let replaced = replaced_authority(openssl, trusted)
        .map(|name| {
            format!("; {name} is there with another key: it was replaced after this was issued")
        })
        .unwrap_or_default();
    Some(Finding::error("chain-refused", format!("{subject}: {words}{detail}{replaced}")))
}

/// A trusted certificate with the name of the issuer that is missed.
fn replaced_authority<'t>(openssl: &Verdict<'_>, trusted: &'t [Certificate]) -> Option<&'t str> {
    let problem = openssl.problems.first()?;
    let is_about_issuer = matches!(
        problem.reason,
        Reason::UnableToGetIssuerCert
            | Reason::UnableToGetIssuerCertLocally
            | Reason::CertSignatureFailure
            | Reason::SelfSignedCertInChain
    );
    let child = openssl.chain.get(problem.depth)?.certificate;
    let same_name = |other: &&Certificate| other.subject.canonical == child.issuer.canonical;
    let found = trusted.iter().find(same_name)?;
    (is_about_issuer && found.der != child.der).then_some(found.subject.text.as_str())
}

fn refusal_of_clients(openssl: &Verdict<'_>, clients: &ClientVerdict) -> Option<Finding> {
    // A host that does not fit is a finding of its own.
    let refusal =
        clients.refusal.as_ref().filter(|refusal| refusal.word != "CertNotValidForName")?;
    let message = format!("clients on rustls refuse ({}): {}", refusal.word, refusal.meaning);
    openssl.is_ok().then(|| Finding::warning("clients-refuse", message))
}

/// Why one side takes what the other refuses.
fn difference(openssl: &Verdict<'_>, clients: &ClientVerdict, now: i64) -> Option<String> {
    match (openssl.problems.first(), &clients.refusal) {
        (None, Some(refusal)) => {
            Some(format!("openssl takes what clients on rustls refuse: {}", refusal.meaning))
        }
        (Some(problem), None) => Some(format!(
            "clients on rustls take what openssl refuses: {}",
            leniency(openssl, problem, now)
        )),
        _ => None,
    }
}

/// Which rule of openssl a client on rustls does not have.
fn leniency(openssl: &Verdict<'_>, problem: &Problem, now: i64) -> &'static str {
    let link = openssl.chain.get(problem.depth);
    let is_anchor = link.is_some_and(|link| link.is_trusted);
    let ends_now = link.is_some_and(|link| link.certificate.not_after == now);
    match problem.reason {
        Reason::CertHasExpired if ends_now && !is_anchor => {
            "for them a certificate is valid in the very second in which it ends"
        }
        Reason::CertHasExpired | Reason::CertNotYetValid if is_anchor => {
            "they do not look at the dates of a trusted certificate"
        }
        Reason::InvalidCa | Reason::KeyusageNoCertsign if is_anchor => {
            "they take a trusted certificate as it is, whatever it says of itself"
        }
        Reason::InvalidCa | Reason::KeyusageNoCertsign => {
            "they do not look at the key usage of an authority"
        }
        Reason::PathLengthExceeded => {
            "they do not look at the path length of a trusted certificate"
        }
        Reason::UnableToGetIssuerCert | Reason::UnableToGetIssuerCertLocally => {
            "for them any trusted certificate ends a chain, self-signed or not"
        }
        _ => "they do not have that rule",
    }
}

fn names(leaf: &Certificate, host: Option<&str>) -> Option<Finding> {
    let is_host = |name: &&GeneralName| matches!(name, GeneralName::Dns(_) | GeneralName::Ip(_));
    let named: Vec<String> = leaf.extensions.names.iter().filter(is_host).map(shown).collect();
    if let Some(host) = host {
        let refusal = clients::is_for_host(leaf, host).err()?;
        let named = if named.is_empty() { "no host".to_owned() } else { named.join(", ") };
        let message = format!("the leaf is for {named}, not for {host} ({})", refusal.word);
        return Some(Finding::error("host-mismatch", message));
    }
    let message = "the leaf names no host in its subjectAltName, which clients demand since the common name counts no more";
    named.is_empty().then(|| Finding::warning("no-host-names", message))
}

/// A host or an address as people write it.
fn shown(name: &GeneralName) -> String {
    match name {
        GeneralName::Dns(host) => host.clone(),
        GeneralName::Ip(bytes) => {
            match (<[u8; 4]>::try_from(&bytes[..]), <[u8; 16]>::try_from(&bytes[..])) {
                (Ok(four), _) => std::net::Ipv4Addr::from(four).to_string(),
                (_, Ok(sixteen)) => std::net::Ipv6Addr::from(sixteen).to_string(),
                _ => "an address of an odd length".to_owned(),
            }
        }
        other => format!("{other:?}"),
    }
}

/// Whether the issuer that `child` names is `parent`.
fn is_below(child: &Certificate, parent: &Certificate) -> bool {
    child.issuer.canonical == parent.subject.canonical
}

/// A leaf behind the first that is below it, be there others between them; and whether the first is its issuer.
fn later_leaf(presented: &[Certificate]) -> Option<(&Certificate, bool)> {
    let (first, others) = presented.split_first()?;
    let is_leaf = |other: &&Certificate| other.authority_kind() == AuthorityKind::None;
    // Each step leads to a certificate of the file: a chain of more steps than those goes round.
    let reaches_first = |leaf: &Certificate| {
        let issuer = |child: &&Certificate| {
            let child = *child;
            others.iter().find(|other| !std::ptr::eq(*other, child) && is_below(child, other))
        };
        let mut chain = std::iter::successors(Some(leaf), issuer).take(presented.len());
        chain.any(|child| is_below(child, first))
    };
    let leaf = others.iter().filter(is_leaf).find(|leaf| reaches_first(leaf))?;
    Some((leaf, is_below(leaf, first)))
}

fn order(presented: &[Certificate]) -> Vec<Finding> {
    let first = &presented[0].subject.text;
    if let Some((leaf, is_direct)) = later_leaf(presented) {
        let how = if is_direct { "which it issued" } else { "which is below it" };
        let message = format!(
            "{first} stands before {}, {how}: only the first of the file is presented as the leaf, and judged",
            leaf.subject.text
        );
        return vec![Finding::error("leaf-not-first", message)];
    }
    let mut found = Vec::new();
    let disordered = presented.windows(2).find(|pair| !is_below(&pair[0], &pair[1]));
    if let Some([before, after]) = disordered {
        let message = format!(
            "{} follows {}, which it did not issue; TLS wants each certificate to be followed by its issuer",
            after.subject.text, before.subject.text
        );
        found.push(Finding::warning("chain-order", message));
    }
    let root = presented[1..].iter().find(|other| other.is_self_signed());
    found.extend(root.map(|root| {
        let message = format!("{} is self-signed and need not be sent", root.subject.text);
        Finding::note("root-sent", message)
    }));
    found
}

fn is_authority(presented: &[Certificate]) -> Option<Finding> {
    let leaf = &presented[0];
    let message = format!("{} is a certificate authority and serves as a leaf", leaf.subject.text);
    let is_authority = leaf.extensions.basic.is_some_and(|basic| basic.is_authority);
    is_authority.then(|| Finding::warning("leaf-is-authority", message))
}

/// Ended ones are openssl's matter.
fn expiry(certificate: &Certificate, question: &Question<'_>) -> Option<Finding> {
    let (limit, is_asked) = match question.days {
        Days::AtLeast(days) => (days, true),
        Days::Preferably(days) => (days, false),
    };
    let left = days_left(certificate, question.now);
    if left < 0 || left >= i64::from(limit) || certificate.not_after <= question.now {
        return None;
    }
    let s = if left == 1 { "" } else { "s" };
    let message = format!("{} ends in {left} day{s}, fewer than {limit}", certificate.subject.text);
    let make = if is_asked { Finding::error } else { Finding::warning };
    Some(make("expires-soon", message))
}

fn purposes(openssl: &Verdict<'_>) -> Option<Finding> {
    let is_limited = |certificate: &Certificate| {
        let purposes = certificate.extensions.purposes.as_ref();
        purposes.is_some_and(|all| !all.iter().any(|id| id == SERVER_AUTH || id == ANY_PURPOSE))
    };
    let untrusted = openssl.chain.iter().filter(|link| !link.is_trusted);
    let limited =
        untrusted.map(|link| link.certificate).find(|certificate| is_limited(certificate))?;
    let message = format!("{} is limited to other purposes than serverAuth", limited.subject.text);
    Some(Finding::warning("purpose-missing", message))
}

fn algorithms(openssl: &Verdict<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for link in &openssl.chain {
        let certificate = link.certificate;
        let name = &certificate.subject.text;
        let is_old = matches!(
            certificate.signed_with.as_str(),
            "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" | "1.2.840.10045.4.1" | "1.2.840.113549.1.1.4"
        );
        // The signature of a trusted certificate on itself protects nothing.
        if is_old && !link.is_trusted {
            let message =
                format!("{name} is signed with SHA-1 or MD5, which modern clients refuse");
            found.push(Finding::warning("weak-algorithm", message));
        }
        if let KeyKind::Rsa { bits: bits @ ..2048 } = certificate.key {
            let message =
                format!("{name} has an RSA key of {bits} bits, which modern clients refuse");
            found.push(Finding::warning("weak-algorithm", message));
        }
    }
    found
}
