//! `overlay probe` against servers on loopback that fail in scripted ways.

mod servers;
#[cfg(unix)]
mod signals;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::http::tls_server;
use crate::support::free_port;
use crate::support::json_schema::assert_is_result;
use crate::support::repo::{Ran, TestRepo};
use crate::support::scripted_http::{Answer, Piece, ScriptedHttp};

/// Answers by the number of the request, from 0.
fn server(script: impl Fn(usize) -> Answer + Send + Sync + 'static) -> ScriptedHttp {
    let count = AtomicUsize::new(0);
    ScriptedHttp::start(move |_| script(count.fetch_add(1, Ordering::SeqCst)))
}

fn probe(args: &[&str]) -> Ran {
    let repo = TestRepo::with_files(&[]);
    let ran = repo.overlay(&[&["probe", "-o", "json"], args].concat());
    assert_is_result(&ran.json());
    ran
}

fn target(ran: &Ran) -> Value {
    ran.json()["result"]["targets"][0].clone()
}

/// The causes with how often each was met.
fn causes(target: &Value) -> Vec<(String, u64)> {
    let all = target["causes"].as_array().unwrap().iter();
    all.map(|one| {
        let status = one["status"].as_u64().map(|status| format!(" {status}")).unwrap_or_default();
        (format!("{}{status}", one["cause"].as_str().unwrap()), one["count"].as_u64().unwrap())
    })
    .collect()
}

fn caused(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(cause, count)| ((*cause).to_owned(), *count)).collect()
}

