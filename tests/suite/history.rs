//! `overlay history`: judged by rendering every commit with a kustomize that is not ours.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::compare::Numbers;
use crate::support::json_schema::faults;
use crate::support::repo::TestRepo;
use crate::support::{Judge, judge};

const OVERLAY: &str = "overlays/prod";

fn fleet() -> TestRepo {
    TestRepo::with_files(&[
        ("README.md", "a fleet\n"),
        ("base/kustomization.yaml", "resources:\n- web.yaml\n"),
        ("base/web.yaml", &deployment("web", "r/web:1")),
        ("components/note/kustomization.yaml", COMPONENT),
        (
            "overlays/prod/kustomization.yaml",
            "resources:\n- ../../base\nimages:\n- name: r/web\n  newTag: '1'\n",
        ),
        ("overlays/other/kustomization.yaml", "resources:\n- ../../base\n"),
    ])
}

const COMPONENT: &str = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations:\n  note: x\n";

fn deployment(name: &str, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  replicas: 1\n  selector:\n    matchLabels: {{app: {name}}}\n  template:\n    metadata:\n      labels: {{app: {name}}}\n    spec:\n      containers:\n      - name: {name}\n        image: {image}\n"
    )
}

fn read(repo: &TestRepo, path: &str) -> Option<String> {
    fs::read_to_string(repo.path().join(path)).ok()
}

fn replace(repo: &TestRepo, path: &str, from: &str, to: &str) {
    if let Some(text) = read(repo, path) {
        repo.write(path, &text.replace(from, to));
    }
}

fn rename(repo: &TestRepo, from: &str, to: &str) {
    let [from, to] = [from, to].map(|path| repo.path().join(path));
    if from.exists() && !to.exists() {
        fs::rename(from, to).unwrap();
    }
}

/// One change of a random sort; most of them do nothing to the overlay, as in a real repository.
fn change(repo: &TestRepo, numbers: &mut Numbers, at: usize) {
    let kustomization = "overlays/prod/kustomization.yaml";
    match numbers.below(16) {
        0 => repo.write("README.md", &format!("number {at}\n")),
        1 => repo.write(
            "overlays/other/kustomization.yaml",
            &format!("resources: [../../base]\nnamePrefix: n{at}-\n"),
        ),
        2 => {
            repo.write("base/web.yaml", &deployment("web", &format!("r/web:{}", numbers.below(3))))
        }
        3 => {
            let text = read(repo, kustomization).unwrap_or_default();
            repo.write(kustomization, &format!("{text}# remark {at}\n"));
        }
        4 | 5 => {
            for old in 1..4 {
                let (old, new) =
                    (format!("newTag: '{old}'"), format!("newTag: '{}'", 1 + numbers.below(3)));
                replace(repo, kustomization, &old, &new);
            }
        }
        6 => {
            rename(repo, "base/web.yaml", "base/site.yaml");
            if numbers.below(3) > 0 {
                replace(repo, "base/kustomization.yaml", "web.yaml", "site.yaml");
            }
        }
        7 => {
            rename(repo, "base/site.yaml", "base/web.yaml");
            replace(repo, "base/kustomization.yaml", "site.yaml", "web.yaml");
        }
        8 => {
            rename(repo, "base", "core");
            replace(repo, kustomization, "../../base", "../../core");
        }
        9 => {
            rename(repo, "core", "base");
            replace(repo, kustomization, "../../core", "../../base");
        }
        10 => {
            let text = read(repo, kustomization).unwrap_or_default();
            if !text.contains("components:") {
                repo.write(kustomization, &format!("{text}components:\n- ../../components/note\n"));
            }
        }
        11 => replace(
            repo,
            "components/note/kustomization.yaml",
            "note: x",
            &format!("note: x{}", numbers.below(2)),
        ),
        12 if numbers.below(3) == 0 => {
            let _ = fs::remove_dir_all(repo.path().join(OVERLAY));
        }
        12 | 13 => repo.write(
            kustomization,
            "resources:\n- ../../base\nimages:\n- name: r/web\n  newTag: '2'\n",
        ),
        14 => {
            // A link in the place of a file, and back.
            let path = repo.path().join("overlays/prod/extra.yaml");
            let is_link = fs::read_link(&path).is_ok();
            let _ = fs::remove_file(&path);
            #[cfg(unix)]
            if !is_link && path.parent().unwrap().is_dir() {
                std::os::unix::fs::symlink("../../base/web.yaml", &path).unwrap();
            }
        }
        _ => replace(repo, kustomization, "resources:\n", "namePrefix: p-\nresources:\n"),
    }
}

