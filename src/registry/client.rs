//! One request to a registry: over TLS or not, with a login where one is asked for, and what its answer means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::challenge::{Challenge, parse_challenges};
use super::credentials::{Credential, Credentials, Login};
use super::host::{Host, Scheme};
use super::token::{TokenService, granted};
use super::{RegistryError, Repository};
use crate::clock::Deadline;
use crate::http::{Address, Client, HttpError, Method, Request, Response, Retry, Secret};

/// The client for all hosts.
pub(super) struct RegistryClient {
    pub(super) http: Client,
    pub(super) credentials: Credentials,
    /// Hosts that are asked without TLS; this machine is without that.
    pub(super) plain_http: Vec<String>,
    pub(super) deadline: Deadline,
    pub(super) retry: Retry,
    pub(super) hosts: Mutex<HashMap<String, Arc<Host>>>,
}

/// What is asked.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The image in messages.
    pub(super) reference: &'a str,
    pub(super) repository: &'a Repository,
    pub(super) method: Method,
    /// `manifests` or `blobs`.
    pub(super) kind: &'a str,
    /// A tag or digest.
    pub(super) name: &'a str,
    pub(super) accept: &'a str,
    /// The bytes of the answer that are read.
    pub(super) limit: u64,
}

impl RegistryClient {
    /// The answer, whatever its status but 401, which is answered by logging in.
    pub(super) fn ask(&self, question: Question<'_>) -> Result<Response, RegistryError> {
        let host = self.host(&question.repository.host);
        if let Some(source) = host.state().unreachable.clone() {
            return Err(RegistryError::NoAnswer {
                reference: question.reference.to_owned(),
                source,
            });
        }
        let mut first = host.first_request();
        let answer = self.ask_with_login(&host, question);
        if let Some(is_known) = first.as_deref_mut() {
            *is_known = answer.is_ok();
        }
        answer
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let host = hosts.entry(name.to_owned()).or_insert_with(|| Arc::new(Host::new(name)));
        Arc::clone(host)
    }

    fn ask_with_login(
        &self,
        host: &Host,
        question: Question<'_>,
    ) -> Result<Response, RegistryError> {
        let default_scope = format!("repository:{}:pull", question.repository.path);
        let response = self.send(host, question, &default_scope)?;
        if response.status != 401 {
            return Ok(response);
        }
        let scope = self.learn(host, question, &response)?.unwrap_or(default_scope);
        let response = self.send(host, question, &scope)?;
        if response.status != 401 {
            return Ok(response);
        }
        // Twice is enough: the login was not taken, and a third time changes nothing.
        let scheme = host.state().scheme.clone();
        Err(refused(host, question, &scheme))
    }

    /// What a 401 asks for becomes the host's scheme; the scope that it names is given back.
    fn learn(
        &self,
        host: &Host,
        question: Question<'_>,
        response: &Response,
    ) -> Result<Option<String>, RegistryError> {
        let challenges = parse_challenges(response.headers_named("WWW-Authenticate"));
        let credential = self.credentials.find(question.repository)?.map(Arc::new);
        let fixed = credential.as_ref().filter(|c| matches!(c.login, Login::Registry(_)));
        let token = challenges.iter().find_map(|challenge| match challenge {
            Challenge::Bearer { realm, service, scope } => Some((realm, service, scope)),
            Challenge::Basic => None,
        });
        let needed = || self.login_needed(host, question);
        let (scheme, scope) = match (fixed, token, credential.clone()) {
            (Some(credential), ..) => (Scheme::Fixed(Arc::clone(credential)), None),
            (None, Some((realm, service, scope)), credential) => {
                let realm = self.realm(host, question, realm)?;
                let service = TokenService { realm, service: service.clone() };
                (Scheme::Token(Arc::new(service), credential), scope.clone())
            }
            (None, None, Some(credential)) if challenges.contains(&Challenge::Basic) => {
                (Scheme::Basic(credential), None)
            }
            (None, None, None) => return Err(needed()),
            (None, None, Some(_)) => {
                let what = "a way to log in that is not known".to_owned();
                return Err(unusual(host, question, what));
            }
        };
        let mut state = host.state();
        state.tokens.forget(&format!("repository:{}:pull", question.repository.path));
        state.scheme = scheme;
        Ok(scope)
    }

