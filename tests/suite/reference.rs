//! Completions and the manual: what a real shell and `man` make of them.

use std::path::Path;
use std::process::Command;

use crate::support::repo::TestRepo;
use crate::support::{runs, skip};

const FIXTURE: &str = "fixtures/overlays/lattice";

/// What bash offers after `words`, the last of which is being typed.
fn offered(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let script = repo.overlay(&["completions", "bash"]).stdout;
    let program = Path::new(env!("CARGO_BIN_EXE_overlay"));
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let typed = words.last().unwrap_or(&"");
    let ask = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9\n\
         _clap_complete_overlay overlay '{typed}' ''\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &ask]).current_dir(repo.path()).env_clear().env("PATH", path);
    let output = bash.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let offered = String::from_utf8(output.stdout).unwrap();
    offered.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}

#[test]
fn bash_offers_overlays_and_the_workloads_of_the_one_that_is_typed() {
    if !runs("bash", &["--version"]) {
        return skip("no bash");
    }
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    repo.write("overlays/ev\u{1b}il/kustomization.yaml", "resources: []\n");
    assert_eq!(offered(&repo, &["overlay", "pi"]), ["pin"]);
    let overlays = offered(&repo, &["overlay", "set", "replicas", "overlays/"]);
    assert_eq!(overlays, ["overlays/prod", "overlays/staging"]);
    let set = offered(&repo, &["overlay", "set", "replicas", "overlays/prod", "ga"]);
    assert_eq!(set, ["gateway="]);
    let named = offered(&repo, &["overlay", "restart", "overlays/prod", "ga"]);
    assert_eq!(named, ["gateway"]);
    let none = offered(&repo, &["overlay", "set", "replicas", "overlays/nowhere", "ga"]);
    assert!(none.is_empty(), "{none:?}");
}

#[test]
fn every_shell_has_its_script() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = repo.overlay(&["completions", shell]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("OVERLAY_COMPLETE"), "{shell}");
    }
    assert_eq!(repo.overlay(&["completions", "cmd"]).status, 2);
}

#[test]
fn every_command_has_its_page() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let page = repo.overlay(&["man"]);
    assert!(page.stdout.contains(".TH overlay 1"), "{page:?}");
    for words in [&["pin"][..], &["set", "replicas"]] {
        let page = repo.overlay(&[&["man"], words].concat());
        assert!(page.stdout.contains(&format!(".TH overlay-{} 1", words.join("-"))), "{page:?}");
    }
    let none = repo.overlay(&["man", "pni", "-o", "json"]);
    assert_eq!((none.status, none.code().as_str()), (2, "usage"));
    assert!(none.stdout.contains("did you mean pin?"), "{none:?}");
}

#[test]
fn doctor_tells_what_is_there_and_shows_no_secret() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    let secret = "ghp_planted_0123456789";
    let variables = std::collections::BTreeMap::from([
        ("GITHUB_TOKEN".to_owned(), secret.to_owned()),
        ("SSH_AUTH_SOCK".to_owned(), String::new()),
    ]);
    let ran = repo.overlay_with(&["doctor", "-o", "json"], "", &variables);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    let examined = ran.json()["result"]["examined"].as_array().unwrap().clone();
    let find = |name: &str| examined.iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!((&find("git")["state"], &find("git")["kind"]), (&"ok".into(), &"program".into()));
    assert_eq!(
        (&find("GITHUB_TOKEN")["state"], &find("GITHUB_TOKEN")["detail"]),
        (&"ok".into(), &"set".into())
    );
    assert_eq!(find("SSH_AUTH_SOCK")["state"], "absent");
}

#[test]
fn doctor_ends_with_4_where_a_remote_does_not_answer() {
    let repo = TestRepo::from_folder(Path::new(FIXTURE));
    repo.git(&["remote", "add", "origin", "file:///nowhere/at/all.git"]);
    let ran = repo.overlay(&["doctor", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (4, "doctor-problem"), "{ran:?}");
    assert!(ran.stdout.contains("remote origin"), "{ran:?}");
    let offline = repo.overlay(&["doctor", "--offline"]);
    assert_eq!(offline.status, 0, "{offline:?}");
}
