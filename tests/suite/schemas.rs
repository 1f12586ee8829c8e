//! The published schemas say what the program reads and prints: no more, and no less.

use std::fs;

use overlay::config::{
    CHECK_KEYS, DRAIN_KEYS, GROUP_KEYS, KEYS, LOG_KEYS, ORDER_KEYS, PAIR_KEYS, QUERY_KEYS,
    Settings, VERIFY_KEYS,
};
use serde_json::Value;

use crate::support::json_schema::faults;
use crate::support::repo::TestRepo;

fn published(name: &str) -> Value {
    let text = fs::read_to_string(format!("docs/{name}.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn keys<'a>(schema: &'a Value, pointer: &str) -> Vec<&'a str> {
    let mut keys: Vec<&str> =
        schema.pointer(pointer).unwrap().as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(keys: &[&'a str]) -> Vec<&'a str> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys
}

#[test]
fn the_schema_of_the_settings_has_their_keys() {
    let schema = published("config");
    assert_eq!(keys(&schema, "/properties"), sorted(&KEYS));
    assert_eq!(keys(&schema, "/properties/checks/properties"), sorted(&CHECK_KEYS));
    let drain = "/properties/drain/properties";
    assert_eq!(keys(&schema, drain), sorted(&DRAIN_KEYS));
    assert_eq!(keys(&schema, &format!("{drain}/order/items/properties")), sorted(&ORDER_KEYS));
    assert_eq!(keys(&schema, &format!("{drain}/pairs/items/properties")), sorted(&PAIR_KEYS));
    let verify = "/properties/verify/properties";
    assert_eq!(keys(&schema, verify), sorted(&VERIFY_KEYS));
    assert_eq!(keys(&schema, &format!("{verify}/queries/items/properties")), sorted(&QUERY_KEYS));
    assert_eq!(keys(&schema, &format!("{verify}/logs/items/properties")), sorted(&LOG_KEYS));
    let rules = overlay::drain::BuiltIn::ALL.map(overlay::drain::BuiltIn::word);
    assert_eq!(keys(&schema, &format!("{drain}/rules/properties")), sorted(&rules));
    assert_eq!(keys(&schema, "/$defs/group/anyOf/1/properties"), sorted(&GROUP_KEYS));
    let ids: Vec<Value> =
        overlay::checks::ALL.iter().map(|check| check.id.as_str().into()).collect();
    let mut known = schema["$defs"]["check"]["enum"].as_array().unwrap().clone();
    known.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    let mut ids = ids;
    ids.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    assert_eq!(known, ids);
}

/// Settings in YAML that is JSON too, so that another reader hands them to the judge.
const SETTINGS: [(&str, bool); 55] = [
    ("null", true),
    ("{}", true),
    ("[]", false),
    (r#"{"timeout": "1m30s"}"#, true),
    (r#"{"timeout": "90"}"#, false),
    (r#"{"timout": "90s"}"#, false),
    (r#"{"groups": {"mesh": ["web", "Deployment/api"]}}"#, true),
    (r#"{"groups": {"mesh": {"selector": "a=b"}}}"#, true),
    (r#"{"groups": {"mesh": {"workloads": ["web"], "selector": "a=b"}}}"#, true),
    (r#"{"groups": {"mesh": []}}"#, false),
    (r#"{"groups": {"mesh": {}}}"#, false),
    (r#"{"groups": {"mesh": "web"}}"#, false),
    (r#"{"groups": {"mesh": {"names": ["web"]}}}"#, false),
    (r#"{"groups": ["web"]}"#, false),
    (r#"{"checks": {"severity": {"pdb-missing": "off"}}}"#, true),
    (r#"{"checks": {"severity": {"pdb-missing": "bad"}}}"#, false),
    (r#"{"checks": {"severity": {"no-such-check": "off"}}}"#, false),
    (r#"{"checks": {"exceptions": [{"check": "pdb-missing", "reason": "one node"}]}}"#, true),
    (r#"{"checks": {"exceptions": [{"check": "pdb-missing"}]}}"#, false),
    (r#"{"checks": {"exceptions": [{"check": "pdb-missing", "reason": ""}]}}"#, false),
    (r#"{"checks": {"budgets": [{"name": "a", "limit": 400, "perPod": 9}]}}"#, true),
    (
        r#"{"checks": {"budgets": [{"name": "a", "limit": "2Gi", "perPod": {"env": "POOL"}}]}}"#,
        true,
    ),
    (r#"{"checks": {"budgets": [{"name": "a", "perPod": 1}]}}"#, false),
    (r#"{"checks": {"budgets": [{"name": "a", "limit": 1, "perPod": {}}]}}"#, false),
    (r#"{"checks": {"nodes": 3, "nodeDrain": "300s"}}"#, true),
    (r#"{"checks": {"nodes": 0}}"#, false),
    (r#"{"checks": {"nodeSize": {"cpu": "1900m"}}}"#, true),
    (r#"{"checks": {"nodeSize": {"disk": "1Gi"}}}"#, false),
    (r#"{"checks": {"nodeLabels": ["a.example/b"], "imageArguments": ["--image"]}}"#, true),
    (r#"{"checks": {"nodeLabels": "a"}}"#, false),
    (r#"{"drain": {"nodes": ["a"], "selector": "pool=old"}}"#, true),
    (
        r#"{"drain": {"order": [{"before": "a/b", "after": "a/Deployment/c", "optional": true}]}}"#,
        true,
    ),
    (r#"{"drain": {"order": [{"before": "a/b"}]}}"#, false),
    (r#"{"drain": {"order": [{"before": "b", "after": "a/c"}]}}"#, false),
    (r#"{"drain": {"pairs": [{"name": "a", "namespace": "b", "selector": "c=d"}]}}"#, true),
    (r#"{"drain": {"pairs": [{"name": "a", "selector": "c=d"}]}}"#, false),
    (r#"{"drain": {"protected": ["a/b"], "rules": {"pairs-apart": "off"}}}"#, true),
    (r#"{"drain": {"rules": {"pairs-apart": "never"}}}"#, false),
    (r#"{"drain": {"rules": {"pairs": "off"}}}"#, false),
    (r#"{"drain": {"node": ["a"]}}"#, false),
    (r#"{"waves": {"fleet": ["overlays/dev", ["overlays/stage-*", "overlays/prod"]]}}"#, true),
    (r#"{"waves": {"fleet": []}}"#, false),
    (r#"{"waves": {"fleet": ["overlays/dev", []]}}"#, false),
    (
        r#"{"verify": {"prometheus": "https://p.example", "queries": [{"name": "a", "query": "b",
        "atMost": 0.5, "overlays": ["overlays/*"]}]}}"#,
        true,
    ),
    (r#"{"verify": {"prometheus": "p.example"}}"#, false),
    (r#"{"verify": {"queries": [{"name": "a", "query": "b", "atLeast": -1e-3}]}}"#, true),
    (r#"{"verify": {"queries": [{"name": "a", "query": "b"}]}}"#, false),
    (r#"{"verify": {"queries": [{"name": "a", "atMost": 1}]}}"#, false),
    (r#"{"verify": {"queries": [{"name": "a", "query": "b", "atMost": "1"}]}}"#, false),
    (
        r#"{"verify": {"logs": [{"workload": "Deployment/a", "container": "b", "forbid": "c"}]}}"#,
        true,
    ),
    (r#"{"verify": {"logs": [{"workload": "a", "require": "b", "overlays": ["c"]}]}}"#, true),
    (r#"{"verify": {"logs": [{"workload": "a"}]}}"#, false),
    (r#"{"verify": {"logs": [{"forbid": "a"}]}}"#, false),
    (r#"{"verify": {"logs": {"workload": "a", "forbid": "b"}}}"#, false),
    (r#"{"waves": ["overlays/dev"]}"#, false),
];

#[test]
fn the_schema_of_the_settings_takes_what_the_reader_takes() {
    let schema = published("config");
    for (text, is_right) in SETTINGS {
        let read = Settings::parse(text);
        let found = faults(&schema, &serde_json::from_str(text).unwrap());
        assert_eq!(
            (read.is_ok(), found.is_empty()),
            (is_right, is_right),
            "{text}: {read:?} {found:?}"
        );
    }
}

#[test]
fn the_command_prints_the_published_schemas() {
    let repo = TestRepo::with_files(&[]);
    for name in ["changes", "config", "hold", "result"] {
        let ran = repo.overlay(&["schema", name]);
        let text = fs::read_to_string(format!("docs/{name}.schema.json")).unwrap();
        assert!(ran.status == 0 && ran.stdout == text, "{name}: {ran:?}");
        let ran = repo.overlay(&["schema", name, "-o", "json"]);
        assert_eq!(ran.json()["result"]["schema"], published(name));
    }
    let ran = repo.overlay(&["schema", "confg", "-o", "json"]);
    assert_eq!((ran.status, ran.code().as_str()), (2, "usage"));
}
