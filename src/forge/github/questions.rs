//! GitHub's GraphQL API: a text of `texts/` with its variables, and the data that comes back.

use std::cell::OnceCell;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::client::{Client, Method, message_of};
use crate::forge::{ForgeError, Site};
use crate::http::Secret;

/// Where the questions go; the connection is made for the first one.
pub(super) struct Questions {
    site: Site,
    token: Secret,
    allowed: Duration,
    client: OnceCell<Client>,
}

/// One text, and what it is for.
#[derive(Clone, Copy)]
pub(super) struct Question {
    /// What is tried, as errors say it.
    pub(super) action: &'static str,
    /// The text.
    pub(super) text: &'static str,
    /// Whether it only reads.
    pub(super) reads: bool,
}

impl Questions {
    /// The API beside the one of `site`: `/graphql` at github.com, `/api/graphql` beside `/api/v3` elsewhere (docs.github.com, "Forming
    /// calls with GraphQL").
    pub(super) fn new(site: &Site, token: Secret, allowed: Duration) -> Self {
        let api = site.api.strip_suffix("/v3").unwrap_or(&site.api).to_owned();
        let site = Site { api, ..site.clone() };
        Self { site, token, allowed, client: OnceCell::new() }
    }

    /// The data of the answer.
    pub(super) fn ask(&self, question: Question, variables: Json) -> Result<Json, ForgeError> {
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = Client::new(&self.site, self.token.clone(), self.allowed)?;
                self.client.get_or_init(|| client)
            }
        };
        let method = if question.reads { Method::Query } else { Method::Post };
        let body = json!({"query": question.text, "variables": variables});
        let answer = client.call(question.action, method, "/graphql", Some(&body))?;
        let errors = answer.get("errors").and_then(Json::as_array);
        match errors.and_then(|errors| errors.first()) {
            None => Ok(answer.get("data").cloned().unwrap_or_default()),
            Some(first) => Err(self.refusal(client, question, &answer, first)),
        }
    }

    /// GraphQL says no with status 200; the kind of the error stands beside its message.
    fn refusal(
        &self,
        client: &Client,
        question: Question,
        answer: &Json,
        first: &Json,
    ) -> ForgeError {
        let message = client.scrub(&message_of(answer, 200));
        let (host, action) = (self.site.host.clone(), question.action.to_owned());
        match first.get("type").and_then(Json::as_str) {
            Some("NOT_FOUND") => {
                ForgeError::NotFound { host, what: format!("what it takes to {action}") }
            }
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => {
                ForgeError::Forbidden { host, action, message }
            }
            Some("RATE_LIMITED") => ForgeError::RateLimited { host, wait: Duration::from_secs(60) },
            _ => ForgeError::Refused { host, action, message },
        }
    }

    /// For an answer without what was asked for.
    pub(super) fn unexpected(&self, question: Question, reason: &str) -> ForgeError {
        let (host, action) = (self.site.host.clone(), question.action.to_owned());
        ForgeError::Unexpected { host, action, reason: reason.to_owned() }
    }
}
