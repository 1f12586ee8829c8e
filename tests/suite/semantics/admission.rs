//! What CloudNativePG refuses (semantics section 4.1), rule by rule: no edit leads there, `check` finds it at the value, and a change
//! between two revisions is found too.

use serde_json::{Value, json};

use crate::support::repo::{Ran, TestRepo};

/// A repository whose one overlay renders the Cluster `db` with these lines of its `spec`.
fn database(spec: &str) -> TestRepo {
    TestRepo::with_files(&[
        ("kustomization.yaml", "resources: [db.yaml]\n"),
        ("db.yaml", &manifest(spec)),
    ])
}

fn manifest(spec: &str) -> String {
    let head = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: db\n  annotations:\n    cnpg.io/hibernation: \"off\"\nspec:\n";
    let lines: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    format!("{head}{lines}")
}

/// The line of `text` that holds `part`, from 1.
fn line_of(text: &str, part: &str) -> u64 {
    text.lines().zip(1..).find(|(line, _)| line.contains(part)).unwrap().1
}

/// The edit was refused by the rule, at this place, and nothing was written.
fn require_refused(repo: &TestRepo, ran: &Ran, rule: &str, line: Option<u64>) {
    assert_eq!((ran.status, &*ran.code()), (3, "database-refused"), "{rule}: {ran:?}");
    let place = &ran.json()["error"]["location"];
    match line {
        Some(line) => assert_eq!(place, &json!({"file": "db.yaml", "line": line}), "{rule}"),
        None => assert!(place["line"].as_u64().is_some(), "{rule}: {ran:?}"),
    }
    assert_eq!(repo.git(&["status", "--porcelain"]), "", "{rule}");
}

/// What `check` calls an error of the overlay.
fn errors(repo: &TestRepo, args: &[&str]) -> Vec<Value> {
    let ran = repo.overlay(&[&["check", ".", "-o", "json"], args].concat());
    let found = ran.json()["result"]["overlays"][0]["findings"].as_array().unwrap().clone();
    found.into_iter().filter(|finding| finding["severity"] == "error").collect()
}

/// One rule about a state.
struct Rule {
    /// In the words of the section.
    text: &'static str,
    /// The check that knows it.
    check: &'static str,
    spec: &'static str,
    /// The field that is set.
    field: &'static str,
    /// The line of it in `spec`, with a value that is refused.
    refused: &'static str,
    /// With one that is taken, where the rule has a limit.
    taken: &'static str,
}

