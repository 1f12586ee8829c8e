//! A container that does not start, does not stay, or does not become ready.

use serde_json::Value;

use crate::rollout::events::{latest_message, one_line};
use crate::rollout::finding::Finding;
use crate::rollout::live::{Snapshot, int_at, items_at, kubectl, text_at};
use crate::shell;

/// The trouble of the first container that has one; init containers come first.
pub(super) fn trouble(snapshot: &Snapshot, pod: &Value) -> Option<Finding> {
    let init = items_at(pod, "/status/initContainerStatuses").iter();
    let unfinished = init.filter(|status| !has_finished(pod, status));
    let mut init = unfinished.filter_map(|status| {
        of_status(snapshot, pod, status).or_else(|| Some(unfinished_init(pod, status)))
    });
    // Containers of their own begin only when the init containers are over.
    init.next().or_else(|| {
        let statuses = items_at(pod, "/status/containerStatuses").iter();
        statuses.filter(|s| s["ready"] != true).find_map(|s| of_status(snapshot, pod, s))
    })
}

/// Whether the others wait for it no longer. One with `restartPolicy: Always` runs on beside them once it has started; the
/// kubelet says `started` of any other that runs, too.
fn has_finished(pod: &Value, status: &Value) -> bool {
    let name = text_at(status, "/name");
    let mut specified = items_at(pod, "/spec/initContainers").iter();
    let runs_on = specified.any(|c| c["name"] == name && c["restartPolicy"] == "Always");
    let is_over = int_at(status, "/state/terminated/exitCode") == Some(0);
    is_over || (runs_on && status["started"] == true && status["state"]["running"].is_object())
}

fn unfinished_init(pod: &Value, status: &Value) -> Finding {
    let name = text_at(status, "/name");
    let since = text_at(status, "/state/running/startedAt");
    let message = match since {
        "" => format!("init container {name} has not started"),
        since => format!("init container {name} runs since {since}, and the others wait for it"),
    };
    Finding::about(pod, "init-unfinished", message)
}

fn of_status(snapshot: &Snapshot, pod: &Value, status: &Value) -> Option<Finding> {
    let name = text_at(status, "/name");
    let waiting = &status["state"]["waiting"];
    let said = one_line(text_at(waiting, "/message"));
    let about = |id, message: String| Some(Finding::about(pod, id, message));
    match text_at(waiting, "/reason") {
        "ErrImagePull"
        | "ImagePullBackOff"
        | "InvalidImageName"
        | "ErrImageNeverPull"
        | "RegistryUnavailable"
        | "ImageInspectError"
        | "SignatureValidationFailed" => {
            about("image-unpullable", unpullable(snapshot, pod, status, &said))
        }
        "CreateContainerConfigError" => {
            let message = format!("container {name} lacks what its settings refer to: {said}");
            about("config-missing", message)
        }
        "CreateContainerError" | "RunContainerError" | "StartError" | "PostStartHookError" => {
            let reason = text_at(waiting, "/reason");
            about(
                "container-not-started",
                format!("container {name} cannot start: {reason}: {said}"),
            )
        }
        "CrashLoopBackOff" => Some(crashed(snapshot, pod, status)),
        _ if status["state"]["terminated"].is_object() => Some(crashed(snapshot, pod, status)),
        _ => probes(snapshot, pod, status),
    }
}

/// The image and the registry's words: the waiting message of a back-off names the image alone.
fn unpullable(snapshot: &Snapshot, pod: &Value, status: &Value, said: &str) -> String {
    let name = text_at(status, "/name");
    let specified = ["/spec/containers", "/spec/initContainers"];
    let mut containers = specified.iter().flat_map(|pointer| items_at(pod, pointer));
    let image = containers.find(|container| container["name"] == name);
    let image = image.map_or(text_at(status, "/image"), |image| text_at(image, "/image"));
    let failed = latest_message(snapshot, pod, &["Failed"], |message| {
        message.contains("pull") && message.contains(image)
    });
    let said = failed.unwrap_or_else(|| said.to_owned());
    format!("container {name} waits for image {image}: {said}")
}

/// A container that ended by itself, was killed for memory, or by its liveness probe.
fn crashed(snapshot: &Snapshot, pod: &Value, status: &Value) -> Finding {
    let name = text_at(status, "/name");
    let last = match &status["state"]["terminated"] {
        Value::Null => &status["lastState"]["terminated"],
        ended => ended,
    };
    let code = int_at(last, "/exitCode");
    let restarts = int_at(status, "/restartCount").unwrap_or(0);
    if last["reason"] == "OOMKilled" {
        let limit = limit_of(pod, name);
        let message = format!(
            "container {name} was killed for its memory{limit}, and restarted {restarts} times"
        );
        return Finding::about(pod, "killed-for-memory", message)
            .fix("a larger memory limit (`overlay set resources`), or a smaller appetite");
    }
    if let Some(said) = probe_event(snapshot, pod, "Liveness probe failed") {
        return liveness(pod, name, restarts, &said);
    }
    if let Some(said) = probe_event(snapshot, pod, "Startup probe failed") {
        return startup(pod, name, restarts, &said);
    }
    let said = one_line(text_at(last, "/message"));
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let code = code.map_or(String::new(), |code| format!(" with status {code}"));
    let message = format!("container {name} ends{code}{said}, and restarted {restarts} times");
    Finding::about(pod, "crash-loop", message).fix(format!(
        "its last words: {} -c {} --previous",
        kubectl("logs", pod),
        shell::word(name)
    ))
}

fn limit_of(pod: &Value, name: &str) -> String {
    let container = items_at(pod, "/spec/containers").iter().find(|c| c["name"] == name);
    let limit = container.map_or("", |container| text_at(container, "/resources/limits/memory"));
    if limit.is_empty() { String::new() } else { format!(" (limit {limit})") }
}

fn liveness(pod: &Value, name: &str, restarts: i64, said: &str) -> Finding {
    let message =
        format!("container {name} is killed by its liveness probe ({restarts} restarts): {said}");
    Finding::about(pod, "liveness-failing", message)
        .fix("a startup probe, or a longer initial delay, where it only needs longer to begin")
}

fn startup(pod: &Value, name: &str, restarts: i64, said: &str) -> Finding {
    let message = format!("container {name} does not begin in time ({restarts} restarts): {said}");
    Finding::about(pod, "startup-failing", message)
}

/// A container that runs and is not ready.
fn probes(snapshot: &Snapshot, pod: &Value, status: &Value) -> Option<Finding> {
    if !status["state"]["running"].is_object() {
        return None;
    }
    let name = text_at(status, "/name");
    let restarts = int_at(status, "/restartCount").unwrap_or(0);
    if let Some(said) = probe_event(snapshot, pod, "Startup probe failed")
        && status["started"] != true
    {
        return Some(startup(pod, name, restarts, &said));
    }
    if restarts > 0
        && let Some(said) = probe_event(snapshot, pod, "Liveness probe failed")
    {
        return Some(liveness(pod, name, restarts, &said));
    }
    let said = probe_event(snapshot, pod, "Readiness probe")?;
    let message = format!("container {name} runs and is not ready: {said}");
    Some(Finding::about(pod, "readiness-failing", message))
}

fn probe_event(snapshot: &Snapshot, pod: &Value, begins: &str) -> Option<String> {
    latest_message(snapshot, pod, &["Unhealthy"], |message| message.starts_with(begins))
}
