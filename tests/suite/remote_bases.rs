//! Remote bases: what kustomize would clone, fetched into a cache as committed objects.

use std::fs;
use std::process::{Command, Output};
use std::sync::Arc;

use overlay::git::{GitError, LockFile, Pinning, RemoteBase, RemoteBases, Settings};
use overlay::kustomize::remote::GitUrl;
use overlay::kustomize::{Files, FilesError};

use crate::support::git_http::{GitHttp, Manner, base64};
use crate::support::git_lab::Lab;
use crate::support::judge;

const TOKEN: &str = "planted-t0ken-0123456789";

/// `hub` with a tag `v1`, its bare copy `hub.git`, and an instance whose base is that copy.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.overlays("hub", &[]);
    lab.git("hub", &["tag", "-a", "v1", "-m", "one"]);
    lab.write("hub/base/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: second}\n");
    lab.commit_all("hub", "second");
    lab.git("hub", &["branch", "release/1.x", "HEAD~1"]);
    lab.bare("hub", "hub.git");
    lab
}

fn bases(lab: &Lab, is_offline: bool, lock: LockFile) -> RemoteBases {
    RemoteBases::new(lab.settings(), &lab.path("cache"), is_offline, lock)
}

fn load_with(bases: &RemoteBases, url: &str) -> Result<RemoteBase, GitError> {
    bases.load(&GitUrl::parse(url).unwrap_or_else(|| panic!("{url} is no git URL")))
}

fn load(lab: &Lab, query: &str) -> Result<RemoteBase, GitError> {
    load_with(
        &bases(lab, false, LockFile::default()),
        &format!("{}//overlays/prod{query}", lab.url("hub.git")),
    )
}

fn overlay(lab: &Lab, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(args).current_dir(lab.path("instance"));
    command
        .env_clear()
        .envs(lab.environment())
        .env("OVERLAY_CACHE_DIR", lab.path("cache"))
        .output()
        .unwrap()
}

/// An instance in a repository of its own, whose base is `reference`.
fn instance(lab: &Lab, reference: &str) {
    if !lab.path("instance").exists() {
        lab.init("instance", &[]);
    }
    lab.write(
        "instance/kustomization.yaml",
        format!("resources:\n- {reference}\nnamePrefix: our-\n"),
    );
    lab.commit_all("instance", "instance");
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn tags_branches_commits_and_nothing_are_references() {
    let lab = lab();
    let (first, second) =
        (lab.git("hub", &["rev-parse", "HEAD~1"]), lab.git("hub", &["rev-parse", "HEAD"]));
    let tag_object = lab.git("hub", &["rev-parse", "v1"]);
    for (query, commit, pinning) in [
        ("?ref=v1", &first, Pinning::Tag),
        ("?ref=refs/tags/v1", &first, Pinning::Tag),
        ("?ref=tags/v1", &first, Pinning::Moving),
        ("?ref=main", &second, Pinning::Moving),
        ("?ref=release/1.x", &first, Pinning::Moving),
        ("?ref=release%2F1.x", &first, Pinning::Moving),
        ("?version=v1", &first, Pinning::Tag),
        ("?ref=refs/heads/main", &second, Pinning::Moving),
        ("", &second, Pinning::Moving),
        (&format!("?ref={first}"), &first, Pinning::Commit),
        (&format!("?ref={second}&timeout=90s&submodules=false"), &second, Pinning::Commit),
        (&format!("?ref={tag_object}"), &first, Pinning::Commit),
    ] {
        let base = load(&lab, query).unwrap();
        assert_eq!(&base.commit.to_string(), commit, "{query}");
        if !query.contains("=tags/") {
            assert_eq!(base.pinning, pinning, "{query}");
        }
        assert!(base.files.read("overlays/prod/kustomization.yaml").is_ok(), "{query}");
    }
}

#[test]
fn a_tag_wins_over_a_branch_of_its_name_as_in_git() {
    let lab = lab();
    lab.git("hub.git", &["tag", "main", "v1"]);
    assert_eq!(
        load(&lab, "?ref=main").unwrap().commit.to_string(),
        lab.git("hub", &["rev-parse", "HEAD~1"])
    );
}

#[test]
fn a_commit_that_the_server_does_not_give_alone_is_found_all_the_same() {
    let lab = lab();
    lab.git("hub.git", &["config", "uploadpack.allowAnySHA1InWant", "false"]);
    lab.git("hub.git", &["config", "protocol.version", "0"]);
    let mut environment = lab.settings_with(&[
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "protocol.version"),
        ("GIT_CONFIG_VALUE_0", "0"),
    ]);
    environment.network_limit = std::time::Duration::from_secs(60);
    let bases = RemoteBases::new(environment, &lab.path("cache"), false, LockFile::default());
    lab.git("hub.git", &["update-ref", "-d", "refs/heads/release/1.x"]);
    lab.git("hub.git", &["tag", "-d", "v1"]);
    let first = lab.git("hub", &["rev-parse", "HEAD~1"]);
    let base = load_with(&bases, &format!("{}//base?ref={first}", lab.url("hub.git"))).unwrap();
    assert_eq!(base.commit.to_string(), first);
}

