//! Whether the program runs in the cluster that it is about to change: a roll, or a drain, would end it half way.

/// What the process's environment says of where it runs: the address of the API server that every pod is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `KUBERNETES_SERVICE_HOST`; `None` outside of a pod.
    pub api_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`.
    pub api_port: Option<String>,
}

/// The names by which pods reach the API server.
const API_NAMES: [&str; 3] = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];

/// The first of `servers` (addresses, with scheme and port or without) that is in the cluster in which `place` is; an empty one
/// stands for the account that a pod gets by itself. `None` outside of any cluster.
#[must_use]
pub fn inside_of<'s>(place: &Place, servers: &[&'s str]) -> Option<&'s str> {
    let api_host = place.api_host.as_deref()?.trim_matches(['[', ']']);
    let is_here = |server: &&&str| {
        let (host, port) = host_and_port(server);
        let is_api = host == api_host
            && port.is_none_or(|port| place.api_port.as_deref().is_none_or(|own| own == port));
        host.is_empty()
            || is_api
            || API_NAMES.contains(&host)
            || host.ends_with(".svc")
            || host.contains(".svc.")
    };
    servers.iter().find(is_here).copied()
}

/// The host of an address, without brackets, and its port, where it names one.
fn host_and_port(server: &str) -> (&str, Option<&str>) {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some((host, rest)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (host, rest.strip_prefix(':'));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Place {
        Place { api_host: Some("10.0.0.1".into()), api_port: Some("443".into()) }
    }

    #[test]
    fn the_own_cluster_is_known_by_its_addresses() {
        for server in [
            "",
            "https://10.0.0.1:443",
            "10.0.0.1",
            "https://kubernetes.default.svc",
            "https://kubernetes.default.svc.cluster.local:443/",
            "argocd-server.argocd.svc",
            "https://argocd-server.argocd.svc.cluster.local",
        ] {
            assert_eq!(inside_of(&pod(), &[server]), Some(server), "{server}");
        }
        let six = Place { api_host: Some("fd00::1".into()), api_port: Some("443".into()) };
        assert_eq!(inside_of(&six, &["https://[fd00::1]:443"]), Some("https://[fd00::1]:443"));
    }

    #[test]
    fn another_cluster_is_not() {
        for server in ["https://10.0.0.1:6443", "https://api.prod.example:6443", "argocd.example"] {
            assert_eq!(inside_of(&pod(), &[server]), None, "{server}");
        }
        assert_eq!(inside_of(&Place::default(), &["", "argocd-server.argocd.svc"]), None);
        let both = ["https://argocd.example", "https://10.0.0.1"];
        assert_eq!(inside_of(&pod(), &both), Some("https://10.0.0.1"));
    }
}
