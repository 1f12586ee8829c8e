//! A GitLab on loopback, for what is asked of merge requests: written after docs.gitlab.com/api, with the repositories of the forge of the
//! tests behind it. No real GitLab judges it. Parameters that its description does not have are kept and fail the test.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value as Json, json};

use super::git_http::{Request, backend, base64, read_request};
use super::hub::{How, Hub, No, Pull, Verdict, Way};

pub(crate) const TOKEN: &str = "glpat-planted00000000000";

/// The numbers of the projects: the repository, and any fork of it.
const PROJECT: u64 = 7;
const FORK: u64 = 8;

/// People by their numbers.
const PEOPLE: [(&str, u64); 2] = [("ann", 11), ("bob", 12)];

/// What each operation takes, beside the path.
const PARAMETERS: [(&str, &str, &[&str]); 11] = [
    ("GET", "", &[]),
    ("GET", "repository/compare", &["from", "to", "from_project_id"]),
    ("GET", "merge_requests", &["state", "source_branch", "target_branch", "page", "per_page"]),
    (
        "POST",
        "merge_requests",
        &["source_branch", "target_branch", "title", "description", "target_project_id"],
    ),
    ("GET", "merge_requests/N", &[]),
    (
        "PUT",
        "merge_requests/N",
        &["title", "description", "state_event", "add_labels", "assignee_ids", "reviewer_ids"],
    ),
    ("GET", "merge_requests/N/commits", &["page", "per_page"]),
    ("GET", "merge_requests/N/notes", &["page", "per_page"]),
    ("POST", "merge_requests/N/notes", &["body"]),
    (
        "PUT",
        "merge_requests/N/merge",
        &["sha", "squash", "auto_merge", "merge_when_pipeline_succeeds"],
    ),
    ("PUT", "merge_requests/N/rebase", &[]),
];

struct State {
    hub: Hub,
    writes: Vec<String>,
    breaches: Vec<String>,
    /// The project's `merge_method`.
    method: &'static str,
}

