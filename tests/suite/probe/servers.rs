//! Servers that are slow, that break connections, and whose certificate changes while they are probed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{caused, causes, probe, server, target};
use crate::support::scripted_http::{Answer, Piece};

/// A whole answer with a pause before it.
fn after(pause: u64) -> Answer {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    Answer::raw(vec![Piece::Pause(Duration::from_millis(pause)), Piece::Bytes(answer)])
}

#[test]
fn a_slow_answer_is_a_success_until_the_time_of_a_try_is_over() {
    let server = server(|_| after(600));
    let args = [&server.url("/"), "--interval", "100ms", "--for", "300ms", "--try-timeout"];
    let ran = probe(&[&args[..], &["10s"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let slow = target(&ran);
    assert!(slow["latencyMs"]["min"].as_f64().unwrap() >= 600.0, "{slow}");
    let ran = probe(&[&args[..], &["200ms"]].concat());
    assert_eq!((ran.status, causes(&target(&ran))), (7, caused(&[("timeout", 3)])), "{ran:?}");
    // A body that drips is no whole answer either.
    let server = super::server(|_| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec();
        let drip = (0..100)
            .flat_map(|_| [Piece::Bytes(b".".to_vec()), Piece::Pause(Duration::from_millis(50))]);
        Answer::raw(std::iter::once(Piece::Bytes(head)).chain(drip).collect())
    });
    let ran =
        probe(&[&server.url("/"), "--interval", "100ms", "--for", "100ms", "--try-timeout", "1s"]);
    assert_eq!(causes(&target(&ran)), caused(&[("timeout", 1)]), "{ran:?}");
    let took = target(&ran)["failed"][0]["tookMs"].as_f64().unwrap();
    assert!((900.0..4000.0).contains(&took), "{took}");
}

#[test]
fn without_a_command_timeout_bounds_a_try() {
    let server = server(|_| Answer::hang());
    let ran = probe(&[&server.url("/"), "--for", "100ms", "--timeout", "300ms"]);
    assert_eq!(causes(&target(&ran)), caused(&[("timeout", 1)]), "{ran:?}");
    let took = target(&ran)["failed"][0]["tookMs"].as_f64().unwrap();
    assert!((250.0..4000.0).contains(&took), "{took}");
}

/// Closes connections whose request it has not read, which the system tells the client by a reset.
fn resetting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Until the request is there.
            let _ = stream.peek(&mut [0]);
            drop(stream);
        }
    });
    format!("http://127.0.0.1:{port}/")
}

#[test]
fn connections_that_are_reset_are_told_with_their_times() {
    let ran = probe(&[&resetting(), "--interval", "100ms", "--for", "300ms"]);
    let json = ran.json();
    let target = target(&ran);
    assert_eq!((ran.status, causes(&target)), (7, caused(&[("reset", 3)])), "{ran:?}");
    // The time of day is that of the start with what had passed, to the millisecond.
    let milliseconds = |text: &str| {
        let seconds = overlay::clock::parse_rfc_3339(text).unwrap();
        let fraction: i64 = text[text.len() - 4..text.len() - 1].parse().unwrap();
        seconds * 1000 + fraction
    };
    let start = milliseconds(json["result"]["startedAt"].as_str().unwrap());
    for failed in target["failed"].as_array().unwrap() {
        let at = milliseconds(failed["at"].as_str().unwrap()) - start;
        let after = failed["afterMs"].as_f64().unwrap();
        assert!((at as f64 - after).abs() <= 1.0, "{failed}");
    }
}

#[test]
fn a_file_without_authorities_is_refused_before_the_first_try() {
    let server = server(|_| Answer::new(200));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "no certificate\n").unwrap();
    let url = server.url("/").replace("http:", "https:");
    let ran = probe(&[&url, "--ca-file", file.path().to_str().unwrap(), "--for", "100ms"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "certificate-unreadable"), "{ran:?}");
    assert!(server.asked().is_empty());
}

#[cfg(feature = "trust")]
mod certificates {
    use rustls::crypto::ring;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};
    use rustls_pki_types::pem::PemObject;
    use rustls_pki_types::{CertificateDer, PrivateKeyDer};

    use super::*;
    use crate::support::certificates;

    fn certificate(folder: &std::path::Path) -> Arc<CertifiedKey> {
        let chain = CertificateDer::from_pem_file(folder.join("srv.crt")).unwrap();
        let key = PrivateKeyDer::from_pem_file(folder.join("srv.key")).unwrap();
        let key = ring::sign::any_supported_type(&key).unwrap();
        Arc::new(CertifiedKey::new(vec![chain], key))
    }

    /// One certificate for the first connections, then another.
    #[derive(Debug)]
    struct Changing {
        count: AtomicUsize,
        until: usize,
        certificates: [Arc<CertifiedKey>; 2],
    }

    impl ResolvesServerCert for Changing {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            let is_old = self.count.fetch_add(1, Ordering::SeqCst) < self.until;
            Some(Arc::clone(&self.certificates[usize::from(!is_old)]))
        }
    }

    fn answer(config: Arc<ServerConfig>, stream: TcpStream, kinds: &Mutex<Vec<HandshakeKind>>) {
        let connection = ServerConnection::new(config).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match stream.read(&mut byte) {
                Ok(1) => request.push(byte[0]),
                _ => return,
            }
        }
        kinds.lock().unwrap().extend(stream.conn.handshake_kind());
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        stream.conn.send_close_notify();
        let _ = stream.flush();
    }

    #[test]
    fn a_certificate_that_changes_is_noticed_by_the_next_try() {
        let (Some(old), Some(new)) = (certificates::make(), certificates::make()) else { return };
        let changing = Changing {
            count: AtomicUsize::new(0),
            until: 3,
            certificates: [certificate(old.path()), certificate(new.path())],
        };
        // As servers do, it gives tickets with which a client could come back without looking at the certificate.
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(changing));
        assert!(config.send_tls13_tickets > 0);
        let (config, kinds) = (Arc::new(config), Arc::new(Mutex::new(Vec::new())));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::clone(&kinds);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(Arc::clone(&config), stream, &seen);
            }
        });
        let (url, ca) = (format!("https://localhost:{port}/"), old.path().join("ca.crt"));
        let ca = ca.to_str().unwrap();
        let ran = probe(&[&url, "--ca-file", ca, "--interval", "300ms", "--for", "1800ms"]);
        let target = target(&ran);
        assert_eq!((ran.status, causes(&target)), (7, caused(&[("tls", 3)])), "{ran:?}");
        let numbers: Vec<u64> = target["failed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["number"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [3, 4, 5], "{target}");
        assert_eq!(*kinds.lock().unwrap(), [HandshakeKind::Full; 3]);
    }
}
