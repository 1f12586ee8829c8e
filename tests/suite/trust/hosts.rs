//! Whether a leaf is for a host: as openssl says (`-checkhost`, `-checkip`), and as a client on rustls does.

use overlay::trust::{clients, read_certificates};

use super::handshake;
use super::pki::{LEAF, Pki, Wish, now};

#[test]
fn a_leaf_is_for_the_hosts_that_openssl_and_clients_take_it_for() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    let names = "subjectAltName=DNS:Identity.mesh.svc,DNS:*.wild.mesh.svc,IP:10.1.2.3,IP:fd00::7";
    let text = LEAF.lines().next().unwrap().to_owned() + "\n" + names;
    // The common name counts for nobody where there are other names.
    pki.certificate("leaf", &Wish::leaf("/CN=common.mesh.svc", "root").with(&text));
    let read = |file: &str| read_certificates(pki.read(file).as_bytes()).unwrap().certificates;
    let (root, leaf, key) = (read("root.crt"), read("leaf.crt"), pki.read("leaf.key"));
    let mut taken = 0;
    for host in [
        "identity.mesh.svc",
        "IDENTITY.MESH.SVC",
        "other.mesh.svc",
        "common.mesh.svc",
        "a.wild.mesh.svc",
        "a.b.wild.mesh.svc",
        "wild.mesh.svc",
        "10.1.2.3",
        "10.1.2.4",
        "fd00::7",
        "fd00::8",
    ] {
        let is_ip = host.parse::<std::net::IpAddr>().is_ok();
        let check = if is_ip { "-checkip" } else { "-checkhost" };
        let said = pki.said(&["x509", "-in", "leaf.crt", "-noout", check, host]);
        let openssl = !said.contains("NOT match") && said.contains("does match");
        let ours = clients::is_for_host(&leaf[0], host);
        let client = handshake::refusal(&root, &leaf, &key, host, now());
        assert_eq!(
            (ours.is_ok(), client.is_none()),
            (openssl, openssl),
            "{host}: {said} {client:?}"
        );
        if let (Err(ours), Some(client)) = (ours, client) {
            assert!(handshake::says(&client, &ours.word), "{host}: {client} {}", ours.word);
        }
        taken += usize::from(openssl);
    }
    assert_eq!(taken, 5);
}