/// A running GitLab; its threads end with the process.
pub(crate) struct GitLab {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl GitLab {
    /// Serves `GROUP/…/NAME.git` below `root` with merge requests, and its forks beside it.
    pub(crate) fn serve(root: &Path, name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let hub = Hub::new(root, name);
        let (writes, breaches) = (Vec::new(), Vec::new());
        let state = Arc::new(Mutex::new(State { hub, writes, breaches, method: "merge" }));
        let server = Server { root: root.to_owned(), port, state: Arc::clone(&state) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                std::thread::spawn(move || server.answer_all(stream));
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The remote of a repository.
    pub(crate) fn remote(&self, name: &str) -> String {
        format!("http://oauth2:{TOKEN}@127.0.0.1:{}/{name}.git", self.port)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The requests that wrote since this was last asked; nothing was asked that GitLab does not know.
    pub(crate) fn writes(&self) -> Vec<String> {
        let mut state = self.state();
        assert!(state.breaches.is_empty(), "{:#?}", state.breaches);
        std::mem::take(&mut state.writes)
    }

    pub(crate) fn hub<T>(&self, work: impl FnOnce(&mut Hub) -> T) -> T {
        work(&mut self.state().hub)
    }

    pub(crate) fn pull(&self, number: u64) -> Pull {
        self.hub(|hub| hub.find(number).unwrap().clone())
    }

    /// The project merges by moving its branch, or by merge commits.
    pub(crate) fn merges_by(&self, method: &'static str) {
        self.state().method = method;
    }
}

#[derive(Clone)]
struct Server {
    root: PathBuf,
    port: u16,
    state: Arc<Mutex<State>>,
}

type Reply = (u16, Json);

fn message(status: u16, text: &str) -> Reply {
    (status, json!({"message": text}))
}

impl Server {
    fn answer_all(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        loop {
            let Ok(request) = read_request(&mut reader) else { return };
            let answer = match request.target.strip_prefix("/api/v4/") {
                Some(target) => {
                    let (status, body) = self.api(&request, target);
                    let body = body.to_string();
                    format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
                }
                None => self.git(&request),
            };
            if stream.write_all(&answer).is_err() {
                return;
            }
        }
    }

    fn git(&self, request: &Request) -> Vec<u8> {
        let wanted = format!("Basic {}", base64(&format!("oauth2:{TOKEN}")));
        if request.headers.get("authorization") != Some(&wanted) {
            return b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\r\n".to_vec();
        }
        backend(&self.root, request, "oauth2").unwrap()
    }

    fn api(&self, request: &Request, target: &str) -> Reply {
        let token = request.headers.get("authorization").and_then(|a| a.strip_prefix("Bearer "));
        if token != Some(TOKEN) {
            return message(401, "401 Unauthorized");
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs: Vec<(String, String)> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), decode(value)))
            .collect();
        if path == "users" {
            let people = PEOPLE.iter().filter(|(name, _)| pairs[0].1 == *name);
            return (200, people.map(|(name, id)| json!({"id": id, "username": name})).collect());
        }
        let body: Json = serde_json::from_slice(&request.body).unwrap_or(Json::Null);
        let mut state = self.state.lock().unwrap();
        let mut parts = path.strip_prefix("projects/").unwrap_or_default().split('/');
        let project = decode(parts.next().unwrap_or_default());
        let rest: Vec<&str> = parts.collect();
        state.check(&request.method, &rest, &pairs, &body);
        if request.method != "GET" {
            state.writes.push(format!("{} {}", request.method, rest.join("/")));
        }
        if !self.root.join(format!("{project}.git")).is_dir() {
            return message(404, "404 Project Not Found");
        }
        let view = View { port: self.port, method: state.method };
        let hub = &mut state.hub;
        match (request.method.as_str(), rest.as_slice()) {
            ("GET", []) => (200, view.project(hub, &project)),
            ("GET", ["repository", "compare"]) => view.compare(hub, &project, &pairs),
            ("GET", ["merge_requests"]) => (200, view.list(hub, &pairs)),
            ("POST", ["merge_requests"]) => view.open(hub, &project, &body),
            (method, ["merge_requests", number, rest @ ..]) => match number.parse() {
                Ok(number) if hub.find(number).is_some() => {
                    view.one(hub, number, (method, rest), &body)
                }
                _ => message(404, "404 Not found"),
            },
            _ => message(404, "404 Not Found"),
        }
    }
}

impl State {
    /// Keeps what the operation does not know.
    fn check(&mut self, method: &str, rest: &[&str], query: &[(String, String)], body: &Json) {
        let number = |part: &&str| if part.parse::<u64>().is_ok() { "N" } else { *part }.to_owned();
        let shape = rest.iter().map(number).collect::<Vec<_>>().join("/");
        let known = PARAMETERS.iter().find(|(m, path, _)| *m == method && *path == shape);
        let Some((_, _, known)) = known else {
            return self.breaches.push(format!("{method} {shape}: no such operation"));
        };
        let fields = body.as_object().into_iter().flat_map(|fields| fields.keys());
        let given = query.iter().map(|(name, _)| name).chain(fields);
        let unknown = given.filter(|name| !known.contains(&name.as_str()));
        let told: Vec<String> =
            unknown.map(|name| format!("{method} {shape}: no parameter {name}")).collect();
        self.breaches.extend(told);
    }
}

fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let hex: Vec<u8> = bytes.by_ref().take(2).collect();
                out.push(u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap());
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).unwrap()
}

/// GitLab's words for what the hub holds.
struct View {
    port: u16,
    method: &'static str,
}

impl View {
    fn project(&self, hub: &Hub, name: &str) -> Json {
        json!({
            "id": if name == hub.name { PROJECT } else { FORK }, "path_with_namespace": name,
            "merge_method": self.method, "squash_option": "default_off",
            "only_allow_merge_if_pipeline_succeeds": !hub.rules.checks.is_empty(),
        })
    }

