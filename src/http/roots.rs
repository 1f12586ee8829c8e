//! The certificate authorities that servers are judged by.

use std::path::{Path, PathBuf};

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use ureq::tls::{Certificate, RootCerts};

use super::HttpError;

/// The largest file of certificates that is read.
const LARGEST: u64 = 16 * 1024 * 1024;

/// The system's authorities, as DER.
///
/// # Errors
/// [`HttpError::Roots`] where there is none, and why is known.
pub fn system_authorities() -> Result<Vec<Vec<u8>>, HttpError> {
    let system = rustls_native_certs::load_native_certs();
    match (system.certs.is_empty(), system.errors.first()) {
        (true, Some(error)) => Err(HttpError::Roots {
            file: "the system's certificates (or SSL_CERT_FILE)".to_owned(),
            why: error.to_string(),
        }),
        _ => Ok(system.certs.iter().map(|der| der.as_ref().to_vec()).collect()),
    }
}

/// The system's authorities and those of `extra` files (PEM, any number in each).
///
/// # Errors
/// [`HttpError::Roots`] where an extra file holds none, or the system has none and says why.
pub(super) fn load_roots(extra: &[PathBuf]) -> Result<RootCerts, HttpError> {
    let system = rustls_native_certs::load_native_certs();
    let mut all: Vec<Certificate<'static>> = system.certs.iter().map(owned).collect();
    for file in extra {
        all.extend(load_file(file)?);
    }
    match (all.is_empty(), system.errors.first()) {
        (true, Some(error)) => Err(HttpError::Roots {
            file: "the system's certificates (or SSL_CERT_FILE)".to_owned(),
            why: error.to_string(),
        }),
        _ => Ok(RootCerts::from(all)),
    }
}

/// The authorities of these files alone.
///
/// # Errors
/// [`HttpError::Roots`] where one of them holds none.
pub(super) fn load_files(files: &[PathBuf]) -> Result<RootCerts, HttpError> {
    let mut all = Vec::new();
    for file in files {
        all.extend(load_file(file)?);
    }
    Ok(RootCerts::from(all))
}

fn owned(certificate: &CertificateDer<'_>) -> Certificate<'static> {
    Certificate::from_der(certificate.as_ref()).to_owned()
}

fn load_file(path: &Path) -> Result<Vec<Certificate<'static>>, HttpError> {
    let wrong = |why: String| HttpError::Roots { file: path.display().to_string(), why };
    let size = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("it has more than {LARGEST} bytes")));
    }
    let text = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(wrong("it holds no `BEGIN CERTIFICATE`".to_owned())),
        Ok(found) => Ok(found.iter().map(owned).collect()),
        Err(_) => Err(wrong("one of its certificates is no valid PEM".to_owned())),
    }
}
