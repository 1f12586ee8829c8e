//! Fetching and pushing, against real servers on loopback: files, smart HTTP, SSH.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use overlay::git::{
    GitError, ObjectId, Outcome, Pushed, Remade, Remote, Repository, Settings, build_commit,
    push_with_retry,
};

use crate::git_commit::{change, code_of, text};
use crate::support::git_http::{GitHttp, Manner, base64};
use crate::support::git_lab::Lab;
use crate::support::skip;
use crate::support::sshd::Sshd;

const PROD: &str = "overlays/prod/kustomization.yaml";
const MAIN: &str = "refs/heads/main";

fn lab() -> Lab {
    let lab = Lab::new();
    lab.overlays("plain", &[]);
    lab.bare("plain", "app.git");
    lab.git("app.git", &["config", "http.receivepack", "true"]);
    lab.git("", &["clone", "-q", "app.git", "clone"]);
    lab
}

/// A commit on `base` that writes `content` to the production overlay.
fn commit(repository: &Repository, base: ObjectId, content: &str) -> ObjectId {
    build_commit(repository, base, &[change(PROD, content)], &text("Pin web")).unwrap().unwrap().id
}

fn hook(lab: &Lab, path: &str, script: &str) {
    lab.write(path, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(lab.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Pushes a line, made again on each new head.
fn push_line(repository: &Repository, remote: &Remote<'_>, line: &str) -> Result<Pushed, GitError> {
    push_with_retry(remote, repository, MAIN, |head| {
        let head = head.unwrap();
        let found = repository.files_at(&head.to_string())?;
        let old = overlay::kustomize::Files::read(&found, PROD).unwrap();
        let content = format!("{}{line}\n", String::from_utf8_lossy(&old));
        let built = build_commit(repository, head, &[change(PROD, &content)], &text(line))?;
        Ok(built.map_or(Remade::AlreadySo, |built| Remade::Commit(built.id)))
    })
}

#[test]
fn a_push_lands_and_a_lost_race_is_told() {
    let lab = lab();
    let repository = lab.open("clone");
    let remote = Remote::open(repository.git(), "origin").unwrap();
    let base = remote.fetch_branch(&repository, MAIN).unwrap().unwrap();
    let first = commit(&repository, base, "first: 1\n");
    let second = commit(&repository, base, "second: 1\n");
    assert_eq!(remote.push(&repository, MAIN, Some(base), first).unwrap(), Outcome::Landed);
    assert_eq!(remote.push(&repository, MAIN, Some(base), second).unwrap(), Outcome::LostRace);
    assert_eq!(
        remote.push(&repository, MAIN, Some(base), first).unwrap(),
        Outcome::Landed,
        "again is as good"
    );
    assert_eq!(remote.push(&repository, "refs/heads/pins", None, second).unwrap(), Outcome::Landed);
    assert_eq!(
        remote.push(&repository, "refs/heads/pins", None, first).unwrap(),
        Outcome::LostRace
    );
    assert_eq!(lab.git("app.git", &["rev-parse", "pins"]), second.to_string(), "never forced");
    assert_eq!(remote.default_branch().unwrap(), MAIN);
    assert_eq!(remote.fetch_branch(&repository, "refs/heads/none").unwrap(), None);
    lab.require_sound("app.git");
}

#[test]
fn somebody_on_top_is_success() {
    let lab = lab();
    lab.git("", &["clone", "-q", "app.git", "other"]);
    let repository = lab.open("clone");
    let remote = Remote::open(repository.git(), "origin").unwrap();
    let base = remote.branch(MAIN).unwrap().unwrap();
    let ours = commit(&repository, base, "ours: 1\n");
    hook(
        &lab,
        "app.git/hooks/post-receive",
        &format!(
            "cd {} && unset GIT_DIR GIT_QUARANTINE_PATH && test -e done || {{ touch done; git pull -q && git commit -q --allow-empty -m top && git push -q; }}",
            lab.path("other").display()
        ),
    );
    assert_eq!(remote.push(&repository, MAIN, Some(base), ours).unwrap(), Outcome::Landed);
    assert_ne!(
        lab.git("app.git", &["rev-parse", "main"]),
        ours.to_string(),
        "the hook did not race"
    );
}

#[test]
fn a_rule_of_the_server_is_reported_in_its_words() {
    let lab = lab();
    let repository = lab.open("clone");
    let remote = Remote::open(repository.git(), "origin").unwrap();
    let base = remote.branch(MAIN).unwrap().unwrap();
    let ours = commit(&repository, base, "ours: 1\n");
    for (name, script) in [
        (
            "pre-receive",
            "while read o n r; do case $r in refs/heads/main) echo \"GH006: Protected branch update failed for $r.\"; exit 1;; esac; done",
        ),
        (
            "update",
            "echo 'GH006: Protected branch update failed: commits must have verified signatures.'; exit 1",
        ),
    ] {
        hook(&lab, &format!("app.git/hooks/{name}"), script);
        let error = remote.push(&repository, MAIN, Some(base), ours).unwrap_err();
        let GitError::PushRefused { branch, commit, message, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!((branch.as_str(), commit), ("main", &ours.to_string()));
        assert!(message.contains("GH006: Protected branch update failed"), "{message}");
        assert_eq!(code_of(error), ("push-refused", 5));
        fs::remove_file(lab.path(&format!("app.git/hooks/{name}"))).unwrap();
    }
    assert_eq!(remote.branch(MAIN).unwrap(), Some(base));
}

#[test]
fn a_second_pusher_in_the_pre_push_hook_is_overtaken_by_making_the_edit_again() {
    let lab = lab();
    lab.git("", &["clone", "-q", "app.git", "other"]);
    hook(
        &lab,
        "clone/.git/hooks/pre-push",
        &format!(
            "cd {} && unset GIT_DIR && n=$(cat n 2>/dev/null || echo 0) && test $n -ge 3 || {{ echo $((n+1)) > n; git pull -q; echo other$n >> {PROD}; git commit -qam other$n; git push -q; }}",
            lab.path("other").display()
        ),
    );
    let repository = lab.open("clone");
    let remote = Remote::open(repository.git(), "origin").unwrap();
    let pushed = push_line(&repository, &remote, "ours").unwrap();
    assert_eq!((pushed.is_new, pushed.tries), (true, 4));
    let content = lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
    assert_eq!(content, "resources: [../../base]\nother0\nother1\nother2\nours");
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "--merges", "main"]), "0");
    let again =
        push_with_retry(&remote, &repository, MAIN, |_| Ok::<_, GitError>(Remade::AlreadySo))
            .unwrap();
    assert_eq!((again.is_new, again.commit), (false, pushed.commit));
}

#[test]
fn sixteen_at_once_all_land_in_a_line() {
    let lab = lab();
    let started = Instant::now();
    for at in 0..16 {
        lab.git("", &["clone", "-q", "app.git", &format!("clone{at}")]);
    }
    let lab = &lab;
    let tries: Vec<u32> = std::thread::scope(|scope| {
        let push = |at: usize| {
            let repository = lab.open(&format!("clone{at}"));
            let remote = Remote::open(repository.git(), "origin").unwrap();
            push_line(&repository, &remote, &format!("line{at}")).unwrap().tries
        };
        let all: Vec<_> = (0..16).map(|at| scope.spawn(move || push(at))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    #[allow(clippy::print_stderr, reason = "a number to be read")]
    {
        eprintln!("16 pushers: tries {tries:?} in {:?}", started.elapsed());
    }
    let content = lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]);
    for at in 0..16 {
        assert!(content.lines().any(|line| line == format!("line{at}")), "{content}");
    }
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "--first-parent", "main"]), "17");
    assert_eq!(lab.git("app.git", &["rev-list", "--count", "--merges", "main"]), "0");
    lab.require_sound("app.git");
}

