//! The verdict of `openssl verify -no-CApath -no-CAstore -CAfile ca -untrusted leaf leaf`, with its error numbers.
//!
//! Source: openssl 3.0 `apps/verify.c`, `crypto/x509/x509_vfy.c` (`build_chain`, `check_extensions`, `internal_verify`,
//! `check_name_constraints`), `crypto/x509/v3_purp.c`. One chain is built, trusted certificates first, without a second
//! try; then extensions, signatures, times and names are checked. Some errors do not stop the walk, but are remembered.

use super::certificate::{AuthorityKind, Certificate, KEY_CERT_SIGN, KeyKind};
use super::constraints;
use super::signature::{Signature, verify_signature};

/// The most certificates of a chain between the first and the last.
const DEPTH: usize = 100;

/// Why openssl refuses: its number and words are [`Reason::number`] and [`Reason::words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "the names are openssl's, without their prefix; the words say what they mean"
)]
pub enum Reason {
    Unspecified,
    UnableToGetIssuerCert,
    CertSignatureFailure,
    CertNotYetValid,
    CertHasExpired,
    DepthZeroSelfSignedCert,
    SelfSignedCertInChain,
    UnableToGetIssuerCertLocally,
    CertChainTooLong,
    PathLengthExceeded,
    KeyusageNoCertsign,
    UnhandledCriticalExtension,
    ProxyCertificatesNotAllowed,
    PermittedViolation,
    ExcludedViolation,
    UnsupportedConstraintType,
    UnsupportedNameSyntax,
    InvalidCa,
    EcKeyExplicitParams,
    /// Not openssl's: the signature, or a rule, is of a kind that this program cannot check.
    Unchecked,
}

impl Reason {
    /// openssl's number (`include/openssl/x509_vfy.h`); 0 for what is not openssl's.
    pub fn number(self) -> u32 {
        match self {
            Self::Unspecified => 1,
            Self::UnableToGetIssuerCert => 2,
            Self::CertSignatureFailure => 7,
            Self::CertNotYetValid => 9,
            Self::CertHasExpired => 10,
            Self::DepthZeroSelfSignedCert => 18,
            Self::SelfSignedCertInChain => 19,
            Self::UnableToGetIssuerCertLocally => 20,
            Self::CertChainTooLong => 22,
            Self::PathLengthExceeded => 25,
            Self::KeyusageNoCertsign => 32,
            Self::UnhandledCriticalExtension => 34,
            Self::ProxyCertificatesNotAllowed => 40,
            Self::PermittedViolation => 47,
            Self::ExcludedViolation => 48,
            Self::UnsupportedConstraintType => 51,
            Self::UnsupportedNameSyntax => 53,
            Self::InvalidCa => 79,
            Self::EcKeyExplicitParams => 94,
            Self::Unchecked => 0,
        }
    }

    /// What is wrong, as a phrase about the certificate.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unspecified => "its key or its extensions cannot be used",
            Self::UnableToGetIssuerCert => "who signed it is not among the trusted certificates",
            Self::CertSignatureFailure => "its signature is not that of the issuer's key",
            Self::CertNotYetValid => "it is not valid yet",
            Self::CertHasExpired => "it has expired",
            Self::DepthZeroSelfSignedCert => {
                "it is self-signed and not itself among the trusted ones"
            }
            Self::SelfSignedCertInChain => {
                "the chain ends in a self-signed certificate that is not trusted"
            }
            Self::UnableToGetIssuerCertLocally => {
                "who signed it is neither in the CA file nor in the chain"
            }
            Self::CertChainTooLong => "the chain does not end",
            Self::PathLengthExceeded => "more authorities are below it than it allows",
            Self::KeyusageNoCertsign => "its key usage does not let it sign certificates",
            Self::UnhandledCriticalExtension => "it has a critical extension that is not known",
            Self::ProxyCertificatesNotAllowed => "it is a proxy certificate",
            Self::PermittedViolation => "a name of it is not among those its authorities may name",
            Self::ExcludedViolation => "a name of it is among those its authorities may not name",
            Self::UnsupportedConstraintType => {
                "its authorities limit a kind of name that is not compared"
            }
            Self::UnsupportedNameSyntax => {
                "a name of it cannot be compared with what its authorities may name"
            }
            Self::InvalidCa => "it is no certificate authority",
            Self::EcKeyExplicitParams => "its key spells its curve out",
            Self::Unchecked => "it cannot be judged here",
        }
    }

    /// Whether `openssl verify` goes on after it (`cb` of `apps/verify.c`).
    fn lets_go_on(self) -> bool {
        matches!(
            self,
            Self::CertHasExpired
                | Self::DepthZeroSelfSignedCert
                | Self::InvalidCa
                | Self::PathLengthExceeded
                | Self::UnhandledCriticalExtension
        )
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub reason: Reason,
    /// With which certificate of the chain: 0 is the leaf.
    pub depth: usize,
    /// What is known beside, such as the algorithm that cannot be checked.
    pub detail: Option<String>,
}