const STATES: [Rule; 21] = [
    Rule {
        text: "instances: type: integer",
        check: "cnpg-refused",
        spec: "instances: 3\n",
        field: "spec.instances",
        refused: "instances: two",
        taken: "instances: 2",
    },
    Rule {
        text: "enablePDB: type: boolean",
        check: "cnpg-refused",
        spec: "instances: 3\nenablePDB: true\n",
        field: "spec.enablePDB",
        refused: "enablePDB: on-demand",
        taken: "enablePDB: false",
    },
    Rule {
        text: "instances >= 1",
        check: "cnpg-sync-refused",
        spec: "instances: 3\n",
        field: "spec.instances",
        refused: "instances: 0",
        taken: "instances: 1",
    },
    Rule {
        text: "minSyncReplicas >= 0",
        check: "cnpg-sync-refused",
        spec: "instances: 3\nminSyncReplicas: 1\nmaxSyncReplicas: 1\n",
        field: "spec.minSyncReplicas",
        refused: "minSyncReplicas: -1",
        taken: "minSyncReplicas: 0",
    },
    Rule {
        text: "maxSyncReplicas < instances",
        check: "cnpg-sync-refused",
        spec: "instances: 3\nmaxSyncReplicas: 1\n",
        field: "spec.maxSyncReplicas",
        refused: "maxSyncReplicas: 3",
        taken: "maxSyncReplicas: 2",
    },
    Rule {
        text: "minSyncReplicas <= maxSyncReplicas",
        check: "cnpg-sync-refused",
        spec: "instances: 5\nminSyncReplicas: 1\nmaxSyncReplicas: 2\n",
        field: "spec.minSyncReplicas",
        refused: "minSyncReplicas: 3",
        taken: "minSyncReplicas: 2",
    },
    Rule {
        text: "method any/first",
        check: "cnpg-sync-refused",
        spec: "instances: 4\npostgresql:\n  synchronous:\n    method: any\n    number: 1\n",
        field: "spec.postgresql.synchronous.method",
        refused: "method: all",
        taken: "method: first",
    },
    Rule {
        text: "number > 0",
        check: "cnpg-sync-refused",
        spec: "instances: 4\npostgresql:\n  synchronous:\n    method: any\n    number: 2\n",
        field: "spec.postgresql.synchronous.number",
        refused: "number: 0",
        taken: "number: 1",
    },
    Rule {
        text: "number < instances + len(standbyNamesPre) + len(standbyNamesPost)",
        check: "cnpg-sync-refused",
        spec: "instances: 3\npostgresql:\n  synchronous:\n    method: any\n    number: 1\n    standbyNamesPre: [a]\n    standbyNamesPost: [b]\n",
        field: "spec.postgresql.synchronous.number",
        refused: "number: 5",
        taken: "number: 4",
    },
    Rule {
        text: "dataDurability required (default) or preferred",
        check: "cnpg-sync-refused",
        spec: "instances: 4\npostgresql:\n  synchronous:\n    method: any\n    number: 1\n    dataDurability: required\n",
        field: "spec.postgresql.synchronous.dataDurability",
        refused: "dataDurability: best",
        taken: "dataDurability: preferred",
    },
    Rule {
        text: "preferred needs both name lists empty",
        check: "cnpg-sync-refused",
        spec: "instances: 4\npostgresql:\n  synchronous:\n    method: any\n    number: 1\n    dataDurability: required\n    standbyNamesPost: [b]\n",
        field: "spec.postgresql.synchronous.dataDurability",
        refused: "dataDurability: preferred",
        taken: "",
    },
    Rule {
        text: "failoverQuorum needs number > len(pre)+len(post)",
        check: "cnpg-sync-refused",
        spec: "instances: 4\npostgresql:\n  synchronous:\n    method: any\n    number: 3\n    failoverQuorum: true\n    standbyNamesPre: [a]\n",
        field: "spec.postgresql.synchronous.number",
        refused: "number: 1",
        taken: "number: 2",
    },
    Rule {
        text: "primaryUpdateStrategy supervised is refused with instances 1",
        check: "cnpg-supervised-single",
        spec: "instances: 1\nenablePDB: false\nprimaryUpdateStrategy: unsupervised\n",
        field: "spec.primaryUpdateStrategy",
        refused: "primaryUpdateStrategy: supervised",
        taken: "",
    },
    Rule {
        text: "primaryUpdateStrategy supervised or unsupervised",
        check: "cnpg-refused",
        spec: "instances: 3\nprimaryUpdateStrategy: unsupervised\n",
        field: "spec.primaryUpdateStrategy",
        refused: "primaryUpdateStrategy: manual",
        taken: "primaryUpdateStrategy: supervised",
    },
    Rule {
        text: "imageName must carry a parsable version tag: not latest",
        check: "cnpg-image-untagged",
        spec: "instances: 3\nimageName: r.example/postgresql:17.2\n",
        field: "spec.imageName",
        refused: "imageName: r.example/postgresql:latest",
        taken: "imageName: r.example/postgresql:17.3-1",
    },
    Rule {
        text: "imageName must carry a parsable version tag: not digest only",
        check: "cnpg-image-untagged",
        spec: "instances: 3\nimageName: r.example/postgresql:17.2\n",
        field: "spec.imageName",
        refused: "imageName: r.example/postgresql@sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371",
        taken: "imageName: r.example/postgresql:17.2@sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371",
    },
    Rule {
        text: "imageName must carry a parsable version tag",
        check: "cnpg-image-untagged",
        spec: "instances: 3\nimageName: r.example/postgresql:17.2\n",
        field: "spec.imageName",
        refused: "imageName: r.example/postgresql:17.x",
        taken: "imageName: r.example/postgresql:17rc1",
    },
    Rule {
        text: "imageName must carry a parsable version tag: none is latest",
        check: "cnpg-image-untagged",
        spec: "instances: 3\nimageName: r.example:5000/postgresql:17.2\n",
        field: "spec.imageName",
        refused: "imageName: r.example:5000/postgresql",
        taken: "",
    },
    Rule {
        text: "podAntiAffinityType preferred/required",
        check: "cnpg-refused",
        spec: "instances: 3\naffinity:\n  podAntiAffinityType: preferred\n",
        field: "spec.affinity.podAntiAffinityType",
        refused: "podAntiAffinityType: always",
        taken: "podAntiAffinityType: required",
    },
    Rule {
        text: "Hibernation annotation must be on/off",
        check: "cnpg-refused",
        spec: "instances: 3\n",
        field: "metadata.annotations[cnpg.io/hibernation]",
        refused: "cnpg.io/hibernation: paused",
        taken: "cnpg.io/hibernation: \"on\"",
    },
    Rule {
        text: "imageName and imageCatalogRef exclude each other",
        check: "cnpg-refused",
        spec: "instances: 3\nimageName: r.example/postgresql:17.2\nimageCatalogRef: null\n",
        field: "spec.imageCatalogRef.major",
        refused: "imageCatalogRef: {major: 17}",
        taken: "",
    },
];

