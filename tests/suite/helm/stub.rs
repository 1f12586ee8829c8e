//! How helm is called: seen by a program of that name that writes down what it gets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{overlay, repo, run_in};
use crate::support::repo::{Ran, TestRepo};

const PRINTED: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: printed}\n";

/// A `helm` in a folder beside the work tree: it answers `version`, writes down every other call in
/// `log`, and goes on as `script` says.
pub(super) fn stub(repo: &TestRepo, version: &str, script: &str) -> PathBuf {
    let folder = repo.path().parent().unwrap().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("helm");
    let log = log_of(repo);
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = version ]; then echo '{version}'; exit 0; fi\nprintf '%s\\n' \"$*\" >>'{log}'\n{script}\n",
        log = log.display(),
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

fn log_of(repo: &TestRepo) -> PathBuf {
    repo.path().parent().unwrap().join("log")
}

/// The calls so far, one a line.
pub(super) fn calls(repo: &TestRepo) -> Vec<String> {
    let text = fs::read_to_string(log_of(repo)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn printing(repo: &TestRepo) -> PathBuf {
    stub(repo, "v3.18.4+g0", &format!("cat <<'END'\n{PRINTED}END"))
}

#[test]
fn helm_gets_what_kustomize_gives_it_and_no_word_can_be_an_option() {
    let repo = repo(
        "helmCharts:\n- {name: web, releaseName: shop, namespace: -n, nameTemplate: -t, apiVersions: [-a, b], kubeVersion: -k, includeCRDs: true, skipTests: true, skipHooks: true, debug: true, devel: true, additionalValuesFiles: [more.yaml]}\n- {name: web}\n",
    );
    repo.write("overlays/prod/more.yaml", "a: b\n");
    let helm = printing(&repo);
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
    // Both print the same object.
    assert_eq!((ran.status, ran.code().as_str()), (3, "build-broken"), "{ran:?}");
    let first = "template --namespace=-n --name-template=-t --api-versions=-a --api-versions=b --kube-version=-k --include-crds --skip-tests --no-hooks --debug --devel --values=values-0.yaml --values=values-1.yaml -- shop ./chart/web";
    let second = "template --generate-name --values=values-0.yaml -- ./chart/web";
    assert_eq!(calls(&repo), [first, second]);
}

#[test]
fn helm_sees_no_environment_but_ours_and_a_directory_of_its_own() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let seen = repo.path().parent().unwrap().join("seen");
    let script = format!(
        "{{ env; echo \"PWD_IS $(pwd)\"; find . -type f; cat values-0.yaml; }} >'{}'\ncat <<'END'\n{PRINTED}END",
        seen.display()
    );
    let helm = stub(&repo, "v4.1.4+g0", &script);
    let folder = helm.parent().unwrap().display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
    let secret = [("AWS_SECRET_ACCESS_KEY", "planted"), ("KUBECONFIG", "/planted")];
    let mut environment: std::collections::BTreeMap<String, String> =
        secret.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    environment.insert("PATH".to_owned(), path);
    environment.insert("HELM_PLUGINS".to_owned(), "/planted".to_owned());
    let ran = repo.overlay_with(&["build", "overlays/prod", "--enable-helm"], "", &environment);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: printed\n")
    );
    let seen = fs::read_to_string(seen).unwrap();
    assert!(!seen.contains("planted"), "{seen}");
    let top = seen.lines().find_map(|line| line.strip_prefix("PWD_IS ")).unwrap().to_owned();
    for (name, value) in [
        ("HOME", top.clone()),
        ("HELM_CONFIG_HOME", format!("{top}/helm/config")),
        ("HELM_CACHE_HOME", format!("{top}/helm/cache")),
        ("HELM_DATA_HOME", format!("{top}/helm/data")),
        ("HELM_NO_PLUGINS", "1".to_owned()),
        ("LC_ALL", "C".to_owned()),
        ("HTTPS_PROXY", "http://127.0.0.1:9".to_owned()),
    ] {
        assert!(seen.lines().any(|line| line == format!("{name}={value}")), "{name} in {seen}");
    }
    for file in ["Chart.yaml", "values.yaml", "templates/web.yaml", "crds/thing.yaml"] {
        assert!(seen.contains(&format!("./chart/web/{file}\n")), "{file} in {seen}");
    }
    assert!(seen.contains("shop/web"), "the values: {seen}");
    assert!(!Path::new(&top).exists(), "{top} is left");
}

