//! Many Applications of one overlay: what they cost.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::command::Cases;
use super::server::{FakeArgo, Script, TOKEN};

/// Waits for every Application of the overlay, and asks for no refresh.
fn command(cases: &Cases, server: &FakeArgo, timeout: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    let args = ["wait", "--overlay", "overlays/prod", "--no-refresh", "-o", "json", "--timeout"];
    command.args(args).arg(timeout).current_dir(cases.lab.path("deploy"));
    command.env_clear().envs(cases.lab.environment());
    command.env("ARGOCD_SERVER", server.url()).env("ARGOCD_AUTH_TOKEN", TOKEN);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn serve(cases: &Cases, count: usize) -> FakeArgo {
    let names: Vec<String> = (0..count).map(|at| format!("app-{at}")).collect();
    let apps = names.iter().map(|name| (name.as_str(), Script::new(vec![large(cases, name)])));
    FakeArgo::start(apps.collect())
}

/// How often git is called for so many Applications.
fn git_calls(count: usize) -> usize {
    let cases = Cases::new();
    let server = serve(&cases, count);
    let mut command = command(&cases, &server, "1s");
    let bin = cases.lab.path("bin");
    let path = std::env::var("PATH").unwrap();
    cases.lab.write(
        "bin/git",
        "#!/bin/sh\necho >> \"${0%/*}/calls\"\nPATH=${PATH#*:}\nexec git \"$@\"\n",
    );
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), executable).unwrap();
    command.env("PATH", format!("{}:{path}", bin.display()));
    assert_eq!(command.status().unwrap().code(), Some(6));
    assert!(server.count("app-") >= count);
    std::fs::read_to_string(bin.join("calls")).unwrap().lines().count()
}

#[test]
fn git_is_asked_no_more_of_many_applications_than_of_one() {
    assert_eq!(git_calls(12), git_calls(1));
}

/// What 500 Applications cost while nothing changes, the programs that are called included; run in a release build:
/// `cargo test --release --test suite -- --ignored five_hundred --nocapture`.
#[test]
#[ignore = "a minute and a half, and its bounds hold for a release build on a quiet machine"]
fn five_hundred_applications_cost_little() {
    let cases = Cases::new();
    let server = serve(&cases, 500);
    let mut child = command(&cases, &server, "10m").spawn().unwrap();
    // The first reads, and the first question to git.
    std::thread::sleep(Duration::from_secs(25));
    let (before, calls) = (ticks(child.id()), server.asked().len());
    let seconds = 60.0;
    std::thread::sleep(Duration::from_secs_f64(seconds));
    // A tick is a hundredth of a second.
    let [own, programs] = [0, 1].map(|of| (ticks(child.id())[of] - before[of]) as f64 / seconds);
    let calls = (server.asked().len() - calls) as f64 / seconds;
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let percent = own + programs;
    eprintln!("{peak}, {own:.1} + {programs:.1} % of a core, {calls:.1} calls a second");
    let kilobytes: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 100 * 1024 && percent < 5.0 && calls < 20.0);
}

/// An Application of forty objects that waits for a commit, of 12 KB.
fn large(cases: &Cases, name: &str) -> Value {
    let mut app = cases.frame("c91-1");
    app["metadata"]["name"] = json!(name);
    let object = |at| {
        let name = format!("part-{at}");
        json!({"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": name, "status": "Synced"})
    };
    let objects: Vec<Value> = (0..40).map(object).collect();
    app["status"]["resources"] = json!(objects);
    let mut results = objects;
    for result in &mut results {
        result["message"] = json!("deployment.apps/part configured");
        result["hookPhase"] = json!("Running");
        result["syncPhase"] = json!("Sync");
    }
    app["status"]["operationState"]["syncResult"]["resources"] = json!(results);
    app
}

/// The time that a process, and the programs that it called and waited for, have had of a core.
fn ticks(process: u32) -> [u64; 2] {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // Of proc(5): fields 14 to 17, counted from 1; the third is the first after the name.
    let fields = stat.rsplit(')').next().unwrap().trim().split(' ').skip(11);
    let times: Vec<u64> = fields.take(4).map(|field| field.parse().unwrap()).collect();
    [times[0] + times[1], times[2] + times[3]]
}
