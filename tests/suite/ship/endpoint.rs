//! An endpoint that answers as what the base branch holds would: well, or not.

use std::path::PathBuf;

use super::*;
use crate::support::scripted_http::{Answer, ScriptedHttp};

/// A running server.
pub(crate) struct Endpoint(ScriptedHttp);

impl Endpoint {
    /// Answers 503 as long as the text of `overlays/prod` contains `bad`.
    pub(crate) fn start(harbor: &Harbor, bad: String) -> Self {
        let bare: PathBuf = harbor.stage.lab.path(&format!("hub/{REPOSITORY}.git"));
        Self(ScriptedHttp::start(move |_| {
            let mut git = Command::new("git");
            git.args(["show", "main:overlays/prod/kustomization.yaml"]).current_dir(&bare);
            let text = String::from_utf8(git.output().unwrap().stdout).unwrap();
            Answer::new(if text.contains(&bad) { 503 } else { 200 })
        }))
    }

    pub(crate) fn url(&self) -> String {
        self.0.url("/healthz")
    }

    /// How often it was asked.
    pub(crate) fn tries(&self) -> usize {
        self.0.asked().len()
    }
}
