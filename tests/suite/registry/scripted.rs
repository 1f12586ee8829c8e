//! What a real registry does not do, or does not do when asked to: the cases of group 8, and servers that lie, break or hang.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{refused, rendered, repo, repo_with, with};
use crate::support::git_http::base64;
use crate::support::registry::{DOCKER_MANIFEST, OCI_INDEX, OCI_MANIFEST, sha256};
use crate::support::repo::{Ran, TestRepo};
use crate::support::scripted_http::{Answer, Asked, Piece, ScriptedHttp};

// The bodies and digests of fixture F2.
const INDEX: &str = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:f4118a8182bb95a17e7dcdee80a6e9055a38b8e40d3c7df673591c2596016a79","size":247,"platform":{"architecture":"amd64","os":"linux"}},{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:4c5f7661e425e3eb02517e44e382d8e5ba61be86cbf7940f58809149e4bee893","size":247,"platform":{"architecture":"arm64","os":"linux"}}]}"#;
const INDEX_DIGEST: &str =
    "sha256:55da2abd97f49915f56b5b2f4836140ee775442bf0d8ab62695e0b06dcd3ccf2";
const AMD64: &str = r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:33918789f467a4dafe9aa006fc42395bd52d95ed63ce931bdee307f605128b60","size":49},"layers":[]}"#;
const AMD64_DIGEST: &str =
    "sha256:f4118a8182bb95a17e7dcdee80a6e9055a38b8e40d3c7df673591c2596016a79";
const OTHER_DIGEST: &str =
    "sha256:3333333333333333333333333333333333333333333333333333333333333333";

fn index() -> Answer {
    Answer::new(200).header("Content-Type", OCI_INDEX).body(INDEX)
}

fn with_digest(answer: Answer, digest: &str) -> Answer {
    answer.header("Docker-Content-Digest", digest)
}

fn web(server: &ScriptedHttp) -> TestRepo {
    repo(&format!("{}/shop/web:1.0", server.host()))
}

fn pin(server: &ScriptedHttp, more: &[&str]) -> (TestRepo, Ran) {
    let repo = web(server);
    let mut arguments = vec!["pin", "overlays/prod", "web:1.4", "-o", "json"];
    arguments.extend(more);
    let ran = repo.overlay(&arguments);
    (repo, ran)
}

