//! Every form in which a kustomization names a remote base, over real transports, beside a real kustomize; and what a
//! hostile repository may hold.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::support::git_http::{GitHttp, Manner};
use crate::support::git_lab::{Lab, WEB};
use crate::support::repo::Ran;
use crate::support::sshd::Sshd;
use crate::support::{judge, skip};

/// Bare copies of one repository under the names that the forms ask for: a tag `v1` and a branch `release/1.x` on the
/// first commit, `main` on the second, and a reference of the kind that forges keep pull requests in.
fn lab() -> Lab {
    let lab = Lab::new();
    lab.overlays("hub", &[]);
    lab.write("hub/kustomization.yaml", "resources: [base]\nnameSuffix: -top\n");
    lab.write("hub/b=c/kustomization.yaml", "resources: [../base]\nnameSuffix: -odd\n");
    lab.commit_all("hub", "first");
    lab.git("hub", &["tag", "-a", "v1", "-m", "one"]);
    lab.git("hub", &["branch", "release/1.x"]);
    lab.write("hub/base/web.yaml", WEB.replace("shop/web:1.0", "shop/web:2.0"));
    lab.commit_all("hub", "second");
    for name in ["hub.git", "hub", "org/repo", "o/p/_git/repo", "group/sub/deep.git"] {
        let name = format!("srv/{name}");
        fs::create_dir_all(lab.path(&name).parent().unwrap()).unwrap();
        lab.bare("hub", &name);
        lab.git(&name, &["update-ref", "refs/pull/7/head", "v1^{commit}"]);
    }
    lab.init("instance", &[]);
    lab
}

