//! GitHub's GraphQL API, as far as pull requests need it, and merges over REST.

use serde_json::{Value as Json, json};

use super::Reply;
use super::view::View;
use crate::support::graphql::{Asked, GraphQl};
use crate::support::hub::{How, Hub, Verdict, Way};

/// What a mutation refuses: the kind of the error, and its message.
struct No(&'static str, String);

/// Answers a request; what of it, or of the answer, is against the schema is added to `breaches`.
pub(super) fn answer(
    schema: &GraphQl,
    hub: &mut Hub,
    body: &Json,
    breaches: &mut Vec<String>,
) -> Reply {
    let text = body["query"].as_str().unwrap_or_default();
    let asked = match schema.read(text, &body["variables"]) {
        Ok(asked) => asked,
        Err(fault) => {
            breaches.push(format!("{text}: {fault}"));
            return Reply::of(200, json!({"errors": [{"message": fault}]}));
        }
    };
    let done = match asked.field.as_str() {
        "repository" => standing(hub, &asked),
        "enablePullRequestAutoMerge" => by_itself(hub, &asked),
        "enqueuePullRequest" => enqueue(hub, &asked),
        "createCommitOnBranch" => commit(hub, &asked),
        other => panic!("{other}"),
    };
    match done {
        Ok(value) => {
            let (answer, faults) = schema.answer(&asked, json!({&asked.field: value}));
            breaches.extend(faults);
            Reply::of(200, answer)
        }
        Err(No(kind, message)) => {
            let error = json!({"type": kind, "path": [&asked.field], "message": message});
            Reply::of(200, json!({"data": {&asked.field: null}, "errors": [error]}))
        }
    }
}

fn standing(hub: &mut Hub, asked: &Asked) -> Result<Json, No> {
    let name = |key: &str| asked.variable(key).as_str().unwrap().to_owned();
    if format!("{}/{}", name("owner"), name("name")) != hub.name {
        return Err(No("NOT_FOUND", "Could not resolve to a Repository".to_owned()));
    }
    let number = asked.variable("number").as_u64().unwrap();
    if hub.find(number).is_none() {
        return Err(No(
            "NOT_FOUND",
            format!("Could not resolve to a PullRequest with the number of {number}."),
        ));
    }
    hub.work(number);
    let (way, head) = (hub.way(number), hub.head(number));
    let checks = hub.checks_of(number);
    let pull = hub.find(number).unwrap().clone();
    let has_queue = hub.rules.has_queue;
    let decision = match (pull.review, hub.rules.needs_review) {
        (Some(true), _) => json!("APPROVED"),
        (Some(false), _) => json!("CHANGES_REQUESTED"),
        (None, true) => json!("REVIEW_REQUIRED"),
        (None, false) => Json::Null,
    };
    let start: usize = asked.variable("after").as_str().map_or(0, |after| after.parse().unwrap());
    let page: Vec<Json> = checks.iter().skip(start).take(100).map(check).collect();
    let end = start + page.len();
    let contexts = json!({
        "totalCount": checks.len(),
        "pageInfo": {"hasNextPage": end < checks.len(), "hasPreviousPage": start > 0, "endCursor": end.to_string()},
        "nodes": page,
    });
    let rollup = (!checks.is_empty()).then(|| json!({"id": "R", "contexts": contexts}));
    Ok(json!({
        "id": "R_1",
        "autoMergeAllowed": hub.rules.allows_by_itself,
        "viewerDefaultMergeMethod": hub.rules.methods.first().map_or("MERGE", |how| word(*how)),
        "pullRequest": {
            "id": format!("PR_{number}"),
            "state": if pull.merged.is_some() { "MERGED" } else if pull.is_open { "OPEN" } else { "CLOSED" },
            "isDraft": pull.is_draft,
            "headRefOid": head,
            "mergeable": if way == Way::Conflicts { "CONFLICTING" } else { "MERGEABLE" },
            "mergeStateStatus": match way {
                Way::Clear => "CLEAN",
                Way::Doubtful => "UNSTABLE",
                Way::Conflicts => "DIRTY",
                Way::Draft => "DRAFT",
                Way::Blocked => "BLOCKED",
                Way::Behind => "BEHIND",
            },
            "reviewDecision": decision,
            "mergeCommit": pull.merged.as_ref().map(|oid| json!({"id": "C", "oid": oid})),
            "autoMergeRequest": pull.by_itself.map(|_| json!({"enabledAt": "2026-01-01T00:00:00Z"})),
            "mergeQueue": has_queue.then(|| json!({"id": "MQ"})),
            "mergeQueueEntry": pull.queued.map(|_| json!({"id": "E", "position": 1, "state": "QUEUED"})),
            "statusCheckRollup": rollup,
        },
    }))
}

/// Every second one is a commit status, the others are check runs.
fn check((name, is_required, verdict): &(String, bool, Verdict)) -> Json {
    if name.len() % 2 == 0 {
        let state = match verdict {
            Verdict::Good => "SUCCESS",
            Verdict::Bad => "FAILURE",
            Verdict::Running => "EXPECTED",
        };
        return json!({"__typename": "StatusContext", "context": name, "state": state, "isRequired": is_required});
    }
    let (status, conclusion) = match verdict {
        Verdict::Good => ("COMPLETED", json!("SUCCESS")),
        Verdict::Bad => ("COMPLETED", json!("TIMED_OUT")),
        Verdict::Running => ("IN_PROGRESS", Json::Null),
    };
    json!({"__typename": "CheckRun", "name": name, "status": status, "conclusion": conclusion, "isRequired": is_required})
}

fn word(how: How) -> &'static str {
    match how {
        How::Merge => "MERGE",
        How::Squash => "SQUASH",
        How::Rebase => "REBASE",
    }
}

