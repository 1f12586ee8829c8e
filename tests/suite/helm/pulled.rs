//! Charts that are pulled: from a chart repository on loopback, into the cache.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::{CHART, archive, helm, judged, overlay, repo};
use crate::support::repo::TestRepo;
use crate::support::scripted_http::{Answer, ScriptedHttp};

/// A chart repository; its index names these versions of `web`, whose archive is what `chart` holds.
struct ChartRepository {
    server: ScriptedHttp,
    versions: Arc<Mutex<Vec<String>>>,
}

impl ChartRepository {
    fn start(versions: &[&str], archive: Vec<u8>) -> Self {
        let versions: Vec<String> = versions.iter().map(|&version| version.to_owned()).collect();
        let versions = Arc::new(Mutex::new(versions));
        let known = Arc::clone(&versions);
        let server = ScriptedHttp::start(move |asked| match &*asked.target {
            "/index.yaml" => Answer::new(200).body(index(&known.lock().unwrap())),
            target if target.ends_with(".tgz") => Answer::new(200).body(archive.clone()),
            _ => Answer::new(404),
        });
        Self { server, versions }
    }

    fn url(&self) -> String {
        self.server.url("")
    }

    fn asked(&self) -> usize {
        self.server.asked().len()
    }

    fn is_down(&self) {
        self.versions.lock().unwrap().clear();
    }
}

fn index(versions: &[String]) -> String {
    let mut text = "apiVersion: v1\nentries:\n".to_owned();
    if !versions.is_empty() {
        text.push_str("  web:\n");
    }
    for version in versions {
        text.push_str(&format!(
            "  - {{apiVersion: v2, name: web, version: {version}, urls: [web-{version}.tgz], created: '2024-01-01T00:00:00Z'}}\n"
        ));
    }
    text
}

/// The archive of the chart that all tests use.
fn chart() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in CHART {
        let path = folder.path().join("web").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    archive(folder.path(), "web")
}

/// A repository without charts whose kustomization names `web` of the chart repository.
fn pulling(entry: &str, charts: &ChartRepository) -> TestRepo {
    let text = format!("helmCharts:\n- {{name: web, repo: '{}', {entry}}}\n", charts.url());
    TestRepo::with_files(&[
        ("overlays/prod/kustomization.yaml", text.as_str()),
        (
            "overlays/prod/own.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: own}\nspec: {template: {spec: {containers: [{name: own, image: 'own:1'}]}}}\n",
        ),
    ])
}

#[test]
fn a_pulled_chart_renders_as_kustomize_renders_it_and_leaves_the_repository_alone() {
    let Some(helm) = helm() else { return };
    let charts = ChartRepository::start(&["1.2.3"], chart());
    for entry in [
        "version: 1.2.3",
        "version: 1.2.3, releaseName: shop, valuesInline: {replicas: 7}",
        "releaseName: shop",
        "version: ^1.0.0, devel: true",
        "version: 9.9.9",
    ] {
        let repo = pulling(entry, &charts);
        let ours = overlay(&repo, &helm, &["build", "overlays/prod"]);
        assert_eq!(repo.git(&["status", "--porcelain"]), "", "{entry}");
        match judged(&repo, &helm, "overlays/prod") {
            Some(Ok(theirs)) => {
                assert_eq!((ours.status, &ours.stdout), (0, &theirs), "{entry}: {ours:?}")
            }
            Some(Err(theirs)) => assert_eq!(ours.status, 4, "{entry}: {ours:?}; they say {theirs}"),
            None => {}
        }
    }
}

#[test]
fn one_version_is_pulled_once_and_then_comes_from_the_cache() {
    let Some(helm) = helm() else { return };
    let charts = ChartRepository::start(&["1.2.3"], chart());
    let repo = pulling("version: 1.2.3", &charts);
    let first = overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert_eq!((first.status, charts.asked()), (0, 2), "{first:?}");
    charts.is_down();
    for more in [&[][..], &["--offline"]] {
        let again = overlay(&repo, &helm, &[&["build", "overlays/prod"], more].concat());
        assert_eq!((again.status, &again.stdout), (0, &first.stdout), "{again:?}");
    }
    assert_eq!(charts.asked(), 2, "nobody was asked again");
}

