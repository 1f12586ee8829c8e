//! Tokens of a registry's token service (distribution's "token authentication" and "OAuth 2"), kept while they hold.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;

use super::credentials::{Credential, Login};
use crate::clock::Deadline;
use crate::http::{Address, Method, Request, Response, Secret, encode};

/// How long a token holds where the service does not say (the specification's default), and how much of it is left unused.
const USUAL_SECONDS: u64 = 60;
const MARGIN_SECONDS: u64 = 5;

/// The service that gives tokens for a host.
#[derive(Clone, Debug)]
pub(super) struct TokenService {
    pub(super) realm: Address,
    pub(super) service: Option<String>,
}

/// The tokens of a host, by what they allow.
#[derive(Default)]
pub(super) struct Tokens(HashMap<String, (Secret, Deadline)>);

impl Tokens {
    /// The token for a scope, while it holds.
    pub(super) fn find(&self, scope: &str) -> Option<Secret> {
        let (token, until) = self.0.get(scope)?;
        (!until.is_over()).then(|| token.clone())
    }

    pub(super) fn keep(&mut self, scope: &str, token: &Granted) {
        let until = Deadline::after(token.holds);
        self.0.insert(scope.to_owned(), (token.token.clone(), until));
    }

    pub(super) fn forget(&mut self, scope: &str) {
        self.0.remove(scope);
    }
}

/// A token and how long it may be used.
pub(super) struct Granted {
    pub(super) token: Secret,
    holds: Duration,
}

impl TokenService {
    /// The request for a token that allows `scope`; with an identity token it is a form of OAuth 2.
    pub(super) fn request(&self, scope: &str, credential: Option<&Credential>) -> Request {
        if let Some(Credential { login: Login::Identity(identity), .. }) = credential {
            return self.exchange(scope, identity);
        }
        let mut address = self.realm.clone();
        if let Some(service) = &self.service {
            address = address.with_parameter("service", service);
        }
        let request = Request::get(address.with_parameter("scope", scope));
        match credential.map(|credential| &credential.login) {
            Some(Login::Password { user, password }) => request.basic(user, password),
            _ => request,
        }
    }

    fn exchange(&self, scope: &str, identity: &Secret) -> Request {
        let service = self.service.as_deref().unwrap_or_default();
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", "overlay"),
            ("service", service),
            ("scope", scope),
            ("refresh_token", identity.expose()),
        ];
        let form: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        Request::new(Method::Post, self.realm.clone())
            .body("application/x-www-form-urlencoded", form.join("&").into_bytes())
    }
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<u64>,
}

/// The token in a service's answer: `token` or `access_token`.
pub(super) fn granted(response: &Response) -> Option<Granted> {
    let answer: Answer = response.json().ok()?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = filled(answer.token).or_else(|| filled(answer.access_token))?;
    let seconds = answer.expires_in.unwrap_or(USUAL_SECONDS).saturating_sub(MARGIN_SECONDS);
    Some(Granted { token: Secret::new(token), holds: Duration::from_secs(seconds) })
}
