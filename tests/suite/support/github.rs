//! A GitHub on loopback: its REST API under `/api/v3` and its repositories over smart HTTP, from the same bare repositories. Each request
//! and each answer is held to GitHub's published description; what is wrong with them is kept and fails the test.

pub(crate) mod app;
mod merging;
mod view;

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

use super::git_http::{Request, backend, base64, read_request};
use super::graphql::GraphQl;
use super::hub::{Hub, Pull};
use super::openapi::{Description, Operation};
use super::tripwire::{Tripwire, When};
use view::View;

/// A token that may do everything, and one that may only read.
pub(crate) const TOKEN: &str = "ghp_planted0000000000000000000000000000";
pub(crate) const READER: &str = "ghp_reader00000000000000000000000000000";

/// What goes wrong once with the next request that it fits.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) method: &'static str,
    /// A part of the path.
    pub(crate) path: &'static str,
    pub(crate) what: Trouble,
}

#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// This status with these headers and message, and nothing is done.
    Status(u16, Vec<(&'static str, String)>, &'static str),
    /// Everything is done, and the connection ends before the answer.
    Lost,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) path: String,
}

struct State {
    hub: Hub,
    calls: Vec<Call>,
    faults: Vec<Fault>,
    breaches: Vec<String>,
    app: Option<app::App>,
    /// The repository answers by redirects from this former name.
    former: Option<String>,
    wire: Tripwire,
}

/// A running GitHub; its threads end with the process.
pub(crate) struct GitHub {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
}

impl GitHub {
    /// Serves `OWNER/NAME.git` below `root` with pull requests, and its forks beside it.
    pub(crate) fn serve(root: &Path, name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State {
            hub: Hub::new(root, name),
            calls: Vec::new(),
            faults: Vec::new(),
            breaches: Vec::new(),
            app: None,
            former: None,
            wire: Tripwire::default(),
        }));
        let description = Arc::new(Description::load("fixtures/forge/github/openapi.json"));
        let schema = Arc::new(GraphQl::load("fixtures/forge/github/schema.graphql"));
        let server =
            Server { root: root.to_owned(), port, state: Arc::clone(&state), description, schema };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.answer_all(stream));
            }
        });
        Self { port, state }
    }

    pub(crate) fn api(&self) -> String {
        format!("http://127.0.0.1:{}/api/v3", self.port)
    }

    /// The remote of a repository.
    pub(crate) fn remote(&self, name: &str) -> String {
        format!("http://bot:{TOKEN}@127.0.0.1:{}/{name}.git", self.port)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The calls since this was last asked; nothing in them was against the description.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let mut state = self.state();
        assert!(state.breaches.is_empty(), "{:#?}", state.breaches);
        std::mem::take(&mut state.calls)
    }

    /// How often a pull request was looked at.
    pub(crate) fn looks(&self) -> usize {
        self.state().calls.iter().filter(|call| call.path == "/graphql").count()
    }

    /// The calls that write, in short: `POST /pulls`.
    pub(crate) fn writes(&self) -> Vec<String> {
        let short = |call: &Call| {
            let path: Vec<&str> = call.path.splitn(5, '/').collect();
            format!("{} /{}", call.method, path.get(4).unwrap_or(&""))
        };
        self.calls().iter().filter(|call| call.method != "GET").map(short).collect()
    }

    pub(crate) fn fail(&self, method: &'static str, path: &'static str, what: Trouble) {
        self.state().faults.push(Fault { method, path, what });
    }

    /// An App is installed at the repository.
    pub(crate) fn install(&self, app: app::App) {
        self.state().app = Some(app);
    }

    pub(crate) fn rename_from(&self, former: &str) {
        self.state().former = Some(former.to_owned());
    }

    /// What every call to the forge and its git passes.
    pub(crate) fn wire(&self) -> Tripwire {
        self.state().wire.clone()
    }

    /// Works on what the forge holds.
    pub(crate) fn hub<T>(&self, work: impl FnOnce(&mut Hub) -> T) -> T {
        work(&mut self.state().hub)
    }

    pub(crate) fn pull(&self, number: u64) -> Pull {
        self.hub(|hub| hub.find(number).unwrap().clone())
    }

    pub(crate) fn open_numbers(&self) -> Vec<u64> {
        self.hub(|hub| hub.pulls.iter().filter(|p| p.is_open).map(|p| p.number).collect())
    }
}