/// Commits with side branches that come back as merges, some with changes of their own.
fn random_history(numbers: &mut Numbers) -> TestRepo {
    let repo = fleet();
    for at in 0..8 {
        if numbers.below(3) > 0 {
            change(&repo, numbers, at);
            repo.commit(&format!("change {at}"));
            continue;
        }
        repo.git(&["checkout", "-q", "-b", &format!("side-{at}")]);
        for step in 0..=numbers.below(2) {
            change(&repo, numbers, 100 + 10 * at + step);
            repo.commit(&format!("side {at}.{step}"));
        }
        repo.git(&["checkout", "-q", "main"]);
        if numbers.below(2) == 0 {
            change(&repo, numbers, 200 + at);
            repo.commit(&format!("beside {at}"));
        }
        let mode = numbers.pick(&["ort", "ours"]);
        repo.merge(mode, &format!("side-{at}"));
        if numbers.below(4) == 0 {
            change(&repo, numbers, 300 + at);
        }
        repo.git(&["add", "-A", "-f"]);
        repo.git(&[
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            &format!("Merge pull request #{at} from side"),
        ]);
    }
    repo
}

/// What the judge renders at a root tree; nothing where the overlay is not there.
type Rendered = Option<Result<String, ()>>;

struct BruteForce<'a> {
    repo: &'a TestRepo,
    judge: &'a Judge,
    folder: tempfile::TempDir,
    known: HashMap<String, Rendered>,
}

impl BruteForce<'_> {
    fn at(&mut self, commit: &str) -> Rendered {
        let tree = self.repo.git(&["rev-parse", &format!("{commit}^{{tree}}")]).trim().to_owned();
        if let Some(known) = self.known.get(&tree) {
            return known.clone();
        }
        let to = self.folder.path().join(&tree);
        fs::create_dir(&to).unwrap();
        let to_text = to.to_str().unwrap();
        self.repo.git(&["--work-tree", to_text, "checkout", "-q", "-f", commit, "--", "."]);
        let overlay = to.join(OVERLAY);
        let rendered = overlay.join("kustomization.yaml").exists().then(|| self.build(&overlay));
        self.known.insert(tree, rendered.clone());
        rendered
    }

    fn build(&self, overlay: &Path) -> Result<String, ()> {
        self.judge.build(overlay).map_err(|_| ())
    }

    /// The commits of `listed`, each with its parents, that have a render that none of the parents has.
    fn changing(&mut self, options: &[&str], only_first: bool) -> Vec<String> {
        let listed = self
            .repo
            .git(&[&["rev-list", "--topo-order", "--parents"], options, &["main"]].concat());
        let mut found = Vec::new();
        for line in listed.lines() {
            let ids: Vec<&str> = line.split(' ').collect();
            let parents = if only_first { &ids[1..ids.len().min(2)] } else { &ids[1..] };
            let own = self.at(ids[0]);
            let is_old = parents.iter().any(|parent| self.at(parent) == own);
            let is_nothing = parents.is_empty() && own.is_none();
            if !is_old && !is_nothing {
                found.push(ids[0].to_owned());
            }
        }
        found
    }
}

