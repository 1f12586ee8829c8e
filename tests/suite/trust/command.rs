//! `overlay verify --trust`: files, servers and Secrets.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::pki::{Pki, Wish, now};
use crate::support::json_schema::assert_is_result;
use crate::support::repo::{Ran, TestRepo};
use crate::support::{free_port, wait_for_port};

/// Runs in a folder beside the certificates.
fn verify(pki: &Pki, args: &[&str]) -> Ran {
    let repo = TestRepo::with_files(&[]);
    let dir = pki.dir().display().to_string();
    let ran = repo.overlay(&[&["-C", &dir, "verify", "--trust", "-o", "json"], args].concat());
    assert_is_result(&ran.json());
    ran
}

fn ids(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    let all = json["result"]["findings"].as_array().unwrap().iter();
    all.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

const FILES: [&str; 4] = ["--ca-file", "root.crt", "--leaf-file", "leaf.crt"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FILES[..], more].concat()
}

#[test]
fn files_are_judged() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    let ran = verify(&pki, &FILES);
    assert_eq!(ran.status, 0, "{ran:?}");
    let trust = &ran.json()["result"]["trust"];
    assert_eq!((&trust["openssl"]["ok"], &trust["rustls"]["ok"]), (&json!(true), &json!(true)));
    assert_eq!(trust["chain"][0]["subject"], "CN=leaf");
    assert_eq!(trust["chain"][1]["trusted"], true);
    // Whole days: of thirty, a moment has passed, or none.
    assert!([29, 30].contains(&trust["chain"][0]["daysLeft"].as_i64().unwrap()), "{trust}");
    assert_eq!(ids(&ran), [""; 0]);
    // The CA of the same name with another key: what happened when the leaf was signed by the outgoing one.
    pki.certificate("later", &Wish::root("/CN=root"));
    let ran = verify(&pki, &["--ca-file", "later.crt", "--leaf-file", "leaf.crt"]);
    assert_eq!((ran.status, ran.code().as_str()), (7, "trust-broken"), "{ran:?}");
    let json = ran.json();
    let message = json["error"]["message"].as_str().unwrap();
    assert!(message.contains("replaced after this was issued"), "{message}");
    // 7 or 20, by whether this openssl writes into the leaf which key signed it.
    let said = pki.verify("later.crt", "leaf.crt", now());
    assert_eq!(json["result"]["trust"]["openssl"]["problems"][0]["number"], said.errors[0].0);
    assert!(
        json["error"]["hints"][0].as_str().unwrap().starts_with("issue the leaf anew"),
        "{json}"
    );
}

/// The first hint mends the fault that is there, and does not say more than that.
#[test]
fn what_helps_fits_the_fault() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    pki.certificate("mid", &Wish::authority("/CN=mid", "root"));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    let texts = |names: &[&str]| -> String {
        names.iter().map(|name| std::fs::read_to_string(pki.path(name)).unwrap()).collect()
    };
    pki.write("whole.crt", &texts(&["leaf.crt", "mid.crt"]));
    pki.write("upside.crt", &texts(&["mid.crt", "leaf.crt"]));
    let host = ["--host", "identity.mesh.svc"];
    let remedy = |leaf: &str, more: &[&str]| {
        let files = ["--ca-file", "root.crt", "--leaf-file", leaf];
        let ran = verify(&pki, &[&files[..], more].concat());
        let steps = ran.json()["result"]["trust"]["remedy"].clone();
        (ran.status, steps.as_array().unwrap().clone(), ids(&ran))
    };
    let first = |steps: &[Value]| steps[0].as_str().unwrap().to_owned();

    assert_eq!(remedy("whole.crt", &host).0, 0);
    // The one in between is not sent: a new leaf would miss it too.
    let (status, steps, found) = remedy("leaf.crt", &host);
    assert_eq!((status, steps.len(), found[0].as_str()), (7, 1, "chain-refused"));
    assert!(first(&steps).starts_with("send CN=mid along"), "{steps:?}");
    // Trusted is one in between alone: nothing that is sent along helps.
    let files = ["--ca-file", "mid.crt", "--leaf-file", "whole.crt"];
    let json = verify(&pki, &[&files[..], &host].concat()).json();
    assert_eq!(json["error"]["code"], "trust-broken", "{json}");
    let steps = json["result"]["trust"]["remedy"].as_array().unwrap();
    let words = steps[0].as_str().unwrap();
    assert!(words.starts_with("add CN=root, which issued CN=mid, to "), "{words}");
    assert!(words.contains("mid.crt") && steps.len() == 1, "{steps:?}");
    pki.write("both.crt", &texts(&["mid.crt", "root.crt"]));
    let files = ["--ca-file", "both.crt", "--leaf-file", "whole.crt"];
    assert_eq!(verify(&pki, &[&files[..], &host].concat()).status, 0);
    // The leaf is second: its names were not looked at.
    let (status, steps, found) =
        remedy("upside.crt", &[&host[..], &["--key-file", "leaf.key"]].concat());
    assert_eq!((status, steps.len()), (7, 1), "{steps:?}");
    assert!(first(&steps).starts_with("put the leaf (CN=leaf) first in "), "{steps:?}");
    assert_eq!(found[0], "leaf-not-first");
    assert!(!found.iter().any(|id| id == "host-mismatch" || id == "key-mismatch"), "{found:?}");
    // The leaf is last, and others stand between it and the first.
    pki.write("root-first.crt", &texts(&["root.crt", "mid.crt", "leaf.crt"]));
    let (status, steps, found) = remedy("root-first.crt", &host);
    assert_eq!((status, steps.len(), found[0].as_str()), (7, 1, "leaf-not-first"), "{steps:?}");
    assert!(first(&steps).starts_with("put the leaf (CN=leaf) first in "), "{steps:?}");
    // Another's key: the right one is looked for first.
    let (status, steps, _) = remedy("whole.crt", &["--key-file", "root.key"]);
    assert_eq!((status, steps.len()), (7, 1));
    assert!(first(&steps).starts_with("put the private key beside the leaf"), "{steps:?}");
    // A host that it does not name needs another leaf.
    let (status, steps, _) = remedy("whole.crt", &["--host", "other.mesh.svc"]);
    assert_eq!((status, steps.len()), (7, 1));
    assert!(first(&steps).starts_with("issue the leaf anew for that host"), "{steps:?}");
}