#[test]
fn a_range_of_versions_is_asked_for_each_time_and_reported() {
    let Some(helm) = helm() else { return };
    let charts = ChartRepository::start(&["1.2.3"], chart());
    let repo = pulling("version: ^1.0.0", &charts);
    let first = overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert!(first.stderr.contains("it was 1.2.3 now and may be another tomorrow"), "{first:?}");
    overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert_eq!(charts.asked(), 4);
    charts.is_down();
    let offline = overlay(&repo, &helm, &["build", "overlays/prod", "--offline"]);
    assert_eq!((offline.status, &offline.stdout), (0, &first.stdout), "{offline:?}");
    let gone = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
    assert_eq!((gone.status, gone.code().as_str()), (4, "remote-base"), "{gone:?}");
}

#[test]
fn a_chart_that_cannot_be_had_leaves_the_rest_to_be_edited() {
    let Some(helm) = helm() else { return };
    let charts = ChartRepository::start(&["1.2.3"], chart());
    let repo = pulling("version: 1.2.3", &charts);
    let file = "overlays/prod/kustomization.yaml";
    let text = fs::read_to_string(repo.path().join(file)).unwrap();
    repo.write(file, &format!("resources: [own.yaml]\n{text}"));
    let build = overlay(&repo, &helm, &["build", "overlays/prod", "--offline", "-o", "json"]);
    assert_eq!((build.status, build.code().as_str()), (4, "remote-base"), "{build:?}");
    assert_eq!(build.json()["error"]["location"]["line"], 3, "{build:?}");
    assert!(build.stdout.contains("--offline"), "{build:?}");
    let digest = format!("own=own@sha256:{}", "b".repeat(64));
    let pin = overlay(&repo, &helm, &["pin", "overlays/prod", &digest, "--offline", "-o", "json"]);
    assert_eq!(pin.status, 0, "{pin:?}");
    let one = &pin.json()["result"]["overlays"][0];
    assert_eq!(one["proof"], "partial", "{pin:?}");
    let unknown = format!("the chart web of {} ({file}:3)", charts.url());
    assert_eq!(one["unknown"], serde_json::json!([unknown]), "{pin:?}");
    assert_eq!(charts.asked(), 0);
    let whole = overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert_eq!(whole.status, 0, "{whole:?}");
}

#[test]
fn an_archive_that_is_no_chart_or_leads_out_is_refused() {
    let Some(helm) = helm() else { return };
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str| fs::create_dir_all(folder.path().join(name)).unwrap();
    make("other");
    fs::write(
        folder.path().join("other/Chart.yaml"),
        "apiVersion: v2\nname: other\nversion: 1.2.3\n",
    )
    .unwrap();
    let other = archive(folder.path(), "other");
    let escaping = {
        make("web/templates");
        fs::write(folder.path().join("web/Chart.yaml"), CHART[0].1).unwrap();
        fs::write(folder.path().join("web/values.yaml"), "a: b\n").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("web/templates/x.yaml"))
            .unwrap();
        archive(folder.path(), "web")
    };
    for (what, bytes) in [("other", other), ("no archive", b"text".to_vec()), ("link", escaping)] {
        let charts = ChartRepository::start(&["1.2.3"], bytes);
        let repo = pulling("version: 1.2.3", &charts);
        let ran = overlay(&repo, &helm, &["build", "overlays/prod", "-o", "json"]);
        assert!(!ran.stdout.contains("root:"), "{what}: {ran:?}");
        match what {
            // Helm 3 unpacks it under its own name; helm 4 under the one that was asked for.
            "other" => assert!([3, 4].contains(&ran.status), "{ran:?}"),
            "no archive" => {
                assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
                assert!(kept(&repo).is_empty(), "{:?}", kept(&repo));
            }
            _ => {}
        }
    }
}

#[test]
fn a_repository_that_does_not_answer_is_given_up() {
    let Some(helm) = helm() else { return };
    let server = ScriptedHttp::start(|_| Answer::hang());
    let repo =
        repo(&format!("helmCharts: [{{name: far, version: 1.0.0, repo: '{}'}}]\n", server.url("")));
    let ran = overlay(&repo, &helm, &["build", "overlays/prod", "--timeout", "2s", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
    assert!(ran.stdout.contains("not done after 2s"), "{ran:?}");
    assert!(kept(&repo).is_empty(), "{:?}", kept(&repo));
}

/// What lies in the cache of charts.
fn kept(repo: &TestRepo) -> Vec<String> {
    let folder = repo.path().parent().unwrap().join("cache/charts-1");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    entries.map(|entry| Path::new(&entry.file_name()).display().to_string()).collect()
}
