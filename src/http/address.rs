//! Absolute `http` and `https` addresses: what they are made of, and what of them may be printed.

use std::fmt;

use super::HttpError;

/// Scheme, host and port: who would see a credential (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// `https`, else `http`.
    pub secure: bool,
    /// The host in lower case; an IPv6 address in brackets.
    pub host: String,
    /// The port; the scheme's where the address names none.
    pub port: u16,
}

impl Origin {
    /// Whether the host is this machine: `localhost`, names below it (RFC 6761), 127.0.0.0/8, `::1`.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.secure { ("https", 443) } else { ("http", 80) };
        write!(f, "{scheme}://{}", self.host)?;
        if self.port == usual { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// An absolute address of a server. It prints without its query, which may hold what nobody should read.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address {
    origin: Origin,
    /// Begins with `/`; no query.
    path: String,
    query: Option<String>,
}

impl Address {
    /// Reads `http://…` or `https://…`; a fragment is dropped.
    ///
    /// # Errors
    /// [`HttpError::Address`] for another scheme, no host, credentials before the host, and characters that no address has.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        let wrong =
            |why: &str| HttpError::Address { address: printable(text), why: why.to_owned() };
        let text = text.split('#').next().unwrap_or_default();
        let (secure, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err(wrong("it begins neither with https:// nor with http://")),
        };
        if text.bytes().any(|b| !b.is_ascii_graphic() || b"<>\"\\^`{|}".contains(&b)) {
            return Err(wrong("it holds a character that must be percent-encoded"));
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.contains('@') {
            return Err(wrong("credentials do not belong into an address"));
        }
        let (host, port) = split_port(authority).ok_or_else(|| wrong("its port is no port"))?;
        if !is_host(host) {
            return Err(wrong("its host is no name and no IP address"));
        }
        let port = port.unwrap_or(if secure { 443 } else { 80 });
        let origin = Origin { secure, host: host.to_ascii_lowercase(), port };
        let (path, query) = rest.split_once('?').map_or((rest, None), |(p, q)| (p, Some(q)));
        let path = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        Ok(Self { origin, path, query: query.map(str::to_owned) })
    }

    /// Who answers there.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The path, as it is sent.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The address below this one by these path segments, each percent-encoded; a query is dropped.
    #[must_use]
    pub fn below<S: AsRef<str>>(&self, segments: &[S]) -> Self {
        let mut path = self.path.trim_end_matches('/').to_owned();
        for segment in segments {
            path.push('/');
            path.push_str(&encode(segment.as_ref()));
        }
        Self { origin: self.origin.clone(), path, query: None }
    }

    /// The same address with one more parameter in its query, percent-encoded.
    #[must_use]
    pub fn with_parameter(mut self, name: &str, value: &str) -> Self {
        let mut query = self.query.take().filter(|q| !q.is_empty()).unwrap_or_default();
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(&format!("{}={}", encode(name), encode(value)));
        Self { query: Some(query), ..self }
    }

    /// Where a reference found at this address leads (RFC 3986, section 5.2): absolute, `//host/…`, `/path`, `?query` or relative.
    ///
    /// # Errors
    /// As [`Address::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, HttpError> {
        let scheme_end = reference.find([':', '/', '?', '#']).unwrap_or(reference.len());
        if reference[scheme_end..].starts_with(':') {
            return Self::parse(reference);
        }
        let scheme = if self.origin.secure { "https" } else { "http" };
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        let origin = &self.origin;
        let base = format!("{scheme}://{}:{}", origin.host, origin.port);
        let joined = match reference.chars().next() {
            None | Some('#') => return Ok(self.clone()),
            Some('/') => format!("{base}{reference}"),
            Some('?') => format!("{base}{}{reference}", self.path),
            Some(_) => {
                let directory = self.path.rfind('/').map_or("/", |at| &self.path[..=at]);
                format!("{base}{directory}{reference}")
            }
        };
        let mut joined = Self::parse(&joined)?;
        joined.path = without_dots(&joined.path);
        Ok(joined)
    }

