//! The way of a pull request to its base branch at Gitea: what the forge answers in pieces, put together.
//!
//! `mergeable` is false for a conflict, for a draft and while the forge looks, and true whatever a protected branch says
//! (`PullRequest.Mergeable` in `models/issues/pull.go`): what the branch asks for is read beside it.

use globset::Glob;
use serde_json::{Value as Json, json};

use super::{Gitea, PAGE};
use crate::forge::{
    Check, CheckState, ForgeError, MergeMethod, Mergeable, PullRequest, Review, Standing, State,
};
use crate::http::Method;

const LOOK: &str = "look at a pull request";

/// What a branch asks for before it takes a merge.
#[derive(Default)]
struct Rules {
    /// Patterns of the contexts that have to be there.
    contexts: Vec<String>,
    approvals: u64,
}

impl Gitea {
    pub(super) fn find_standing(&self, number: u64) -> Result<Standing, ForgeError> {
        let answer =
            self.call(LOOK, Method::Get, self.number_address("pulls", number, &[]), None)?;
        let pull = self.read(LOOK, &answer)?;
        if pull.state != State::Open {
            return Ok(standing(pull, Vec::new(), Review::NotNeeded, None));
        }
        let rules = self.rules_of(&pull.base_branch)?;
        let statuses = self.statuses_of(&pull.head_commit)?;
        let review = self.review_of(number, rules.approvals)?;
        let checks = judge(&rules.contexts, statuses);
        let method = self.method_of_repository()?;
        Ok(standing(pull, checks, review, method))
    }

    fn rules_of(&self, branch: &str) -> Result<Rules, ForgeError> {
        let answer = self.call(LOOK, Method::Get, self.address(&["branches", branch]), None)?;
        let contexts = answer["status_check_contexts"].as_array();
        let contexts = contexts.filter(|_| answer["enable_status_check"] == true);
        let contexts = contexts.into_iter().flatten().filter_map(Json::as_str);
        Ok(Rules {
            contexts: contexts.map(str::to_owned).collect(),
            approvals: answer["required_approvals"].as_u64().unwrap_or(0),
        })
    }

    /// The newest status of each context.
    fn statuses_of(&self, commit: &str) -> Result<Vec<(String, CheckState)>, ForgeError> {
        let address =
            self.address(&["commits", commit, "status"]).with_parameter("limit", &PAGE.to_string());
        let answer = self.call(LOOK, Method::Get, address, None)?;
        let all = answer["statuses"].as_array().into_iter().flatten();
        let read = |status: &Json| {
            let state = match status["status"].as_str()? {
                "success" | "warning" | "skipped" => CheckState::Passed,
                "error" | "failure" => CheckState::Failed,
                _ => CheckState::Pending,
            };
            Some((status["context"].as_str()?.to_owned(), state))
        };
        Ok(all.filter_map(read).collect())
    }

    fn review_of(&self, number: u64, needed: u64) -> Result<Review, ForgeError> {
        if needed == 0 {
            return Ok(Review::NotNeeded);
        }
        let address = self
            .number_address("pulls", number, &["reviews"])
            .with_parameter("limit", &PAGE.to_string());
        let answer = self.call(LOOK, Method::Get, address, None)?;
        let reviews = self.api.reader(LOOK).list(&answer)?;
        let counts = |review: &&Json, state: &str| {
            review["state"] == state && review["official"] == true && review["dismissed"] != true
        };
        let given = |state: &str| reviews.iter().filter(|review| counts(review, state)).count();
        Ok(match (given("REQUEST_CHANGES"), given("APPROVED")) {
            (1.., _) => Review::ChangesWanted,
            (0, approved) if approved as u64 >= needed => Review::Approved,
            _ => Review::Missing,
        })
    }

    fn method_of_repository(&self) -> Result<Option<MergeMethod>, ForgeError> {
        let answer = self.call(LOOK, Method::Get, self.address(&[]), None)?;
        Ok(answer["default_merge_style"].as_str().and_then(MergeMethod::parse))
    }

    pub(super) fn ask_to_merge(
        &self,
        number: u64,
        head: &str,
        method: MergeMethod,
        later: bool,
    ) -> Result<(), ForgeError> {
        let body = json!({
            "Do": method.word(),
            "head_commit_id": head,
            "merge_when_checks_succeed": later,
        });
        let address = self.number_address("pulls", number, &["merge"]);
        self.call("merge a pull request", Method::Post, address, Some(&body)).map(drop)
    }

    pub(super) fn merge_base_in(&self, number: u64) -> Result<(), ForgeError> {
        let address =
            self.number_address("pulls", number, &["update"]).with_parameter("style", "merge");
        self.call("bring a pull request up to date", Method::Post, address, None).map(drop)
    }
}

fn standing(
    pull: PullRequest,
    checks: Vec<Check>,
    review: Review,
    method: Option<MergeMethod>,
) -> Standing {
    let lacks = |check: &Check| check.is_required && check.state != CheckState::Passed;
    let is_blocked = matches!(review, Review::Missing | Review::ChangesWanted)
        || checks.iter().any(lacks)
        || pull.is_draft;
    let mergeable = match pull.is_mergeable {
        _ if is_blocked => Mergeable::Blocked,
        Some(true) => Mergeable::Yes,
        _ => Mergeable::Unknown,
    };
    Standing {
        node: pull.node,
        state: pull.state,
        head_commit: pull.head_commit,
        is_draft: pull.is_draft,
        mergeable,
        checks,
        review,
        has_queue: false,
        place: None,
        merges_by_itself: false,
        may_merge_by_itself: true,
        method,
    }
}

/// The statuses as checks: those that a pattern of the branch names are required, and a pattern that names none is a check that
/// has not begun.
fn judge(contexts: &[String], statuses: Vec<(String, CheckState)>) -> Vec<Check> {
    let matches = |pattern: &str, name: &str| match Glob::new(pattern) {
        Ok(glob) => glob.compile_matcher().is_match(name),
        Err(_) => pattern == name,
    };
    let mut checks: Vec<Check> = contexts
        .iter()
        .filter(|pattern| !statuses.iter().any(|(name, _)| matches(pattern, name)))
        .map(|pattern| Check {
            name: pattern.clone(),
            state: CheckState::Pending,
            is_required: true,
        })
        .collect();
    checks.extend(statuses.into_iter().map(|(name, state)| {
        let is_required = contexts.iter().any(|pattern| matches(pattern, &name));
        Check { name, state, is_required }
    }));
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_the_branch_say_what_is_required() {
        let contexts = ["ci/*".to_owned(), "deploy".to_owned()];
        let statuses = vec![
            ("ci/unit".to_owned(), CheckState::Failed),
            ("lint".to_owned(), CheckState::Passed),
        ];
        let check =
            |name: &str, state, is_required| Check { name: name.to_owned(), state, is_required };
        let expected = [
            check("deploy", CheckState::Pending, true),
            check("ci/unit", CheckState::Failed, true),
            check("lint", CheckState::Passed, false),
        ];
        assert_eq!(judge(&contexts, statuses), expected);
    }
}