    /// The token service's address; a password is not sent to it in the clear, but where the registry itself is asked so.
    fn realm(
        &self,
        host: &Host,
        question: Question<'_>,
        realm: &str,
    ) -> Result<Address, RegistryError> {
        let wrong = |what: &str| unusual(host, question, what.to_owned());
        let address =
            Address::parse(realm).map_err(|_| wrong("a token service that is no address"))?;
        let origin = address.origin();
        let named = if [80, 443].contains(&origin.port) {
            origin.host.clone()
        } else {
            format!("{}:{}", origin.host, origin.port)
        };
        let is_plain_here = host.state().is_secure == Some(false);
        let may_be_plain = is_plain_here
            && (origin.is_loopback() || named == host.name || self.plain_http.contains(&named));
        if origin.secure || may_be_plain {
            return Ok(address);
        }
        Err(wrong("a token service without TLS"))
    }

    fn send(
        &self,
        host: &Host,
        question: Question<'_>,
        scope: &str,
    ) -> Result<Response, RegistryError> {
        let login = self.authorization(host, question, scope)?;
        let known = host.state().is_secure;
        let result = match known.or_else(|| self.is_secure_by_name(host)) {
            Some(is_secure) => self.send_to(host, is_secure, question, login.as_ref()),
            None => return self.probe(host, question),
        };
        if let Ok(response) = &result {
            host.state().is_secure.get_or_insert(response.address.origin().secure);
        }
        self.noted(host, question, result)
    }

    /// Whether TLS is spoken, where that is settled before anything is known.
    fn is_secure_by_name(&self, host: &Host) -> Option<bool> {
        if self.plain_http.contains(&host.name) {
            return Some(false);
        }
        let origin = Address::parse(&format!("https://{}", host.name));
        let is_here = origin.is_ok_and(|address| address.origin().is_loopback());
        (!is_here).then_some(true)
    }

    /// A registry of this machine may speak either: plain first, since nothing secret is sent with a first request.
    fn probe(&self, host: &Host, question: Question<'_>) -> Result<Response, RegistryError> {
        let plain = self.send_to(host, false, question, None);
        let may_be_tls = match &plain {
            Ok(response) => response.status == 400,
            Err(error) => matches!(error, HttpError::Broken { .. } | HttpError::Protocol { .. }),
        };
        if may_be_tls {
            let secure = self.send_to(host, true, question, None);
            let speaks_tls = match &secure {
                Ok(_) => true,
                Err(HttpError::Tls { why, .. }) => !why.contains("does not speak TLS"),
                Err(_) => false,
            };
            if speaks_tls {
                host.state().is_secure = Some(true);
                return self.noted(host, question, secure);
            }
        }
        if plain.is_ok() {
            host.state().is_secure = Some(false);
        }
        self.noted(host, question, plain)
    }

    fn noted(
        &self,
        host: &Host,
        question: Question<'_>,
        result: Result<Response, HttpError>,
    ) -> Result<Response, RegistryError> {
        result.map_err(|source| {
            if source.is_unsent() || matches!(source, HttpError::Tls { .. }) {
                host.state().unreachable = Some(source.clone());
            }
            RegistryError::unanswered(question.reference, &question.repository.host, source)
        })
    }

    fn send_to(
        &self,
        host: &Host,
        is_secure: bool,
        question: Question<'_>,
        login: Option<&Secret>,
    ) -> Result<Response, HttpError> {
        let scheme = if is_secure { "https" } else { "http" };
        let mut segments: Vec<&str> = vec!["v2"];
        segments.extend(question.repository.path.split('/'));
        segments.extend([question.kind, question.name]);
        let address = Address::parse(&format!("{scheme}://{}", host.name))?.below(&segments);
        let mut request = Request::new(question.method, address)
            .body_limit(question.limit)
            // The digest is that of the bytes as stored, so nothing on the way should pack them.
            .header("Accept-Encoding", "identity");
        if !question.accept.is_empty() {
            request = request.header("Accept", question.accept);
        }
        if let Some(login) = login {
            request = request.secret_header("Authorization", login.clone());
        }
        self.http.send_patiently(&request, self.deadline, &self.retry)
    }

    /// The `Authorization` that the host asked for before, a new token fetched where there is none.
    fn authorization(
        &self,
        host: &Host,
        question: Question<'_>,
        scope: &str,
    ) -> Result<Option<Secret>, RegistryError> {
        let scheme = host.state().scheme.clone();
        match &scheme {
            Scheme::Open => Ok(None),
            Scheme::Basic(credential) => Ok(basic(credential)),
            Scheme::Fixed(credential) => match &credential.login {
                Login::Registry(token) => Ok(Some(bearer(token))),
                _ => Ok(None),
            },
            Scheme::Token(service, credential) => {
                if let Some(token) = host.state().tokens.find(scope) {
                    return Ok(Some(bearer(&token)));
                }
                let token =
                    self.fetch_token(host, question, service, credential.as_deref(), scope)?;
                Ok(Some(bearer(&token)))
            }
        }
    }

