//! Digests from registries: a real one for what it says, judged by skopeo.

mod manners;
mod scripted;
mod signatures;

use std::collections::BTreeMap;

use crate::support::json_schema;
use crate::support::registry::{
    DOCKER_LIST, DOCKER_MANIFEST, Guard, OCI_INDEX, OCI_MANIFEST, Registry, USER,
};
use crate::support::repo::{Ran, TestRepo};

fn base(image: &str) -> Vec<(&'static str, String)> {
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{app: web}}}}\n  \
         template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {{containers: [{{name: web, image: \"{image}\"}}]}}\n"
    );
    vec![
        ("base/kustomization.yaml", "resources: [web.yaml]\n".to_owned()),
        ("base/web.yaml", deployment),
        ("overlays/prod/kustomization.yaml", "resources: [../../base]\n".to_owned()),
    ]
}

pub(super) fn repo(image: &str) -> TestRepo {
    repo_with(image, "resources: [../../base]\n")
}

pub(super) fn repo_with(image: &str, kustomization: &str) -> TestRepo {
    let mut files = base(image);
    files[2].1 = kustomization.to_owned();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    TestRepo::with_files(&files)
}

/// The image that the only container runs.
pub(super) fn rendered(repo: &TestRepo) -> String {
    let built = repo.overlay(&["build", "overlays/prod"]);
    let line = built.stdout.lines().find(|line| line.contains("image: "));
    line.unwrap_or_else(|| panic!("{built:?}")).split("image: ").nth(1).unwrap().to_owned()
}

pub(super) fn with(repo: &TestRepo, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    repo.overlay_with(args, "", &variables)
}

/// The JSON form is of the published schema.
pub(super) fn has_schema(ran: &Ran) {
    json_schema::assert_is_result(&ran.json());
}

/// Nothing was written, and nothing that is secret was said.
pub(super) fn refused(repo: &TestRepo, ran: &Ran, exit: i32, code: &str) {
    has_schema(ran);
    assert_eq!((ran.status, ran.code().as_str()), (exit, code), "{ran:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "{ran:?}");
    for secret in [USER.1, "wrong-password"] {
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    }
}

/// Every form that an image has, under `1.0`.
fn push_forms(registry: &Registry, prefix: &str) -> Vec<String> {
    let name = |form: &str| format!("{prefix}{form}");
    registry.push_image(&name("single"), Some("1.0"), OCI_MANIFEST, "amd64", "one");
    registry.push_image(&name("docker"), Some("1.0"), DOCKER_MANIFEST, "amd64", "one");
    for (form, image, index) in
        [("index", OCI_MANIFEST, OCI_INDEX), ("list", DOCKER_MANIFEST, DOCKER_LIST)]
    {
        let entries = ["amd64", "arm64"]
            .map(|platform| registry.push_image(&name(form), None, image, platform, platform));
        registry.push_index(&name(form), "1.0", index, &entries);
    }
    let image = registry.push_image(&name("attested"), None, OCI_MANIFEST, "amd64", "two");
    let mut attestation =
        registry.push_image(&name("attested"), None, OCI_MANIFEST, "amd64", "provenance");
    attestation["platform"] = serde_json::json!({"os": "unknown", "architecture": "unknown"});
    attestation["annotations"] = serde_json::json!({
        "vnd.docker.reference.type": "attestation-manifest",
        "vnd.docker.reference.digest": image["digest"],
    });
    registry.push_index(&name("attested"), "1.0", OCI_INDEX, &[image, attestation]);
    ["single", "docker", "index", "list", "attested"].map(name).to_vec()
}

#[test]
fn each_form_of_image_is_pinned_as_skopeo_sees_it() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    for form in push_forms(&registry, "shop/") {
        let name = format!("{}/{form}", registry.host());
        let Some(judged) = registry.judged(&format!("{form}:1.0")) else { return };
        let repo = repo(&format!("{name}:1.0"));
        let before = registry.requests().len();
        let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
        assert_eq!((ran.status, ran.json()["changed"].as_bool()), (0, Some(true)), "{ran:?}");
        assert_eq!(registry.requests().len(), before + 1, "one request: {:?}", registry.requests());
        assert_eq!(rendered(&repo), format!("{name}:1.0@{judged}"));
        let again = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
        assert_eq!(
            (again.status, again.json()["changed"].as_bool()),
            (0, Some(false)),
            "{again:?}"
        );
        let verified = repo.overlay(&["pin", "overlays/prod", "--verify", "-o", "json"]);
        assert_eq!(verified.status, 0, "{verified:?}");
        has_schema(&verified);
    }
}

#[test]
fn a_platform_is_pinned_or_required() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    push_forms(&registry, "");
    for (form, platform, arguments, exit) in [
        ("index", "linux/arm64", "--platform=linux/arm64", 0),
        ("list", "linux/amd64", "--platform=linux/amd64", 0),
        ("single", "linux/amd64", "--platform=linux/amd64", 0),
        ("attested", "linux/amd64", "--platform=linux/amd64", 0),
        ("single", "", "--platform=linux/arm64", 3),
        ("attested", "", "--platform=linux/arm64", 3),
        ("attested", "", "--require-platforms=linux/amd64,linux/arm64", 3),
        ("index", "index", "--require-platforms=linux/amd64,linux/arm64", 0),
    ] {
        let name = format!("{}/{form}", registry.host());
        let repo = repo(&format!("{name}:1.0"));
        let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", arguments, "-o", "json"]);
        assert_eq!(ran.status, exit, "{form} {arguments} {ran:?}");
        if exit == 3 {
            refused(&repo, &ran, 3, "no-such-platform");
            assert!(
                ran.json()["error"]["message"].as_str().unwrap().contains("there is linux/amd64")
            );
            continue;
        }
        let pinned = rendered(&repo).split('@').nth(1).unwrap().to_owned();
        let whole = registry.judged(&format!("{form}:1.0")).unwrap();
        let is_whole = platform == "index" || form == "single";
        assert_eq!(pinned == whole, is_whole, "{form} {arguments}");
        // The pinned manifest is there, and it is one image for that platform.
        assert_eq!(registry.judged(&format!("{form}@{pinned}")).unwrap(), pinned);
    }
}

// C21, C37, and the rest of group 1: the entry is found by every name it has, and asked for where it is pulled from.
#[test]
fn a_new_tag_is_asked_for_where_the_image_is_pulled_from() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    let host = registry.host();
    for repository in ["shop/web", "mirror/web"] {
        for tag in ["1.3", "1.4"] {
            let content = format!("{repository} {tag}");
            registry.push_image(repository, Some(tag), OCI_MANIFEST, "amd64", &content);
        }
    }
    let judged = |name: &str| registry.judged(name);
    let Some(own) = judged("shop/web:1.4") else { return };
    let mirrored = judged("mirror/web:1.4").unwrap();
    let web = format!("{host}/shop/web");

    let untagged = repo(&web);
    let ran = untagged.overlay(&["pin", "overlays/prod", &format!("{web}:1.4"), "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(rendered(&untagged), format!("{web}:1.4@{own}"));
    let nothing = repo(&web);
    let ran = nothing.overlay(&["pin", "overlays/prod", &web, "-o", "json"]);
    refused(&nothing, &ran, 2, "usage");

    let renamed = format!(
        "resources: [../../base]\nimages:\n- name: {web}\n  newName: {host}/mirror/web\n  newTag: \"1.3\"\n"
    );
    let repo = repo_with(&format!("{web}:1.0"), &renamed);
    let ran = repo.overlay(&["pin", "overlays/prod", "web:1.4", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(rendered(&repo), format!("{host}/mirror/web:1.4@{mirrored}"));

    let two = "resources: [../../base, more.yaml]\nimages:\n- {name: stable, newName: WEB, newTag: \"1.3\"}\n- {name: canary, newName: WEB, newTag: 1.3-rc1}\n".replace("WEB", &web);
    let repo = repo_with("stable", &two);
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: canary}\nspec: {containers: [{name: c, image: canary}]}\n";
    repo.write("overlays/prod/more.yaml", pod);
    repo.commit("two");
    let ran = repo.overlay(&["pin", "overlays/prod", &format!("{web}:1.4"), "-o", "json"]);
    refused(&repo, &ran, 3, "several-entries");
    let ran = repo.overlay(&["pin", "overlays/prod", "stable:1.4", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let built = repo.overlay(&["build", "overlays/prod"]).stdout;
    assert!(built.contains(&format!("{web}:1.4@{own}")) && built.contains("1.3-rc1\n"), "{built}");
}

#[test]
fn a_lower_version_needs_to_be_allowed() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    registry.push_image("web", Some("1.4"), OCI_MANIFEST, "amd64", "x");
    let repo = repo(&format!("{}/web:1.10", registry.host()));
    let ran = repo.overlay(&["pin", "overlays/prod", "web:1.4", "-o", "json"]);
    refused(&repo, &ran, 3, "downgrade");
    assert!(
        registry
            .requests()
            .iter()
            .all(|request| !request.contains("manifests/1.4") || request.starts_with("PUT"))
    );
    let ran = repo.overlay(&["pin", "overlays/prod", "web:1.4", "--allow-downgrade"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn what_is_not_there_is_refused() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    registry.push_image("web", Some("1.4"), OCI_MANIFEST, "amd64", "x");
    for image in ["web:1.5", "other:1.4"] {
        let repo = repo(&format!("{}/{image}", registry.host()));
        let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
        refused(&repo, &ran, 3, "image-not-found");
    }
    let repo = repo(&format!("{}/web:1.4", registry.host()));
    let ran = repo.overlay(&["pin", "overlays/prod", "wbe:1.5", "-o", "json"]);
    refused(&repo, &ran, 3, "no-such-image");
}

#[test]
fn one_missing_image_pins_none() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    let host = registry.host();
    registry.push_image("a", Some("1"), OCI_MANIFEST, "amd64", "x");
    let repo = repo(&format!("{host}/a:1"));
    repo.write("overlays/dev/kustomization.yaml", "resources: [pod.yaml]\n");
    let pod = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: \"{host}/gone:1\"}}]}}\n"
    );
    repo.write("overlays/dev/pod.yaml", &pod);
    repo.commit("dev");
    let ran = repo.overlay(&["pin", "overlays/*", "--resolve", "-o", "json"]);
    refused(&repo, &ran, 3, "image-not-found");
    let ran = repo.overlay(&["pin", "overlays/*", "--resolve=a", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["overlays"][0]["status"], "unaffected", "{ran:?}");
}

#[test]
fn moved_tags_are_found_and_followed() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "old");
    let repo = repo(&format!("{}/web:1", registry.host()));
    assert_eq!(repo.overlay(&["pin", "overlays/prod", "--resolve"]).status, 0);
    repo.commit("pinned");
    let check = ["pin", "overlays/prod", "--refresh", "--check", "-o", "json"];
    let ran = repo.overlay(&check);
    assert_eq!(
        (ran.status, &ran.json()["result"]["overlays"][0]["status"]),
        (0, &"current".into())
    );

    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "new");
    let Some(now) = registry.judged("web:1") else { return };
    let ran = repo.overlay(&check);
    refused(&repo, &ran, 7, "tags-moved");
    assert_eq!(ran.json()["result"]["overlays"][0]["findings"][0]["digest"], now);
    let ran = repo.overlay(&["images", "overlays/prod", "--resolve", "-o", "json"]);
    has_schema(&ran);
    let image = &ran.json()["result"]["overlays"][0]["images"][0];
    assert_eq!(
        (&image["registry"]["state"], &image["registry"]["digest"]),
        (&"moved".into(), &now.as_str().into())
    );

    let ran = repo.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
    assert_eq!(ran.json()["changed"], false, "what has a digest is not resolved: {ran:?}");
    let ran = repo.overlay(&["pin", "overlays/prod", "--refresh", "-o", "json"]);
    assert_eq!((ran.status, ran.json()["changed"].as_bool()), (0, Some(true)), "{ran:?}");
    assert!(rendered(&repo).ends_with(&now));
    repo.commit("refreshed");
    let ran = repo.overlay(&["pin", "overlays/prod", "--refresh", "-o", "json"]);
    assert_eq!((ran.status, ran.json()["changed"].as_bool()), (0, Some(false)), "{ran:?}");
}

#[test]
fn a_digest_that_is_gone_is_found() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    let name = format!("{}/web", registry.host());
    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "x");
    let pinned = format!(
        "resources: [../../base]\nimages:\n- name: {name}\n  digest: sha256:{}\n",
        "3".repeat(64)
    );
    let repo = repo_with(&format!("{name}:1"), &pinned);
    let ran = repo.overlay(&["pin", "overlays/prod", "--verify", "-o", "json"]);
    refused(&repo, &ran, 7, "digests-gone");
    assert_eq!(ran.json()["result"]["overlays"][0]["findings"][0]["state"], "gone");
    // With no tag beside the digest nothing can have moved.
    let ran = repo.overlay(&["pin", "overlays/prod", "--refresh", "-o", "json"]);
    assert_eq!((ran.status, ran.json()["changed"].as_bool()), (0, Some(false)), "{ran:?}");
}

#[test]
fn an_edit_repeats_from_its_lock_without_network() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    let host = registry.host();
    push_forms(&registry, "");
    let Some(judged) = registry.judged("index:1.0") else { return };
    let repo = repo(&format!("{host}/index:0.9"));
    let ran = repo.overlay(&["pin", "overlays/prod", "index:1.0", "--write-lock", "images.lock"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = std::fs::read_to_string(repo.path().join("images.lock")).unwrap();
    let lock: serde_json::Value = serde_json::from_str(&text).unwrap();
    let image = &lock["images"][0];
    assert_eq!(lock["schemaVersion"], 1);
    assert_eq!(image["reference"], format!("{host}/index:1.0"));
    assert_eq!(image["digest"], judged);
    assert_eq!(image["mediaType"], OCI_INDEX);
    assert_eq!(image["platforms"], serde_json::json!(["linux/amd64", "linux/arm64"]));
    let pinned = rendered(&repo);

    drop(registry);
    repo.git(&["checkout", "-q", "overlays"]);
    for arguments in [&["index:1.0"][..], &[]] {
        let mut all = vec!["pin", "overlays/prod", "--from-lock", "images.lock", "--offline"];
        all.extend(arguments);
        let ran = repo.overlay(&all);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(rendered(&repo), pinned);
        repo.git(&["checkout", "-q", "overlays"]);
    }
    let ran = repo.overlay(&[
        "pin",
        "overlays/prod",
        "index:1.1",
        "--from-lock",
        "images.lock",
        "-o",
        "json",
    ]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "image-not-locked"), "{ran:?}");
    repo.write("images.lock", &text.replace("\"schemaVersion\": 1", "\"schemaVersion\": 9"));
    let ran = repo.overlay(&["pin", "overlays/prod", "--from-lock", "images.lock", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "image-lock-invalid"), "{ran:?}");
}

#[test]
fn a_lock_is_kept_by_a_second_run_and_written_over_nothing_else() {
    let Some(registry) = Registry::start(Guard::None) else { return };
    push_forms(&registry, "");
    let repo = repo(&format!("{}/index:1.0", registry.host()));
    let args = ["pin", "overlays/prod", "--resolve", "--write-lock", "images.lock", "-o", "json"];
    let read = |path: &str| std::fs::read_to_string(repo.path().join(path)).unwrap();
    assert_eq!(repo.overlay(&args).status, 0);
    let lock = read("images.lock");
    assert!(lock.contains("/index:1.0"), "{lock}");
    let again = repo.overlay(&args);
    assert_eq!((again.status, again.json()["changed"].as_bool()), (0, Some(false)), "{again:?}");
    assert_eq!(read("images.lock"), lock);

    repo.git(&["checkout", "-q", "overlays"]);
    let kustomization = read("overlays/prod/kustomization.yaml");
    for file in ["overlays/prod/kustomization.yaml", "base/web.yaml", "overlays"] {
        let ran = repo.overlay(&[
            "pin",
            "overlays/prod",
            "--resolve",
            "--write-lock",
            file,
            "-o",
            "json",
        ]);
        assert_eq!((ran.status, ran.code().as_str()), (3, "image-lock-invalid"), "{file}: {ran:?}");
    }
    assert_eq!(read("overlays/prod/kustomization.yaml"), kustomization);
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? images.lock\n");
}

#[test]
fn a_registry_with_passwords_gets_the_one_that_people_have() {
    let Some(registry) = Registry::start(Guard::Password) else { return };
    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "x");
    let Some(judged) = registry.judged("web:1") else { return };
    guarded(&registry, "web", &judged);
    let none = repo(&format!("{}/web:1", registry.host()));
    let ran = none.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
    refused(&none, &ran, 4, "login-needed");
}

