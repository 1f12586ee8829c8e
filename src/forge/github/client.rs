//! Requests to GitHub: bounded in time and size, made again where that is safe, never with the credential in a text.

use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use octocrab::Octocrab;
use serde_json::Value as Json;

use crate::clock::{self, Deadline};
use crate::forge::credential::scrub;
use crate::forge::retry::{Advice, MOST_TRIES, Signs, advise};
use crate::forge::{ForgeError, Site};
use crate::http::Secret;

/// The most bytes of an answer: a page of a hundred pull requests with full bodies has some seven million.
const MAX_ANSWER: usize = 32 << 20;

/// The longest text of an answer that is shown.
const MAX_MESSAGE: usize = 400;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(20);

/// How often a renamed repository is followed.
const MOST_REDIRECTS: u32 = 3;

/// The methods in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    /// A `POST` that only reads.
    Query,
    Put,
    Patch,
}

impl Method {
    /// RFC 9110, section 9.2.2. What GitHub's `PATCH` sets is what it was asked to set, however often; its `PUT` merges, and says no
    /// the second time.
    fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Put)
    }
}

/// One connection to GitHub.
pub(super) struct Client {
    runtime: tokio::runtime::Runtime,
    inner: Octocrab,
    secret: Secret,
    host: String,
    api: String,
    deadline: Deadline,
}

/// What came back.
struct Answer {
    signs: Signs,
    location: Option<String>,
    body: Json,
}

impl Client {
    /// `text` without the token.
    pub(super) fn scrub(&self, text: &str) -> String {
        scrub(&self.secret, text)
    }

