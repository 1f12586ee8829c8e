//! One certificate: what the checks of both sides ask of it.

use x509_parser::der_parser::asn1_rs::Tag;
use x509_parser::extensions::{GeneralName as Parsed, NameConstraints, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate, X509Extension};
use x509_parser::x509::SubjectPublicKeyInfo;

use super::name::Name;

/// Extensions that openssl knows, so that it goes on where they are critical (`crypto/x509/v3_purp.c`,
/// `X509_supported_extension`).
const KNOWN_CRITICAL: [&str; 15] = [
    "2.16.840.1.113730.1.1",
    "2.5.29.15",
    "2.5.29.17",
    "2.5.29.19",
    "2.5.29.32",
    "2.5.29.31",
    "2.5.29.37",
    "1.3.6.1.5.5.7.1.7",
    "1.3.6.1.5.5.7.1.8",
    "1.3.6.1.5.5.7.48.1.5",
    "2.5.29.36",
    "1.3.6.1.5.5.7.1.14",
    "2.5.29.30",
    "2.5.29.33",
    "2.5.29.54",
];
/// The extension of proxy certificates (RFC 3820).
const PROXY: &str = "1.3.6.1.5.5.7.1.14";
/// The extensions of addresses and autonomous systems (RFC 3779), whose rules are not checked here.
const RESOURCES: [&str; 2] = ["1.3.6.1.5.5.7.1.7", "1.3.6.1.5.5.7.1.8"];

/// What a certificate is read into.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// All of it.
    pub der: Vec<u8>,
    /// Whom it is about.
    pub subject: Name,
    /// Who signed it.
    pub issuer: Name,
    /// Its serial number, as encoded.
    pub serial: Vec<u8>,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
    /// When it ends: at this second it is valid no more.
    pub not_after: i64,
    /// 1, 2 or 3.
    pub version: u32,
    /// What kind of key it is about.
    pub key: KeyKind,
    /// The key as `SubjectPublicKeyInfo`.
    pub spki: Vec<u8>,
    /// The algorithm it is signed with, as an object identifier.
    pub signed_with: String,
    /// Whether it says the same of that in both places.
    pub is_consistent: bool,
    /// What its extensions say.
    pub extensions: Extensions,
}

/// What the extensions say that decide.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// The name of its own key.
    pub subject_key: Option<Vec<u8>>,
    /// What it says of its issuer's key and certificate.
    pub authority: Option<Authority>,
    /// Whether it is an authority, where that is said.
    pub basic: Option<Basic>,
    /// What its key may do, where that is said: bits as in RFC 5280, section 4.2.1.3.
    pub key_usage: Option<u16>,
    /// The purposes it is limited to, where there are any, as object identifiers.
    pub purposes: Option<Vec<String>>,
    /// Whether the old extension of Netscape makes it an authority.
    pub is_netscape_authority: bool,
    /// The names it is for.
    pub names: Vec<GeneralName>,
    /// What it says names below it must be like.
    pub constraints: Option<Constraints>,
    /// A critical extension that nobody knows.
    pub unknown_critical: Option<String>,
    /// Whether it is a proxy certificate.
    pub is_proxy: bool,
    /// Whether it has addresses or autonomous systems, whose rules are not checked here.
    pub has_resources: bool,
    /// What makes it unusable: an extension twice, or one that cannot be read.
    pub defect: Option<String>,
}

/// The authority key identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// The key's name.
    pub key: Option<Vec<u8>>,
    /// The certificate's serial number, as encoded.
    pub serial: Option<Vec<u8>>,
    /// The certificate's issuer: the first directory name.
    pub issuer: Option<Name>,
}

/// The basic constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basic {
    /// Whether it may sign certificates.
    pub is_authority: bool,
    /// How many authorities may be between it and what it vouches for.
    pub path_length: Option<u32>,
}

/// The name constraints.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Names of a kind that is in here must match one of it.
    pub permitted: Vec<GeneralName>,
    /// Names may match none of these.
    pub excluded: Vec<GeneralName>,
}

/// A name of a subject, or a pattern of a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneralName {
    /// A host.
    Dns(String),
    /// An e-mail address.
    Email(String),
    /// An address of a resource.
    Uri(String),
    /// An IP address, or in a constraint one with its mask.
    Ip(Vec<u8>),
    /// A name as subjects have.
    Directory(Name),
    /// Of a kind that is not compared; the kind's number, with the object identifier where it has one.
    Other(String),
}

