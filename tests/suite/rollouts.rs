//! `overlay verify --follow` over recorded watches: each folder of `fixtures/rollouts` is a story, told in `expected.json`,
//! whose findings were written by hand from what the objects in it say. Those that begin with `recorded-` were written down by
//! `tools/rollout_stories.py --record` from a real API server and its controllers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::json_schema::faults;
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
    let schema = fs::read_to_string("docs/result.schema.json").unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut wrong = Vec::new();
    for story in stories {
        let text = fs::read_to_string(story.join("expected.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let ran = follow(&repo, &story, expected["namespace"].as_str().unwrap_or("shop"));
        let told = ran.json();
        let name = story.file_name().unwrap().to_str().unwrap().to_owned();
        let odd = faults(&schema, &told);
        if !odd.is_empty() {
            wrong.push(format!("{name}: not by the published schema: {odd:?}"));
        }
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

/// One thing that is not as it should be, put into a clean recording, is found: the rules have teeth.
#[test]
fn a_clean_roll_with_one_thing_wrong_is_not_clean() {
    let repo = TestRepo::with_files(&[]);
    let clean = stories().into_iter().find(|story| story.ends_with("clean")).unwrap();
    let text = fs::read_to_string(clean.join("watch.json")).unwrap();
    let documents: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut documents = documents.clone();
        change(&mut documents);
        let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
        repo.write("changed/watch.json", &lines.join("\n"));
        let told = follow(&repo, &repo.path().join("changed"), "shop").json();
        let found = told["result"]["findings"].as_array().unwrap().iter();
        let ids: Vec<String> = found.map(|f| f["id"].as_str().unwrap().to_owned()).collect();
        (told["result"]["follow"]["ending"].as_str().unwrap().to_owned(), ids.join(" "))
    };
    let ready = |document: &Value| document["object"]["status"]["conditions"][3]["status"].clone();
    let is_of = |document: &Value, end: &str| {
        document["object"]["metadata"]["name"].as_str().is_some_and(|name| name.ends_with(end))
    };
    assert_eq!(of(&|_| ()), ("settled".into(), String::new()));
    // An old pod does not turn unready before its containers end.
    let without_unready = |documents: &mut Vec<Value>| {
        let is_it = |d: &Value| {
            let state = &d["object"]["status"]["containerStatuses"][0]["state"];
            is_of(d, "-a") && ready(d) == "False" && state["running"].is_object()
        };
        documents.retain(|document| !is_it(document));
    };
    assert_eq!(of(&without_unready), ("settled".into(), "exited-ready".into()));
    // The second old pod is told to end before the new one is ready.
    let too_early = |documents: &mut Vec<Value>| {
        let at = documents.iter().position(|d| is_of(d, "-d") && ready(d) == "True").unwrap();
        let to = documents.iter().position(|d| {
            is_of(d, "-b") && d["object"]["metadata"]["deletionTimestamp"].is_string()
        });
        documents.swap(at, to.unwrap());
    };
    assert_eq!(of(&too_early), ("settled".into(), "below-minimum".into()));
    // The last old pod is never gone, and never ends.
    let lingers = |documents: &mut Vec<Value>| {
        let is_last = |d: &Value| {
            is_of(d, "-b")
                && (d["type"] == "DELETED"
                    || d["object"]["status"]["containerStatuses"][0]["state"]["terminated"]
                        .is_object())
        };
        documents.retain(|document| !is_last(document));
    };
    assert_eq!(of(&lingers), ("late".into(), "stuck-terminating".into()));
    // The numbers of the Deployment never arrive.
    let unfinished = |documents: &mut Vec<Value>| {
        let last = documents.iter().rposition(|d| d["object"]["kind"] == "Deployment").unwrap();
        documents.remove(last);
    };
    assert_eq!(of(&unfinished).0, "late");
    // The new pods run another image than their template says.
    let other = |documents: &mut Vec<Value>| {
        for document in documents.iter_mut().filter(|d| is_of(d, "-d")) {
            document["object"]["status"]["containerStatuses"][0]["imageID"] = json!(
                "ghcr.io/shop/web@sha256:c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3"
            );
        }
    };
    assert_eq!(of(&other), ("settled".into(), "image-unknown".into()));
}