fn pins_the_index(server: &ScriptedHttp) {
    let (repo, ran) = pin(server, &[]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(rendered(&repo).ends_with(INDEX_DIGEST), "{ran:?}");
}

fn fails(server: &ScriptedHttp, more: &[&str], exit: i32, code: &str) -> Ran {
    let (repo, ran) = pin(server, more);
    refused(&repo, &ran, exit, code);
    ran
}

#[test]
fn the_bodies_have_the_digests_that_the_cases_say() {
    assert_eq!(sha256(INDEX.as_bytes()), INDEX_DIGEST);
    assert_eq!(sha256(AMD64.as_bytes()), AMD64_DIGEST);
}

// C78.
#[test]
fn the_index_is_asked_for_and_not_one_platforms_image() {
    let server = ScriptedHttp::start(|asked| {
        let lists_index = asked.header("accept").is_some_and(|accept| accept.contains(OCI_INDEX));
        match lists_index {
            true => with_digest(index(), INDEX_DIGEST),
            false => with_digest(Answer::new(200), AMD64_DIGEST)
                .header("Content-Type", OCI_MANIFEST)
                .body(AMD64),
        }
    });
    pins_the_index(&server);
    assert_eq!(server.asked().len(), 1, "{:?}", server.asked());
    let accepted = server.asked()[0].header("accept").unwrap().to_owned();
    for kind in [OCI_INDEX, OCI_MANIFEST, DOCKER_MANIFEST, crate::support::registry::DOCKER_LIST] {
        assert!(accepted.contains(kind), "{accepted}");
    }
}

// C80: the question whether a tag moved is a HEAD, and a GET where that says nothing.
#[test]
fn a_registry_without_head_or_digest_header_is_asked_by_get() {
    for refusal in [405, 501, 400, 404, 200] {
        let server = ScriptedHttp::start(move |asked| match asked.method.as_str() {
            "HEAD" if refusal == 200 => Answer::new(200).header("Content-Type", OCI_INDEX),
            "HEAD" => Answer::new(refusal),
            _ => index(),
        });
        pins_the_index(&server);
        let name = format!("{}/shop/web", server.host());
        for (digest, exit) in [(INDEX_DIGEST, 0), (OTHER_DIGEST, 7)] {
            let entry = format!(
                "resources: [../../base]\nimages:\n- {{name: \"{name}\", newTag: \"1.4\", digest: \"{digest}\"}}\n"
            );
            let repo = repo_with(&format!("{name}:1.0"), &entry);
            let ran = repo.overlay(&["pin", "overlays/prod", "--refresh", "--check", "-o", "json"]);
            assert_eq!(ran.status, exit, "{refusal} {ran:?}");
        }
    }
}

#[test]
fn whether_a_tag_moved_is_one_head() {
    let server = ScriptedHttp::start(|_| {
        with_digest(Answer::new(200).header("Content-Type", OCI_INDEX), INDEX_DIGEST)
    });
    let name = format!("{}/shop/web", server.host());
    let entry = format!(
        "resources: [../../base]\nimages:\n- {{name: \"{name}\", newTag: \"1.4\", digest: \"{INDEX_DIGEST}\"}}\n"
    );
    let repo = repo_with(&format!("{name}:1.0"), &entry);
    for arguments in [&["--refresh", "--check"][..], &["--refresh"], &["--verify"]] {
        let mut all = vec!["pin", "overlays/prod"];
        all.extend(arguments);
        let before = server.asked().len();
        assert_eq!(repo.overlay(&all).status, 0);
        let asked: Vec<String> =
            server.asked()[before..].iter().map(|a| a.method.clone()).collect();
        assert_eq!(asked, ["HEAD"], "{arguments:?}");
    }
}

/// The server of C84; `challenge` is what it answers to those without a token, `field` names the token in the answer.
fn token_server(challenges: &'static [&'static str], field: &'static str) -> ScriptedHttp {
    ScriptedHttp::start(move |asked| {
        if let Some(query) = asked.target.strip_prefix("/tok?") {
            let wanted = ["x=1", "service=reg%2C%20istry", "scope=repository%3Ashop%2Fweb%3Apull"];
            let has_all = wanted.iter().all(|pair| query.split('&').any(|given| given == *pair));
            return match has_all {
                true => Answer::new(200).body(format!(r#"{{"{field}":"T1"}}"#)),
                false => Answer::new(400),
            };
        }
        if asked.header("authorization") == Some("Bearer T1") {
            return index();
        }
        let realm = format!("http://{}/tok?x=1", asked.header("host").unwrap_or_default());
        let add = |answer: Answer, text: &&str| {
            answer.header("WWW-Authenticate", &text.replace("REALM", &realm))
        };
        challenges.iter().fold(Answer::new(401), add)
    })
}

// C84.
#[test]
fn the_token_dance_is_danced_to_any_tune() {
    const WHOLE: &str =
        r#"bearer Realm="REALM", Service="reg, istry", scope="repository:shop/web:pull""#;
    const NO_SCOPE: &str = r#"Bearer realm="REALM",service="reg, istry""#;
    for (challenges, field) in [
        (&[WHOLE][..], "access_token"),
        (&[WHOLE], "token"),
        (&[NO_SCOPE], "token"),
        (&["Basic realm=\"x\"", WHOLE], "token"),
        (&[WHOLE, "Basic realm=\"x\""], "token"),
    ] {
        let server = token_server(challenges, field);
        pins_the_index(&server);
        assert_eq!(server.asked().len(), 3, "{challenges:?} {:?}", server.asked());
    }
}

#[test]
fn a_second_refusal_is_the_last() {
    let server = ScriptedHttp::start(|asked| {
        if asked.target.starts_with("/tok") {
            return Answer::new(200).body(r#"{"token":"hunter2-token"}"#);
        }
        let realm = format!("http://{}/tok", asked.header("host").unwrap_or_default());
        Answer::new(401).header("WWW-Authenticate", &format!("Bearer realm=\"{realm}\""))
    });
    let ran = fails(&server, &[], 4, "image-denied");
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    assert_eq!(server.asked().len(), 3, "{:?}", server.asked());
}

#[test]
fn no_password_goes_to_a_token_service_in_the_clear() {
    let server = ScriptedHttp::start(|_| {
        let realm = "Bearer realm=\"http://tokens.invalid/token\",service=\"x\"";
        Answer::new(401).header("WWW-Authenticate", realm)
    });
    let repo = web(&server);
    let home = repo.path().parent().unwrap().join("docker");
    std::fs::create_dir_all(&home).unwrap();
    let auth = base64("alice:wrong-password");
    let config = format!(r#"{{"auths": {{"{}": {{"auth": "{auth}"}}}}}}"#, server.host());
    std::fs::write(home.join("config.json"), config).unwrap();
    let home = home.display().to_string();
    let arguments = ["pin", "overlays/prod", "web:1.4", "-o", "json"];
    let ran = with(&repo, &arguments, &[("DOCKER_CONFIG", &home)]);
    refused(&repo, &ran, 5, "registry-failed");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("without TLS"), "{ran:?}");
}

#[test]
fn an_identity_token_is_exchanged() {
    let server = ScriptedHttp::start(|asked| {
        if asked.target == "/tok" {
            let form = String::from_utf8(asked.body.clone()).unwrap();
            let wanted = [
                "grant_type=refresh_token",
                "refresh_token=identity%2Dtoken",
                "scope=repository%3Ashop%2Fweb%3Apull",
            ];
            let wanted = wanted.map(|pair| pair.replace("%2D", "-"));
            return match asked.method == "POST" && wanted.iter().all(|pair| form.contains(pair)) {
                true => Answer::new(200).body(r#"{"access_token":"T1"}"#),
                false => Answer::new(400),
            };
        }
        if asked.header("authorization") == Some("Bearer T1") {
            return index();
        }
        let realm = format!("http://{}/tok", asked.header("host").unwrap_or_default());
        Answer::new(401).header("WWW-Authenticate", &format!("Bearer realm=\"{realm}\""))
    });
    let repo = web(&server);
    let home = repo.path().parent().unwrap().join("docker");
    std::fs::create_dir_all(&home).unwrap();
    let config =
        format!(r#"{{"auths": {{"{}": {{"identitytoken": "identity-token"}}}}}}"#, server.host());
    std::fs::write(home.join("config.json"), config).unwrap();
    let home = home.display().to_string();
    let arguments = ["pin", "overlays/prod", "web:1.4", "-o", "json"];
    let ran = with(&repo, &arguments, &[("DOCKER_CONFIG", &home)]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(rendered(&repo).ends_with(INDEX_DIGEST));
}

// C86.
#[test]
fn a_redirect_leaves_the_token_behind() {
    let blobs = ScriptedHttp::start(|asked| match asked.header("authorization") {
        Some(_) => Answer::new(400).body("Only one auth mechanism allowed"),
        None => index(),
    });
    let place = blobs.url("/m/1?sig=abc");
    let server = ScriptedHttp::start(move |asked| {
        if asked.target.starts_with("/tok") {
            return Answer::new(200).body(r#"{"token":"T1"}"#);
        }
        match asked.header("authorization") {
            Some("Bearer T1") => Answer::new(307).header("Location", &place),
            _ => {
                let realm = format!("http://{}/tok", asked.header("host").unwrap_or_default());
                Answer::new(401).header("WWW-Authenticate", &format!("Bearer realm=\"{realm}\""))
            }
        }
    });
    pins_the_index(&server);
    assert!(blobs.asked().iter().all(|asked| asked.header("authorization").is_none()));
}

#[test]
fn a_mirror_gets_no_login_but_its_own() {
    let upstream = ScriptedHttp::start(|_| Answer::new(500));
    let mirror = ScriptedHttp::start(|asked| match asked.header("authorization") {
        Some(_) => index(),
        None => Answer::new(401).header("WWW-Authenticate", "Basic realm=\"mirror\""),
    });
    let repo = web(&upstream);
    let home = repo.path().parent().unwrap().join("docker");
    std::fs::create_dir_all(&home).unwrap();
    let home_text = home.display().to_string();
    let option = format!("{}={}/cache", upstream.host(), mirror.host());
    let pin = ["pin", "overlays/prod", "web:1.4", "--mirror", &option, "-o", "json"];
    let login = |host: &str| {
        let auth = base64("alice:wrong-password");
        let config = format!(r#"{{"auths": {{"{host}": {{"auth": "{auth}"}}}}}}"#);
        std::fs::write(home.join("config.json"), config).unwrap();
    };
    login(&upstream.host());
    let ran = with(&repo, &pin, &[("DOCKER_CONFIG", &home_text)]);
    refused(&repo, &ran, 4, "login-needed");
    assert!(mirror.asked().iter().all(|asked| asked.header("authorization").is_none()));
    assert!(mirror.asked()[0].target.starts_with("/v2/cache/shop/web/manifests/"));
    login(&mirror.host());
    let ran = with(&repo, &pin, &[("DOCKER_CONFIG", &home_text)]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(upstream.asked().is_empty());
    assert!(rendered(&repo).starts_with(&upstream.host()), "the name stays");
}

#[test]
fn lies_are_refused() {
    let lies: [fn(&Asked) -> Answer; 4] = [
        |_| with_digest(index(), OTHER_DIGEST),
        |_| with_digest(index(), "sha256:123"),
        |_| Answer::new(200).header("Content-Type", OCI_MANIFEST).body(INDEX),
        |_| Answer::new(200).header("Content-Type", DOCKER_MANIFEST).body(AMD64),
    ];
    for lie in lies {
        let server = ScriptedHttp::start(lie);
        fails(&server, &[], 5, "registry-contradiction");
    }
    // A child that is not what the index says it is.
    let server = ScriptedHttp::start(|asked| match asked.target.contains("sha256:") {
        true => Answer::new(200).header("Content-Type", OCI_MANIFEST).body(format!("{AMD64} ")),
        false => index(),
    });
    fails(&server, &["--platform", "linux/amd64"], 5, "registry-contradiction");
}

#[test]
fn what_is_no_image_is_refused() {
    for (media_type, body) in [
        ("application/vnd.docker.distribution.manifest.v1+prettyjws", r#"{"schemaVersion":1}"#),
        ("application/json", r#"{"schemaVersion":1,"name":"shop/web"}"#),
        ("text/html", "<html>"),
        (OCI_MANIFEST, "no JSON"),
        ("", r#"{"hello":"world"}"#),
    ] {
        let server = ScriptedHttp::start(move |_| {
            Answer::new(200).header("Content-Type", media_type).body(body)
        });
        fails(&server, &[], 3, "not-an-image");
    }
    let general = ScriptedHttp::start(|_| {
        Answer::new(200).header("Content-Type", "application/json").body(INDEX)
    });
    pins_the_index(&general);
}

#[test]
fn a_server_that_is_busy_is_waited_for() {
    let count = AtomicUsize::new(0);
    let server = ScriptedHttp::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Answer::new(429).header("Retry-After", "1"),
        1 => Answer::new(503),
        _ => index(),
    });
    pins_the_index(&server);
    assert_eq!(server.asked().len(), 3);
    let always = ScriptedHttp::start(|_| Answer::new(429).header("Retry-After", "3600"));
    let ran = fails(&always, &[], 5, "registry-busy");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("3600"), "{ran:?}");
    assert_eq!(always.asked().len(), 1, "an hour is not waited for, and not ignored");
}

#[test]
fn broken_slow_and_huge_answers_end_in_time() {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {OCI_INDEX}\r\nContent-Length: ");
    let piece = |text: String| Piece::Bytes(text.into_bytes());
    let truncated = vec![piece(format!("{head}{}\r\n\r\n{}", INDEX.len(), &INDEX[..200]))];
    let huge =
        vec![piece(format!("{head}50000000\r\n\r\n")), Piece::Bytes(vec![b' '; 5 * 1024 * 1024])];
    let mut drip = vec![piece(format!("{head}{}\r\n\r\n", INDEX.len()))];
    for byte in INDEX.bytes() {
        drip.extend([Piece::Bytes(vec![byte]), Piece::Pause(Duration::from_millis(50))]);
    }
    let hang = vec![Piece::Pause(Duration::from_secs(30))];
    for pieces in [truncated, huge, drip, hang] {
        let server = ScriptedHttp::start(move |_| Answer::raw(pieces.clone()));
        fails(&server, &["--timeout", "2s"], 5, "registry-unreachable");
    }
}

#[test]
fn nobody_there_is_told_once() {
    let port = crate::support::free_port();
    let repo = repo(&format!("127.0.0.1:{port}/shop/web:1.0"));
    let ran = repo.overlay(&["pin", "overlays/prod", "web:1.4", "--timeout", "2s", "-o", "json"]);
    refused(&repo, &ran, 5, "registry-unreachable");
    let elsewhere = super::repo("registry.invalid/shop/web:1.0");
    let ran =
        elsewhere.overlay(&["pin", "overlays/prod", "web:1.4", "--timeout", "2s", "-o", "json"]);
    refused(&elsewhere, &ran, 5, "registry-unreachable");
    let ran = elsewhere.overlay(&["pin", "overlays/prod", "web:1.4", "--offline", "-o", "json"]);
    refused(&elsewhere, &ran, 2, "usage");
}

#[test]
fn a_resolved_pin_is_committed_with_what_it_pins() {
    let server = ScriptedHttp::start(|_| index());
    let (repo, ran) = pin(&server, &["--commit"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let message = repo.git(&["log", "-1", "--format=%B"]);
    assert!(message.starts_with("Pin web in overlays/prod"), "{message}");
    assert!(message.contains(INDEX_DIGEST), "{message}");
}