#[test]
fn pushes_work_from_shallow_and_partial_clones() {
    let lab = lab();
    lab.git("app.git", &["config", "uploadpack.allowFilter", "true"]);
    for (at, args) in
        [vec!["--depth", "1"], vec!["--filter=blob:none", "--no-checkout", "--depth", "1"]]
            .iter()
            .enumerate()
    {
        let name = format!("small{at}");
        let url = lab.url("app.git");
        let mut all = vec!["clone", "-q"];
        all.extend(args);
        all.extend([url.as_str(), name.as_str()]);
        lab.git("", &all);
        let repository = lab.open(&name);
        let remote = Remote::open(repository.git(), "origin").unwrap();
        assert!(push_line(&repository, &remote, &name).unwrap().is_new);
        let other = lab.open("clone");
        let remote = Remote::open(other.git(), "origin").unwrap();
        push_line(&other, &remote, "between").unwrap();
        let remote = Remote::open(repository.git(), "origin").unwrap();
        assert!(
            push_line(&repository, &remote, "after").unwrap().is_new,
            "the shallow clone catches up"
        );
    }
    lab.require_sound("app.git");
}

fn settings(lab: &Lab) -> Settings {
    let mut settings = lab.settings();
    settings.network_limit = Duration::from_secs(60);
    settings
}

