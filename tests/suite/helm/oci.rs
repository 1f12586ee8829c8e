//! Charts in a registry of images (`oci://`).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use super::{CHART, archive, helm, judged, write_chart};
use crate::support::registry::{Guard, Registry};
use crate::support::repo::TestRepo;

#[test]
fn a_chart_of_a_registry_is_pulled_once() {
    let Some(helm) = helm() else { return };
    let Some(registry) = Registry::start(Guard::Tls) else { return };
    let certificates = registry.dir.path().join("ca.crt").display().to_string();
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in CHART {
        let path = folder.path().join("web").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(folder.path().join("web.tgz"), archive(folder.path(), "web")).unwrap();
    let repo_url = format!("oci://{}/charts", registry.host());
    let pushed = Command::new(&helm)
        .args(["push", "web.tgz", &repo_url])
        .current_dir(folder.path())
        .env("SSL_CERT_FILE", &certificates)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    assert!(pushed.status.success(), "{pushed:?}");

    let text = format!(
        "helmCharts: [{{name: web, version: 1.2.3, repo: '{repo_url}/', releaseName: shop}}]\n"
    );
    let repo = TestRepo::with_files(&[("overlays/prod/kustomization.yaml", &text)]);
    let build = |offline: &[&str]| {
        let (path, cache) = (std::env::var("PATH").unwrap(), folder.path().join("cache"));
        let environment = BTreeMap::from([
            ("PATH".to_owned(), format!("{}:{path}", helm.parent().unwrap().display())),
            ("OVERLAY_CACHE_DIR".to_owned(), cache.display().to_string()),
            ("SSL_CERT_FILE".to_owned(), certificates.clone()),
        ]);
        let args = [&["build", "overlays/prod", "--enable-helm"], offline].concat();
        repo.overlay_with(&args, "", &environment)
    };
    let first = build(&[]);
    assert_eq!(first.status, 0, "{first:?}");
    let asked = registry.requests().len();
    assert_eq!(build(&["--offline"]).stdout, first.stdout);
    assert_eq!(build(&[]).stdout, first.stdout);
    assert_eq!(registry.requests().len(), asked, "nobody was asked again");

    // As a real kustomize builds it where the chart stands already.
    write_chart(&repo, "overlays/prod/charts/web-1.2.3/web");
    let Some(theirs) = judged(&repo, &helm, "overlays/prod") else { return };
    assert_eq!(first.stdout, theirs.unwrap());
}