/// The field at which a refusal is told: a quorum is wrong where it is asked for.
fn said_at(rule: &'static str, key: &'static str) -> &'static str {
    if rule.starts_with("failoverQuorum") { "failoverQuorum" } else { key }
}

/// The value of a line, as it is typed on a command line.
fn typed(line: &str) -> &str {
    let value = line.split_once(": ").unwrap().1;
    value.strip_prefix("{major: ").and_then(|rest| rest.strip_suffix('}')).unwrap_or(value)
}

#[test]
fn no_edit_leads_to_a_state_that_is_refused() {
    for Rule { text, field, spec, refused, taken, .. } in STATES {
        let repo = database(spec);
        let key = refused.split_once(':').unwrap().0;
        let line = line_of(&manifest(spec), &format!("{}:", said_at(text, key)));
        let set = |value: &str| {
            let assignment = format!("{field}={}", typed(value));
            repo.overlay(&["set", "field", ".", "Cluster/db", &assignment, "-o", "json"])
        };
        let is_new = key == "imageCatalogRef";
        require_refused(&repo, &set(refused), text, (!is_new).then_some(line));
        if !taken.is_empty() {
            let ran = set(taken);
            assert_eq!(ran.status, 0, "{text}: {taken}: {ran:?}");
        }
    }
}

#[test]
fn check_finds_every_state_that_is_refused() {
    for Rule { text, check, spec, refused, taken, .. } in STATES {
        let good = manifest(spec);
        let key = refused.split_once(':').unwrap().0;
        let old = good.lines().find(|line| line.trim_start().starts_with(&format!("{key}:")));
        let with = |new: &str| good.replace(old.unwrap().trim_start(), new);
        let repo = database(spec);
        assert!(errors(&repo, &[]).iter().all(|e| e["id"] != check), "{text}");
        if !taken.is_empty() {
            repo.write("db.yaml", &with(taken));
            assert!(errors(&repo, &[]).iter().all(|e| e["id"] != check), "{text}: {taken}");
        }
        repo.write("db.yaml", &with(refused));
        let found = errors(&repo, &[]);
        let found: Vec<&Value> = found.iter().filter(|e| e["id"] == check).collect();
        let line = line_of(&with(refused), &format!("{}:", said_at(text, key)));
        let want = json!({"file": "db.yaml", "line": line});
        assert_eq!(found.iter().map(|e| &e["location"]).collect::<Vec<_>>(), [&want], "{text}");
    }
}

const RUNS: &str = "instances: 3
imageName: r.example/postgresql:17.2
primaryUpdateMethod: switchover
storage:
  size: 20Gi
walStorage:
  size: 5Gi
tablespaces:
- name: idx
  storage:
    size: 4Gi
postgresql:
  parameters:
    work_mem: 8MB
";

