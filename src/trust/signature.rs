//! Signatures of certificates: by ring where it knows them, by the textbook where openssl knows more than ring does
//! (other curves, SHA-1 and SHA-224, RSA keys of other sizes). Nothing here is secret, so nothing here hides its time.

use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use super::certificate::{Certificate, KeyKind};
use super::curve::{self, Curve};
use super::number::{self, Number};

/// Sizes of RSA keys that ring takes.
const RING_RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// The largest RSA key that openssl works with (`OPENSSL_RSA_MAX_MODULUS_BITS`).
const MOST_RSA_BITS: usize = 16384;

/// What is known of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    /// It is the issuer's.
    Good,
    /// It is not.
    Bad,
    /// It is of a kind that is not known here.
    Unchecked(String),
}

impl From<bool> for Signature {
    fn from(is_good: bool) -> Self {
        if is_good { Self::Good } else { Self::Bad }
    }
}

/// Whether `issuer`'s key signed `certificate`.
pub(super) fn verify_signature(certificate: &Certificate, issuer: &Certificate) -> Signature {
    if !certificate.is_consistent {
        return Signature::Bad;
    }
    let read = |certificate| X509Certificate::from_der(certificate).map(|(_, parsed)| parsed);
    let (Ok(child), Ok(parent)) = (read(&certificate.der), read(&issuer.der)) else {
        return Signature::Unchecked("a certificate that cannot be read".to_owned());
    };
    if is_for_ring(&issuer.key, &certificate.signed_with) {
        return child.verify_signature(Some(parent.public_key())).is_ok().into();
    }
    let unknown = || {
        let key = key_words(&issuer.key);
        Signature::Unchecked(format!("a signature of kind {} by {key}", certificate.signed_with))
    };
    let Some(hash) = Hash::of(&certificate.signed_with) else { return unknown() };
    let (signed, signature) = (child.tbs_certificate.as_ref(), &child.signature_value.data);
    match (&issuer.key, parent.public_key().parsed()) {
        (KeyKind::Rsa { bits }, Ok(PublicKey::RSA(key))) if *bits <= MOST_RSA_BITS => {
            verify_rsa(hash, key.modulus, key.exponent, signed, signature).into()
        }
        (KeyKind::Rsa { .. }, _) => Signature::Bad,
        (KeyKind::Ec { curve: Some(id) }, _) => match Curve::named(id) {
            Some(known) => {
                let point = &parent.public_key().subject_public_key.data;
                verify_ecdsa(&known, hash, point, signed, signature).into()
            }
            None => unknown(),
        },
        _ => unknown(),
    }
}

/// What ring is asked for: those of its algorithms whose answer is openssl's too.
fn is_for_ring(key: &KeyKind, algorithm: &str) -> bool {
    match (key, algorithm) {
        (
            KeyKind::Rsa { bits },
            "1.2.840.113549.1.1.11" | "1.2.840.113549.1.1.12" | "1.2.840.113549.1.1.13",
        ) => RING_RSA_BITS.contains(bits),
        (KeyKind::Ed25519, "1.3.101.112") => true,
        (KeyKind::Ec { curve: Some(curve) }, "1.2.840.10045.4.3.2" | "1.2.840.10045.4.3.3") => {
            matches!(curve.as_str(), "1.2.840.10045.3.1.7" | "1.3.132.0.34")
        }
        _ => false,
    }
}