/// What openssl says.
#[derive(Clone, Debug)]
pub struct Verdict<'c> {
    /// The chain as far as it was built, leaf first.
    pub chain: Vec<Link<'c>>,
    /// What is wrong, in the order it is found.
    pub problems: Vec<Problem>,
}

/// A certificate of the chain.
#[derive(Clone, Copy, Debug)]
pub struct Link<'c> {
    /// Which.
    pub certificate: &'c Certificate,
    /// Whether it comes from the trusted ones.
    pub is_trusted: bool,
}

impl Verdict<'_> {
    /// Whether the chain is accepted.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Judges the first of `presented`, with all of them as intermediates, by `trusted` at `now` (seconds since 1970).
pub fn judge<'c>(
    trusted: &'c [Certificate],
    presented: &'c [Certificate],
    now: i64,
) -> Verdict<'c> {
    let Some(leaf) = presented.first() else {
        return Verdict { chain: Vec::new(), problems: Vec::new() };
    };
    let chain = vec![Link { certificate: leaf, is_trusted: false }];
    let mut walk = Walk { trusted, now, verdict: Verdict { chain, problems: Vec::new() } };
    // Each stage ends the walk where it meets an error that openssl does not go on after.
    let _ = walk
        .build(presented)
        .and_then(|()| walk.check_extensions())
        .and_then(|()| walk.check_signatures_and_times())
        .and_then(|()| walk.check_names());
    walk.verdict
}

struct Stop;

struct Walk<'c> {
    trusted: &'c [Certificate],
    now: i64,
    verdict: Verdict<'c>,
}

impl<'c> Walk<'c> {
    fn fail(&mut self, reason: Reason, depth: usize) -> Result<(), Stop> {
        self.fail_with(reason, depth, None)
    }

    fn fail_with(
        &mut self,
        reason: Reason,
        depth: usize,
        detail: Option<String>,
    ) -> Result<(), Stop> {
        self.verdict.problems.push(Problem { reason, depth, detail });
        if reason.lets_go_on() { Ok(()) } else { Err(Stop) }
    }

