//! The commands that pages tell in `sh` blocks, each line in a shell, and those within sentences against the help.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DUMP, FIXTURE, pages, walk};
use crate::pull_request::{REPOSITORY, Stage};
use crate::support::git_lab::Lab;
use crate::support::github::TOKEN;
use crate::support::scripted_http::{Answer, ScriptedHttp};

/// Lines that no test runs, and why.
const NOT_RUN: [(&str, &str); 10] = [
    ("cargo run --release ", "run by `the_first_command_pins_the_fixture_and_writes_nothing`"),
    ("cargo test", "this is it"),
    ("cargo install ", "builds the program again"),
    ("gh attestation verify ", "asks GitHub for a release"),
    ("podman build ", "needs a registry"),
    ("podman run ", "needs a registry"),
    ("kubectl krew install ", "needs a release"),
    (
        "overlay probe https://api.example.com/healthz --for 1h",
        "goes on beside the two lines after it; `probe::signals` ends one",
    ),
    ("overlay ship pin overlays/prod api:v1.4", "needs an Argo CD"),
    ("kill -INT $probe", "ends the probe two lines before it"),
];

/// Pages whose commands run elsewhere: `revert`, `ship::page`, `pull_request::walk`.
const ELSEWHERE: [&str; 3] = ["docs/hold.md", "docs/ship.md", "docs/walk.md"];

/// The exit status of a line that is not to end with 0.
fn status_of(line: &str) -> i32 {
    match line {
        // The fixture has findings.
        _ if line.starts_with("overlay check 'overlays/*' -o html") => 7,
        // The command that is probed beside finds no Argo CD.
        _ if line.contains(" -- overlay wait ") => 5,
        _ => 0,
    }
}

/// The lines of the `sh` blocks of a page.
fn lines(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.flat_map(str::lines).filter(|line| !line.is_empty()).collect()
}

/// A clone of the fixture with a forge behind it, an endpoint, and a `kubectl` that gives the dump.
struct Desk {
    stage: Stage,
    endpoint: ScriptedHttp,
    /// Where the next line runs.
    directory: PathBuf,
}

impl Desk {
    fn new(page: &str) -> Self {
        let lab = Lab::new();
        lab.init("plain", &[]);
        for file in walk(Path::new(FIXTURE)) {
            let name = file.strip_prefix(FIXTURE).unwrap().display().to_string();
            lab.write(&format!("plain/{name}"), fs::read_to_string(&file).unwrap());
        }
        lab.commit_all("plain", "start");
        let stage = Stage::of(lab);
        let directory = match page {
            // The README begins in the repository of the program.
            "README.md" => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
            _ => stage.lab.path("clone"),
        };
        let endpoint = ScriptedHttp::start(|_| Answer::new(200));
        let desk = Self { stage, endpoint, directory };
        let lab = &desk.stage.lab;
        fs::create_dir(lab.path("bin")).unwrap();
        lab.link("bin/overlay", env!("CARGO_BIN_EXE_overlay"));
        lab.write("dump.json", dump().to_string());
        lab.write("bin/kubectl", KUBECTL);
        let done = Command::new("chmod").args(["755"]).arg(lab.path("bin/kubectl")).status();
        assert!(done.unwrap().success());
        fs::copy(lab.path("dump.json"), lab.path("clone/now.json")).unwrap();
        desk
    }

    /// What a line prints and its status. Hosts, folders and lengths of time in it are put right for a test.
    fn run(&mut self, line: &str) -> (String, i32) {
        let lab = &self.stage.lab;
        let here = self.endpoint.url("/");
        let lattice = lab.path("lattice").display().to_string();
        let line = [
            ("https://api.example.com/", here.as_str()),
            ("https://a.example.com/", here.as_str()),
            ("https://b.example.com/", here.as_str()),
            ("--for 5m", "--for 1s"),
            ("/tmp/lattice", lattice.as_str()),
        ]
        .iter()
        .fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
        // What needs a forge runs where there is one.
        if line.contains(" --pr") || line.contains(" --push") {
            self.directory = lab.path("clone");
        }
        let path = std::env::var("PATH").unwrap();
        let mut bash = Command::new("bash");
        let script = format!("exec 2>&1\n{line}\npwd >\"$DESK/directory\"");
        bash.args(["-euc", &script]).current_dir(&self.directory).env_clear();
        bash.envs(lab.environment()).env("DESK", lab.path(""));
        bash.env("PATH", format!("{}:{path}", lab.path("bin").display()));
        bash.env("OVERLAY_CACHE_DIR", lab.path("cache")).env("DUMP", lab.path("dump.json"));
        bash.env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", self.stage.github.api());
        bash.env("GITHUB_REPOSITORY", REPOSITORY).env("HOME", lab.path("home"));
        let output = bash.output().unwrap();
        if output.status.success() {
            let directory = String::from_utf8(lab.read("directory")).unwrap();
            self.directory = directory.trim_end().into();
        }
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (printed, output.status.code().unwrap_or(-1))
    }
}

