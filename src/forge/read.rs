//! GitHub's answers as our types, and Gitea's, which has the same names for what both have. What is missing or null where the
//! descriptions say so is no fault.

use serde_json::Value as Json;

use super::{BranchCommit, ForgeError, PullRequest, State};

/// Reads the answers to one action.
pub(in crate::forge) struct Reader<'a> {
    pub(in crate::forge) host: &'a str,
    pub(in crate::forge) action: &'static str,
}

impl Reader<'_> {
    pub(in crate::forge) fn unexpected(&self, reason: impl Into<String>) -> ForgeError {
        let (host, action) = (self.host.to_owned(), self.action.to_owned());
        ForgeError::Unexpected { host, action, reason: reason.into() }
    }

    pub(in crate::forge) fn list<'a>(&self, answer: &'a Json) -> Result<&'a [Json], ForgeError> {
        answer.as_array().map(Vec::as_slice).ok_or_else(|| self.unexpected("it is no list"))
    }

    fn text(&self, item: &Json, pointer: &str) -> Result<String, ForgeError> {
        let text = item.pointer(pointer).and_then(Json::as_str);
        text.map(str::to_owned).ok_or_else(|| self.unexpected(format!("no text at {pointer}")))
    }

    pub(in crate::forge) fn pull_request(&self, item: &Json) -> Result<PullRequest, ForgeError> {
        let number = item.get("number").and_then(Json::as_u64);
        let number = number.ok_or_else(|| self.unexpected("no number at /number"))?;
        let optional = |pointer: &str| item.pointer(pointer).and_then(Json::as_str);
        let text = |pointer: &str| optional(pointer).unwrap_or_default().to_owned();
        let flag = |pointer: &str| item.pointer(pointer).and_then(Json::as_bool);
        let labels = item.get("labels").and_then(Json::as_array).into_iter().flatten();
        let is_merged = optional("/merged_at").is_some() || flag("/merged") == Some(true);
        let state = match (is_merged, optional("/state")) {
            (true, _) => State::Merged { commit: optional("/merge_commit_sha").map(str::to_owned) },
            (false, Some("closed")) => State::Closed,
            _ => State::Open,
        };
        Ok(PullRequest {
            number,
            node: text("/node_id"),
            url: self.text(item, "/html_url")?,
            title: text("/title"),
            body: text("/body"),
            head_branch: text("/head/ref"),
            head_commit: text("/head/sha"),
            head_repository: optional("/head/repo/full_name").map(str::to_owned),
            base_branch: text("/base/ref"),
            state,
            is_draft: flag("/draft").unwrap_or(false),
            labels: labels.filter_map(|l| l.get("name")?.as_str().map(str::to_owned)).collect(),
            is_mergeable: flag("/mergeable"),
            merge_state: text("/mergeable_state"),
            merges_by_itself: item.get("auto_merge").is_some_and(|value| !value.is_null()),
        })
    }

    pub(in crate::forge) fn commit(&self, item: &Json) -> Result<BranchCommit, ForgeError> {
        let address = item.pointer("/commit/committer/email").and_then(Json::as_str);
        Ok(BranchCommit {
            id: self.text(item, "/sha")?,
            message: self.text(item, "/commit/message")?,
            committer: address.unwrap_or_default().to_owned(),
        })
    }
}