#[test]
fn a_registry_with_tokens_gets_them() {
    let Some(registry) = Registry::start(Guard::Token) else { return };
    registry.push_image("secret/web", Some("1"), OCI_MANIFEST, "amd64", "x");
    registry.push_image("public/web", Some("1"), OCI_MANIFEST, "amd64", "x");
    let Some(judged) = registry.judged("secret/web:1") else { return };
    guarded(&registry, "secret/web", &judged);
    let open = repo(&format!("{}/public/web:1", registry.host()));
    let ran = open.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let closed = repo(&format!("{}/secret/web:1", registry.host()));
    let ran = closed.overlay(&["pin", "overlays/prod", "--resolve", "-o", "json"]);
    refused(&closed, &ran, 4, "image-denied");
}

/// The login in each place where people keep it, and a wrong one.
fn guarded(registry: &Registry, repository: &str, judged: &str) {
    let name = format!("{}/{repository}:1", registry.host());
    let (directory, docker) = registry.login(USER.1);
    let file = directory.join("config.json").display().to_string();
    let podman = directory.join("runtime/containers");
    std::fs::create_dir_all(&podman).unwrap();
    std::fs::copy(directory.join("config.json"), podman.join("auth.json")).unwrap();
    let runtime = directory.join("runtime").display().to_string();
    for variable in
        [("DOCKER_CONFIG", &docker), ("REGISTRY_AUTH_FILE", &file), ("XDG_RUNTIME_DIR", &runtime)]
    {
        let repo = repo(&name);
        let ran = with(&repo, &["pin", "overlays/prod", "--resolve"], &[(variable.0, variable.1)]);
        assert_eq!(ran.status, 0, "{variable:?} {ran:?}");
        assert_eq!(rendered(&repo), format!("{name}@{judged}"));
    }
    let repo = repo(&name);
    let (_, wrong) = registry.login("wrong-password");
    let resolve = ["pin", "overlays/prod", "--resolve", "-o", "json"];
    let ran = with(&repo, &resolve, &[("DOCKER_CONFIG", &wrong)]);
    refused(&repo, &ran, 4, "login-refused");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("config.json"), "{ran:?}");
}