#[test]
fn what_was_asked_for_must_hold() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    for (args, status, found) in [
        (&["--host", "identity.mesh.svc"][..], 0, vec![]),
        (&["--host", "other.mesh.svc"], 7, vec!["host-mismatch"]),
        (&["--min-days", "20"], 0, vec![]),
        (&["--min-days", "40"], 7, vec!["expires-soon", "expires-soon"]),
        (&["--key-file", "leaf.key"], 0, vec![]),
        (&["--key-file", "root.key"], 7, vec!["key-mismatch"]),
    ] {
        let ran = verify(&pki, &with(args));
        assert_eq!(
            (ran.status, ids(&ran)),
            (status, found.into_iter().map(str::to_owned).collect()),
            "{args:?} {ran:?}"
        );
    }
    pki.certificate("short", &Wish::leaf("/CN=short", "root").days(5));
    let ran = verify(&pki, &["--ca-file", "root.crt", "--leaf-file", "short.crt"]);
    assert_eq!((ran.status, ids(&ran)), (0, vec!["expires-soon".to_owned()]));
    assert_eq!(ran.json()["result"]["findings"][0]["severity"], "warning");
    // Keys of other kinds.
    pki.key("rsa", &["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]);
    pki.certificate("rsa", &Wish::leaf("/CN=rsa", "root"));
    let args = ["--ca-file", "root.crt", "--leaf-file", "rsa.crt", "--key-file"];
    assert_eq!(verify(&pki, &[&args[..], &["rsa.key"]].concat()).status, 0);
    assert_eq!(verify(&pki, &[&args[..], &["leaf.key"]].concat()).status, 7);
}

#[test]
fn what_cannot_be_read_is_named() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    pki.write("empty.crt", "");
    pki.write("text.crt", "certificate\n");
    pki.write("broken.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    pki.write("cut.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    pki.openssl(&["x509", "-in", "leaf.crt", "-outform", "DER", "-out", "der.crt"]);
    pki.openssl(&[
        "x509",
        "-in",
        "leaf.crt",
        "-trustout",
        "-addtrust",
        "serverAuth",
        "-out",
        "trusted.crt",
    ]);
    let many = pki.read("leaf.crt") + &pki.read("broken.crt");
    pki.write("second.crt", &many);
    for (file, status, code, says) in [
        ("nothing.crt", 4, "no-such-file", "nothing.crt"),
        ("empty.crt", 3, "certificate-unreadable", "empty"),
        ("text.crt", 3, "certificate-unreadable", "BEGIN CERTIFICATE"),
        ("leaf.key", 3, "certificate-unreadable", "BEGIN CERTIFICATE"),
        ("broken.crt", 3, "certificate-unreadable", "block 1"),
        ("second.crt", 3, "certificate-unreadable", "block 2"),
        ("cut.crt", 3, "certificate-unreadable", "block 1"),
        ("der.crt", 3, "certificate-unreadable", "DER"),
        ("trusted.crt", 3, "certificate-unreadable", "TRUSTED"),
    ] {
        for args in [
            ["--ca-file", "root.crt", "--leaf-file", file],
            ["--ca-file", file, "--leaf-file", "leaf.crt"],
        ] {
            let ran = verify(&pki, &args);
            assert_eq!((ran.status, ran.code().as_str()), (status, code), "{file} {ran:?}");
            assert!(
                ran.json()["error"]["message"].as_str().unwrap().contains(says),
                "{file} {ran:?}"
            );
        }
    }
    for args in [
        &["--ca-file", "root.crt"][..],
        &["--ca-file", "root.crt", "--leaf-file", "a", "--connect", "b:1"],
        &["--leaf-secret", "a"],
    ] {
        assert_eq!(verify(&pki, args).status, 2, "{args:?}");
    }
    let repo = TestRepo::with_files(&[]);
    assert_eq!(repo.overlay(&["verify", "--ca-file", "root.crt"]).status, 2);
    // What is of an overlay's own verification is not taken and left aside.
    for other in
        [&["--follow"][..], &["--namespace", "mesh"], &["--at", "HEAD"], &["--no-registry"]]
    {
        assert_eq!(verify(&pki, &with(other)).status, 2, "{other:?}");
    }
}

#[test]
fn what_no_restart_through_git_reaches_is_named_apart() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    let mut items = objects(&pki, "root.crt", Some(1000));
    items[2]["metadata"]["ownerReferences"] = json!(null);
    items[3]["metadata"]["ownerReferences"][0]["kind"] = json!("StatefulSet");
    items[3]["metadata"]["ownerReferences"][0]["name"] = json!("agent");
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    pki.write("dump.json", &list.to_string());
    let json = verify(&pki, &SECRETS).json();
    let remedy = &json["result"]["trust"]["remedy"];
    let steps: Vec<&str> =
        remedy.as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    assert!(steps[1].ends_with("`overlay restart OVERLAY StatefulSet/agent`"), "{json}");
    assert!(steps[2].ends_with("reaches: Pod/bff-7d9f-x"), "{json}");
}