    /// All of it, the query included: what is sent, never what is printed.
    pub(super) fn full(&self) -> String {
        let scheme = if self.origin.secure { "https" } else { "http" };
        let Origin { host, port, .. } = &self.origin;
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}://{host}:{port}{}{query}", self.path)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Removes `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for segment in &segments {
        match *segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    if matches!(segments.last(), Some(&"." | &"..")) {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`; `None` where the port is none.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let after_host = authority.rfind(']').map_or(0, |at| at + 1);
    match authority[after_host..].find(':') {
        None => Some((authority, None)),
        Some(colon) => {
            let (host, port) = authority.split_at(after_host + colon);
            let digits = &port[1..];
            let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.is_empty();
            let port: u16 = digits.parse().ok().filter(|port| plain && *port != 0)?;
            Some((host, Some(port)))
        }
    }
}

fn is_host(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inner.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    !host.is_empty() && host.len() <= 253 && host.bytes().all(allowed)
}

/// What of a text that is no address may be printed: nothing of a query, nothing before an `@`, nothing that moves a terminal.
fn printable(text: &str) -> String {
    let shown = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match (shown.split_once("://"), shown.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => shown.to_owned(),
    };
    shown.chars().take(200).flat_map(char::escape_debug).collect()
}

/// Percent-encodes everything but letters, digits and `-._~` (RFC 3986, section 2.3).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => encoded.push(char::from(b)),
            b => encoded.push_str(&format!("%{b:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn addresses_are_read() {
        for (text, shown, full) in [
            ("https://r.example", "https://r.example/", "https://r.example:443/"),
            ("HTTP://R.Example:80/v2/?a=b", "http://r.example/v2/", "http://r.example:80/v2/?a=b"),
            ("https://[::1]:5000/x#y", "https://[::1]:5000/x", "https://[::1]:5000/x"),
            ("http://r?q", "http://r/", "http://r:80/?q"),
        ] {
            assert_eq!(parse(text).to_string(), shown);
            assert_eq!(parse(text).full(), full);
        }
    }

    #[test]
    fn what_is_no_address_is_named_without_its_secrets() {
        for text in [
            "",
            "ftp://r/",
            "r.example/v2",
            "https://",
            "https://user:hunter2@r/",
            "https://r:0/",
            "https://r:99999/",
            "https://r:+80/",
            "https://[::1/",
            "https://r/a b?hunter2",
            "https://r/\u{7}",
            "https://exämple/",
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && !error.contains('\u{7}'), "{error}");
        }
    }

    // The examples of RFC 3986, section 5.4, that concern http.
    #[test]
    fn references_are_joined() {
        let base = parse("http://a/b/c/d;p?q");
        for (reference, full) in [
            ("g", "http://a:80/b/c/g"),
            ("./g", "http://a:80/b/c/g"),
            ("g/", "http://a:80/b/c/g/"),
            ("/g", "http://a:80/g"),
            ("//g", "http://g:80/"),
            ("?y", "http://a:80/b/c/d;p?y"),
            ("g?y", "http://a:80/b/c/g?y"),
            ("", "http://a:80/b/c/d;p?q"),
            (".", "http://a:80/b/c/"),
            ("..", "http://a:80/b/"),
            ("../../g", "http://a:80/g"),
            ("../../../g", "http://a:80/g"),
            ("https://h:1/x", "https://h:1/x"),
        ] {
            assert_eq!(base.join(reference).unwrap().full(), full, "{reference}");
        }
        assert!(base.join("ftp://x/").is_err() && base.join("javascript:1").is_err());
    }

    #[test]
    fn parameters_are_encoded_and_kept() {
        let address = parse("http://a/t?x=1").with_parameter("service", "reg, istry&");
        assert_eq!(address.full(), "http://a:80/t?x=1&service=reg%2C%20istry%26");
        assert_eq!(address.below(&["a/b", "ä"]).full(), "http://a:80/t/a%2Fb/%C3%A4");
    }

    #[test]
    fn this_machine_is_known() {
        for (text, here) in [
            ("http://localhost:5000", true),
            ("http://r.localhost", true),
            ("http://127.9.9.9", true),
            ("http://[::1]", true),
            ("http://localhost.example", false),
            ("http://128.0.0.1", false),
        ] {
            assert_eq!(parse(text).origin().is_loopback(), here, "{text}");
        }
    }
}