/// What the program makes of an overlay whose base is `reference`.
fn build(lab: &Lab, reference: &str, more: &[(&str, &str)]) -> Ran {
    let text = format!("resources:\n- \"{reference}\"\nnamePrefix: our-\n");
    lab.write("instance/kustomization.yaml", text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command
        .args(["build", ".", "-o", "json", "--timeout", "60s"])
        .current_dir(lab.path("instance"));
    command.env_clear().envs(lab.environment()).envs(more.iter().copied());
    let output = command.env("OVERLAY_CACHE_DIR", lab.path("cache")).output().unwrap();
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Each builds, and to what kustomize makes of it.
fn require_as_kustomize(lab: &Lab, forms: &[String], more: &[(&str, &str)]) {
    let judge = judge();
    for form in forms {
        let ours = build(lab, form, more);
        assert_eq!(ours.status, 0, "{form}: {ours:?}");
        let yaml = ours.json()["result"]["overlays"][0]["yaml"].as_str().unwrap().to_owned();
        let version = if form.contains('=') && !form.contains("main") { "1.0" } else { "2.0" };
        assert!(yaml.contains(&format!("shop/web:{version}")), "{form}: {yaml}");
        let sealed = [("GIT_TERMINAL_PROMPT", "0"), ("GIT_CONFIG_GLOBAL", "/dev/null")];
        let variables = [&sealed[..], more].concat();
        if let Some(judge) = &judge {
            let theirs = judge.build_with(&lab.path("instance"), &variables);
            assert_eq!(theirs, Ok(yaml), "{form}");
        }
    }
}

fn forms(root: &str, forms: &[&str]) -> Vec<String> {
    forms.iter().map(|form| format!("{root}{form}")).collect()
}

#[test]
fn forms_of_file_addresses_are_those_of_kustomize() {
    let lab = lab();
    let srv = lab.url("srv");
    let all = [
        "/hub.git",
        "/hub.git//base",
        "/hub.git//base?ref=v1",
        "/hub.git/base?ref=v1",
        "/hub.git//overlays/prod/?ref=v1",
        "/hub.git//overlays/prod?version=v1",
        "/hub.git//base?ref=&version=v1",
        "/hub.git//base?ref=release/1.x",
        "/hub.git//base?ref=release%2F1.x",
        "/hub.git//base?ref=refs/tags/v1",
        "/hub.git//base?ref=main&timeout=90s&submodules=false",
        "/hub.git//base?submodules=false&ref=v1",
        "/hub.git//overlays/../base?ref=v1",
        "/hub//base?ref=v1",
        "/hub//?ref=v1",
        "/group/sub/deep.git//base?ref=v1",
        "/group/sub/deep.git/overlays/dev?ref=v1",
    ];
    let mut all = forms(&srv, &all);
    all.push(format!("git::{srv}/hub.git//base?ref=v1"));
    let commit = lab.git("hub", &["rev-parse", "v1^{commit}"]);
    all.push(format!("{srv}/hub.git//base?ref={commit}"));
    require_as_kustomize(&lab, &all, &[]);
    // Kustomize's shallow fetch takes a pull request's reference by its whole name.
    let pull = format!("{srv}/hub.git//base?ref=refs/pull/7/head");
    require_as_kustomize(&lab, &[pull], &[]);
}

#[test]
fn forms_of_http_addresses_are_those_of_kustomize() {
    let lab = lab();
    let server = GitHttp::serve(&lab.path("srv"), Manner::default());
    let root = server.url("");
    let root = root.trim_end_matches('/');
    let mut all = forms(
        root,
        &[
            "/hub.git//base?ref=v1",
            "/hub.git/base?ref=v1",
            "/org/repo?ref=v1",
            "/org/repo/base?ref=v1",
            "/org/repo//overlays/prod?ref=main",
            "/o/p/_git/repo/base?ref=v1",
            "/group/sub/deep.git//base?ref=v1",
        ],
    );
    all.push(format!("git::{root}/hub.git//base?ref=v1"));
    all.push(format!("HTTP{}/hub.git//base?ref=v1", root.trim_start_matches("http")));
    require_as_kustomize(&lab, &all, &[]);
}

#[test]
fn http_with_credentials_takes_them_from_the_address_and_says_who_is_not_let_in() {
    let lab = lab();
    const TOKEN: &str = "planted-t0ken-0123456789";
    let manner = Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() };
    let server = GitHttp::serve(&lab.path("srv"), manner);
    let clean = server.url("hub.git//base?ref=v1");
    let dirty = clean.replace("http://", &format!("http://bot:{TOKEN}@"));
    require_as_kustomize(&lab, &[dirty], &[]);
    fs::remove_dir_all(lab.path("cache")).unwrap();
    let refused = build(&lab, &clean, &[]);
    assert_eq!((refused.status, refused.code().as_str()), (4, "remote-base"));
    assert!(refused.stdout.contains("not allowed in"), "{refused:?}");
    let wrong = build(&lab, &clean.replace("http://", "http://bot:wr0ng-passw0rd@"), &[]);
    assert_eq!(wrong.status, 4);
    assert!(!format!("{wrong:?}").contains("wr0ng"), "{wrong:?}");
}

/// Whatever speaks of a base says its address without what lets one in.
#[test]
fn no_command_shows_the_credentials_of_a_base() {
    let lab = lab();
    const TOKEN: &str = "planted-t0ken-0123456789";
    let manner = Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() };
    let server = GitHttp::serve(&lab.path("srv"), manner);
    let dirty = server.url("hub.git").replace("http://", &format!("http://bot:{TOKEN}@"));
    let text = format!("resources:\n- \"{dirty}//base?ref=main\"\n- {dirty}//b=c?ref=none\n");
    lab.write("instance/broken/kustomization.yaml", text);
    let text = format!("resources:\n- \"{dirty}//base?ref=main\"\nnamePrefix: our-\n");
    lab.write("instance/o/kustomization.yaml", text);
    lab.commit_all("instance", "start");
    let digest = format!("web=sha256:{}", "2".repeat(64));
    let commands: [&[&str]; 12] = [
        &["build", "o", "-v"],
        &["build", "broken"],
        &["list"],
        &["images", "o"],
        &["images", "broken"],
        &["check", "o"],
        &["pin", "broken", &digest, "--dry-run"],
        &["pin", "o", &digest, "--dry-run"],
        &["bump", "o", "--ref", "v1", "--dry-run"],
        &["bump", "o", "--ref", "none"],
        &["lock", "o"],
        &["affected", "--from", "HEAD"],
    ];
    for command in commands {
        for form in ["human", "json"] {
            let ran = lab.overlay("instance", &[command, &["-o", form]].concat());
            let shown = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!shown.contains(TOKEN), "{command:?}: {shown}");
        }
    }
    assert!(!String::from_utf8(lab.read("instance/overlay.lock")).unwrap().contains(TOKEN));
}

