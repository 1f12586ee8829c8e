//! Charts that stand in the repository, byte for byte as a real kustomize with a real helm.

use std::path::Path;

use super::{helm, judged, overlay, repo, write_chart};
use crate::support::repo::TestRepo;

/// Builds `overlay` with both and compares; what it prints.
fn compare(repo: &TestRepo, helm: &Path, path: &str, what: &str) -> String {
    let ours = overlay(repo, helm, &["build", path]);
    let Some(theirs) = judged(repo, helm, path) else { return ours.stdout };
    match theirs {
        Ok(theirs) => {
            assert_eq!((ours.status, &ours.stdout), (0, &theirs), "{what}: {}", ours.stderr);
        }
        Err(theirs) => assert_eq!(ours.status, 3, "{what}: {ours:?}; they say: {theirs}"),
    }
    ours.stdout
}

#[test]
fn a_chart_renders_as_kustomize_renders_it() {
    let Some(helm) = helm() else { return };
    for entry in [
        "{name: web}",
        "{name: web, releaseName: shop}",
        "{name: web, releaseName: shop, namespace: far}",
        "{name: web, nameTemplate: 'shop-{{ upper \"a\" | lower }}'}",
        "{name: web, releaseName: shop, nameTemplate: 'other'}",
        "{name: web, includeCRDs: true}",
        "{name: web, skipHooks: true}",
        "{name: web, skipTests: true}",
        "{name: web, kubeVersion: v1.29.3, apiVersions: [monitoring.example/v1, other/v1]}",
        "{name: web, debug: true}",
        "{name: web, devel: true}",
        "{name: web, releaseName: Not_A_Name}",
        "{name: web, releaseName: shop, version: 9.9.9}",
        "{name: web, releaseName: 3}",
        "{name: web, unknown: 1}",
        "{name: none}",
        "{name: web/templates}",
        "{releaseName: shop}",
        "{name: web, valuesMerge: other}",
    ] {
        let repo = repo(&format!("helmCharts:\n- {entry}\n"));
        compare(&repo, &helm, "overlays/prod", entry);
    }
}

#[test]
fn values_are_merged_as_kustomize_merges_them() {
    let Some(helm) = helm() else { return };
    let inline = "{replicas: 9, nested: {a: null, q: 1, b: [3], deep: {x: 1}}, image: {tag: 1.10}}";
    let mut cases: Vec<(String, &str)> = Vec::new();
    for merge in ["", ", valuesMerge: merge", ", valuesMerge: override", ", valuesMerge: replace"] {
        cases.push((format!("{{name: web, valuesInline: {inline}{merge}}}"), ""));
        cases.push((
            format!("{{name: web, valuesInline: {inline}{merge}, valuesFile: own.yaml}}"),
            "nested: {b: null, deep: {y: 2}}\nreplicas: 4\n",
        ));
    }
    let numbers = "{nested: {big: 1000000, bigger: 9007199254740993, huge: 1e30, f: 1.50, e: 1e3, y: yes, s: 'yes', octal: 010, hex: 0x1F, t: 2024-01-01, text: \"a\\u007f\\u2028<b>&\", next: \"a\\u0085b\", z: ~}}";
    for merge in ["override", "replace", "merge"] {
        cases.push((format!("{{name: web, valuesInline: {numbers}, valuesMerge: {merge}}}"), ""));
    }
    let own = "a: &x {b: 1}\nnested: *x\nd: {<<: *x, e: 2}\nimage: {repository: r, tag: yes}\nreplicas: 0o7\n";
    for more in
        ["", ", valuesInline: {other: 1}", ", additionalValuesFiles: [more.yaml, last.yaml]"]
    {
        cases.push((format!("{{name: web, valuesFile: own.yaml{more}}}"), own));
        cases.push((format!("{{name: web, valuesFile: own.yaml, valuesMerge: merge{more}}}"), own));
        for own in ["", "# nothing\n", "{}\n", "[1]\n", "a: [\n"] {
            cases.push((format!("{{name: web, valuesFile: own.yaml{more}}}"), own));
        }
    }
    cases.push(("{name: web, valuesFile: none.yaml}".to_owned(), ""));
    cases.push(("{name: web, additionalValuesFiles: [none.yaml]}".to_owned(), ""));
    cases.push(("{name: web, valuesFile: charts/web/values.yaml}".to_owned(), ""));
    cases.push(("{name: web, valuesInline: [1]}".to_owned(), ""));
    cases.push(("{name: web, valuesInline: {}}".to_owned(), ""));
    for (entry, own) in cases {
        let repo = repo(&format!("helmCharts:\n- {entry}\n"));
        repo.write("overlays/prod/own.yaml", own);
        repo.write("overlays/prod/more.yaml", "replicas: 5\nnested: {m: 1}\n");
        repo.write("overlays/prod/last.yaml", "nested: {m: 2}\n");
        compare(&repo, &helm, "overlays/prod", &format!("{entry} {own:?}"));
    }
}

