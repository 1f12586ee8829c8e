//! Files of certificates and keys.

use x509_parser::pem::Pem;

use super::certificate::Certificate;

/// The most certificates that are read from one file: bundles of public authorities have some hundreds.
const MOST: usize = 2000;

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Bundle {
    /// Its certificates, in order.
    pub certificates: Vec<Certificate>,
    /// How many other blocks it has: keys, requests.
    pub others: usize,
}

/// Reads the certificates of PEM, in order; blocks of other kinds are only counted.
///
/// # Errors
/// What is wrong, with which block, without a full stop.
pub fn read_certificates(text: &[u8]) -> Result<Bundle, String> {
    let mut bundle = Bundle::default();
    for (at, block) in Pem::iter_from_buffer(text).enumerate() {
        let place = || format!("block {}", at + 1);
        let block = block.map_err(|error| format!("{}: no valid PEM: {error}", place()))?;
        match block.label.as_str() {
            "CERTIFICATE" | "X509 CERTIFICATE" => {
                let read = Certificate::from_der(&block.contents);
                bundle.certificates.push(read.map_err(|why| format!("{}: {why}", place()))?);
            }
            "TRUSTED CERTIFICATE" => {
                return Err(format!(
                    "{}: TRUSTED CERTIFICATE holds settings of openssl that are not read; `openssl x509` makes a plain one of it",
                    place()
                ));
            }
            _ => bundle.others += 1,
        }
        if bundle.certificates.len() > MOST {
            return Err(format!("more than {MOST} certificates"));
        }
    }
    match bundle.certificates.is_empty() {
        true => Err(no_certificate(text)),
        false => Ok(bundle),
    }
}

fn no_certificate(text: &[u8]) -> String {
    match text {
        [] => "it is empty".to_owned(),
        [0x30, ..] => "it looks like DER; `openssl x509 -inform DER` makes PEM of it".to_owned(),
        _ => "it holds no `BEGIN CERTIFICATE`".to_owned(),
    }
}
