//! Where certificates come from: files, Secrets, servers, the system.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::super::{Context, input};
use super::TrustRequest;
use crate::clock::Deadline;
use crate::cluster::{ClusterError, ClusterReader, KindName, ObjectName};
use crate::error::{Error, codes};
use crate::hint;
use crate::kustomize::decode_base64;
use crate::tls::{self, TlsError};
use crate::trust::{Certificate, read_certificates};

/// Where certificates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file of PEM.
    File(PathBuf),
    /// A Secret.
    Secret(SecretName),
    /// What the server at `HOST:PORT` presents.
    Server(String),
    /// The authorities that this machine trusts.
    System,
}

impl Source {
    /// The Secret, where it is one.
    pub fn secret(&self) -> Option<&SecretName> {
        match self {
            Self::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// The host that clients of it ask for, where it is a server of another machine: what is reached by this machine's own address is
    /// mostly forwarded from elsewhere.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Server(address) => tls::host_of(address).filter(|host| !is_here(host)),
            _ => None,
        }
    }
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is_loopback)
}

/// The name of a Secret, and the key in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key of its data; `None` is the usual one.
    pub key: Option<String>,
}

impl SecretName {
    /// Reads `NAMESPACE/NAME` or `NAMESPACE/NAME:KEY`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not NAMESPACE/NAME or NAMESPACE/NAME:KEY");
        let (path, key) = match text.split_once(':') {
            Some((path, key)) => (path, Some(key)),
            None => (text, None),
        };
        let (namespace, name) = path.split_once('/').ok_or_else(wrong)?;
        let is_name = |text: &str| {
            let allowed =
                |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
            !text.is_empty() && text.len() <= 253 && text.bytes().all(allowed)
        };
        let is_key = |key: &str| {
            let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
            !key.is_empty() && key.bytes().all(allowed)
        };
        if !is_name(namespace) || !is_name(name) || !key.is_none_or(is_key) {
            return Err(wrong());
        }
        let key = key.map(str::to_owned);
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned(), key })
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// What a source held.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) described: String,
    pub(super) certificates: Vec<Certificate>,
    /// The Secret it was read from, and the key in it.
    pub(super) secret: Option<Value>,
    pub(super) key: String,
}

/// What reads the sources: a cluster only where a Secret is named.
pub(super) struct Sources<'c> {
    context: &'c Context,
    cluster: Option<Arc<dyn ClusterReader>>,
    host: Option<&'c str>,
    allowed: Duration,
}

impl<'c> Sources<'c> {
    pub(super) fn open(
        context: &'c Context,
        request: &'c TrustRequest,
        allowed: Duration,
    ) -> Result<Self, Error> {
        let wants_cluster = request.ca.secret().is_some() || request.leaf.secret().is_some();
        let cluster = if wants_cluster { Some(request.access.open(context)?) } else { None };
        Ok(Self { context, cluster, host: request.host.as_deref(), allowed })
    }

    /// The certificates of a source; `usual` is the key of a Secret that names none.
    pub(super) fn read(&self, source: &Source, usual: &str) -> Result<Opened, Error> {
        let opened = |described: String, certificates| Opened {
            described,
            certificates,
            secret: None,
            key: String::new(),
        };
        match source {
            Source::File(file) => {
                let name = file.display().to_string();
                let read = read_certificates(self.read_file(file)?.as_bytes());
                Ok(opened(name.clone(), read.map_err(|why| unreadable(&name, why))?.certificates))
            }
            Source::Server(_) if self.context.offline => {
                Err(Error::new(codes::USAGE, "--offline: no server is asked"))
            }
            Source::Server(address) => {
                let presented =
                    tls::presented_chain(address, self.host, Deadline::after(self.allowed))
                        .map_err(unreached)?;
                Ok(opened(address.clone(), from_ders(address, &presented)?))
            }
            Source::System => {
                let ders = system_authorities()?;
                // One authority of hundreds that cannot be read takes nothing from the others.
                let read = ders.iter().filter_map(|der| Certificate::from_der(der).ok());
                Ok(opened("the system's authorities".to_owned(), read.collect()))
            }
            Source::Secret(name) => self.read_secret(name, usual),
        }
    }

