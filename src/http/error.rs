//! Why a server gave no answer. Every sentence names the server; none holds a query, a header or a credential.

use std::time::Duration;

/// What [`HttpError::Unreachable`] says of a port that refuses.
pub const NOBODY_LISTENS: &str = "nobody listens there";

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The text is no address of a server.
    #[error("`{address}` is no address of a server: {why}")]
    Address {
        /// The text, as far as it may be printed.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// The request cannot be sent as it is.
    #[error("{address}: cannot be asked for: {why}")]
    Request {
        /// Where it would have gone.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// No such host.
    #[error("{address}: the host cannot be found")]
    NoHost {
        /// Where.
        address: String,
    },
    /// Nobody listens there, or nobody can be reached.
    #[error("{address}: cannot be reached: {why}")]
    Unreachable {
        /// Where.
        address: String,
        /// What the operating system, or the proxy, says.
        why: String,
    },
    /// The two do not agree on a secure connection.
    #[error("{address}: no secure connection: {why}")]
    Tls {
        /// Where.
        address: String,
        /// What is wrong, with what to do.
        why: String,
    },
    /// The certificates that servers are judged by cannot be read.
    #[error("{file}: no certificate authority can be read from it: {why}")]
    Roots {
        /// Which file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// The proxy's address is none.
    #[error("the proxy named by {variable} cannot be used: {why}")]
    Proxy {
        /// Which variable names it.
        variable: String,
        /// What is wrong.
        why: String,
    },
    /// It took too long.
    #[error("{address}: no answer within {}", seconds(*.waited))]
    TimedOut {
        /// Where.
        address: String,
        /// The time it had.
        waited: Duration,
    },
    /// It was not asked: what it asked of another request to wait is longer than there is time.
    #[error("{address}: not asked, because it asks to wait {}", seconds(*.left))]
    Paused {
        /// Where.
        address: String,
        /// What is left of the pause.
        left: Duration,
    },
    /// The server, or something on the way, cut the connection.
    #[error("{address}: the connection broke: {why}")]
    Broken {
        /// Where.
        address: String,
        /// What is known.
        why: String,
    },
    /// The answer is no HTTP, or larger than it may be in its headers.
    #[error("{address}: not an answer that can be understood: {why}")]
    Protocol {
        /// Where.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// The body, or one line of it, is longer than is read.
    #[error("{address}: the answer is longer than the {limit} bytes that are read")]
    TooLarge {
        /// Where.
        address: String,
        /// The limit.
        limit: u64,
    },
    /// A redirect that is not followed.
    #[error("{from}: redirects to {to}, which is not followed: {why}")]
    Redirect {
        /// Who redirects.
        from: String,
        /// Where to.
        to: String,
        /// Why not.
        why: String,
    },
    /// A body that should be JSON.
    #[error("{address}: the answer (status {status}) is not the JSON that was expected: {why}")]
    NotJson {
        /// Where.
        address: String,
        /// The status it came with.
        status: u16,
        /// What is wrong.
        why: String,
    },
}

impl HttpError {
    /// Whether the same request may well succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::NoHost { .. }
                | Self::Unreachable { .. }
                | Self::TimedOut { .. }
                | Self::Broken { .. }
        )
    }

    /// Whether the request certainly never reached the server, so that even one that changes something may be sent again.
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::NoHost { .. } | Self::Unreachable { .. })
    }

    /// The same where only authorities that were given count, and the system's say nothing.
    pub(super) fn by_given_roots(self) -> Self {
        match self {
            Self::Tls { address, why } if why == UNKNOWN_ISSUER => {
                let why = "none of the authorities in the given file has signed its certificate";
                Self::Tls { address, why: why.to_owned() }
            }
            other => other,
        }
    }
}

fn seconds(time: Duration) -> String {
    match time.as_millis() {
        ..10_000 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} s", time.as_secs()),
    }
}

/// What ureq says, in our words.
pub(super) fn translated(error: ureq::Error, address: &str, waited: Duration) -> HttpError {
    let address = address.to_owned();
    let kept = |why: &str| why.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match error {
        ureq::Error::HostNotFound => HttpError::NoHost { address },
        ureq::Error::Timeout(_) => HttpError::TimedOut { address, waited },
        ureq::Error::Io(error) => of_io(&error, address, waited),
        ureq::Error::ConnectionFailed => not_reached(address, "no connection"),
        ureq::Error::ConnectProxyFailed(_) => not_reached(address, "the proxy refuses to connect"),
        ureq::Error::Tls(why) => HttpError::Tls { address, why: why.to_owned() },
        ureq::Error::Rustls(error) => HttpError::Tls { address, why: of_tls(&error.to_string()) },
        ureq::Error::Http(error) => HttpError::Request { address, why: kept(&error.to_string()) },
        ureq::Error::BadUri(_) => {
            HttpError::Request { address, why: "no valid address".to_owned() }
        }
        ureq::Error::LargeResponseHeader(_, limit) => {
            HttpError::Protocol { address, why: format!("headers of more than {limit} bytes") }
        }
        ureq::Error::Decompress(coding, _) => {
            HttpError::Protocol { address, why: format!("the body is no valid {coding}") }
        }
        ureq::Error::BodyStalled => {
            HttpError::Broken { address, why: "the body ends too early".to_owned() }
        }
        other => HttpError::Protocol { address, why: kept(&other.to_string()) },
    }
}

fn not_reached(address: String, why: &str) -> HttpError {
    HttpError::Unreachable { address, why: why.to_owned() }
}

fn of_io(error: &std::io::Error, address: String, waited: Duration) -> HttpError {
    use std::io::ErrorKind as Kind;
    // The resolver's errors have no kind of their own.
    if error.to_string().starts_with("failed to lookup address") {
        return HttpError::NoHost { address };
    }
    match error.kind() {
        Kind::TimedOut | Kind::WouldBlock => HttpError::TimedOut { address, waited },
        Kind::ConnectionRefused => not_reached(address, NOBODY_LISTENS),
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
            not_reached(address, "there is no way to that host")
        }
        Kind::AddrNotAvailable => not_reached(address, "the address cannot be used from here"),
        Kind::UnexpectedEof => HttpError::Broken {
            address,
            why: "it was closed before the answer was whole".to_owned(),
        },
        Kind::InvalidData => HttpError::Tls { address, why: of_tls(&error.to_string()) },
        kind => HttpError::Broken { address, why: kind.to_string() },
    }
}

/// Nobody whom the system's certificates trust stands behind a server.
const UNKNOWN_ISSUER: &str = "nobody that is trusted has signed its certificate; SSL_CERT_FILE names a file with your own certificate authority";

/// rustls' words with what a user can do about it.
fn of_tls(why: &str) -> String {
    if why.contains("UnknownIssuer") {
        return UNKNOWN_ISSUER.to_owned();
    }
    if why.contains("Expired") || why.contains("expired") {
        return "its certificate has expired".to_owned();
    }
    if why.contains("NotValidForName") || why.contains("not valid for name") {
        return "its certificate is for another host".to_owned();
    }
    if why.contains("InvalidContentType") || why.contains("corrupt message") {
        return "it does not speak TLS there; is it http instead of https?".to_owned();
    }
    why.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}