struct Server(Child, u16);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(pki: &Pki, more: &[&str]) -> Server {
    let port = free_port();
    let child = Command::new("openssl")
        .args(["s_server", "-quiet", "-accept", &format!("127.0.0.1:{port}")])
        .args(more)
        .current_dir(pki.dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_port("127.0.0.1", port);
    Server(child, port)
}

#[test]
fn a_server_is_judged_by_what_it_presents() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=root"));
    pki.certificate("mid", &Wish::authority("/CN=mid", "root"));
    pki.certificate("leaf", &Wish::leaf("/CN=leaf", "mid"));
    // Another certificate for those that ask for another host.
    pki.certificate("old", &Wish::leaf("/CN=old", "root").with(""));
    let server = serve(
        &pki,
        &[
            "-cert",
            "leaf.crt",
            "-key",
            "leaf.key",
            "-cert_chain",
            "mid.crt",
            "-servername",
            "old.mesh.svc",
            "-cert2",
            "old.crt",
            "-key2",
            "old.key",
        ],
    );
    let address = format!("127.0.0.1:{}", server.1);
    let ran = verify(
        &pki,
        &["--ca-file", "root.crt", "--connect", &address, "--host", "identity.mesh.svc"],
    );
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["trust"]["presented"].as_array().unwrap().len(), 2);
    // A version 1 certificate, which rustls itself would not take: openssl does.
    let ran =
        verify(&pki, &["--ca-file", "root.crt", "--connect", &address, "--host", "old.mesh.svc"]);
    let json = ran.json();
    assert_eq!(json["result"]["trust"]["presented"][0]["subject"], "CN=old", "{ran:?}");
    assert_eq!(json["result"]["trust"]["openssl"]["ok"], true);
    assert_eq!(json["result"]["trust"]["rustls"]["error"], "UnsupportedCertVersion");
    // Without a CA file this machine's authorities judge, which do not know it.
    let ran = verify(&pki, &["--connect", &address]);
    assert!(ran.status == 7 || ran.code() == "certificate-unreadable", "{ran:?}");
}