fn commits(repo: &TestRepo, more: &[&str]) -> Vec<String> {
    let ran = repo.overlay(&[&["history", OVERLAY, "-o", "json"], more].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let entries = ran.json()["result"]["overlays"][0]["entries"].as_array().unwrap().clone();
    entries.iter().map(|entry| entry["commit"].as_str().unwrap().to_owned()).collect()
}

/// `OVERLAY_HISTORIES=300` looks at more of them.
#[test]
fn history_is_what_rendering_every_commit_gives() {
    let Some(judge) = judge() else { return };
    let wanted = std::env::var("OVERLAY_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut found = 0;
    for seed in 0..wanted {
        let mut numbers = Numbers(0x5eed_0000_0001 + 977 * seed);
        let repo = random_history(&mut numbers);
        let folder = tempfile::tempdir().unwrap();
        let mut brute = BruteForce { repo: &repo, judge: &judge, folder, known: HashMap::new() };
        let expected = brute.changing(&["--first-parent"], true);
        found += expected.len();
        assert_eq!(commits(&repo, &[]), expected, "seed {seed}, first parents");
        assert_eq!(commits(&repo, &[]), expected, "seed {seed}, from the cache");
        let mut all = brute.changing(&[], false);
        let mut ours = commits(&repo, &["--full"]);
        // Git and its own `--reverse` may order commits of one time differently.
        all.sort();
        ours.sort();
        assert_eq!(ours, all, "seed {seed}, all parents");
    }
    assert!(found > 2 * usize::try_from(wanted).unwrap(), "{found}");
}

fn entries(repo: &TestRepo, more: &[&str]) -> Vec<Json> {
    let ran = repo.overlay(&[&["history", OVERLAY, "-o", "json"], more].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    let schema = serde_json::from_str(include_str!("../../docs/result.schema.json")).unwrap();
    assert_eq!(faults(&schema, &ran.json()), [""; 0]);
    ran.json()["result"]["overlays"][0]["entries"].as_array().unwrap().clone()
}

fn subjects(repo: &TestRepo, more: &[&str]) -> Vec<String> {
    entries(repo, more).iter().map(|entry| entry["subject"].as_str().unwrap().to_owned()).collect()
}

/// A release, a change of the base, one of the replicas, and what changes nothing.
fn told() -> TestRepo {
    let repo = fleet();
    let kustomization = "overlays/prod/kustomization.yaml";
    replace(&repo, kustomization, "newTag: '1'", "newTag: '2'");
    repo.commit("Release 2 (#7)");
    repo.write("README.md", "else\n");
    repo.commit("words");
    replace(&repo, "base/web.yaml", "replicas: 1", "replicas: 3");
    repo.commit("three");
    repo.write("base/kustomization.yaml", "resources:\n- web.yaml\n- extra.yaml\n");
    repo.write("base/extra.yaml", &deployment("extra", "r/extra:1"));
    repo.commit("extra");
    repo
}

#[test]
fn an_overlay_that_comes_broken_is_told_with_the_reason() {
    let repo = TestRepo::with_files(&[("web/kustomization.yaml", "resources: [nowhere.yaml]\n")]);
    let ran = repo.overlay(&["history", "web", "-o", "json"]);
    let entry = ran.json()["result"]["overlays"][0]["entries"][0].clone();
    let summary = entry["summary"].as_str().unwrap();
    assert_eq!(entry["status"], "appeared", "{ran:?}");
    assert!(
        summary.starts_with("appears, and does not build: ") && summary.contains("nowhere.yaml"),
        "{summary}"
    );
}

#[test]
fn each_commit_says_what_it_did() {
    let repo = told();
    assert_eq!(subjects(&repo, &[]), ["extra", "three", "Release 2 (#7)", "start"]);
    let all = entries(&repo, &[]);
    let told =
        |at: usize| (all[at]["status"].as_str().unwrap(), all[at]["summary"].as_str().unwrap());
    assert_eq!(told(0), ("changed", "extra 1 new; +Deployment/extra"));
    assert_eq!(told(1), ("changed", "web replicas 1 → 3"));
    assert_eq!(told(2), ("changed", "web 1 → 2"));
    assert_eq!(told(3), ("appeared", "appears; +Deployment/web"));
    assert_eq!(all[2]["pullRequest"], "#7");
    assert_eq!(all[1]["effect"][0]["path"], "spec.replicas");
    assert_eq!(
        (&all[1]["effect"][0]["before"], &all[1]["effect"][0]["after"]),
        (&1.into(), &3.into())
    );
}

#[test]
fn history_is_narrowed_by_field_image_number_and_revision() {
    let repo = told();
    for (more, expected) in [
        (&["--field", "spec.replicas"][..], &["three"][..]),
        (&["--field", "Deployment/web spec.replicas"], &["three", "start"]),
        (&["--field", "Deployment/extra spec"], &["extra"]),
        (&["--image", "web"], &["Release 2 (#7)", "start"]),
        (&["--image", "r/extra"], &["extra"]),
        (&["-n", "2"], &["extra", "three"]),
        (&["-n", "1", "--image", "web"], &["Release 2 (#7)"]),
        (&["--from", "HEAD~2"], &["extra", "three"]),
        (&["--to", "HEAD~1", "--from", "HEAD~4"], &["three", "Release 2 (#7)"]),
    ] {
        assert_eq!(subjects(&repo, more), expected, "{more:?}");
    }
    assert_eq!(repo.overlay(&["history", OVERLAY, "--from", "HEAD"]).status, 2);
    assert_eq!(repo.overlay(&["history", OVERLAY, "--field", "a b c"]).status, 2);
    assert_eq!(repo.overlay(&["history", OVERLAY, "--to", "nowhere"]).status, 4);
    assert_eq!(repo.overlay(&["history", "overlays/none"]).status, 4);
}

#[test]
fn people_and_pages_get_a_line_each() {
    let repo = told();
    let ran = repo.overlay(&["history", OVERLAY, "-n", "3"]);
    let lines: Vec<&str> = ran.stdout.lines().map(|line| line.get(15..).unwrap_or(line)).collect();
    assert_eq!(
        lines[1..],
        [
            "2024-05-01 Case  extra 1 new; +Deployment/extra",
            "2024-05-01 Case  web replicas 1 → 3",
            "2024-05-01 Case (#7)  web 1 → 2",
        ]
    );
    let page = repo.overlay(&["history", OVERLAY, "-n", "3", "-o", "markdown"]).stdout;
    assert!(page.starts_with("### overlays/prod\n\n3 changes; looked at 4 commits\n"), "{page}");
    assert!(page.contains(" | 2024-05-01 | Case | \\#7 | web 1 → 2 |\n"), "{page}");
}

#[test]
fn merges_are_told_apart_and_what_breaks_is_said() {
    let repo = fleet();
    repo.git(&["checkout", "-q", "-b", "side"]);
    replace(&repo, "overlays/prod/kustomization.yaml", "newTag: '1'", "newTag: '2'");
    repo.commit("two");
    repo.git(&["checkout", "-q", "main"]);
    repo.merge("ort", "side");
    repo.git(&["commit", "-q", "-m", "Merge pull request #3 from side"]);
    replace(&repo, "overlays/prod/kustomization.yaml", "../../base", "../../nothing");
    repo.commit("broken");
    replace(&repo, "overlays/prod/kustomization.yaml", "../../nothing", "../../base");
    repo.commit("mended");
    repo.git(&["rm", "-rq", OVERLAY]);
    repo.commit("gone");
    let all = entries(&repo, &[]);
    let told: Vec<(&str, bool)> = all
        .iter()
        .map(|entry| (entry["status"].as_str().unwrap(), entry["merge"].as_bool().unwrap()))
        .collect();
    let expected = [
        ("removed", false),
        ("mended", false),
        ("broken", false),
        ("changed", true),
        ("appeared", false),
    ];
    assert_eq!(told, expected);
    assert_eq!(all[3]["pullRequest"], "#3");
    assert!(all[2]["reason"].as_str().unwrap().contains("nothing"), "{all:?}");
    assert_eq!(subjects(&repo, &["--full", "-n", "4"])[3], "two");
}

#[test]
fn what_moved_while_it_did_not_build_is_told_of_the_commit_that_mends_it() {
    let repo = fleet();
    let file = "overlays/prod/kustomization.yaml";
    replace(&repo, file, "../../base", "../../nothing");
    repo.commit("broken");
    replace(&repo, file, "newTag: '1'", "newTag: '2'");
    repo.commit("still broken");
    replace(&repo, file, "../../nothing", "../../base");
    repo.commit("mended");
    let all = entries(&repo, &[]);
    assert_eq!(all[0]["status"], "mended");
    assert!(all[0]["summary"].as_str().unwrap().starts_with("builds again; web 1 → 2"), "{all:?}");
    let image = all[0]["images"][0]["name"].as_str().unwrap().to_owned();
    assert_eq!(subjects(&repo, &["--image", &image])[0], "mended");
    let page = repo.overlay(&["history", OVERLAY, "-o", "html"]).stdout;
    let now = page.split("What runs now").nth(1).unwrap().split("</table>").next().unwrap();
    assert!(now.contains(">2<") || now.contains(">2 "), "{now}");
}

#[test]
fn the_end_of_a_shallow_clone_is_no_beginning() {
    let repo = told();
    let clone = repo.clone_shallow(2);
    let ran = clone.overlay(&["history", OVERLAY, "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let result = &ran.json()["result"]["overlays"][0];
    assert_eq!(result["end"], "shallow");
    let subjects: Vec<&Json> =
        result["entries"].as_array().unwrap().iter().map(|entry| &entry["subject"]).collect();
    assert_eq!(subjects, ["extra"]);
    let ran = clone.overlay(&["history", OVERLAY]);
    assert!(ran.stderr.contains("shallow"), "{ran:?}");
}

#[test]
fn a_cache_that_is_broken_is_as_good_as_none() {
    let repo = told();
    let cache = BTreeMap::from([(
        "OVERLAY_CACHE_DIR".to_owned(),
        repo.path().join("../cache").to_str().unwrap().to_owned(),
    )]);
    let run = || repo.overlay_with(&["history", OVERLAY, "-o", "json"], "", &cache).stdout;
    let first = run();
    let folder = repo.path().join("../cache/history");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(run(), first);
    for text in ["", "{}", "[1", "{\"made_by\":1}"] {
        fs::write(&file, text).unwrap();
        assert_eq!(run(), first, "{text}");
    }
}

/// What is not there is not thought to lie beyond the end of a clone that has none.
#[test]
fn only_a_shallow_clone_is_called_one() {
    let files = [("o/kustomization.yaml", "resources: []\n")];
    let repo = TestRepo::with_files(&files);
    repo.commit("one");
    let ran = repo.overlay(&["diff", "o", "--from", "HEAD~7"]);
    assert_eq!(ran.status, 4, "{ran:?}");
    assert!(!ran.stderr.contains("shallow"), "{ran:?}");
    repo.write("o/kustomization.yaml", "resources: []\n# two\n");
    repo.commit("two");
    let ran = repo.clone_shallow(1).overlay(&["diff", "o", "--from", "HEAD~1"]);
    assert!(ran.status == 4 && ran.stderr.contains("git fetch --unshallow"), "{ran:?}");
    let empty = TestRepo::empty();
    empty.write(files[0].0, files[0].1);
    let ran = empty.overlay(&["history", "o"]);
    assert!(ran.status == 4 && !ran.stderr.contains("shallow"), "{ran:?}");
}

/// What a remote base that cannot be had would render is not known on either side; that something of ours differs is.
#[test]
fn commits_between_versions_that_cannot_be_built_are_told_as_not_comparable() {
    let base = "resources:\n- https://git.test/team/base?ref=v1\n";
    let with = |tag: &str| format!("{base}images: [{{name: web, newTag: '{tag}'}}]\n");
    let repo = TestRepo::with_files(&[("overlays/prod/kustomization.yaml", &with("1"))]);
    for tag in ["2", "3"] {
        repo.write("overlays/prod/kustomization.yaml", &with(tag));
        repo.commit(&format!("web {tag}"));
    }
    repo.write("unrelated.txt", "x\n");
    repo.commit("unrelated");
    // The second run may use what the first one kept.
    for _ in 0..2 {
        let ran = repo.overlay(&["history", "overlays/prod", "--offline", "-o", "json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let entries = ran.json()["result"]["overlays"][0]["entries"].clone();
        let told: Vec<(&str, &str)> = (entries.as_array().unwrap().iter())
            .map(|one| (one["subject"].as_str().unwrap(), one["status"].as_str().unwrap()))
            .collect();
        assert_eq!(told[..2], [("web 3", "unknown"), ("web 2", "unknown")], "{ran:?}");
        assert_eq!(told.len(), 3, "{ran:?}");
        assert!(entries[0]["reason"].as_str().unwrap().contains("cannot be had"), "{ran:?}");
    }
    let ran = repo.overlay(&["history", "overlays/prod", "--offline"]);
    assert!(ran.stdout.contains("what it changes is not known"), "{ran:?}");
}
