//! The client: connections, limits, redirects, patience.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use ureq::http;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody, Body};

use super::error::translated;
use super::pause::Pauses;
use super::retry::{Failure, Retry, retry_after};
use super::roots::{load_files, load_roots};
use super::{Address, HttpError, Method, Proxies, Request, Response, Stream};
use crate::clock::{self, Deadline};

/// The most redirects that are followed.
const MOST_REDIRECTS: usize = 10;

/// Whose word is believed about who a server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The certificate authorities'.
    #[default]
    Authorities,
    /// Those of [`Options::extra_roots`] alone.
    ExtraRoots,
    /// Anybody's: only where the user asked for exactly that, for exactly this server.
    Anybody,
}

/// What a client is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// `User-Agent`.
    pub user_agent: String,
    /// How long finding the host and connecting to it may take, each.
    pub connect_timeout: Duration,
    /// The bytes of a body, where a request does not say otherwise.
    pub body_limit: u64,
    /// Files of certificate authorities beside the system's.
    pub extra_roots: Vec<PathBuf>,
    /// The proxies of the environment.
    pub proxies: Proxies,
    /// Whether certificates are checked.
    pub trust: Trust,
    /// Whether redirects of safe methods are followed, else they are answers like others.
    pub follows_redirects: bool,
    /// Whether a connection is kept for the next request.
    pub keeps_connections: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_agent: concat!("overlay/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            body_limit: 16 * 1024 * 1024,
            extra_roots: Vec::new(),
            proxies: Proxies::default(),
            trust: Trust::Authorities,
            follows_redirects: true,
            keeps_connections: true,
        }
    }
}

/// A client with its pool of connections. It may be used by many threads at once.
pub struct Client {
    options: Options,
    plain: Agent,
    /// Made when the first `https` address is asked: reading the roots costs milliseconds.
    secure: OnceLock<Result<Agent, HttpError>>,
    pauses: Pauses,
}

impl Client {
    /// A client; nothing is connected yet.
    pub fn new(options: &Options) -> Self {
        let plain = agent(options, TlsConfig::builder().root_certs(RootCerts::from([])).build());
        Self { options: options.clone(), plain, secure: OnceLock::new(), pauses: Pauses::default() }
    }

    /// Reads the authorities that `https` servers are judged by now, not with the first request to one.
    ///
    /// # Errors
    /// [`HttpError::Roots`].
    pub fn prepare_tls(&self) -> Result<(), HttpError> {
        self.secure_agent().map(|_| ())
    }

    /// Sends a request and reads the whole answer, whatever its status, within `deadline`; redirects of safe methods are followed.
    ///
    /// # Errors
    /// [`HttpError`].
    pub fn send(&self, request: &Request, deadline: Deadline) -> Result<Response, HttpError> {
        let allowed = deadline.remaining();
        let (address, answer) = self.follow(request, deadline, None)?;
        let limit = request.body_limit.unwrap_or(self.options.body_limit);
        let (parts, body) = answer.into_parts();
        let body = if request.method == Method::Head {
            Vec::new()
        } else {
            read_body(body, &address, limit, allowed)?
        };
        Ok(Response {
            status: parts.status.as_u16(),
            address,
            body,
            headers: texts(&parts.headers),
        })
    }

    /// The same, asked again as [`Retry::wait`] decides. What the server asks of one request to wait (429, or `Retry-After`), all
    /// patient requests to it wait.
    ///
    /// # Errors
    /// The last attempt's; [`HttpError::Paused`] where it cannot be asked in time.
    pub fn send_patiently(
        &self,
        request: &Request,
        deadline: Deadline,
        retry: &Retry,
    ) -> Result<Response, HttpError> {
        let mut made = 0;
        loop {
            self.sit_out_pause(&request.address, deadline, retry)?;
            made += 1;
            let result = self.send(request, deadline.sooner(retry.each));
            let failure = match &result {
                Ok(response) if response.status < 400 => return result,
                Ok(response) => Failure::Answer {
                    status: response.status,
                    wait: retry_after(response, clock::now_unix()),
                },
                Err(error) => Failure::Error(error),
            };
            let wait = retry.wait(request.method, failure, made, deadline.remaining(), random());
            if let Some(pause) = Retry::pause(failure, wait) {
                self.pauses.keep(request.address.origin(), pause);
            }
            match wait {
                Some(wait) => clock::sleep(wait),
                None => return result,
            }
        }
    }

