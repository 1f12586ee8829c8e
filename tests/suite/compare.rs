//! `overlay diff` and `overlay affected`: judged by rendering everything at both ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use overlay::discover::{DiskFiles, find_kustomizations};
use overlay::kustomize::types::Kind;
use overlay::kustomize::{SourceTree, build};
use serde_json::Value as Json;

use crate::support::judge;
use crate::support::repo::TestRepo;

/// A small fleet: two bases, one on the other, two components, overlays of every sort.
fn fleet() -> TestRepo {
    let repo = TestRepo::with_files(&[
        ("README.md", "a fleet\n"),
        (
            "base/kustomization.yaml",
            "resources:\n- web.yaml\nconfigMapGenerator:\n- name: web\n  files:\n  - settings.conf\n",
        ),
        (
            "base/web.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      \
             containers:\n      - name: web\n        image: r/web:1\n        envFrom:\n        - configMapRef:\n            name: web\n",
        ),
        ("base/settings.conf", "a=1\n"),
        ("tier/kustomization.yaml", "namePrefix: t-\nresources:\n- ../base\n- cache.yaml\n"),
        (
            "tier/cache.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: cache\nspec:\n  ports:\n  - port: 1\n",
        ),
        (
            "components/big/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: replicas.yaml\n  target:\n    kind: Deployment\n",
        ),
        ("components/big/replicas.yaml", "- op: add\n  path: /spec/replicas\n  value: 3\n"),
        (
            "components/note/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations:\n  note: x\n",
        ),
        ("overlays/plain/kustomization.yaml", "resources:\n- ../../base\n"),
        (
            "overlays/tiered/kustomization.yaml",
            "resources:\n- ../../tier\ncomponents:\n- ../../components/big\n",
        ),
        (
            "overlays/patched/kustomization.yaml",
            "resources:\n- ../../base\npatches:\n- path: link.yaml\ntransformers:\n- label.yaml\n",
        ),
        (
            "overlays/patched/one.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 5\n",
        ),
        (
            "overlays/patched/two.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 6\n",
        ),
        (
            "overlays/patched/label.yaml",
            "apiVersion: builtin\nkind: LabelTransformer\nmetadata:\n  name: l\nlabels:\n  team: a\nfieldSpecs:\n- path: metadata/labels\n  create: true\n",
        ),
        (
            "overlays/secret/kustomization.yaml",
            "resources:\n- ../plain\nsecretGenerator:\n- name: s\n  envs:\n  - s.env\nreplacements:\n- path: replacement.yaml\n",
        ),
        ("overlays/secret/s.env", "KEY=hidden-one\n"),
        (
            "overlays/secret/replacement.yaml",
            "source:\n  kind: Deployment\n  name: web\ntargets:\n- select:\n    kind: Deployment\n  fieldPaths:\n  - metadata.annotations.copy\n  options:\n    create: true\n",
        ),
    ]);
    link(&repo, "one.yaml");
    repo.commit("a link");
    repo
}

fn link(repo: &TestRepo, target: &str) {
    let path = repo.path().join("overlays/patched/link.yaml");
    let _ = fs::remove_file(&path);
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, path).unwrap();
}

/// Numbers that are the same in every run (xorshift).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// All files but git's, by path.
fn files_of(repo: &TestRepo) -> Vec<String> {
    let listed = repo.git(&["ls-files"]);
    listed.lines().filter(|path| *path != "overlays/patched/link.yaml").map(str::to_owned).collect()
}

fn replace_in_all(repo: &TestRepo, from: &str, to: &str) {
    for path in files_of(repo).iter().filter(|path| path.ends_with("kustomization.yaml")) {
        let text = fs::read_to_string(repo.path().join(path)).unwrap();
        repo.write(path, &text.replace(from, to));
    }
}

/// One change of the sort that `sort` says.
fn change(repo: &TestRepo, numbers: &mut Numbers, at: usize) {
    let files = files_of(repo);
    let file = numbers.pick(&files).clone();
    let text = fs::read_to_string(repo.path().join(&file)).unwrap();
    match numbers.below(11) {
        0 => repo.write(&file, &format!("{text}# a remark {at}\n")),
        1 => repo.write("README.md", &format!("number {at}\n")),
        2 => repo.write("base/settings.conf", &format!("a={at}\n")),
        3 => repo.write("base/web.yaml", &with_image(repo, at)),
        4 => repo.write("components/big/replicas.yaml", &replicas(numbers.below(4))),
        5 => {
            let target: &str = numbers.pick::<&str>(&["one.yaml", "two.yaml", "label.yaml"]);
            link(repo, target);
        }
        6 => {
            let base = numbers.pick(&["base", "tier", "overlays/plain", "overlays/secret"]);
            let text = format!("namePrefix: n{at}-\nresources:\n- ../../{base}\n");
            repo.write(&format!("overlays/new-{at}/kustomization.yaml"), &text);
        }
        7 => {
            // A file gets another name, and whoever names it may follow.
            let (directory, name) = file.rsplit_once('/').unwrap_or(("", &file));
            if !directory.is_empty() && name != "kustomization.yaml" {
                let new = format!("x{at}-{name}");
                fs::rename(repo.path().join(&file), repo.path().join(directory).join(&new))
                    .unwrap();
                if numbers.below(3) > 0 {
                    replace_in_all(repo, name, &new);
                }
            }
        }
        8 => {
            let added: Vec<&String> =
                files.iter().filter(|f| f.starts_with("overlays/new-")).collect();
            if let Some(gone) = added.first() {
                fs::remove_file(repo.path().join(gone)).unwrap();
            }
        }
        9 => {
            let path = "overlays/plain/kustomization.yaml";
            let text = fs::read_to_string(repo.path().join(path)).unwrap();
            let wanted = "components:\n- ../../components/note\n";
            let text = match text.contains(wanted) {
                true => text.replace(wanted, ""),
                false => text + wanted,
            };
            repo.write(path, &text);
        }
        _ => repo.write("overlays/secret/s.env", &format!("KEY=hidden-{}\n", numbers.below(3))),
    }
}

