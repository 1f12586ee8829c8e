//! What is told of charts that are not inflated: that they differ is never passed over.

use super::{repo, run_in, write_chart};
use crate::support::repo::{Ran, TestRepo};

const PROD: &str = "overlays/prod";
const VALUES: &str = "overlays/prod/charts/web/values.yaml";

/// A chart and two files of values, and an overlay that names neither and uses the one that does.
fn charts() -> TestRepo {
    let repo = repo(
        "helmCharts: [{name: web, releaseName: shop, valuesFile: own.yaml, additionalValuesFiles: [more.yaml]}]\n",
    );
    repo.write("overlays/prod/own.yaml", "replicas: 1\n");
    repo.write("overlays/prod/more.yaml", "more: 1\n");
    repo.write("overlays/far/kustomization.yaml", "resources: [../prod]\n");
    repo.commit("values");
    repo
}

/// Runs the binary where there is git and no helm.
fn run(repo: &TestRepo, args: &[&str]) -> Ran {
    let folder = repo.path().parent().unwrap().join("git-alone");
    if !folder.exists() {
        let path = std::env::var_os("PATH").unwrap();
        let git = std::env::split_paths(&path).map(|folder| folder.join("git"));
        std::fs::create_dir(&folder).unwrap();
        let git = git.into_iter().find(|path| path.is_file()).unwrap();
        std::os::unix::fs::symlink(git, folder.join("git")).unwrap();
    }
    run_in(repo, &folder.display().to_string(), args)
}

/// Files of which each is read by helm alone.
const READ: [&str; 4] = [
    VALUES,
    "overlays/prod/charts/web/templates/new/deep.yaml",
    "overlays/prod/own.yaml",
    "overlays/prod/more.yaml",
];

/// `diff` and `affected` with `range` see that `file` differs.
fn is_seen(repo: &TestRepo, range: &[&str], file: &str) {
    for overlay in [PROD, "overlays/far"] {
        let diff = run(repo, &[&["diff", overlay, "-o", "json"], range].concat());
        assert_eq!((diff.status, diff.code().as_str()), (4, "not-buildable"), "{file}: {diff:?}");
        assert!(diff.json()["error"]["hints"].to_string().contains("--enable-helm"), "{diff:?}");
    }
    let ran = run(repo, &[&["affected", "--bases", "-o", "json"], range].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let mut told: Vec<(String, String)> = Vec::new();
    for one in ran.json()["result"]["overlays"].as_array().unwrap() {
        let path = one["path"].as_str().unwrap().to_owned();
        assert!(one["rendersDifferently"].is_null(), "{ran:?}");
        told.push((path, one["because"].to_string()));
    }
    let because = format!("[\"{file}\"]");
    let expected = ["overlays/far", PROD].map(|path| (path.to_owned(), because.clone()));
    assert_eq!(told, expected, "{file}");
}

#[test]
fn what_differs_in_a_chart_is_not_called_unchanged() {
    let repo = charts();
    let same = run(&repo, &["diff", PROD, "-o", "json"]);
    assert_eq!(same.status, 0, "{same:?}");
    for file in READ {
        repo.write(file, "other: 1\n");
        is_seen(&repo, &["--from", "HEAD"], file);
        repo.commit(file);
        is_seen(&repo, &["--from", "HEAD~1", "--to", "HEAD"], file);
    }
    repo.git(&["rm", "-q", READ[1]]);
    is_seen(&repo, &["--from", "HEAD"], READ[1]);
}

#[test]
fn what_differs_in_the_chart_of_a_generator_is_not_called_unchanged() {
    let repo = TestRepo::with_files(&[
        ("overlays/prod/kustomization.yaml", "generators: [chart.yaml]\n"),
        (
            "overlays/prod/chart.yaml",
            "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: web}\nname: web\nchartHome: ours\nreleaseName: shop\n",
        ),
        ("overlays/far/kustomization.yaml", "resources: [../prod]\n"),
    ]);
    write_chart(&repo, "overlays/prod/ours/web");
    repo.commit("chart");
    let file = "overlays/prod/ours/web/values.yaml";
    repo.write(file, "replicas: 3\n");
    is_seen(&repo, &["--from", "HEAD"], file);
}

#[test]
fn commits_that_change_what_is_not_inflated_are_told_as_not_known() {
    let repo = charts();
    for file in READ {
        repo.write(file, "other: 1\n");
        repo.commit(file);
    }
    repo.write("overlays/prod/unused.yaml", "a: b\n");
    repo.commit("unused");
    // The second run may use what the first one kept; with the flag there is no helm to be had.
    for flags in [&[][..], &[], &["--enable-helm"]] {
        for overlay in [PROD, "overlays/far"] {
            let ran = run(&repo, &[&["history", overlay, "-o", "json"], flags].concat());
            assert_eq!(ran.status, 0, "{ran:?}");
            let entries = ran.json()["result"]["overlays"][0]["entries"].clone();
            let told: Vec<(&str, &str)> = (entries.as_array().unwrap().iter())
                .map(|one| (one["subject"].as_str().unwrap(), one["status"].as_str().unwrap()))
                .filter(|(_, status)| *status == "unknown")
                .collect();
            let mut expected: Vec<(&str, &str)> =
                READ.iter().rev().map(|file| (*file, "unknown")).collect();
            if overlay == PROD {
                expected.push(("values", "unknown"));
                // Helm is not asked where a file of values is missing: both versions are known not to build.
                expected.extend(flags.is_empty().then_some(("chart", "unknown")));
            }
            assert_eq!(told, expected, "{flags:?} {ran:?}");
            let why = if flags.is_empty() { "helmCharts" } else { "helm" };
            assert!(entries[0]["reason"].as_str().unwrap().contains(why), "{ran:?}");
        }
    }
    let ran = run(&repo, &["history", PROD, "-n", "1"]);
    let told =
        "what it changes is not known: overlays/prod/kustomization.yaml:1: helmCharts: charts are";
    assert!(ran.stdout.contains(told), "{ran:?}");
}
