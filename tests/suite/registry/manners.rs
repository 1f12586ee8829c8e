//! How often registries are asked, by how many connections, and what becomes of faults on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use overlay::image::Reference;
use overlay::registry::{
    Credentials, DigestResolver, Environment, Options, Proof, Registries, Wanted,
};

use super::{rendered, repo};
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
    let repo = repo(&format!("{}/many/web:1", server.host()));
    let pods: String = (0..199)
        .map(|i| {
            let image = format!("{}/many/image-{i}:1", server.host());
            format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}}}\nspec: {{containers: [{{name: c, image: \"{image}\"}}]}}\n")
        })
        .collect();
    repo.write("base/kustomization.yaml", "resources: [web.yaml, pods.yaml]\n");
    repo.write("base/pods.yaml", &pods);
    let ran = repo.overlay(&["pin", "overlays/prod", "--resolve"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let asked = server.asked();
    assert_eq!(asked.len(), 200);
    let connections = asked.iter().map(|asked| asked.connection).max().unwrap() + 1;
    assert!(connections <= 8, "{connections} connections");
    let built = repo.overlay(&["build", "overlays/prod"]).stdout;
    for i in 0..199 {
        let digest = sha256(body(&format!("/v2/many/image-{i}/manifests/1")).as_bytes());
        assert!(built.contains(&format!("/many/image-{i}:1@{digest}\n")), "{i}");
    }
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

/// Every fifth request or so fails: by status, by the connection, in the middle of the body, or late.
fn faulty() -> ScriptedHttp {
    let count = Arc::new(AtomicUsize::new(0));
    ScriptedHttp::start(move |asked| {
        // A linear congruential generator: the same faults in each run of the test.
        let number =
            count.fetch_add(1, Ordering::SeqCst).wrapping_mul(1_103_515_245).wrapping_add(12_345);
        match (number >> 8) % 20 {
            0 => Answer::new(503),
            1 => Answer::raw(Vec::new()),
            2 => {
                let half = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"schemaVersion\":2";
                Answer::raw(vec![Piece::Bytes(half.as_bytes().to_vec())])
            }
            3 => Answer::raw(vec![Piece::Pause(Duration::from_millis(300))]),
            _ => image(asked),
        }
    })
}

#[test]
fn with_faults_every_answer_is_right_or_none() {
    let server = faulty();
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

#[test]
fn with_faults_no_pin_is_wrong_or_partial() {
    let server = faulty();
    for _ in 0..8 {
        let repo = overlays(&server, 1);
        repo.commit("pods");
        let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
        let built = repo.overlay(&["build", "overlays/prod"]).stdout;
        let pinned = built.matches("@sha256:").count();
        match ran.status {
            0 => assert_eq!(pinned, 4, "{ran:?}"),
            5 => assert_eq!((pinned, repo.git(&["status", "--porcelain"]).as_str()), (0, "")),
            _ => panic!("{ran:?}"),
        }
        for name in ["a", "b", "c", "web"] {
            let digest = sha256(body(&format!("/v2/{name}/manifests/1")).as_bytes());
            assert!(pinned == 0 || built.contains(&format!("/{name}:1@{digest}")), "{built}");
        }
        if pinned == 4 {
            assert!(rendered(&repo).contains("@sha256:"));
        }
    }
}
