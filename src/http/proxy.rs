//! Which proxy a request goes through: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in upper or lower case, as curl and Go read them.

use std::ffi::OsString;
use std::net::IpAddr;

use super::{Address, HttpError, Origin};

/// The proxies of the environment.
#[derive(Clone, Default)]
pub struct Proxies {
    /// For `https`: the variable and what it names.
    secure: Option<(String, String)>,
    /// For `http`.
    plain: Option<(String, String)>,
    /// Hosts that are asked directly.
    direct: Vec<String>,
}

impl std::fmt::Debug for Proxies {
    // The addresses may hold passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxies").field("direct", &self.direct).finish_non_exhaustive()
    }
}

impl Proxies {
    /// What these variables say; the lower case name wins, as with curl.
    pub fn from_variables(variables: &[(OsString, OsString)]) -> Self {
        let find = |name: &str| {
            [name.to_ascii_lowercase(), name.to_owned()].into_iter().find_map(|name| {
                let found = variables.iter().find(|(key, _)| *key == *name)?;
                let value = found.1.to_str()?.trim().to_owned();
                (!value.is_empty()).then_some((name, value))
            })
        };
        let direct = find("NO_PROXY").map(|(_, list)| {
            list.split([',', ' ']).filter(|e| !e.is_empty()).map(str::to_ascii_lowercase).collect()
        });
        Self {
            secure: find("HTTPS_PROXY").or_else(|| find("ALL_PROXY")),
            plain: find("HTTP_PROXY").or_else(|| find("ALL_PROXY")),
            direct: direct.unwrap_or_default(),
        }
    }

    /// The proxy for this address: none for this machine itself and what `NO_PROXY` names.
    pub(super) fn for_address(&self, address: &Address) -> Result<Option<ureq::Proxy>, HttpError> {
        let origin = address.origin();
        let chosen = if origin.secure { &self.secure } else { &self.plain };
        let Some((variable, value)) = chosen else { return Ok(None) };
        if origin.is_loopback() || self.is_direct(origin) {
            return Ok(None);
        }
        let value = if value.contains("://") { value.clone() } else { format!("http://{value}") };
        let wrong =
            |why: &str| HttpError::Proxy { variable: variable.clone(), why: why.to_owned() };
        if value.to_ascii_lowercase().starts_with("socks") {
            return Err(wrong("only http and https proxies are supported"));
        }
        ureq::Proxy::new(&value).map(Some).map_err(|_| wrong("it is no address of a proxy"))
    }

    fn is_direct(&self, origin: &Origin) -> bool {
        self.direct.iter().any(|entry| names(entry, origin))
    }
}

/// Whether one entry of `NO_PROXY` names the host: `*`, a name and what is below it, an address, a network, each with an optional port.
fn names(entry: &str, origin: &Origin) -> bool {
    if entry == "*" {
        return true;
    }
    let bare = |host: &str| host.trim_matches(['[', ']']).to_owned();
    let host = bare(&origin.host);
    let (entry, port) = split_port(entry);
    if port.is_some_and(|port| port != origin.port) {
        return false;
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return in_network(&bare(entry), ip);
    }
    let name = entry.trim_start_matches("*.").trim_start_matches('.');
    !name.is_empty() && (host == name || host.ends_with(&format!(".{name}")))
}

fn split_port(entry: &str) -> (&str, Option<u16>) {
    let several = entry.matches(':').count() > 1 && !entry.contains("]:");
    match entry.rsplit_once(':').filter(|_| !several) {
        Some((host, port)) => port.parse().map_or((entry, None), |port| (host, Some(port))),
        None => (entry, None),
    }
}

fn in_network(entry: &str, ip: IpAddr) -> bool {
    let Some((network, length)) = entry.split_once('/') else {
        return entry.parse() == Ok(ip);
    };
    let (Ok(network), Ok(length)) = (network.parse::<IpAddr>(), length.parse::<u32>()) else {
        return false;
    };
    let same = |a: u128, b: u128, bits: u32| {
        length <= bits && (length == 0 || (a ^ b) >> (bits - length) == 0)
    };
    match (network, ip) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        let pair = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        Proxies::from_variables(&variables.iter().map(pair).collect::<Vec<_>>())
    }

    fn chosen(proxies: &Proxies, address: &str) -> Option<String> {
        let proxy = proxies.for_address(&Address::parse(address).unwrap()).unwrap()?;
        Some(format!("{}:{}", proxy.host(), proxy.port()))
    }

    #[test]
    fn the_scheme_chooses_the_variable() {
        let both = proxies(&[("HTTPS_PROXY", "http://s:1"), ("http_proxy", "p:2")]);
        assert_eq!(chosen(&both, "https://r.example").as_deref(), Some("s:1"));
        assert_eq!(chosen(&both, "http://r.example").as_deref(), Some("p:2"));
        let all = proxies(&[("ALL_PROXY", "http://u:hunter2@a:3"), ("HTTPS_PROXY", "")]);
        assert_eq!(chosen(&all, "https://r.example").as_deref(), Some("a:3"));
        assert!(!format!("{all:?}").contains("hunter2"));
        assert_eq!(chosen(&all, "http://127.0.0.1:5000"), None);
        assert!(
            proxies(&[("ALL_PROXY", "socks5://a:3")])
                .for_address(&Address::parse("http://r.example").unwrap())
                .is_err()
        );
    }

    // The rules of Go's golang.org/x/net/http/httpproxy, but a name also covers what is below it with curl and Go alike.
    #[test]
    fn no_proxy_names_hosts_domains_and_networks() {
        for (list, address, direct) in [
            ("*", "http://r.example", true),
            ("r.example", "http://r.example", true),
            ("example", "http://r.example", true),
            (".example", "http://r.example", true),
            ("*.example", "http://r.example", true),
            ("ample", "http://r.example", false),
            ("R.EXAMPLE", "http://r.example", true),
            ("r.example:80", "http://r.example", true),
            ("r.example:81", "http://r.example", false),
            ("other, r.example", "http://r.example", true),
            ("10.0.0.0/8", "http://10.1.2.3", true),
            ("10.0.0.0/8", "http://11.1.2.3", false),
            ("10.1.2.3", "http://10.1.2.3", true),
            ("fd00::/8", "http://[fd12::1]:5000", true),
            ("[fd12::1]:5000", "http://[fd12::1]:5000", true),
            ("0.0.0.0/0", "http://9.9.9.9", true),
            ("10.0.0.0/99", "http://10.1.2.3", false),
        ] {
            let set = proxies(&[("http_proxy", "p:2"), ("NO_PROXY", list)]);
            assert_eq!(chosen(&set, address).is_none(), direct, "{list} {address}");
        }
    }
}