/// `kubectl get KINDS -A -o json`: the objects of the dump whose kinds are asked for, by the names that kubectl has for them.
const KUBECTL: &str = r#"#!/usr/bin/env bash
set -euo pipefail
if [ "$1 $2" = "rollout status" ]; then exit 0; fi
[ "$1 ${*:3}" = "get -A -o json" ]
jq --arg asked "$2" '
  {nodes: "Node", pods: "Pod", pdb: "PodDisruptionBudget", pvc: "PersistentVolumeClaim", pv: "PersistentVolume",
   volumeattachments: "VolumeAttachment", deploy: "Deployment", deployments: "Deployment", sts: "StatefulSet",
   statefulsets: "StatefulSet", daemonsets: "DaemonSet", replicasets: "ReplicaSet", events: "Event",
   controllerrevisions: "ControllerRevision", hpa: "HorizontalPodAutoscaler", "clusters.postgresql.cnpg.io": "Cluster",
   csr: "CertificateSigningRequest", ns: "Namespace"} as $names
  | [$asked | split(",")[] | $names[.] // error("no kind \(.)")] as $kinds
  | .items |= map(select(.kind as $kind | $kinds | index($kind)))' "$DUMP"
"#;

/// The dump that the pages speak of.
fn dump() -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(DUMP).unwrap()).unwrap()
}

#[test]
fn every_line_of_the_pages_runs() {
    let mut unused: Vec<&str> = NOT_RUN.iter().map(|(start, _)| *start).collect();
    let mut ran = 0;
    for page in pages() {
        let name = page.display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        if ELSEWHERE.contains(&name.as_str()) || lines(&text).is_empty() {
            continue;
        }
        let mut desk = Desk::new(&name);
        if name == "docs/install.md" {
            assert_eq!(desk.run(ARCHIVE).1, 0);
        }
        for line in lines(&text) {
            if let Some((start, _)) = NOT_RUN.iter().find(|(start, _)| line.starts_with(start)) {
                unused.retain(|known| known != start);
                continue;
            }
            let (printed, status) = desk.run(line);
            assert_eq!(status, status_of(line), "{name}: {line}\n{printed}");
            ran += 1;
        }
    }
    assert_eq!(unused, [""; 0], "no page has these any more");
    assert!(ran >= 18, "only {ran} lines");
}

/// An archive as a release has it.
const ARCHIVE: &str = "archive=overlay-v0.1.0-x86_64-linux.tar.gz
echo program >overlay; tar -czf $archive overlay; rm overlay; sha256sum $archive >$archive.sha256";

/// Commands within sentences: the words name a command, and its help has each flag.
#[test]
fn commands_within_sentences_are_known_to_the_help() {
    let help = helps();
    let (mut unknown, mut count) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let prose: String = text.split("```").step_by(2).collect();
        for span in prose.split('`').skip(1).step_by(2) {
            let span = span.split_whitespace().collect::<Vec<_>>().join(" ");
            let Some(words) = span.strip_prefix("overlay ") else { continue };
            count += 1;
            if let Some(fault) = fault(words, &help) {
                unknown.push(format!("{}: `{span}`: {fault}", page.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(count > 40, "only {count} found");
}

/// The help of each command, by its words.
fn helps() -> BTreeMap<String, String> {
    let reference = fs::read_to_string("docs/cli.md").unwrap();
    let parts = reference.split("\n$ overlay ").skip(1);
    let helps = parts.filter_map(|part| {
        let (command, help) = part.split_once("--help\n")?;
        Some((command.trim().to_owned(), help.to_owned()))
    });
    helps.collect()
}

/// What is wrong with the words after `overlay`.
fn fault(words: &str, help: &BTreeMap<String, String>) -> Option<String> {
    let plain: Vec<&str> = words.split(' ').take_while(|word| !word.starts_with('-')).collect();
    let known = (0..=plain.len()).rev().map(|count| plain[..count].join(" "));
    let Some(command) = known.into_iter().find(|command| help.contains_key(command)) else {
        return Some("no such command".to_owned());
    };
    let is_placeholder = |word: &&str| word.starts_with(['…', '<']);
    if command.is_empty() && plain.first().is_some_and(|word| !is_placeholder(word)) {
        return Some("no such command".to_owned());
    }
    let flags = words.split(' ').filter(|word| word.starts_with("--") && word.len() > 2);
    let names = flags.map(|flag| flag.split(['=', '[']).next().unwrap_or(flag));
    let lacks = |flag: &&str| {
        let text = &help[&command];
        !text.contains(&format!("{flag} "))
            && !text.contains(&format!("{flag}\n"))
            && !text.contains(&format!("{flag}["))
    };
    names.into_iter().find(lacks).map(|flag| format!("`overlay {command} --help` has no {flag}"))
}

/// The judge of sentences is no use if it never finds anything.
#[test]
fn commands_that_are_not_there_are_found() {
    let help = helps();
    for (words, is_right) in [
        ("pin overlays/prod --check", true),
        ("set replicas OVERLAY NAME=2 --pr", true),
        ("--version", true),
        ("pni overlays/prod", false),
        ("pin overlays/prod --chekc", false),
        ("set wings OVERLAY", true),
    ] {
        assert_eq!(fault(words, &help).is_none(), is_right, "{words}: {:?}", fault(words, &help));
    }
}