    /// Waits until the server may be asked again; then a moment of one's own, so that not all ask at once.
    fn sit_out_pause(
        &self,
        address: &Address,
        deadline: Deadline,
        retry: &Retry,
    ) -> Result<(), HttpError> {
        loop {
            let left = self.pauses.left(address.origin());
            if left.is_zero() {
                return Ok(());
            }
            if left >= deadline.remaining() {
                return Err(HttpError::Paused { address: address.to_string(), left });
            }
            clock::sleep(left + retry.first_wait.mul_f64(random()));
        }
    }

    /// Sends a request and leaves the body to be read line by line, within `deadline`; silence for `idle` is an error.
    ///
    /// # Errors
    /// [`HttpError`].
    pub fn open(
        &self,
        request: &Request,
        deadline: Deadline,
        idle: Duration,
    ) -> Result<Stream, HttpError> {
        let allowed = deadline.remaining().min(idle);
        let (address, answer) = self.follow(request, deadline, Some(idle))?;
        let (parts, body) = answer.into_parts();
        let reader = BufReader::new(body.into_reader());
        let (status, headers) = (parts.status.as_u16(), texts(&parts.headers));
        Ok(Stream { status, address, headers, reader, allowed })
    }

    fn follow(
        &self,
        request: &Request,
        deadline: Deadline,
        idle: Option<Duration>,
    ) -> Result<(Address, http::Response<Body>), HttpError> {
        let mut request = request.clone();
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.ask(&request, deadline, idle)?;
            let next = match self.options.follows_redirects {
                true => redirect(&request, &answer)?,
                false => None,
            };
            match next {
                Some(next) => request = request.redirected_to(next),
                None => return Ok((request.address, answer)),
            }
        }
        Err(HttpError::Redirect {
            from: request.address.to_string(),
            to: "yet another address".to_owned(),
            why: format!("{MOST_REDIRECTS} redirects are the most"),
        })
    }

    fn ask(
        &self,
        request: &Request,
        deadline: Deadline,
        idle: Option<Duration>,
    ) -> Result<http::Response<Body>, HttpError> {
        let shown = request.address.to_string();
        let allowed = deadline.remaining();
        if allowed.is_zero() {
            return Err(HttpError::TimedOut { address: shown, waited: Duration::ZERO });
        }
        let agent = self.agent_for(&request.address)?;
        let proxy = self.options.proxies.for_address(&request.address)?;
        let limits = Limits { allowed, idle, proxy };
        let sent = head(request).and_then(|head| match (&request.body, request.method) {
            (Some(bytes), _) => limits.run(agent, head.body(bytes.as_slice())?),
            (None, Method::Post | Method::Put | Method::Patch) => {
                limits.run(agent, head.body([].as_slice())?)
            }
            (None, _) => limits.run(agent, head.body(())?),
        });
        sent.map_err(|error| match self.options.trust {
            Trust::ExtraRoots => translated(error, &shown, allowed).by_given_roots(),
            Trust::Authorities | Trust::Anybody => translated(error, &shown, allowed),
        })
    }

    fn agent_for(&self, address: &Address) -> Result<&Agent, HttpError> {
        if address.origin().secure { self.secure_agent() } else { Ok(&self.plain) }
    }

    fn secure_agent(&self) -> Result<&Agent, HttpError> {
        let made = self.secure.get_or_init(|| {
            let tls = TlsConfig::builder();
            let tls = match self.options.trust {
                Trust::Authorities => tls.root_certs(load_roots(&self.options.extra_roots)?),
                Trust::ExtraRoots => tls.root_certs(load_files(&self.options.extra_roots)?),
                Trust::Anybody => tls.root_certs(RootCerts::from([])).disable_verification(true),
            };
            Ok(agent(&self.options, tls.build()))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

fn agent(options: &Options, tls: TlsConfig) -> Agent {
    let (idle, idle_per_host) = if options.keeps_connections { (32, 8) } else { (0, 0) };
    Agent::config_builder()
        .http_status_as_error(false)
        // `follow` does it, with our rules.
        .max_redirects(0)
        .user_agent(options.user_agent.as_str())
        .timeout_resolve(Some(options.connect_timeout))
        .timeout_connect(Some(options.connect_timeout))
        .max_idle_connections(idle)
        .max_idle_connections_per_host(idle_per_host)
        .proxy(None)
        .tls_config(tls)
        .build()
        .into()
}

/// What holds for one request alone.
struct Limits {
    allowed: Duration,
    idle: Option<Duration>,
    proxy: Option<ureq::Proxy>,
}

impl Limits {
    fn run<S: AsSendBody>(
        self,
        agent: &Agent,
        request: http::Request<S>,
    ) -> Result<http::Response<Body>, ureq::Error> {
        let request = agent
            .configure_request(request)
            .timeout_global(Some(self.allowed))
            .timeout_per_read(self.idle)
            .proxy(self.proxy)
            .build();
        agent.run(request)
    }
}

fn head(request: &Request) -> Result<http::request::Builder, ureq::Error> {
    let mut builder =
        http::Request::builder().method(request.method.name()).uri(request.address.full());
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    for (name, value) in &request.secret_headers {
        let mut value = http::HeaderValue::from_str(value.expose()).map_err(http::Error::from)?;
        value.set_sensitive(true);
        builder = builder.header(name, value);
    }
    Ok(builder)
}

/// Where the answer sends the request next, if it does and may.
fn redirect(
    request: &Request,
    answer: &http::Response<Body>,
) -> Result<Option<Address>, HttpError> {
    if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
    let Some(location) = location else { return Ok(None) };
    let next = request.address.join(location)?;
    let refused = |why: &str| HttpError::Redirect {
        from: request.address.to_string(),
        to: next.to_string(),
        why: why.to_owned(),
    };
    if request.address.origin().secure && !next.origin().secure {
        return Err(refused("it leads from https to http"));
    }
    if !request.method.is_safe() {
        return Err(refused("only what reads is sent elsewhere; name that address instead"));
    }
    Ok(Some(next))
}

fn read_body(
    body: Body,
    address: &Address,
    limit: u64,
    allowed: Duration,
) -> Result<Vec<u8>, HttpError> {
    let too_large = || HttpError::TooLarge { address: address.to_string(), limit };
    if body.content_length().is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let read = body.into_reader().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| translated(error.into(), &address.to_string(), allowed))?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn texts(headers: &http::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// A number in `0..1`, other in each call: enough to spread waits, not for anything secret.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(0) >> 11;
    bits as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirect_from(from: &str, to: &str, method: Method) -> Result<Option<Address>, HttpError> {
        let request = Request::new(method, Address::parse(from).unwrap());
        let answer = http::Response::builder().status(307).header("Location", to);
        redirect(&request, &answer.body(Body::builder().data("")).unwrap())
    }

    #[test]
    fn redirects_stay_secure_and_are_for_reading() {
        let next = redirect_from("https://r/a", "https://s/b", Method::Get).unwrap();
        assert_eq!(next.unwrap().to_string(), "https://s/b");
        let next = redirect_from("https://r/a", "/b", Method::Head).unwrap();
        assert_eq!(next.unwrap().to_string(), "https://r/b");
        assert!(redirect_from("https://r/a", "http://r/b", Method::Get).is_err());
        assert!(redirect_from("https://r/a", "https://r/b", Method::Post).is_err());
        assert!(redirect_from("https://r/a", "ftp://r/b", Method::Get).is_err());
    }
}
