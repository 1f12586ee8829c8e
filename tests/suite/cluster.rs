//! Reading a cluster over HTTP: lists, watches, rights, and that nothing but reading is ever asked.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use overlay::cluster::{
    ClusterError, ClusterReader, KindName, LiveCluster, LogName, ObjectName, WatchEvent,
};
use overlay::kubernetes::ConnectionName;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::kube_api::KubeApi;

struct Lab {
    server: KubeApi,
    cluster: LiveCluster,
    _folder: TempDir,
}

fn lab(server: KubeApi) -> Lab {
    let folder = TempDir::new().unwrap();
    let kubeconfig: PathBuf = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig("shop")).unwrap();
    let name = ConnectionName { kubeconfig: vec![kubeconfig], context: None };
    Lab { server, cluster: LiveCluster::connect(&name).unwrap(), _folder: folder }
}

fn pod(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": name},
        "status": {"phase": "Running"}})
}

fn pods() -> KindName {
    KindName::new("", "Pod")
}

fn names(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[test]
fn lists_are_read_page_by_page_and_their_items_state_their_kind() {
    let lab = lab(KubeApi::with((0..7).map(|n| pod("shop", &format!("web-{n}")))));
    lab.server.apply(pod("other", "far"));
    lab.server.page(3);
    let listing = lab.cluster.list(&pods(), Some("shop")).unwrap();
    let want: Vec<String> = (0..7).map(|n| format!("web-{n}")).collect();
    assert_eq!(names(&listing.items), want);
    assert_eq!(listing.items[6]["kind"], "Pod");
    assert_eq!(listing.items[6]["apiVersion"], "v1");
    assert_eq!(lab.cluster.list(&pods(), None).unwrap().items.len(), 8);
    let asked = lab.server.asked();
    assert_eq!(asked.iter().filter(|asked| asked.target.contains("continue=")).count(), 2 + 2);
}

#[test]
fn a_kind_that_the_cluster_does_not_have_is_absent_and_no_error() {
    let lab = lab(KubeApi::start());
    let databases = KindName::new("postgresql.cnpg.io", "Cluster");
    let listing = lab.cluster.list(&databases, Some("shop")).unwrap();
    assert!(listing.items.is_empty() && !listing.is_known);
    let name = ObjectName { kind: databases, namespace: "shop".into(), name: "db".into() };
    assert_eq!(lab.cluster.find(&name).unwrap(), None);
    let mut heard = Vec::new();
    lab.cluster
        .watch(&name.kind, None, &mut |event| {
            heard.push(event);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(heard, [WatchEvent::Listed(Vec::new())]);
}

#[test]
fn a_custom_resource_is_found_by_its_group() {
    let database = json!({"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster",
        "metadata": {"namespace": "shop", "name": "db"}, "status": {"phase": "x"}});
    let lab = lab(KubeApi::with([database]));
    let kind = KindName::new("postgresql.cnpg.io", "Cluster");
    let name = ObjectName { kind: kind.clone(), namespace: "shop".into(), name: "db".into() };
    assert_eq!(lab.cluster.find(&name).unwrap().unwrap()["status"]["phase"], "x");
    assert!(lab.cluster.list(&kind, None).unwrap().is_known);
    let missing = ObjectName { name: "other".into(), ..name };
    assert_eq!(lab.cluster.find(&missing).unwrap(), None);
}

#[test]
fn a_missing_right_names_verb_resource_and_namespace() {
    let lab = lab(KubeApi::with([pod("shop", "web")]));
    lab.server.deny("list", "pods");
    lab.server.deny("get", "pods");
    lab.server.deny("get", "pods/log");
    let said = |error: ClusterError| error.to_string();
    let listed = lab.cluster.list(&pods(), Some("shop")).unwrap_err();
    assert_eq!(said(listed), "the account may not list pods in namespace shop");
    let listed = lab.cluster.list(&pods(), None).unwrap_err();
    assert_eq!(said(listed), "the account may not list pods in the whole cluster");
    let name = ObjectName { kind: pods(), namespace: "shop".into(), name: "web".into() };
    let found = lab.cluster.find(&name).unwrap_err();
    assert_eq!(said(found), "the account may not get pods in namespace shop");
    let log = LogName {
        namespace: "shop".into(),
        pod: "web".into(),
        container: None,
        lines: 5,
        since_seconds: None,
    };
    let read = lab.cluster.log(&log).unwrap_err();
    assert_eq!(said(read), "the account may not get pods/log in namespace shop");
}

#[test]
fn a_name_cannot_lead_to_another_address() {
    let lab = lab(KubeApi::with([pod("shop", "web")]));
    for (namespace, name) in [("shop", "../secrets/x"), ("../..", "web"), ("shop", "a?b"), ("", "")]
    {
        let name = ObjectName { kind: pods(), namespace: namespace.into(), name: name.into() };
        assert!(matches!(lab.cluster.find(&name), Err(ClusterError::Invalid { .. })), "{name:?}");
    }
    assert!(lab.server.asked().is_empty());
}

#[test]
fn a_server_that_is_starting_is_asked_again_and_one_that_is_down_is_said_to_be() {
    let lab = lab(KubeApi::with([pod("shop", "web")]));
    lab.server.fail(1);
    assert_eq!(lab.cluster.list(&pods(), None).unwrap().items.len(), 1);
    let folder = TempDir::new().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    let nobody = format!("127.0.0.1:{}", crate::support::free_port());
    let host = lab.server.asked()[0].header("host").unwrap().to_owned();
    std::fs::write(&kubeconfig, lab.server.kubeconfig("shop").replace(&host, &nobody)).unwrap();
    let name = ConnectionName { kubeconfig: vec![kubeconfig], context: None };
    let error = LiveCluster::connect(&name).unwrap().list(&pods(), None).unwrap_err();
    assert!(matches!(error, ClusterError::Unreachable { .. }), "{error:?}");
}

/// Watches on a thread of its own; the receiver gets what is heard.
fn watch(lab: Lab, kind: KindName) -> (std::sync::Arc<Lab>, mpsc::Receiver<WatchEvent>) {
    let lab = std::sync::Arc::new(lab);
    let (tell, heard) = mpsc::channel();
    let watched = std::sync::Arc::clone(&lab);
    std::thread::spawn(move || {
        let ended =
            watched.cluster.watch(&kind, Some("shop"), &mut |event| match tell.send(event) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            });
        if let Err(error) = ended {
            let _ = tell.send(WatchEvent::Interrupted(format!("over: {error}")));
        }
    });
    (lab, heard)
}

/// What is heard next, but for a stream that opens.
fn next(heard: &mpsc::Receiver<WatchEvent>) -> WatchEvent {
    let next = || heard.recv_timeout(Duration::from_secs(20)).unwrap();
    std::iter::repeat_with(next).find(|event| *event != WatchEvent::Open).unwrap()
}

fn described(event: &WatchEvent) -> String {
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    match event {
        WatchEvent::Listed(items) => format!("listed {}", names(items).join(" ")),
        WatchEvent::Added(object) => format!("added {}", name(object)),
        WatchEvent::Modified(object) => format!("modified {}", name(object)),
        WatchEvent::Deleted(object) => format!("deleted {}", name(object)),
        WatchEvent::Open => "open".to_owned(),
        WatchEvent::Closed => "closed".to_owned(),
        WatchEvent::Interrupted(why) => format!("interrupted: {why}"),
    }
}

#[test]
fn a_watch_tells_every_change_and_lists_anew_where_its_version_is_gone() {
    let (lab, heard) = watch(lab(KubeApi::with([pod("shop", "a")])), pods());
    assert_eq!(described(&next(&heard)), "listed a");
    lab.server.apply(pod("shop", "b"));
    assert_eq!(described(&next(&heard)), "added b");
    lab.server.apply(pod("other", "unseen"));
    lab.server.set("pods", "shop", "b", "/status/phase", json!("Failed"));
    let WatchEvent::Modified(object) = next(&heard) else { panic!("not modified") };
    assert_eq!((&object["status"]["phase"], &object["kind"]), (&json!("Failed"), &json!("Pod")));
    lab.server.delete("pods", "shop", "a");
    assert_eq!(described(&next(&heard)), "deleted a");
    // The version of the stream is too old: everything is listed anew, nothing is lost.
    lab.server.forget();
    lab.server.apply(pod("shop", "c"));
    let mut last = described(&next(&heard));
    while !last.starts_with("listed") {
        last = described(&next(&heard));
    }
    assert!(last == "listed b c" || last == "listed b", "{last}");
    assert!(lab.server.asked().iter().all(|asked| asked.method == "GET"));
}

#[test]
fn a_stream_that_breaks_is_resumed_where_it_was() {
    let api = KubeApi::with([pod("shop", "a")]);
    api.garbage("pods", b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Po");
    let (lab, heard) = watch(lab(api), pods());
    assert_eq!(described(&next(&heard)), "listed a");
    lab.server.apply(pod("shop", "b"));
    let mut told = Vec::new();
    while told.last().is_none_or(|last: &String| last != "added b") {
        told.push(described(&heard.recv_timeout(Duration::from_secs(20)).unwrap()));
    }
    assert_eq!(told, ["open", "closed", "open", "added b"]);
    // One list alone: what came in between was not read anew.
    let lists = lab.server.asked();
    let lists = lists.iter().filter(|asked| asked.target.contains("/pods?&limit"));
    assert_eq!(lists.count(), 1);
}

#[test]
fn what_is_no_event_interrupts_and_a_right_that_is_taken_away_ends() {
    let api = KubeApi::with([pod("shop", "a")]);
    api.garbage("pods", b"7\n");
    let (lab, heard) = watch(lab(api), pods());
    assert_eq!(described(&next(&heard)), "listed a");
    let told = described(&next(&heard));
    assert!(told.starts_with("interrupted: the stream of changes is broken"), "{told}");
    lab.server.wait_for("watch=true", 2);
    lab.server.deny("watch", "pods");
    lab.server.garbage("pods", b"7\n");
    lab.server.forget();
    lab.server.apply(pod("shop", "b"));
    let mut last = described(&next(&heard));
    while !last.starts_with("interrupted: over") {
        last = described(&next(&heard));
    }
    assert_eq!(last, "interrupted: over: the account may not watch pods in namespace shop");
}

#[test]
fn a_log_is_read_to_its_end() {
    let lab = lab(KubeApi::with([pod("shop", "web")]));
    lab.server.log("web", "draining\ndone\n");
    let log = LogName {
        namespace: "shop".into(),
        pod: "web".into(),
        container: Some("main".into()),
        lines: 100,
        since_seconds: Some(60),
    };
    assert_eq!(lab.cluster.log(&log).unwrap(), "draining\ndone\n");
    let asked = lab.server.asked();
    let target = &asked.last().unwrap().target;
    for part in ["container=main", "tailLines=100", "sinceSeconds=60", "limitBytes="] {
        assert!(target.contains(part), "{target}");
    }
}

#[test]
fn no_other_verb_is_ever_sent() {
    let lab = lab(KubeApi::with([pod("shop", "web")]));
    let source = ["live.rs", "live/watch.rs", "mod.rs", "dump.rs", "kind.rs", "error.rs"];
    // By what the program is made of: of the requests that the client can build, these four alone are named.
    for file in source {
        let text = std::fs::read_to_string(format!("src/cluster/{file}")).unwrap();
        for verb in
            [".patch", ".create", ".replace", ".delete", ".evict", "Api::", ".connect(", ".send("]
        {
            assert!(!text.contains(verb), "{file}: {verb}");
        }
    }
    // And by what it sends.
    let name = ObjectName { kind: pods(), namespace: "shop".into(), name: "web".into() };
    lab.cluster.find(&name).unwrap();
    lab.cluster.list(&pods(), None).unwrap();
    let mut stop = |_: WatchEvent| ControlFlow::Break(());
    lab.cluster.watch(&pods(), None, &mut stop).unwrap();
    let methods: Vec<String> = lab.server.asked().into_iter().map(|asked| asked.method).collect();
    assert!(methods.iter().all(|method| method == "GET") && methods.len() >= 3, "{methods:?}");
}