#[test]
fn forms_of_ssh_addresses_are_those_of_kustomize() {
    let lab = lab();
    let Some(server) = Sshd::serve(&lab) else { return skip("no sshd") };
    let (user, root) = (Sshd::user(), lab.path("srv").display().to_string());
    let command = format!("{} -p {}", server.command, server.port);
    let more = [("GIT_SSH_COMMAND", command.as_str())];
    let port = server.port;
    let all = [
        format!("ssh://{user}@127.0.0.1:{port}{root}/hub.git//base?ref=v1"),
        format!("ssh://{user}@127.0.0.1:{port}{root}/hub.git/base?ref=main"),
        format!("{user}@127.0.0.1:{root}/hub.git//base?ref=v1"),
        format!("{user}@127.0.0.1:{root}/hub.git/overlays/prod?ref=v1"),
        format!("git::{user}@127.0.0.1:{root}/hub.git//base?ref=v1"),
    ];
    require_as_kustomize(&lab, &all, &more);
    let stranger = server.command.replace("known_hosts", "none");
    fs::remove_dir_all(lab.path("cache")).unwrap();
    let refused = build(&lab, &all[0], &[("GIT_SSH_COMMAND", &stranger)]);
    assert_eq!((refused.status, refused.code().as_str()), (4, "remote-base"), "{refused:?}");
}

#[test]
fn repositories_that_cannot_be_bases_are_told() {
    let lab = lab();
    lab.overlays("other", &["--object-format=sha256"]);
    lab.git("other", &["tag", "v1"]);
    lab.bare("other", "srv/sha256.git");
    lab.init("empty", &[]);
    lab.bare("empty", "srv/empty.git");
    // Kustomize fetches into a SHA-1 repository, and can no more.
    let refused = build(&lab, &format!("{}//base?ref=v1", lab.url("srv/sha256.git")), &[]);
    assert_eq!((refused.status, refused.code().as_str()), (4, "remote-base"), "{refused:?}");
    assert!(refused.stdout.contains("server sha256"), "{refused:?}");
    for query in ["", "?ref=v1"] {
        let none = build(&lab, &format!("{}//base{query}", lab.url("srv/empty.git")), &[]);
        assert_eq!((none.status, none.code().as_str()), (4, "remote-base"), "{none:?}");
    }
}

#[test]
fn a_server_that_says_nothing_ends_in_the_time_allowed() {
    let lab = lab();
    let silent = GitHttp::serve(&lab.path("srv"), Manner { is_silent: true, ..Manner::default() });
    let reference = silent.url("hub.git//base?ref=v1");
    lab.write("instance/kustomization.yaml", format!("resources:\n- {reference}\n"));
    let args = ["build", ".", "-o", "json", "--timeout", "4s"];
    let ran = lab.overlay("instance", &args);
    assert_eq!((ran.status, ran.code().as_str()), (4, "remote-base"), "{ran:?}");
    let gone = build(&lab, "http://127.0.0.1:1/org/repo//base?ref=v1", &[]);
    assert_eq!((gone.status, gone.code().as_str()), (4, "remote-base"), "{gone:?}");
    assert!(gone.stdout.contains("cannot be reached"), "{gone:?}");
}