#[derive(Clone)]
struct Server {
    root: std::path::PathBuf,
    port: u16,
    state: Arc<Mutex<State>>,
    description: Arc<Description>,
    schema: Arc<GraphQl>,
}

/// Status, headers, body.
struct Reply(u16, Vec<(String, String)>, Json);

impl Reply {
    fn of(status: u16, body: Json) -> Self {
        Self(status, Vec::new(), body)
    }

    fn message(status: u16, message: &str) -> Self {
        Self::of(
            status,
            json!({"message": message, "documentation_url": "https://docs.github.com/rest"}),
        )
    }

    /// The shape of GitHub's "Validation Failed".
    fn invalid(errors: Json) -> Self {
        let body = json!({"message": "Validation Failed", "errors": errors, "documentation_url": "https://docs.github.com/rest"});
        Self::of(422, body)
    }
}

/// A call in short: `POST /pulls`, `POST /graphql mutation`.
fn label(request: &Request, path: &str, body: &Json) -> String {
    let short = path.splitn(5, '/').nth(4).unwrap_or(path).trim_start_matches('/');
    let is_mutation = body["query"].as_str().is_some_and(|query| query.starts_with("mutation"));
    let more = if is_mutation { " mutation" } else { "" };
    format!("{} /{short}{more}", request.method)
}

impl Server {
    fn answer_all(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        loop {
            let Ok(request) = read_request(&mut reader) else { return };
            let done = match request.target.strip_prefix("/api/v3") {
                None if request.target == "/api/graphql" => {
                    self.api(&request, "/graphql", &mut stream)
                }
                Some(target) => self.api(&request, target, &mut stream),
                None => self.git(&request, &mut stream),
            };
            if !done {
                return;
            }
        }
    }

    fn git(&self, request: &Request, out: &mut TcpStream) -> bool {
        let wanted = format!("Basic {}", base64(&format!("bot:{TOKEN}")));
        if request.headers.get("authorization") != Some(&wanted) {
            let no = b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\r\n";
            return out.write_all(no).is_ok();
        }
        let wire = self.state.lock().unwrap().wire.clone();
        let label = format!("git {}", request.target.rsplit('/').next().unwrap());
        wire.pass(&label, When::Before);
        let answer = backend(&self.root, request, "bot").unwrap();
        wire.pass(&label, When::After);
        out.write_all(&answer).is_ok()
    }

    fn api(&self, request: &Request, target: &str, out: &mut TcpStream) -> bool {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body: Json = serde_json::from_slice(&request.body).unwrap_or(Json::Null);
        let mut state = self.state.lock().unwrap();
        let (wire, label) = (state.wire.clone(), label(request, path, &body));
        wire.pass(&label, When::Before);
        let fits = |fault: &Fault| fault.method == request.method && path.contains(fault.path);
        let fault = state.faults.iter().position(fits).map(|at| state.faults.remove(at).what);
        let reply = match &fault {
            Some(Trouble::Status(status, headers, message)) => {
                let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
                Reply(*status, headers, json!({"message": message}))
            }
            _ => self.reply(&mut state, request, path, query, &body),
        };
        let Reply(status, headers, answer) = reply;
        state.calls.push(Call { method: request.method.clone(), path: path.to_owned() });
        drop(state);
        wire.pass(&label, When::After);
        if matches!(fault, Some(Trouble::Lost)) {
            return false;
        }
        let text = if status == 204 { String::new() } else { answer.to_string() };
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", text.len()));
        out.write_all(format!("{head}{text}").as_bytes()).is_ok()
    }

