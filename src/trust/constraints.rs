//! Name constraints, as openssl applies them (`crypto/x509/v3_ncons.c`).

use super::certificate::{Certificate, Constraints, GeneralName};
use super::chain::Reason;

/// The most comparisons of names with constraints.
const MOST: usize = 1 << 20;

/// Whether every name of `certificate` is one that `limits` allow; a leaf without host names is known by its common names.
///
/// # Errors
/// openssl's reason.
pub(super) fn check(
    certificate: &Certificate,
    is_leaf: bool,
    limits: &Constraints,
) -> Result<(), Reason> {
    let names = &certificate.extensions.names;
    let subject = &certificate.subject;
    let count = names.len() + subject.canonical.len();
    if count.saturating_mul(limits.permitted.len() + limits.excluded.len()) > MOST {
        return Err(Reason::Unspecified);
    }
    if !subject.is_empty() {
        compare(&GeneralName::Directory(subject.clone()), limits)?;
        for address in &subject.email_addresses {
            let address = address.clone().ok_or(Reason::UnsupportedNameSyntax)?;
            compare(&GeneralName::Email(address), limits)?;
        }
    }
    names.iter().try_for_each(|name| compare(name, limits))?;
    let has_hosts = names.iter().any(|name| matches!(name, GeneralName::Dns(_)));
    if is_leaf && !has_hosts {
        let hosts = subject.common_names.iter().filter(|name| is_like_host(name));
        hosts
            .map(|host| GeneralName::Dns(host.clone()))
            .try_for_each(|name| compare(&name, limits))?;
    }
    Ok(())
}

fn compare(name: &GeneralName, limits: &Constraints) -> Result<(), Reason> {
    let same_kind = |pattern: &&GeneralName| match (*pattern, name) {
        (GeneralName::Other(pattern), GeneralName::Other(name)) => pattern == name,
        (pattern, name) => std::mem::discriminant(pattern) == std::mem::discriminant(name),
    };
    let mut permitted = limits.permitted.iter().filter(same_kind).peekable();
    if permitted.peek().is_some() {
        let mut is_permitted = false;
        for pattern in permitted {
            is_permitted = is_permitted || matches(name, pattern)?;
        }
        if !is_permitted {
            return Err(Reason::PermittedViolation);
        }
    }
    for pattern in limits.excluded.iter().filter(same_kind) {
        if matches(name, pattern)? {
            return Err(Reason::ExcludedViolation);
        }
    }
    Ok(())
}

/// Whether a name is within a pattern of its own kind.
fn matches(name: &GeneralName, pattern: &GeneralName) -> Result<bool, Reason> {
    match (name, pattern) {
        (GeneralName::Dns(name), GeneralName::Dns(pattern)) => Ok(is_host_within(name, pattern)),
        (GeneralName::Email(name), GeneralName::Email(pattern)) => is_email_within(name, pattern),
        (GeneralName::Uri(name), GeneralName::Uri(pattern)) => is_uri_within(name, pattern),
        (GeneralName::Ip(name), GeneralName::Ip(pattern)) => is_ip_within(name, pattern),
        (GeneralName::Directory(name), GeneralName::Directory(pattern)) => {
            Ok(name.canonical.starts_with(&pattern.canonical))
        }
        _ => Err(Reason::UnsupportedConstraintType),
    }
}

