//! Whatever names, authors and messages a repository has: on a page they are text.

use super::{LOOKS, deeds, made::commit_as, write_page};
use crate::stories::moving_to_larger_nodes::{SELECTOR, dump};
use crate::support::browser::Browser;
use crate::support::repo::TestRepo;
use crate::support::skip;

/// What would run, load, lead away, leave its attribute or hide. None has a slash, so that each can be a name of anything.
const HOSTILE: [&str; 8] = [
    "<img src=x onerror=document.documentElement.dataset.ran=1>",
    "\"><script>document.documentElement.dataset.ran=1<!--",
    "' autofocus onfocus=document.documentElement.dataset.ran=1 x='",
    "javascript:document.documentElement.dataset.ran=1",
    "</code><style>*{display:none}",
    "{{ 7 * 7 }}{% raw %}&lt;img&gt;",
    "exe.gnp\u{202e}\u{200b}\u{2066}",
    "a\u{1b}[2J\u{7}b",
];

/// A scalar of YAML that is exactly `text`: JSON's escapes are YAML's.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn objects() -> String {
    let mut all = String::new();
    for (number, name) in HOSTILE.iter().enumerate() {
        let name = quoted(name);
        all.push_str(&format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 2\n  \
             selector: {{matchLabels: {{app: a{number}}}}}\n  template:\n    metadata: {{labels: {{app: a{number}}}}}\n    \
             spec:\n      nodeSelector: {{disk: {name}}}\n      containers:\n      - {{name: {name}, image: {name}, \
             resources: {{requests: {{cpu: 250m, memory: 256Mi}}}}}}\n\
             ---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: {name}, namespace: {name}}}\n\
             spec:\n  minAvailable: 2\n  selector: {{matchLabels: {{app: a{number}}}}}\n"
        ));
    }
    all
}

/// Two overlays with hostile names of everything, and a history by hostile people.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files(&[]);
    for name in [HOSTILE[0], HOSTILE[2]] {
        repo.write(&format!("overlays/{name}/kustomization.yaml"), "resources: [all.yaml]\n");
        repo.write(&format!("overlays/{name}/all.yaml"), &objects());
    }
    commit_as(&repo, HOSTILE[1], "2024-05-02T10:00:00Z", HOSTILE[0]);
    for (number, message) in HOSTILE.iter().enumerate() {
        let moved = objects().replace("replicas: 2", &format!("replicas: {}", number + 3));
        let moved = moved.replace("image: \"javascript:", "image: \"moved.example/javascript:");
        repo.write(&format!("overlays/{}/all.yaml", HOSTILE[0]), &moved);
        let pull =
            "Pull request: javascript:alert(1)\n\nMerge pull request #1 from x/\"><img src=x>";
        let date = format!("2024-05-{:02}T10:00:00Z", number + 3);
        commit_as(&repo, message, &date, &format!("{message}\u{9b} (#{number})\n\n{pull}"));
    }
    repo
}

/// Rules of a drain for each hostile reason.
fn hostile_rules() -> String {
    let rules = HOSTILE.iter().map(|reason| {
        let order = "before: kernel-seal/openbao-transit, after: kernel-secrets/openbao";
        format!("  - {{{order}, reason: {}}}\n", quoted(reason))
    });
    let rules: String = rules.collect();
    format!("drain:\n  selector: {SELECTOR}\n  order:\n{rules}")
}

/// A cluster whose owners, labels and numbers of budgets are hostile; names of objects are refused (`drain::changed`).
fn hostile_dump() -> serde_json::Value {
    let mut dump = dump();
    for item in dump["items"].as_array_mut().unwrap() {
        let name = item["metadata"]["name"].as_str().unwrap().to_owned();
        match item["kind"].as_str().unwrap() {
            "Pod" if name == "garage-0" => {
                item["metadata"]["ownerReferences"][0]["name"] = HOSTILE[1].into();
            }
            "Pod" if name == "kernel-postgres-1" => {
                item["metadata"]["labels"]["cnpg.io/cluster"] = HOSTILE[0].into();
            }
            "PodDisruptionBudget" if name == "coredns" => {
                item["spec"]["minAvailable"] = HOSTILE[4].into();
            }
            _ => {}
        }
    }
    dump
}

#[test]
fn hostile_names_execute_nothing() {
    let Some(mut browser) = Browser::start() else { return skip("chromium") };
    let repo = repository();
    let folder = tempfile::tempdir().unwrap();
    let node = format!("memory=4Gi,cpu=4,name={}", HOSTILE[1]);
    let quota = format!("{}=10,used=6", HOSTILE[3].replace('=', "-"));
    repo.write(".overlay.yaml", &hostile_rules());
    repo.write("now.json", &hostile_dump().to_string());
    let drain = ["drain-plan", "--from", "now.json", "--overlay", HOSTILE[2]];
    let commands: [(&str, Vec<&str>); 4] = [
        ("drain-plan", drain.to_vec()),
        ("check", vec!["check", "overlays/*"]),
        ("capacity", vec!["capacity", "overlays/*", "--node", &node, "--quota", &quota]),
        ("history", vec!["history", "overlays/*"]),
    ];
    for (name, command) in commands {
        let ran = repo.overlay(&[&command[..], &["-o", "html"]].concat());
        assert!([0, 7].contains(&ran.status), "{name}: {ran:?}");
        assert!(!ran.stdout.contains(['\u{202e}', '\u{200b}', '\u{1b}', '\u{9b}']), "{name}");
        let file = write_page(folder.path(), name, &ran.stdout);
        for look in [LOOKS[0], LOOKS[2]] {
            browser.open(&file, look);
            // What is made of the names is text; nothing of them became an element, an attribute or an address.
            let made = "[...document.querySelectorAll('*')].flatMap(e => [\
                ...(/^(SCRIPT|IMG|SVG|IFRAME|OBJECT|EMBED|FORM|LINK|BASE)$/.test(e.tagName) ? [e.outerHTML] : []),\
                ...[...e.attributes].filter(a => /^on|^autofocus$|^src$/.test(a.name)).map(a => a.name),\
                ...(e.href && !/^(#|https?:)/.test(e.getAttribute('href')) ? [e.href] : [])])";
            assert_eq!(browser.evaluate(made), serde_json::json!([]), "{name}");
            assert_eq!(browser.evaluate("document.querySelectorAll('style').length"), 1, "{name}");
            assert!(
                browser.evaluate("document.documentElement.dataset.ran ?? null").is_null(),
                "{name}"
            );
            assert_eq!(deeds(&browser.events), Vec::<String>::new(), "{name}");
            let text = browser.evaluate("document.body.innerText");
            let text = text.as_str().unwrap();
            for shown in
                [HOSTILE[0], "\\u{202e}\\u{200b}\\u{2066}", "a\\u{1b}[2J\\u{7}b", HOSTILE[5]]
            {
                assert!(text.contains(shown), "{name} does not show {shown}:\n{text}");
            }
        }
    }
}