#[test]
fn references_that_are_not_there_or_no_references_are_said() {
    let lab = lab();
    for query in [
        "?ref=none",
        "?ref=0123abc",
        "?ref=v1%5E%7Bcommit%7D",
        "?ref=--upload-pack=x",
        "?ref=-f",
        "?ref=a..b",
        "?ref=a%0Ab",
        "?ref=%2Bmain",
        "?ref=refs/heads/*",
    ] {
        let error = load(&lab, query).err().unwrap_or_else(|| panic!("{query}"));
        assert!(
            matches!(error, GitError::NoSuchReference { .. } | GitError::BadReference { .. }),
            "{query}: {error}"
        );
    }
    let error =
        load_with(&bases(&lab, false, LockFile::default()), &lab.url("none.git")).err().unwrap();
    assert!(matches!(error, GitError::RemoteMissing { .. }), "{error}");
    let missing = "0123456789".repeat(4);
    assert!(load(&lab, &format!("?ref={missing}")).is_err());
}

#[test]
fn the_cache_answers_without_the_remote_where_it_may() {
    let lab = lab();
    let first = lab.git("hub", &["rev-parse", "HEAD~1"]);
    for query in ["?ref=v1", "?ref=main", "", &format!("?ref={first}")] {
        load(&lab, query).unwrap();
    }
    fs::rename(lab.path("hub.git"), lab.path("gone.git")).unwrap();
    let url = |query: &str| format!("{}//overlays/prod{query}", lab.url("hub.git"));
    let offline = bases(&lab, true, LockFile::default());
    for (query, pinning) in
        [("?ref=v1", Pinning::Tag), ("?ref=main", Pinning::Moving), ("", Pinning::Moving)]
    {
        assert_eq!(load_with(&offline, &url(query)).unwrap().pinning, pinning, "{query}");
    }
    // A commit never changes, so that nobody is asked.
    let online = bases(&lab, false, LockFile::default());
    assert_eq!(
        load_with(&online, &url(&format!("?ref={first}"))).unwrap().commit.to_string(),
        first
    );
    assert!(load_with(&online, &url("?ref=v1")).is_err(), "a tag is looked up");
    let error = load_with(&offline, &url("?ref=other")).err().unwrap();
    assert!(matches!(error, GitError::Offline { .. }), "{error}");
}

#[test]
fn the_lock_file_decides_what_a_branch_is() {
    let lab = lab();
    let first = lab.git("hub", &["rev-parse", "HEAD~1"]);
    let mut lock = LockFile::default();
    lock.insert(&lab.url("hub.git"), Some("main"), first.parse().unwrap());
    let locked = bases(&lab, false, lock);
    let base = load_with(&locked, &format!("{}//base?ref=main", lab.url("hub.git"))).unwrap();
    assert_eq!((base.commit.to_string(), base.pinning), (first, Pinning::Commit));
}

