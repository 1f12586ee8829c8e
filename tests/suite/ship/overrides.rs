//! Patches and components that an Application states win over the overlay, and preflight says so exactly where they decide what is
//! edited: a kustomize that is not ours renders the same.

use serde_json::{Value as Json, json};

use super::*;

const REPLICAS: &str = r#"[{"op": "replace", "path": "/spec/replicas", "value": 7}]"#;
const STRATEGY: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {strategy: {rollingUpdate: {maxSurge: 3}}}\n";
const SAME_IMAGE: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: 'shop/web:v9'}]}}}\n";
const OTHER_IMAGE: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: 'elsewhere.example/web:v9'}]}}}\n";

/// One edit under what an Application states.
struct Row {
    states: Json,
    edit: &'static [&'static str],
    /// A text that is rendered once the edit has come through.
    wanted: String,
    /// What the refusal says; empty where nothing stops it.
    says: &'static [&'static str],
}

fn rows() -> Vec<Row> {
    let web = json!({"kind": "Deployment", "name": "web"});
    let on_web = |patch: &str| json!({"patches": [{"target": web, "patch": patch}]});
    let merge = |patch: &str| json!({"patches": [{"patch": patch}]});
    const SURGE: &[&str] = &["set", "strategy", "overlays/prod", "web", "--max-surge", "1"];
    const PIN: &[&str] = &["pin", "overlays/prod"];
    let surge = || "maxSurge: 1\n".to_owned();
    let digest = || crate::pull_request::digest('2');
    let row = |states, edit, wanted, says| Row { states, edit, wanted, says };
    vec![
        // `replicas:` and `images:` of the overlay act after patches.
        row(
            on_web(REPLICAS),
            &["set", "replicas", "overlays/prod", "web=3"],
            "replicas: 3\n".to_owned(),
            &[],
        ),
        row(merge(SAME_IMAGE), PIN, digest(), &[]),
        // An image of another name is none of the entry's.
        row(
            merge(OTHER_IMAGE),
            PIN,
            digest(),
            &["Application argocd/prod states kustomize.patches of Deployment/web", "image"],
        ),
        row(
            merge(STRATEGY),
            SURGE,
            surge(),
            &["kustomize.patches of Deployment/web", "maxSurge of Deployment/web"],
        ),
        row(on_web(REPLICAS), SURGE, surge(), &[]),
        row(
            json!({"patches": [{"target": web, "patch": REPLICAS}, {"patch": STRATEGY}]}),
            SURGE,
            surge(),
            &["kustomize.patches of Deployment/web"],
        ),
        row(json!({"components": ["../../components/steady"]}), SURGE, surge(), &[]),
    ]
}

fn harbor() -> Harbor {
    Harbor::with(|lab| {
        let component = format!(
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- patch: |-\n{}",
            indented(STRATEGY)
        );
        lab.write("plain/components/steady/kustomization.yaml", component);
    })
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// What a kustomize that is not ours renders of the edited overlay, with the statements where Argo CD puts them.
fn judged(harbor: &Harbor, row: &Row, args: &[&str]) -> Option<String> {
    let judge = judge()?;
    harbor.fresh_clone("judged");
    let ran = harbor.stage.command_in("judged", args).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let folder = harbor.stage.lab.path("judged/overlays/prod");
    let file = folder.join("kustomization.yaml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    for (field, items) in row.states.as_object().unwrap() {
        let items = items.as_array().unwrap().clone();
        text = overlay::plan::layer::with_items(&text, field, items).unwrap();
    }
    std::fs::write(&file, text).unwrap();
    Some(judge.build(&folder).unwrap())
}

#[test]
fn patches_and_components_of_an_application_stop_what_they_would_undo() {
    let reference = pin("shop/web", '2');
    for row in rows() {
        let harbor = harbor();
        let tip = harbor.tip();
        let mut args = row.edit.to_vec();
        if row.edit[0] == "pin" {
            args.push(&reference);
        }
        if let Some(rendered) = judged(&harbor, &row, &args) {
            let comes_through = rendered.contains(&row.wanted);
            assert_eq!(comes_through, row.says.is_empty(), "{}: {rendered}", row.states);
        }
        harbor.set(Mood { states: Some(row.states.clone()), ..Mood::default() });
        let ran = harbor.ship(&[&args[..], &["--merge", "--timeout", "60s"]].concat());
        if row.says.is_empty() {
            assert_eq!(ran.status, 0, "{}: {}", row.states, ran.text);
            continue;
        }
        assert_eq!((ran.status, ran.code()), (3, "application-overrides"), "{}", ran.text);
        for part in row.says {
            assert!(message(&ran).contains(part), "{part}: {}", ran.text);
        }
        harbor.require_untouched(&tip);
    }
}

/// Where Argo CD could not render either, nothing is known, and that is said.
#[test]
fn a_patch_that_breaks_the_build_is_told() {
    let harbor = harbor();
    let states =
        json!({"patches": [{"target": {"kind": "Deployment"}, "path": "no-such-file.yaml"}]});
    harbor.set(Mood { states: Some(states), ..Mood::default() });
    let ran = harbor.ship(&["set", "replicas", "overlays/prod", "web=3", "--dry-run"]);
    assert_eq!(ran.status, 0, "{}", ran.text);
    let preflight = &ran.json["result"]["waves"][0]["steps"][0]["summary"];
    assert!(preflight.as_str().unwrap().contains("cannot be told"), "{}", ran.text);
}

/// A file beside the overlay states patches as the Application does.
#[test]
fn patches_of_a_file_beside_the_overlay_count_too() {
    let patch = json!({"kustomize": {"patches": [{"patch": STRATEGY}]}}).to_string();
    let harbor =
        Harbor::with(|lab| lab.write("plain/overlays/prod/.argocd-source-prod.yaml", &patch));
    let tip = harbor.tip();
    let args = ["set", "strategy", "overlays/prod", "web", "--max-surge", "1", "--merge"];
    let ran = harbor.ship(&args);
    assert_eq!((ran.status, ran.code()), (3, "application-overrides"), "{}", ran.text);
    assert!(
        message(&ran).contains("overlays/prod/.argocd-source-prod.yaml states"),
        "{}",
        ran.text
    );
    harbor.require_untouched(&tip);
}
