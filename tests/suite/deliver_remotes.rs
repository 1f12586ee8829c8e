//! Delivery to remotes that are protected, private, of another kind, or gone: by the real program.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};

use serde_json::json;

use crate::deliver::{PROD, Ran, command, digest, lab, overlay, pin, ran};
use crate::git_remote::command_lines_during;
use crate::support::git_http::{GitHttp, Manner};
use crate::support::git_lab::Lab;
use crate::support::skip;

const TOKEN: &str = "planted-t0ken-9876543210";

fn push(lab: &Lab, digit: char, more: &[(&str, &str)]) -> Ran {
    let wanted = pin("shop/app0", digit);
    let args = ["pin", "overlays/prod", &wanted, "--push"];
    ran(&command(lab, "clone", &args).envs(more.iter().copied()).output().unwrap())
}

fn hook(lab: &Lab, path: &str, script: &str) {
    lab.write(path, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(lab.path(path), fs::Permissions::from_mode(0o755)).unwrap();
}

fn message(ran: &Ran) -> String {
    ran.json["error"].to_string()
}

/// What ends a TLS connection before the server that speaks plain HTTP.
struct TlsProxy {
    child: Child,
    port: String,
}

impl Drop for TlsProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROXY: &str = r"
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('srv.crt', 'srv.key')
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
def copy(a, b):
    try:
        while data := a.recv(65536): b.sendall(data)
    except OSError: pass
    for end in (a, b):
        try: end.shutdown(socket.SHUT_RDWR)
        except OSError: pass
def serve(plain):
    try: tls = context.wrap_socket(plain, server_side=True)
    except OSError: return plain.close()
    back = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
    threading.Thread(target=copy, args=(tls, back), daemon=True).start()
    copy(back, tls)
while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// A server certificate of a CA that nobody knows, and a proxy with it; `None` where openssl or Python is not there.
fn tls(lab: &Lab, server: &GitHttp) -> Option<TlsProxy> {
    lab.write("ext", "subjectAltName=IP:127.0.0.1\n");
    let script = "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=lab-ca -days 2 && \
                  openssl req -newkey rsa:2048 -nodes -keyout srv.key -out srv.csr -subj /CN=127.0.0.1 && \
                  openssl x509 -req -in srv.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out srv.crt -days 2 -extfile ext";
    let made = Command::new("sh").args(["-c", script]).current_dir(lab.path("")).output().ok()?;
    if !made.status.success() {
        return None;
    }
    let mut proxy = Command::new("python3");
    proxy.args(["-c", PROXY, &server.port.to_string()]).current_dir(lab.path(""));
    let mut child = proxy.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut port = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut port).ok()?;
    let port = port.trim().to_owned();
    (!port.is_empty()).then_some(TlsProxy { child, port })
}

/// A dry run that speaks of the remote shows the edit on the branch as the remote has it, with a clone and without.
#[test]
fn a_preview_of_a_push_pushes_nothing() {
    let lab = lab(1);
    let url = format!("file://{}", lab.path("app.git").display());
    fs::create_dir(lab.path("empty")).unwrap();
    // The remote is ahead of the clone.
    let there = pin("shop/app0", '3');
    let ahead = ["pin", "overlays/prod", &there, "--push", "--remote", &url];
    ran(&command(&lab, "empty", &ahead).output().unwrap()).ok();
    let tips =
        || (lab.git("app.git", &["rev-parse", "main"]), lab.git("clone", &["status", "-sb"]));
    let before = tips();
    let wanted = pin("shop/app0", '2');
    for (directory, more) in [
        ("empty", &["--remote", &*url][..]),
        ("empty", &["--remote", &url, "--push"]),
        ("clone", &["--remote", "origin"]),
        ("clone", &["--push"]),
    ] {
        let args = [&["pin", "overlays/prod", &wanted, "--dry-run"], more].concat();
        let shown = ran(&command(&lab, directory, &args).output().unwrap());
        let shown = shown.ok();
        let result = &shown.json["result"];
        assert_eq!(
            (&result["dryRun"], &result["commit"]),
            (&true.into(), &json!(null)),
            "{more:?}"
        );
        let effect = result["overlays"][0]["effect"].to_string();
        assert!(
            effect.contains(&digest('3')) && effect.contains(&digest('2')),
            "{more:?}: {effect}"
        );
        assert_eq!(tips(), before, "{directory} {more:?}");
    }
}

