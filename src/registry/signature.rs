//! Signatures by a key, as cosign writes them: an image tagged `sha256-DIGEST.sig` beside the signed one, whose layers are
//! payloads ("simple signing") with the signature in an annotation (sigstore's `SIGNATURE_SPEC.md`).
//!
//! Three things have to hold, and all are checked here by hand over `ring`: the payload's bytes have the digest that the
//! manifest says, the key has signed exactly these bytes, and they speak of exactly this image.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    UnparsedPublicKey, VerificationAlgorithm,
};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;

use super::RegistryError;
use super::manifest::Descriptor;
use super::resolver::Image;
use crate::image::Digest;

/// The media type of a payload, and the annotation with its signature.
const PAYLOAD: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE: &str = "dev.cosignproject.cosign/signature";
/// What a payload says that it is.
const TYPE: &str = "cosign container image signature";
/// The most signatures of one image that are looked at.
const MOST: usize = 50;

/// The public half of a key pair.
#[derive(Clone)]
pub struct PublicKey {
    algorithm: &'static dyn VerificationAlgorithm,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PublicKey")
    }
}

/// A text that is no key that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// No PEM.
    #[error("no `BEGIN PUBLIC KEY` in it; a certificate or a private key is none")]
    NotPem,
    /// Another kind of key.
    #[error("a key of a kind that is not known; ECDSA on P-256 or P-384, Ed25519 and RSA are")]
    Unknown,
}

impl PublicKey {
    /// Reads a key in PEM, as `cosign generate-key-pair` and `openssl` write it (RFC 5280's SubjectPublicKeyInfo).
    ///
    /// # Errors
    /// [`PublicKeyError`].
    pub fn parse(pem: &[u8]) -> Result<Self, PublicKeyError> {
        let info =
            SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| PublicKeyError::NotPem)?;
        let (algorithm, bytes) = split_info(info.as_ref()).ok_or(PublicKeyError::Unknown)?;
        Ok(Self { algorithm, bytes: bytes.to_vec() })
    }

    fn has_signed(&self, payload: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(self.algorithm, &self.bytes).verify(payload, signature).is_ok()
    }
}

/// The object identifiers of RFC 5480, RFC 8410 and RFC 8017, in DER.
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const ED25519_ID: &[u8] = &[0x2b, 0x65, 0x70];
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// `SEQUENCE { SEQUENCE { algorithm, parameters }, BIT STRING key }`.
fn split_info(der: &[u8]) -> Option<(&'static dyn VerificationAlgorithm, &[u8])> {
    let (info, rest) = take(der, 0x30)?;
    let (identifier, after) = take(info, 0x30)?;
    let (algorithm, parameters) = take(identifier, 0x06)?;
    let (key, end) = take(after, 0x03)?;
    let (unused_bits, key) = key.split_first()?;
    if !rest.is_empty() || !end.is_empty() || *unused_bits != 0 {
        return None;
    }
    let curve = || take(parameters, 0x06).map(|(curve, _)| curve);
    let algorithm: &'static dyn VerificationAlgorithm = match algorithm {
        EC if curve() == Some(P256) => &ECDSA_P256_SHA256_ASN1,
        EC if curve() == Some(P384) => &ECDSA_P384_SHA384_ASN1,
        ED25519_ID => &ED25519,
        RSA => &RSA_PKCS1_2048_8192_SHA256,
        _ => return None,
    };
    Some((algorithm, key))
}

/// The content of one DER element with this tag, and what follows it.
fn take(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81 | 0x82 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x0f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    if *found != tag {
        return None;
    }
    rest.split_at_checked(length)
}

#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    #[serde(rename = "type")]
    kind: String,
    image: Named,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Whether the payload's bytes say that they are about the image.
fn speaks_of(payload: &[u8], digest: &Digest) -> bool {
    let payload: Result<Payload, _> = serde_json::from_slice(payload);
    payload.is_ok_and(|payload| {
        payload.critical.kind == TYPE && payload.critical.image.digest == digest.as_str()
    })
}

/// Finds a signature of the key on the image.
///
/// # Errors
/// [`RegistryError::Signature`] where there is none, or none that holds; and what asking gives.
pub(super) fn verify(
    image: &Image<'_>,
    digest: &Digest,
    key: &PublicKey,
) -> Result<(), RegistryError> {
    let wrong =
        |why: String| RegistryError::Signature { reference: image.reference.to_owned(), why };
    let tag = format!("{}.sig", digest.as_str().replace(':', "-"));
    let signatures = match image.fetch(&tag) {
        Err(RegistryError::NotFound { .. }) => {
            return Err(wrong(format!("it is not signed: there is no tag {tag} beside it")));
        }
        fetched => fetched?.manifest.layers,
    };
    let signatures: Vec<(&Descriptor, Vec<u8>)> = signatures
        .iter()
        .filter(|layer| layer.media_type == PAYLOAD)
        .filter_map(|layer| {
            Some((layer, BASE64_STANDARD.decode(layer.annotation(SIGNATURE)?).ok()?))
        })
        .take(MOST)
        .collect();
    let mut is_about_another = false;
    for (layer, signature) in &signatures {
        let payload = image.fetch_blob(layer)?;
        if key.has_signed(&payload, signature) {
            if speaks_of(&payload, digest) {
                return Ok(());
            }
            is_about_another = true;
        }
    }
    Err(wrong(match (is_about_another, signatures.len()) {
        (true, _) => {
            "the key has signed another image, and its signature was put beside this one".to_owned()
        }
        (false, 0) => format!("{tag} holds no signature by a key"),
        (false, 1) => "its signature is not of that key".to_owned(),
        (false, many) => format!("none of its {many} signatures is of that key"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Made by `openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout`.
    const P256_KEY: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEQQpySPN0dGUDX9Y+XB7d9VzzA7f2
Dfrbt23bFsyuYAMYWm9LbdtnJV/xO+lBHt/7925IlVlLERxovVKHRgSDxQ==
-----END PUBLIC KEY-----
";

    #[test]
    fn keys_are_read_and_other_texts_are_not() {
        assert!(PublicKey::parse(P256_KEY.as_bytes()).is_ok());
        for text in ["", "key", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            assert_eq!(PublicKey::parse(text.as_bytes()).err(), Some(PublicKeyError::NotPem));
        }
        let cut = P256_KEY.replace("MFkwEwYHKo", "MFkwEwYHKp");
        assert_eq!(PublicKey::parse(cut.as_bytes()).err(), Some(PublicKeyError::Unknown));
        let other = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaA=\n-----END PUBLIC KEY-----\n";
        assert_eq!(PublicKey::parse(other.as_bytes()).err(), Some(PublicKeyError::Unknown));
    }

    #[test]
    fn a_payload_speaks_of_one_image() {
        let digest = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";
        let payload = |kind: &str, of: &str| {
            format!(
                r#"{{"critical":{{"identity":{{"docker-reference":"r"}},"image":{{"docker-manifest-digest":"{of}"}},"type":"{kind}"}},"optional":null}}"#
            )
        };
        let digest = &Digest::parse(digest).unwrap();
        assert!(speaks_of(payload(TYPE, digest.as_str()).as_bytes(), digest));
        assert!(!speaks_of(payload("other", digest.as_str()).as_bytes(), digest));
        assert!(!speaks_of(payload(TYPE, "sha256:00").as_bytes(), digest));
        assert!(!speaks_of(b"{}", digest));
    }
}
