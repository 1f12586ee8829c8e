//! The forms of the result of `overlay check`, and its exit status.

use serde_json::Value as Json;

use crate::support::repo::TestRepo;

const OVERLAY: [(&str, &str); 3] = [
    ("overlay/kustomization.yaml", "resources:\n- web.yaml\n- pdb.yaml\n"),
    (
        "overlay/web.yaml",
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: registry.test/web:1.0
",
    ),
    (
        "overlay/pdb.yaml",
        "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  minAvailable: 1
  selector:
    matchLabels: {app: web}
",
    ),
];

fn run(args: &[&str]) -> (i32, String, String) {
    let repo = TestRepo::with_files(&OVERLAY);
    let mut all = vec!["check", "overlay"];
    all.extend(args);
    let ran = repo.overlay(&all);
    (ran.status, ran.stdout, ran.stderr)
}

#[test]
fn people_read_what_where_and_how_to_mend() {
    let (status, stdout, stderr) = run(&[]);
    assert_eq!(status, 7);
    assert_eq!(
        stdout,
        "overlay
  error pdb-blocks-drain overlay/pdb.yaml:6
    PodDisruptionBudget/web allows 0 of 1 pod to be evicted (minAvailable: 1 wants 1 to stay): a drain of the node will hang
    mend: overlay set replicas overlay web=2
  warning image-unpinned overlay/web.yaml:14
    container web of Deployment/web runs registry.test/web:1.0, a tag and no digest: what it runs may change without a commit
    mend: overlay pin overlay registry.test/web=sha256:…
2 findings in 1 overlay: 1 error, 1 warning, 0 notes
"
    );
    assert!(stderr.contains("1 finding is an error or worse"), "{stderr}");
}

#[test]
fn json_has_every_finding_with_its_place() {
    let (_, stdout, _) = run(&["-o", "json"]);
    let json: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["ok"], &json["error"]["code"]), (&false.into(), &"findings".into()));
    let findings = json["result"]["overlays"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2);
    assert_eq!(
        findings[0],
        serde_json::json!({
            "id": "pdb-blocks-drain",
            "severity": "error",
            "message": "PodDisruptionBudget/web allows 0 of 1 pod to be evicted (minAvailable: 1 wants 1 to stay): a drain of the node will hang",
            "resource": {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "name": "web"},
            "field": "spec.minAvailable",
            "location": {"file": "overlay/pdb.yaml", "line": 6},
            "fix": "overlay set replicas overlay web=2",
        })
    );
}

#[test]
fn fail_on_decides_the_exit_status() {
    for (severity, status) in [("error", 7), ("warning", 7), ("note", 7), ("never", 0)] {
        assert_eq!(run(&["--fail-on", severity]).0, status, "{severity}");
    }
    let repo = TestRepo::with_files(&OVERLAY);
    repo.write(".overlay.yaml", "checks: {severity: {pdb-blocks-drain: off}}");
    assert_eq!(repo.overlay(&["check", "overlay"]).status, 0);
    assert_eq!(repo.overlay(&["check", "overlay", "--fail-on", "warning"]).status, 7);
}

#[test]
fn sarif_has_a_rule_for_every_check_and_a_result_for_every_finding() {
    let (status, stdout, _) = run(&["-o", "sarif"]);
    assert_eq!(status, 7);
    let json: Json = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["version"], "2.1.0");
    let run = &json["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), overlay::checks::ALL.len());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().starts_with("overlay/"));
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
    }
}

#[test]
fn github_annotations_escape_what_they_must() {
    let (_, stdout, _) = run(&["-o", "github"]);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("::error file=overlay/pdb.yaml,line=6,title=pdb-blocks-drain (overlay)::PodDisruptionBudget/web allows 0 of 1"),
        "{}", lines[0]
    );
    assert!(lines[0].ends_with("%0Amend: overlay set replicas overlay web=2"), "{}", lines[0]);
    assert!(lines[1].starts_with("::warning file=overlay/web.yaml,line=14,"), "{}", lines[1]);
}

#[test]
fn junit_counts_failures_and_closes_every_element() {
    let (_, stdout, _) = run(&["-o", "junit"]);
    assert!(
        stdout.contains("<testsuites name=\"overlay check\" tests=\"2\" failures=\"2\">"),
        "{stdout}"
    );
    for element in ["testsuites", "testsuite", "testcase", "failure"] {
        let opened = stdout.matches(&format!("<{element} ")).count();
        let closed = stdout.matches(&format!("</{element}>")).count();
        assert_eq!(opened, closed, "{element}: {stdout}");
    }
}

#[test]
fn markdown_is_a_table_an_overlay() {
    let (_, stdout, _) = run(&["-o", "markdown"]);
    assert!(
        stdout.starts_with("**2 findings in 1 overlay: 1 error, 1 warning, 0 notes**\n"),
        "{stdout}"
    );
    assert!(stdout.contains("| error | `pdb-blocks-drain` | `overlay/pdb.yaml:6` |"), "{stdout}");
}

#[test]
fn another_command_has_no_such_form() {
    let repo = TestRepo::with_files(&OVERLAY);
    assert_eq!(repo.overlay(&["list", "-o", "sarif"]).status, 2);
}

#[test]
fn an_overlay_that_does_not_build_does_not_hide_the_others() {
    let repo = TestRepo::with_files(&OVERLAY);
    repo.write("broken/kustomization.yaml", "resources:\n- gone.yaml\n");
    let ran = repo.overlay(&["check", "broken", "overlay", "-o", "json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let overlays = ran.json()["result"]["overlays"].clone();
    assert_eq!(overlays[0]["problem"]["code"], "build-broken");
    assert_eq!(overlays[1]["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn an_unknown_revision_is_a_missing_precondition() {
    let repo = TestRepo::with_files(&OVERLAY);
    let ran = repo.overlay(&["check", "overlay", "--new-since", "no-such-revision", "-o", "json"]);
    assert_eq!(ran.status, 4, "{ran:?}");
}

#[test]
fn explain_tells_of_checks() {
    let repo = TestRepo::with_files(&OVERLAY);
    let ran = repo.overlay(&["explain", "pdb-blocks-drain"]);
    assert_eq!(ran.status, 0);
    for part in ["minAvailable", "Why.", "Numbers.", "Mend.", "Source."] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let ran = repo.overlay(&["explain", "pdb-block-drain", "-o", "json"]);
    assert!(ran.json()["error"]["hints"][0].as_str().unwrap().contains("pdb-blocks-drain"));
}