/// What a repository may hold to lead out, to run something, or to cost too much: each is refused or without effect, and
/// nothing of it is run.
#[test]
fn hostile_repositories_do_nothing() {
    let lab = lab();
    let planted = lab.path("planted").display().to_string();
    lab.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: stolen}\n");
    lab.write("instance/local.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: stolen}\n");
    let overlay = |name: &str, text: &str| {
        lab.write(&format!("hub/evil/{name}/kustomization.yaml"), text);
    };
    overlay("up", "resources: [../../../secret.yaml]\n");
    overlay("absolute", &format!("resources: [{}]\n", lab.path("secret.yaml").display()));
    overlay("instance", "resources: [../../../instance/local.yaml]\n");
    overlay("git", "resources: [../../.git/config]\n");
    overlay("loop", "resources: [link.yaml]\n");
    lab.link("hub/evil/loop/link.yaml", "link.yaml");
    overlay("link", "resources: [link.yaml]\n");
    lab.link("hub/evil/link/link.yaml", "../../../secret.yaml");
    lab.link("hub/evil/directory", "/etc");
    overlay("huge", "resources: [huge.yaml]\n");
    lab.write("hub/evil/huge/huge.yaml", vec![b'#'; 17 << 20]);
    overlay("deep", "resources: [deep.yaml]\n");
    lab.write("hub/evil/deep/deep.yaml", "a: ".to_owned() + &"[".repeat(100_000));
    overlay("cycle", "resources: [../cycle2]\n");
    overlay("cycle2", "resources: [../cycle]\n");
    let generator = format!(
        "generators:\n- |-\n  apiVersion: v1\n  kind: X\n  metadata:\n    name: x\n    annotations:\n      config.kubernetes.io/function: |\n        exec: {{path: touch, args: [{planted}]}}\n"
    );
    overlay("exec", &generator);
    overlay("sub", "resources: [module]\n");
    let module = format!(
        "[submodule \"m\"]\n\tpath = evil/sub/module\n\turl = ext::sh -c touch% {planted}\n"
    );
    lab.write("hub/.gitmodules", module);
    let commit = lab.git("hub", &["rev-parse", "HEAD"]);
    lab.git("hub", &["add", "-A"]);
    let link = format!("160000,{commit},evil/sub/module");
    lab.git("hub", &["update-index", "--add", "--cacheinfo", &link]);
    lab.git("hub", &["commit", "-q", "-m", "evil"]);
    lab.git("hub", &["push", "-q", "../srv/hub.git", "HEAD:refs/heads/evil"]);
    for (name, status) in [
        ("up", 3),
        ("absolute", 3),
        ("instance", 3),
        ("git", 3),
        ("loop", 3),
        ("link", 3),
        ("directory", 3),
        ("huge", 3),
        ("deep", 3),
        ("cycle", 3),
        ("exec", 4),
        ("sub", 3),
    ] {
        let ran = build(&lab, &format!("{}//evil/{name}?ref=evil", lab.url("srv/hub.git")), &[]);
        assert_eq!(ran.status, status, "{name}: {ran:?}");
        assert!(!ran.stdout.contains("stolen"), "{name}: {ran:?}");
    }
    assert!(!lab.path("planted").exists(), "something was run");
}

/// Filters and line ends of `.gitattributes` are for checkouts: a base is what was committed, and no filter runs.
#[test]
fn attributes_of_a_base_start_no_filter() {
    let lab = lab();
    lab.write("hub/.gitattributes", "*.yaml filter=evil\n");
    lab.commit_all("hub", "attributes");
    lab.git("hub", &["push", "-q", "../srv/hub.git", "HEAD:refs/heads/filtered"]);
    let script = lab.path("filter.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", lab.path("planted").display()))
        .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.display().to_string();
    let more = [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "filter.evil.smudge"),
        ("GIT_CONFIG_VALUE_0", script.as_str()),
        ("GIT_CONFIG_KEY_1", "filter.evil.clean"),
        ("GIT_CONFIG_VALUE_1", script.as_str()),
    ];
    let ran = build(&lab, &format!("{}//base?ref=filtered", lab.url("srv/hub.git")), &more);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!lab.path("planted").exists(), "a filter ran");
}
