//! An Argo CD that has always just looked at the branch: each Application deploys an overlay of the bare repository as it is now, well or not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::scripted_http::{Answer, Asked, Piece, ScriptedHttp};
use crate::support::tripwire::{Tripwire, When};

pub(crate) const TOKEN: &str = "planted-argo-token";

/// What it makes of the branch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mood {
    /// A sync of a revision fails for every overlay in whose kustomization this stands.
    pub(crate) fails_for: Option<String>,
    /// No Application deploys this overlay.
    pub(crate) lacks: Option<String>,
    /// The Applications state these images themselves.
    pub(crate) overrides: Option<&'static str>,
    /// What the Applications state of `kustomize`.
    pub(crate) states: Option<Json>,
    /// It answers nothing but 503.
    pub(crate) is_down: bool,
}

/// A running server.
pub(crate) struct LiveArgo {
    http: ScriptedHttp,
    mood: Arc<Mutex<Mood>>,
}

struct Server {
    bare: PathBuf,
    repository: String,
    overlays: Vec<String>,
    mood: Arc<Mutex<Mood>>,
    wire: Tripwire,
}

impl LiveArgo {
    /// Deploys `overlays` of the repository in `bare`, which clients know by the address `repository`; every call passes `wire`.
    pub(crate) fn start(bare: &Path, repository: &str, overlays: &[&str], wire: Tripwire) -> Self {
        let mood = Arc::new(Mutex::new(Mood::default()));
        let server = Server {
            bare: bare.to_owned(),
            repository: repository.to_owned(),
            overlays: overlays.iter().map(|o| (*o).to_owned()).collect(),
            mood: Arc::clone(&mood),
            wire,
        };
        Self { http: ScriptedHttp::start(move |asked| server.answer(asked)), mood }
    }

    pub(crate) fn url(&self) -> String {
        self.http.url("")
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The paths that were asked with a method that changes something.
    pub(crate) fn writes(&self) -> Vec<String> {
        let asked = self.http.asked();
        asked.iter().filter(|a| a.method != "GET").map(|a| a.target.clone()).collect()
    }
}

impl Server {
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.bare).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let path = asked.target.split('?').next().unwrap();
        self.wire.pass(&format!("argo {} {path}", asked.method), When::Before);
        if asked.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return error(401, "no session information");
        }
        let mood = self.mood.lock().unwrap().clone();
        if mood.is_down {
            return error(503, "going away");
        }
        if path == "/api/v1/stream/applications" {
            return Answer::raw(vec![
                Piece::Bytes(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n".to_vec()),
                Piece::Pause(Duration::from_millis(500)),
            ]);
        }
        let Some(rest) = path.strip_prefix("/api/v1/applications") else {
            return error(404, "not found");
        };
        let there = |overlay: &&String| Some(*overlay) != mood.lacks.as_ref();
        let overlays: Vec<&String> = self.overlays.iter().filter(there).collect();
        match rest.trim_start_matches('/') {
            "" => {
                let items: Vec<Json> =
                    overlays.iter().map(|o| self.application(o, &mood)).collect();
                success(&json!({"metadata": {"resourceVersion": "1"}, "items": items}))
            }
            name => match overlays.iter().find(|overlay| name_of(overlay) == name) {
                Some(overlay) => success(&self.application(overlay, &mood)),
                None => error(404, "not found"),
            },
        }
    }

    fn application(&self, overlay: &str, mood: &Mood) -> Json {
        let tip = self.git(&["rev-parse", "refs/heads/main"]);
        let text = self.git(&["show", &format!("{tip}:{overlay}/kustomization.yaml")]);
        let is_bad = mood.fails_for.as_ref().is_some_and(|bad| text.contains(bad.as_str()));
        let (phase, sync) = if is_bad { ("Failed", "OutOfSync") } else { ("Succeeded", "Synced") };
        let mut source =
            json!({"repoURL": self.repository, "path": overlay, "targetRevision": "main"});
        if let Some(image) = mood.overrides {
            source["kustomize"] = json!({"images": [image]});
        }
        if let Some(states) = &mood.states {
            source["kustomize"] = states.clone();
        }
        json!({
            "metadata": {"name": name_of(overlay), "namespace": "argocd", "uid": "u", "resourceVersion": "1"},
            "spec": {
                "source": source.clone(),
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
                "project": "default",
                "syncPolicy": {"automated": {}},
            },
            "status": {
                "sync": {"status": sync, "revision": tip, "comparedTo": {"source": source, "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}}},
                "health": {"status": "Healthy"},
                "reconciledAt": "2024-05-01T10:03:00Z",
                "operationState": {
                    "phase": phase,
                    "message": if is_bad { "one or more objects failed to apply" } else { "" },
                    "startedAt": "2024-05-01T10:00:50Z",
                    "finishedAt": "2024-05-01T10:01:00Z",
                    "operation": {"sync": {"revision": tip}},
                    "syncResult": {"revision": tip},
                },
            },
        })
    }
}

fn name_of(overlay: &str) -> String {
    overlay.rsplit('/').next().unwrap().to_owned()
}

fn success(value: &Json) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(value.to_string())
}

fn error(status: u16, message: &str) -> Answer {
    let body = json!({"error": message, "code": 2, "message": message});
    Answer::new(status).header("Content-Type", "application/json").body(body.to_string())
}
