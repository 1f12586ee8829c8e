//! The way of a merge request to its target branch: GitLab says in one word what stands in the way (docs.gitlab.com/api/merge_requests,
//! "Merge status"), and the project how it merges.

use serde_json::{Value as Json, json};

use super::GitLab;
use crate::forge::{Check, CheckState, ForgeError, MergeMethod, Mergeable, Review, Standing};
use crate::http::Method;

const LOOK: &str = "look at a merge request";
const MERGE: &str = "merge a merge request";

/// The name of the one check that there is.
const PIPELINE: &str = "pipeline";

impl GitLab {
    pub(super) fn find_standing(&self, number: u64) -> Result<Standing, ForgeError> {
        let answer = self.api.call(LOOK, Method::Get, self.request(number, &[]), None)?;
        let pull = self.read(LOOK, &answer)?;
        let project = self.project()?;
        let status = pull.merge_state.as_str();
        let must_pass = project["only_allow_merge_if_pipeline_succeeds"] == true
            || matches!(status, "ci_must_pass" | "ci_still_running");
        Ok(Standing {
            node: pull.node.clone(),
            state: pull.state.clone(),
            head_commit: pull.head_commit.clone(),
            is_draft: pull.is_draft,
            mergeable: mergeable(status, &answer),
            checks: pipeline(&answer, must_pass).into_iter().collect(),
            review: match status {
                "not_approved" => Review::Missing,
                "requested_changes" => Review::ChangesWanted,
                _ => Review::NotNeeded,
            },
            has_queue: false,
            place: None,
            merges_by_itself: pull.merges_by_itself,
            may_merge_by_itself: true,
            method: Some(method_of(&project)),
        })
    }

    fn project(&self) -> Result<Json, ForgeError> {
        self.api.call(LOOK, Method::Get, self.of(&self.site.repository, &[]), None)
    }

    pub(super) fn ask_to_merge(
        &self,
        number: u64,
        head: &str,
        method: MergeMethod,
        later: bool,
    ) -> Result<(), ForgeError> {
        let moves = merges_by_moving(&self.project()?);
        if let (MergeMethod::Merge, true) | (MergeMethod::Rebase, false) = (method, moves) {
            let how = if moves { "moving the branch" } else { "merge commits" };
            let message = format!("the project merges by {how}, not by `{}`", method.word());
            return Err(self.api.refused(MERGE, message));
        }
        let mut body = json!({"sha": head, "squash": method == MergeMethod::Squash});
        if later {
            // The second is the name before GitLab 17.11.
            body["auto_merge"] = json!(true);
            body["merge_when_pipeline_succeeds"] = json!(true);
        }
        let address = self.request(number, &["merge"]);
        match self.api.call(MERGE, Method::Put, address, Some(&body)) {
            // Whoever may not merge is told by the status of a wrong token, which was good a moment ago.
            Err(ForgeError::Unauthorized { host, message }) => {
                Err(ForgeError::Forbidden { host, action: MERGE.to_owned(), message })
            }
            done => done.map(drop),
        }
    }
}

/// Whether the project moves its branch forward instead of merging: with it the commits land as they are.
fn merges_by_moving(project: &Json) -> bool {
    project["merge_method"] == "ff"
}

/// What the project merges by where nobody says otherwise.
fn method_of(project: &Json) -> MergeMethod {
    match project["squash_option"].as_str() {
        Some("always" | "default_on") => MergeMethod::Squash,
        _ if merges_by_moving(project) => MergeMethod::Rebase,
        _ => MergeMethod::Merge,
    }
}

fn mergeable(status: &str, answer: &Json) -> Mergeable {
    match status {
        _ if answer["has_conflicts"] == true => Mergeable::Conflicts,
        "conflict" => Mergeable::Conflicts,
        "mergeable" => Mergeable::Yes,
        "need_rebase" => Mergeable::Behind,
        "unchecked" | "checking" | "preparing" | "approvals_syncing" => Mergeable::Unknown,
        // Before GitLab 15.6 there is no such word.
        "" if answer["merge_status"] == "can_be_merged" => Mergeable::Yes,
        "" => Mergeable::Unknown,
        _ => Mergeable::Blocked,
    }
}

/// The pipeline of the newest commit; one that the project asks for and that is not there has not begun.
fn pipeline(answer: &Json, must_pass: bool) -> Option<Check> {
    let state = match answer["head_pipeline"]["status"].as_str() {
        None if must_pass => CheckState::Pending,
        None => return None,
        Some("success" | "skipped") => CheckState::Passed,
        Some("failed" | "canceled") => CheckState::Failed,
        Some(_) => CheckState::Pending,
    };
    Some(Check { name: PIPELINE.to_owned(), state, is_required: must_pass })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_says_what_stands_in_the_way() {
        for (status, conflicts, expected) in [
            ("mergeable", false, Mergeable::Yes),
            ("mergeable", true, Mergeable::Conflicts),
            ("conflict", false, Mergeable::Conflicts),
            ("need_rebase", false, Mergeable::Behind),
            ("checking", false, Mergeable::Unknown),
            ("not_approved", false, Mergeable::Blocked),
            ("discussions_not_resolved", false, Mergeable::Blocked),
        ] {
            let answer = json!({"has_conflicts": conflicts});
            assert_eq!(mergeable(status, &answer), expected, "{status} {conflicts}");
        }
        assert_eq!(mergeable("", &json!({"merge_status": "can_be_merged"})), Mergeable::Yes);
    }

    #[test]
    fn the_pipeline_is_the_one_check() {
        let with = |status: &str| json!({"head_pipeline": {"status": status}});
        let check = |state, is_required| Check { name: PIPELINE.to_owned(), state, is_required };
        assert_eq!(pipeline(&json!({"head_pipeline": null}), false), None);
        assert_eq!(pipeline(&json!({}), true), Some(check(CheckState::Pending, true)));
        assert_eq!(pipeline(&with("failed"), true), Some(check(CheckState::Failed, true)));
        assert_eq!(pipeline(&with("running"), false), Some(check(CheckState::Pending, false)));
        assert_eq!(pipeline(&with("success"), true), Some(check(CheckState::Passed, true)));
    }
}