const TOKEN: &str = "planted-t0ken-5647382910";

/// The texts of every process's arguments while `run` runs.
pub(crate) fn command_lines_during<T>(run: impl FnOnce() -> T) -> (T, String) {
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let watcher = std::thread::spawn(move || {
        let mut seen = String::new();
        while !flag.load(std::sync::atomic::Ordering::Relaxed) {
            for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
                if let Ok(line) = fs::read(process.path().join("cmdline"))
                    && [b"git".as_slice(), b"overlay", b"curl"]
                        .iter()
                        .any(|name| line.windows(name.len()).any(|w| w == *name))
                {
                    seen.push_str(&String::from_utf8_lossy(&line).replace('\0', " "));
                    seen.push('\n');
                }
            }
        }
        seen
    });
    let result = run();
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    (result, watcher.join().unwrap())
}

#[test]
fn credentials_in_an_address_reach_the_server_and_nothing_else() {
    let lab = lab();
    let server = GitHttp::serve(
        &lab.path(""),
        Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() },
    );
    let dirty = server.url("app.git").replace("http://", &format!("http://bot:{TOKEN}@"));
    lab.git("clone", &["remote", "set-url", "origin", &dirty]);
    lab.git("clone", &["remote", "add", "clean", &server.url("app.git")]);
    lab.git("clone", &["remote", "add", "rewritten", "deploy:app.git"]);
    lab.git(
        "clone",
        &[
            "config",
            &format!("url.http://bot:{TOKEN}@127.0.0.1:{}/.insteadOf", server.port),
            "deploy:",
        ],
    );
    for name in ["origin", dirty.as_str(), "rewritten"] {
        let repository = Repository::open(&Arc::new(settings(&lab)), &lab.path("clone")).unwrap();
        let (pushed, lines) = command_lines_during(|| {
            let remote = Remote::open(repository.git(), name).unwrap();
            assert!(!remote.shown().contains(TOKEN));
            push_line(&repository, &remote, "line")
        });
        assert!(pushed.unwrap().is_new, "{name}");
        assert!(lines.contains("push"), "the watcher saw nothing: {lines}");
        assert!(!lines.contains(TOKEN), "{lines}");
    }
    let header = format!("Basic {}", base64(&format!("bot:{TOKEN}")));
    assert!(server.authorizations().contains(&header));
    let log = lab.git("app.git", &["log", "-p", "main"]);
    assert!(!log.contains(TOKEN));
    let repository = Repository::open(&Arc::new(settings(&lab)), &lab.path("clone")).unwrap();
    let error = Remote::open(repository.git(), "clean").unwrap().branch(MAIN).unwrap_err();
    assert!(matches!(error, GitError::Authentication { .. }), "{error}");
    let wrong = server.url("app.git").replace("http://", "http://bot:wrong-passw0rd@");
    let error = Remote::open(repository.git(), &wrong).unwrap().branch(MAIN).unwrap_err();
    assert!(matches!(error, GitError::Authentication { .. }), "{error}");
    assert!(!error.to_string().contains("wrong-passw0rd"), "{error}");
}