fn how(word: &str) -> How {
    let all = [How::Merge, How::Squash, How::Rebase];
    all.into_iter().find(|how| self::word(*how).eq_ignore_ascii_case(word)).unwrap()
}

/// The pull request that the input names, at the newest commit that it expects.
fn named(hub: &mut Hub, input: &Json) -> Result<u64, No> {
    let node = input["pullRequestId"].as_str().unwrap();
    let number = node.strip_prefix("PR_").and_then(|number| number.parse().ok());
    let number = number.filter(|number| hub.find(*number).is_some());
    let number = number.ok_or_else(|| No("NOT_FOUND", "Could not resolve to a node".to_owned()))?;
    match input["expectedHeadOid"].as_str() {
        Some(expected) if hub.head(number) != expected => {
            Err(No("UNPROCESSABLE", "Head sha didn't match expected head sha".to_owned()))
        }
        _ => Ok(number),
    }
}

fn by_itself(hub: &mut Hub, asked: &Asked) -> Result<Json, No> {
    let input = asked.variable("input");
    let number = named(hub, input)?;
    if !hub.rules.allows_by_itself {
        return Err(No(
            "UNPROCESSABLE",
            "Auto merge is not allowed for this repository".to_owned(),
        ));
    }
    if hub.way(number) == Way::Clear {
        return Err(No("UNPROCESSABLE", "Pull request Pull request is in clean status".to_owned()));
    }
    hub.find(number).unwrap().by_itself = Some(how(input["mergeMethod"].as_str().unwrap()));
    Ok(json!({"clientMutationId": null, "pullRequest": {"id": format!("PR_{number}")}}))
}

fn enqueue(hub: &mut Hub, asked: &Asked) -> Result<Json, No> {
    let number = named(hub, asked.variable("input"))?;
    if !hub.rules.has_queue {
        return Err(No("UNPROCESSABLE", "The base branch has no merge queue".to_owned()));
    }
    hub.find(number).unwrap().queued = Some(2);
    let entry = json!({"id": "E", "position": 1, "state": "QUEUED"});
    Ok(json!({"clientMutationId": null, "mergeQueueEntry": entry}))
}