    /// With this bearer token, for as long as is allowed.
    pub(super) fn new(site: &Site, secret: Secret, allowed: Duration) -> Result<Self, ForgeError> {
        let failed = |message: String| ForgeError::Unreachable { host: site.host.clone(), message };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| failed(e.to_string()))?;
        if !secret.expose().bytes().all(|b| b.is_ascii_graphic()) || secret.expose().is_empty() {
            let message = "it has spaces, line ends or other bytes that no token has".to_owned();
            return Err(ForgeError::Unauthorized { host: site.host.clone(), message });
        }
        let inner = {
            let _inside = runtime.enter();
            Octocrab::builder()
                .base_uri(site.api.as_str())
                .map(|builder| builder.personal_token(secret.expose().to_owned()))
                .map(|builder| builder.set_connect_timeout(Some(CONNECT.min(allowed))))
                .and_then(|builder| builder.build())
        };
        let inner = inner.map_err(|e| failed(causes(&e)))?;
        let (host, api) = (site.host.clone(), site.api.clone());
        Ok(Self { runtime, inner, secret, host, api, deadline: Deadline::after(allowed) })
    }

    /// Makes a request until it is answered, and gives the body of a success.
    pub(super) fn call(
        &self,
        action: &'static str,
        method: Method,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Json, ForgeError> {
        let mut path = path.to_owned();
        let (mut tries, mut redirects) = (0, 0);
        loop {
            tries += 1;
            let (error, wait) = match self.send(method, &path, body) {
                Ok(Answer { signs, location: Some(location), .. })
                    if is_redirect(signs.status) && redirects < MOST_REDIRECTS =>
                {
                    redirects += 1;
                    path = self.same_host(action, &location)?;
                    continue;
                }
                Ok(answer) => match advise(answer.signs, tries, clock::now_unix()) {
                    Advice::Take => return self.take(action, answer),
                    Advice::AfterLimit(wait) => {
                        (ForgeError::RateLimited { host: self.host.clone(), wait }, Some(wait))
                    }
                    Advice::AfterFault(wait) => (
                        self.failed(action, answer.signs.status),
                        method.is_idempotent().then_some(wait),
                    ),
                },
                Err(error @ ForgeError::Unreachable { .. }) => {
                    let wait = Duration::from_millis(250) * tries;
                    (error, method.is_idempotent().then_some(wait))
                }
                Err(error) => return Err(error),
            };
            match wait {
                Some(wait) if tries < MOST_TRIES && wait < self.deadline.remaining() => {
                    clock::sleep(wait);
                }
                _ => return Err(error),
            }
        }
    }

    fn failed(&self, action: &str, status: u16) -> ForgeError {
        ForgeError::Failed { host: self.host.clone(), action: action.to_owned(), status }
    }

    /// Where a renamed repository went: only the same server is followed, with or without its host in the address.
    fn same_host(&self, action: &str, location: &str) -> Result<String, ForgeError> {
        let origin = |url: &str| {
            let (scheme, rest) = url.split_once("://")?;
            Some(format!("{scheme}://{}", rest.split('/').next()?))
        };
        match origin(location) {
            None if location.starts_with('/') => Ok(location.to_owned()),
            Some(there) if Some(&there) == origin(&self.api).as_ref() => Ok(location.to_owned()),
            _ => Err(ForgeError::Unexpected {
                host: self.host.clone(),
                action: action.to_owned(),
                reason: "it leads to another host".to_owned(),
            }),
        }
    }

    fn send(&self, method: Method, path: &str, body: Option<&Json>) -> Result<Answer, ForgeError> {
        let timed_out = || ForgeError::TimedOut { host: self.host.clone() };
        let left = self.deadline.remaining();
        if left.is_zero() {
            return Err(timed_out());
        }
        let call = self.exchange(method, path, body);
        let outcome = self.runtime.block_on(async { tokio::time::timeout(left, call).await });
        outcome.map_err(|_| timed_out())?
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<&Json>,
    ) -> Result<Answer, ForgeError> {
        let unreachable = |message: String| ForgeError::Unreachable {
            host: self.host.clone(),
            message: scrub(&self.secret, &message),
        };
        let response = match method {
            Method::Get => self.inner._get(path).await,
            Method::Post | Method::Query => self.inner._post(path, body).await,
            Method::Put => self.inner._put(path, body).await,
            Method::Patch => self.inner._patch(path, body).await,
        };
        let response = response.map_err(|e| unreachable(causes(&e)))?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let number = |name: &str| header(name)?.trim().parse().ok();
        let mut signs = Signs {
            status: response.status().as_u16(),
            retry_after: number("retry-after"),
            remaining: number("x-ratelimit-remaining"),
            reset: number("x-ratelimit-reset"),
            says_limit: false,
        };
        let location = header("location");
        let collected = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let bytes = collected.map_err(|e| unreachable(e.to_string()))?.to_bytes();
        let body: Json = serde_json::from_slice(&bytes).unwrap_or(Json::Null);
        let message = body.get("message").and_then(Json::as_str).unwrap_or_default();
        signs.says_limit = message.to_ascii_lowercase().contains("rate limit");
        Ok(Answer { signs, location, body })
    }

    /// The body of a success, or what the failure means.
    fn take(&self, action: &'static str, answer: Answer) -> Result<Json, ForgeError> {
        let status = answer.signs.status;
        if (200..300).contains(&status) {
            return Ok(answer.body);
        }
        let message = scrub(&self.secret, &message_of(&answer.body, status));
        let (host, action) = (self.host.clone(), action.to_owned());
        Err(match status {
            401 => ForgeError::Unauthorized { host, message },
            403 => ForgeError::Forbidden { host, action, message },
            404 | 410 => ForgeError::NotFound { host, what: format!("what it takes to {action}") },
            400..500 => ForgeError::Refused { host, action, message },
            _ => ForgeError::Failed { host, action, status },
        })
    }
}

fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 307 | 308)
}

/// What GitHub says: its message and those of `errors`.
pub(super) fn message_of(body: &Json, status: u16) -> String {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let mut parts: Vec<String> = body.get("message").and_then(text).into_iter().collect();
    for error in body.get("errors").and_then(Json::as_array).into_iter().flatten() {
        let said = error.get("message").and_then(text).or_else(|| text(error));
        let coded = || {
            let word = |key: &str| error.get(key).and_then(Json::as_str);
            Some(format!("{} {}", word("field")?, word("code")?))
        };
        parts.extend(said.or_else(coded));
    }
    if parts.is_empty() {
        return format!("status {status}");
    }
    parts.join("; ").chars().take(MAX_MESSAGE).collect()
}

/// An error with what lies behind it, without the trace of calls that octocrab adds.
fn causes(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let line = text.lines().next().unwrap_or_default().trim().to_owned();
        if !line.is_empty() && !parts.iter().any(|known| known.contains(&line)) {
            parts.push(line);
        }
        next = error.source();
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_words_of_github_are_gathered() {
        let body = json!({"message": "Validation Failed", "errors": [
            {"resource": "PullRequest", "code": "custom", "message": "No commits between main and x"},
            {"resource": "PullRequest", "field": "base", "code": "invalid"}, "plain"]});
        let words = "Validation Failed; No commits between main and x; base invalid; plain";
        assert_eq!(message_of(&body, 422), words);
        assert_eq!(message_of(&Json::Null, 418), "status 418");
    }
}
