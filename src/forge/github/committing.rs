//! Commits that GitHub makes and signs (`createCommitOnBranch`): those of an App or of a job's token count as verified.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::GitHub;
use super::questions::Question;
use crate::forge::{ForgeError, NewCommit};

const COMMIT: Question =
    Question { action: "make a commit", text: include_str!("texts/commit.graphql"), reads: false };

impl GitHub {
    pub(super) fn create_commit(&self, new: &NewCommit) -> Result<String, ForgeError> {
        let (headline, body) = new.message.split_once('\n').unwrap_or((&new.message, ""));
        let added = new.files.iter().filter_map(|file| {
            let contents = STANDARD.encode(file.content.as_ref()?);
            Some(json!({"path": file.path, "contents": contents}))
        });
        let gone = new.files.iter().filter(|file| file.content.is_none());
        let input = json!({
            "branch": {
                "repositoryNameWithOwner": self.site.head.to_string(),
                "branchName": new.branch,
            },
            "expectedHeadOid": new.head,
            "message": {"headline": headline, "body": body.trim_matches('\n')},
            "fileChanges": {
                "additions": added.collect::<Vec<Json>>(),
                "deletions": gone.map(|file| json!({"path": file.path})).collect::<Vec<Json>>(),
            },
        });
        let data = self.questions.ask(COMMIT, json!({"input": input}))?;
        let id = data.pointer("/createCommitOnBranch/commit/oid").and_then(Json::as_str);
        id.map(str::to_owned).ok_or_else(|| self.questions.unexpected(COMMIT, "no commit in it"))
    }
}
