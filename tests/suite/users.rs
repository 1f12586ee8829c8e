//! Who builds on what is edited (`affects`): judged by where the system says that the paths of the kustomizations lead.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::compare::Numbers;
use crate::support::repo::TestRepo;

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: web\n        image: r/web:1\n";

/// Directories of a repository, and the paths that their kustomizations name.
type References = BTreeMap<String, Vec<String>>;

/// Those that name `directory`, through others or not: each path followed by the system.
fn users(root: &Path, references: &References, directory: &str) -> BTreeSet<String> {
    let real = |path: &Path| fs::canonicalize(path).unwrap();
    let mut found = BTreeSet::from([directory.to_owned()]);
    loop {
        let known: BTreeSet<_> = found.iter().map(|known| real(&root.join(known))).collect();
        let names = |(user, paths): &(&String, &Vec<String>)| {
            paths.iter().any(|path| known.contains(&real(&root.join(user).join(path))))
        };
        let all: BTreeSet<String> = references
            .iter()
            .filter(names)
            .map(|(user, _)| user.clone())
            .chain(found.clone())
            .collect();
        if all == found {
            found.remove(directory);
            return found;
        }
        found = all;
    }
}

/// A path in one of the ways in which YAML and the file system let it be written.
fn spelled(numbers: &mut Numbers, path: &str) -> String {
    let path = match numbers.below(6) {
        0 => format!("{path}/"),
        1 => format!("{path}/."),
        2 => format!("./{path}"),
        3 => format!("{path}/../{}", path.rsplit('/').next().unwrap()),
        _ => path.to_owned(),
    };
    // Of a path that ends with `..` the last step is no name to go down again.
    let path = if path.ends_with("../..") { path.replace("/../..", "") } else { path };
    match numbers.below(5) {
        0 => format!("'{path}'"),
        1 => format!("\"{}\"", path.replace('a', "\\x61")),
        2 => format!("\"{}\"", path.replace('/', "\\x2f")),
        3 => format!("{path} # ../remark"),
        _ => path,
    }
}

fn affects(repo: &TestRepo, directory: &str) -> BTreeSet<String> {
    let args = ["set", "field", directory, "Deployment/web", "metadata.annotations.x=y"];
    let ran = repo.overlay(&[&args[..], &["--dry-run", "-o", "json"]].concat());
    assert_eq!(ran.status, 0, "{directory}: {ran:?}");
    let affects = ran.json()["result"]["overlays"][0]["affects"].clone();
    serde_json::from_value(affects).unwrap()
}

/// Forty directories, each on one of those before it, by a path, a link, or from below.
#[test]
fn whoever_builds_on_what_is_edited_is_named_however_its_path_is_written() {
    let mut numbers = Numbers(0x5eed_ab1e);
    for _ in 0..2 {
        let mut files = vec![
            ("base/kustomization.yaml".to_owned(), "resources: [web.yaml]\n".to_owned()),
            ("base/web.yaml".to_owned(), WEB.to_owned()),
        ];
        let mut references = References::from([("base".to_owned(), Vec::new())]);
        let mut directories = vec!["base".to_owned()];
        // Kustomize builds none that is below what it builds on.
        let mut built = BTreeSet::from(["base".to_owned()]);
        for at in 0..40 {
            let parent = directories[numbers.below(directories.len())].clone();
            let (directory, path) = match numbers.below(6) {
                0 => (format!("{parent}/in{at}"), "..".to_owned()),
                1 => (format!("links/l{at}"), format!("../{at}-link")),
                2 => (format!("with blank/a {at}"), format!("../../{parent}")),
                _ => (format!("stacks/ab{at}"), format!("../../{parent}")),
            };
            let written = match path.contains(' ') || numbers.below(3) == 0 {
                true => format!("resources:\n- {path}\n")
                    .replace(' ', if at % 2 == 0 { " " } else { "\n  " }),
                false => format!("resources:\n- {}\n", spelled(&mut numbers, &path)),
            };
            // The key itself has a blank that is none of the path's.
            let written = written.replace("-\n  ", "- ");
            let name = numbers.pick(&["kustomization.yaml", "kustomization.yml", "Kustomization"]);
            files.push((format!("{directory}/{name}"), written));
            if path.ends_with("-link") {
                files.push((format!("links/{at}-link"), format!("-> ../{parent}")));
            }
            if path != ".." && built.contains(&parent) {
                built.insert(directory.clone());
            }
            references.insert(directory.clone(), vec![path]);
            directories.push(directory);
        }
        let plain: Vec<(&str, &str)> = files
            .iter()
            .filter(|(_, text)| !text.starts_with("-> "))
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let repo = TestRepo::with_files(&plain);
        #[cfg(unix)]
        for (path, text) in &files {
            if let Some(target) = text.strip_prefix("-> ") {
                std::os::unix::fs::symlink(target, repo.path().join(path)).unwrap();
            }
        }
        let mut named = 0;
        for directory in built.iter().step_by(2) {
            let expected = users(&repo.path(), &references, directory);
            assert_eq!(affects(&repo, directory), expected, "{directory}: {files:#?}");
            named += expected.len();
        }
        assert!(named > 40, "{named}");
    }
}

/// `list` tells the same graph, and reads no more than the kustomizations.
#[test]
fn a_list_says_who_uses_whom_whatever_the_resources_hold() {
    let repo = TestRepo::with_files(&[
        ("base/kustomization.yaml", "resources: [web.yaml, none.yaml, gone/]\n"),
        ("base/web.yaml", "a: [\n"),
        ("prod/kustomization.yaml", "resources: [../base]\ncomponents: [../part]\n"),
        (
            "part/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: p-\n",
        ),
        ("broken/kustomization.yaml", "resources: [\n"),
    ]);
    let listed = repo.overlay(&["list", "-o", "json"]).json()["result"]["overlays"].clone();
    let told = |at: usize| {
        json!([listed[at]["path"], listed[at]["kind"], listed[at]["uses"], listed[at]["usedBy"]])
    };
    assert_eq!(told(0), json!(["base", "base", [], ["prod"]]));
    assert_eq!(told(1)[0], "broken");
    assert!(listed[1]["problem"].is_string(), "{listed}");
    assert_eq!(told(2), json!(["part", "component", [], ["prod"]]));
    assert_eq!(told(3), json!(["prod", "overlay", ["base", "part"], []]));
}
