//! A few lines that ask for more than any machine holds end soon, with an error that says why.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use overlay::discover::DiskFiles;
use overlay::kustomize::{BuildErrorKind, SourceTree, build};

/// Builds `root` of these files; what it prints or why not, in words.
fn built(files: &[(String, String)], remotes: BTreeMap<String, String>) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let disk = DiskFiles::new(folder.path()).unwrap();
    let tree = SourceTree::load_with_remotes(&disk, "root", remotes).unwrap();
    let rendered = build(&tree, "root").map_err(|error| match error.kind {
        BuildErrorKind::Unsupported { field } => format!("unsupported: {field}"),
        _ => error.to_string(),
    })?;
    rendered.to_yaml().map_err(|error| error.to_string())
}

fn file(path: &str, text: impl Into<String>) -> (String, String) {
    (path.to_owned(), text.into())
}

fn require_refusal(files: &[(String, String)], words: &str) {
    let refusal = built(files, BTreeMap::new()).unwrap_err();
    assert!(refusal.contains(words), "{refusal}");
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: b\n";

#[test]
fn components_that_list_the_next_one_twice_are_counted() {
    let levels = 0..=40;
    let mut files: Vec<_> = levels
        .map(|level| {
            let next = match level {
                40 => String::new(),
                _ => format!("components: [../c{0}, ../c{0}]\n", level + 1),
            };
            let kind = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
            file(&format!("c{level}/kustomization.yaml"), format!("{kind}{next}namePrefix: p-\n"))
        })
        .collect();
    files.push(file("root/kustomization.yaml", "components: [../c0]\n"));
    require_refusal(&files, "more than 5000 kustomizations");
}

/// Few kustomizations and many resources take as long as many kustomizations and few resources.
#[test]
fn resources_that_go_through_components_again_and_again_are_counted() {
    let kind = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let level = |level: usize| {
        let next = match level {
            16 => "commonAnnotations: {a: b}\n".to_owned(),
            _ => format!("components: [../c{0}, ../c{0}]\n", level + 1),
        };
        file(&format!("c{level}/kustomization.yaml"), format!("{kind}{next}"))
    };
    let files_with = |count: usize| {
        let mut files: Vec<_> = (0..=16).map(level).collect();
        let objects = (0..count).map(|at| CONFIG_MAP.replace("name: c", &format!("name: c{at}")));
        files.push(file("root/r.yaml", objects.collect::<Vec<_>>().join("---\n")));
        files.push(file("root/kustomization.yaml", "resources: [r.yaml]\ncomponents: [../c0]\n"));
        files
    };
    let start = std::time::Instant::now();
    require_refusal(&files_with(1), "more than 5000 kustomizations");
    require_refusal(&files_with(400), "more than 200000 resources through its kustomizations");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn directories_without_resources_that_list_the_next_one_twice_are_counted() {
    let mut files: Vec<_> = (0..40)
        .map(|level| {
            let text = format!("resources: [../b{0}, ../b{0}]\nnamespace: ns\n", level + 1);
            file(&format!("b{level}/kustomization.yaml"), text)
        })
        .collect();
    files.push(file("b40/kustomization.yaml", "namespace: ns\n"));
    files.push(file("root/kustomization.yaml", "resources: [../b0]\n"));
    require_refusal(&files, "more than 5000 kustomizations");
}

#[test]
fn a_map_that_is_copied_into_itself_again_and_again_is_refused() {
    let mut text = String::from("resources: [r.yaml]\nreplacements:\n");
    for count in 0..40 {
        let source = "{kind: ConfigMap, name: c, fieldPath: data}";
        writeln!(text, "- source: {source}\n  targets:\n  - select: {{kind: ConfigMap}}").unwrap();
        writeln!(text, "    fieldPaths: [data.x{count}]\n    options: {{create: true}}").unwrap();
    }
    let files = [file("root/kustomization.yaml", text), file("root/r.yaml", CONFIG_MAP)];
    require_refusal(&files, "copied into itself");
}

#[test]
fn a_text_that_is_joined_to_itself_again_and_again_is_refused() {
    let mut text = String::from("resources: [r.yaml]\nreplacements:\n");
    for _ in 0..60 {
        let source = "{kind: ConfigMap, name: c, fieldPath: data.a}";
        writeln!(text, "- source: {source}\n  targets:\n  - select: {{kind: ConfigMap}}").unwrap();
        writeln!(text, "    fieldPaths: [data.a]\n    options: {{delimiter: '/', index: -1}}")
            .unwrap();
    }
    let files = [file("root/kustomization.yaml", text), file("root/r.yaml", CONFIG_MAP)];
    require_refusal(&files, "copied into itself");
}

#[test]
fn a_json_patch_that_copies_a_map_into_itself_again_and_again_is_refused() {
    let mut text = String::from("resources: [r.yaml]\npatches:\n- target: {kind: ConfigMap}\n");
    text.push_str("  patch: |-\n");
    for count in 0..40 {
        writeln!(text, "    - {{op: copy, from: /data, path: /data/x{count}}}").unwrap();
    }
    let files = [file("root/kustomization.yaml", text), file("root/r.yaml", CONFIG_MAP)];
    require_refusal(&files, "copied into itself");
}

#[test]
fn a_path_that_would_nest_without_end_is_refused() {
    let path = vec!["x"; 100_000].join(".");
    let text = format!(
        "resources: [r.yaml]\nreplacements:\n- sourceValue: v\n  targets:\n  - select: {{kind: \
         ConfigMap}}\n    fieldPaths: [data.{path}]\n    options: {{create: true}}\n"
    );
    let files = [file("root/kustomization.yaml", text), file("root/r.yaml", CONFIG_MAP)];
    require_refusal(&files, "more than 256 parts");
}

#[test]
fn origins_of_a_remote_base_are_left_to_kustomize() {
    const URL: &str = "https://github.com/org/repo//base?ref=v1";
    let root = format!("resources: ['{URL}']\nbuildMetadata: [BUILD_METADATA]\n");
    let build_with = |option: &str| {
        let files = [
            file("root/kustomization.yaml", root.replace("BUILD_METADATA", option)),
            file("mirror/kustomization.yaml", "resources: [r.yaml]\n"),
            file("mirror/r.yaml", CONFIG_MAP),
        ];
        built(&files, BTreeMap::from([(URL.to_owned(), "mirror".to_owned())]))
    };
    for option in ["originAnnotations", "transformerAnnotations"] {
        assert!(build_with(option).unwrap_err().starts_with("unsupported: buildMetadata"));
    }
}