fn ends_with(text: &str, end: &str) -> bool {
    let (text, end) = (text.as_bytes(), end.as_bytes());
    text.len() >= end.len() && text[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

fn is_host_within(host: &str, pattern: &str) -> bool {
    if pattern.is_empty() {
        return true;
    }
    let is_whole_label = host.len() == pattern.len()
        || pattern.starts_with('.')
        || host.len() > pattern.len() && host.as_bytes()[host.len() - pattern.len() - 1] == b'.';
    is_whole_label && ends_with(host, pattern)
}

fn is_email_within(address: &str, pattern: &str) -> Result<bool, Reason> {
    let (local, host) = address.rsplit_once('@').ok_or(Reason::UnsupportedNameSyntax)?;
    match pattern.rsplit_once('@') {
        None if pattern.starts_with('.') => {
            Ok(address.len() > pattern.len() && ends_with(address, pattern))
        }
        None => Ok(host.eq_ignore_ascii_case(pattern)),
        Some((wanted, at)) => {
            Ok((wanted.is_empty() || wanted == local) && host.eq_ignore_ascii_case(at))
        }
    }
}

fn is_uri_within(uri: &str, pattern: &str) -> Result<bool, Reason> {
    let (_, rest) = uri.split_once(':').ok_or(Reason::UnsupportedNameSyntax)?;
    let rest = rest.strip_prefix("//").ok_or(Reason::UnsupportedNameSyntax)?;
    let end = rest.find(':').or_else(|| rest.find('/')).unwrap_or(rest.len());
    let host = &rest[..end];
    if host.is_empty() {
        return Err(Reason::UnsupportedNameSyntax);
    }
    if pattern.starts_with('.') {
        return Ok(host.len() > pattern.len() && ends_with(host, pattern));
    }
    Ok(host.eq_ignore_ascii_case(pattern))
}

fn is_ip_within(address: &[u8], pattern: &[u8]) -> Result<bool, Reason> {
    if !matches!(address.len(), 4 | 16) || !matches!(pattern.len(), 8 | 32) {
        return Err(Reason::UnsupportedNameSyntax);
    }
    if address.len() * 2 != pattern.len() {
        return Ok(false);
    }
    let (base, mask) = pattern.split_at(address.len());
    Ok(address.iter().zip(base).zip(mask).all(|((byte, base), mask)| byte & mask == base & mask))
}

/// Whether a common name is taken for a host: two labels or more of letters, digits, `_` and inner `-`.
fn is_like_host(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut has_dot = false;
    for (at, byte) in bytes.iter().enumerate() {
        let is_inner = at > 0 && at + 1 < bytes.len();
        match byte {
            b'_' => {}
            byte if byte.is_ascii_alphanumeric() => {}
            b'-' if is_inner => {}
            b'.' if is_inner
                && bytes[at + 1] != b'.'
                && bytes[at - 1] != b'-'
                && bytes[at + 1] != b'-' =>
            {
                has_dot = true;
            }
            _ => return false,
        }
    }
    has_dot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_within_their_domain() {
        for (host, pattern, is_within) in [
            ("a.example", "example", true),
            ("a.EXAMPLE", "Example", true),
            ("example", "example", true),
            ("badexample", "example", false),
            ("a.example", ".example", true),
            ("example", ".example", false),
            ("anything", "", true),
        ] {
            assert_eq!(is_host_within(host, pattern), is_within, "{host} {pattern}");
        }
    }

    #[test]
    fn email_addresses_uris_and_networks() {
        assert_eq!(is_email_within("a@h.example", "h.example"), Ok(true));
        assert_eq!(is_email_within("a@h.example", ".example"), Ok(true));
        assert_eq!(is_email_within("A@h.example", "a@h.example"), Ok(false));
        assert_eq!(is_email_within("nobody", "example"), Err(Reason::UnsupportedNameSyntax));
        assert_eq!(is_uri_within("https://h.example:8443/x", "h.example"), Ok(true));
        assert_eq!(is_uri_within("urn:x", "h.example"), Err(Reason::UnsupportedNameSyntax));
        assert_eq!(is_ip_within(&[10, 1, 2, 3], &[10, 0, 0, 0, 255, 0, 0, 0]), Ok(true));
        assert_eq!(is_ip_within(&[11, 1, 2, 3], &[10, 0, 0, 0, 255, 0, 0, 0]), Ok(false));
        assert_eq!(is_ip_within(&[0; 16], &[0; 8]), Ok(false));
    }

    #[test]
    fn common_names_that_look_like_hosts() {
        for (name, is_host) in [
            ("a.example", true),
            ("identity", false),
            ("Mesh CA", false),
            ("-a.b", false),
            ("a-.b", false),
            ("a..b", false),
            ("a_b.c-d.e", true),
        ] {
            assert_eq!(is_like_host(name), is_host, "{name}");
        }
    }
}
