//! GitHub's words, over REST, for what the hub holds.

use serde_json::{Value as Json, json};

use super::Reply;
use crate::support::hub::{Hub, No, Pull};
use crate::support::openapi::Operation;

/// One operation of the description, and the port that addresses have.
pub(super) struct View<'a> {
    pub(super) operation: &'a Operation<'a>,
    pub(super) port: u16,
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

    pub(super) fn list(&self, hub: &mut Hub, query: &[(String, String)]) -> Reply {
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

    pub(super) fn open(&self, hub: &mut Hub, body: &Json) -> Reply {
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

    pub(super) fn one(
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
