//! A GitHub on loopback: its REST API under `/api/v3` and its repositories over smart HTTP, from the same bare repositories. Each request
//! and each answer is held to GitHub's published description; what is wrong with them is kept and fails the test.

pub(crate) mod app;
mod merging;

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

use super::git_http::{Request, backend, base64, read_request};
use super::graphql::GraphQl;
use super::hub::{Hub, No, Pull};
use super::openapi::{Description, Operation};

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
        let answer = backend(&self.root, request, "bot").unwrap();
        out.write_all(&answer).is_ok()
    }

    fn api(&self, request: &Request, target: &str, out: &mut TcpStream) -> bool {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body: Json = serde_json::from_slice(&request.body).unwrap_or(Json::Null);
        let mut state = self.state.lock().unwrap();
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

/// GitHub's words for what the hub holds.
struct View<'a> {
    operation: &'a Operation<'a>,
    port: u16,
}

impl View<'_> {
    /// A pull request on top of the smallest one that the description allows.
    fn pull(&self, hub: &mut Hub, number: u64, whole: Json) -> Json {
        let head = hub.head(number);
        let is_mergeable = whole.get("mergeable").is_some().then(|| hub.is_mergeable(number));
        let pull = hub.find(number).unwrap().clone();
        let mut out = whole;
        let label = |name: &String| json!({"id": 1, "node_id": "x", "url": "x", "name": name, "description": "", "color": "ededed", "default": false});
        out["number"] = json!(number);
        out["node_id"] = json!(format!("PR_{number}"));
        out["html_url"] =
            json!(format!("http://127.0.0.1:{}/{}/pull/{number}", self.port, hub.name));
        out["title"] = json!(pull.title);
        out["body"] = json!(pull.body);
        out["draft"] = json!(pull.is_draft);
        out["state"] = json!(if pull.is_open { "open" } else { "closed" });
        out["merged_at"] =
            pull.merged.as_ref().map_or(Json::Null, |_| json!("2026-01-01T00:00:00Z"));
        out["merge_commit_sha"] = json!(pull.merged);
        out["labels"] = pull.labels.iter().map(label).collect();
        if let Some(is_mergeable) = is_mergeable {
            out["mergeable"] = json!(is_mergeable);
            out["mergeable_state"] = json!(if is_mergeable { "clean" } else { "dirty" });
            out["merged"] = json!(pull.merged.is_some());
        }
        out["head"]["ref"] = json!(pull.head_branch);
        out["head"]["sha"] = json!(head);
        match &pull.head_repository {
            Some(name) => out["head"]["repo"]["full_name"] = json!(name),
            None => out["head"]["repo"] = Json::Null,
        }
        out["base"]["ref"] = json!(pull.base_branch);
        out["base"]["repo"]["full_name"] = json!(hub.name);
        out
    }

    fn list(&self, hub: &mut Hub, query: &[(String, String)]) -> Reply {
        let find = |wanted: &str| query.iter().find(|(n, _)| n == wanted).map(|(_, v)| v.clone());
        let number =
            |name: &str, default: usize| find(name).map_or(default, |v| v.parse().unwrap());
        let state = find("state").unwrap_or_else(|| "open".into());
        // Without an owner the filter is ignored (octokit/octokit.js#2056).
        let head = find("head").filter(|head| head.contains(':'));
        let base = find("base");
        let is_wanted = |pull: &Pull| {
            let owner = pull.head_repository.as_ref().map_or("", |r| r.split('/').next().unwrap());
            (state == "all" || (state == "open") == pull.is_open)
                && head.as_ref().is_none_or(|h| *h == format!("{owner}:{}", pull.head_branch))
                && base.as_ref().is_none_or(|b| *b == pull.base_branch)
        };
        let mut found: Vec<u64> =
            hub.pulls.iter().filter(|p| is_wanted(p)).map(|p| p.number).collect();
        found.reverse();
        let size = number("per_page", 30);
        let page = found.chunks(size).nth(number("page", 1) - 1).unwrap_or_default().to_vec();
        let item = |n: u64, hub: &mut Hub| self.pull(hub, n, self.operation.smallest_item(200));
        Reply::of(200, page.into_iter().map(|n| item(n, hub)).collect())
    }

    fn open(&self, hub: &mut Hub, body: &Json) -> Reply {
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let head = text("head");
        let (owner, branch) = match head.split_once(':') {
            Some((owner, branch)) => (owner.to_owned(), branch.to_owned()),
            None => (hub.owner().to_owned(), head.clone()),
        };
        let name = hub.name.split('/').nth(1).unwrap().to_owned();
        let opened = hub.open(Pull {
            title: text("title"),
            body: text("body"),
            is_draft: body["draft"] == true,
            head_repository: Some(format!("{owner}/{name}")),
            head_branch: branch.clone(),
            base_branch: text("base"),
            ..Pull::default()
        });
        let error = |message: String| {
            Reply::invalid(
                json!([{"resource": "PullRequest", "code": "custom", "message": message}]),
            )
        };
        let field = |field: &str| {
            Reply::invalid(json!([{"resource": "PullRequest", "field": field, "code": "invalid"}]))
        };
        if text("body").chars().count() > 65_536 {
            return error("body is too long (maximum is 65536 characters)".to_owned());
        }
        match opened {
            Ok(number) => {
                Reply::of(201, self.pull(hub, number, self.operation.smallest_answer(201)))
            }
            Err(No::Head) => field("head"),
            Err(No::Base) => field("base"),
            Err(No::Nothing) => error(format!("No commits between {} and {branch}", text("base"))),
            Err(No::Exists(_)) => {
                error(format!("A pull request already exists for {owner}:{branch}."))
            }
        }
    }

    fn one(
        &self,
        hub: &mut Hub,
        number: u64,
        (method, kind, rest): (&str, &str, &[&str]),
        body: &Json,
    ) -> Reply {
        let texts = |key: &str| -> Vec<String> {
            let items = body[key].as_array().cloned().unwrap_or_default();
            items.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        let pull = hub.find(number).unwrap();
        match (method, kind, rest) {
            ("GET", "pulls", []) => {}
            ("PATCH", "pulls", []) => {
                if body["state"] == "closed" {
                    hub.head(number);
                    hub.find(number).unwrap().is_open = false;
                }
                if body["state"] == "open" {
                    let pull = hub.find(number).unwrap().clone();
                    let at = hub.branch(pull.head_repository.as_ref().unwrap(), &pull.head_branch);
                    if at.as_deref() != Some(&pull.last_head) {
                        return Reply::invalid(
                            json!([{"resource": "PullRequest", "code": "custom", "field": "state", "message": "state cannot be changed. The branch was force-pushed or recreated."}]),
                        );
                    }
                    hub.find(number).unwrap().is_open = true;
                }
                let pull = hub.find(number).unwrap();
                pull.title = body["title"].as_str().map_or(pull.title.clone(), str::to_owned);
                pull.body = body["body"].as_str().map_or(pull.body.clone(), str::to_owned);
            }
            ("PUT", "pulls", ["merge"]) => return self.merge(hub, number, body),
            ("PUT", "pulls", ["update-branch"]) => return self.update_branch(hub, number, body),
            ("GET", "pulls", ["commits"]) => {
                let commit = |id: &String, hub: &mut Hub| {
                    let mut out = self.operation.smallest_item(200);
                    let show =
                        |format: &str| hub.git(&["log", "-1", &format!("--format={format}"), id]);
                    out["sha"] = json!(id);
                    out["commit"]["message"] = json!(show("%B"));
                    out["commit"]["committer"] = json!({"email": show("%ce"), "name": show("%cn"), "date": "2026-01-01T00:00:00Z"});
                    out
                };
                let all = hub.commits(number);
                return Reply::of(200, all.iter().map(|id| commit(id, hub)).collect());
            }
            ("POST", "pulls", ["requested_reviewers"]) => {
                let people = texts("reviewers");
                if people.contains(&"nobody".to_owned()) {
                    return Reply::of(
                        422,
                        json!({"message": "Reviews may only be requested from collaborators.", "documentation_url": "x"}),
                    );
                }
                pull.reviewers.extend(people);
                pull.reviewers.extend(texts("team_reviewers"));
                let simple = self.operation.smallest_answer(201);
                return Reply::of(201, self.pull(hub, number, simple));
            }
            ("POST", "issues", ["labels"]) => {
                pull.labels.extend(texts("labels"));
                return Reply::of(200, json!([]));
            }
            ("POST", "issues", ["assignees"]) => {
                pull.assignees.extend(texts("assignees"));
                return Reply::of(201, self.operation.smallest_answer(201));
            }
            ("GET", "issues", ["comments"]) => {
                let comments = pull.comments.clone();
                let item = |(at, text): (usize, &String)| {
                    self.comment(self.operation.smallest_item(200), number, at, text)
                };
                return Reply::of(200, comments.iter().enumerate().map(item).collect());
            }
            ("POST", "issues", ["comments"]) => {
                pull.comments.push(body["body"].as_str().unwrap().to_owned());
                return Reply::of(201, self.operation.smallest_answer(201));
            }
            _ => return Reply::message(404, "Not Found"),
        }
        Reply::of(200, self.pull(hub, number, self.operation.smallest_answer(200)))
    }
}
