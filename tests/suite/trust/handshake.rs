//! A handshake of rustls with itself, in memory: a server that presents a chain, a client that trusts some authorities. What is
//! said of clients on rustls is compared with what such a client does.

use std::sync::Arc;
use std::time::Duration;

use overlay::trust::Certificate;
use rustls::client::ClientConnection;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert, ServerConnection};
use rustls::sign::CertifiedKey;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};

/// Presents its chain to everybody, whatever it is.
#[derive(Debug)]
struct Presents(Arc<CertifiedKey>);

impl ResolvesServerCert for Presents {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

/// A clock that stands.
#[derive(Debug)]
struct At(i64);

impl TimeProvider for At {
    fn current_time(&self) -> Option<UnixTime> {
        u64::try_from(self.0).ok().map(|at| UnixTime::since_unix_epoch(Duration::from_secs(at)))
    }
}

fn der(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.der.clone())
}

/// Why the client ends the handshake, in rustls' words; `None` where it goes through.
pub(super) fn refusal(
    trusted: &[Certificate],
    presented: &[Certificate],
    key: &str,
    host: &str,
    at: i64,
) -> Option<String> {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted.iter().map(der));
    let mut client = ClientConfig::builder_with_details(Arc::clone(&provider), Arc::new(At(at)))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.resumption = rustls::client::Resumption::disabled();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let key = ring::sign::any_supported_type(&key).unwrap();
    let presents = CertifiedKey::new(presented.iter().map(der).collect(), key);
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Presents(Arc::new(presents))));
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    // Each side's flight goes to the other until both are through; three are enough for every version.
    for _ in 0..4 {
        let mut flight = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut flight).unwrap();
        }
        let mut read = flight.as_slice();
        while !read.is_empty() {
            server.read_tls(&mut read).unwrap();
            server.process_new_packets().unwrap();
        }
        let mut flight = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut flight).unwrap();
        }
        let mut read = flight.as_slice();
        while !read.is_empty() {
            client.read_tls(&mut read).unwrap();
            if let Err(error) = client.process_new_packets() {
                return Some(format!("{error:?}"));
            }
        }
    }
    assert!(!client.is_handshaking() && !server.is_handshaking(), "the handshake does not end");
    None
}

/// Whether a word of webpki is what rustls' error says: some it has under names of its own, others as they are.
pub(super) fn says(error: &str, word: &str) -> bool {
    let own = match word {
        "CertExpired" => "Expired",
        "CertNotValidYet" => "NotValidYet",
        "CertNotValidForName" => "NotValidForName",
        "InvalidSignatureForPublicKey" => "BadSignature",
        "RequiredEkuNotFound" => "InvalidPurpose",
        word => word,
    };
    error.contains(own)
}