fn with_image(repo: &TestRepo, at: usize) -> String {
    let text = fs::read_to_string(repo.path().join("base/web.yaml")).unwrap_or_default();
    let line = text.lines().find(|line| line.contains("image:")).unwrap_or("image:").to_owned();
    text.replace(&line, &format!("        image: r/web:{at}"))
}

fn replicas(count: usize) -> String {
    format!("- op: add\n  path: /spec/replicas\n  value: {count}\n")
}

/// What every directory with a kustomization renders, from a checkout; components left out.
fn render_everything(root: &Path) -> BTreeMap<String, Option<String>> {
    let files = DiskFiles::new(root).unwrap();
    let render = |directory: String| {
        let tree = SourceTree::load(&files, &directory).ok()?;
        let kind = tree.kustomization(&directory).map(|read| read.kustomization.file_kind());
        let text = || build(&tree, &directory).ok()?.to_yaml().ok();
        (kind != Some(Kind::Component)).then(|| (directory.clone(), text()))
    };
    let found = find_kustomizations(root).unwrap().directories;
    found.into_iter().filter_map(render).collect()
}

fn paths(json: &Json) -> BTreeSet<String> {
    let overlays = json["result"]["overlays"].as_array().unwrap();
    overlays.iter().map(|overlay| overlay["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn affected_is_what_rendering_everything_at_both_ends_gives() {
    let repo = fleet();
    let mut numbers = Numbers(0x5eed_1234_abcd);
    let mut before = render_everything(&repo.path());
    let mut differing = 0;
    for at in 0..200 {
        for _ in 0..=numbers.below(2) {
            change(&repo, &mut numbers, at);
        }
        repo.commit(&at.to_string());
        let after = render_everything(&repo.path());
        let everywhere: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let text =
            |side: &BTreeMap<String, Option<String>>, path: &str| side.get(path).cloned().flatten();
        let differs: BTreeSet<String> = everywhere
            .into_iter()
            .filter(|path| text(&before, path) != text(&after, path))
            .cloned()
            .collect();
        differing += differs.len();
        let range = ["affected", "--from", "HEAD~1", "--to", "HEAD", "--bases", "-o", "json"];
        let json = repo.overlay(&range).json();
        let rendered: BTreeSet<String> = json["result"]["overlays"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|overlay| overlay["rendersDifferently"] == true)
            .map(|overlay| overlay["path"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(rendered, differs, "commit {at}: {}", repo.git(&["show", "--stat"]));
        let listed = repo.git(&["diff", "--name-only", "--no-renames", "HEAD~1", "HEAD"]);
        let changed: BTreeSet<&str> = listed.lines().collect();
        for overlay in json["result"]["overlays"].as_array().unwrap() {
            let because = overlay["because"].as_array().unwrap();
            assert!(!because.is_empty(), "{overlay}");
            let is_changed = |path: &Json| changed.contains(path.as_str().unwrap());
            assert!(because.iter().all(is_changed), "commit {at}: {overlay} {changed:?}");
        }
        before = after;
    }
    assert!(differing > 200, "{differing} renders that differ say little");
}

#[test]
fn affected_lists_overlays_and_bases_only_where_they_are_asked_for() {
    let repo = fleet();
    repo.write("tier/cache.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: cache # same\nspec:\n  ports:\n  - port: 1\n");
    let listed = |args: &[&str]| {
        let all = [&["affected", "--from", "HEAD", "-o", "json"], args].concat();
        paths(&repo.overlay(&all).json())
    };
    let set = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(listed(&[]), set(&["overlays/tiered"]));
    assert_eq!(listed(&["--bases"]), set(&["overlays/tiered", "tier"]));
    assert_eq!(listed(&["tier"]), set(&["tier"]));
    assert_eq!(listed(&["overlays"]), set(&["overlays/tiered"]));
    assert_eq!(listed(&["--rendered"]), set(&[]));
    assert_eq!(repo.overlay(&["affected", "--from", "HEAD", "nothing"]).status, 4);
    assert_eq!(repo.overlay(&["affected", "--from", "HEAD", "--to", "HEAD"]).status, 2);
    assert_eq!(repo.overlay(&["affected", "--from", "no-such"]).status, 4);
}

#[test]
fn diff_follows_a_new_hash_and_hides_secrets() {
    let repo = fleet();
    repo.write("base/settings.conf", "a=2\n");
    repo.write("overlays/secret/s.env", "KEY=hidden-two\n");
    let ran = repo.overlay(&["diff", "overlays/secret", "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let objects = &ran.json()["result"]["overlays"][0]["objects"];
    assert_eq!(objects["added"], serde_json::json!([]));
    assert_eq!(objects["removed"], serde_json::json!([]));
    let changed: BTreeMap<&str, Vec<(&str, &Json, &Json)>> = objects["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|changed| {
            let fields = changed["fields"].as_array().unwrap().iter();
            let fields = fields.map(|f| (f["path"].as_str().unwrap(), &f["before"], &f["after"]));
            (changed["resource"]["kind"].as_str().unwrap(), fields.collect())
        })
        .collect();
    let paths = |kind: &str| changed[kind].iter().map(|(path, ..)| *path).collect::<Vec<_>>();
    assert_eq!(
        paths("ConfigMap"),
        ["metadata.name", "data.settings.conf"]
            .map(|p| p.replace("settings.conf", "[settings.conf]"))
            .to_vec()
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
    );
    assert_eq!(paths("Secret"), ["metadata.name", "data.KEY"]);
    assert_eq!(paths("Deployment").len(), 1);
    assert_eq!((changed["Secret"][1].1, changed["Secret"][1].2), (&"***".into(), &"***".into()));
    for form in ["human", "json", "markdown"] {
        let ran = repo.overlay(&["diff", "overlays/secret", "-o", form]);
        for secret in ["hidden", "aGlkZGVu"] {
            assert!(!ran.stdout.contains(secret), "{}", ran.stdout);
        }
        assert!(ran.stdout.contains("a=2"), "{}", ran.stdout);
    }
}

#[test]
fn diff_takes_patterns_and_overlays_of_one_end_only() {
    let repo = fleet();
    repo.write("overlays/new/kustomization.yaml", "resources:\n- ../../base\n");
    fs::remove_dir_all(repo.path().join("overlays/tiered")).unwrap();
    let statuses = |args: &[&str]| -> BTreeMap<String, String> {
        let json = repo.overlay(&[&["diff", "-o", "json"], args].concat()).json();
        let overlays = json["result"]["overlays"].as_array().unwrap().iter();
        let text = |overlay: &Json, key: &str| overlay[key].as_str().unwrap().to_owned();
        overlays.map(|overlay| (text(overlay, "path"), text(overlay, "status"))).collect()
    };
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    };
    let all = map(&[
        ("overlays/new", "added"),
        ("overlays/patched", "unchanged"),
        ("overlays/plain", "unchanged"),
        ("overlays/secret", "unchanged"),
        ("overlays/tiered", "removed"),
    ]);
    assert_eq!(statuses(&["overlays/*"]), all);
    repo.commit("both");
    assert_eq!(statuses(&["overlays/*", "--from", "HEAD~1", "--to", "HEAD"]), all);
    assert_eq!(
        statuses(&["overlays/tiered", "--from", "HEAD~1"]),
        map(&[("overlays/tiered", "removed")])
    );
    let both = statuses(&["overlays/new", "overlays/plain", "--from", "HEAD~1"]);
    assert_eq!(both, map(&[("overlays/new", "added"), ("overlays/plain", "unchanged")]));
    assert_eq!(repo.overlay(&["diff", "overlays/none"]).status, 4);
    assert_eq!(repo.overlay(&["diff", "overlays/plain", "--from", "x", "--to", "x"]).status, 2);
}

#[test]
fn many_overlays_build_as_each_alone_and_as_kustomize_does() {
    let repo = fleet();
    let names = ["patched", "plain", "secret", "tiered"];
    let out = repo.path().join("out");
    let ran = repo.overlay(&["build", "overlays/*", "tier", "base", "--output-dir", "out"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let judge = judge();
    for name in names
        .iter()
        .map(|name| format!("overlays/{name}"))
        .chain(["tier".to_owned(), "base".to_owned()])
    {
        let text = fs::read_to_string(out.join(format!("{name}.yaml"))).unwrap();
        assert_eq!(text, repo.overlay(&["build", &name]).stdout, "{name}");
        if let Some(judge) = &judge {
            assert_eq!(Ok(text), judge.build(&repo.path().join(&name)), "{name}");
        }
    }
    let again = repo.overlay(&["build", "overlays/*", "--output-dir", "out", "-o", "json"]);
    assert_eq!(again.json()["changed"], false);
}