    fn last(&self) -> &'c Certificate {
        let chain = &self.verdict.chain;
        chain[chain.len() - 1].certificate
    }

    /// Trusted issuers first, then those that came along; once a trusted one was taken, only trusted ones.
    fn build(&mut self, presented: &'c [Certificate]) -> Result<(), Stop> {
        let mut untrusted: Vec<&'c Certificate> = presented.iter().collect();
        let mut tries_untrusted = true;
        loop {
            let current = self.last();
            let is_too_long = self.verdict.chain.len() > DEPTH + 1;
            let issuer =
                if is_too_long { None } else { best_issuer(self.trusted, current, self.now) };
            if issuer.is_some_and(|issuer| self.add_trusted(current, issuer)) {
                tries_untrusted = false;
                match self.last().is_self_signed() {
                    true if self.last().extensions.defect.is_none() => return Ok(()),
                    true => break,
                    false => continue,
                }
            }
            if !tries_untrusted {
                break;
            }
            let is_end = current.is_self_signed() || is_too_long;
            match (!is_end).then(|| self.next_untrusted(&untrusted, current)).flatten() {
                Some(issuer) => {
                    untrusted.retain(|other| !std::ptr::eq(*other, issuer));
                    self.verdict.chain.push(Link { certificate: issuer, is_trusted: false });
                }
                None => tries_untrusted = false,
            }
        }
        self.fail_unended()
    }

    /// Adds an issuer from the trusted ones. A self-signed certificate is its own issuer, and counts only where it is
    /// the trusted one byte for byte.
    fn add_trusted(&mut self, current: &Certificate, issuer: &'c Certificate) -> bool {
        let link = Link { certificate: issuer, is_trusted: true };
        if !current.is_self_signed() {
            self.verdict.chain.push(link);
            return true;
        }
        let is_same = current.der == issuer.der;
        if is_same {
            self.verdict.chain.pop();
            self.verdict.chain.push(link);
        }
        is_same
    }

    fn next_untrusted(
        &self,
        untrusted: &[&'c Certificate],
        current: &Certificate,
    ) -> Option<&'c Certificate> {
        let chain = &self.verdict.chain;
        let may_repeat = chain.len() == 1 && current.is_self_issued();
        let is_new = |candidate: &Certificate| {
            may_repeat || chain.iter().all(|link| link.certificate.der != candidate.der)
        };
        let fitting = untrusted.iter().copied();
        best(
            fitting.filter(|candidate| is_new(candidate) && candidate.likely_issued(current)),
            self.now,
        )
    }

    fn fail_unended(&mut self) -> Result<(), Stop> {
        let depth = self.verdict.chain.len() - 1;
        let has_trusted = self.verdict.chain.iter().any(|link| link.is_trusted);
        let reason = match depth {
            _ if depth > DEPTH => Reason::CertChainTooLong,
            0 if self.last().is_self_signed() => Reason::DepthZeroSelfSignedCert,
            _ if self.last().is_self_signed() => Reason::SelfSignedCertInChain,
            _ if has_trusted => Reason::UnableToGetIssuerCert,
            _ => Reason::UnableToGetIssuerCertLocally,
        };
        let detail = self.last().extensions.defect.clone();
        self.fail_with(reason, depth, detail)
    }

    fn check_extensions(&mut self) -> Result<(), Stop> {
        let links = self.verdict.chain.clone();
        let mut authorities_below = 0;
        for (depth, link) in links.iter().enumerate() {
            let (certificate, is_last) = (link.certificate, depth + 1 == links.len());
            let extensions = &certificate.extensions;
            if let Some(id) = &extensions.unknown_critical {
                self.fail_with(Reason::UnhandledCriticalExtension, depth, Some(id.clone()))?;
            }
            if extensions.is_proxy {
                self.fail(Reason::ProxyCertificatesNotAllowed, depth)?;
            }
            let may_vouch = match certificate.authority_kind() {
                AuthorityKind::Full => true,
                AuthorityKind::OnlyAtTheTop => is_last,
                AuthorityKind::None => false,
            };
            if depth > 0 && !may_vouch {
                self.fail(Reason::InvalidCa, depth)?;
            }
            if links.len() > 1 {
                self.check_key(certificate, depth)?;
            }
            let allowed = extensions.basic.and_then(|basic| basic.path_length);
            if depth > 1 && allowed.is_some_and(|allowed| authorities_below > allowed) {
                self.fail(Reason::PathLengthExceeded, depth)?;
            }
            if depth > 0 && !certificate.is_self_issued() {
                authorities_below += 1;
            }
        }
        Ok(())
    }

    fn check_key(&mut self, certificate: &Certificate, depth: usize) -> Result<(), Stop> {
        match &certificate.key {
            KeyKind::Other(algorithm) if !is_known_to_openssl(algorithm) => {
                self.fail_with(Reason::Unspecified, depth, Some(format!("key of kind {algorithm}")))
            }
            KeyKind::Ec { curve: None } => self.fail(Reason::EcKeyExplicitParams, depth),
            _ => Ok(()),
        }
    }

    /// From the root down, as openssl does it; the root's own signature is not checked.
    fn check_signatures_and_times(&mut self) -> Result<(), Stop> {
        let links = self.verdict.chain.clone();
        for depth in (0..links.len()).rev() {
            let certificate = links[depth].certificate;
            if let Some(issuer) = links.get(depth + 1) {
                self.check_signature(certificate, issuer.certificate, depth)?;
            }
            if certificate.not_before > self.now {
                self.fail(Reason::CertNotYetValid, depth)?;
            }
            if certificate.not_after <= self.now {
                self.fail(Reason::CertHasExpired, depth)?;
            }
        }
        Ok(())
    }

    fn check_signature(
        &mut self,
        certificate: &Certificate,
        issuer: &Certificate,
        depth: usize,
    ) -> Result<(), Stop> {
        if issuer.extensions.key_usage.is_some_and(|bits| bits & KEY_CERT_SIGN == 0) {
            self.fail(Reason::KeyusageNoCertsign, depth + 1)?;
        }
        match verify_signature(certificate, issuer) {
            Signature::Good => Ok(()),
            Signature::Bad => self.fail(Reason::CertSignatureFailure, depth),
            Signature::Unchecked(what) => self.fail_with(Reason::Unchecked, depth, Some(what)),
        }
    }

    fn check_names(&mut self) -> Result<(), Stop> {
        let links = self.verdict.chain.clone();
        for depth in (0..links.len()).rev() {
            let certificate = links[depth].certificate;
            if certificate.extensions.has_resources && links.len() > 1 {
                let what = "its addresses and autonomous systems (RFC 3779) are not checked";
                self.fail_with(Reason::Unchecked, depth, Some(what.to_owned()))?;
            }
            if depth > 0 && certificate.is_self_issued() {
                continue;
            }
            for above in links[depth + 1..].iter().rev() {
                let Some(limits) = &above.certificate.extensions.constraints else { continue };
                if let Err(reason) = constraints::check(certificate, depth == 0, limits) {
                    self.fail(reason, depth)?;
                }
            }
        }
        Ok(())
    }
}

/// Kinds of key that openssl reads beside those with a kind of their own here: X25519, X448, Diffie-Hellman, SM2.
fn is_known_to_openssl(algorithm: &str) -> bool {
    matches!(
        algorithm,
        "1.3.101.110" | "1.3.101.111" | "1.2.840.10046.2.1" | "1.2.840.113549.1.3.1"
    )
}

fn best_issuer<'c>(
    among: &'c [Certificate],
    child: &Certificate,
    now: i64,
) -> Option<&'c Certificate> {
    best(among.iter().filter(|candidate| candidate.likely_issued(child)), now)
}

/// The first that is valid now, else the one that ends last.
fn best<'c>(fitting: impl Iterator<Item = &'c Certificate>, now: i64) -> Option<&'c Certificate> {
    let mut last: Option<&Certificate> = None;
    for candidate in fitting {
        if candidate.not_before <= now && now < candidate.not_after {
            return Some(candidate);
        }
        if last.is_none_or(|last| candidate.not_after > last.not_after) {
            last = Some(candidate);
        }
    }
    last
}
