//! GitLab's answers as our types.

use serde_json::Value as Json;

use super::DRAFT;
use crate::forge::read::Reader;
use crate::forge::{BranchCommit, ForgeError, PullRequest, State};

/// The projects that a merge request may be of, by number and name: answers have but the number.
pub(super) struct Projects {
    pub(super) target: (u64, String),
    pub(super) head: (u64, String),
}

impl Projects {
    pub(super) fn pull_request(
        &self,
        reader: &Reader<'_>,
        item: &Json,
    ) -> Result<PullRequest, ForgeError> {
        let number = item["iid"].as_u64();
        let number = number.ok_or_else(|| reader.unexpected("no number at /iid"))?;
        let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let url =
            item["web_url"].as_str().ok_or_else(|| reader.unexpected("no text at /web_url"))?;
        let is_draft = [&item["draft"], &item["work_in_progress"]].contains(&&Json::Bool(true));
        let title = text("title");
        let labels = item["labels"].as_array().into_iter().flatten();
        Ok(PullRequest {
            number,
            node: String::new(),
            url: url.to_owned(),
            title: match title.strip_prefix(DRAFT) {
                Some(rest) if is_draft => rest.to_owned(),
                _ => title,
            },
            body: text("description"),
            head_branch: text("source_branch"),
            head_commit: text("sha"),
            head_repository: self.name_of(&item["source_project_id"]),
            base_branch: text("target_branch"),
            state: state(item),
            is_draft,
            labels: labels.filter_map(|label| label.as_str().map(str::to_owned)).collect(),
            is_mergeable: item["has_conflicts"].as_bool().map(|conflicts| !conflicts),
            merge_state: text("detailed_merge_status"),
            merges_by_itself: item["merge_when_pipeline_succeeds"] == true,
        })
    }

    /// The name of a project; `None` for one of somebody else, and for one that is gone.
    fn name_of(&self, id: &Json) -> Option<String> {
        let id = id.as_u64()?;
        let known = [&self.target, &self.head].into_iter().find(|(known, _)| *known == id);
        known.map(|(_, name)| name.clone())
    }
}

/// What became of it. Merged, it is on the base branch as a merge, as one squashed commit, or, where the project merges by moving the
/// branch, as its own newest commit. While a merge goes on it is `locked`.
fn state(item: &Json) -> State {
    let commit = || {
        let keys = ["merge_commit_sha", "squash_commit_sha", "sha"];
        keys.iter().find_map(|key| item[key].as_str()).map(str::to_owned)
    };
    match item["state"].as_str() {
        Some("merged") => State::Merged { commit: commit() },
        Some("closed") => State::Closed,
        _ => State::Open,
    }
}

pub(super) fn commit(reader: &Reader<'_>, item: &Json) -> Result<BranchCommit, ForgeError> {
    let text = |key: &str| item[key].as_str().map(str::to_owned);
    let missing = || reader.unexpected("a commit without name or message");
    Ok(BranchCommit {
        id: text("id").ok_or_else(missing)?,
        message: text("message").ok_or_else(missing)?,
        committer: text("committer_email").unwrap_or_default(),
    })
}