#[test]
fn a_helper_is_asked_by_name() {
    let Some(registry) = Registry::start(Guard::Password) else { return };
    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "x");
    let bin = registry.dir.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\nread host\n[ \"$host\" = {} ] || {{ echo credentials not found in native keychain; exit 1; }}\n\
         printf '{{\"ServerURL\":\"%s\",\"Username\":\"{}\",\"Secret\":\"{}\"}}' \"$host\"\n",
        registry.host(),
        USER.0,
        USER.1
    );
    let helper = bin.join("docker-credential-testing");
    std::fs::write(&helper, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&helper, executable).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for (config, status, code) in [
        (r#"{"credHelpers": {"HOST": "testing"}}"#, 0, ""),
        (r#"{"credsStore": "testing"}"#, 0, ""),
        (r#"{"credHelpers": {"HOST": "missing"}}"#, 4, "registry-credentials"),
        (r#"{"credHelpers": {"HOST": "../testing"}}"#, 4, "registry-credentials"),
        (r#"{"credsStore": "missing"}"#, 4, "login-needed"),
        (r#"{"auths": {"HOST": 7}}"#, 4, "registry-credentials"),
    ] {
        let repo = repo(&format!("{}/web:1", registry.host()));
        let home = repo.path().parent().unwrap().join("docker");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("config.json"), config.replace("HOST", &registry.host())).unwrap();
        let home = home.display().to_string();
        let resolve = ["pin", "overlays/prod", "--resolve", "-o", "json"];
        let ran = with(&repo, &resolve, &[("DOCKER_CONFIG", &home), ("PATH", &path)]);
        assert_eq!(ran.status, status, "{config} {ran:?}");
        if status != 0 {
            refused(&repo, &ran, status, code);
        }
    }
}

#[test]
fn a_registry_with_its_own_authority_is_trusted_where_the_user_says_so() {
    let Some(registry) = Registry::start(Guard::Tls) else { return };
    registry.push_image("web", Some("1"), OCI_MANIFEST, "amd64", "x");
    let name = format!("localhost:{}/web:1", registry.port);
    let authority = registry.dir.path().join("ca.crt").display().to_string();
    let resolve = ["pin", "overlays/prod", "--resolve", "-o", "json"];
    let unknown = repo(&name);
    let ran = unknown.overlay(&resolve);
    refused(&unknown, &ran, 5, "registry-unreachable");
    let ran = with(&unknown, &resolve, &[("SSL_CERT_FILE", &authority)]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let named = repo(&name);
    let mut arguments = resolve.to_vec();
    arguments.extend(["--registry-ca", &authority]);
    let ran = named.overlay(&arguments);
    assert_eq!(ran.status, 0, "{ran:?}");
}
