//! Every check on overlays made for it: `fixtures/checks/<id>/{pass,fail}`, each with an
//! `expected.json` written by hand; and the four lists that must be one.
//!
//! | in the folder | meaning |
//! |---|---|
//! | `expected.json` | the overlay, and the findings of this check: severity, object, parts of the message, file and line |
//! | `.overlay.yaml` | the settings |
//! | `before` | the same overlay before a change, where it is a change that is checked |
//! | `refs` | the branches and tags of the repository, a line each |

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::support;
use overlay::checks::model::application::{Application, Repository};
use overlay::checks::{self, ALL, Finding, Overlay, compare};
use overlay::config::Settings;
use overlay::discover::{DiskFiles, find_manifests};
use overlay::kustomize::{self, BuildErrorKind, Entry, Files as _, Rendered, SourceTree};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    overlay: String,
    findings: Vec<ExpectedFinding>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedFinding {
    severity: String,
    resource: String,
    says: Vec<String>,
    file: String,
    line: u32,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/checks")
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// An overlay of a folder that is its own repository.
pub(crate) struct Folder {
    pub(crate) overlay: String,
    pub(crate) tree: SourceTree,
    pub(crate) rendered: Rendered,
    pub(crate) settings: checks::Settings,
    pub(crate) repository: Repository,
}

impl Folder {
    pub(crate) fn load(folder: &Path, overlay: &str) -> Self {
        let files = DiskFiles::new(folder).unwrap();
        let repository = repository(folder, &files);
        Self::load_in(folder, overlay, repository)
    }

    pub(crate) fn load_in(folder: &Path, overlay: &str, repository: Repository) -> Self {
        let files = DiskFiles::new(folder).unwrap();
        let overlay = if overlay == "." { "" } else { overlay };
        let tree = SourceTree::load(&files, overlay).unwrap();
        let rendered = match kustomize::build(&tree, overlay) {
            Ok(rendered) => rendered,
            // The files are checked without the render, as the program does.
            Err(error) if matches!(error.kind, BuildErrorKind::Unsupported { .. }) => {
                Rendered::default()
            }
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        let settings = Settings::parse(&text_of(&folder.join(".overlay.yaml"))).unwrap().checks;
        Self { overlay: overlay.to_owned(), tree, rendered, settings, repository }
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        self.findings_since(None)
    }

    /// What is found of it where it was `earlier` before.
    fn findings_since(&self, earlier: Option<&Self>) -> Vec<Finding> {
        let earlier = earlier.map(|folder| &folder.rendered);
        let view = Overlay { directory: &self.overlay, rendered: &self.rendered, tree: &self.tree };
        let (settings, repository) = (&self.settings, &self.repository);
        checks::run_since(earlier, view, &[view], settings, repository).findings
    }
}

fn repository(folder: &Path, files: &DiskFiles) -> Repository {
    let manifests = find_manifests(folder, "kind: Application");
    let applications: Vec<Application> = manifests
        .iter()
        .flat_map(|(file, text)| Application::find_in(file, text).unwrap())
        .collect();
    let refs = fs::read_to_string(folder.join("refs")).ok();
    let directories = applications
        .iter()
        .flat_map(Application::sources)
        .map(|source| source.path.to_owned())
        .filter(|path| matches!(files.entry(path), Ok(Some(Entry::Directory { .. }))))
        .collect();
    Repository {
        refs: refs.map(|text| text.lines().map(str::to_owned).collect()),
        urls: Vec::new(),
        applications,
        directories,
    }
}

/// What is wrong with the findings of the check `id` in `folder`.
fn faults_of(id: &str, folder: &Path) -> Vec<String> {
    let expected: Expected = serde_json::from_str(&text_of(&folder.join("expected.json"))).unwrap();
    let before = folder.join("before");
    let before = before.is_dir().then(|| Folder::load(&before, &expected.overlay));
    let found = Folder::load(folder, &expected.overlay).findings_since(before.as_ref());
    let found: Vec<&Finding> = found.iter().filter(|f| f.id.as_str() == id).collect();
    let mut faults = Vec::new();
    if found.len() != expected.findings.len() {
        faults.push(format!("{} findings, {} expected", found.len(), expected.findings.len()));
    }
    for (finding, expected) in found.iter().zip(&expected.findings) {
        let got = (finding.severity.as_str(), finding.resource.to_string());
        if got != (&*expected.severity, expected.resource.clone()) {
            faults.push(format!("{got:?} is not {} {}", expected.severity, expected.resource));
        }
        let place = (&*finding.location.file, finding.location.line);
        if place != (&*expected.file, expected.line) {
            faults.push(format!("at {place:?}, not {}:{}", expected.file, expected.line));
        }
        for part in expected.says.iter().filter(|part| !finding.message.contains(*part)) {
            faults.push(format!("does not say `{part}`: {}", finding.message));
        }
    }
    faults
}

#[test]
fn every_check_finds_what_it_should_and_nothing_else() {
    let mut faults = Vec::new();
    for check in ALL {
        for kind in ["pass", "fail"] {
            let folder = fixtures().join(check.id.as_str()).join(kind);
            let found = faults_of(check.id.as_str(), &folder);
            faults.extend(found.into_iter().map(|fault| format!("{}/{kind}: {fault}", check.id)));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Every overlay of the corpus: no panic, and every finding names a line that is there.
#[test]
fn findings_of_real_overlays_have_a_place() {
    let Some(shared) = support::shared() else { return };
    let corpus = shared.join("corpus");
    let overlays = text_of(&corpus.join("expected.tsv"));
    let mut count = 0;
    for overlay in overlays.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        for finding in Folder::load_in(&corpus, overlay, Repository::default()).findings() {
            count += 1;
            let place = &finding.location;
            let lines = text_of(&corpus.join(&place.file)).lines().count();
            let is_there = 0 < place.line && place.line as usize <= lines;
            assert!(is_there, "{overlay}: {}:{} of {finding:?}", place.file, place.line);
        }
    }
    assert!(count > 100, "{count} findings");
}

#[test]
fn checks_fixtures_pages_and_explanations_are_one_list() {
    let ids: BTreeSet<String> = ALL.iter().map(|check| check.id.to_string()).collect();
    assert_eq!(ids.len(), ALL.len(), "an id stands twice");
    let folders: BTreeSet<String> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, ids, "fixtures/checks");
    let page = text_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checks.md"));
    let headings: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
        .map(str::to_owned)
        .collect();
    assert_eq!(headings, ids, "headings of docs/checks.md");
    for id in &ids {
        let text = checks::explanation(id).unwrap_or_default();
        for part in ["**Why.**", "**Mend.**", "**Source.**"] {
            assert!(text.contains(part), "{id}: its section has no {part}");
        }
        assert!(checks::summary(id).ends_with('.'), "{id}: no first sentence");
    }
}

#[test]
fn the_severities_on_the_page_are_those_of_the_checks() {
    for check in ALL {
        let text = checks::explanation(check.id.as_str()).unwrap_or_default();
        let word = format!("*{}*", check.severity.as_str());
        assert!(text.starts_with(&word), "{}: its section does not begin with {word}", check.id);
    }
}

#[test]
fn a_line_that_moved_is_no_news() {
    let folder = Folder::load(&fixtures().join("pdb-blocks-drain/fail"), ".");
    let before = folder.findings();
    let mut after = before.clone();
    after.iter_mut().for_each(|finding| finding.location.line += 7);
    assert_eq!(compare(&before, &after), checks::Delta::default());
    after.retain(|finding| finding.id.as_str() != "pdb-blocks-drain");
    let delta = compare(&before, &after);
    assert_eq!((delta.added.len(), delta.removed.len()), (0, 1));
}

#[test]
fn an_annotation_with_a_reason_excepts_its_object() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("kustomization.yaml", "resources: [pdb.yaml]\n");
    for (reason, excepted) in [("one node only", true), ("  ", false)] {
        write(
            "pdb.yaml",
            &format!(
                "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata:\n  name: web\n  annotations:\n    checks.overlay/pdb-selects-nothing: \"{reason}\"\nspec:\n  minAvailable: 1\n  selector: {{matchLabels: {{app: web}}}}\n"
            ),
        );
        let found = Folder::load(dir.path(), ".").findings();
        assert_eq!(found.is_empty(), excepted, "{reason:?}: {found:?}");
    }
}

#[test]
fn settings_change_severities_and_except_by_pattern() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("kustomization.yaml", "resources: [pdb.yaml]\n");
    write(
        "pdb.yaml",
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec:\n  minAvailable: 1\n  selector: {matchLabels: {app: web}}\n",
    );
    for (settings, expected) in [
        ("", Some("warning")),
        ("checks: {severity: {pdb-selects-nothing: error}}", Some("error")),
        ("checks: {severity: {pdb-selects-nothing: off}}", None),
        (
            "checks: {exceptions: [{check: pdb-selects-nothing, resource: 'PodDisruptionBudget/w*', reason: r}]}",
            None,
        ),
        (
            "checks: {exceptions: [{check: pdb-selects-nothing, resource: api, reason: r}]}",
            Some("warning"),
        ),
        (
            "checks: {exceptions: [{check: pdb-selects-nothing, overlay: other, reason: r}]}",
            Some("warning"),
        ),
    ] {
        write(".overlay.yaml", settings);
        let found = Folder::load(dir.path(), ".").findings();
        let severity = found.first().map(|finding| finding.severity.as_str());
        assert_eq!(severity, expected, "{settings}");
    }
}

#[test]
fn a_component_that_is_used_twice_is_not_dead_where_it_matched_once() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: ConfigMap, name: a}\n  patch: |-\n    - {op: add, path: /data/k, value: v}\nimages:\n- {name: none, newTag: x}\n";
    write("component/kustomization.yaml", component);
    for name in ["a", "b"] {
        write(
            &format!("{name}/kustomization.yaml"),
            "resources: [map.yaml]\ncomponents: [../component]\n",
        );
        let map =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{}}\n");
        write(&format!("{name}/map.yaml"), &map);
    }
    write("overlay/kustomization.yaml", "resources: [../a, ../b]\n");
    let ids = |overlay: &str| -> Vec<String> {
        let found = Folder::load(dir.path(), overlay).findings();
        found.iter().map(|finding| finding.id.to_string()).collect()
    };
    assert_eq!(ids("overlay"), ["images-entry-unused"]);
    assert_eq!(ids("b"), ["patch-unmatched", "images-entry-unused"]);
}