#[test]
fn charts_stand_where_chart_home_says() {
    let Some(helm) = helm() else { return };
    for (text, directory) in [
        ("helmGlobals: {chartHome: far/charts}\nhelmCharts: [{name: web}]\n", "far/charts/web"),
        ("helmGlobals: {chartHome: .}\nhelmCharts: [{name: web}]\n", "web"),
        ("helmGlobals: {}\nhelmCharts: [{name: web}]\n", "charts/web"),
        // As it stands where kustomize put it when it pulled it.
        (
            "helmCharts: [{name: web, version: 1.2.3, repo: 'https://charts.example'}]\n",
            "charts/web-1.2.3/web",
        ),
        ("helmCharts: [{name: web, repo: 'https://charts.example'}]\n", "charts/web"),
        // Its own values lie outside then, which kustomize does not read; others will do.
        ("helmGlobals: {chartHome: ../../charts}\nhelmCharts: [{name: web}]\n", "../../charts/web"),
        (
            "helmGlobals: {chartHome: ../../charts}\nhelmCharts: [{name: web, valuesFile: own.yaml}]\n",
            "../../charts/web",
        ),
        (
            "helmChartInflationGenerator:\n- {chartName: web, chartHome: old, releaseName: r, values: own.yaml, valuesLocal: {replicas: 7}, extraArgs: [--x], releaseNamespace: n}\n",
            "old/web",
        ),
    ] {
        let repo = TestRepo::with_files(&[
            ("overlays/prod/kustomization.yaml", text),
            ("overlays/prod/own.yaml", "image: {repository: own, tag: '3'}\n"),
        ]);
        write_chart(&repo, &format!("overlays/prod/{directory}"));
        compare(&repo, &helm, "overlays/prod", text);
    }
}

#[test]
fn a_namespace_comes_from_further_up_to_charts_that_name_none() {
    let Some(helm) = helm() else { return };
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "helmCharts: [{name: web, releaseName: b, skipHooks: true}]\n"),
        ("mid/kustomization.yaml", "resources: [../base]\nnamePrefix: mid-\n"),
        ("overlays/one/kustomization.yaml", "namespace: one\nresources: [../../mid]\n"),
        ("overlays/two/kustomization.yaml", "namespace: two\nresources: [../../base, ../../own]\n"),
        ("own/kustomization.yaml", "namespace: own\nresources: [../named]\n"),
        (
            "named/kustomization.yaml",
            "helmCharts: [{name: web, releaseName: far, skipHooks: true}]\n",
        ),
        (
            "component/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nhelmCharts: [{name: web, releaseName: c, skipHooks: true}]\n",
        ),
        (
            "overlays/three/kustomization.yaml",
            "namespace: three\nresources: [../../base]\ncomponents: [../../component]\n",
        ),
    ]);
    for directory in ["base", "named", "component"] {
        write_chart(&repo, &format!("{directory}/charts/web"));
    }
    for overlay in ["one", "two", "three"] {
        compare(&repo, &helm, &format!("overlays/{overlay}"), overlay);
    }
    // The base that all share is built apart for each.
    let all = overlay(&repo, &helm, &["build", "overlays/*"]);
    let each = ["one", "three", "two"]
        .map(|name| overlay(&repo, &helm, &["build", &format!("overlays/{name}")]).stdout);
    assert_eq!(all.stdout, each.join("---\n"));
}

