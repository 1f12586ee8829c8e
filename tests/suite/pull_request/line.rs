//! From a release to a change on the base branch and back: a real registry, real branches over http, and the forge.

use std::process::Stdio;
use std::time::Duration;

use crate::support::git_lab::Lab;
use crate::support::hub::How;
use crate::support::registry::{Guard, OCI_MANIFEST, Registry};
use crate::support::{Judge, judge};

use super::*;

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: IMAGE}]}
";

struct Line {
    stage: Stage,
    registry: Registry,
    judge: Judge,
}

impl Line {
    fn start() -> Option<Self> {
        let (registry, judge) = (Registry::start(Guard::None)?, judge()?);
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        let image = format!("{}/shop/web:1.0", registry.host());
        lab.write("plain/base/web.yaml", WEB.replace("IMAGE", &image));
        lab.commit_all("plain", "web");
        Some(Self { stage: Stage::of(lab), registry, judge })
    }

    /// A release under the tag that is in use; its digest as skopeo has it.
    fn release(&self, content: &str) -> Option<String> {
        self.registry.push_image("shop/web", Some("1.0"), OCI_MANIFEST, "amd64", content);
        self.registry.judged("shop/web:1.0")
    }

    /// What kustomize makes of the overlay at a revision of the forge's repository.
    fn built(&self, revision: &str) -> String {
        let folder = self.stage.lab.path("judged");
        let _ = std::fs::remove_dir_all(&folder);
        self.stage.lab.git("", &["clone", "-q", "hub/ops/deploy.git", "judged"]);
        self.stage.lab.git("judged", &["checkout", "-q", revision]);
        self.judge.build(&folder.join("overlays/prod")).unwrap()
    }

    fn pin(&self, more: &[&str]) -> Command {
        let args = [&["pin", "overlays/prod", "--resolve", "--pr", "--timeout", "60s"], more];
        self.stage.command(&args.concat())
    }

    fn ran(&self, mut command: Command) -> Ran {
        self.stage.finish(command.output().unwrap()).ok()
    }
}

#[test]
fn a_release_comes_to_the_base_branch_and_back() {
    let Some(line) = Line::start() else { return };
    let stage = &line.stage;
    let unpinned = line.built("main");
    // A release is proposed.
    let Some(one) = line.release("one") else { return };
    let first = line.ran(line.pin(&[]));
    assert_eq!((first.number(), first.action()), (Some(1), "opened"));
    let branch = first.branch();
    assert!(line.built(&first.branch()).contains(&format!(":1.0@{one}")));
    // The next one takes its place.
    let two = line.release("two").unwrap();
    let second = line.ran(line.pin(&[]));
    assert_eq!(
        (second.number(), second.action(), second.branch()),
        (Some(1), "updated", branch.clone())
    );
    assert!(line.built(&branch).contains(&format!(":1.0@{two}")));
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{branch}")]), "1");
    // A reviewer's commit survives the one after.
    let reviewed = stage.person(&branch, "base/web.yaml", "# reviewed");
    let three = line.release("three").unwrap();
    let third = line.ran(line.pin(&[]));
    assert_eq!((third.number(), third.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), reviewed);
    // A person merges while the job waits; the commit that landed is named.
    let mut command = line.pin(&["--wait-merge"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while stage.github.looks() == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    stage.person("main", "README", "moved");
    let merged = stage.github.hub(|hub| hub.merge(1, How::Squash)).unwrap();
    stage.person("main", "README", "moved on");
    let waited = stage.finish(child.wait_with_output().unwrap()).ok();
    assert_eq!(waited.json["result"]["landed"]["commit"], merged, "{}", waited.text);
    let landed = line.built(&merged);
    assert!(landed.contains(&format!(":1.0@{three}")), "{landed}");
    assert!(stage.git(&["show", "main:base/web.yaml"]).contains("# reviewed"));
    // Back again, from a clone that has not heard of the merge.
    let revert = ["revert", "overlays/prod", "--last", "--pr", "--merge", "--timeout", "60s"];
    let back = stage.run(&revert).ok();
    assert_eq!((back.number(), back.action()), (Some(2), "opened"), "{}", back.text);
    assert_eq!(line.built("main"), unpinned);
    assert!(stage.git(&["show", "main:base/web.yaml"]).contains("# reviewed"), "only the overlay");
    assert_eq!(back.json["result"]["landed"]["commit"], stage.at("main").unwrap());
    stage.github.calls();
    stage.lab.require_sound("hub/ops/deploy.git");
}
