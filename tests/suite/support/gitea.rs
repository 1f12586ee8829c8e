//! A real Gitea on loopback, where `GITEA` names a folder with its source and the binary `gitea` built in it
//! (`tools/gitea.sh` makes one). Building takes longer than all other tests together, so that a run without it says so and goes on, even where
//! everything else must be there.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::git_http::base64;

/// A running Gitea; it ends with this value.
pub(crate) struct Gitea {
    child: Child,
    folder: tempfile::TempDir,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Drop for Gitea {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const USER: &str = "ops";

impl Gitea {
    /// Starts one with a user `ops`.
    pub(crate) fn start() -> Option<Self> {
        let Some(source) = std::env::var_os("GITEA").map(PathBuf::from) else {
            eprintln!("SKIPPED: no Gitea (set GITEA; tools/gitea.sh builds one)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("http://127.0.0.1:{port}");
        let work = folder.path();
        std::fs::write(work.join("app.ini"), settings(work, &source, port, &url)).unwrap();
        run(&source, work, &["migrate"]);
        let person =
            ["--username", USER, "--password", "secret-123", "--email", "ops@example.test"];
        let more = ["--admin", "--must-change-password=false"];
        run(&source, work, &[&["admin", "user", "create"][..], &person, &more].concat());
        let token = ["--username", USER, "--token-name", "t", "--scopes", "all", "--raw"];
        let token =
            run(&source, work, &[&["admin", "user", "generate-access-token"][..], &token].concat());
        let child = command(&source, work, &["web"]).spawn().unwrap();
        let gitea =
            Self { child, folder, url, token: token.lines().last().unwrap().trim().to_owned() };
        gitea.wait();
        Some(gitea)
    }

    fn wait(&self) {
        let start = Instant::now();
        while self.try_call("GET", "/version", "").0 != 200 {
            assert!(start.elapsed() < Duration::from_secs(120), "Gitea does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The remote of a repository, with credentials.
    pub(crate) fn remote(&self, name: &str) -> String {
        self.url.replace("http://", &format!("http://{USER}:{}@", self.token))
            + &format!("/{name}.git")
    }

    /// Status and body of a call by another client than ours.
    pub(crate) fn try_call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut command = Command::new("curl");
        command.args([
            "-s",
            "-m",
            "20",
            "-X",
            method,
            "-w",
            "\n%{http_code}",
            "-H",
            "Content-Type: application/json",
        ]);
        command.args([
            "-H",
            &format!("Authorization: Basic {}", base64(&format!("{USER}:secret-123"))),
        ]);
        command.args(["-d", body, &format!("{}/api/v1{path}", self.url)]);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').unwrap();
        (status.parse().unwrap_or(0), body.to_owned())
    }

    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        body: serde_json::Value,
    ) -> serde_json::Value {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = self.try_call(method, path, &text);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        serde_json::from_str(&answer).unwrap_or_default()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn settings(work: &Path, source: &Path, port: u16, url: &str) -> String {
    let (work, source) = (work.display(), source.display());
    format!(
        "RUN_MODE = prod\nWORK_PATH = {work}\nI_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\n\
         [server]\nSTATIC_ROOT_PATH = {source}\nHTTP_ADDR = 127.0.0.1\nHTTP_PORT = {port}\nROOT_URL = {url}/\n\
         DISABLE_SSH = true\nOFFLINE_MODE = true\nLFS_START_SERVER = false\n\
         [database]\nDB_TYPE = sqlite3\nPATH = {work}/gitea.db\n\
         [repository]\nROOT = {work}/repositories\n\
         [security]\nINSTALL_LOCK = true\nSECRET_KEY = abcdefghijklmnopqrstuvwxyz012345\n\
         INTERNAL_TOKEN = eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJuYmYiOjE1MDAwMDAwMDB9.x\n\
         [log]\nLEVEL = warn\nMODE = file\n[actions]\nENABLED = false\n"
    )
}

fn command(source: &Path, work: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(source.join("gitea"));
    command.arg("-w").arg(work).arg("-c").arg(work.join("app.ini")).args(args);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
        .env("HOME", work)
        .env("USER", std::env::var_os("USER").unwrap_or_else(|| "root".into()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(source: &Path, work: &Path, args: &[&str]) -> String {
    let output =
        command(source, work, args).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "gitea {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