#[test]
fn tls_is_trusted_by_the_authority_that_git_is_told_and_by_no_other() {
    let lab = lab(1);
    let server = GitHttp::serve(&lab.path(""), Manner::default());
    let Some(proxy) = tls(&lab, &server) else { return skip("no openssl or python3") };
    let url = format!("https://127.0.0.1:{}/app.git", proxy.port);
    lab.git("clone", &["remote", "set-url", "origin", &url]);
    let before = lab.git("app.git", &["rev-parse", "main"]);
    let refused = push(&lab, '2', &[]);
    assert_eq!((refused.status, refused.code()), (5, "remote-unreachable"), "{}", refused.json);
    assert!(message(&refused).contains("certificate"), "{}", refused.json);
    assert_eq!(lab.git("app.git", &["rev-parse", "main"]), before);
    let authority = lab.path("ca.crt").display().to_string();
    push(&lab, '2', &[("GIT_SSL_CAINFO", &authority)]).ok();
    lab.git("clone", &["config", "http.sslCAInfo", &authority]);
    push(&lab, '3', &[]).ok();
    assert!(
        lab.git("app.git", &["cat-file", "blob", &format!("main:{PROD}")]).contains(&digest('3'))
    );
    fs::create_dir(lab.path("empty")).unwrap();
    let wanted = pin("shop/app0", '4');
    let args = ["pin", "overlays/prod", &wanted, "--push", "--remote", &url];
    let output = command(&lab, "empty", &args).env("GIT_SSL_CAINFO", &authority).output().unwrap();
    assert_eq!(ran(&output).ok().branch(), Some("main"));
}

#[test]
fn a_sha256_repository_takes_pushes() {
    let lab = Lab::new();
    lab.overlays("plain", &["--object-format=sha256"]);
    lab.bare("plain", "app.git");
    lab.git("", &["clone", "-q", "app.git", "clone"]);
    let wanted = pin("registry.test:5000/shop/web", '2');
    let args = ["pin", "overlays/prod", &wanted, "--push"];
    let pushed = overlay(&lab, "clone", &args).ok();
    assert_eq!(pushed.commit().map(str::len), Some(64));
    assert_eq!(pushed.commit(), Some(lab.git("app.git", &["rev-parse", "main"]).as_str()));
    assert!(!overlay(&lab, "clone", &args).ok().changed());
    fs::create_dir(lab.path("empty")).unwrap();
    let wanted = pin("registry.test:5000/shop/web", '3');
    let url = lab.url("app.git");
    let args = ["pin", "overlays/prod", &wanted, "--push", "--remote", &url];
    let without = overlay(&lab, "empty", &args).ok();
    assert_eq!(without.commit(), Some(lab.git("app.git", &["rev-parse", "main"]).as_str()));
    lab.require_sound("app.git");
    lab.require_sound("clone");
}

#[test]
fn an_expired_credential_and_a_remote_that_is_gone_leave_everything_as_it_was() {
    let lab = lab(1);
    let manner =
        Manner { credentials: Some("bot:another-passw0rd-now".to_owned()), ..Manner::default() };
    let server = GitHttp::serve(&lab.path(""), manner);
    // Another than the one that a test looks for in the arguments of all processes.
    const EXPIRED: &str = "expired-t0ken-1357924680";
    let dirty = server.url("app.git").replace("http://", &format!("http://bot:{EXPIRED}@"));
    lab.git("clone", &["remote", "set-url", "origin", &dirty]);
    let before = lab.git("clone", &["rev-parse", "main"]);
    let expired = push(&lab, '2', &[]);
    assert_eq!((expired.status, expired.code()), (5, "git-authentication"), "{}", expired.json);
    assert!(!expired.json.to_string().contains(EXPIRED), "{}", expired.json);
    assert!(message(&expired).contains("credential"), "{}", expired.json);
    lab.git("clone", &["remote", "set-url", "origin", &lab.url("none.git")]);
    let gone = push(&lab, '2', &[]);
    assert_eq!((gone.status, gone.code()), (5, "remote-missing"), "{}", gone.json);
    assert_eq!(lab.git("clone", &["rev-parse", "main"]), before);
    assert_eq!(lab.git("clone", &["status", "--porcelain"]), "");
}