#[test]
fn what_stands_around_a_chart_acts_on_it() {
    let Some(helm) = helm() else { return };
    for text in [
        "helmCharts: [{name: web}]\nimages: [{name: shop/web, newTag: '9'}]\nreplicas: [{name: release-name-web, count: 7}]\nnamePrefix: p-\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n",
        "helmCharts: [{name: web}]\nnamespace: far\n",
        "helmCharts: [{name: web}]\npatches: [{patch: '[{op: remove, path: /spec/replicas}]', target: {kind: Deployment}}]\n",
        "helmCharts: [{name: web}]\nbuildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\nnamePrefix: p-\n",
        "helmCharts: [{name: web, releaseName: a}, {name: web, releaseName: b, skipHooks: true}]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n",
        "helmCharts: [{name: web, releaseName: a, skipHooks: true}, {name: web, releaseName: b, skipHooks: true}]\nconfigMapGenerator: [{name: c, literals: [a=b]}]\n",
        "helmCharts: [{name: web}]\nconfigMapGenerator: [{name: hook, literals: [a=b]}]\n",
        "generators: [chart.yaml]\n",
        "generators: [generators]\nbuildMetadata: [originAnnotations]\n",
        "generators:\n- |\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: x}\n  name: web\n  releaseName: inline\n  valuesInline: {replicas: 8}\n",
    ] {
        let repo = repo(text);
        let chart = "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\nname: web\nchartHome: charts\nnamespace: plug\nreleaseName: plug\n";
        repo.write("overlays/prod/chart.yaml", chart);
        repo.write("overlays/prod/generators/kustomization.yaml", "resources: [chart.yaml]\n");
        repo.write("overlays/prod/generators/chart.yaml", chart);
        compare(&repo, &helm, "overlays/prod", text);
    }
}

#[test]
fn what_a_chart_may_print_is_read_as_kustomize_reads_it() {
    let Some(helm) = helm() else { return };
    for template in [
        "",
        "# nothing\n",
        "{{ if false }}a: b{{ end }}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l}}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {config.kubernetes.io/local-config: 'true'}}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: &d {x: y}\nbinaryData: *d\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, args: [null]}]}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {t: {{ now | date \"2006\" | quote | len | quote }}}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n{{ fail \"no such luck\" }}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n",
    ] {
        let repo = repo("helmCharts: [{name: web}]\n");
        // A schema of the usual kind stands beside.
        let schema = r##"{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/v", "definitions": {"v": {"required": ["image"]}}}"##;
        repo.write("overlays/prod/charts/web/values.schema.json", schema);
        repo.write("overlays/prod/charts/web/templates/more.yaml", template);
        compare(&repo, &helm, "overlays/prod", template);
    }
}

#[cfg(unix)]
#[test]
fn links_of_a_chart_are_followed_within_the_repository() {
    let Some(helm) = helm() else { return };
    let repo = repo("helmCharts: [{name: linked}]\n");
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(target, repo.path().join(path)).unwrap();
    };
    link("web", "overlays/prod/charts/linked");
    compare(&repo, &helm, "overlays/prod", "a chart that is a link");
    link("../../../../../shared/more.yaml", "overlays/prod/charts/web/templates/more.yaml");
    repo.write("shared/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n");
    let printed = compare(&repo, &helm, "overlays/prod", "a template that is a link");
    assert!(printed.contains("name: shared"), "{printed}");
}

#[test]
fn the_chart_that_helm_creates_renders_as_kustomize_renders_it() {
    let Some(helm) = helm() else { return };
    let inline = "{autoscaling: {enabled: true}, ingress: {enabled: true}, podSecurityContext: {fsGroup: 2000}, nodeSelector: {a: b}}";
    for entry in [
        "{name: demo}".to_owned(),
        "{name: demo, releaseName: shop, skipTests: true}".to_owned(),
        format!("{{name: demo, releaseName: shop, valuesInline: {inline}}}"),
        format!("{{name: demo, releaseName: shop, valuesInline: {inline}, valuesMerge: merge}}"),
        "{name: demo, valuesInline: {replicaCount: 4}, valuesMerge: replace}".to_owned(),
    ] {
        let text = format!("namespace: far\nhelmCharts:\n- {entry}\n");
        let repo = TestRepo::with_files(&[("overlays/prod/kustomization.yaml", &text)]);
        let charts = repo.path().join("overlays/prod/charts");
        std::fs::create_dir(&charts).unwrap();
        let created = std::process::Command::new(&helm)
            .args(["create", "demo"])
            .current_dir(&charts)
            .env("HOME", repo.path().parent().unwrap())
            .output()
            .unwrap();
        assert!(created.status.success(), "{created:?}");
        let printed = compare(&repo, &helm, "overlays/prod", &entry);
        assert!(printed.contains("kind: Deployment"), "{entry}: {printed}");
    }
}
