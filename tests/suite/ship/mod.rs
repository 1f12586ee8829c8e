//! `overlay ship` from end to end: real git over HTTP, a forge whose pull requests are those of real branches, and an Argo CD that
//! deploys what the base branch holds. What became of it is judged by git and by a kustomize that is not ours.

mod already;
mod argo;
mod endpoint;
mod failures;
mod kills;
mod overrides;
mod page;
mod preflight;
mod probing;
mod returning;
#[cfg(feature = "cluster")]
mod running;
mod waves;
mod way;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value as Json;

use crate::pull_request::{REPOSITORY, Ran, Stage, pin};
use crate::support::git_lab::Lab;
use crate::support::hub::How;
use crate::support::judge;
use argo::{LiveArgo, Mood};

/// The overlays that Argo CD deploys.
const OVERLAYS: [&str; 4] =
    ["overlays/dev", "overlays/stage-a", "overlays/stage-b", "overlays/prod"];

/// A repository, its forge, and what deploys it.
struct Harbor {
    stage: Stage,
    argo: LiveArgo,
}

impl Harbor {
    /// Every overlay runs `shop/web` with a digest of ones and two replicas of `web`.
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(more: impl FnOnce(&Lab)) -> Self {
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        let digest = crate::pull_request::digest('1');
        for overlay in OVERLAYS {
            lab.write(
                &format!("plain/{overlay}/kustomization.yaml"),
                format!("resources: [../../base]\nimages:\n- name: shop/web\n  digest: {digest}\nreplicas:\n- name: web\n  count: 2\n"),
            );
        }
        lab.write("plain/base/web.yaml", WEB);
        more(&lab);
        lab.commit_all("plain", "overlays");
        let stage = Stage::of(lab);
        let address = format!("http://127.0.0.1:{}/{REPOSITORY}.git", stage.github.port);
        let bare = stage.lab.path(&format!("hub/{REPOSITORY}.git"));
        let argo = LiveArgo::start(&bare, &address, &OVERLAYS, stage.github.wire());
        Self { stage, argo }
    }

    fn command_in(&self, dir: &str, args: &[&str]) -> Command {
        let mut command = self.stage.command_in(dir, &[&["ship"], args].concat());
        command.env("ARGOCD_SERVER", self.argo.url()).env("ARGOCD_AUTH_TOKEN", argo::TOKEN);
        command
    }

    /// `overlay ship ARGS`, merged by nobody but itself.
    fn ship(&self, args: &[&str]) -> Ran {
        self.ship_in("clone", args)
    }

    fn ship_in(&self, dir: &str, args: &[&str]) -> Ran {
        let ran = self.stage.finish(self.command_in(dir, args).output().unwrap());
        assert!(!ran.text.contains(argo::TOKEN), "{}", ran.text);
        assert_eq!(self.argo.writes(), [""; 0]);
        let schema =
            serde_json::from_str(include_str!("../../../docs/result.schema.json")).unwrap();
        let faults = crate::support::json_schema::faults(&schema, &ran.json);
        assert!(faults.is_empty(), "{faults:#?} {}", ran.text);
        ran
    }

    /// `overlay ship pin overlays/prod shop/web=…`.
    fn pin(&self, digit: char, more: &[&str]) -> Ran {
        let reference = pin("shop/web", digit);
        let timeout = if more.contains(&"--timeout") { &[][..] } else { &["--timeout", "60s"] };
        let args = ["pin", "overlays/prod", reference.as_str()];
        self.ship(&[&args, timeout, more].concat())
    }

    /// Runs `work` while a person merges every pull request that is open.
    fn with_person<T>(&self, how: How, work: impl FnOnce() -> T) -> T {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for number in self.stage.github.open_numbers() {
                        self.stage.github.hub(|hub| hub.merge(number, how)).unwrap();
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            });
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            is_over.store(true, Ordering::Relaxed);
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn tip(&self) -> String {
        self.stage.at("main").unwrap()
    }

    /// What a kustomize that is not ours renders of an overlay of the base branch; without one, the overlay's own text.
    fn rendered(&self, overlay: &str) -> String {
        let dir: PathBuf = self.stage.lab.path("judged");
        let _ = std::fs::remove_dir_all(&dir);
        self.stage.lab.git("", &["clone", "-q", &format!("hub/{REPOSITORY}.git"), "judged"]);
        match judge() {
            Some(judge) => judge.build(&dir.join(overlay)).unwrap(),
            None => std::fs::read_to_string(dir.join(overlay).join("kustomization.yaml")).unwrap(),
        }
    }

    /// A clone of the forge's repository on a machine that has seen nothing of it.
    fn fresh_clone(&self, name: &str) {
        self.stage.lab.git("", &["clone", "-q", &self.stage.github.remote(REPOSITORY), name]);
    }

    /// Nothing was pushed and nothing was asked of the forge.
    fn require_untouched(&self, tip: &str) {
        assert_eq!((self.branches(), self.tip().as_str()), (0, tip));
        assert_eq!(self.stage.github.writes(), [""; 0]);
    }

    fn set(&self, mood: Mood) {
        self.argo.set(mood);
    }

    /// The branches of the forge beside the base.
    fn branches(&self) -> usize {
        let all = self.stage.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]);
        all.lines().filter(|name| *name != "refs/heads/main").count()
    }
}

/// The steps of a wave with how they ended, `edit=holds`.
fn steps(ran: &Ran, wave: usize) -> Vec<String> {
    let steps = ran.json["result"]["waves"][wave]["steps"].as_array().unwrap();
    let text = |step: &Json, key: &str| step[key].as_str().unwrap().to_owned();
    steps.iter().map(|step| format!("{}={}", text(step, "step"), text(step, "status"))).collect()
}

/// How a wave ended.
fn status(ran: &Ran, wave: usize) -> &str {
    ran.json["result"]["waves"][wave]["status"].as_str().unwrap()
}

fn message(ran: &Ran) -> &str {
    ran.json["error"]["message"].as_str().unwrap_or_default()
}

/// Whatever is in the repository, no sync succeeds any more.
fn nothing_succeeds() -> Mood {
    Mood { fails_for: Some("shop/web".into()), ..Mood::default() }
}

/// Fails for what carries a digest of this digit.
fn fails_for(digit: char) -> Mood {
    Mood { fails_for: Some(digit.to_string().repeat(64)), ..Mood::default() }
}

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: shop/web}
";