/// It goes away between the look and the push: the commit that was made is named.
#[test]
fn a_remote_that_vanishes_meanwhile_is_told_with_the_commit() {
    let lab = lab(1);
    let (app, away) = (lab.path("app.git").display().to_string(), lab.path("away.git"));
    let script = format!("mv {app} {}", away.display());
    hook(&lab, "clone/.git/hooks/pre-push", &script);
    let before = lab.git("clone", &["rev-parse", "main"]);
    let gone = push(&lab, '2', &[]);
    assert_eq!((gone.status, gone.code()), (5, "remote-missing"), "{}", gone.json);
    let told = message(&gone);
    let commit =
        told.split_whitespace().find(|word| word.len() == 40).unwrap_or_else(|| panic!("{told}"));
    assert_eq!(lab.git("clone", &["rev-parse", &format!("{commit}^")]), before);
    assert_eq!(lab.git("clone", &["rev-parse", "main"]), before);
    fs::rename(away, lab.path("app.git")).unwrap();
    fs::remove_file(lab.path("clone/.git/hooks/pre-push")).unwrap();
    push(&lab, '2', &[]).ok();
    lab.require_sound("clone");
}

#[test]
fn a_hook_of_the_users_that_refuses_is_told_in_its_words() {
    let lab = lab(1);
    hook(&lab, "clone/.git/hooks/pre-push", "echo 'no pushes on a Friday' >&2; exit 1");
    let before = lab.git("clone", &["rev-parse", "main"]);
    let refused = push(&lab, '2', &[]);
    assert_eq!((refused.status, refused.code()), (5, "push-refused"), "{}", refused.json);
    assert!(message(&refused).contains("no pushes on a Friday"), "{}", refused.json);
    assert_eq!(lab.git("clone", &["rev-parse", "main"]), before);
    assert_eq!(lab.git("app.git", &["rev-parse", "main"]), before);
}

#[test]
fn a_dirty_file_may_be_left_out_of_a_commit_beside_the_checkout() {
    let lab = lab(2);
    let path = format!("clone/{PROD}");
    lab.write(&path, [lab.read(&path), b"# mine\n".to_vec()].concat());
    let content = lab.read(&path);
    let wanted = pin("shop/app0", '2');
    let edit = ["pin", "overlays/prod", &wanted, "--ignore-dirty"];
    let refused = overlay(&lab, "clone", &[&edit[..3], &["--branch", "pins"]].concat());
    assert_eq!((refused.status, refused.code()), (3, "dirty-file"));
    assert!(message(&refused).contains("--ignore-dirty"), "{}", refused.json);
    let made = overlay(&lab, "clone", &[&edit[..], &["--branch", "pins"]].concat()).ok();
    let committed = lab.git("clone", &["cat-file", "blob", &format!("pins:{PROD}")]);
    assert!(committed.contains(&digest('2')) && !committed.contains("# mine"), "{committed}");
    assert_eq!(made.branch(), Some("pins"));
    // The checkout would have to follow, over what is being worked on.
    let current = overlay(&lab, "clone", &[&edit[..], &["--commit"]].concat());
    assert_eq!((current.status, current.code()), (3, "dirty-file"), "{}", current.json);
    let pushed = overlay(&lab, "clone", &[&edit[..], &["--push"]].concat()).ok();
    assert_eq!(pushed.commit(), Some(lab.git("app.git", &["rev-parse", "main"]).as_str()));
    assert_eq!(pushed.json["result"]["notes"][0]["code"], "local-behind", "{}", pushed.json);
    assert_eq!(lab.read(&path), content);
    assert_eq!(overlay(&lab, "clone", &edit).status, 2, "it needs a commit");
}