/// The kinds of key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// RSA, with its size in bits.
    Rsa {
        /// The bits of the modulus.
        bits: usize,
    },
    /// RSA for RSASSA-PSS alone.
    RsaPss,
    /// On an elliptic curve, named by its object identifier; `None` where its parameters are spelled out.
    Ec {
        /// The curve.
        curve: Option<String>,
    },
    /// Ed25519.
    Ed25519,
    /// Ed448.
    Ed448,
    /// DSA.
    Dsa,
    /// Any other, as an object identifier.
    Other(String),
}

impl Certificate {
    /// Reads DER.
    ///
    /// # Errors
    /// What is wrong with it, without a full stop.
    pub fn from_der(der: &[u8]) -> Result<Self, String> {
        let (rest, parsed) = X509Certificate::from_der(der)
            .map_err(|error| format!("no X.509 certificate: {error}"))?;
        if !rest.is_empty() {
            return Err("something stands after the certificate".to_owned());
        }
        let inner = &parsed.tbs_certificate;
        Ok(Self {
            der: der.to_vec(),
            subject: Name::of(parsed.subject()),
            issuer: Name::of(parsed.issuer()),
            serial: parsed.raw_serial().to_vec(),
            not_before: parsed.validity().not_before.timestamp(),
            not_after: parsed.validity().not_after.timestamp(),
            version: parsed.version().0 + 1,
            key: key_kind(parsed.public_key()),
            spki: parsed.public_key().raw.to_vec(),
            signed_with: parsed.signature_algorithm.algorithm.to_id_string(),
            is_consistent: parsed.signature_algorithm == inner.signature,
            extensions: Extensions::of(parsed.extensions()),
        })
    }

    /// Whether subject and issuer are the same.
    pub fn is_self_issued(&self) -> bool {
        self.subject.canonical == self.issuer.canonical
    }

    /// Whether it may have signed itself: self-issued, and what it says of its issuer fits itself.
    pub fn is_self_signed(&self) -> bool {
        self.is_self_issued() && self.fits_as_issuer_of(self)
    }

    /// Whether openssl holds it for the likely issuer of `child` (`ossl_x509_likely_issued`): names, what the child says of
    /// its issuer's key, and a key that could make such a signature.
    pub fn likely_issued(&self, child: &Self) -> bool {
        let is_usable = self.extensions.defect.is_none() && child.extensions.defect.is_none();
        is_usable
            && self.subject.canonical == child.issuer.canonical
            && self.fits_as_issuer_of(child)
    }

    fn fits_as_issuer_of(&self, child: &Self) -> bool {
        let named = child.extensions.authority.as_ref();
        named.is_none_or(|named| self.is_named_by(named))
            && self.key.may_sign_with(&child.signed_with)
    }

    fn is_named_by(&self, named: &Authority) -> bool {
        let key_fits = match (&named.key, &self.extensions.subject_key) {
            (Some(wanted), Some(own)) => wanted == own,
            _ => true,
        };
        key_fits
            && named.serial.as_ref().is_none_or(|serial| *serial == self.serial)
            && named.issuer.as_ref().is_none_or(|issuer| issuer.canonical == self.issuer.canonical)
    }

    /// Whether it is an authority (`check_ca` of `crypto/x509/v3_purp.c`).
    pub fn authority_kind(&self) -> AuthorityKind {
        let extensions = &self.extensions;
        if extensions.key_usage.is_some_and(|bits| bits & KEY_CERT_SIGN == 0) {
            return AuthorityKind::None;
        }
        match extensions.basic {
            Some(Basic { is_authority: true, .. }) => AuthorityKind::Full,
            Some(_) => AuthorityKind::None,
            None if self.version == 1 && self.is_self_signed() => AuthorityKind::OnlyAtTheTop,
            None if extensions.key_usage.is_some() || extensions.is_netscape_authority => {
                AuthorityKind::OnlyAtTheTop
            }
            None => AuthorityKind::None,
        }
    }
}

/// The bit of the key usage that lets a key sign certificates.
pub const KEY_CERT_SIGN: u16 = 1 << 5;

/// How far a certificate may vouch for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorityKind {
    /// It may not.
    None,
    /// It may.
    Full,
    /// Only as the last of a chain: old forms that do not say it outright.
    OnlyAtTheTop,
}

