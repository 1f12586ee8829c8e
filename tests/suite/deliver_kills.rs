//! Deliveries that are killed: at every call of the system by which anything changes, the repository and the files stay
//! whole, and the same command again finishes the work.
//!
//! `OVERLAY_KILL_ROUNDS` says how many runs are killed at each call (3), `OVERLAY_KILL_PROGRAM` which binary is meant.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::process::Command;

use crate::deliver::{PROD, digest, lab, overlay, pin};
use crate::support::git_http::{GitHttp, Manner};
use crate::support::git_lab::Lab;
use crate::support::{runs, skip};

/// The calls of the system by which anything on disk or at the remote changes.
const KILL_CALLS: [&str; 9] =
    ["write", "rename", "openat", "unlink", "link", "fsync", "mkdir", "sendto", "execve"];

/// What one call was: the most of one process, the runs, and how many of those were killed.
type Hits = BTreeMap<&'static str, (usize, usize, usize)>;

/// A command whose deliveries are killed.
struct Victim {
    lab: Lab,
    how: &'static [&'static str],
    rounds: usize,
}

impl Victim {
    fn new(how: &'static [&'static str], rounds: usize) -> Self {
        let lab = lab(1);
        lab.git("clone", &["config", "core.fsync", "all"]);
        let asked = std::env::var("OVERLAY_KILL_ROUNDS").ok().and_then(|n| n.parse().ok());
        Self { lab, how, rounds: asked.unwrap_or(rounds) }
    }

    /// Ends the program, or a git of it, at calls spread over the whole run.
    fn kill_everywhere(&self) -> Hits {
        let mut hits = Hits::new();
        for (number, call) in KILL_CALLS.into_iter().enumerate() {
            let most = self.calls_of_one_run(call, number);
            let mut killed = 0;
            for round in 0..self.rounds {
                // Each process of a run counts for itself.
                let at = 1 + (round * most / self.rounds + number) % most.max(1);
                killed += usize::from(self.kill_and_finish(call, at, round));
            }
            hits.insert(call, (most, self.rounds, killed));
        }
        self.lab.require_sound("clone");
        self.lab.require_sound("app.git");
        assert!(
            hits.values().any(|(_, _, killed)| *killed > 0),
            "nothing was ever killed: {hits:?}"
        );
        hits
    }

    fn args(&self, digit: char) -> Vec<String> {
        let wanted = pin("shop/app0", digit);
        let edit = ["pin", "overlays/prod", &wanted];
        edit.iter().chain(self.how).map(|word| (*word).to_owned()).collect()
    }

    /// How often the busiest process of a whole run makes the call.
    fn calls_of_one_run(&self, call: &str, number: usize) -> usize {
        let digit = char::from_digit(u32::try_from(number % 2).unwrap() + 8, 10).unwrap();
        self.kill_at(digit, call, 60_000);
        let trace = fs::read_to_string(self.lab.path("trace")).unwrap();
        let mut counts = BTreeMap::new();
        for line in trace.lines().filter(|line| line.contains(&format!("{call}("))) {
            *counts.entry(line.split_whitespace().next().unwrap_or_default()).or_insert(0usize) +=
                1;
        }
        counts.values().copied().max().unwrap_or(0)
    }

    /// One run that is killed and the run after it; whether something was killed.
    fn kill_and_finish(&self, call: &str, at: usize, round: usize) -> bool {
        let digit = char::from_digit(u32::try_from(round % 6).unwrap() + 2, 10).unwrap();
        let killed = self.kill_at(digit, call, at);
        self.require_whole(call, at);
        let args = self.args(digit);
        let next =
            overlay(&self.lab, "clone", &args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(next.status, 0, "after a kill at {call} {at}: {}", next.json);
        let lab = &self.lab;
        assert_eq!(lab.git("clone", &["status", "--porcelain"]), "", "after a kill at {call} {at}");
        assert!(!lab.path("clone/.git/overlay-delivery.json").exists());
        if self.how.contains(&"--commit") {
            let content = lab.read(&format!("clone/{PROD}"));
            assert!(String::from_utf8_lossy(&content).contains(&digest(digit)), "{call} {at}");
        } else {
            let pushed = lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
            assert!(pushed.contains(&digest(digit)), "{call} {at}: {pushed}");
            assert_eq!(lab.git("app.git", &["rev-list", "--count", "--merges", "main"]), "0");
        }
        killed
    }

    /// Whether something was killed.
    fn kill_at(&self, digit: char, call: &str, at: usize) -> bool {
        let program = std::env::var_os("OVERLAY_KILL_PROGRAM");
        let program = program.unwrap_or_else(|| OsString::from(env!("CARGO_BIN_EXE_overlay")));
        let trace = self.lab.path("trace");
        let inject = format!("inject={call}:signal=KILL:when={at}");
        let names = format!("trace={call}");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", &names, "-e", &inject, "-o"]).arg(&trace).arg(program);
        command.args(self.args(digit)).current_dir(self.lab.path("clone"));
        command.env_clear().envs(self.lab.environment()).output().unwrap();
        fs::read_to_string(&trace).unwrap_or_default().contains("killed by SIGKILL")
    }

    /// The overlay is old or new and never half, here and at the remote, and both repositories are sound.
    fn require_whole(&self, call: &str, at: usize) {
        let here = fs::read_to_string(self.lab.path("clone").join(PROD)).unwrap();
        let there = self.lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
        for content in [here, there] {
            let lines: Vec<&str> = content.lines().collect();
            assert_eq!(lines.len(), 4, "{call} {at}: {content}");
            let is_whole = lines[3].starts_with("  digest: sha256:") && lines[3].len() == 81;
            assert!(is_whole, "{call} {at}: {content}");
        }
        for name in ["clone", "app.git"] {
            let args = ["fsck", "--no-dangling", "--no-progress"];
            let output = self.lab.try_git(&self.lab.path(name), &args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name} {call} {at}: {said}");
        }
    }
}

fn show(what: &str, hits: &Hits) {
    #[allow(clippy::print_stderr, reason = "a number to be read")]
    {
        eprintln!(
            "kills of {what}, by call: (calls of one process, runs, of which killed): {hits:?}"
        );
    }
}

#[test]
fn a_commit_killed_anywhere_is_finished_by_the_next_run() {
    if !runs("strace", &["-V"]) {
        return skip("no strace");
    }
    show("a commit", &Victim::new(&["--commit"], 3).kill_everywhere());
}

/// The server is no process of the run, and is not killed: what it took, it has.
#[test]
fn a_push_killed_anywhere_is_finished_by_the_next_run() {
    if !runs("strace", &["-V"]) {
        return skip("no strace");
    }
    let victim = Victim::new(&["--push"], 1);
    let server = GitHttp::serve(&victim.lab.path(""), Manner::default());
    victim.lab.git("clone", &["remote", "set-url", "origin", &server.url("app.git")]);
    show("a push", &victim.kill_everywhere());
}
