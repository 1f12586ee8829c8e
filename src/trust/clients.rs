//! What clients on rustls say of a chain: the rules of webpki, for servers.

use std::time::Duration;

use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};

use super::certificate::Certificate;

/// What a client on rustls would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientVerdict {
    /// Why it would refuse; `None` where it would not.
    pub refusal: Option<Refusal>,
    /// Trusted certificates that such a client cannot take up at all, by subject.
    pub unusable_anchors: Vec<String>,
}

/// Why a client would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// webpki's own word.
    pub word: String,
    /// What it means.
    pub meaning: String,
}

/// Judges `presented` (leaf first, as a server sends them) at `now`, and for `host` where one is given.
pub fn judge(
    trusted: &[Certificate],
    presented: &[Certificate],
    host: Option<&str>,
    now: i64,
) -> ClientVerdict {
    let ders = |all: &[Certificate]| -> Vec<CertificateDer<'static>> {
        all.iter().map(|certificate| CertificateDer::from(certificate.der.clone())).collect()
    };
    let (roots, chain) = (ders(trusted), ders(presented));
    let (mut anchors, mut unusable_anchors) = (Vec::new(), Vec::new());
    for (root, certificate) in roots.iter().zip(trusted) {
        match anchor_from_trusted_cert(root) {
            Ok(anchor) => anchors.push(anchor),
            Err(_) => unusable_anchors.push(certificate.subject.text.clone()),
        }
    }
    let Some((leaf, others)) = chain.split_first() else {
        return ClientVerdict { refusal: None, unusable_anchors };
    };
    let time = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(now).unwrap_or(0)));
    let judged = EndEntityCert::try_from(leaf).and_then(|leaf| {
        leaf.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            &anchors,
            others,
            time,
            KeyUsage::server_auth(),
            None,
            None,
        )?;
        match host.map(|host| ServerName::try_from(host).map_err(|_| Error::MalformedDnsIdentifier))
        {
            Some(name) => leaf.verify_is_valid_for_subject_name(&name?),
            None => Ok(()),
        }
    });
    ClientVerdict { refusal: judged.err().map(|error| Refusal::of(&error)), unusable_anchors }
}

/// Whether a client on rustls would take the leaf for that host.
///
/// # Errors
/// Why not.
pub fn is_for_host(leaf: &Certificate, host: &str) -> Result<(), Refusal> {
    let name =
        ServerName::try_from(host).map_err(|_| Refusal::of(&Error::MalformedDnsIdentifier))?;
    let der = CertificateDer::from(leaf.der.as_slice());
    let read = EndEntityCert::try_from(&der);
    read.and_then(|leaf| leaf.verify_is_valid_for_subject_name(&name))
        .map_err(|error| Refusal::of(&error))
}

impl Refusal {
    fn of(error: &Error) -> Self {
        let shown = format!("{error:?}");
        let word = shown.split(['(', ' ', '{']).next().unwrap_or_default();
        let word = word.strip_suffix("Context").unwrap_or(word).to_owned();
        Self { meaning: meaning(error).to_owned(), word }
    }
}

fn meaning(error: &Error) -> &'static str {
    match error {
        Error::UnknownIssuer => {
            "no trusted certificate has the name and the key that the chain ends with"
        }
        Error::CaUsedAsEndEntity => "the leaf is itself a certificate authority",
        Error::EndEntityUsedAsCa => {
            "a certificate of the chain signs others and is no certificate authority"
        }
        Error::CertExpired { .. } => "a certificate of the chain has expired",
        Error::CertNotValidYet { .. } => "a certificate of the chain is not valid yet",
        Error::CertNotValidForName(_) => "the leaf is not for that host",
        Error::MalformedDnsIdentifier => "the host, or one that the leaf names, is no valid name",
        Error::InvalidSignatureForPublicKey => {
            "a signature of the chain is not that of the issuer's key"
        }
        Error::RequiredEkuNotFoundContext(_) => {
            "a certificate of the chain is limited to other purposes than that of a server"
        }
        Error::EmptyEkuExtension => "a certificate of the chain names no purpose at all",
        Error::UnsupportedCertVersion => "a certificate of the chain is older than X.509 version 3",
        Error::UnsupportedCriticalExtension => {
            "a certificate has a critical extension that is not known"
        }
        Error::PathLenConstraintViolated => "more authorities are below one than it allows",
        Error::NameConstraintViolation => "a name is not among those that an authority may name",
        Error::MaximumPathDepthExceeded => {
            "more than six authorities are between leaf and trusted certificate"
        }
        Error::SignatureAlgorithmMismatch => {
            "a certificate names two different algorithms for its signature"
        }
        Error::UnsupportedSignatureAlgorithmContext(_)
        | Error::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => {
            "a signature is of a kind that rustls with ring does not know"
        }
        Error::InvalidCertValidity => "a certificate ends before it begins",
        _ => "a certificate of the chain cannot be read by its rules",
    }
}
