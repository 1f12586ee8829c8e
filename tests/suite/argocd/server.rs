//! An Argo CD of scripted answers.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use overlay::argocd::Rest;
use overlay::http::{Address, Options, Secret};
use serde_json::{Value, json};

use crate::support::argocd_schema::Schema;
use crate::support::scripted_http::{Answer, Asked, Piece, ScriptedHttp};

/// What makes the next frame of an Application the present one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// A refresh.
    OnRefresh,
    /// A read.
    OnRead,
}

/// The frames of one Application, and what else is served for it.
pub(crate) struct Script {
    pub(crate) frames: Vec<Value>,
    pub(crate) advance: Advance,
    /// More answers by the last part of the path, such as `managed-resources`.
    pub(crate) more: BTreeMap<&'static str, Value>,
}

impl Script {
    pub(crate) fn new(frames: Vec<Value>) -> Self {
        Self { frames, advance: Advance::OnRefresh, more: BTreeMap::new() }
    }

    pub(crate) fn on_read(self) -> Self {
        Self { advance: Advance::OnRead, ..self }
    }

    pub(crate) fn serving(mut self, what: &'static str, answer: Value) -> Self {
        self.more.insert(what, answer);
        self
    }
}

/// The frame of `fixtures/argocd`, with these names in place of `@NEW@` and the like.
pub(crate) fn frame(name: &str, names: &[(&str, &str)]) -> Value {
    let mut text = fs::read_to_string(format!("fixtures/argocd/{name}.json")).unwrap();
    for (from, to) in names {
        text = text.replace(from, to);
    }
    serde_json::from_str(&text).unwrap()
}

/// A running server.
pub(crate) struct FakeArgo {
    http: ScriptedHttp,
}

pub(crate) const TOKEN: &str = "planted-argo-token";

impl FakeArgo {
    pub(crate) fn start(apps: Vec<(&str, Script)>) -> Self {
        let schema = Schema::load();
        let apps = apps.into_iter().map(|(name, script)| {
            if let Some(schema) = &schema {
                for frame in &script.frames {
                    assert_eq!(
                        schema.faults("v1alpha1Application", &without_nulls(frame)),
                        [""; 0],
                        "{name}"
                    );
                }
            }
            (name.to_owned(), (script, 0))
        });
        let apps: Arc<Mutex<BTreeMap<String, (Script, usize)>>> =
            Arc::new(Mutex::new(apps.collect()));
        Self { http: ScriptedHttp::start(move |asked| answer(&apps, asked)) }
    }

    pub(crate) fn url(&self) -> String {
        self.http.url("")
    }

    pub(crate) fn rest(&self) -> Rest {
        let base = Address::parse(&self.url()).unwrap();
        Rest::new(&Options::default(), base, Some(Secret::new(TOKEN)))
    }

    /// How often something with this text in its target was asked.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.http.asked().iter().filter(|asked| asked.target.contains(text)).count()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.http.asked()
    }
}

fn answer(apps: &Mutex<BTreeMap<String, (Script, usize)>>, asked: &Asked) -> Answer {
    if asked.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return error(401, 16, "no session information");
    }
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    if path == "/api/v1/stream/applications" {
        // One event, and a proxy that cuts the stream.
        return Answer::raw(vec![
            Piece::Bytes(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"result\":{}}\n"
                    .to_vec(),
            ),
            Piece::Pause(Duration::from_millis(500)),
        ]);
    }
    if path.starts_with("/api/v1/applicationsets/") {
        return success(&json!({"spec": {"strategy": {"type": "RollingSync"}}}));
    }
    let Some(path) = path.strip_prefix("/api/v1/applications") else {
        return error(404, 5, "not found");
    };
    let mut apps = apps.lock().unwrap();
    let mut parts = path.trim_start_matches('/').split('/');
    let name = parts.next().unwrap_or_default();
    if name.is_empty() {
        let items: Vec<Value> =
            apps.values().map(|(script, at)| script.frames[*at].clone()).collect();
        return success(&json!({"metadata": {"resourceVersion": "1"}, "items": items}));
    }
    match name {
        "absent" => return error(404, 5, "applications.argoproj.io \"absent\" not found"),
        "denied" => return error(401, 16, "token has invalid claims: token is expired"),
        "down" => return error(503, 14, "connection error: desc = \"transport: refused\""),
        _ => {}
    }
    let Some((script, at)) = apps.get_mut(name) else {
        return error(403, 7, "permission denied");
    };
    if let Some(what) = parts.next() {
        return match script.more.get(what) {
            Some(value) => success(value),
            None => error(404, 5, "not found"),
        };
    }
    let advances = match script.advance {
        Advance::OnRefresh => query.contains("refresh="),
        Advance::OnRead => true,
    };
    let frame = script.frames[*at].clone();
    if advances {
        *at = (*at + 1).min(script.frames.len() - 1);
    }
    success(&frame)
}

fn success(value: &Value) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(value.to_string())
}

fn error(status: u16, code: u32, message: &str) -> Answer {
    let body = json!({"error": message, "code": code, "message": message});
    Answer::new(status).header("Content-Type", "application/json").body(body.to_string())
}

/// A field that a frame sets to null is one that is not there.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let there = map.iter().filter(|(_, value)| !value.is_null());
            there.map(|(key, value)| (key.clone(), without_nulls(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
