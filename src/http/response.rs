//! What a server answered.

use serde::de::DeserializeOwned;

use super::{Address, HttpError};

/// An answer, whatever its status, its body read whole.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Who answered: the address asked for, or where redirects led.
    pub address: Address,
    /// The body; without content coding.
    pub body: Vec<u8>,
    pub(super) headers: Vec<(String, String)>,
}

impl Response {
    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Every header of that name, in order.
    pub fn headers_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = move |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().filter(of_name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// [`HttpError::NotJson`], with the place in the body.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::NotJson {
            address: self.address.to_string(),
            status: self.status,
            // Only the place: what serde says of the content may quote it.
            why: match error.classify() {
                serde_json::error::Category::Eof => "it ends too early".to_owned(),
                serde_json::error::Category::Data => {
                    format!(
                        "line {}, column {} is not what belongs there",
                        error.line(),
                        error.column()
                    )
                }
                _ => format!("line {}, column {} is no JSON", error.line(), error.column()),
            },
        })
    }

    /// The body as text for a message: one line of at most `limit` characters, control characters replaced.
    pub fn excerpt(&self, limit: usize) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let words: Vec<&str> = text.split_whitespace().collect();
        words
            .join(" ")
            .chars()
            .map(|c| if c.is_control() { '\u{fffd}' } else { c })
            .take(limit)
            .collect()
    }
}
