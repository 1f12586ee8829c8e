//! The way of a pull request to its base branch at GitHub: how it stands, auto-merge, merge queues.

use serde_json::{Value as Json, json};

use super::GitHub;
use super::questions::Question;
use crate::forge::{
    Check, CheckState, ForgeError, MergeMethod, Mergeable, Review, Standing, State,
};

/// The most pages of checks that are read, of a hundred each.
const MOST_CHECK_PAGES: usize = 5;

const STANDING: Question = Question {
    action: "look at a pull request",
    text: include_str!("texts/standing.graphql"),
    reads: true,
};

const AUTO_MERGE: Question = Question {
    action: "let it merge a pull request by itself",
    text: include_str!("texts/auto_merge.graphql"),
    reads: false,
};

const ENQUEUE: Question = Question {
    action: "put a pull request in the merge queue",
    text: include_str!("texts/enqueue.graphql"),
    reads: false,
};

impl GitHub {
    pub(super) fn find_standing(&self, number: u64) -> Result<Standing, ForgeError> {
        let mut first: Option<Standing> = None;
        let mut after = Json::Null;
        for _ in 0..MOST_CHECK_PAGES {
            let repository = &self.site.repository;
            let (owner, name) = (&repository.owner, &repository.name);
            let variables = json!({"owner": owner, "name": name, "number": number, "after": after});
            let data = self.questions.ask(STANDING, variables)?;
            let page = read_standing(&data)
                .ok_or_else(|| self.questions.unexpected(STANDING, "no such pull request"))?;
            let info = "/repository/pullRequest/statusCheckRollup/contexts/pageInfo";
            let info = data.pointer(info).cloned().unwrap_or_default();
            match &mut first {
                Some(first) => first.checks.extend(page.checks),
                None => first = Some(page),
            }
            if info["hasNextPage"] != true || info["endCursor"].is_null() {
                break;
            }
            after = info["endCursor"].clone();
        }
        first.ok_or_else(|| self.questions.unexpected(STANDING, "no such pull request"))
    }

    pub(super) fn enable_auto_merge(
        &self,
        standing: &Standing,
        method: MergeMethod,
    ) -> Result<(), ForgeError> {
        let input = json!({
            "pullRequestId": standing.node,
            "expectedHeadOid": standing.head_commit,
            "mergeMethod": method.word().to_ascii_uppercase(),
        });
        self.questions.ask(AUTO_MERGE, json!({"input": input})).map(drop)
    }

    pub(super) fn put_in_queue(&self, standing: &Standing) -> Result<(), ForgeError> {
        let input =
            json!({"pullRequestId": standing.node, "expectedHeadOid": standing.head_commit});
        self.questions.ask(ENQUEUE, json!({"input": input})).map(drop)
    }
}

/// Reads an answer to [`STANDING`]; `None` where there is no such pull request in it.
fn read_standing(data: &Json) -> Option<Standing> {
    let repository = data.get("repository")?;
    let pull = repository.get("pullRequest").filter(|pull| pull.is_object())?;
    let word = |key: &str| pull.get(key).and_then(Json::as_str).unwrap_or_default();
    let is_there = |key: &str| pull.get(key).is_some_and(|value| !value.is_null());
    let method = repository["viewerDefaultMergeMethod"].as_str().map(str::to_ascii_lowercase);
    let commit = pull.pointer("/mergeCommit/oid").and_then(Json::as_str).map(str::to_owned);
    let checks = pull.pointer("/statusCheckRollup/contexts/nodes").and_then(Json::as_array);
    Some(Standing {
        node: word("id").to_owned(),
        state: match word("state") {
            "MERGED" => State::Merged { commit },
            "CLOSED" => State::Closed,
            _ => State::Open,
        },
        head_commit: word("headRefOid").to_owned(),
        is_draft: pull["isDraft"] == true,
        mergeable: read_mergeable(word("mergeable"), word("mergeStateStatus")),
        checks: checks.into_iter().flatten().filter_map(read_check).collect(),
        review: match word("reviewDecision") {
            "APPROVED" => Review::Approved,
            "REVIEW_REQUIRED" => Review::Missing,
            "CHANGES_REQUESTED" => Review::ChangesWanted,
            _ => Review::NotNeeded,
        },
        has_queue: is_there("mergeQueue"),
        place: pull.pointer("/mergeQueueEntry/position").and_then(Json::as_u64),
        merges_by_itself: is_there("autoMergeRequest"),
        may_merge_by_itself: repository["autoMergeAllowed"] == true || is_there("mergeQueue"),
        method: method.and_then(|word| MergeMethod::parse(&word)),
    })
}

fn read_mergeable(mergeable: &str, state: &str) -> Mergeable {
    match (mergeable, state) {
        ("CONFLICTING", _) | (_, "DIRTY") => Mergeable::Conflicts,
        (_, "CLEAN" | "HAS_HOOKS" | "UNSTABLE") => Mergeable::Yes,
        (_, "BEHIND") => Mergeable::Behind,
        (_, "BLOCKED" | "DRAFT") => Mergeable::Blocked,
        _ => Mergeable::Unknown,
    }
}

/// A check run, or a commit status.
fn read_check(node: &Json) -> Option<Check> {
    let word = |key: &str| node.get(key).and_then(Json::as_str).unwrap_or_default();
    let name = match word("name") {
        "" => word("context"),
        name => name,
    };
    let state = match (word("status"), word("conclusion"), word("state")) {
        ("COMPLETED", "SUCCESS" | "NEUTRAL" | "SKIPPED", _) | ("", _, "SUCCESS") => {
            CheckState::Passed
        }
        ("COMPLETED", ..) | ("", _, "FAILURE" | "ERROR") => CheckState::Failed,
        _ => CheckState::Pending,
    };
    let is_required = node["isRequired"] == true;
    (!name.is_empty()).then(|| Check { name: name.to_owned(), state, is_required })
}