#[test]
fn servers_that_want_a_certificate_or_speak_an_older_tls() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    for more in
        [&["-Verify", "1", "-CAfile", "root.crt"][..], &["-tls1_2", "-Verify", "1"], &["-tls1_2"]]
    {
        let server = serve(&pki, &[&["-cert", "leaf.crt", "-key", "leaf.key"][..], more].concat());
        let address = format!("127.0.0.1:{}", server.1);
        let ran = verify(&pki, &["--ca-file", "root.crt", "--connect", &address]);
        assert_eq!(ran.status, 0, "{more:?} {ran:?}");
    }
}

#[test]
fn servers_that_are_none() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    let refused = format!("127.0.0.1:{}", free_port());
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_at = silent.local_addr().unwrap().to_string();
    for (address, status, code) in [
        (refused.as_str(), 5, "server-unreachable"),
        (&silent_at, 5, "server-unreachable"),
        ("nowhere", 2, "usage"),
        ("https://h:443", 2, "usage"),
        ("h.example:443 --offline", 2, "usage"),
    ] {
        let connect: Vec<&str> = address.split(' ').collect();
        let args = ["--ca-file", "root.crt", "--timeout", "1s", "--connect"];
        let ran = verify(&pki, &[&args[..], &connect].concat());
        assert_eq!((ran.status, ran.code().as_str()), (status, code), "{ran:?}");
    }
}

fn base64(pki: &Pki, file: &str) -> String {
    let output =
        Command::new("base64").args(["-w0", file]).current_dir(pki.dir()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn rfc3339(seconds: i64) -> String {
    overlay::clock::format_rfc_3339(u64::try_from(seconds).unwrap())
}

/// A Secret whose data a manager wrote so many seconds ago.
fn secret(name: &str, data: Value, written: Option<i64>) -> Value {
    let fields: serde_json::Map<String, Value> =
        data.as_object().unwrap().keys().map(|key| (format!("f:{key}"), json!({}))).collect();
    let managers = written.map(|ago| {
        json!([{ "manager": "cert-manager", "operation": "Update", "time": rfc3339(now() - ago),
            "fieldsType": "FieldsV1", "fieldsV1": { "f:data": fields } }])
    });
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "namespace": "memql", "name": name,
        "creationTimestamp": rfc3339(now() - 900_000), "managedFields": managers }, "data": data })
}

fn pod(workload: &str, secret: &str, started: i64) -> Value {
    json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "namespace": "memql", "name": format!("{workload}-7d9f-x"), "labels": { "pod-template-hash": "7d9f" },
            "ownerReferences": [{ "kind": "ReplicaSet", "name": format!("{workload}-7d9f"), "controller": true }] },
        "spec": { "volumes": [{ "name": "tls", "secret": { "secretName": secret } }],
            "containers": [{ "name": workload, "volumeMounts": [{ "name": "tls", "mountPath": "/tls" }] }] },
        "status": { "phase": "Running", "containerStatuses": [{ "name": workload,
            "state": { "running": { "startedAt": rfc3339(now() - started) } } }] } })
}

/// A cluster in which the CA was written 1000 s ago, `bff` started before that and `agent` after.
fn objects(pki: &Pki, ca: &str, written: Option<i64>) -> Vec<Value> {
    let tls = json!({ "tls.crt": base64(pki, "leaf.crt"), "tls.key": base64(pki, "leaf.key") });
    vec![
        secret("memql-ca", json!({ "ca.crt": base64(pki, ca) }), written),
        secret("identity-tls", tls, written.map(|_| 5000)),
        pod("bff", "memql-ca", 2000),
        pod("agent", "memql-ca", 500),
        pod("identity", "identity-tls", 3000),
    ]
}

fn dump(pki: &Pki, ca: &str, written: Option<i64>) {
    let items = objects(pki, ca, written);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": items });
    pki.write("dump.json", &list.to_string());
}

const SECRETS: [&str; 6] =
    ["--ca-secret", "memql/memql-ca", "--leaf-secret", "memql/identity-tls", "--from", "dump.json"];