    /// The answer, held to the description together with the request.
    fn reply(
        &self,
        state: &mut State,
        request: &Request,
        path: &str,
        query: &str,
        body: &Json,
    ) -> Reply {
        if path == "/graphql" {
            let token = request.headers.get("authorization").map(String::as_str);
            let good = [TOKEN, app::INSTALLED].map(|token| format!("Bearer {token}"));
            if !good.iter().any(|good| token == Some(good)) {
                return Reply::message(401, "Bad credentials");
            }
            return merging::answer(&self.schema, &mut state.hub, body, &mut state.breaches);
        }
        let what = format!("{} {path}?{query}", request.method);
        let Some(operation) = self.description.operation(&request.method, path) else {
            state.breaches.push(format!("{what}: no such operation"));
            return Reply::message(404, "Not Found");
        };
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), decode(value)))
            .collect();
        let mut faults = operation.request_faults(&pairs, body);
        let reply = self.route(state, request, path, &pairs, body, &operation);
        faults.extend(operation.answer_faults(reply.0, &reply.2));
        // The description lacks what GitHub does: the repository of a fork that is gone is null (octokit/octokit.js#2056 shows one).
        faults.retain(|fault| !fault.ends_with("head/repo: no object: null"));
        state.breaches.extend(faults.iter().map(|fault| format!("{what} ({}): {fault}", reply.0)));
        reply
    }

    fn route(
        &self,
        state: &mut State,
        request: &Request,
        path: &str,
        query: &[(String, String)],
        body: &Json,
        operation: &Operation<'_>,
    ) -> Reply {
        let token = request.headers.get("authorization").and_then(|a| a.strip_prefix("Bearer "));
        if let Some(reply) = app::answer(state.app.as_ref(), (path, token), body, operation) {
            return reply;
        }
        match token {
            Some(TOKEN) => {}
            Some(app::INSTALLED) if state.app.is_some() => {}
            Some(READER) if request.method == "GET" => {}
            Some(READER) => {
                return Reply::message(403, "Resource not accessible by integration");
            }
            _ => return Reply::message(401, "Bad credentials"),
        }
        let hub = &mut state.hub;
        let name = hub.name.clone();
        if let Some(former) = &state.former
            && let Some(rest) = path.strip_prefix(&format!("/repos/{former}"))
        {
            let there = format!("http://127.0.0.1:{}/api/v3/repos/{name}{rest}", self.port);
            let query = request.target.split_once('?').map(|(_, q)| format!("?{q}"));
            let location = format!("{there}{}", query.unwrap_or_default());
            let body =
                json!({"message": "Moved Permanently", "url": location, "documentation_url": "x"});
            let status = if request.method == "GET" { 301 } else { 307 };
            return Reply(status, vec![("Location".into(), location)], body);
        }
        let Some(rest) = path.strip_prefix(&format!("/repos/{name}/")) else {
            return Reply::message(404, "Not Found");
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let view = View { operation, port: self.port };
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["pulls"]) => view.list(hub, query),
            ("POST", ["pulls"]) => view.open(hub, body),
            ("PATCH", ["issues", "comments", id]) => view.edit_comment(hub, id, body),
            (method, [kind @ ("pulls" | "issues"), number, rest @ ..]) => {
                let Some(number) = number.parse().ok().filter(|n| hub.find(*n).is_some()) else {
                    return Reply::message(404, "Not Found");
                };
                view.one(hub, number, (method, *kind, rest), body)
            }
            _ => Reply::message(404, "Not Found"),
        }
    }
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], text.get(at + 1..at + 3)) {
            (b'%', Some(hex)) => {
                out.push(u8::from_str_radix(hex, 16).unwrap());
                at += 3;
            }
            (b'+', _) => panic!("a plus is a space in some readings and none in others: {text}"),
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap()
}