impl KeyKind {
    /// Whether a signature of that algorithm can come from such a key.
    fn may_sign_with(&self, algorithm: &str) -> bool {
        match self {
            Self::Rsa { .. } => is_rsa(algorithm) || algorithm == RSASSA_PSS,
            Self::RsaPss => algorithm == RSASSA_PSS,
            Self::Ec { .. } => algorithm.starts_with("1.2.840.10045.4.") || nist(algorithm, 9..=12),
            Self::Ed25519 => algorithm == "1.3.101.112",
            Self::Ed448 => algorithm == "1.3.101.113",
            Self::Dsa => algorithm == "1.2.840.10040.4.3" || nist(algorithm, 1..=8),
            Self::Other(_) => false,
        }
    }
}

/// RSASSA-PSS.
pub const RSASSA_PSS: &str = "1.2.840.113549.1.1.10";

/// RSA with PKCS #1 version 1.5, whatever the hash.
fn is_rsa(algorithm: &str) -> bool {
    let last = algorithm.strip_prefix("1.2.840.113549.1.1.");
    let is_old = last.is_some_and(|last| matches!(last.parse(), Ok(2..=5 | 11..=16)));
    is_old || algorithm == "1.3.14.3.2.29" || nist(algorithm, 13..=16)
}

/// Whether it is one of these of the signature algorithms that NIST has numbered.
fn nist(algorithm: &str, among: std::ops::RangeInclusive<u32>) -> bool {
    let last = algorithm.strip_prefix("2.16.840.1.101.3.4.3.");
    last.and_then(|last| last.parse().ok()).is_some_and(|last| among.contains(&last))
}

fn key_kind(spki: &SubjectPublicKeyInfo<'_>) -> KeyKind {
    let algorithm = spki.algorithm.algorithm.to_id_string();
    match algorithm.as_str() {
        "1.2.840.113549.1.1.1" => match spki.parsed() {
            Ok(x509_parser::public_key::PublicKey::RSA(key)) => {
                KeyKind::Rsa { bits: bits_of(key.modulus) }
            }
            _ => KeyKind::Other(algorithm),
        },
        RSASSA_PSS => KeyKind::RsaPss,
        "1.2.840.10045.2.1" => {
            let parameters = spki.algorithm.parameters.as_ref();
            let curve = parameters.and_then(|any| any.as_oid().ok()).map(|oid| oid.to_id_string());
            let is_spelled_out = parameters.is_some_and(|any| any.tag() == Tag::Sequence);
            match (curve, is_spelled_out) {
                (None, false) => KeyKind::Other(algorithm),
                (curve, _) => KeyKind::Ec { curve },
            }
        }
        "1.3.101.112" => KeyKind::Ed25519,
        "1.3.101.113" => KeyKind::Ed448,
        "1.2.840.10040.4.1" => KeyKind::Dsa,
        _ => KeyKind::Other(algorithm),
    }
}

/// The bits of a number, most significant byte first.
fn bits_of(number: &[u8]) -> usize {
    let significant: Vec<u8> = number.iter().copied().skip_while(|byte| *byte == 0).collect();
    let first = significant.first().map_or(0, |byte| byte.leading_zeros() as usize);
    significant.len() * 8 - first
}