/// A rule about the way between two states: the text of the section, what is set, and whether that is taken.
const WAYS: [(&str, &[&str], bool); 13] = [
    ("no major downgrade", &["spec.imageName=r.example/postgresql:16.9"], false),
    ("no major downgrade", &["spec.imageName=r.example/postgresql:17.1"], true),
    ("major upgrade only to >= 16", &["spec.imageName=r.example/postgresql:18.0"], true),
    ("storage cannot shrink", &["spec.storage.size=19Gi"], false),
    ("storage cannot shrink", &["spec.storage.size=20G"], false),
    ("storage cannot shrink", &["spec.storage.size=20480Mi"], true),
    ("storage cannot shrink", &["spec.walStorage.size=4Gi"], false),
    ("storage cannot shrink", &["spec.tablespaces[0].storage.size=1Gi"], false),
    ("storage cannot shrink", &["spec.tablespaces[0].storage.size=5Gi"], true),
    ("walStorage cannot be removed", &["--remove", "spec.walStorage"], false),
    (
        "with switchover, image and parameters may not change in one update",
        &["spec.imageName=r.example/postgresql:17.3", "spec.postgresql.parameters.work_mem=9MB"],
        false,
    ),
    (
        "with switchover, image and parameters may not change in one update",
        &["spec.postgresql.parameters.work_mem=9MB"],
        true,
    ),
    (
        "with switchover, image and parameters may not change in one update",
        &[
            "spec.imageName=r.example/postgresql:17.3",
            "spec.postgresql.parameters.work_mem=9MB",
            "spec.primaryUpdateMethod=restart",
        ],
        true,
    ),
];

#[test]
fn no_edit_goes_a_way_that_is_refused() {
    for (rule, fields, is_taken) in WAYS {
        let repo = database(RUNS);
        let args = [&["set", "field", ".", "Cluster/db"], fields, &["-o", "json"]].concat();
        let ran = repo.overlay(&args);
        match is_taken {
            true => assert_eq!(ran.status, 0, "{rule}: {fields:?}: {ran:?}"),
            false => require_refused(&repo, &ran, rule, None),
        }
    }
}