#[test]
fn links_and_paths_never_lead_out_of_the_remote_repository() {
    let lab = lab();
    lab.link("hub/base/out.yaml", "../../../etc/passwd");
    lab.link("hub/base/absolute.yaml", "/etc/passwd");
    lab.write("hub/overlays/escape/kustomization.yaml", "resources: [../../../secret]\n");
    lab.write("hub/overlays/link/kustomization.yaml", "resources: [../../base/absolute.yaml]\n");
    lab.commit_all("hub", "hostile");
    lab.git("hub", &["push", "-q", "../hub.git", "main"]);
    let base = load(&lab, "?ref=main").unwrap();
    for path in ["base/out.yaml", "base/absolute.yaml", "../hub/x"] {
        assert!(matches!(base.files.read(path), Err(FilesError::Outside { .. })), "{path}");
    }
    for name in ["escape", "link"] {
        instance(&lab, &format!("{}//overlays/{name}?ref=main", lab.url("hub.git")));
        lab.write("instance/secret/kustomization.yaml", "resources: []\n");
        let output = overlay(&lab, &["build", "."]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    }
}

#[test]
fn hooks_submodules_and_large_files_of_a_remote_do_nothing() {
    let lab = lab();
    lab.overlays("sub", &[]);
    lab.git(
        "hub",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            &lab.url("sub"),
            "base/sub",
        ],
    );
    lab.write("hub/base/huge.yaml", vec![b'a'; 17 << 20]);
    lab.commit_all("hub", "more");
    lab.git("hub", &["push", "-q", "../hub.git", "main"]);
    let template = lab.path("template/hooks");
    fs::create_dir_all(&template).unwrap();
    let planted = lab.path("planted");
    for hook in ["post-checkout", "reference-transaction", "post-merge", "post-rewrite"] {
        use std::os::unix::fs::PermissionsExt;
        fs::write(template.join(hook), format!("#!/bin/sh\ntouch {}\n", planted.display()))
            .unwrap();
        fs::set_permissions(template.join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let settings =
        lab.settings_with(&[("GIT_TEMPLATE_DIR", lab.path("template").to_str().unwrap())]);
    let bases = RemoteBases::new(settings, &lab.path("cache"), false, LockFile::default());
    let base = load_with(&bases, &format!("{}//base?ref=main", lab.url("hub.git"))).unwrap();
    assert_eq!(base.files.entry("base/sub"), Ok(None));
    assert!(matches!(base.files.read("base/huge.yaml"), Err(FilesError::TooLarge { .. })));
    assert!(!planted.exists(), "a hook ran");
}

#[test]
fn transports_that_run_programs_are_no_remote_bases() {
    for url in [
        "ext::sh -c id",
        "git://host/org/repo",
        "fd::3//x",
        "-oProxyCommand=x:org/repo",
        "--upload-pack=x//y",
    ] {
        assert_eq!(GitUrl::parse(url), None, "{url}");
    }
    let lab = lab();
    let planted = lab.path("planted");
    // An address that the user's own configuration turns into another transport.
    let key = format!("url.ext::sh -c touch% {} .insteadOf", planted.display());
    let settings = lab.settings_with(&[
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", &key),
        ("GIT_CONFIG_VALUE_0", "https://evil.test/"),
        ("GIT_CONFIG_KEY_1", "protocol.ext.allow"),
        ("GIT_CONFIG_VALUE_1", "always"),
    ]);
    let bases = RemoteBases::new(settings, &lab.path("cache"), false, LockFile::default());
    assert!(load_with(&bases, "https://evil.test/org/repo//x?ref=v1").is_err());
    assert!(!planted.exists());
}

#[test]
fn smart_http_with_credentials_leaves_none_in_the_cache() {
    let lab = lab();
    let server = GitHttp::serve(
        &lab.path(""),
        Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() },
    );
    let clean = server.url("hub.git");
    let dirty = clean.replace("http://", &format!("http://bot:{TOKEN}@"));
    let base =
        load_with(&bases(&lab, false, LockFile::default()), &format!("{dirty}//base?ref=v1"))
            .unwrap();
    assert_eq!(base.address, clean);
    assert_eq!(base.files.read("base/kustomization.yaml").unwrap().len(), 22);
    let grep = Command::new("grep").args(["-r", TOKEN]).arg(lab.path("cache")).output().unwrap();
    assert!(!grep.status.success(), "{}", text(&grep));
    let header = format!("Authorization: Basic {}", base64(&format!("bot:{TOKEN}")));
    let settings = lab.settings_with(&[
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "http.extraHeader"),
        ("GIT_CONFIG_VALUE_0", &header),
    ]);
    let bases = RemoteBases::new(settings, &lab.path("other-cache"), false, LockFile::default());
    load_with(&bases, &format!("{clean}//base?ref=main")).unwrap();
    let error = load_with(
        &self::bases(&lab, false, LockFile::default()),
        &format!("{clean}//base?ref=main"),
    )
    .err()
    .unwrap();
    assert!(matches!(error, GitError::Authentication { .. }), "{error}");
}

