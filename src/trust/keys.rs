//! Does a private key belong to a certificate? The key itself is never kept, shown or compared in an error.

use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use super::certificate::Certificate;
use super::findings::Finding;

/// What is known of a key and the leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// It is the leaf's.
    Fits,
    /// It is another's.
    Differs,
    /// It is of a kind that is not read here.
    Unknown,
}

impl KeyMatch {
    /// Compares the first private key of `pem` with the leaf's public one.
    ///
    /// # Errors
    /// Where `pem` holds no private key that can be read.
    pub fn of(leaf: &Certificate, pem: &[u8]) -> Result<Self, String> {
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| {
            "it holds no private key that can be read (an encrypted one cannot)".to_owned()
        })?;
        let Ok(key) = rustls::crypto::ring::sign::any_supported_type(&key) else {
            return Ok(Self::Unknown);
        };
        Ok(match key.public_key() {
            Some(public) if public.as_ref() == leaf.spki => Self::Fits,
            Some(_) => Self::Differs,
            None => Self::Unknown,
        })
    }

    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Differs => "differs",
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        match self {
            Self::Fits => None,
            Self::Differs => {
                Some(Finding::error("key-mismatch", "the private key is not that of the leaf"))
            }
            Self::Unknown => Some(Finding::warning(
                "key-unknown",
                "the private key is of a kind that cannot be compared here",
            )),
        }
    }
}
