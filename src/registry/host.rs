//! What was learned about one host of a registry, shared by all requests to it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::credentials::Credential;
use super::token::{TokenService, Tokens};
use crate::http::HttpError;

/// How a host wants to know who asks.
#[derive(Clone, Debug)]
pub(super) enum Scheme {
    /// It did not ask yet.
    Open,
    /// By user and password with each request.
    Basic(Arc<Credential>),
    /// By a token of a service.
    Token(Arc<TokenService>, Option<Arc<Credential>>),
    /// By a token that the user has.
    Fixed(Arc<Credential>),
}

impl Scheme {
    /// Whose credential is sent.
    pub(super) fn credential(&self) -> Option<&Credential> {
        match self {
            Self::Open => None,
            Self::Basic(credential) | Self::Fixed(credential) => Some(credential),
            Self::Token(_, credential) => credential.as_deref(),
        }
    }
}

/// A host.
pub(super) struct Host {
    /// Its name and port.
    pub(super) name: String,
    /// Whether a first request was answered. It goes alone, so that what it learns serves the others.
    is_known: Mutex<bool>,
    state: Mutex<State>,
}

/// What is known of a host.
pub(super) struct State {
    /// Whether it speaks TLS, once that is known.
    pub(super) is_secure: Option<bool>,
    pub(super) scheme: Scheme,
    pub(super) tokens: Tokens,
    /// Why nobody can be reached there: asked once, not once an image.
    pub(super) unreachable: Option<HttpError>,
}

impl Host {
    pub(super) fn new(name: &str) -> Self {
        let (scheme, tokens) = (Scheme::Open, Tokens::default());
        let state = State { is_secure: None, scheme, tokens, unreachable: None };
        Self { name: name.to_owned(), is_known: Mutex::new(false), state: Mutex::new(state) }
    }

    /// A guard to hold during the first request; `None` once there was one.
    pub(super) fn first_request(&self) -> Option<MutexGuard<'_, bool>> {
        let guard = self.is_known.lock().unwrap_or_else(PoisonError::into_inner);
        if *guard { None } else { Some(guard) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
