//! A forge's API over the project's own HTTP client: one credential, JSON, and what a refusal means.

use std::time::Duration;

use serde_json::Value as Json;

use super::credential::{Credential, scrub};
use super::read::Reader;
use super::{ForgeError, Site};
use crate::clock::Deadline;
use crate::http::{
    self, Address, Client, HttpError, Method, Options, Request, Response, Retry, Secret,
};

/// The longest text of an answer that is shown.
const MAX_MESSAGE: usize = 400;

/// An API that takes a token.
pub(in crate::forge) struct Api {
    host: String,
    client: Client,
    token: Secret,
    base: Address,
    allowed: Duration,
}

impl Api {
    /// The one of the site; each request may take as long as is allowed.
    ///
    /// # Errors
    /// Where the site has no token, or its address is none.
    pub(in crate::forge) fn open(
        site: &Site,
        allowed: Duration,
        options: &Options,
    ) -> Result<Self, ForgeError> {
        let Credential::Token(token) = site.credential.clone() else {
            return Err(ForgeError::Unsupported { kind: "another forge than GitHub, as an App" });
        };
        let host = site.host.clone();
        let base = Address::parse(&site.api)
            .map_err(|e| ForgeError::Unreachable { host: host.clone(), message: e.to_string() })?;
        Ok(Self { host, client: Client::new(options), token, base, allowed })
    }

    /// An address below that of the API.
    pub(in crate::forge) fn below(&self, segments: &[&str]) -> Address {
        self.base.below(segments)
    }

    pub(in crate::forge) fn reader(&self, action: &'static str) -> Reader<'_> {
        Reader { host: &self.host, action }
    }

    /// The forge says no, in words of ours.
    pub(in crate::forge) fn refused(&self, action: &str, message: String) -> ForgeError {
        ForgeError::Refused { host: self.host.clone(), action: action.to_owned(), message }
    }

    /// The answer; null where it has none.
    ///
    /// # Errors
    /// [`ForgeError`].
    pub(in crate::forge) fn call(
        &self,
        action: &'static str,
        method: Method,
        address: Address,
        body: Option<&Json>,
    ) -> Result<Json, ForgeError> {
        let mut request = Request::new(method, address).bearer(&self.token);
        if let Some(body) = body {
            request =
                request.json(body).map_err(|e| self.reader(action).unexpected(e.to_string()))?;
        }
        let deadline = Deadline::after(self.allowed);
        let answer = self.client.send_patiently(&request, deadline, &Retry::default());
        match answer {
            Ok(answer) if answer.is_success() => {
                Ok(serde_json::from_slice(&answer.body).unwrap_or(Json::Null))
            }
            Ok(answer) => Err(self.refusal(action, &answer)),
            Err(HttpError::TimedOut { .. }) => {
                Err(ForgeError::TimedOut { host: self.host.clone() })
            }
            Err(error) => {
                let message = scrub(&self.token, &error.to_string());
                Err(ForgeError::Unreachable { host: self.host.clone(), message })
            }
        }
    }

    /// What a status means, with the forge's words.
    fn refusal(&self, action: &str, answer: &Response) -> ForgeError {
        let body: Json = serde_json::from_slice(&answer.body).unwrap_or(Json::Null);
        let message = said(&body).unwrap_or_else(|| answer.excerpt(MAX_MESSAGE));
        let message: String = scrub(&self.token, &message).chars().take(MAX_MESSAGE).collect();
        let (host, action) = (self.host.clone(), action.to_owned());
        match answer.status {
            401 => ForgeError::Unauthorized { host, message },
            403 => ForgeError::Forbidden { host, action, message },
            429 => {
                let wait = http::retry_after(answer, crate::clock::now_unix());
                ForgeError::RateLimited { host, wait: wait.unwrap_or_default() }
            }
            404 if message.is_empty() => {
                ForgeError::NotFound { host, what: format!("what it takes to {action}") }
            }
            400..500 => ForgeError::Refused { host, action, message },
            status => ForgeError::Failed { host, action, status },
        }
    }
}

/// The words of a refusal: a text, several, or those of each field; some of GitLab's stand under `error`.
fn said(body: &Json) -> Option<String> {
    fn words(value: &Json) -> Option<String> {
        match value {
            Json::String(text) => Some(text.clone()),
            Json::Array(items) => {
                let all: Vec<String> = items.iter().filter_map(words).collect();
                (!all.is_empty()).then(|| all.join(", "))
            }
            Json::Object(fields) => {
                let told = |(name, value)| Some(format!("{name} {}", words(value)?));
                let all: Vec<String> = fields.iter().filter_map(told).collect();
                (!all.is_empty()).then(|| all.join(", "))
            }
            _ => None,
        }
    }
    ["message", "error_description", "error"].iter().find_map(|name| words(body.get(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn refusals_are_told_in_the_words_of_the_forge() {
        for (body, expected) in [
            (json!({"message": "no"}), Some("no")),
            (json!({"message": ["a", "b"]}), Some("a, b")),
            (json!({"message": {"base": ["is gone"]}}), Some("base is gone")),
            (json!({"error": "insufficient_scope", "error_description": "more"}), Some("more")),
            (json!({"error": "404 Not Found"}), Some("404 Not Found")),
            (json!({"message": null}), None),
            (json!([1]), None),
        ] {
            assert_eq!(said(&body).as_deref(), expected, "{body}");
        }
    }
}
