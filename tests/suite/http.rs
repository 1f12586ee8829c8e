//! The HTTP client against a scripted server, and its TLS against `openssl s_server`.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use overlay::clock::Deadline;
use overlay::http::{
    Address, Client, HttpError, Method, Options, Request, Response, Retry, Secret, Trust,
};

use crate::support::scripted_http::{Answer, Piece, ScriptedHttp};
use crate::support::skip;

fn client() -> Client {
    Client::new(&Options::default())
}

fn get(url: &str) -> Request {
    Request::get(Address::parse(url).unwrap())
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn send(url: &str) -> Result<Response, HttpError> {
    client().send(&get(url), soon())
}

fn bytes(text: &str) -> Piece {
    Piece::Bytes(text.as_bytes().to_vec())
}

#[test]
fn an_answer_is_read_whatever_its_status() {
    let server = ScriptedHttp::start(|asked| {
        let echo = format!(r#"{{"method": "{}", "length": {}}}"#, asked.method, asked.body.len());
        Answer::new(418).header("X-A", "1").header("x-a", "2").body(echo)
    });
    let request = Request::new(Method::Post, Address::parse(&server.url("/a?b=c")).unwrap())
        .json(&serde_json::json!({"k": "v"}))
        .unwrap();
    let response = client().send(&request, soon()).unwrap();
    assert_eq!((response.status, response.is_success()), (418, false));
    assert_eq!(response.headers_named("X-A").collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(response.json::<serde_json::Value>().unwrap()["length"], 9);
    let asked = &server.asked()[0];
    assert_eq!(
        (asked.target.as_str(), asked.header("content-type")),
        ("/a?b=c", Some("application/json"))
    );
    assert_eq!(asked.header("user-agent"), Some(concat!("overlay/", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn connections_are_used_again() {
    let server = ScriptedHttp::start(|_| Answer::new(200).body("x"));
    let client = client();
    for _ in 0..5 {
        client.send(&get(&server.url("/")), soon()).unwrap();
    }
    assert_eq!(server.asked().iter().map(|asked| asked.connection).max(), Some(0));
}

#[test]
fn a_redirect_to_another_origin_loses_every_credential() {
    let other = ScriptedHttp::start(|_| Answer::new(200).body("there"));
    let elsewhere = other.url("/blob?sig=abc");
    let server = ScriptedHttp::start(move |asked| match asked.target.as_str() {
        "/here" => Answer::new(307).header("Location", "/there"),
        _ => Answer::new(302).header("Location", &elsewhere),
    });
    let request = get(&server.url("/here"))
        .bearer(&Secret::new("hunter2"))
        .secret_header("Private-Token", Secret::new("hunter2"))
        .header("Accept", "text/plain");
    let response = client().send(&request, soon()).unwrap();
    assert_eq!(response.body, b"there");
    assert_eq!(response.address.to_string(), other.url("/blob"));
    let within = &server.asked()[1];
    assert_eq!(within.header("authorization"), Some("Bearer hunter2"));
    let beyond = &other.asked()[0];
    assert_eq!(beyond.target, "/blob?sig=abc");
    assert_eq!((beyond.header("authorization"), beyond.header("private-token")), (None, None));
    assert_eq!(beyond.header("accept"), Some("text/plain"));
}

#[test]
fn a_redirect_without_end_or_of_a_change_is_refused() {
    let server =
        ScriptedHttp::start(|_| Answer::new(308).header("Location", "/again?token=hunter2"));
    let error = send(&server.url("/")).unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
    assert_eq!(server.asked().len(), 11);
    let post = Request::new(Method::Post, Address::parse(&server.url("/")).unwrap());
    let error = client().send(&post, soon()).unwrap_err().to_string();
    assert!(error.contains("/again") && !error.contains("hunter2"), "{error}");
}

#[test]
fn a_body_has_a_limit_announced_or_not() {
    let announced = ScriptedHttp::start(|_| {
        Answer::raw(vec![bytes("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")])
    });
    let endless = ScriptedHttp::start(|_| {
        let mut pieces = vec![bytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")];
        pieces.extend((0..64).map(|_| Piece::Bytes(vec![b'x'; 64 * 1024])));
        Answer::raw(pieces)
    });
    for server in [announced, endless] {
        let request = get(&server.url("/")).body_limit(1024 * 1024);
        let error = client().send(&request, soon()).unwrap_err();
        assert!(matches!(error, HttpError::TooLarge { limit: 1_048_576, .. }), "{error}");
    }
    let exact = ScriptedHttp::start(|_| Answer::new(200).body("12345"));
    let request = get(&exact.url("/")).body_limit(5);
    assert_eq!(client().send(&request, soon()).unwrap().body, b"12345");
}

#[test]
fn silence_and_drips_end_at_the_deadline() {
    let silent = ScriptedHttp::start(|_| Answer::hang());
    let dripping = ScriptedHttp::start(|_| {
        let mut pieces = vec![bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")];
        for _ in 0..1000 {
            pieces.extend([bytes("x"), Piece::Pause(Duration::from_millis(50))]);
        }
        Answer::raw(pieces)
    });
    for server in [silent, dripping] {
        let deadline = Deadline::after(Duration::from_millis(300));
        let error = client().send(&get(&server.url("/")), deadline).unwrap_err();
        assert!(matches!(error, HttpError::TimedOut { .. }), "{error}");
    }
}

#[test]
fn broken_answers_are_told_apart() {
    let truncated = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
    for (answer, is_broken) in
        [(truncated, true), ("", true), ("SSH-2.0-OpenSSH_9.2\r\n\r\n", false)]
    {
        let server = ScriptedHttp::start(move |_| Answer::raw(vec![bytes(answer)]));
        let error = send(&server.url("/")).unwrap_err();
        assert_eq!(matches!(error, HttpError::Broken { .. }), is_broken, "{answer:?} {error}");
    }
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = send(&format!("http://{nobody}/")).unwrap_err();
    assert!(matches!(error, HttpError::Unreachable { .. }), "{error}");
    let error = send("http://nowhere.invalid/").unwrap_err();
    assert!(matches!(error, HttpError::NoHost { .. }), "{error}");
}

#[test]
fn what_is_no_json_is_named_by_its_place_alone() {
    let server = ScriptedHttp::start(|_| Answer::new(200).body(r#"{"token": "hunter2", "x": }"#));
    let error = send(&server.url("/t?secret=1")).unwrap().json::<serde_json::Value>().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("line 1, column 27") && !text.contains("hunter2"), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn busy_servers_are_asked_again_and_refusing_ones_are_not() {
    let retry = Retry { first_wait: Duration::from_millis(5), ..Retry::default() };
    for (status, method, requests, last) in [
        (503, Method::Get, 3, 200),
        (429, Method::Post, 3, 200),
        (503, Method::Post, 1, 503),
        (404, Method::Get, 1, 404),
    ] {
        let count = AtomicUsize::new(0);
        let server = ScriptedHttp::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Answer::new(status),
            _ => Answer::new(200),
        });
        let request = Request::new(method, Address::parse(&server.url("/")).unwrap());
        let response = client().send_patiently(&request, soon(), &retry).unwrap();
        assert_eq!(
            (response.status, server.asked().len()),
            (last, requests),
            "{status} {method:?}"
        );
    }
    let server = ScriptedHttp::start(|_| Answer::new(429).header("Retry-After", "3600"));
    let response = client().send_patiently(&get(&server.url("/")), soon(), &retry).unwrap();
    assert_eq!((response.status, server.asked().len()), (429, 1));
}

#[test]
fn a_stream_is_read_line_by_line_while_it_goes_on() {
    let server = ScriptedHttp::start(|_| {
        Answer::raw(vec![
            bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            bytes("8\r\n{\"a\":1}\n\r\n4\r\n\r\n{\"\r\n"),
            Piece::Pause(Duration::from_millis(30)),
            bytes("7\r\nb\":2}\r\n\r\n0\r\n\r\n"),
        ])
    });
    let mut stream =
        client().open(&get(&server.url("/")), soon(), Duration::from_secs(10)).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = stream.next_line().unwrap() {
        lines.push(String::from_utf8(line).unwrap());
    }
    assert_eq!(
        (stream.status, lines),
        (200, vec!["{\"a\":1}".to_owned(), String::new(), "{\"b\":2}".to_owned()])
    );
}

#[test]
fn a_stream_that_falls_silent_or_breaks_is_an_error() {
    for (pieces, is_silent) in [
        (vec![bytes("3\r\na\nb\r\n"), Piece::Pause(Duration::from_secs(20))], true),
        (vec![bytes("3\r\na\nb\r\n")], false),
    ] {
        let mut all = vec![bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")];
        all.extend(pieces);
        let server = ScriptedHttp::start(move |_| Answer::raw(all.clone()));
        let idle = Duration::from_millis(200);
        let mut stream = client().open(&get(&server.url("/")), soon(), idle).unwrap();
        assert_eq!(stream.next_line().unwrap(), Some(b"a".to_vec()));
        let error = stream.next_line().unwrap_err();
        assert_eq!(matches!(error, HttpError::TimedOut { .. }), is_silent, "{error}");
        assert_eq!(matches!(error, HttpError::Broken { .. }), !is_silent, "{error}");
    }
}

/// A TLS server of OpenSSL's with a certificate of its own authority.
pub(crate) struct TlsServer {
    child: std::process::Child,
    pub(crate) port: u16,
    pub(crate) dir: tempfile::TempDir,
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn tls_server(host: &str) -> Option<TlsServer> {
    let dir = crate::support::certificates::make()?;
    let port = crate::support::free_port();
    let child = Command::new("openssl")
        .args(["s_server", "-quiet", "-www", "-cert", "srv.crt", "-key", "srv.key", "-accept"])
        .arg(format!("{host}:{port}"))
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        skip("no openssl");
        return None;
    };
    crate::support::wait_for_port(host, port);
    Some(TlsServer { child, port, dir })
}

#[test]
fn servers_are_judged_by_their_certificates() {
    let Some(server) = tls_server("127.0.0.1") else { return };
    let get = |host: &str, options: &Options| {
        let address = Address::parse(&format!("https://{host}:{}/", server.port)).unwrap();
        Client::new(options).send(&Request::get(address), soon())
    };
    let own = Options { extra_roots: vec![server.dir.path().join("ca.crt")], ..Options::default() };
    assert_eq!(get("localhost", &own).unwrap().status, 200);
    assert_eq!(get("127.0.0.1", &own).unwrap().status, 200);
    let anybody = Options { trust: Trust::Anybody, ..Options::default() };
    assert_eq!(get("127.0.0.1", &anybody).unwrap().status, 200);

    let error = get("localhost", &Options::default()).unwrap_err();
    assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
    for missing in ["nothing.crt", "srv.key"] {
        let extra_roots = vec![server.dir.path().join(missing)];
        let error = get("localhost", &Options { extra_roots, ..Options::default() }).unwrap_err();
        assert!(
            matches!(&error, HttpError::Roots { file, .. } if file.ends_with(missing)),
            "{error}"
        );
    }
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let Some(server) = tls_server("127.0.0.2") else { return };
    let extra_roots = vec![server.dir.path().join("ca.crt")];
    let client = Client::new(&Options { extra_roots, ..Options::default() });
    let error = client.send(&get(&format!("https://127.0.0.2:{}/", server.port)), soon());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("another host"), "{error}");
}

#[test]
fn tls_to_a_server_without_it_says_so() {
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = plain.accept().unwrap();
        let _ = stream.read(&mut [0; 512]);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    });
    let error = send(&format!("https://127.0.0.1:{port}/")).unwrap_err();
    assert!(error.to_string().contains("is it http instead of https"), "{error}");
}
