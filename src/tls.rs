//! What a server presents in a TLS handshake, whatever it is.
//!
//! Nothing is sent but the handshake, and nothing is believed: the certificates are for somebody else to judge. Must not
//! be used where a secret follows.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::clock::Deadline;

/// Every scheme a server may sign with, so that it presents whatever it has.
const SCHEMES: [SignatureScheme; 13] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::RSA_PKCS1_SHA1,
    SignatureScheme::ECDSA_SHA1_Legacy,
];

/// Why a server presented nothing.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The text names no host and port.
    #[error("`{text}` is not HOST:PORT")]
    Address {
        /// The text.
        text: String,
    },
    /// The name cannot be asked for.
    #[error("`{host}` is no name of a host")]
    Host {
        /// The name.
        host: String,
    },
    /// Nobody is there.
    #[error("{server}: cannot be reached: {source}")]
    Unreachable {
        /// Host and port.
        server: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The handshake gave no certificate.
    #[error("{server}: no TLS handshake: {why}")]
    Handshake {
        /// Host and port.
        server: String,
        /// What happened.
        why: String,
    },
}

/// The certificates, leaf first, that the server at `address` (`HOST:PORT`) presents when asked for `host`, else for the
/// address's own host; as DER.
///
/// # Errors
/// [`TlsError`].
pub fn presented_chain(
    address: &str,
    host: Option<&str>,
    deadline: Deadline,
) -> Result<Vec<Vec<u8>>, TlsError> {
    let (own_host, port) =
        split(address).ok_or_else(|| TlsError::Address { text: address.to_owned() })?;
    let host = host.unwrap_or(own_host);
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| TlsError::Host { host: host.to_owned() })?;
    let socket = connect(address, own_host, port, deadline)?;
    let seen = Arc::new(Seen::default());
    let failed = |why: String| TlsError::Handshake { server: address.to_owned(), why };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&seen) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), name);
    let mut connection = connection.map_err(|error| failed(error.to_string()))?;
    let ended = shake_hands(&mut connection, socket, deadline);
    let chain = std::mem::take(&mut *seen.0.lock().unwrap_or_else(PoisonError::into_inner));
    // A server that wants a certificate of ours ends the handshake after it has presented its own.
    match (chain.is_empty(), ended) {
        (false, _) => Ok(chain),
        (true, Err(error)) => Err(failed(words(&error))),
        (true, Ok(())) => Err(failed("no certificate was presented".to_owned())),
    }
}

/// The host of `HOST:PORT`; `None` where it is no such address.
pub fn host_of(address: &str) -> Option<&str> {
    split(address).map(|(host, _)| host)
}

/// `host:port`, `[v6]:port`.
fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_plain = !host.is_empty() && !host.contains([':', '[', ']', '/', '@']);
    let host = bare.or(is_plain.then_some(host))?;
    port.parse().ok().filter(|port| *port != 0).map(|port| (host, port))
}

fn connect(server: &str, host: &str, port: u16, deadline: Deadline) -> Result<TcpStream, TlsError> {
    let unreachable = |source| TlsError::Unreachable { server: server.to_owned(), source };
    let mut last = io::Error::other("the host has no address");
    for address in (host, port).to_socket_addrs().map_err(unreachable)? {
        let allowed = deadline.remaining().max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&address, allowed) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(unreachable(last))
}

fn shake_hands(
    connection: &mut ClientConnection,
    mut socket: TcpStream,
    deadline: Deadline,
) -> io::Result<()> {
    while connection.is_handshaking() {
        let allowed = deadline.remaining();
        if allowed.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(allowed))?;
        socket.set_write_timeout(Some(allowed))?;
        if connection.wants_write() {
            connection.write_tls(&mut socket)?;
        } else if connection.read_tls(&mut socket)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        } else {
            connection.process_new_packets().map_err(io::Error::other)?;
        }
    }
    Ok(())
}

fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

/// Takes down what is presented, and takes everything.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<Vec<u8>>>);

impl ServerCertVerifier for Seen {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let all = std::iter::once(leaf).chain(others).map(|der| der.to_vec());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all.collect();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        SCHEMES.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split() {
        for (text, split_up) in [
            ("h.example:443", Some(("h.example", 443))),
            ("[::1]:8443", Some(("::1", 8443))),
            ("h.example", None),
            ("::1:443", None),
            (":443", None),
            ("h:0", None),
            ("https://h:443", None),
            ("h:port", None),
        ] {
            assert_eq!(split(text), split_up, "{text}");
        }
    }
}
