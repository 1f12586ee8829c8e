//! A small HTTP/1.1 client for the adapters that speak to servers: registries, forges without a client of their own, Argo CD.
//!
//! ```text
//! let client = Client::new(&Options { proxies: Proxies::from_variables(&environment.variables), ..Options::default() });
//! let request = Request::get(Address::parse("https://argocd.example/api/v1/applications")?).bearer(&token);
//! let response = client.send(&request, deadline)?;                        // any status is a response
//! let response = client.send_patiently(&request, deadline, &Retry::default())?;  // 429, 503, resets: asked again
//! let apps: Applications = response.json()?;                              // an error names the server, never the body's secrets
//! let mut stream = client.open(&request, deadline, idle)?;                // a long answer, line by line
//! while let Some(line) = stream.next_line()? { … }
//! ```
//!
//! What it holds to, so that its callers need not:
//! * a *deadline* for the whole request, redirects and body included, and a limit on the bytes of a body and of a line;
//! * *secrets* ([`Secret`]) stand in no error, no `Debug` text and no other origin: a redirect to another scheme, host or
//!   port loses every secret header, one from `https` to `http` is refused, ten hops are the most (RFC 9110, section 15.4);
//! * *pauses*: what a server asks of one request to wait, all requests of the same client to it wait;
//! * *errors* name scheme, host and path; queries, which carry signatures and tokens, never appear;
//! * *roots* are the system's (`SSL_CERT_FILE` and `SSL_CERT_DIR` replace them, as with OpenSSL and Go), and what
//!   [`Options::extra_roots`] adds; *proxies* are those of the usual variables.
//!
//! Must not know any server's API, nor read the environment (`config` does).

mod address;
mod client;
mod error;
mod lines;
mod pause;
mod proxy;
mod request;
mod response;
mod retry;
mod roots;

pub use address::{Address, Origin, encode};
pub use client::{Client, Options, Trust};
pub use error::{HttpError, NOBODY_LISTENS};
pub use lines::Stream;
pub use proxy::Proxies;
pub use request::{Method, Request, Secret};
pub use response::Response;
pub use retry::{Failure, Retry, retry_after};
pub use roots::system_authorities;
