//! Pull requests by the real program against a GitHub on loopback whose pull requests are those of real branches.

mod action;
mod api_commit;
mod app;
mod branches;
mod comment;
mod gitea;
mod gitlab;
mod landing;
mod limits;
mod line;
mod of_branch;
mod opening;
mod second_opinion;
mod template;
mod walk;

use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::support::git_lab::Lab;
use crate::support::github::{GitHub, TOKEN};

pub(crate) const PROD: &str = "overlays/prod/kustomization.yaml";
pub(crate) const REPOSITORY: &str = "ops/deploy";

/// A digest of one repeated digit.
pub(crate) fn digest(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

pub(crate) fn pin(image: &str, digit: char) -> String {
    format!("{image}={}", digest(digit))
}

/// A forge with one repository, and a clone of it.
pub(crate) struct Stage {
    pub(crate) lab: Lab,
    pub(crate) github: GitHub,
}

/// What a run of the program left.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) json: Json,
    pub(crate) text: String,
}

impl Ran {
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 0, "{}", self.text);
        self
    }

    pub(crate) fn changed(&self) -> bool {
        self.json["changed"].as_bool().unwrap()
    }

    pub(crate) fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or_default()
    }

    fn number(&self) -> Option<u64> {
        self.json["result"]["pullRequest"]["number"].as_u64()
    }

    fn action(&self) -> &str {
        self.json["result"]["pullRequest"]["action"].as_str().unwrap_or_default()
    }

    fn commit(&self) -> &str {
        self.json["result"]["commit"].as_str().unwrap_or_default()
    }

    fn branch(&self) -> String {
        self.json["result"]["branch"].as_str().unwrap_or_default().to_owned()
    }

    fn notes(&self) -> String {
        self.json["result"]["notes"].to_string()
    }
}

impl Stage {
    /// `ops/deploy` with images `shop/app0` … pinned to ones in `overlays/prod`.
    pub(crate) fn new(images: usize) -> Self {
        let lab = Lab::new();
        lab.overlays("plain", &[]);
        let mut entries = String::from("resources: [../../base]\nimages:\n");
        let mut containers = String::new();
        for at in 0..images {
            entries.push_str(&format!("- name: shop/app{at}\n  digest: {}\n", digest('1')));
            containers.push_str(&format!("      - {{name: app{at}, image: shop/app{at}}}\n"));
        }
        lab.write(&format!("plain/{PROD}"), entries);
        lab.write(
            "plain/base/web.yaml",
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec:\n      containers:\n{containers}"),
        );
        lab.commit_all("plain", "images");
        Self::of(lab)
    }

    /// A forge for what is committed in `plain`.
    pub(crate) fn of(lab: Lab) -> Self {
        std::fs::create_dir_all(lab.path("hub/ops")).unwrap();
        lab.bare("plain", "hub/ops/deploy.git");
        lab.git("hub/ops/deploy.git", &["config", "http.receivepack", "true"]);
        let github = GitHub::serve(&lab.path("hub"), REPOSITORY);
        let remote = github.remote(REPOSITORY);
        lab.git("", &["clone", "-q", &remote, "clone"]);
        Self { lab, github }
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_in("clone", args)
    }

    pub(crate) fn command_in(&self, dir: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
        command.args(args).args(["-o", "json"]).current_dir(self.lab.path(dir));
        command.env_clear().envs(self.lab.environment());
        command.env("OVERLAY_CACHE_DIR", self.lab.path("cache"));
        command.env("GITHUB_TOKEN", TOKEN).env("GITHUB_API_URL", self.github.api());
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args).output().unwrap())
    }

    /// No token is in what was printed, and every request and answer was as GitHub describes it.
    pub(crate) fn finish(&self, output: Output) -> Ran {
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!text.contains("ghp_"), "{text}");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {text}"));
        Ran { status: output.status.code().unwrap_or(-1), json, text }
    }

    /// `overlay pin overlays/prod shop/app0=… --pr`.
    fn pin(&self, digit: char, more: &[&str]) -> Ran {
        let reference = pin("shop/app0", digit);
        let mut args = vec!["pin", "overlays/prod", reference.as_str(), "--pr"];
        args.extend(more);
        self.run(&args)
    }

    /// The commit that a branch of the forge is at.
    pub(crate) fn at(&self, branch: &str) -> Option<String> {
        self.github.hub(|hub| hub.branch(REPOSITORY, branch))
    }

    /// Git in the forge's repository.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.lab.git("hub/ops/deploy.git", args)
    }

    /// A person's commit on a branch of the forge, which adds a line to a file.
    pub(crate) fn person(&self, branch: &str, file: &str, line: &str) -> String {
        let shown = self
            .lab
            .try_git(&self.lab.path("hub/ops/deploy.git"), &["show", &format!("{branch}:{file}")]);
        let old = if shown.status.success() { shown.stdout } else { Vec::new() };
        let new = [old, format!("{line}\n").into_bytes()].concat();
        self.replace(branch, file, &String::from_utf8(new).unwrap())
    }

    /// A person's commit on a branch of the forge, which gives a file this text.
    pub(crate) fn replace(&self, branch: &str, file: &str, text: &str) -> String {
        self.lab.git("", &["clone", "-q", "-b", branch, "hub/ops/deploy.git", "person"]);
        self.lab.write(&format!("person/{file}"), text);
        self.lab.git("person", &["add", "-A"]);
        let author = ["-c", "user.name=Reviewer", "-c", "user.email=reviewer@example.test"];
        let mut command = Command::new("git");
        command
            .args(author)
            .args(["commit", "-qm", "by hand"])
            .current_dir(self.lab.path("person"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().unwrap().success());
        self.lab.git("person", &["push", "-q", "origin", branch]);
        let id = self.lab.git("person", &["rev-parse", "HEAD"]);
        std::fs::remove_dir_all(self.lab.path("person")).unwrap();
        id
    }
}
