//! Commands that are printed for people: what a real shell makes of them when they are pasted, whatever names are in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::checks::Folder;
use crate::support::repo::{TestRepo, tree_contents};

/// A folder that is commands, were a shell to read it.
const FOLDER: &str = "-a b$(touch PWN1)`touch PWN2`;touch PWN3;'\"!&|<>*?~#";

/// The words that `overlay` is started with where `line` is pasted into `sh`; none where something else is done.
fn pasted(line: &str) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("overlay() {{ printf '%s\\0' \"$@\"; }}\n{line}")]);
    let output = shell.current_dir(folder.path()).output().unwrap();
    let is_clean = output.status.success() && output.stderr.is_empty();
    let is_clean = is_clean && fs::read_dir(folder.path()).unwrap().next().is_none();
    let text = String::from_utf8(output.stdout).unwrap();
    is_clean.then(|| text.split_terminator('\0').map(str::to_owned).collect())
}

/// The command of every check that has one names the overlay as one word.
#[test]
fn what_mends_a_finding_can_be_pasted() {
    let mut with_command: BTreeSet<String> = BTreeSet::new();
    for fixture in fs::read_dir("fixtures/checks").unwrap() {
        let fixture = fixture.unwrap().path().join("fail");
        let expected = fs::read_to_string(fixture.join("expected.json")).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
        let root = tempfile::tempdir().unwrap();
        for (file, bytes) in tree_contents(&fixture) {
            let to = root.path().join(FOLDER).join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(to, bytes).unwrap();
        }
        let overlay = Path::new(FOLDER).join(expected["overlay"].as_str().unwrap());
        let overlay = overlay.to_str().unwrap().trim_end_matches("/.");
        let Ok(found) = std::panic::catch_unwind(|| Folder::load(root.path(), overlay).findings())
        else {
            continue;
        };
        for finding in found {
            let Some(command) = finding.fix else { continue };
            let words = pasted(&command).unwrap_or_else(|| panic!("{command}"));
            assert!(words.contains(&format!("./{overlay}")), "{command}: {words:?}");
            with_command.insert(finding.id.to_string());
        }
    }
    assert!(with_command.len() >= 15, "{with_command:?}");
}

/// A name that no API server would take, in every form of the result that shows a command.
#[test]
fn a_name_that_is_a_command_is_quoted_in_every_form() {
    let set = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: 'db;touch PWN'}
spec:
  serviceName: db
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: registry.test/db:1.0}]}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}, ports: [{port: 1}]}
";
    let repo = TestRepo::with_files(&[
        ("overlay/kustomization.yaml", "resources: [set.yaml]\n"),
        ("overlay/set.yaml", set),
    ]);
    let command = "overlay set replicas overlay 'db;touch PWN=2'";
    assert_eq!(pasted(command).unwrap(), ["set", "replicas", "overlay", "db;touch PWN=2"]);
    for (form, shown) in [
        ("human", command.to_owned()),
        ("json", command.to_owned()),
        ("markdown", command.to_owned()),
        ("sarif", command.to_owned()),
        ("github", command.to_owned()),
        ("html", command.replace('\'', "&#x27;")),
    ] {
        let ran = repo.overlay(&["check", "overlay", "-o", form]);
        assert!(ran.stdout.contains(&shown), "{form}: {}", ran.stdout);
        assert!(!ran.stdout.contains("overlay db;touch"), "{form}: {}", ran.stdout);
    }
}

/// Commands name the overlay as seen from where the program was started, `-C` or not.
#[test]
fn commands_run_where_they_are_printed() {
    let cluster = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: pg}\nspec: {instances: 1}\n";
    let repo = TestRepo::with_files(&[
        ("overlays/db/kustomization.yaml", "resources: [pg.yaml]\n"),
        ("overlays/db/pg.yaml", cluster),
        ("docs/README.md", "x"),
    ]);
    let fix = |directory: &Path, args: &[&str]| {
        let ran = repo.overlay_in(directory, &[&["check", "-o", "json"], args].concat());
        let found = ran.json()["result"]["overlays"][0]["findings"].clone();
        let fixes = found.as_array().unwrap().iter().filter_map(|found| found["fix"].as_str());
        fixes.map(str::to_owned).find(|fix| fix.contains("set instances")).unwrap()
    };
    for (below, args, overlay) in [
        ("", &["overlays/db"][..], "overlays/db"),
        ("overlays/db", &["."], "."),
        ("docs", &["../overlays/db"], "../overlays/db"),
        ("docs", &["-C", "../overlays", "db"], "../overlays/db"),
    ] {
        let command = format!("overlay set instances {overlay} pg=2");
        assert_eq!(fix(Path::new(below), args), command, "{below} {args:?}");
    }
    let (root, outside) = (repo.path(), tempfile::tempdir().unwrap());
    let command = fix(outside.path(), &["-C", root.to_str().unwrap(), "overlays/db"]);
    assert_eq!(command, "overlay set instances [TEMP]/repo/overlays/db pg=2");
}

const HOSTILE_POD: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'registry.test/web:1.0', args: ['--$(touch PWN)-image=registry.test/helper:latest']}
      - {name: 'side;touch PWN', image: 'registry.test/side:1.0'}
";

/// Flags and names of containers that stand in advice are words as well.
#[test]
fn what_advice_names_can_be_pasted() {
    let repo = TestRepo::with_files(&[
        ("overlay/kustomization.yaml", "resources: [web.yaml]\n"),
        ("overlay/web.yaml", HOSTILE_POD),
    ]);
    let to = format!("registry.test/web=registry.test/web@sha256:{}", "1".repeat(64));
    let pin = ["pin", "overlay", &to, "--dry-run", "-o", "json"];
    let ran = repo.overlay(&pin);
    assert!(ran.stdout.contains("pin it with --image-arg '--$(touch PWN)-image'"), "{ran:?}");
    let ran = repo.overlay(&[
        "set",
        "resources",
        "overlay",
        "web",
        "--limits",
        "memory=1Gi",
        "-o",
        "json",
    ]);
    assert!(ran.stdout.contains("--container: web, 'side;touch PWN'"), "{ran:?}");
    let ran = repo.overlay(&["set", "replicas", "overlay", "db;touch PWN=2", "-o", "json"]);
    assert_ne!(ran.status, 0, "{ran:?}");
    repo.write("overlay/kustomization.yaml", "resources: [web.yaml, db.yaml]\n");
    let cluster = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: 'db;touch PWN'}\nspec: {instances: 1}\n";
    repo.write("overlay/db.yaml", cluster);
    let ran = repo.overlay(&["set", "replicas", "overlay", "db;touch PWN=2", "-o", "json"]);
    assert!(ran.stdout.contains("overlay set instances … 'db;touch PWN=2'"), "{ran:?}");
}
