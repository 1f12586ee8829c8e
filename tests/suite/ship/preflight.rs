//! What preflight finds stops everything before anything is written.

use super::*;

#[test]
fn what_preflight_finds_stops_everything() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let lacks = Mood { lacks: Some("overlays/prod".into()), ..Mood::default() };
    let overrides = Mood { overrides: Some("shop/web:v9"), ..Mood::default() };
    let down = Mood { is_down: true, ..Mood::default() };
    for (mood, status, code) in [
        (lacks, 4, "no-such-application"),
        (overrides, 3, "application-overrides"),
        (down, 5, "argocd-unreachable"),
    ] {
        harbor.set(mood);
        let ran = harbor.pin('2', &["--merge", "--auto-revert", "--timeout", "5s"]);
        assert_eq!((ran.status, ran.code()), (status, code), "{}", ran.text);
        assert_eq!(steps(&ran, 0), ["preflight=failed"]);
        assert!(message(&ran).starts_with("preflight: "), "{}", ran.text);
        harbor.require_untouched(&tip);
    }
    harbor.set(Mood::default());
    harbor.pin('2', &["--merge"]).ok();
}

#[test]
fn without_a_credential_for_the_forge_nothing_is_pushed() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let reference = pin("shop/web", '2');
    let args = ["pin", "overlays/prod", reference.as_str(), "--merge"];
    let mut command = harbor.command_in("clone", &args);
    let ran = harbor.stage.finish(command.env_remove("GITHUB_TOKEN").output().unwrap());
    assert_eq!((ran.status, ran.code()), (4, "forge-credential"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=failed"]);
    harbor.require_untouched(&tip);
}

#[test]
fn a_hold_of_the_base_branch_is_found_by_preflight() {
    let hold = "version: 1\nuntil: \"2100-01-01T00:00:00Z\"\nreason: frozen\nby: Ann\nscope: all\n";
    let harbor = Harbor::with(|lab| lab.write("plain/overlays/prod/overlay-hold.yaml", hold));
    let tip = harbor.tip();
    let ran = harbor.pin('2', &["--merge"]);
    assert_eq!((ran.status, ran.code()), (3, "on-hold"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=failed"]);
    harbor.require_untouched(&tip);
    harbor.pin('2', &["--merge", "--override-hold"]).ok();
}

#[test]
fn inside_of_its_own_cluster_nothing_is_shipped() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let reference = pin("shop/web", '2');
    let inside = |more: &[&str]| {
        let args = [&["pin", "overlays/prod", reference.as_str(), "--merge"], more].concat();
        let mut command = harbor.command_in("clone", &args);
        // Argo CD is in the cluster whose pods know this address of its API server.
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
        command.env("KUBERNETES_SERVICE_PORT", harbor.argo.url().rsplit(':').next().unwrap());
        harbor.stage.finish(command.output().unwrap())
    };
    let ran = inside(&[]);
    assert_eq!((ran.status, ran.code()), (3, "inside-cluster"), "{}", ran.text);
    harbor.require_untouched(&tip);
    inside(&["--from-inside"]).ok();
}

#[test]
fn what_brings_an_error_of_check_is_not_shipped() {
    let harbor = Harbor::with(|lab| {
        let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n";
        lab.write("plain/base/pdb.yaml", budget);
        lab.write("plain/base/kustomization.yaml", "resources: [web.yaml, pdb.yaml]\n");
    });
    let tip = harbor.tip();
    // One replica and a budget that wants one: a drain of its node would never end.
    let args = ["set", "replicas", "overlays/prod", "web=1", "--merge"];
    let ran = harbor.ship(&args);
    assert_eq!((ran.status, ran.code()), (3, "brings-findings"), "{}", ran.text);
    assert!(message(&ran).contains("pdb-blocks-drain"), "{}", ran.text);
    harbor.require_untouched(&tip);
    harbor.ship(&[&args[..], &["--allow-findings"]].concat()).ok();
}

#[test]
fn what_an_application_states_counts_where_it_is_the_field_that_is_edited() {
    let harbor = Harbor::new();
    let tip = harbor.tip();
    // Of replicas nothing is said, and another image is another matter.
    harbor.set(Mood { overrides: Some("shop/web:v9"), ..Mood::default() });
    harbor.ship(&["set", "replicas", "overlays/prod", "web=3", "--dry-run"]).ok();
    harbor.set(Mood { overrides: Some("shop/other:v9"), ..Mood::default() });
    harbor.pin('2', &["--dry-run"]).ok();
    for name in ["shop/web=elsewhere.example/web:v9", "shop/web@sha256:12"] {
        harbor.set(Mood { overrides: Some(name), ..Mood::default() });
        let ran = harbor.pin('2', &["--merge"]);
        assert_eq!((ran.status, ran.code()), (3, "application-overrides"), "{}", ran.text);
        harbor.require_untouched(&tip);
    }
}

#[test]
fn what_an_image_updater_wrote_beside_the_overlay_wins_over_it() {
    for (file, stops) in [
        (".argocd-source-prod.yaml", true),
        (".argocd-source.yaml", true),
        (".argocd-source-dev.yaml", false),
    ] {
        let text = "kustomize:\n  images:\n  - shop/web:v9\n";
        let harbor = Harbor::with(|lab| lab.write(&format!("plain/overlays/prod/{file}"), text));
        let tip = harbor.tip();
        let ran = harbor.pin('2', &["--merge"]);
        if stops {
            assert_eq!((ran.status, ran.code()), (3, "application-overrides"), "{}", ran.text);
            assert!(
                message(&ran).contains(&format!("overlays/prod/{file} states")),
                "{}",
                ran.text
            );
            harbor.require_untouched(&tip);
        } else {
            ran.ok();
        }
    }
}

#[test]
fn what_is_presented_has_to_be_trusted() {
    let Some(dir) = crate::support::certificates::make() else { return };
    let made = crate::support::certificates::openssl(
        "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.crt -days 30 -subj /CN=other",
        dir.path(),
    );
    assert!(made);
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (leaf, right, wrong) = (path("srv.crt"), path("ca.crt"), path("other.crt"));
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let look = |ca: &str| harbor.pin('2', &["--merge", "--trust-ca", ca, "--trust-leaf", &leaf]);
    let ran = look(&wrong);
    assert_eq!((ran.status, ran.code()), (7, "trust-broken"), "{}", ran.text);
    assert!(message(&ran).starts_with("preflight: trust: "), "{}", ran.text);
    harbor.require_untouched(&tip);
    look(&right).ok();
    for wrong in [["--trust-ca", "tls:x:1"], ["--trust-leaf", "secret:x"], ["--trust-host", "x"]] {
        let ran = harbor.pin('2', &wrong);
        assert_eq!((ran.status, ran.code()), (2, "usage"), "{wrong:?} {}", ran.text);
    }
}

#[cfg(feature = "cluster")]
#[test]
fn trouble_that_the_baseline_does_not_know_stops_everything() {
    use crate::support::kube_api::KubeApi;
    use serde_json::json;

    let node = |name: &str, ready: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name},
            "status": {"conditions": [{"type": "Ready", "status": ready, "message": "kubelet says so"}]}})
    };
    let harbor = Harbor::new();
    let tip = harbor.tip();
    let api = KubeApi::with([node("n1", "False"), node("n2", "True")]);
    harbor.stage.lab.write("kubeconfig", api.kubeconfig("shop"));
    let kubeconfig = harbor.stage.lab.path("kubeconfig").display().to_string();
    let file = harbor.stage.lab.path("before.json").display().to_string();
    let mut record =
        harbor.stage.command(&["baseline", "record", &file, "--kubeconfig", &kubeconfig]);
    harbor.stage.finish(record.output().unwrap()).ok();

    let args = ["--merge", "--no-verify", "--kubeconfig", &kubeconfig, "--baseline", &file];
    api.apply(node("n2", "False"));
    let ran = harbor.pin('2', &args);
    assert_eq!((ran.status, ran.code()), (7, "new-trouble"), "{}", ran.text);
    assert_eq!(steps(&ran, 0), ["preflight=failed"]);
    harbor.require_untouched(&tip);
    // What could be looked at then and cannot be now may have any.
    let blind = KubeApi::with([node("n1", "False"), node("n2", "True")]);
    blind.deny("list", "pods");
    harbor.stage.lab.write("blind", blind.kubeconfig("shop"));
    let config = harbor.stage.lab.path("blind").display().to_string();
    let ran =
        harbor.pin('2', &["--merge", "--no-verify", "--kubeconfig", &config, "--baseline", &file]);
    assert_eq!((ran.status, ran.code()), (7, "not-looked-at"), "{}", ran.text);
    assert!(ran.json["error"]["causes"].to_string().contains("may not list pods"), "{}", ran.text);
    harbor.require_untouched(&tip);
    // Old trouble is none of ours.
    api.apply(node("n2", "True"));
    harbor.pin('2', &args).ok();
    // What has landed is not stopped half way by trouble that may be its own.
    api.apply(node("n2", "False"));
    assert!(!harbor.pin('2', &args).ok().changed());
}

#[test]
fn what_the_operator_of_a_database_refuses_is_not_shipped() {
    let database = "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata: {name: db}\nspec:\n  instances: 3\n  storage: {size: 20Gi}\n";
    let harbor = Harbor::with(|lab| {
        lab.write("plain/base/db.yaml", database);
        lab.write("plain/base/kustomization.yaml", "resources: [web.yaml, db.yaml]\n");
    });
    let tip = harbor.tip();
    let set = |size: &str, more: &[&str]| {
        let field = format!("spec.storage.size={size}");
        let args = ["set", "field", "overlays/prod", "Cluster/db", field.as_str(), "--merge"];
        harbor.ship(&[&args, more].concat())
    };
    for more in [&[][..], &["--allow-findings"]] {
        let ran = set("10Gi", more);
        assert_eq!((ran.status, ran.code()), (3, "database-refused"), "{}", ran.text);
        assert!(message(&ran).contains("shrinks from 20Gi to 10Gi"), "{}", ran.text);
        harbor.require_untouched(&tip);
    }
    set("30Gi", &[]).ok();
}