#[test]
fn a_signature_that_cannot_be_made_stops_the_delivery() {
    let lab = lab(1);
    let before = lab.git("clone", &["rev-parse", "main"]);
    let wanted = pin("shop/app0", '2');
    for (format, key) in
        [("x509", "nobody@example.test"), ("ssh", "/no/such/key"), ("openpgp", "0000")]
    {
        lab.git("clone", &["config", "gpg.format", format]);
        lab.git("clone", &["config", "user.signingKey", key]);
        let args = ["pin", "overlays/prod", &wanted, "--push", "--sign"];
        let refused = overlay(&lab, "clone", &args);
        assert_eq!(
            (refused.status, refused.code()),
            (5, "signing-failed"),
            "{format}: {}",
            refused.json
        );
    }
    assert_eq!(lab.git("clone", &["rev-parse", "main"]), before);
    assert_eq!(lab.git("app.git", &["rev-parse", "main"]), before);
}

/// A server whose hooks think for a while and which says nothing meanwhile has the time that `--timeout` gives.
#[test]
fn a_server_that_thinks_has_the_whole_time() {
    let lab = lab(1);
    let server = GitHttp::serve(&lab.path(""), Manner::default());
    lab.git("app.git", &["config", "http.receivepack", "true"]);
    lab.git("clone", &["remote", "set-url", "origin", &server.url("app.git")]);
    hook(&lab, "app.git/hooks/pre-receive", "sleep 6");
    let wanted = pin("shop/app0", '2');
    let args = ["pin", "overlays/prod", &wanted, "--push", "--timeout", "15s"];
    let ran = ran(&command(&lab, "clone", &args).output().unwrap()).ok();
    assert_eq!(
        Some(&*lab.git("app.git", &["rev-parse", "main"])),
        ran.json["result"]["commit"].as_str()
    );
}

/// A token in the remote's address and in the environment, the program at its most talkative, a server that is not there
/// and one that is.
#[test]
fn a_planted_token_appears_nowhere() {
    let lab = lab(1);
    let manner = Manner { credentials: Some(format!("bot:{TOKEN}")), ..Manner::default() };
    let server = GitHttp::serve(&lab.path(""), manner);
    let there = server.url("app.git").replace("http://", &format!("http://bot:{TOKEN}@"));
    let dead = format!("http://x-access-token:{TOKEN}@127.0.0.1:9/app.git");
    for (url, status, digit) in [(&dead, 5, '2'), (&there, 0, '2'), (&there, 0, '3')] {
        lab.git("clone", &["remote", "set-url", "origin", url]);
        let wanted = pin("shop/app0", digit);
        let mut run = Command::new(env!("CARGO_BIN_EXE_overlay"));
        run.args(["pin", "overlays/prod", &wanted, "--push", "-v"]).current_dir(lab.path("clone"));
        run.env_clear().envs(lab.environment()).env("GITHUB_TOKEN", TOKEN);
        run.env("GIT_TRACE", "1").env("GIT_TRACE_CURL", "1").env("GIT_CURL_VERBOSE", "1");
        let (output, lines) = command_lines_during(|| run.output().unwrap());
        let Output { status: code, stdout, stderr } = output;
        let said =
            format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert_eq!(code.code(), Some(status), "{said}");
        assert!(!said.contains(TOKEN), "{said}");
        assert!(!lines.contains(TOKEN), "{lines}");
    }
    lab.git("clone", &["remote", "set-url", "origin", "elsewhere"]);
    let grep = Command::new("grep").args(["-r", "-l", TOKEN]).arg(lab.path("")).output().unwrap();
    assert!(!grep.status.success(), "kept in {}", String::from_utf8_lossy(&grep.stdout));
    for log in [&["log", "-p", "main"][..], &["reflog"]] {
        assert!(!lab.git("clone", log).contains(TOKEN));
    }
}