    fn request(&self, hub: &mut Hub, number: u64) -> Json {
        hub.work(number);
        let (way, head) = (hub.way(number), hub.head(number));
        let checks = hub.checks_of(number);
        let pull = hub.find(number).unwrap().clone();
        let status = match checks.first() {
            Some((_, _, Verdict::Good)) => json!("success"),
            Some((_, _, Verdict::Bad)) => json!("failed"),
            _ => Json::Null,
        };
        let person = |name: &String| {
            let id = PEOPLE.iter().find(|(known, _)| known == name).unwrap().1;
            json!({"id": id, "username": name})
        };
        let title =
            if pull.is_draft { format!("Draft: {}", pull.title) } else { pull.title.clone() };
        json!({
            "id": 1000 + number, "iid": number, "title": title, "description": pull.body, "draft": pull.is_draft,
            "state": if pull.merged.is_some() { "merged" } else if pull.is_open { "opened" } else { "closed" },
            "web_url": format!("http://127.0.0.1:{}/{}/-/merge_requests/{number}", self.port, hub.name),
            "source_branch": pull.head_branch, "target_branch": pull.base_branch, "sha": head,
            "source_project_id": pull.head_repository.map(|name| if name == hub.name { PROJECT } else { FORK }),
            "target_project_id": PROJECT, "labels": pull.labels,
            "assignees": pull.assignees.iter().map(person).collect::<Vec<_>>(),
            "reviewers": pull.reviewers.iter().map(person).collect::<Vec<_>>(),
            "merge_commit_sha": pull.merged.filter(|_| self.method != "ff"), "squash_commit_sha": null,
            "has_conflicts": way == Way::Conflicts, "merge_when_pipeline_succeeds": pull.by_itself.is_some(),
            "head_pipeline": if status.is_null() { Json::Null } else { json!({"id": 1, "status": status}) },
            "detailed_merge_status": match way {
                _ if !pull.is_open => "not_open",
                Way::Clear | Way::Doubtful => "mergeable",
                Way::Conflicts => "conflict",
                Way::Draft => "draft_status",
                Way::Behind => "need_rebase",
                Way::Blocked if hub.rules.needs_review => "not_approved",
                Way::Blocked => "ci_must_pass",
            },
        })
    }

    fn list(&self, hub: &mut Hub, query: &[(String, String)]) -> Json {
        let find = |wanted: &str| query.iter().find(|(name, _)| name == wanted).map(|(_, v)| v);
        let wanted = |pull: &Pull| {
            (find("state").is_none_or(|s| s == "all") || pull.is_open)
                && find("source_branch").is_none_or(|branch| *branch == pull.head_branch)
                && find("target_branch").is_none_or(|branch| *branch == pull.base_branch)
        };
        let mut found: Vec<u64> =
            hub.pulls.iter().filter(|p| wanted(p)).map(|p| p.number).collect();
        found.reverse();
        let number = |name: &str| find(name).unwrap().parse::<usize>().unwrap();
        let page = found.chunks(number("per_page")).nth(number("page") - 1).unwrap_or_default();
        page.iter().copied().map(|n| self.request(hub, n)).collect()
    }

    /// What `to` of the project has that `from` has not, of the project or, where that is said, of the one it was forked from.
    fn compare(&self, hub: &mut Hub, project: &str, query: &[(String, String)]) -> Reply {
        let find = |wanted: &str| query.iter().find(|(name, _)| name == wanted).map(|(_, v)| v);
        let of_target = find("from_project_id").is_some_and(|id| *id == PROJECT.to_string());
        let from = if of_target { hub.name.clone() } else { project.to_owned() };
        let from = hub.branch(&from, find("from").unwrap());
        let to = hub.branch(project, find("to").unwrap());
        let (Some(from), Some(to)) = (from, to) else { return message(404, "404 Not Found") };
        // The commits of a fork are not all here.
        let is_empty = match project == hub.name {
            true => hub.git(&["rev-list", "--count", &to, "--not", &from]) == "0",
            false => from == to,
        };
        (200, json!({"commits": if is_empty { json!([]) } else { json!([{"id": to}]) }}))
    }