/// Settings of PostgreSQL are texts by the schema, and a dot in a name divides nothing.
#[test]
fn a_setting_of_postgresql_is_one_text() {
    let repo = database("instances: 3\n");
    let field = "spec.postgresql.parameters.pg_stat_statements.max=10000";
    let ran = repo.overlay(&["set", "field", ".", "Cluster/db", field, "-o", "json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let change = &ran.json()["result"]["overlays"][0]["effect"][0];
    let parameters = json!({"parameters": {"pg_stat_statements.max": "10000"}});
    assert_eq!(change["after"], parameters, "{change}");
}

/// An upgrade of old versions, by the tag and by the catalog.
#[test]
fn an_upgrade_leads_to_16_or_higher() {
    for (from, to, is_taken) in [(13, 15, false), (13, 16, true), (14, 13, false), (15, 15, true)] {
        let catalog = format!(
            "instances: 3\nimageCatalogRef:\n  kind: ImageCatalog\n  name: pg\n  major: {from}\n"
        );
        let image = format!("instances: 3\nimageName: r.example/postgresql:{from}.1\n");
        for (spec, field) in [
            (catalog, format!("spec.imageCatalogRef.major={to}")),
            (image, format!("spec.imageName=r.example/postgresql:{to}.2")),
        ] {
            let repo = database(&spec);
            let ran = repo.overlay(&["set", "field", ".", "Cluster/db", &field, "-o", "json"]);
            match is_taken {
                true => assert_eq!(ran.status, 0, "{field}: {ran:?}"),
                false => require_refused(&repo, &ran, &field, None),
            }
        }
    }
}

/// What several changes come to is refused as a whole, whatever each of them comes to alone.
#[test]
fn a_file_of_changes_is_judged_as_a_whole() {
    let apply = |changes: &str| {
        let repo = database(RUNS);
        let stdin = format!("changes:\n{changes}");
        let args = ["apply", ".", "-f", "-", "-o", "json"];
        let ran = repo.overlay_with(&args, &stdin, &std::collections::BTreeMap::new());
        (repo, ran)
    };
    let image = "- field: [Cluster/db, spec.imageName=r.example/postgresql:17.3]\n";
    let parameter = "- field: [Cluster/db, spec.postgresql.parameters.work_mem=9MB]\n";
    let size = |size: &str| format!("- field: [Cluster/db, spec.storage.size={size}]\n");
    for changes in [format!("{image}{parameter}"), size("10Gi")] {
        let (repo, ran) = apply(&changes);
        require_refused(&repo, &ran, &changes, None);
    }
    // Through a state that would be refused to one that is not.
    let synchronous = "- field: [Cluster/db, spec.minSyncReplicas=1]\n- field: [Cluster/db, spec.maxSyncReplicas=2]\n";
    let (_, ran) = apply(synchronous);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_pin_is_no_way_around_the_rules() {
    let digest = "sha256:34098e9339ac005509d0768ba1222d39b3df61802617a764f551a031d45c4371";
    for (tag, status) in [("16.9", 3), ("18.0", 3), ("latest", 3), ("17.x", 3), ("17.3", 0)] {
        let repo = database(RUNS);
        let pin = format!("r.example/postgresql=r.example/postgresql:{tag}@{digest}");
        let ran = repo.overlay(&["pin", ".", &pin, "-o", "json"]);
        assert_eq!(ran.status, status, "{tag}: {ran:?}");
        if status != 0 {
            assert_eq!(ran.code(), "database-tag", "{tag}");
        }
    }
}

/// Going back is a change too: a volume that has grown stays as large.
#[test]
fn a_revert_takes_no_way_that_is_refused() {
    let repo = database(RUNS);
    repo.write("db.yaml", &manifest(&RUNS.replace("20Gi", "40Gi").replace("17.2", "17.3")));
    repo.commit("larger");
    let ran = repo.overlay(&["revert", ".", "--last", "-o", "json"]);
    require_refused(&repo, &ran, "storage cannot shrink", None);
    let ran = repo.overlay(&[
        "revert",
        ".",
        "--last",
        "--field",
        "Cluster/db spec.imageName",
        "-o",
        "json",
    ]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

/// What a component does to a database that is there; what a database that comes with it states is told and not refused.
#[test]
fn a_component_is_no_way_around_the_rules() {
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let repo = database(RUNS);
    let shrinks = "patches:\n- target: {kind: Cluster}\n  patch: |-\n    - {op: replace, path: /spec/storage/size, value: 1Gi}\n";
    repo.write("small/kustomization.yaml", &format!("{component}{shrinks}"));
    repo.write("other/kustomization.yaml", &format!("{component}resources: [other.yaml]\n"));
    repo.write("other/other.yaml", &manifest("instances: 0\n").replace("name: db", "name: other"));
    repo.commit("components");
    let add = |name: &str| {
        repo.overlay(&["set", "components", ".", "--add", name, "--dry-run", "-o", "json"])
    };
    let ran = add("small");
    assert_eq!((ran.status, &*ran.code()), (3, "database-refused"), "{ran:?}");
    let ran = add("other");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("cnpg-sync-refused"), "{ran:?}");
}

/// Of two revisions the way between them is checked, and an exception lifts the refusal of an edit.
#[test]
fn check_finds_a_way_that_is_refused_between_two_revisions() {
    let repo = database(RUNS);
    let smaller = manifest(&RUNS.replace("20Gi", "10Gi"));
    repo.write("db.yaml", &smaller);
    let found = errors(&repo, &["--new-since", "HEAD"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["id"], "cnpg-change-refused");
    assert_eq!(found[0]["location"]["line"], line_of(&smaller, "size: 10Gi"));
    assert!(errors(&repo, &[]).is_empty());

    let repo = database(RUNS);
    repo.write(
        ".overlay.yaml",
        "checks:\n  exceptions:\n  - {check: cnpg-change-refused, resource: Cluster/db, reason: never deployed}\n",
    );
    repo.commit("an exception");
    let args = ["set", "field", ".", "Cluster/db", "spec.storage.size=10Gi", "-o", "json"];
    assert_eq!(repo.overlay(&args).status, 0);
}
