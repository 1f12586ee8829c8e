//! Edits of overlays with charts: proven like any other, and judged by a real kustomize.

use super::{helm, judged, overlay, repo, run_in};

const DIGEST: &str = "sha256:7173b809ca12ec5dee4506cd86be934c4596dd234ee82c0662eac04a8c2c71dc";

#[test]
fn an_image_of_a_chart_is_pinned_and_proven_whole() {
    let Some(helm) = helm() else { return };
    let repo = repo("helmCharts:\n- name: web # ours\n  releaseName: shop\n");
    let images = overlay(&repo, &helm, &["images", "overlays/prod", "-o", "json"]);
    let image = images.json()["result"]["overlays"][0]["images"][0].clone();
    assert_eq!(image["reference"], "shop/web:1", "{images:?}");
    assert_eq!(image["decidedBy"]["file"], "overlays/prod/kustomization.yaml");
    assert_eq!(
        (&image["decidedBy"]["line"], &image["decidedBy"]["kind"]),
        (&2.into(), &"helmCharts".into())
    );

    let pin = format!("web=shop/web:2@{DIGEST}");
    let ran = overlay(&repo, &helm, &["pin", "overlays/prod", &pin, "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let one = &ran.json()["result"]["overlays"][0];
    assert_eq!((&one["status"], &one["proof"]), (&"changed".into(), &"full".into()));
    let effect = one["effect"].as_array().unwrap();
    assert_eq!(effect.len(), 1, "{effect:?}");
    assert_eq!(effect[0]["before"], "shop/web:1");
    assert_eq!(effect[0]["after"], format!("shop/web:2@{DIGEST}"));
    let Some(theirs) = judged(&repo, &helm, "overlays/prod") else { return };
    assert!(theirs.unwrap().contains(&format!("image: shop/web:2@{DIGEST}")));
    let again = overlay(&repo, &helm, &["pin", "overlays/prod", &pin, "-o", "json"]);
    assert_eq!((again.status, &again.json()["changed"]), (0, &false.into()), "{again:?}");
}

#[test]
fn replicas_of_a_chart_are_set_in_the_overlay_and_never_in_the_chart() {
    let Some(helm) = helm() else { return };
    let repo = repo("helmCharts: [{name: web, releaseName: shop, valuesFile: own.yaml}]\n");
    let own = "image: {repository: shop/web, tag: '1'}\nreplicas: 2\n";
    repo.write("overlays/prod/own.yaml", own);
    let ran =
        overlay(&repo, &helm, &["set", "replicas", "overlays/prod", "shop-web=5", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(ran.json()["result"]["overlays"][0]["proof"], "full", "{ran:?}");
    let status = repo.git(&["status", "--porcelain"]);
    assert_eq!(status, " M overlays/prod/kustomization.yaml\n?? overlays/prod/own.yaml\n");
    let Some(theirs) = judged(&repo, &helm, "overlays/prod") else { return };
    assert!(theirs.unwrap().contains("replicas: 5"));
}

#[test]
fn looks_at_charts_are_the_same_at_any_revision() {
    let Some(helm) = helm() else { return };
    let repo = repo("helmCharts: [{name: web, releaseName: shop}]\n");
    let now = overlay(&repo, &helm, &["build", "overlays/prod"]);
    assert_eq!(now.status, 0, "{now:?}");
    repo.write(
        "overlays/prod/charts/web/values.yaml",
        "image: {repository: shop/web, tag: '2'}\nreplicas: 2\nnested: {}\n",
    );
    let at = overlay(&repo, &helm, &["build", "overlays/prod", "--at", "HEAD"]);
    assert_eq!((at.status, &at.stdout), (0, &now.stdout), "{at:?}");
    repo.commit("values");
    let affected =
        overlay(&repo, &helm, &["affected", "--from", "HEAD~1", "--rendered", "-o", "json"]);
    let one = &affected.json()["result"]["overlays"][0];
    assert_eq!(one["path"], "overlays/prod", "{affected:?}");
    assert_eq!(one["because"][0], "overlays/prod/charts/web/values.yaml");
    assert_eq!(one["rendersDifferently"], true);
    let history = overlay(&repo, &helm, &["history", "overlays/prod", "-o", "json"]);
    let entries = history.json()["result"]["overlays"][0]["entries"].clone();
    let subjects: Vec<&str> =
        entries.as_array().unwrap().iter().filter_map(|one| one["subject"].as_str()).collect();
    assert_eq!(subjects.first(), Some(&"values"), "{history:?}");
}

#[test]
fn what_a_chart_of_a_base_says_is_shown_below_what_the_overlay_says() {
    let Some(helm) = helm() else { return };
    let repo = repo("helmCharts: [{name: web, releaseName: shop}]\n");
    let over = "namespace: far\nresources: [../prod]\nreplicas: [{name: shop-web, count: 5}]\n";
    repo.write("overlays/far/kustomization.yaml", over);
    let args = ["show", "overlays/far", "shop-web", "spec.replicas", "-o", "json"];
    let ran = overlay(&repo, &helm, &args);
    let result = ran.json()["result"].clone();
    assert_eq!((&result["value"], &result["decidedBy"]["line"]), (&5.into(), &3.into()), "{ran:?}");
    let below = &result["shadowed"][0];
    assert_eq!((&below["value"], &below["kind"]), (&2.into(), &"helmCharts".into()), "{ran:?}");
    assert_eq!(below["file"], "overlays/prod/kustomization.yaml", "{ran:?}");
}

#[test]
fn without_the_flag_an_edit_says_what_would_prove_it() {
    let repo = repo("helmCharts: [{name: web, releaseName: shop}]\n");
    let args = ["set", "replicas", "overlays/prod", "shop-web=5", "-o", "json"];
    let ran = run_in(&repo, "/none", &args);
    assert_eq!((ran.status, ran.code().as_str()), (4, "not-buildable"), "{ran:?}");
    let hints = ran.json()["error"]["hints"].to_string();
    assert!(hints.contains("--enable-helm") && hints.contains("--no-proof"), "{hints}");
}

#[test]
fn a_directory_is_listed_with_what_an_edit_brings_and_takes() {
    use overlay::discover::DiskFiles;
    use overlay::kustomize::{EditedFiles, Files, ReplacedFiles};
    let repo = repo("resources: []\n");
    let disk = DiskFiles::new(&repo.path()).unwrap();
    let web = "overlays/prod/charts/web";
    let list = |files: &dyn Files, path: &str| files.list(path).unwrap();
    let own = ["Chart.yaml", "crds", "templates", "values.yaml"];
    assert_eq!(list(&disk, web), own);
    assert!(disk.list("none").is_err() && disk.list(&format!("{web}/Chart.yaml")).is_err());
    let edit = |path: &str| (format!("{web}/{path}"), String::new());
    let edits = [edit("new/deep/file"), edit("values.yaml"), edit("a")];
    let edited = EditedFiles::new(&disk, &edits);
    assert_eq!(list(&edited, web), ["Chart.yaml", "a", "crds", "new", "templates", "values.yaml"]);
    assert_eq!(list(&edited, &format!("{web}/new")), ["deep"]);
    let replaced =
        [("values.yaml", None), ("new/file", Some(Vec::new())), ("crds/thing.yaml", None)];
    let replaced = replaced.map(|(path, bytes)| (format!("{web}/{path}"), bytes));
    let replaced = ReplacedFiles::new(&disk, replaced);
    assert_eq!(list(&replaced, web), ["Chart.yaml", "crds", "new", "templates"]);
    assert_eq!(list(&replaced, &format!("{web}/crds")), [""; 0]);
}