    fn open(&self, hub: &mut Hub, project: &str, body: &Json) -> Reply {
        let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        if project != hub.name && body["target_project_id"] != PROJECT {
            return message(409, "the test has no merge requests in forks");
        }
        let title = text("title");
        let draft = title.strip_prefix("Draft: ").map(str::to_owned);
        let opened = hub.open(Pull {
            is_draft: draft.is_some(),
            title: draft.unwrap_or(title),
            body: text("description"),
            head_repository: Some(project.to_owned()),
            head_branch: text("source_branch"),
            base_branch: text("target_branch"),
            ..Pull::default()
        });
        match opened {
            Ok(number) => (201, self.request(hub, number)),
            Err(No::Exists(number)) => {
                let text = format!(
                    "Another open merge request already exists for this source branch: !{number}"
                );
                (409, json!({"message": [text]}))
            }
            Err(no) => (400, json!({"message": {"base": [format!("{no:?}")]}})),
        }
    }

    fn one(
        &self,
        hub: &mut Hub,
        number: u64,
        (method, rest): (&str, &[&str]),
        body: &Json,
    ) -> Reply {
        match (method, rest) {
            ("GET", []) => {}
            ("PUT", []) => {
                if let Some(reply) = self.update(hub, number, body) {
                    return reply;
                }
            }
            ("GET", ["commits"]) => {
                let told = |id: &String, hub: &Hub| {
                    let show =
                        |format: &str| hub.git(&["log", "-1", &format!("--format={format}"), id]);
                    json!({"id": id, "message": show("%B"), "committer_name": show("%cn"), "committer_email": show("%ce")})
                };
                let all = hub.commits(number);
                return (200, all.iter().rev().map(|id| told(id, hub)).collect());
            }
            ("POST", ["notes"]) => {
                let text = body["body"].as_str().unwrap().to_owned();
                hub.find(number).unwrap().comments.push(text.clone());
                return (201, json!({"id": 1, "body": text}));
            }
            ("PUT", ["merge"]) => return self.merge(hub, number, body),
            ("PUT", ["rebase"]) => {
                return match hub.update(number) {
                    Some(()) => (202, json!({"rebase_in_progress": true})),
                    None => message(409, "conflicts"),
                };
            }
            _ => return message(404, "404 Not Found"),
        }
        (200, self.request(hub, number))
    }

    fn update(&self, hub: &mut Hub, number: u64, body: &Json) -> Option<Reply> {
        hub.head(number);
        let people = |key: &str| {
            let ids = body[key].as_array()?.iter().filter_map(Json::as_u64);
            let name = |id| PEOPLE.iter().find(|(_, known)| *known == id).unwrap().0.to_owned();
            Some(ids.map(name).collect::<Vec<String>>())
        };
        let pull = hub.find(number).unwrap();
        if let Some(title) = body["title"].as_str() {
            let draft = title.strip_prefix("Draft: ");
            (pull.is_draft, pull.title) = (draft.is_some(), draft.unwrap_or(title).to_owned());
        }
        pull.body = body["description"].as_str().map_or(pull.body.clone(), str::to_owned);
        if let Some(labels) = body["add_labels"].as_str() {
            pull.labels.extend(labels.split(',').map(str::to_owned));
        }
        // Without a paid plan the first is taken and the others are not.
        if let Some(people) = people("reviewer_ids") {
            pull.reviewers = people.into_iter().take(1).collect();
        }
        if let Some(people) = people("assignee_ids") {
            pull.assignees = people.into_iter().take(1).collect();
        }
        match body["state_event"].as_str() {
            Some("close") => pull.is_open = false,
            Some("reopen") => pull.is_open = true,
            Some(other) => {
                return Some((
                    400,
                    json!({"error": format!("state_event does not have a valid value: {other}")}),
                ));
            }
            None => {}
        }
        None
    }

    fn merge(&self, hub: &mut Hub, number: u64, body: &Json) -> Reply {
        let how = match (body["squash"] == true, self.method) {
            (true, _) => How::Squash,
            (false, "ff") => How::Rebase,
            _ => How::Merge,
        };
        if body["sha"].as_str() != Some(&hub.head(number)) {
            return message(409, "SHA does not match HEAD of source branch");
        }
        let way = hub.way(number);
        if body["auto_merge"] == true && way == Way::Blocked {
            hub.find(number).unwrap().by_itself = Some(how);
            return (200, self.request(hub, number));
        }
        match hub.merge_now(number, body["sha"].as_str().unwrap(), how) {
            Ok(_) => (200, self.request(hub, number)),
            Err(_) => message(405, "405 Method Not Allowed"),
        }
    }
}
