//! Signals while `overlay probe` runs: it tells what it has seen, and the command beside it is asked to end.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use overlay::clock::{self, Deadline};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::server;
use crate::support::json_schema::assert_is_result;
use crate::support::scripted_http::{Answer, ScriptedHttp};

/// `overlay probe` on its own, so that a signal can be sent to it alone.
fn start(directory: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_overlay"));
    command.args(["probe", "-o", "json", "--interval", "50ms"]).args(args);
    command.current_dir(directory).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Deadline::after(Duration::from_secs(30));
    while !is_so() {
        assert!(!deadline.is_over(), "never: {what}");
        clock::sleep(Duration::from_millis(10));
    }
}

fn wait_for_tries(server: &ScriptedHttp) {
    wait_until("three tries", || server.asked().len() >= 3);
}

/// Sends the signal; the exit status and the result.
fn interrupted(child: Child, signal: Signal) -> (Option<i32>, Value) {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let json = serde_json::from_slice(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let json = json.unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert_is_result(&json);
    (output.status.code(), json)
}

#[test]
fn a_signal_ends_the_probe_with_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    for (status, signal, exit) in [(200, Signal::INT, 0), (503, Signal::TERM, 7)] {
        let server = server(move |_| Answer::new(status));
        let child = start(folder.path(), &[&server.url("/"), "--for", "1h"]);
        wait_for_tries(&server);
        let (code, json) = interrupted(child, signal);
        assert_eq!(code, Some(exit), "{json}");
        assert_eq!(json["result"]["endedBy"], "signal");
        assert!(json["result"]["targets"][0]["tries"].as_u64().unwrap() >= 3, "{json}");
    }
}

#[test]
fn the_command_beside_is_asked_to_end_and_its_end_is_told() {
    let server = server(|_| Answer::new(200));
    for (signal, name) in [(Signal::INT, "INT"), (Signal::TERM, "TERM")] {
        for (exit, code) in [(0, 0), (3, 5)] {
            let folder = tempfile::tempdir().unwrap();
            let script = format!(
                "trap 'echo {name} > told; exit {exit}' {name}; echo > ready; while :; do sleep 0.02; done"
            );
            let child = start(folder.path(), &[&server.url("/"), "--", "sh", "-c", &script]);
            wait_until("ready", || folder.path().join("ready").exists());
            let (status, json) = interrupted(child, signal);
            assert_eq!(status, Some(code), "{name} {exit} {json}");
            assert_eq!(json["result"]["command"]["status"], exit);
            assert_eq!(json["result"]["endedBy"], "command");
            let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
            assert_eq!(told.trim(), name);
        }
    }
}

#[test]
fn a_command_that_does_not_listen_is_ended_by_the_second_signal() {
    let server = server(|_| Answer::new(200));
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'echo > heard' INT; echo $$ > ready; while :; do sleep 0.02; done";
    let child = start(folder.path(), &[&server.url("/"), "--", "sh", "-c", script]);
    let ready = folder.path().join("ready");
    let id = || std::fs::read_to_string(&ready).ok()?.trim().parse::<i32>().ok();
    wait_until("ready", || id().is_some());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    wait_until("heard", || folder.path().join("heard").exists());
    let (status, json) = interrupted(child, Signal::INT);
    assert_eq!((status, json["error"]["code"].as_str()), (Some(5), Some("command-failed")));
    assert_eq!(json["result"]["command"]["status"], Value::Null);
    // It is gone, not left behind.
    let command = Pid::from_raw(id().unwrap()).unwrap();
    wait_until("the command is gone", || rustix::process::test_kill_process(command).is_err());
}
