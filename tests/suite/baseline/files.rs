//! Files that are no baselines, or that somebody else wrote; and what a baseline does not hold.

use serde_json::{Value, json};

use super::{Lab, pod, well};

#[test]
fn files_that_are_no_baselines() {
    let lab = Lab::with(&well());
    let ran = lab.compare();
    assert_eq!((ran.status, ran.code().as_str()), (4, "no-such-file"), "{ran:?}");
    for (text, says) in [
        ("", "not a baseline"),
        ("{}", "not a baseline"),
        ("replicas: 2\n", "not a baseline"),
        (r#"{"baselineVersion": 1, "recordedAt": "x"}"#, "not a baseline"),
        (r#"{"baselineVersion": 2, "everything": "else"}"#, "version 2"),
        (r#"{"baselineVersion": 0, "recordedAt": "2020-01-01T00:00:00Z"}"#, "version 0"),
        (r#"{"baselineVersion": "1"}"#, "not a baseline"),
        (r#"{"baselineVersion": -1}"#, "not a baseline"),
        (r#"{"baselineVersion": 18446744073709551616}"#, "not a baseline"),
        (&"[".repeat(100_000), "not a baseline"),
    ] {
        lab.0.write("before.json", text);
        for ran in [lab.compare(), lab.record()] {
            assert_eq!(
                (ran.status, ran.code().as_str()),
                (3, "baseline-invalid"),
                "{text} {ran:?}"
            );
            assert!(ran.json()["error"]["message"].as_str().unwrap().contains(says), "{ran:?}");
        }
        // Whatever it was, it is not written over.
        assert_eq!(std::fs::read_to_string(lab.0.path().join("before.json")).unwrap(), text);
    }
    // Bytes that are no text.
    std::fs::write(lab.0.path().join("before.json"), [0x1f, 0x8b, 0xff, 0]).unwrap();
    let ran = lab.compare();
    assert_eq!((ran.status, ran.code().as_str()), (3, "baseline-invalid"), "{ran:?}");
    std::fs::create_dir(lab.0.path().join("folder")).unwrap();
    for action in ["record", "compare"] {
        let ran = lab.run(&[action, "folder"]);
        assert!([2, 3, 4].contains(&ran.status), "{ran:?}");
    }
    lab.0.write("dump.json", "NAME READY\n");
    let ran = lab.run(&["record", "new.json"]);
    assert_eq!((ran.status, ran.code().as_str()), (3, "dump-invalid"), "{ran:?}");
    assert!(!lab.0.path().join("new.json").exists());
}

/// A baseline of which a part was replaced by hand.
fn doctored(lab: &Lab, path: &str, value: Value) {
    let file = lab.0.path().join("before.json");
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    *json.pointer_mut(path).unwrap() = value;
    std::fs::write(&file, json.to_string()).unwrap();
}

#[test]
fn a_baseline_that_somebody_else_wrote_is_data_alone() {
    let mut objects = well();
    objects.push(pod("mail", "aaa", false));
    let lab = Lab::with(&objects);
    // A name that would lead elsewhere in an address of the API.
    lab.record();
    doctored(&lab, "/namespace", json!("../../secrets"));
    let ran = lab.compare();
    assert_eq!((ran.status, ran.code().as_str()), (3, "baseline-invalid"), "{ran:?}");
    let ran = lab.run(&["compare", "before.json", "--namespace", "a/b"]);
    assert_eq!((ran.status, ran.code().as_str()), (2, "usage"), "{ran:?}");
    // Fields that nobody knows, and kinds of trouble.
    lab.0.write("before.json", "");
    std::fs::remove_file(lab.0.path().join("before.json")).unwrap();
    lab.record();
    doctored(&lab, "/troubles/0/what", json!("rm -rf"));
    assert_eq!(lab.compare().code(), "baseline-invalid");
    // Numbers as large as they get, and signs that a terminal would obey.
    doctored(&lab, "/troubles/0/what", json!("pods-not-ready"));
    doctored(&lab, "/troubles/0/count", json!(u64::MAX));
    doctored(&lab, "/troubles/0/detail", json!("\u{1b}]0;owned\u{7}\r\nerror: all is well"));
    doctored(&lab, "/recordedAt", json!("\u{1b}[2J"));
    doctored(&lab, "/addresses", json!({ "no-slash": ["\u{1b}[31m"], "edge/gateway": [] }));
    let ran = lab.0.overlay(&["baseline", "compare", "before.json", "--from", "dump.json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for output in [&ran.stdout, &ran.stderr] {
        assert!(!output.contains(['\u{1b}', '\u{7}', '\r']), "{ran:?}");
        assert!(!output.lines().any(|line| line.starts_with("error: all is well")), "{ran:?}");
    }
}

#[test]
fn no_value_of_a_secret_is_in_it() {
    let mut objects = well();
    objects.push(json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "namespace": "shop", "name": "db" },
        "data": { "password": "aHVudGVyMg==" } }));
    let mut mounts = pod("web", "aaa", false);
    mounts["spec"]["containers"][0]["env"] = json!([{ "name": "TOKEN", "value": "hunter2" }]);
    objects.push(mounts);
    let lab = Lab::with(&objects);
    let ran = lab.record();
    assert_eq!(ran.status, 0, "{ran:?}");
    let text = std::fs::read_to_string(lab.0.path().join("before.json")).unwrap();
    assert!(!text.contains("aHVudGVyMg") && !text.contains("hunter2"), "{text}");
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["baselineVersion"], 1);
}