#[test]
fn secrets_of_a_cluster_and_who_reads_them() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    dump(&pki, "root.crt", Some(1000));
    let ran = verify(&pki, &SECRETS);
    let json = ran.json();
    // The certificates were made just now, so that whoever started before cannot have them.
    assert_eq!((ran.status, ran.code().as_str()), (7, "trust-broken"), "{ran:?}");
    assert_eq!(json["result"]["trust"]["openssl"]["ok"], true);
    assert_eq!(json["result"]["trust"]["key"], "fits");
    assert_eq!(ids(&ran), ["restart-owed", "restart-owed"], "{json}");
    let hints = json["error"]["hints"].to_string();
    assert!(hints.contains("overlay restart OVERLAY Deployment/agent Deployment/bff"), "{hints}");
    // No value of a Secret is told.
    let key = base64(&pki, "leaf.key");
    assert!(!ran.stdout.contains(&key) && !ran.stdout.contains("PRIVATE KEY"));

    // Without the managers' times it is still certain.
    dump(&pki, "root.crt", None);
    let json = verify(&pki, &SECRETS).json();
    assert_eq!(json["result"]["trust"]["readers"][0]["changedIsKnown"], false, "{json}");
    // The overlay that was named stands in the advice; a broken chain comes first: the leaf, then those who serve it, then clients.
    pki.certificate("later", &Wish::root("/CN=root"));
    dump(&pki, "later.crt", Some(1000));
    let ran = verify(&pki, &[&["overlays/prod"][..], &SECRETS].concat());
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-overlay"), "{ran:?}");
    std::fs::create_dir_all(pki.path("overlays/prod")).unwrap();
    pki.write("overlays/prod/kustomization.yaml", "");
    let ran = verify(&pki, &[&["overlays/prod"][..], &SECRETS].concat());
    let json = ran.json();
    let steps = json["result"]["trust"]["remedy"].as_array().unwrap();
    assert_eq!(steps.len(), 3, "{json}");
    assert!(
        steps[0].as_str().unwrap().contains("kubectl -n memql delete secret identity-tls"),
        "{json}"
    );
    assert!(
        steps[1].as_str().unwrap().contains("overlay restart overlays/prod Deployment/identity"),
        "{json}"
    );
    assert!(steps[2].as_str().unwrap().contains("Deployment/bff"), "{json}");
    assert_eq!(ids(&ran)[0], "chain-refused");
}

#[test]
fn secrets_that_are_not_there() {
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    dump(&pki, "root.crt", Some(1000));
    for (ca, leaf, code, says) in [
        ("memql/other", "memql/identity-tls", "no-such-secret", "memql/other"),
        ("memql/memql-ca:ca.crtt", "memql/identity-tls", "no-such-secret", "did you mean ca.crt?"),
        ("memql/identity-tls:tls.key", "memql/identity-tls", "certificate-unreadable", "tls.key"),
    ] {
        let ran = verify(&pki, &["--ca-secret", ca, "--leaf-secret", leaf, "--from", "dump.json"]);
        assert_eq!(ran.code(), code, "{ran:?}");
        assert!(ran.json()["error"].to_string().contains(says), "{ran:?}");
    }
}

#[test]
fn people_and_markdown_see_both_verdicts() {
    let Some(pki) = Pki::new() else { return };
    pki.certificate("root", &Wish::root("/CN=ro\u{1b}[31mot"));
    let dir = pki.dir().display().to_string();
    let repo = TestRepo::with_files(&[]);
    let args =
        ["-C", &dir, "verify", "--trust", "--ca-file", "root.crt", "--leaf-file", "root.crt"];
    let ran = repo.overlay(&args);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("openssl: trusted"), "{ran:?}");
    assert!(ran.stdout.contains("refused, CaUsedAsEndEntity"), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    let ran = repo.overlay(&[&args[..], &["-o", "markdown"]].concat());
    assert!(ran.stdout.contains("| rustls | CaUsedAsEndEntity |"), "{ran:?}");
}

#[cfg(feature = "cluster")]
#[test]
fn secrets_are_read_over_the_api_by_get_alone() {
    use crate::support::kube_api::KubeApi;
    let Some(pki) = Pki::new() else { return };
    pki.simple();
    let server = KubeApi::with(objects(&pki, "root.crt", Some(1000)));
    pki.write("kubeconfig", &server.kubeconfig("memql"));
    let args = [&SECRETS[..4], &["--kubeconfig", "kubeconfig"]].concat();
    let ran = verify(&pki, &args);
    assert_eq!((ran.status, ids(&ran)), (7, vec!["restart-owed".to_owned(); 2]), "{ran:?}");
    assert!(server.asked().iter().all(|asked| asked.method == "GET"));
    // Who may not list pods is told about certificates all the same.
    server.deny("list", "pods");
    let ran = verify(&pki, &args);
    assert_eq!((ran.status, ids(&ran)), (0, vec![]), "{ran:?}");
    server.deny("get", "secrets");
    let ran = verify(&pki, &args);
    assert_eq!((ran.status, ran.code().as_str()), (4, "cluster-denied"), "{ran:?}");
}
