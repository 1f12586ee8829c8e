//! `overlay bump`: a remote base to another version with its pins, against bare repositories.

use std::process::Command;

use serde_json::Value as Json;

use crate::support::git_lab::Lab;
use crate::support::judge;
use crate::support::repo::Ran;

const OLD: &str = "sha256:1111111111111111111111111111111111111111111111111111111111111111";
const NEW: &str = "sha256:2222222222222222222222222222222222222222222222222222222222222222";

/// `hub.git` with v1, v2 (a new kind, an object gone, another image tag) and v3 (the Deployment is gone);
/// an instance on v1 of its base and of its component.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.init("hub", &[]);
    let deployment = |tag: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  template:\n    spec:\n      \
             containers:\n      - name: web\n        image: r.example/web:{tag}\n"
        )
    };
    let object = |kind: &str, name: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n")
    };
    let base = |files: &[&str]| {
        let listed: String = files.iter().map(|file| format!("- {file}.yaml\n")).collect();
        lab.write("hub/base/kustomization.yaml", format!("resources:\n{listed}"));
    };
    lab.write("hub/base/web.yaml", deployment("1"));
    lab.write("hub/base/old.yaml", object("ConfigMap", "old"));
    lab.write("hub/base/data.yaml", object("PersistentVolumeClaim", "data"));
    lab.write(
        "hub/note/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations:\n  note: one\n",
    );
    base(&["web", "old", "data"]);
    lab.commit_all("hub", "one");
    lab.git("hub", &["tag", "v1"]);
    lab.write("hub/base/web.yaml", deployment("2"));
    lab.write("hub/base/account.yaml", object("ServiceAccount", "web"));
    base(&["web", "account", "data"]);
    lab.commit_all("hub", "two");
    lab.git("hub", &["tag", "v2"]);
    base(&["old", "data"]);
    lab.commit_all("hub", "three");
    lab.git("hub", &["tag", "v3"]);
    base(&["web", "account"]);
    lab.commit_all("hub", "four");
    lab.git("hub", &["tag", "v4"]);
    lab.bare("hub", "hub.git");
    lab.init("instance", &[]);
    lab.write("instance/o/kustomization.yaml", instance(&lab, "v1", OLD));
    lab.commit_all("instance", "start");
    lab
}

fn instance(lab: &Lab, tag: &str, digest: &str) -> String {
    let url = lab.url("hub.git");
    format!(
        "# ours\nresources:\n- '{url}//base?ref={tag}'   # the hub\n\ncomponents:\n- {url}//note?ref={tag}\n\
         images:\n- name: r.example/web\n  digest: {digest}\npatches:\n- patch: |\n    - op: replace\n      path: /spec/replicas\n      value: 2\n  \
         target:\n    kind: Deployment\n    name: web\n"
    )
}