#[test]
fn one_call_serves_a_run() {
    let repo = repo("helmCharts: [{name: web}]\nnamePrefix: a-\n");
    repo.write("overlays/more/kustomization.yaml", "resources: [../prod]\nnameSuffix: -b\n");
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: \"shop/web:1\"}]}}}\n";
    let helm = stub(&repo, "v3.18.4+g0", &format!("cat <<'END'\n{deployment}END"));
    let digest = format!("shop/web@sha256:{}", "a".repeat(64));
    let ran =
        overlay(&repo, &helm, &["pin", "overlays/prod", &format!("web={digest}"), "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["overlays"][0]["proof"], "full");
    assert_eq!(calls(&repo).len(), 1, "before and after");
    let ran = overlay(&repo, &helm, &["diff", "overlays/*", "--from", "HEAD", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(calls(&repo).len(), 2, "two overlays at two revisions");
}

#[test]
fn other_values_and_other_files_are_another_call() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let helm = stub(
        &repo,
        "v3.18.4+g0",
        "sed 's/^/# /' values-0.yaml\ncat chart/web/templates/web.txt 2>/dev/null\ncat <<'END'\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nEND",
    );
    repo.write("overlays/prod/charts/web/values.yaml", "replicas: 5\n");
    let ran = overlay(&repo, &helm, &["diff", "overlays/prod"]);
    assert_eq!((ran.status, calls(&repo).len()), (0, 2), "{ran:?}");
    repo.write("overlays/prod/charts/web/templates/web.txt", "# more\n");
    repo.commit("more");
    let ran = overlay(&repo, &helm, &["diff", "overlays/prod", "--from", "HEAD~1", "--to", "HEAD"]);
    assert_eq!((ran.status, calls(&repo).len()), (0, 4), "{ran:?}");
}

#[test]
fn without_the_flag_helm_is_never_called() {
    let repo = repo("helmCharts: [{name: web}]\n");
    repo.write(".overlay.yaml", "enable-helm: true\n");
    let helm = printing(&repo);
    let path = format!("{}:/usr/bin:/bin", helm.parent().unwrap().display());
    for command in [&["build"][..], &["pin", "web=shop/web@sha256:0"][..1]] {
        let ran = run_in(&repo, &path, &[command, &["overlays/prod", "-o", "json"]].concat());
        assert_ne!(ran.status, 0, "{ran:?}");
    }
    fs::remove_file(repo.path().join(".overlay.yaml")).unwrap();
    let ran = run_in(&repo, &path, &["build", "overlays/prod", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "not-buildable"), "{ran:?}");
    let error = &ran.json()["error"];
    assert!(error["message"].as_str().unwrap().contains("helmCharts"), "{error}");
    assert!(error["hints"][0].as_str().unwrap().contains("--enable-helm"), "{error}");
    assert_eq!(error["location"]["line"], 1, "{error}");
    assert!(calls(&repo).is_empty());
}

fn broken(ran: &Ran) -> (i32, String, String) {
    let error = ran.json()["error"].clone();
    (ran.status, ran.code(), error["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_helm_that_is_not_there_or_is_another_one_is_4() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let args = ["build", "overlays/prod", "-o", "json", "--enable-helm"];
    let (status, code, message) = broken(&run_in(&repo, "/none", &args));
    assert_eq!((status, code.as_str()), (4, "helm-missing"));
    assert!(message.contains("the program helm"), "{message}");
    for version in ["Client: v2.17.0+g0", "something else"] {
        let helm = stub(&repo, version, "exit 1");
        let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
        let (status, code, message) = broken(&ran);
        assert_eq!((status, code.as_str()), (4, "helm-missing"));
        assert!(message.contains(version), "{message}");
    }
    // An edit goes on where it is told to, as for everything that cannot be rendered.
    let helm = stub(&repo, "v2.0.0", "exit 1");
    let ran = overlay(&repo, &helm, &["set", "replicas", "overlays/prod", "web=3", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "helm-missing"), "{ran:?}");
    assert!(ran.stdout.contains("--no-proof"), "{ran:?}");
}

#[test]
fn a_helm_that_hangs_or_prints_too_much_is_ended() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let helm = stub(&repo, "v3.18.4+g0", "sleep 600 & sleep 600");
    let started = Instant::now();
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json", "--timeout", "1s"]);
    assert!(started.elapsed() < Duration::from_secs(60));
    let (status, code, message) = broken(&ran);
    assert_eq!((status, code.as_str()), (5, "renderer-failed"), "{ran:?}");
    assert!(message.contains("helm: not done after 1s"), "{message}");
    let helm = stub(&repo, "v3.18.4+g0", "yes 'a: b'");
    let (status, code, message) =
        broken(&overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]));
    assert_eq!((status, code.as_str()), (5, "renderer-failed"));
    assert!(message.contains("helm: printed more than 67108864 bytes"), "{message}");
}

/// What something else ended says nothing of the chart.
#[test]
fn a_helm_that_was_killed_is_no_broken_build() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let helm = stub(&repo, "v3.18.4+g0", "echo 'Error: half a word' >&2; kill -9 $$");
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
    let (status, code, message) = broken(&ran);
    assert_eq!((status, code.as_str()), (5, "renderer-failed"), "{ran:?}");
    assert!(message.contains("helm was ended before it was done (signal: 9"), "{message}");
}

/// Also the question for its version is bounded by what the user says.
#[test]
fn a_helm_that_never_says_its_version_is_given_the_time_that_is_told() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let helm = stub(&repo, "v3.18.4+g0", "");
    fs::write(&helm, "#!/bin/sh\nsleep 600\n").unwrap();
    let started = Instant::now();
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json", "--timeout", "1s"]);
    let (status, code, message) = broken(&ran);
    assert_eq!((status, code.as_str()), (5, "renderer-failed"), "{ran:?}");
    assert!(message.contains("helm: not done after 1s"), "{message}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

/// Two flags that do not go together where there are charts.
#[test]
fn another_kustomize_never_runs_helm_and_that_is_said() {
    let repo = repo("helmCharts: [{name: web}]\n");
    let helm = printing(&repo);
    let kustomize = helm.parent().unwrap().join("kustomize");
    let says = "#!/bin/sh\nif [ \"$1\" = version ]; then echo v5.8.1; exit 0; fi\necho 'Error: must specify --enable-helm' >&2\nexit 1\n";
    fs::write(&kustomize, says).unwrap();
    fs::set_permissions(&kustomize, fs::Permissions::from_mode(0o755)).unwrap();
    let named = kustomize.to_str().unwrap();
    let ran =
        overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json", "--kustomize", named]);
    let (status, code, message) = broken(&ran);
    assert_eq!((status, code.as_str()), (4, "not-buildable"), "{ran:?}");
    assert!(message.contains("the program that --kustomize names may not run helm"), "{message}");
    assert!(ran.stdout.contains("leave --kustomize out"), "{ran:?}");
    assert!(calls(&repo).is_empty());
}

#[test]
fn what_helm_says_is_told_with_the_place_of_the_chart() {
    let repo = repo("resources: []\nhelmCharts:\n- name: web\n");
    let script = "echo 'WARNING: a file' >&2\necho \"Error: execution error at ($(pwd)/chart/web/x.yaml:1:2): $(printf '\\033')[31mno\" >&2\necho 'more' >&2\nexit 1";
    let helm = stub(&repo, "v3.18.4+g0", script);
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
    let (status, code, message) = broken(&ran);
    assert_eq!((status, code.as_str()), (3, "build-broken"), "{ran:?}");
    let said =
        "the chart web does not render: execution error at (chart/web/x.yaml:1:2): \u{1b}[31mno";
    assert_eq!(message, said);
    let location = &ran.json()["error"]["location"];
    assert_eq!(
        (location["file"].as_str(), location["line"].as_u64()),
        (Some("overlays/prod/kustomization.yaml"), Some(3))
    );
    let ran = overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert!(!ran.stderr.contains('\u{1b}') && ran.stderr.contains("more"), "{ran:?}");
    for printed in ["\\377\\376x", "a: [", "kind: ConfigMap", "text"] {
        let helm = stub(&repo, "v3.18.4+g0", &format!("printf '{printed}\\n'"));
        let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
        assert_eq!((ran.status, ran.code().as_str()), (3, "build-broken"), "{printed}: {ran:?}");
        assert_eq!(ran.json()["error"]["location"]["line"], 3, "{printed}: {ran:?}");
    }
}
