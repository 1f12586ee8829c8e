//! `--commit-via-api`: commits that GitHub makes and signs.

use crate::support::github::Trouble;

use super::*;

/// Whom the fake signs as; git here commits as `case@example.test`.
const FORGE: &str = "web@forge.test";

impl Stage {
    fn committer(&self, revision: &str) -> String {
        self.git(&["log", "-1", "--format=%ce", revision])
    }

    /// No branch of the commits that the forge made is left.
    fn require_tidy(&self) {
        assert_eq!(self.git(&["branch", "--list", "overlay-commit/*"]), "");
        self.github.calls();
        self.lab.require_sound("hub/ops/deploy.git");
    }
}

#[test]
fn the_forge_makes_the_commit_that_was_proven() {
    let stage = Stage::new(1);
    let by_git = Stage::new(1).pin('2', &[]).ok();
    let first = stage.pin('2', &["--commit-via-api"]).ok();
    assert_eq!((first.number(), first.action()), (Some(1), "opened"));
    let branch = first.branch();
    assert_eq!(stage.at(&branch).as_deref(), Some(first.commit()));
    assert_eq!(stage.committer(&branch), FORGE);
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), stage.at("main").unwrap());
    assert_eq!(stage.git(&["diff", "--name-only", "main", &branch]), PROD);
    let message = stage.git(&["log", "-1", "--format=%B", &branch]);
    assert!(message.starts_with("Pin app0 in overlays/prod\n\n"), "{message}");
    assert!(message.contains("\n\nOverlay-Change: v1 {"), "{message}");
    assert_eq!(first.json["result"]["overlays"], by_git.json["result"]["overlays"]);
    stage.require_tidy();
    // Again: nothing. The next release: the same pull request, its one commit replaced.
    assert!(!stage.pin('2', &["--commit-via-api"]).ok().changed());
    let next = stage.pin('3', &["--commit-via-api"]).ok();
    assert_eq!((next.number(), next.action()), (Some(1), "updated"));
    assert_eq!(stage.git(&["rev-list", "--count", &format!("main..{branch}")]), "1");
    assert_eq!(stage.committer(&branch), FORGE);
    // A reviewer's commit survives.
    let reviewed = stage.person(&branch, PROD, "# reviewed");
    stage.pin('4', &["--commit-via-api"]).ok();
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^")]), reviewed);
    assert_eq!(stage.committer(&branch), FORGE);
    let file = stage.git(&["show", &format!("{branch}:{PROD}")]);
    assert!(file.contains("# reviewed") && file.contains(&digest('4')), "{file}");
    // And it lands.
    let landed = stage.pin('4', &["--commit-via-api", "--merge"]).ok();
    assert_eq!(landed.json["result"]["landed"]["commit"], stage.at("main").unwrap());
    stage.require_tidy();
}

#[test]
fn what_the_forge_refuses_leaves_nothing_behind() {
    let stage = Stage::new(1);
    let no = Trouble::Status(403, vec![], "Resource not accessible by integration");
    stage.github.fail("POST", "/graphql", no);
    let ran = stage.pin('2', &["--commit-via-api"]);
    assert_eq!((ran.status, ran.code()), (5, "forge-refused"), "{}", ran.text);
    assert_eq!(stage.git(&["branch", "--list"]), "* main");
    // An answer that was lost: the commit is there, and it is taken.
    stage.github.fail("POST", "/graphql", Trouble::Lost);
    stage.pin('2', &["--commit-via-api"]).ok();
    assert_eq!(stage.github.open_numbers(), [1]);
    stage.require_tidy();
}

/// The mode of a file that may be run stays, and a commit that is not what was proven is never pushed.
#[test]
fn a_commit_that_is_not_the_edit_is_not_taken() {
    let stage = Stage::new(1);
    stage.github.hub(|hub| hub.spoils_commits = true);
    let ran = stage.pin('2', &["--commit-via-api"]);
    assert_eq!((ran.status, ran.code()), (5, "forge-failed"), "{}", ran.text);
    let message = ran.json["error"]["message"].to_string();
    assert!(message.contains("its files are others"), "{message}");
    assert_eq!(stage.git(&["branch", "--list"]), "* main");
}

#[test]
fn who_signs_is_not_who_is_named() {
    let stage = Stage::new(1);
    for more in [&["--sign"][..], &["--author", "A <a@b.test>"]] {
        let args = [&["--commit-via-api"][..], more].concat();
        assert_eq!(stage.pin('2', &args).status, 2, "{more:?}");
    }
}