fn commit(hub: &mut Hub, asked: &Asked) -> Result<Json, No> {
    use base64::Engine as _;
    let input = asked.variable("input");
    let text = |pointer: &str| input.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
    assert_eq!(text("/branch/repositoryNameWithOwner"), hub.name);
    let list = |key: &str| input["fileChanges"][key].as_array().cloned().unwrap_or_default();
    let path = |change: &Json| change["path"].as_str().unwrap().to_owned();
    let decode = |change: &Json| {
        let text = change["contents"].as_str().unwrap();
        base64::engine::general_purpose::STANDARD.decode(text).unwrap()
    };
    let added = list("additions").into_iter().map(|c| (path(&c), Some(decode(&c))));
    let gone = list("deletions").into_iter().map(|c| (path(&c), None));
    let files: Vec<(String, Option<Vec<u8>>)> = added.chain(gone).collect();
    let message = match text("/message/body") {
        "" => text("/message/headline").to_owned(),
        body => format!("{}\n\n{body}", text("/message/headline")),
    };
    let (branch, head) =
        (text("/branch/branchName").to_owned(), text("/expectedHeadOid").to_owned());
    match hub.commit(&branch, &head, &message, &files) {
        Some(oid) => Ok(json!({"clientMutationId": null, "commit": {"id": "C", "oid": oid}})),
        None => Err(No(
            "STALE_DATA",
            format!("Expected branch to point to \"{head}\" but it did not. Pull and try again."),
        )),
    }
}

impl View<'_> {
    /// `PUT …/merge`.
    pub(super) fn merge(&self, hub: &mut Hub, number: u64, body: &Json) -> Reply {
        let how = how(body["merge_method"].as_str().unwrap_or("merge"));
        match hub.merge_now(number, body["sha"].as_str().unwrap_or_default(), how) {
            Ok(commit) => {
                let mut answer = self.operation.smallest_answer(200);
                (answer["sha"], answer["merged"]) = (json!(commit), json!(true));
                Reply::of(200, answer)
            }
            Err(words) if words.starts_with("Head branch") => Reply::message(409, words),
            Err(words) => Reply::message(405, words),
        }
    }

    /// `PUT …/update-branch`.
    pub(super) fn update_branch(&self, hub: &mut Hub, number: u64, body: &Json) -> Reply {
        if body["expected_head_sha"].as_str() != Some(&hub.head(number)) {
            return Reply::invalid(
                json!([{"resource": "PullRequest", "field": "expected_head_sha", "code": "invalid"}]),
            );
        }
        match hub.update(number) {
            Some(()) => {
                Reply::of(202, json!({"message": "Updating pull request branch.", "url": "x"}))
            }
            None => Reply::message(422, "merge conflict between base and head"),
        }
    }

    /// A comment; its id tells its pull request and its place.
    pub(super) fn comment(&self, smallest: Json, number: u64, at: usize, text: &str) -> Json {
        let mut out = smallest;
        (out["id"], out["body"]) = (json!(number * 1000 + at as u64 + 1), json!(text));
        out
    }

    /// `PATCH /issues/comments/ID`.
    pub(super) fn edit_comment(&self, hub: &mut Hub, id: &str, body: &Json) -> Reply {
        let id: u64 = id.parse().unwrap_or_default();
        let (number, at) = (id / 1000, (id % 1000) as usize);
        let pull = hub.find(number);
        let Some(comment) = pull.and_then(|pull| pull.comments.get_mut(at.wrapping_sub(1))) else {
            return Reply::message(404, "Not Found");
        };
        *comment = body["body"].as_str().unwrap().to_owned();
        let text = comment.clone();
        Reply::of(200, self.comment(self.operation.smallest_answer(200), number, at - 1, &text))
    }
}