impl Extensions {
    fn of(all: &[X509Extension<'_>]) -> Self {
        let mut read = Self::default();
        for (at, extension) in all.iter().enumerate() {
            let id = extension.oid.to_id_string();
            if extension.critical && !KNOWN_CRITICAL.contains(&id.as_str()) {
                read.unknown_critical.get_or_insert_with(|| id.clone());
            }
            if all[..at].iter().any(|before| before.oid == extension.oid) && is_read(extension) {
                read.defect.get_or_insert_with(|| format!("it has the extension {id} twice"));
            }
            read.is_proxy |= id == PROXY;
            read.has_resources |= RESOURCES.contains(&id.as_str());
            read.take(&id, extension.parsed_extension());
        }
        read
    }

    fn take(&mut self, id: &str, parsed: &ParsedExtension<'_>) {
        match parsed {
            ParsedExtension::SubjectKeyIdentifier(key) => self.subject_key = Some(key.0.to_vec()),
            ParsedExtension::AuthorityKeyIdentifier(named) => {
                let issuer =
                    named.authority_cert_issuer.iter().flatten().find_map(|name| match name {
                        Parsed::DirectoryName(name) => Some(Name::of(name)),
                        _ => None,
                    });
                let key = named.key_identifier.as_ref().map(|key| key.0.to_vec());
                let serial = named.authority_cert_serial.map(<[u8]>::to_vec);
                self.authority = Some(Authority { key, serial, issuer });
            }
            ParsedExtension::BasicConstraints(basic) => {
                self.basic =
                    Some(Basic { is_authority: basic.ca, path_length: basic.path_len_constraint });
            }
            ParsedExtension::KeyUsage(usage) => {
                self.key_usage = Some(usage.flags);
                if usage.flags == 0 {
                    self.defect = Some("its key usage allows nothing".to_owned());
                }
            }
            ParsedExtension::ExtendedKeyUsage(usage) => self.purposes = Some(purposes(usage)),
            ParsedExtension::NSCertType(kind) => {
                self.is_netscape_authority =
                    kind.ssl_ca() || kind.smime_ca() || kind.object_signing_ca();
            }
            ParsedExtension::SubjectAlternativeName(names) => {
                self.names = names.general_names.iter().map(GeneralName::of).collect();
            }
            ParsedExtension::NameConstraints(constraints) => {
                self.constraints = Some(Constraints::of(constraints));
            }
            ParsedExtension::ParseError { .. } => {
                self.defect.get_or_insert_with(|| format!("its extension {id} cannot be read"));
            }
            _ => {}
        }
    }
}

/// Whether openssl looks at what such an extension says, so that two of it are an error.
fn is_read(extension: &X509Extension<'_>) -> bool {
    matches!(
        extension.parsed_extension(),
        ParsedExtension::SubjectKeyIdentifier(_)
            | ParsedExtension::AuthorityKeyIdentifier(_)
            | ParsedExtension::BasicConstraints(_)
            | ParsedExtension::KeyUsage(_)
            | ParsedExtension::ExtendedKeyUsage(_)
            | ParsedExtension::NSCertType(_)
            | ParsedExtension::SubjectAlternativeName(_)
            | ParsedExtension::NameConstraints(_)
            | ParsedExtension::CRLDistributionPoints(_)
    )
}

fn purposes(usage: &x509_parser::extensions::ExtendedKeyUsage<'_>) -> Vec<String> {
    let known = [
        (usage.any, ANY_PURPOSE),
        (usage.server_auth, SERVER_AUTH),
        (usage.client_auth, "1.3.6.1.5.5.7.3.2"),
        (usage.code_signing, "1.3.6.1.5.5.7.3.3"),
        (usage.email_protection, "1.3.6.1.5.5.7.3.4"),
        (usage.time_stamping, "1.3.6.1.5.5.7.3.8"),
        (usage.ocsp_signing, "1.3.6.1.5.5.7.3.9"),
    ];
    let known = known.into_iter().filter(|(is_set, _)| *is_set).map(|(_, id)| id.to_owned());
    known.chain(usage.other.iter().map(|id| id.to_id_string())).collect()
}

/// The purpose of servers.
pub const SERVER_AUTH: &str = "1.3.6.1.5.5.7.3.1";
/// Any purpose.
pub const ANY_PURPOSE: &str = "2.5.29.37.0";

impl GeneralName {
    fn of(name: &Parsed<'_>) -> Self {
        match name {
            Parsed::DNSName(host) => Self::Dns((*host).to_owned()),
            Parsed::RFC822Name(address) => Self::Email((*address).to_owned()),
            Parsed::URI(address) => Self::Uri((*address).to_owned()),
            Parsed::IPAddress(bytes) => Self::Ip(bytes.to_vec()),
            Parsed::DirectoryName(name) => Self::Directory(Name::of(name)),
            Parsed::OtherName(kind, _) => Self::Other(format!("0:{}", kind.to_id_string())),
            Parsed::X400Address(_) => Self::Other("3".to_owned()),
            Parsed::EDIPartyName(_) => Self::Other("5".to_owned()),
            Parsed::RegisteredID(_) => Self::Other("8".to_owned()),
            // Texts that are no UTF-8: compared byte by byte all the same.
            Parsed::Invalid(tag, bytes) => {
                let text = bytes.iter().map(|byte| char::from(*byte)).collect();
                match tag.0 {
                    1 => Self::Email(text),
                    2 => Self::Dns(text),
                    6 => Self::Uri(text),
                    other => Self::Other(other.to_string()),
                }
            }
        }
    }
}

impl Constraints {
    fn of(parsed: &NameConstraints<'_>) -> Self {
        let all = |trees: &Option<Vec<x509_parser::extensions::GeneralSubtree<'_>>>| {
            trees.iter().flatten().map(|tree| GeneralName::of(&tree.base)).collect()
        };
        Self {
            permitted: all(&parsed.permitted_subtrees),
            excluded: all(&parsed.excluded_subtrees),
        }
    }
}