#[test]
fn many_at_once_share_one_cache() {
    let lab = lab();
    let commits: Vec<String> = std::thread::scope(|scope| {
        let one = |_| scope.spawn(|| load(&lab, "?ref=v1").unwrap().commit.to_string());
        let all: Vec<_> = (0..12).map(one).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(commits.iter().all(|commit| *commit == lab.git("hub", &["rev-parse", "HEAD~1"])));
    let caches = fs::read_dir(lab.path("cache/git-1")).unwrap().count();
    assert_eq!(caches, 2, "one repository and its lock");
}

#[test]
fn builds_over_remote_bases_are_those_of_kustomize() {
    let lab = lab();
    lab.write("hub/overlays/component/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {a: b}\n");
    lab.write(
        "hub/overlays/nested/kustomization.yaml",
        format!("resources:\n- {}//overlays/prod?ref=v1\nnameSuffix: -n\n", lab.url("hub.git")),
    );
    lab.commit_all("hub", "more");
    lab.git("hub", &["push", "-q", "../hub.git", "main"]);
    let url = lab.url("hub.git");
    for reference in [
        format!("{url}//overlays/prod?ref=v1"),
        format!("{url}/overlays/prod?ref=v1"),
        format!("{url}//overlays/prod"),
        format!("{url}//base?version=main"),
        format!("{url}//overlays/nested?ref=main"),
    ] {
        instance(&lab, &reference);
        let ours = overlay(&lab, &["build", "."]);
        assert!(ours.status.success(), "{reference}: {}", text(&ours));
        let Some(judge) = judge() else { return };
        let theirs = judge.build(&lab.path("instance")).unwrap();
        assert_eq!(String::from_utf8_lossy(&ours.stdout), theirs, "{reference}");
    }
    let base = format!(
        "resources:\n- {url}//overlays/prod?ref=v1\ncomponents:\n- {url}//overlays/component?ref=main\n"
    );
    lab.write("instance/kustomization.yaml", base);
    let ours = overlay(&lab, &["build", "."]);
    let Some(judge) = judge() else { return };
    assert_eq!(
        String::from_utf8_lossy(&ours.stdout),
        judge.build(&lab.path("instance")).unwrap(),
        "{}",
        text(&ours)
    );
}

#[test]
fn offline_and_an_unreachable_base_are_said_with_the_line() {
    let lab = lab();
    instance(&lab, &format!("{}//overlays/prod?ref=v1", lab.url("hub.git")));
    let cold = overlay(&lab, &["build", ".", "--offline", "-o", "json"]);
    assert_eq!(cold.status.code(), Some(4), "{}", text(&cold));
    assert!(
        text(&cold).contains("\"remote-base\"") && text(&cold).contains("\"line\":2"),
        "{}",
        text(&cold)
    );
    assert!(overlay(&lab, &["build", "."]).status.success());
    fs::rename(lab.path("hub.git"), lab.path("gone.git")).unwrap();
    let warm = overlay(&lab, &["build", ".", "--offline"]);
    assert!(warm.status.success(), "{}", text(&warm));
    let gone = overlay(&lab, &["build", "."]);
    assert_eq!(gone.status.code(), Some(4), "{}", text(&gone));
}

/// `build --at` reads the objects alone: the same as kustomize on a checkout of that revision.
#[test]
fn any_revision_builds_as_its_checkout_would() {
    let lab = lab();
    fs::remove_dir_all(lab.path("hub/overlays")).unwrap();
    lab.commit_all("hub", "no overlays any more");
    lab.git("hub", &["worktree", "add", "-q", "--detach", "../old", "HEAD~2"]);
    let mut run = Command::new(env!("CARGO_BIN_EXE_overlay"));
    run.args(["build", "--at", "v1", "../overlays/prod", "--overlay", "../overlays/d*"]);
    let ours =
        run.current_dir(lab.path("hub/base")).env_clear().envs(lab.environment()).output().unwrap();
    assert!(ours.status.success(), "{}", text(&ours));
    let Some(judge) = judge() else { return };
    let theirs = ["prod", "dev"]
        .map(|name| judge.build(&lab.path(&format!("old/overlays/{name}"))).unwrap());
    assert_eq!(String::from_utf8_lossy(&ours.stdout), theirs.join("---\n"));
    for (args, status) in [
        (["build", "--at", "v1", "overlays/none"], 4),
        (["build", "--at", "none", "overlays/prod"], 4),
        (["build", "--at", "--all", "overlays/prod"], 4),
        (["build", "--at", "v1", "../../x"], 3),
        (["build", "--at", "v1", "overlays/x*"], 4),
        (["build", "--at", "HEAD", "overlays/prod"], 4),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_overlay"))
            .args(args)
            .current_dir(lab.path("hub"))
            .env_clear()
            .envs(lab.environment())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output));
    }
}

#[test]
fn a_broken_lock_file_is_named() {
    let lab = lab();
    instance(&lab, &format!("{}//overlays/prod?ref=v1", lab.url("hub.git")));
    lab.write("instance/overlay.lock", "overlay-lock 1\nhttps://x v1\n");
    let output = overlay(&lab, &["build", ".", "-o", "json"]);
    assert!(
        text(&output).contains("overlay.lock") && text(&output).contains("\"line\":2"),
        "{}",
        text(&output)
    );
    assert_eq!(output.status.code(), Some(3));
}

/// `Settings` of a run hold no more than the environment they were made of.
#[test]
fn settings_leave_out_what_leads_elsewhere() {
    let lab = lab();
    let settings: Settings =
        lab.settings_with(&[("GIT_DIR", "/nonexistent"), ("GIT_INDEX_FILE", "/nonexistent")]);
    let repository = overlay::git::Repository::open(&Arc::new(settings), &lab.path("hub")).unwrap();
    assert_eq!(
        repository.resolve("HEAD").unwrap().to_string(),
        lab.git("hub", &["rev-parse", "HEAD"])
    );
}
