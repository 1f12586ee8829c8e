//! The same runs against the GitHub of the tests and against one that somebody else wrote. Where the two differ, the difference is
//! listed here and tested: what the emulator does not judge rests on GitHub's description alone.

use crate::support::emulator::Emulator;
use crate::support::runs;

use super::*;

/// One of the two, and what it answers to.
struct Side {
    stage: Stage,
    api: String,
    emulator: Option<Emulator>,
}

impl Side {
    fn ours() -> Self {
        let stage = Stage::new(1);
        let api = stage.github.api();
        Self { stage, api, emulator: None }
    }

    fn theirs() -> Option<Self> {
        let stage = Stage::new(1);
        let emulator = Emulator::start(&stage.lab.path(""), REPOSITORY)?;
        let api = emulator.api.clone();
        Some(Self { stage, api, emulator: Some(emulator) })
    }

    /// What a run comes to.
    fn run(&self, args: &[&str]) -> Json {
        let mut command = self.stage.command(args);
        command.env("GITHUB_API_URL", &self.api).env("GITHUB_REPOSITORY", REPOSITORY);
        let ran = self.stage.finish(command.output().unwrap());
        let codes: Vec<&Json> = ran.json["result"]["notes"]
            .as_array()
            .map(|notes| notes.iter().map(|note| &note["code"]).collect())
            .unwrap_or_default();
        let pull = &ran.json["result"]["pullRequest"];
        serde_json::json!({
            "status": ran.status, "changed": ran.json["changed"], "error": ran.json["error"]["message"],
            "number": pull["number"], "action": pull["action"], "supersedes": pull["supersedes"],
            "branch": ran.json["result"]["branch"], "notes": codes,
        })
    }

    /// Status and body of a call by another client than ours.
    fn call(&self, token: &str, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let mut command = Command::new("curl");
        command.args(["-s", "-m", "20", "-X", method, "-w", "\n%{http_code}"]);
        command.args(["-H", &format!("Authorization: Bearer {token}")]);
        if !body.is_null() {
            command.args(["-H", "Content-Type: application/json", "-d", &body.to_string()]);
        }
        let url = match path {
            "/graphql" => self.api.replace("/api/v3", "/api") + path,
            _ => format!("{}/repos/{REPOSITORY}{path}", self.api),
        };
        let text = String::from_utf8(command.arg(url).output().unwrap().stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), serde_json::from_str(body).unwrap_or(Json::Null))
    }

    /// All pull requests as the forge tells them, in the words that both use.
    fn pulls(&self) -> Vec<Json> {
        let (status, list) = self.call(TOKEN, "GET", "/pulls?state=all", &Json::Null);
        assert_eq!(status, 200, "{list}");
        let told = |pull: &Json| {
            let number = &pull["number"];
            let comments = format!("/issues/{number}/comments");
            let comments = self.call(TOKEN, "GET", &comments, &Json::Null).1;
            let texts: Vec<&Json> =
                comments.as_array().unwrap().iter().map(|comment| &comment["body"]).collect();
            let labels: Vec<&Json> =
                pull["labels"].as_array().unwrap().iter().map(|label| &label["name"]).collect();
            serde_json::json!({
                "number": number, "state": pull["state"], "title": pull["title"], "body": without_commits(pull),
                "draft": pull["draft"], "head": pull["head"]["ref"], "base": pull["base"]["ref"],
                "of": pull["head"]["repo"]["full_name"], "labels": labels, "comments": texts,
            })
        };
        let mut all: Vec<Json> = list.as_array().unwrap().iter().map(told).collect();
        all.sort_by_key(|pull| pull["number"].as_u64());
        all
    }
}