    fn fetch_token(
        &self,
        host: &Host,
        question: Question<'_>,
        service: &TokenService,
        credential: Option<&Credential>,
        scope: &str,
    ) -> Result<Secret, RegistryError> {
        let request = service.request(scope, credential).body_limit(1024 * 1024);
        let response = self.http.send_patiently(&request, self.deadline, &self.retry);
        let response = response.map_err(|source| {
            RegistryError::unanswered(question.reference, &question.repository.host, source)
        })?;
        match (response.status, credential) {
            (200..300, _) => {}
            (401 | 403, Some(credential)) => {
                return Err(login_refused(host, question, &credential.origin));
            }
            (401 | 403, None) => return Err(self.login_needed(host, question)),
            (429, _) => {
                let host = &service.realm.origin().host;
                return Err(RegistryError::busy(question.reference, host, &response));
            }
            (status, _) => {
                let what = format!("a token service that answers with status {status}");
                return Err(unusual(host, question, what));
            }
        }
        let Some(granted) = granted(&response) else {
            return Err(unusual(host, question, "a token service that gives no token".to_owned()));
        };
        host.state().tokens.keep(scope, &granted);
        Ok(granted.token)
    }

    fn login_needed(&self, host: &Host, question: Question<'_>) -> RegistryError {
        RegistryError::LoginNeeded {
            reference: question.reference.to_owned(),
            host: host.name.clone(),
            looked: self.credentials.looked(),
        }
    }

    /// What an answer that is no success means.
    pub(super) fn failure(&self, question: Question<'_>, response: &Response) -> RegistryError {
        let (reference, host) = (question.reference.to_owned(), &question.repository.host);
        match response.status {
            404 => RegistryError::NotFound { reference, host: host.clone() },
            403 => {
                let scheme = self.host(host).state().scheme.clone();
                let who = scheme.credential().map(|c| format!("the login from {}", c.origin));
                let who = who.unwrap_or_else(|| "anybody".to_owned());
                RegistryError::Denied { reference, host: host.clone(), who }
            }
            429 => RegistryError::busy(question.reference, host, response),
            status => {
                let code = error_code(response).map(|code| format!(", {code}")).unwrap_or_default();
                let what = format!("status {status}{code}");
                RegistryError::Unusual { reference, host: host.clone(), what }
            }
        }
    }
}

fn basic(credential: &Credential) -> Option<Secret> {
    use base64::Engine;
    let Login::Password { user, password } = &credential.login else { return None };
    let pair = format!("{user}:{}", password.expose());
    Some(Secret::new(format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(pair))))
}

fn bearer(token: &Secret) -> Secret {
    Secret::new(format!("Bearer {}", token.expose()))
}

fn unusual(host: &Host, question: Question<'_>, what: String) -> RegistryError {
    RegistryError::Unusual {
        reference: question.reference.to_owned(),
        host: host.name.clone(),
        what,
    }
}

fn login_refused(host: &Host, question: Question<'_>, origin: &str) -> RegistryError {
    RegistryError::LoginRefused {
        reference: question.reference.to_owned(),
        host: host.name.clone(),
        origin: origin.to_owned(),
    }
}

/// A second 401. A password that is sent is wrong; a token that was given does not allow this.
fn refused(host: &Host, question: Question<'_>, scheme: &Scheme) -> RegistryError {
    let (reference, name) = (question.reference.to_owned(), host.name.clone());
    match scheme {
        Scheme::Basic(credential) | Scheme::Fixed(credential) => {
            login_refused(host, question, &credential.origin)
        }
        Scheme::Token(_, Some(credential)) => {
            let who = format!("the login from {}", credential.origin);
            RegistryError::Denied { reference, host: name, who }
        }
        Scheme::Token(_, None) | Scheme::Open => {
            RegistryError::Denied { reference, host: name, who: "anybody".to_owned() }
        }
    }
}

/// `errors[0].code` of the specification, where it looks like one; the message beside it may hold anything.
fn error_code(response: &Response) -> Option<String> {
    #[derive(Deserialize)]
    struct Errors {
        errors: Vec<Code>,
    }
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    let errors: Errors = serde_json::from_slice(&response.body).ok()?;
    let code = errors.errors.into_iter().next()?.code;
    let is_code = |b: u8| b.is_ascii_uppercase() || b == b'_';
    (code.len() <= 40 && code.bytes().all(is_code)).then_some(code)
}
