//! What is asked of a server.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;

use super::Address;

/// A text that must not be seen: it prints as `…`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// What is to be done with the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Only the headers.
    Head,
    /// Read.
    Get,
    /// Create or do.
    Post,
    /// Replace.
    Put,
    /// Change.
    Patch,
    /// Remove.
    Delete,
}

impl Method {
    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Head => "HEAD",
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether asking changes nothing (RFC 9110, section 9.2.1), so that it may be asked again.
    pub fn is_safe(self) -> bool {
        matches!(self, Self::Head | Self::Get)
    }
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub method: Method,
    /// Where.
    pub address: Address,
    pub(super) headers: Vec<(String, String)>,
    /// Headers that no other origin may see.
    pub(super) secret_headers: Vec<(String, Secret)>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) body_limit: Option<u64>,
}

impl Request {
    /// A request without body.
    pub fn new(method: Method, address: Address) -> Self {
        let (headers, secret_headers) = (Vec::new(), Vec::new());
        Self { method, address, headers, secret_headers, body: None, body_limit: None }
    }

    /// A `GET`.
    pub fn get(address: Address) -> Self {
        Self::new(Method::Get, address)
    }

    /// Adds a header. A name or value that no header may have is an error when it is sent.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a header that is a credential: never printed, never sent to another origin.
    #[must_use]
    pub fn secret_header(mut self, name: &str, value: Secret) -> Self {
        self.secret_headers.push((name.to_owned(), value));
        self
    }

    /// `Authorization: Bearer TOKEN` (RFC 6750).
    #[must_use]
    pub fn bearer(self, token: &Secret) -> Self {
        self.secret_header("Authorization", Secret(format!("Bearer {}", token.0)))
    }

    /// `Authorization: Basic …` (RFC 7617).
    #[must_use]
    pub fn basic(self, user: &str, password: &Secret) -> Self {
        let encoded = BASE64_STANDARD.encode(format!("{user}:{}", password.0));
        self.secret_header("Authorization", Secret(format!("Basic {encoded}")))
    }

    /// A body of this media type.
    #[must_use]
    pub fn body(mut self, media_type: &str, bytes: Vec<u8>) -> Self {
        self.body = Some(bytes);
        self.header("Content-Type", media_type)
    }

    /// A JSON body.
    ///
    /// # Errors
    /// As serde says: a map with keys that are no texts.
    pub fn json<T: Serialize>(self, value: &T) -> Result<Self, serde_json::Error> {
        Ok(self.body("application/json", serde_json::to_vec(value)?))
    }

    /// The bytes that the answer's body may have, instead of the client's limit.
    #[must_use]
    pub fn body_limit(mut self, bytes: u64) -> Self {
        self.body_limit = Some(bytes);
        self
    }

    /// The same request at another address, without credentials where that is another origin.
    pub(super) fn redirected_to(&self, address: Address) -> Self {
        let mut next = self.clone();
        if next.address.origin() != address.origin() {
            next.secret_headers.clear();
        }
        next.address = address;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_do_not_print() {
        let request = Request::get(Address::parse("https://r/?token=hunter2").unwrap())
            .basic("bot", &Secret::new("hunter2"))
            .bearer(&Secret::new("hunter2"));
        assert_eq!(request.secret_headers[0].1.expose(), "Basic Ym90Omh1bnRlcjI=");
        let printed = format!("{request:?}");
        assert!(!printed.contains("hunter2") && !printed.contains("Ym90"), "{printed}");
    }

    #[test]
    fn credentials_stay_at_their_origin() {
        let at = |text| Address::parse(text).unwrap();
        let request =
            Request::get(at("https://r/a")).bearer(&Secret::new("t")).header("Accept", "x");
        for (to, kept) in
            [("https://r:443/b", 1), ("https://r:444/b", 0), ("http://r/b", 0), ("https://s/b", 0)]
        {
            let next = request.redirected_to(at(to));
            assert_eq!((next.secret_headers.len(), next.headers.len()), (kept, 1), "{to}");
        }
    }
}