#[test]
fn an_endpoint_that_is_well_is_asked_at_a_steady_pace() {
    let server = server(|_| Answer::new(204));
    let ran = probe(&[&server.url("/healthz?token=hunter2"), "--interval", "50ms", "--for", "1s"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let target = target(&ran);
    // 0 ms, 50 ms, … 950 ms.
    assert_eq!(
        (target["tries"].as_u64(), target["failures"].as_u64()),
        (Some(20), Some(0)),
        "{target}"
    );
    assert_eq!(target["leftOut"], 0);
    let asked = server.asked();
    assert_eq!(asked.len(), 20);
    // Each on a connection of its own, with its query, which is in no output.
    let mut connections: Vec<usize> = asked.iter().map(|one| one.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    assert_eq!(connections.len(), 20);
    assert!(asked.iter().all(|one| one.target == "/healthz?token=hunter2"));
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    let latency = &target["latencyMs"];
    let of = |name: &str| latency[name].as_f64().unwrap();
    assert!(of("min") <= of("p50") && of("p50") <= of("p90") && of("p90") <= of("p99"));
    assert!(of("p99") <= of("max") && of("max") < 5000.0, "{latency}");
    let pieces = target["timeline"]["pieces"].as_array().unwrap();
    assert_eq!(pieces.iter().map(|piece| piece["tries"].as_u64().unwrap()).sum::<u64>(), 20);
}

#[test]
fn each_kind_of_failure_is_told_apart() {
    let server = server(|number| match number {
        2 | 3 => Answer::new(503),
        5 => Answer::raw(vec![Piece::Bytes(
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf".to_vec(),
        )]),
        7 => Answer::hang(),
        8 => Answer::raw(vec![Piece::Bytes(b"SSH-2.0-OpenSSH_9\r\n".to_vec())]),
        _ => Answer::new(200).body("ok"),
    });
    let ran =
        probe(&[&server.url("/"), "--interval", "100ms", "--for", "1s", "--try-timeout", "400ms"]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "probe-failed"), "{ran:?}");
    let target = target(&ran);
    let expected = [("reset", 1), ("timeout", 1), ("protocol", 1), ("status 503", 2)];
    assert_eq!(causes(&target), caused(&expected), "{target}");
    assert_eq!(target["successes"], 5);
    let failed = target["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 5);
    let numbers: Vec<u64> = failed.iter().map(|one| one["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3, 5, 7, 8]);
    for one in failed {
        // Each began when it was due, not when the one before had ended.
        let due = one["number"].as_f64().unwrap() * 100.0;
        let began = one["afterMs"].as_f64().unwrap();
        assert!((due..due + 90.0).contains(&began), "due {due}, began {began}");
        assert!(one["at"].as_str().unwrap().ends_with('Z') && one["message"] != "");
    }
    // From the first 503 to the next success: two intervals.
    let outage = target["longestOutageMs"].as_f64().unwrap();
    assert!((190.0..600.0).contains(&outage), "{outage}");
    // Allowed failures are no error, and are told all the same.
    let allowed =
        probe(&[&server.url("/"), "--interval", "100ms", "--for", "300ms", "--max-failures", "0"]);
    assert_eq!(allowed.status, 0, "{allowed:?}");
}

#[test]
fn failures_that_are_allowed_are_counted() {
    let server = server(|number| Answer::new(if number == 1 { 500 } else { 200 }));
    let args = |most| {
        [
            server.url("/"),
            "--interval=50ms".into(),
            "--for=200ms".into(),
            format!("--max-failures={most}"),
        ]
    };
    let args = args("1");
    let ran = probe(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["failures"], 1);
}

#[test]
fn a_slow_try_delays_no_other() {
    let server = server(|number| if number == 0 { Answer::hang() } else { Answer::new(200) });
    let began = Instant::now();
    let ran =
        probe(&[&server.url("/"), "--interval", "100ms", "--for", "1s", "--try-timeout", "2s"]);
    let target = target(&ran);
    assert_eq!(causes(&target), caused(&[("timeout", 1)]), "{target}");
    assert_eq!(
        (target["tries"].as_u64(), target["failed"][0]["number"].as_u64()),
        (Some(10), Some(0))
    );
    // The nine others were made in the first second, beside it; then its two seconds were over.
    assert!(target["latencyMs"]["max"].as_f64().unwrap() < 1000.0, "{target}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn nobody_there_and_no_such_host() {
    let url = format!("http://127.0.0.1:{}/", free_port());
    let ran = probe(&[&url, "--interval", "50ms", "--for", "150ms"]);
    assert_eq!(causes(&target(&ran)), caused(&[("refused", 3)]), "{ran:?}");
    assert_eq!(ran.status, 7);
    let ran = probe(&["http://no-such-host.invalid/", "--for", "100ms", "--try-timeout", "20s"]);
    assert_eq!(causes(&target(&ran)), caused(&[("dns", 1)]), "{ran:?}");
}

#[test]
fn certificates_are_checked_unless_told_otherwise() {
    let Some(server) = tls_server("127.0.0.1") else { return };
    let url = format!("https://localhost:{}/", server.port);
    let ca = server.dir.path().join("ca.crt").display().to_string();
    let short = ["--interval", "100ms", "--for", "200ms"];
    let ran = probe(&[&[url.as_str()][..], &short].concat());
    assert_eq!(causes(&target(&ran)), caused(&[("tls", 2)]), "{ran:?}");
    assert!(ran.json()["error"]["hints"][0].as_str().unwrap().contains("--connect"), "{ran:?}");
    let ran = probe(&[&[url.as_str(), "--ca-file", &ca][..], &short].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = probe(&[&[url.as_str(), "--insecure"][..], &short].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    // The file is instead of the system's authorities, and must be there.
    let ran = probe(&[&[url.as_str(), "--ca-file", "nothing.crt"][..], &short].concat());
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-file"));
    let ran = probe(&[&url, "--ca-file", &ca, "--insecure"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    // Where those in the file did not sign it, the system's say nothing.
    assert!(crate::support::certificates::openssl(
        "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -days 30 -subj /CN=other",
        server.dir.path(),
    ));
    let other = server.dir.path().join("other.crt").display().to_string();
    let ran = probe(&[&[url.as_str(), "--ca-file", &other][..], &short].concat());
    assert_eq!(causes(&target(&ran)), caused(&[("tls", 2)]), "{ran:?}");
    assert!(ran.stdout.contains("none of the authorities in the given file"), "{ran:?}");
    assert!(!format!("{ran:?}").contains("SSL_CERT_FILE"), "{ran:?}");
}

#[test]
fn redirects_are_answers_unless_followed() {
    let server = ScriptedHttp::start(|asked| match asked.target.as_str() {
        "/old" => Answer::new(301).header("Location", "/new"),
        _ => Answer::new(200),
    });
    let url = server.url("/old");
    let short = ["--interval", "50ms", "--for", "50ms"];
    let ran = probe(&[&[url.as_str()][..], &short].concat());
    assert_eq!(causes(&target(&ran)), caused(&[("status 301", 1)]), "{ran:?}");
    assert!(server.asked().iter().all(|asked| asked.target == "/old"));
    assert_eq!(probe(&[&[url.as_str(), "--follow"][..], &short].concat()).status, 0);
    assert_eq!(probe(&[&[url.as_str(), "--expect", "301"][..], &short].concat()).status, 0);
    assert_eq!(probe(&[&[url.as_str(), "--expect", "200,204"][..], &short].concat()).status, 7);
}

#[test]
fn several_addresses_are_probed_together() {
    let well = server(|_| Answer::new(200));
    let ill = server(|_| Answer::new(502));
    let ran = probe(&[&well.url("/"), &ill.url("/"), "--interval", "50ms", "--for", "200ms"]);
    let result = &ran.json()["result"];
    let failures: Vec<_> = result["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|target| target["failures"].as_u64())
        .collect();
    assert_eq!((failures, ran.status), (vec![Some(0), Some(4)], 7));
}

#[test]
fn a_command_beside_is_accompanied_to_its_end() {
    let server = server(|_| Answer::new(200));
    let url = server.url("/");
    let ran =
        probe(&[&url, "--interval", "50ms", "--", "sh", "-c", "echo out; echo err >&2; sleep 0.6"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    // What it prints is not in the data.
    assert!(ran.stderr.contains("out\n") && ran.stderr.contains("err\n"), "{ran:?}");
    assert_eq!(ran.json()["result"]["command"]["status"], 0);
    let tries = target(&ran)["tries"].as_u64().unwrap();
    assert!((10..60).contains(&tries), "{tries}");
    let ran = probe(&[&url, "--interval", "50ms", "--while", "sh -c 'sleep 0.2; exit 3'"]);
    assert_eq!((ran.status, ran.code().as_str()), (5, "command-failed"), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["result"]["command"]["status"], 3);
    assert_eq!(json["result"]["failures"], 0);
    // Its words as they would be pasted.
    let message = json["error"]["message"].as_str().unwrap();
    assert_eq!(message, "`sh -c 'sleep 0.2; exit 3'` ended with 3");
    let ran = probe(&[&url, "--interval", "1h", "--", "sh", "-c", "exit 4"]);
    assert!(ran.json()["error"]["hints"][0].as_str().unwrap().ends_with("0 of 1 try failed"));
    let ran = probe(&[&url, "--timeout", "300ms", "--", "sleep", "30"]);
    assert_eq!((ran.status, ran.code().as_str()), (6, "command-too-slow"), "{ran:?}");
    // The program itself, whatever the path says.
    let ran = probe(&[&url, "--interval", "50ms", "--while", "overlay schema result"]);
    assert_eq!(ran.json()["result"]["command"]["status"], 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["endedBy"], "command", "{ran:?}");
    assert!(ran.stderr.contains("\"$schema\""), "{ran:?}");
    // However quick it is, the endpoint is asked once.
    let ran = probe(&[&url, "--interval", "1h", "--", "true"]);
    assert_eq!((ran.status, &target(&ran)["tries"]), (0, &serde_json::json!(1)), "{ran:?}");
    let ran = probe(&[&url, "--", "no-such-program-here"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "command-not-started"));
}

#[test]
fn a_failing_probe_beside_a_command_that_is_well() {
    let server = server(|number| Answer::new(if number == 2 { 503 } else { 200 }));
    let ran = probe(&[&server.url("/"), "--interval", "50ms", "--", "sleep", "0.5"]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "probe-failed"), "{ran:?}");
    assert_eq!(ran.json()["result"]["command"]["status"], 0);
}

#[test]
fn what_cannot_be_probed_is_wrong_usage() {
    for args in [
        &["ftp://h/"][..],
        &["h.example/healthz"],
        &["http://user:hunter2@h/"],
        &["http://127.0.0.1:1/", "--interval", "1ms"],
        &["http://127.0.0.1:1/", "--interval", "0.5"],
        &["http://127.0.0.1:1/", "--for", "0s"],
        &["http://127.0.0.1:1/", "--offline"],
        &["http://127.0.0.1:1/", "--expect", "ok"],
        &["http://127.0.0.1:1/", "--while", "a | b"],
        &["http://127.0.0.1:1/", "--while", "a", "--", "b"],
        &["http://127.0.0.1:1/", "--for", "1s", "--", "true"],
        &[],
    ] {
        let ran = probe(args);
        assert_eq!((ran.status, ran.code().as_str()), (2, "usage"), "{args:?} {ran:?}");
        assert!(!ran.stdout.contains("hunter2"), "{ran:?}");
    }
}

#[test]
fn people_read_a_line_for_each_failure() {
    let server = server(|number| Answer::new(if number == 1 { 503 } else { 200 }));
    let repo = TestRepo::with_files(&[]);
    let ran = repo.overlay(&["probe", &server.url("/"), "--interval", "50ms", "--for", "200ms"]);
    assert_eq!(ran.status, 7);
    assert!(ran.stdout.contains("4 tries"), "{ran:?}");
    assert!(ran.stdout.contains("1 with status 503"), "{ran:?}");
    assert!(ran.stdout.contains("[.x..]"), "{ran:?}");
    assert!(ran.stdout.contains("status 503, expected 2xx"), "{ran:?}");
    assert!(ran.stderr.contains("1 of 4 tries failed"), "{ran:?}");
}