/// A key in words.
pub(super) fn key_words(key: &KeyKind) -> String {
    match key {
        KeyKind::Rsa { bits } => format!("RSA {bits}"),
        KeyKind::RsaPss => "RSASSA-PSS".to_owned(),
        KeyKind::Ec { curve: None } => "a curve that is spelled out".to_owned(),
        KeyKind::Ec { curve: Some(id) } => match curve::name(id) {
            Some(name) => name.to_owned(),
            None => format!("the curve {id}"),
        },
        KeyKind::Ed25519 => "Ed25519".to_owned(),
        KeyKind::Ed448 => "Ed448".to_owned(),
        KeyKind::Dsa => "DSA".to_owned(),
        KeyKind::Other(id) => format!("a key of kind {id}"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    /// That of a signature algorithm: RSA with PKCS #1 version 1.5, or ECDSA.
    fn of(algorithm: &str) -> Option<Self> {
        Some(match algorithm {
            "1.2.840.113549.1.1.5" | "1.3.14.3.2.29" | "1.2.840.10045.4.1" => Self::Sha1,
            "1.2.840.113549.1.1.14" | "1.2.840.10045.4.3.1" => Self::Sha224,
            "1.2.840.113549.1.1.11" | "1.2.840.10045.4.3.2" => Self::Sha256,
            "1.2.840.113549.1.1.12" | "1.2.840.10045.4.3.3" => Self::Sha384,
            "1.2.840.113549.1.1.13" | "1.2.840.10045.4.3.4" => Self::Sha512,
            _ => return None,
        })
    }

    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, bytes)
                .as_ref()
                .to_vec(),
            Self::Sha224 => Sha224::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }

    /// The DER before the digest in a PKCS #1 signature (RFC 8017, section 9.2, note 1).
    fn prefix(self) -> &'static [u8] {
        const NIST: [u8; 10] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0, 0];
        const fn with(total: u8, id: u8, length: u8) -> [u8; 19] {
            let n = NIST;
            [
                0x30, total, 0x30, 0x0d, 0x06, 0x09, n[0], n[1], n[2], n[3], n[4], n[5], n[6],
                n[7], id, 0x05, 0x00, 0x04, length,
            ]
        }
        const SHA224: [u8; 19] = with(0x2d, 4, 28);
        const SHA256: [u8; 19] = with(0x31, 1, 32);
        const SHA384: [u8; 19] = with(0x41, 2, 48);
        const SHA512: [u8; 19] = with(0x51, 3, 64);
        match self {
            Self::Sha1 => &[
                0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04,
                20,
            ],
            Self::Sha224 => &SHA224,
            Self::Sha256 => &SHA256,
            Self::Sha384 => &SHA384,
            Self::Sha512 => &SHA512,
        }
    }
}

/// RFC 8017, section 8.2.2.
fn verify_rsa(
    hash: Hash,
    modulus: &[u8],
    exponent: &[u8],
    signed: &[u8],
    signature: &[u8],
) -> bool {
    let (n, e, s) = (number::read(modulus), number::read(exponent), number::read(signature));
    let length = number::bytes(&n).len();
    // As openssl bounds the exponent of large keys (`OPENSSL_RSA_SMALL_MODULUS_BITS`, `OPENSSL_RSA_MAX_PUBEXP_BITS`).
    let is_slow = e >= n || (n.bits() > 3072 && e.bits() > 64);
    if signature.len() != length || s >= n || is_slow {
        return false;
    }
    let digest = hash.digest(signed);
    let end = [hash.prefix(), &digest].concat();
    let Some(padding) = length.checked_sub(end.len() + 3).filter(|padding| *padding >= 8) else {
        return false;
    };
    let expected = [&[0, 1][..], &vec![0xff; padding], &[0], &end].concat();
    number::read(&expected) == s.modpow(&e, &n)
}

/// SEC 1, section 4.1.4.
fn verify_ecdsa(curve: &Curve, hash: Hash, point: &[u8], signed: &[u8], signature: &[u8]) -> bool {
    let (Some(key), Some((r, s))) = (curve.read_point(point), number::read_pair(signature)) else {
        return false;
    };
    let is_in_range = |value: &Number| *value > Number::ZERO && *value < curve.order;
    if !is_in_range(&r) || !is_in_range(&s) {
        return false;
    }
    let digest = hash.digest(signed);
    let e = number::read(&digest);
    let extra = (digest.len() as u64 * 8).saturating_sub(curve.order.bits());
    let e = e >> extra;
    let Some(inverse) = number::inverse(&s, &curve.order) else { return false };
    let (u, v) = (e * &inverse % &curve.order, &r * &inverse % &curve.order);
    let sum = curve.sum_of_multiples(&u, &key, &v);
    sum.is_some_and(|x| x % &curve.order == r)
}