/// Whatever stands where a field should be: no panic, and every finding has a place.
#[test]
fn odd_shapes_do_no_harm() {
    let bodies = [
        "spec: [a, {b: c}]",
        "spec: null",
        "spec: 5",
        "spec: {replicas: 9223372036854775807, strategy: {rollingUpdate: {maxSurge: 9223372036854775807, maxUnavailable: 99999999999999999999%}}, template: {spec: {containers: [null, 5, {name: [x], image: {a: b}}]}}}",
        "spec: {replicas: -9, template: {metadata: {labels: [a]}, spec: {terminationGracePeriodSeconds: -9223372036854775808, containers: [{name: a, image: '@', args: ['--drain-timeout', 9223372036s, --x-image=], lifecycle: {preStop: {sleep: {seconds: 9223372036854775807}}}}], volumes: [{}, 3, {persistentVolumeClaim: {claimName: [x]}}]}}}",
        "spec: {minAvailable: 9223372036854775807, selector: {matchExpressions: [5, {key: a}, {key: a, operator: In}]}}",
        "spec: {maxUnavailable: -1, selector: {matchLabels: {}}}",
        "spec: {instances: 9223372036854775807, maxSyncReplicas: 9223372036854775807, minSyncReplicas: -9223372036854775808, postgresql: {synchronous: {number: 9223372036854775807}}}",
        "spec: {scaleTargetRef: {kind: Deployment, name: x}, minReplicas: 9223372036854775807}",
        "spec: {selector: 3, accessModes: {a: b}}",
        "metadata: 3",
    ];
    let kinds = [
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "CronJob"),
        ("policy/v1", "PodDisruptionBudget"),
        ("postgresql.cnpg.io/v1", "Cluster"),
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("keda.sh/v1alpha1", "ScaledObject"),
        ("v1", "Service"),
        ("v1", "PersistentVolumeClaim"),
        ("v1", "ConfigMap"),
        ("argoproj.io/v1alpha1", "Application"),
    ];
    let settings = "checks: {nodes: 3, nodeDrain: 5m, nodeSize: {cpu: 1}, budgets: [{name: b, limit: 1, perPod: 1e30}]}";
    let settings = Settings::parse(settings).unwrap().checks;
    for body in bodies {
        let text: String = kinds
            .iter()
            .map(|(version, kind)| {
                let head = format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\n");
                format!("{head}{body}\n---\n")
            })
            .collect();
        let Ok(rendered) = Rendered::parse_with_lines(&text) else { continue };
        let tree = SourceTree::default();
        let view = Overlay { directory: "", rendered: &rendered, tree: &tree };
        for finding in checks::run(view, &[view], &settings, &Repository::default()).findings {
            assert!(finding.location.line > 0 && !finding.location.file.is_empty(), "{finding:?}");
        }
    }
}

/// Every command that a finding of a fixture or the page of the checks offers is one that the program takes.
#[test]
fn every_fix_is_a_command_line_of_the_program() {
    let mut commands = BTreeSet::new();
    for check in ALL {
        let fail = fixtures().join(check.id.as_str()).join("fail");
        let expected: Expected =
            serde_json::from_str(&text_of(&fail.join("expected.json"))).unwrap();
        let folder = Folder::load(&fail, &expected.overlay);
        commands.extend(folder.findings().into_iter().filter_map(|finding| finding.fix));
    }
    let page = text_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checks.md"));
    let offered = page.split('`').skip(1).step_by(2);
    let offered = offered.filter(|code| code.starts_with("overlay ") && code.contains(" OVERLAY "));
    commands.extend(offered.map(|code| code.replace("=N", "=2")));
    let repo = support::repo::TestRepo::with_files(&[]);
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let ran = repo.overlay(&[&words[..], &["-o", "json"]].concat());
        assert_ne!(ran.code(), "usage", "{command}: {}", ran.stdout);
    }
}