#[test]
fn credentials_of_askpass_and_of_the_environment_work() {
    let lab = lab();
    let server = GitHttp::serve(
        &lab.path(""),
        Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() },
    );
    lab.git("clone", &["remote", "set-url", "origin", &server.url("app.git")]);
    hook(&lab, "askpass", "case $1 in User*) echo bot;; *) echo $DEPLOY_TOKEN;; esac");
    let askpass = lab.path("askpass").display().to_string();
    let header = format!("Authorization: Basic {}", base64(&format!("bot:{TOKEN}")));
    for (at, more) in [
        vec![("GIT_ASKPASS", askpass.as_str()), ("DEPLOY_TOKEN", TOKEN)],
        vec![
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "http.extraHeader"),
            ("GIT_CONFIG_VALUE_0", header.as_str()),
        ],
    ]
    .into_iter()
    .enumerate()
    {
        let repository =
            Repository::open(&Arc::new(lab.settings_with(&more)), &lab.path("clone")).unwrap();
        let remote = Remote::open(repository.git(), "origin").unwrap();
        assert!(push_line(&repository, &remote, &format!("line{at}")).unwrap().is_new);
    }
    assert_eq!(lab.git("clone", &["config", "--get-regexp", "."]).matches(TOKEN).count(), 0);
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_host() {
    let lab = lab();
    let other = GitHttp::serve(&lab.path(""), Manner::default());
    let elsewhere = format!("http://localhost:{}", other.port);
    let server =
        GitHttp::serve(&lab.path(""), Manner { redirect: Some(elsewhere), ..Manner::default() });
    let dirty = server.url("app.git").replace("http://", &format!("http://bot:{TOKEN}@"));
    let repository = Repository::open(&Arc::new(settings(&lab)), &lab.path("clone")).unwrap();
    let _ = Remote::open(repository.git(), &dirty).unwrap().branch(MAIN);
    assert_eq!(other.authorizations(), Vec::<String>::new());
}

#[test]
fn servers_that_are_not_there_or_say_nothing_end_in_time() {
    let lab = lab();
    let silent = GitHttp::serve(&lab.path(""), Manner { is_silent: true, ..Manner::default() });
    let server = GitHttp::serve(&lab.path(""), Manner::default());
    let mut settings = lab.settings();
    settings.network_limit = Duration::from_secs(6);
    let repository = Repository::open(&Arc::new(settings), &lab.path("clone")).unwrap();
    let ask =
        |address: &str| Remote::open(repository.git(), address).unwrap().branch(MAIN).unwrap_err();
    let started = Instant::now();
    let error = ask(&silent.url("app.git"));
    assert!(matches!(error, GitError::Unreachable { .. } | GitError::TimedOut { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10));
    let error = ask("http://127.0.0.1:1/app.git");
    assert!(matches!(error, GitError::Unreachable { .. }), "{error}");
    for address in [server.url("none.git"), lab.url("none.git")] {
        let error = ask(&address);
        assert!(matches!(error, GitError::RemoteMissing { .. }), "{error}");
    }
}

#[test]
fn remotes_that_are_options_or_run_programs_are_refused() {
    let lab = lab();
    let repository = lab.open("clone");
    let planted = lab.path("planted").display().to_string();
    for name in [
        "",
        "-",
        "--upload-pack=touch x",
        "nosuch",
        &format!("ext::sh -c touch% {planted}"),
        "fd::17",
        "a\nb",
    ] {
        let error = Remote::open(repository.git(), name).err().unwrap();
        assert!(matches!(error, GitError::BadRemote { .. }), "{name}: {error}");
    }
    lab.git("clone", &["config", "protocol.ext.allow", "always"]);
    lab.git("clone", &["remote", "add", "evil", &format!("ext::sh -c touch% {planted}")]);
    assert!(Remote::open(repository.git(), "evil").unwrap().branch(MAIN).is_err());
    assert!(!Path::new(&planted).exists());
}

#[test]
fn ssh_pushes_and_names_what_is_wrong() {
    let lab = lab();
    let Some(server) = Sshd::serve(&lab) else { return skip("no sshd") };
    let address = server.url(&lab.path("app.git"));
    let open = |command: &str| {
        let settings = lab.settings_with(&[("GIT_SSH_COMMAND", command)]);
        Repository::open(&Arc::new(settings), &lab.path("clone")).unwrap()
    };
    let repository = open(&server.command);
    let remote = Remote::open(repository.git(), &address).unwrap();
    assert!(push_line(&repository, &remote, "by ssh").unwrap().is_new);
    let stranger = open(&server.command.replace("known_hosts", "none"));
    let error = Remote::open(stranger.git(), &address).unwrap().branch(MAIN).unwrap_err();
    assert!(matches!(error, GitError::Authentication { .. }), "{error}");
    let wrong_key = open(&server.command.replace("/ck ", "/hk "));
    let error = Remote::open(wrong_key.git(), &address).unwrap().branch(MAIN).unwrap_err();
    assert!(matches!(error, GitError::Authentication { .. }), "{error}");
    let error = Remote::open(repository.git(), &address.replace("app.git", "none.git"))
        .unwrap()
        .branch(MAIN)
        .unwrap_err();
    assert!(matches!(error, GitError::RemoteMissing { .. }), "{error}");
}