fn overlay(lab: &Lab, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(args).current_dir(lab.path("instance")).env_clear().envs(lab.environment());
    let output = command.env("OVERLAY_CACHE_DIR", lab.path("cache")).output().unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn bump(lab: &Lab, args: &[&str]) -> Ran {
    overlay(lab, &[&["bump", "o", "-o", "json"], args].concat())
}

fn file(lab: &Lab) -> String {
    String::from_utf8(lab.read("instance/o/kustomization.yaml")).unwrap()
}

fn refused(lab: &Lab, args: &[&str], status: i32, code: &str) -> Json {
    let before = file(lab);
    let ran = bump(lab, args);
    assert_eq!((ran.status, ran.code().as_str()), (status, code), "{ran:?}");
    assert_eq!(file(lab), before);
    ran.json()["error"].clone()
}

#[test]
fn every_reference_moves_with_its_pins() {
    let lab = lab();
    let digests = format!("{{\"r.example/web\":\"{NEW}\"}}");
    let args = ["--ref", "v2", "--digests", &digests, "--accept-kind", "ServiceAccount"];
    let dry = bump(&lab, &[&args[..], &["--dry-run"]].concat());
    assert_eq!((dry.status, &dry.json()["changed"]), (0, &Json::Bool(true)), "{dry:?}");
    assert_eq!(file(&lab), instance(&lab, "v1", OLD));
    let ran = bump(&lab, &args);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(file(&lab), instance(&lab, "v2", NEW));
    let result = &ran.json()["result"]["overlays"][0];
    let names = |objects: &Json| -> Vec<String> {
        let objects = objects.as_array().unwrap().iter();
        objects.map(|o| format!("{}/{}", o["kind"], o["name"]).replace('"', "")).collect()
    };
    assert_eq!(names(&result["objects"]["added"]), ["ServiceAccount/web"]);
    assert_eq!(names(&result["objects"]["removed"]), ["ConfigMap/old"]);
    assert_eq!(result["newKinds"], serde_json::json!(["ServiceAccount"]));
    let effect = &result["effect"];
    assert_eq!(effect[0]["after"], format!("r.example/web@{NEW}"), "{effect}");
    assert_eq!(effect.as_array().unwrap().len(), 1);
    let again = bump(&lab, &args);
    assert_eq!((again.status, &again.json()["changed"]), (0, &Json::Bool(false)), "{again:?}");
    if let Some(judge) = judge() {
        let rendered = overlay(&lab, &["build", "o"]).stdout;
        let url = lab.url("hub.git");
        lab.git("hub", &["checkout", "-q", "v2"]);
        let local = file(&lab)
            .replace(&format!("{url}//base?ref=v2"), "../../hub/base")
            .replace(&format!("{url}//note?ref=v2"), "../../hub/note");
        lab.write("instance/judged/kustomization.yaml", local);
        assert_eq!(judge.build(&lab.path("instance/judged")), Ok(rendered));
    }
}

#[test]
fn a_new_kind_has_to_be_accepted() {
    let lab = lab();
    let error = refused(&lab, &["--ref", "v2"], 3, "new-kinds");
    assert_eq!(
        error["hints"][0],
        "where the cluster is ready for them: --accept-kind ServiceAccount"
    );
    refused(&lab, &["--ref", "v2", "--accept-kind", "ServiceAccount.apps"], 3, "new-kinds");
    assert_eq!(bump(&lab, &["--ref", "v2", "--accept-kind", "serviceaccount"]).status, 0);
    assert_eq!(file(&lab), instance(&lab, "v2", OLD));
}

#[test]
fn an_object_with_data_does_not_leave_unnoticed() {
    let lab = lab();
    let accepted = ["--ref", "v4", "--accept-kind", "ServiceAccount"];
    let error = refused(&lab, &accepted, 3, "stateful-removal");
    let flag = "--allow-removal PersistentVolumeClaim/data";
    assert!(error["hints"][0].as_str().unwrap().ends_with(flag), "{error}");
    let allowed = [&accepted[..], &["--allow-removal", "PersistentVolumeClaim/data"]].concat();
    assert_eq!(bump(&lab, &allowed).status, 0);
}

#[test]
fn a_version_that_breaks_the_build_is_refused_with_patch_and_path() {
    let lab = lab();
    let patch = "- patch: |\n    - op: remove\n      path: /metadata/annotations/gone\n  target:\n    kind: Deployment\n";
    lab.write(
        "hub/base/web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec: {replicas: 1}\n",
    );
    lab.git("hub", &["checkout", "-q", "main"]);
    lab.commit_all("hub", "nothing annotated");
    lab.git("hub", &["tag", "v6"]);
    lab.write("hub/base/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations: {gone: x}\nspec: {replicas: 1}\n");
    lab.commit_all("hub", "annotated");
    lab.git("hub", &["tag", "v5"]);
    std::fs::remove_dir_all(lab.path("hub.git")).unwrap();
    lab.bare("hub", "hub.git");
    lab.write("instance/o/kustomization.yaml", instance(&lab, "v5", OLD) + patch);
    let error = refused(&lab, &["--ref", "v6"], 3, "edit-breaks-build");
    assert!(error.to_string().contains("/metadata/annotations/gone"), "{error}");
    assert_eq!(error["location"]["file"], "o/kustomization.yaml", "{error}");
    assert!(error["location"]["line"].as_u64().unwrap() > 10, "{error}");
}

#[test]
fn what_cannot_be_had_is_never_written() {
    let lab = lab();
    let error = refused(&lab, &["--ref", "v9.9.9"], 4, "no-such-reference");
    assert!(error["message"].as_str().unwrap().contains("v9.9.9"), "{error}");
    refused(&lab, &["--ref=--upload-pack=touch x"], 2, "usage");
    let odd = bump(&lab, &["--ref", "a..b"]);
    assert!([3, 4].contains(&odd.status), "{odd:?}");
    std::fs::rename(lab.path("hub.git"), lab.path("away.git")).unwrap();
    let ran = bump(&lab, &["--ref", "v2"]);
    assert!([4, 5].contains(&ran.status), "{ran:?}");
    assert_eq!(file(&lab), instance(&lab, "v1", OLD));
}

#[test]
fn references_in_other_files_are_not_left_behind() {
    let lab = lab();
    let url = lab.url("hub.git");
    lab.write(
        "instance/shared/kustomization.yaml",
        format!("resources:\n- {url}//note/../base?ref=v1\nnamePrefix: s-\n"),
    );
    let text = instance(&lab, "v1", OLD)
        .replace("# ours\nresources:\n", "# ours\nresources:\n- ../shared\n");
    lab.write("instance/o/kustomization.yaml", &text);
    let error =
        refused(&lab, &["--ref", "v2", "--accept-kind", "ServiceAccount"], 3, "refs-left-behind");
    assert_eq!(
        (&error["location"]["file"], &error["location"]["line"]),
        (&"shared/kustomization.yaml".into(), &2.into())
    );
    let both = ["--ref", "v2", "--accept-kind", "ServiceAccount", "--overlay", "shared"];
    let ran = bump(&lab, &both);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(file(&lab), text.replace("ref=v1", "ref=v2"));
    let shared = String::from_utf8(lab.read("instance/shared/kustomization.yaml")).unwrap();
    assert!(shared.contains("ref=v2"), "{shared}");
}

#[test]
fn the_repository_is_named_where_there_are_several() {
    let lab = lab();
    lab.bare("hub", "other.git");
    let other = lab.url("other.git");
    let text = instance(&lab, "v1", OLD)
        .replace(
            "# ours\nresources:\n",
            &format!("# ours\nresources:\n- {other}//note/../base?ref=v1\n"),
        )
        .replace("# ours", "# ours\nnamePrefix: a-");
    let text = text.replace(&format!("- {other}//note/../base?ref=v1\n"), "");
    let text = text.replace("components:\n", &format!("components:\n- {other}//note?ref=v1\n"));
    lab.write("instance/o/kustomization.yaml", &text);
    refused(&lab, &["--ref", "v2"], 3, "several-bases");
    refused(&lab, &["--ref", "v2", "--repository", "nowhere"], 3, "no-remote-base");
    let one = ["--ref", "v2", "--repository", "other.git"];
    assert_eq!(bump(&lab, &one).status, 0);
    assert_eq!(
        file(&lab),
        text.replace(&format!("{other}//note?ref=v1"), &format!("{other}//note?ref=v2"))
    );
    lab.write("instance/o/kustomization.yaml", "namePrefix: x-\n");
    refused(&lab, &["--ref", "v2"], 3, "no-remote-base");
}

#[test]
fn a_bump_is_delivered_as_one_commit() {
    let lab = lab();
    let ran = bump(&lab, &["--ref", "v2", "--accept-kind", "ServiceAccount", "--branch", "hub-v2"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(file(&lab), instance(&lab, "v1", OLD));
    let committed = lab.git("instance", &["show", "hub-v2:o/kustomization.yaml"]);
    assert_eq!(committed.trim(), instance(&lab, "v2", OLD).trim());
    let subject = lab.git("instance", &["log", "-1", "--format=%s", "hub-v2"]);
    assert_eq!(subject.trim(), "Move the base to v2 in o");
}