    fn read_secret(&self, name: &SecretName, usual: &str) -> Result<Opened, Error> {
        let missing = |message: String| Error::new(codes::NO_SUCH_SECRET, message);
        let Some(cluster) = &self.cluster else {
            return Err(missing(format!("{name}: no cluster")));
        };
        let object = ObjectName {
            kind: KindName::new("", "Secret"),
            namespace: name.namespace.clone(),
            name: name.name.clone(),
        };
        let found = cluster.find(&object)?;
        let secret =
            found.ok_or_else(|| missing(format!("no Secret {name} in {}", cluster.described())))?;
        let key = name.key.clone().unwrap_or_else(|| usual.to_owned());
        let described = format!("Secret {name}, {key}");
        let Some(pem) = value_of(&secret, &key) else {
            let keys = secret["data"].as_object().into_iter().flat_map(|data| data.keys());
            let keys: Vec<&str> = keys.map(String::as_str).collect();
            let error = missing(format!("the Secret {name} has no `{key}`"));
            let near = hint::nearest(&key, keys.iter().copied(), 3);
            let near = near.iter().map(ToString::to_string).collect::<Vec<_>>();
            let all = format!("its keys are {}", keys.join(", "));
            return Err(match hint::question(&near) {
                Some(question) => error.hint(question),
                None => error.hint(all),
            });
        };
        let certificates = read_certificates(&pem).map_err(|why| unreadable(&described, why))?;
        Ok(Opened { described, certificates: certificates.certificates, secret: Some(secret), key })
    }

    /// The pods of a namespace; `None` where the account may not list them, or a dump has none.
    pub(super) fn pods(&self, namespace: &str) -> Result<Option<Vec<Value>>, Error> {
        let Some(cluster) = &self.cluster else { return Ok(None) };
        match cluster.list(&KindName::new("", "Pod"), Some(namespace)) {
            Ok(listing) => Ok(listing.is_known.then_some(listing.items)),
            Err(ClusterError::Denied { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn read_file(&self, file: &Path) -> Result<String, Error> {
        let name = file.display().to_string();
        input::load_file(&self.context.cwd, file).map(|input| input.text).map_err(|error| {
            match error.code() == codes::USAGE {
                // Bytes that are no text are no PEM either.
                true => unreadable(
                    &name,
                    "no PEM; `openssl x509 -inform DER` makes PEM of DER".to_owned(),
                ),
                false => error,
            }
        })
    }
}

/// The bytes of one key of a Secret.
pub(super) fn value_of(secret: &Value, key: &str) -> Option<Vec<u8>> {
    decode_base64(secret["data"][key].as_str()?)
}

/// Certificates that cannot be read.
pub(super) fn unreadable(name: &str, why: String) -> Error {
    Error::new(codes::CERTIFICATE_UNREADABLE, format!("{name}: {why}"))
}

fn from_ders(name: &str, ders: &[Vec<u8>]) -> Result<Vec<Certificate>, Error> {
    let read = ders.iter().map(|der| Certificate::from_der(der));
    read.collect::<Result<_, _>>().map_err(|why| unreadable(name, why))
}

fn unreached(error: TlsError) -> Error {
    let message = error.to_string();
    match error {
        TlsError::Address { .. } | TlsError::Host { .. } => Error::new(codes::USAGE, message),
        TlsError::Unreachable { .. } | TlsError::Handshake { .. } => {
            Error::new(codes::SERVER_UNREACHABLE, message)
        }
    }
}

#[cfg(feature = "http")]
fn system_authorities() -> Result<Vec<Vec<u8>>, Error> {
    crate::http::system_authorities()
        .map_err(|error| Error::new(codes::CERTIFICATE_UNREADABLE, error.to_string()))
}

#[cfg(not(feature = "http"))]
fn system_authorities() -> Result<Vec<Vec<u8>>, Error> {
    let message = "this build of the program does not know the system's authorities";
    Err(Error::new(codes::USAGE, message).hint("name a CA with --ca-file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_asked_for_by_its_name() {
        let host = |address: &str| Source::Server(address.to_owned()).host().map(str::to_owned);
        assert_eq!(host("identity.mesh.svc:8443").as_deref(), Some("identity.mesh.svc"));
        assert_eq!(host("10.0.0.7:443").as_deref(), Some("10.0.0.7"));
        for here in ["localhost:8443", "127.0.0.1:8443", "[::1]:8443", "nowhere"] {
            assert_eq!(host(here), None, "{here}");
        }
        assert_eq!(Source::System.host(), None);
    }

    #[test]
    fn names_of_secrets_are_read() {
        let name = SecretName::parse("memql/memql-ca:ca.crt").unwrap();
        assert_eq!((name.namespace.as_str(), name.name.as_str()), ("memql", "memql-ca"));
        assert_eq!(name.key.as_deref(), Some("ca.crt"));
        assert_eq!(SecretName::parse("a/b").unwrap().key, None);
        for wrong in ["", "a", "/b", "a/", "a/b/c", "a/b:", "A/b", "a/b:c/d", "a/b c"] {
            assert!(SecretName::parse(wrong).is_err(), "{wrong}");
        }
    }
}
