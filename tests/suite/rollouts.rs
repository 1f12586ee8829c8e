//! `overlay verify --follow` over recorded watches: each folder of `fixtures/rollouts` is a story, told in `expected.json`,
//! whose findings were written by hand from what the objects in it say. Those that begin with `recorded-` were written down by
//! `tools/rollout_stories.py --record` from a real API server and its controllers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::repo::{Ran, TestRepo};

fn stories() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rollouts");
    let mut stories: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    stories.sort();
    stories
}

fn follow(repo: &TestRepo, story: &Path, namespace: &str) -> Ran {
    let watch = story.join("watch.json");
    let from = ["--from", watch.to_str().unwrap(), "-n", namespace];
    repo.overlay(&[&["verify", "--follow", "--no-registry", "-o", "json"][..], &from].concat())
}

#[test]
fn every_story_is_explained() {
    let repo = TestRepo::with_files(&[]);
    let stories = stories();
    assert!(stories.len() >= 65, "{}", stories.len());
    let mut wrong = Vec::new();
    for story in stories {
        let text = fs::read_to_string(story.join("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let ran = follow(&repo, &story, expected["namespace"].as_str().unwrap_or("shop"));
        let told = ran.json();
        let name = story.file_name().unwrap().to_str().unwrap().to_owned();
        let mut check = |what: &str, is: Value, want: &Value| {
            if is != *want {
                wrong.push(format!("{name}: {what} is {is}, not {want}"));
            }
        };
        check("exit", json!(ran.status), &expected["exit"]);
        check("ending", told["result"]["follow"]["ending"].clone(), &expected["ending"]);
        check("code", told["error"]["code"].clone(), &expected["code"]);
        let found = told["result"]["findings"].as_array().unwrap();
        let key = |id: &Value, object: &str| format!("{} {object}", id.as_str().unwrap());
        let object = |finding: &Value| {
            let part = |field: &str| finding["resource"][field].as_str().unwrap().to_owned();
            format!("{}/{}", part("kind"), part("name"))
        };
        let is: BTreeSet<String> = found.iter().map(|f| key(&f["id"], &object(f))).collect();
        let wanted = expected["findings"].as_array().unwrap();
        let want: BTreeSet<String> =
            wanted.iter().map(|f| key(&f["id"], f["object"].as_str().unwrap())).collect();
        check("findings", json!(is), &json!(want));
        for want in wanted {
            let says = want["says"].as_str().unwrap();
            let is_it = |f: &&Value| f["id"] == want["id"] && want["object"] == *object(f);
            let messages = found.iter().filter(is_it).map(|f| f["message"].as_str().unwrap());
            let messages: Vec<&str> = messages.collect();
            if !messages.iter().any(|message| message.contains(says)) {
                wrong.push(format!("{name}: `{says}` is not in {messages:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is told of a clean roll, second by second.
#[test]
fn each_pod_has_its_life() {
    let repo = TestRepo::with_files(&[]);
    let clean = stories().into_iter().find(|story| story.ends_with("clean")).unwrap();
    let told = follow(&repo, &clean, "shop").json();
    let pods = told["result"]["follow"]["pods"].as_array().unwrap();
    let life = |end: &str| {
        let is_it = |pod: &&Value| pod["name"].as_str().unwrap().ends_with(end);
        let pod = pods.iter().find(is_it).unwrap();
        ["ready", "terminating", "unready", "ended", "gone"].map(|field| match &pod[field] {
            Value::String(time) => time[14..19].to_owned(),
            _ => "-".to_owned(),
        })
    };
    assert_eq!(life("-a"), ["00:00", "00:20", "00:22", "00:30", "00:31"]);
    assert_eq!(life("-b"), ["00:00", "00:50", "00:52", "01:00", "01:01"]);
    assert_eq!(life("-c"), ["00:18", "-", "-", "-", "-"]);
    let steps = told["result"]["follow"]["timeline"].as_array().unwrap();
    let of_a = steps.iter().filter(|step| step["object"].as_str().unwrap().ends_with("-a"));
    let of_a: Vec<&str> = of_a.map(|step| step["what"].as_str().unwrap()).collect();
    assert_eq!(of_a, ["was told to end", "became unready", "ended", "is gone"]);
}

#[test]
fn a_recording_that_is_none_has_its_place() {
    let repo = TestRepo::with_files(&[("watch.json", "{\"type\": \"ADDED\",\n  oops")]);
    let args = ["verify", "-n", "shop", "--follow", "--from", "watch.json", "-o", "json"];
    let ran = repo.overlay(&args);
    assert_eq!((ran.status, &*ran.code()), (3, "dump-invalid"), "{ran:?}");
    assert_eq!(
        ran.json()["error"]["location"],
        json!({"file": "watch.json", "line": 2, "column": 3})
    );
    let ran = repo.overlay(&["verify", "-o", "json"]);
    assert_eq!((ran.status, &*ran.code()), (2, "usage"), "{ran:?}");
}
