//! How often registries are asked, by how many connections, and what becomes of faults on the way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use overlay::image::Reference;
use overlay::registry::{
    Credentials, DigestResolver, Environment, Options, Proof, Registries, Wanted,
};

use super::{refused, repo};
use crate::support::registry::{OCI_MANIFEST, sha256};
use crate::support::repo::TestRepo;
use crate::support::scripted_http::{Answer, Asked, Piece, ScriptedHttp};

/// The manifest of an image, other for each repository and tag.
fn body(target: &str) -> String {
    let config = sha256(target.as_bytes());
    format!(
        r#"{{"schemaVersion":2,"mediaType":"{OCI_MANIFEST}","config":{{"mediaType":"x","digest":"{config}","size":1}},"layers":[]}}"#
    )
}

fn image(asked: &Asked) -> Answer {
    Answer::new(200).header("Content-Type", OCI_MANIFEST).body(body(&asked.target))
}

#[test]
fn two_hundred_images_are_one_request_each_by_eight_connections() {
    let server = ScriptedHttp::start(image);
    let repo = many(&server);
    let ran = repo.overlay(&["pin", "overlays/prod", "--resolve"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let asked = server.asked();
    assert_eq!(asked.len(), 200);
    let connections = asked.iter().map(|asked| asked.connection).max().unwrap() + 1;
    assert!(connections <= 8, "{connections} connections");
    assert_all_pinned(&repo);
}

/// An overlay with 200 images.
fn many(server: &ScriptedHttp) -> TestRepo {
    let repo = repo(&format!("{}/many/web:1", server.host()));
    let pods: String = (0..199)
        .map(|i| {
            let image = format!("{}/many/image-{i}:1", server.host());
            format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}}}\nspec: {{containers: [{{name: c, image: \"{image}\"}}]}}\n")
        })
        .collect();
    repo.write("base/kustomization.yaml", "resources: [web.yaml, pods.yaml]\n");
    repo.write("base/pods.yaml", &pods);
    repo.commit("pods");
    repo
}

fn assert_all_pinned(repo: &TestRepo) {
    let built = repo.overlay(&["build", "overlays/prod"]).stdout;
    for i in 0..199 {
        let digest = sha256(body(&format!("/v2/many/image-{i}/manifests/1")).as_bytes());
        assert!(built.contains(&format!("/many/image-{i}:1@{digest}\n")), "{i}");
    }
}

#[test]
fn what_a_registry_asks_of_one_request_to_wait_all_wait() {
    let (count, times) = (AtomicUsize::new(0), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&times);
    // The first request goes alone; the tenth is answered with a wait of two seconds.
    let server = ScriptedHttp::start(move |asked| {
        seen.lock().unwrap().push(Instant::now());
        match count.fetch_add(1, Ordering::SeqCst) {
            9 => Answer::new(429).header("Retry-After", "2"),
            _ => image(asked),
        }
    });
    let repo = many(&server);
    let ran = repo.overlay(&["pin", "overlays/prod", "--resolve"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_all_pinned(&repo);
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 201, "one was asked twice, and none for nothing");
    // Those that were on their way when the answer came are none of it; the others come when the two seconds are over.
    let since = |at: &Instant| at.saturating_duration_since(times[9]);
    let during = times[10..]
        .iter()
        .map(since)
        .filter(|time| (Duration::from_millis(500)..Duration::from_millis(1900)).contains(time));
    assert_eq!(during.collect::<Vec<Duration>>(), [Duration::ZERO; 0]);
    let after = times[10..].iter().filter(|at| since(at) >= Duration::from_millis(1900)).count();
    assert!(after > 0, "the one that was answered so, at least");
}

#[test]
fn a_registry_that_asks_to_wait_too_long_is_left_alone() {
    let count = AtomicUsize::new(0);
    let server = ScriptedHttp::start(move |asked| match count.fetch_add(1, Ordering::SeqCst) {
        0 => image(asked),
        _ => Answer::new(429).header("Retry-After", "3600"),
    });
    let repo = many(&server);
    let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
    refused(&repo, &ran, 5, "registry-busy");
    // The first, and one for each connection: the others of 200 are not asked.
    assert!(server.asked().len() <= 9, "{} requests", server.asked().len());
}

/// An overlay set of `count` overlays over one base with four images.
fn overlays(server: &ScriptedHttp, count: usize) -> TestRepo {
    let repo = repo(&format!("{}/web:1", server.host()));
    let pods: String = ["a", "b", "c"]
        .map(|name| {
            let image = format!("{}/{name}:1", server.host());
            format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c, image: \"{image}\"}}]}}\n")
        })
        .concat();
    repo.write("base/kustomization.yaml", "resources: [web.yaml, pods.yaml]\n");
    repo.write("base/pods.yaml", &pods);
    for i in 1..count {
        repo.write(&format!("overlays/o{i}/kustomization.yaml"), "resources: [../../base]\n");
    }
    repo
}

#[test]
fn an_image_of_many_overlays_is_asked_for_once() {
    let server = ScriptedHttp::start(image);
    let repo = overlays(&server, 100);
    let ran = repo.overlay(&["pin", "overlays/*", "--resolve", "-o", "json"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(ran.json()["result"]["overlays"].as_array().unwrap().len(), 100);
    assert_eq!(server.asked().len(), 4, "{:?}", server.asked());
}

/// How a fault shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Unavailable,
    Closed,
    Truncated,
    Late,
}

/// Every fifth request fails: by status, by the connection, in the middle of the body, or by an answer that comes after
/// `patience`. How often each was met stands in the counters.
fn faulty(patience: Duration) -> (ScriptedHttp, Arc<[AtomicUsize; 5]>) {
    let count = AtomicUsize::new(0);
    let met: Arc<[AtomicUsize; 5]> = Arc::default();
    let counters = Arc::clone(&met);
    let server = ScriptedHttp::start(move |asked| {
        // A linear congruential generator: the same faults in each run of the test.
        let number =
            count.fetch_add(1, Ordering::SeqCst).wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let fault = match (number >> 8) % 20 {
            0 => Some(Fault::Unavailable),
            1 => Some(Fault::Closed),
            2 => Some(Fault::Truncated),
            3 => Some(Fault::Late),
            _ => None,
        };
        counters[fault.map_or(4, |fault| fault as usize)].fetch_add(1, Ordering::SeqCst);
        match fault {
            Some(Fault::Unavailable) => Answer::new(503),
            Some(Fault::Closed) => Answer::raw(Vec::new()),
            Some(Fault::Truncated) => {
                let half = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"schemaVersion\":2";
                Answer::raw(vec![Piece::Bytes(half.as_bytes().to_vec())])
            }
            Some(Fault::Late) => Answer::raw(vec![Piece::Pause(patience * 2)]),
            None => image(asked),
        }
    });
    (server, met)
}

#[test]
fn with_faults_every_answer_is_right_or_none() {
    let (server, _) = faulty(Duration::from_millis(150));
    let names: Vec<String> = (0..4).map(|i| format!("{}/i{i}:1", server.host())).collect();
    let wanted: Vec<Wanted> = names
        .iter()
        .map(|name| Wanted { reference: Reference::parse(name).unwrap(), proof: Proof::Body })
        .collect();
    let right: Vec<String> =
        (0..4).map(|i| sha256(body(&format!("/v2/i{i}/manifests/1")).as_bytes())).collect();
    let (next, good) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::SeqCst) < 100 {
                    let options =
                        Options { allowed: Duration::from_secs(10), ..Options::default() };
                    let registries =
                        Registries::new(options, Credentials::new(Environment::default()));
                    let answers = registries.resolve(&wanted, &|_, _| {});
                    for (answer, right) in answers.iter().zip(&right) {
                        if let Ok(resolved) = answer {
                            assert_eq!(resolved.digest.as_str(), right);
                            good.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    let good = good.load(Ordering::SeqCst);
    assert!(good > 380, "{good} of 400 answers");
}

/// How many whole runs of the program the fault test makes.
const RUNS: usize = 100;

#[test]
fn with_faults_no_pin_is_wrong_or_partial() {
    // Two seconds for a try: half of the time that all of it may take.
    let (server, met) = faulty(Duration::from_secs(2));
    let names = ["a", "b", "c", "web"];
    let right = names.map(|name| sha256(body(&format!("/v2/{name}/manifests/1")).as_bytes()));
    let (next, done, ended) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let repo = overlays(&server, 1);
                repo.commit("pods");
                while next.fetch_add(1, Ordering::SeqCst) < RUNS {
                    let ran = repo.overlay(&[
                        "pin",
                        "overlays/prod",
                        "--resolve",
                        "--timeout",
                        "4s",
                        "-o",
                        "json",
                    ]);
                    let edited = std::fs::read_to_string(
                        repo.path().join("overlays/prod/kustomization.yaml"),
                    )
                    .unwrap();
                    if ran.status == 0 {
                        assert!(right.iter().all(|digest| edited.contains(digest)), "{edited}");
                        assert_eq!(edited.matches("sha256:").count(), 4, "{edited}");
                        done.fetch_add(1, Ordering::SeqCst);
                        repo.git(&["checkout", "-q", "."]);
                    } else {
                        let codes = ["registry-unreachable", "registry-failed"];
                        assert!(codes.contains(&ran.code().as_str()), "{ran:?}");
                        refused(&repo, &ran, 5, &ran.code());
                        ended.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    let (done, ended) = (done.into_inner(), ended.into_inner());
    let met: Vec<usize> = met.iter().map(|count| count.load(Ordering::SeqCst)).collect();
    eprintln!(
        "{done} of {RUNS} runs pinned, {ended} ended with 5; met {met:?}: 503, closed, cut, late, well"
    );
    assert_eq!(done + ended, RUNS);
    // With retries most get through, and every fault was met.
    assert!(done > RUNS * 8 / 10, "{done} of {RUNS}");
    let (faults, all) = (met[..4].iter().sum::<usize>(), met.iter().sum::<usize>());
    assert!(met[..4].iter().all(|count| *count > 0) && faults * 100 > all * 14, "{met:?}");
}
