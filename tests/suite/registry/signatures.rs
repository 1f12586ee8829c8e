//! Signatures as cosign stores them, made by openssl: the right one is taken, everything else refuses.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::{refused, rendered, repo};
use crate::support::certificates::openssl;
use crate::support::registry::{Guard, OCI_MANIFEST, Registry};
use crate::support::skip;

/// Makes `NAME.key` and `NAME.pub` in `dir`.
fn make_key(dir: &Path, name: &str, algorithm: &str) -> bool {
    openssl(&format!("genpkey -algorithm {algorithm} -out {name}.key"), dir)
        && openssl(&format!("pkey -in {name}.key -pubout -out {name}.pub"), dir)
}

const P256: &str = "EC -pkeyopt ec_paramgen_curve:prime256v1";

fn sign(dir: &Path, key: &str, payload: &[u8]) -> Vec<u8> {
    std::fs::write(dir.join("payload"), payload).unwrap();
    let arguments = match key {
        "edwards" => format!("pkeyutl -sign -rawin -in payload -inkey {key}.key -out signature"),
        _ => format!("dgst -sha256 -sign {key}.key -out signature payload"),
    };
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(dir).output();
    assert!(output.unwrap().status.success(), "{arguments}");
    std::fs::read(dir.join("signature")).unwrap()
}

fn payload(of: &str) -> Vec<u8> {
    let critical = json!({
        "identity": {"docker-reference": "shop/web"},
        "image": {"docker-manifest-digest": of},
        "type": "cosign container image signature",
    });
    json!({"critical": critical, "optional": null}).to_string().into_bytes()
}

/// Puts a signature beside the image `digest` of `repository`.
fn attach(registry: &Registry, repository: &str, digest: &str, payload: &[u8], signature: &[u8]) {
    let mut layer = registry.push_blob(repository, payload);
    layer["mediaType"] = json!("application/vnd.dev.cosign.simplesigning.v1+json");
    let text = base64_of(signature);
    layer["annotations"] = json!({"dev.cosignproject.cosign/signature": text});
    let mut config = registry.push_blob(repository, b"{}");
    config["mediaType"] = json!("application/vnd.oci.image.config.v1+json");
    let manifest: Json = json!({
        "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": config, "layers": [layer],
    });
    let tag = format!("{}.sig", digest.replace(':', "-"));
    registry.push_manifest(repository, &tag, OCI_MANIFEST, manifest.to_string().as_bytes());
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::prelude::BASE64_STANDARD.encode(bytes)
}

/// A registry whose images are signed by one of four keys, falsely or not at all.
fn signed_registry() -> Option<Registry> {
    let registry = Registry::start(Guard::None)?;
    let dir = registry.dir.path();
    let rsa = "RSA -pkeyopt rsa_keygen_bits:2048";
    let keys = [("own", P256), ("other", P256), ("rsa", rsa), ("edwards", "ED25519")];
    if !keys.iter().all(|(name, algorithm)| make_key(dir, name, algorithm)) {
        skip("no openssl that makes keys");
        return None;
    }
    for name in
        ["unsigned", "signed", "rsa-signed", "edwards-signed", "foreign", "moved", "changed"]
    {
        registry.push_image(name, Some("1"), OCI_MANIFEST, "amd64", name);
    }
    let digest = registry.judged("signed:1")?;
    for (repository, key) in [
        ("signed", "own"),
        ("rsa-signed", "rsa"),
        ("edwards-signed", "edwards"),
        ("foreign", "other"),
    ] {
        let digest = registry.judged(&format!("{repository}:1")).unwrap();
        let payload = payload(&digest);
        attach(&registry, repository, &digest, &payload, &sign(dir, key, &payload));
    }
    // A true signature of another image, put beside this one.
    let true_one = sign(dir, "own", &payload(&digest));
    let moved = registry.judged("moved:1").unwrap();
    attach(&registry, "moved", &moved, &payload(&digest), &true_one);
    // A true signature, with a payload that was changed after it.
    let changed = registry.judged("changed:1").unwrap();
    attach(&registry, "changed", &changed, &payload(&changed), &true_one);
    Some(registry)
}

#[test]
fn a_signature_is_of_the_key_over_this_image() {
    let Some(registry) = signed_registry() else { return };
    let dir = registry.dir.path();
    for (repository, key, why) in [
        ("signed", "own.pub", ""),
        ("rsa-signed", "rsa.pub", ""),
        ("edwards-signed", "edwards.pub", ""),
        ("unsigned", "own.pub", "not signed"),
        ("foreign", "own.pub", "not of that key"),
        ("moved", "own.pub", "another image"),
        ("changed", "own.pub", "not of that key"),
        ("signed", "rsa.pub", "not of that key"),
    ] {
        let repo = repo(&format!("{}/{repository}:1", registry.host()));
        let key = dir.join(key).display().to_string();
        let ran = repo.overlay(&[
            "pin",
            "overlays/prod",
            "--resolve",
            "--verify-signature",
            &key,
            "-o",
            "json",
        ]);
        if why.is_empty() {
            assert_eq!(ran.status, 0, "{repository} {ran:?}");
            assert!(
                rendered(&repo).ends_with(&registry.judged(&format!("{repository}:1")).unwrap())
            );
            continue;
        }
        refused(&repo, &ran, 3, "signature-refused");
        assert!(
            ran.json()["error"]["message"].as_str().unwrap().contains(why),
            "{repository} {ran:?}"
        );
    }
    let repo = repo(&format!("{}/signed:1", registry.host()));
    let key = dir.join("own.key").display().to_string();
    let ran = repo.overlay(&[
        "pin",
        "overlays/prod",
        "--resolve",
        "--verify-signature",
        &key,
        "-o",
        "json",
    ]);
    refused(&repo, &ran, 3, "signature-key");
}