/// The body, but for the names of commits, which hold the time.
fn without_commits(pull: &Json) -> String {
    let commits = regex::Regex::new(r#""commits":\["[0-9a-f]{40}"\]"#).unwrap();
    commits.replace(pull["body"].as_str().unwrap(), "COMMITS").into_owned()
}

fn both() -> Option<(Side, Side)> {
    let theirs = Side::theirs()?;
    assert!(runs("curl", &["--version"]), "the second opinion needs curl");
    assert!(theirs.emulator.is_some());
    Some((Side::ours(), theirs))
}

#[test]
fn somebody_elses_github_says_the_same() {
    let Some((ours, theirs)) = both() else { return };
    let pins: Vec<String> = ('1'..='4').map(|digit| pin("shop/app0", digit)).collect();
    let propose = |at: usize, more: &[&'static str]| {
        let args = ["pin", "overlays/prod", &pins[at], "--pr"].map(str::to_owned);
        args.into_iter().chain(more.iter().map(|text| (*text).to_owned())).collect::<Vec<_>>()
    };
    let steps = [
        (propose(0, &[]), (Json::Null, Json::Null)),
        (propose(1, &["--label", "release", "--title", "A \"b\" é"]), (1.into(), "opened".into())),
        (
            propose(1, &["--label", "release", "--title", "A \"b\" é"]),
            (1.into(), "unchanged".into()),
        ),
        // The title is the commit's first line again.
        (propose(1, &["--label", "release"]), (1.into(), "updated".into())),
        (propose(1, &["--label", "release"]), (1.into(), "unchanged".into())),
        (propose(2, &[]), (1.into(), "updated".into())),
        (propose(2, &["--branch", "by/name", "--draft"]), (2.into(), "opened".into())),
        (propose(0, &["--branch", "by/name"]), (2.into(), "closed".into())),
        (propose(3, &["--reviewer", "nobody"]), (3.into(), "opened".into())),
    ];
    for (args, (number, action)) in &steps {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (one, other) = (ours.run(&args), theirs.run(&args));
        assert_eq!(one, other, "{args:?}");
        assert_eq!((&one["number"], &one["action"]), (number, action), "{args:?} {one}");
        assert_eq!(ours.pulls(), theirs.pulls(), "{args:?}");
    }
    ours.stage.github.calls();
}

/// What the emulator takes for right and GitHub does not. Each is asked for, so that the list is true of the version that runs.
#[test]
fn where_the_emulator_differs_is_known() {
    let Some((ours, theirs)) = both() else { return };
    ours.stage.git(&["branch", "topic", "main"]);
    ours.stage.person("topic", "README", "one");
    let new = |head: &str| serde_json::json!({"title": "t", "head": head, "base": "main"});
    let differs = |token: &str, method: &str, path: &str, body: &Json, expected: (u16, u16)| {
        let statuses = [&ours, &theirs].map(|side| side.call(token, method, path, body).0);
        assert_eq!((statuses[0], statuses[1]), expected, "{method} {path} {body}");
    };
    differs(TOKEN, "POST", "/pulls", &new("topic"), (201, 201));
    // A second pull request for one branch, one of a branch that is not there, one with nothing in it.
    differs(TOKEN, "POST", "/pulls", &new("topic"), (422, 201));
    differs(TOKEN, "POST", "/pulls", &new("none"), (422, 201));
    ours.stage.git(&["branch", "same", "main"]);
    differs(TOKEN, "POST", "/pulls", &new("same"), (422, 201));
    // A token that nobody gave out.
    differs("ghp_unknown", "GET", "/pulls", &Json::Null, (401, 200));
    // Assignees of a pull request, and the whole of GraphQL, are not there.
    let people = serde_json::json!({"assignees": ["ann"]});
    differs(TOKEN, "POST", "/issues/1/assignees", &people, (201, 404));
    let question = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { number } } }";
    let variables = serde_json::json!({"owner": "ops", "name": "deploy", "number": 1});
    let question = serde_json::json!({"query": question, "variables": variables});
    differs(TOKEN, "POST", "/graphql", &question, (200, 404));
    // It has no branches of ours, so that it tells of no commit that was pushed.
    let commits = |side: &Side| {
        let (_, list) = side.call(TOKEN, "GET", "/pulls/1/commits", &Json::Null);
        let ids = list.as_array().unwrap().iter().map(|commit| commit["sha"].to_string());
        ids.collect::<Vec<_>>().join(" ").contains(&ours.stage.at("topic").unwrap())
    };
    assert_eq!((commits(&ours), commits(&theirs)), (true, false));
}
