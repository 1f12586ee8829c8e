#!/usr/bin/env python3
"""Run `overlay wait` against a real Argo CD and say what it answers, story by story.

usage: tools/argocd_stories.py FOLDER OVERLAY [STORY…] [--by rest|kube]

FOLDER was made by tools/argocd.sh; OVERLAY is the program. Each story changes a repository as people do, waits, and is
judged by what the cluster itself says then: by its own API, never by what `overlay` prints. Exit status 1 if any story
went otherwise. The Applications as they were after each wait are left in FOLDER/run/frames.

Seen with Argo CD 3.5.7, kube-apiserver 1.36.3 and etcd 3.6.16.
"""
import argparse, json, os, signal, sys, threading, time

from argocd_cluster import ADMIN, ARGOCD, MERGE, READER, STRANGER, Cluster, until
from argocd_lab import CLUSTER, DEPLOYMENT, SIDE, Lab, Surprise


def first_sync(lab):
    """The repository as it is; the default dwell of half a minute."""
    lab.wait("lattice", "--timeout", "4m", dwell="30s")
    lab.is_live(1)


def good_change(lab):
    """An edit, delivered and waited for."""
    count = 3 if lab.by == "rest" else 2
    lab.replicas(count)
    answer = lab.wait("--overlay", "overlays/prod", "--timeout", "3m")
    lab.is_live(count)
    if answer["result"]["effect"] != "verified" or answer["result"]["relation"] != "equal":
        raise Surprise(json.dumps(answer))


def rollout(lab):
    """Another image: every pod is made anew."""
    digest = ("a" if lab.by == "rest" else "b") * 64
    answer = lab.run("pin", "overlays/prod", f"registry.lattice.example/gateway=sha256:{digest}", "--commit", "--push")
    if answer["exit"]:
        raise Surprise(json.dumps(answer))
    lab.wait("lattice", "--timeout", "3m")
    found = lab.live()
    lab.is_live(found["spec"]["replicas"])
    if digest not in found["spec"]["template"]["spec"]["containers"][0]["image"]:
        raise Surprise("another image is live")


def database(lab):
    """More instances of a database."""
    count = 4 if lab.by == "rest" else 3
    answer = lab.run("set", "instances", "overlays/prod", f"lattice-db={count}", "--commit", "--push")
    if answer["exit"]:
        raise Surprise(json.dumps(answer))
    lab.wait("lattice", "--timeout", "3m")
    found = lab.kube.find("/apis/postgresql.cnpg.io/v1/namespaces/lattice/clusters/lattice-db")
    if found["status"]["readyInstances"] != count:
        raise Surprise(f"{found['status']}")


def refused_manifest(lab):
    """A port that the API server refuses; then the commit that takes it back."""
    lab.replace("base/gateway.yaml", "containerPort: 8080", "containerPort: 99999")
    lab.push("a port that is none")
    lab.wait("lattice", "--timeout", "3m", exit=5, code="sync-failed", says="99999")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("lattice", "--timeout", "3m")


def no_build(lab):
    """An overlay that does not build; then the commit that takes it back."""
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, absent.yaml]")
    lab.application("side", "side", "side")
    lab.push("a file that is not there")
    lab.wait("side", "--timeout", "3m", exit=5, code="comparison-failed", says="absent.yaml")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("side", "--timeout", "3m")
    lab.is_live(1, "side", "side")


def deleted_branch(lab):
    """The branch goes away while its commit is waited for."""
    lab.git("checkout", "-qb", "release")
    lab.push_side(2, "release")
    lab.application("side", "side", "side", "release")
    lab.wait("side", "--timeout", "3m")
    lab.is_live(2, "side", "side")
    lab.push_side(3, "release")
    lab.git("push", "-q", "origin", ":release")
    lab.wait("side", "--timeout", "3m", exit=5, code="comparison-failed", says="release")


def force_push(lab):
    """Somebody else's push drops the commit."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    before = lab.git("rev-parse", "HEAD")
    commit = lab.push_side(3)
    other = lab.cluster.path(f"other-{lab.by}")
    lab.git("clone", "-q", lab.hub, other, where=lab.cluster.home)
    lab.git("reset", "-q", "--hard", before, where=other)
    lab.git("commit", "-q", "--allow-empty", "-m", "another way", where=other)
    lab.git("push", "-q", "-f", "origin", "HEAD:main", where=other)
    lab.wait("side", "--commit", commit, "--timeout", "3m", exit=5, code="commit-rewritten")
    lab.git("fetch", "-q", "origin")
    lab.git("reset", "-q", "--hard", "origin/main")


def automation_off(lab):
    """Nobody syncs, until it is asked for."""
    lab.application("side", "side", "side", automated=False)
    lab.push_side(2)
    lab.wait("side", "--timeout", "3m", exit=5, code="sync-manual")
    lab.wait("side", "--sync", "--timeout", "3m")
    lab.is_live(2, "side", "side")


def later_commit(lab):
    """Somebody pushes on top before Argo CD looks; then somebody takes the change back."""
    lab.application("side", "side", "side")
    commit = lab.push_side(4)
    lab.write("side/note", f"{time.time()}\n")
    lab.push("a note on top")
    answer = lab.wait("side", "--commit", commit, "--timeout", "3m")
    lab.is_live(4, "side", "side")
    if answer["result"]["relation"] != "descendant":
        raise Surprise(json.dumps(answer))
    commit = lab.push_side(2)
    lab.push_side(1)
    lab.wait("side", "--commit", commit, "--timeout", "3m", exit=5, code="superseded")


def pinned(lab):
    """The Application is pinned to the commit before."""
    lab.application("side", "side", "side", lab.git("rev-parse", "HEAD"))
    lab.push_side(2)
    lab.wait("side", "--timeout", "3m", exit=5, code="revision-pinned")


def drift(lab):
    """Somebody scales by hand, and nothing heals it."""
    lab.application("side", "side", "side")
    lab.push_side(2)
    lab.wait("side", "--timeout", "3m")
    lab.kube.ask("PATCH", DEPLOYMENT.format("side", "side"), {"spec": {"replicas": 5}}, MERGE)
    # Before Argo CD has seen it, a settled Application succeeds at the first read.
    until("Argo CD sees it", 60, lambda: lab.read("side")["status"]["sync"]["status"] == "OutOfSync")
    lab.wait("side", "--timeout", "3m", exit=5, code="drift", says="Deployment/side")


def pruned(lab):
    """An object goes away."""
    lab.application("side", "side", "side")
    lab.write("side/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: more\ndata:\n  a: b\n")
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, more.yaml]")
    lab.push("one more object")
    lab.wait("side", "--timeout", "3m")
    more = "/api/v1/namespaces/side/configmaps/more"
    if not lab.kube.find(more):
        raise Surprise("success, and the object is not there")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("side", "--timeout", "3m")
    if lab.kube.find(more):
        raise Surprise("success, and the object is still there")


def never_ready(lab):
    """An image whose pods never become ready: Degraded by its deadline."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.replace("side/side.yaml", "side:1", "side:never")
    lab.push("an image that never starts")
    lab.wait("side", "--timeout", "5m", exit=5, code="degraded")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("side", "--timeout", "3m")


def add_failing_job(lab, name, hook):
    """A job that fails, before (PreSync) or after (PostSync) the objects of `side` are applied."""
    lab.write("side/hook.yaml", f"""apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  annotations: {{argocd.argoproj.io/hook: {hook}, argocd.argoproj.io/hook-delete-policy: BeforeHookCreation}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: {name}, image: "registry.example/{name}:fails"}}]
""")
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, hook.yaml]")


def failing_hook(lab):
    """A job before the sync fails."""
    lab.application("side", "side", "side")
    add_failing_job(lab, "migrate", "PreSync")
    lab.replace("side/side.yaml", "side:1", "side:2")
    lab.push("a job that fails")
    lab.wait("side", "--timeout", "4m", exit=5, code="sync-failed", says="migrate")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("side", "--timeout", "4m")


def replaced_failure(lab):
    """A job after the sync fails, and when the wait begins somebody has asked for a sync of one object, which takes its place."""
    lab.application("side", "side", "side", automated=False)
    lab.wait("side", "--sync", "--timeout", "3m")
    add_failing_job(lab, "report", "PostSync")
    commit = lab.push_side(2)
    lab.wait("side", "--sync", "--timeout", "4m", exit=5, code="sync-failed", says="report")
    lab.is_live(2, "side", "side")
    one = {"group": "apps", "kind": "Deployment", "name": "side", "namespace": "side"}
    lab.cluster.controller.send_signal(signal.SIGSTOP)
    lab.patch("side", {"operation": {"initiatedBy": {"username": "anna"}, "sync": {"revision": commit, "resources": [one]}}})
    threading.Timer(5, lambda: lab.cluster.controller.send_signal(signal.SIGCONT)).start()
    lab.wait("side", "--timeout", "3m", exit=5, code="sync-failed", says="none of the commit has succeeded since")
    state = lab.read("side")["status"]["operationState"]
    if state["phase"] != "Succeeded":
        raise Surprise(json.dumps(state))
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")


def window(lab):
    """A sync window that is closed."""
    project = f"/apis/argoproj.io/v1alpha1/namespaces/{ARGOCD}/appprojects/team"
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    closed = [{"kind": "deny", "schedule": "* * * * *", "duration": "1h", "applications": ["side"]}]
    lab.kube.ask("PATCH", project, {"spec": {"syncWindows": closed}}, MERGE)
    try:
        lab.push_side(2)
        lab.wait("side", "--timeout", "30s", exit=6, code="sync-window", says="deny")
    finally:
        lab.kube.ask("PATCH", project, {"spec": {"syncWindows": None}}, MERGE)


def app_of_apps(lab):
    """A parent that deploys Applications; the child has to hold the commit too."""
    child = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "side", "namespace": ARGOCD},
             "spec": {"project": "team", "source": {"repoURL": lab.url, "path": "side", "targetRevision": "main"},
                      "destination": {"server": CLUSTER, "namespace": "side"},
                      "syncPolicy": {"automated": {"prune": True}}}}
    lab.write("apps/kustomization.yaml", "resources: [side.yaml]\n")
    lab.write("apps/side.yaml", json.dumps(child))
    lab.push_side(2)
    lab.application("root", "apps", ARGOCD)
    try:
        lab.wait("root", "--timeout", "4m")
        lab.is_live(2, "side", "side")
        lab.push_side(3)
        answer = lab.wait("root", "--timeout", "4m")
        lab.is_live(3, "side", "side")
        if len(answer["result"]["applications"]) != 2:
            raise Surprise(json.dumps(answer))
    finally:
        lab.remove("root")


def rights(lab):
    """Accounts that may not do all of it, through the Kubernetes API."""
    if lab.by != "kube":
        return
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.wait("side", "--timeout", "20s", exit=4, code="argocd-denied", token=STRANGER)
    lab.wait("side", "--timeout", "20s", exit=4, code="argocd-denied", token="a token of nobody")
    answer = lab.wait("side", "--timeout", "3m", token=READER)
    if answer["result"]["effect"] != "unknown":
        raise Surprise(json.dumps(answer))


def application_set(lab):
    """Two Applications that an ApplicationSet makes of one overlay; both have to hold the commit."""
    lab.write("both/kustomization.yaml", "resources: [both.yaml]\n")
    lab.write("both/both.yaml", SIDE["side.yaml"].replace("replicas: 1", "replicas: 2"))
    lab.push("an overlay for two")
    lab.set("both", "both", ["one", "two"])
    try:
        answer = lab.wait("--overlay", "both", "--timeout", "4m")
        for namespace in ("one", "two"):
            lab.is_live(2, "side", namespace)
        if len(answer["result"]["applications"]) != 2:
            raise Surprise(json.dumps(answer))
    finally:
        lab.remove_set("both", ["both-one", "both-two"])


def rolling_sync(lab):
    """An ApplicationSet that syncs step by step, the second when the first is well."""
    replicas = 3 if lab.by == "rest" else 4
    lab.set("both", "both", ["one", "two"], strategy={"type": "RollingSync", "rollingSync": {"steps": [
        {"matchExpressions": [{"key": "step", "operator": "In", "values": [step]}]} for step in ("one", "two")]}})
    try:
        lab.wait("--overlay", "both", "--timeout", "5m")
        lab.write("both/both.yaml", SIDE["side.yaml"].replace("replicas: 1", f"replicas: {replicas}"))
        lab.push("more replicas")
        answer = lab.wait("--overlay", "both", "--timeout", "5m")
        for namespace in ("one", "two"):
            lab.is_live(replicas, "side", namespace)
        states = {step["state"] for one in answer["result"]["applications"] for step in one["timeline"]}
        if "rolling-sync" not in states:
            raise Surprise(json.dumps(answer))
    finally:
        lab.remove_set("both", ["both-one", "both-two"])


def hydrated(lab):
    """A hydrator renders what is pushed onto another branch, which is what is synced."""
    branch, path = "env/side", "hydrated"
    dry = {"repoURL": lab.url, "path": "side", "targetRevision": "main"}
    spec = {"source": None, "sourceHydrator": {"drySource": dry, "syncSource": {"targetBranch": branch, "path": path}}}
    lab.application("side", "side", "side", **spec)
    lab.push_side(2)
    lab.wait("side", "--timeout", "5m")
    lab.is_live(2, "side", "side")
    lab.push_side(3)
    answer = lab.wait("--overlay", "side", "--timeout", "5m")
    lab.is_live(3, "side", "side")
    if answer["result"]["revision"] == answer["result"]["commit"]:
        raise Surprise(json.dumps(answer))
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, absent.yaml]")
    lab.push("a file that is not there")
    lab.wait("side", "--timeout", "5m", exit=5, code="hydration-failed", says="absent.yaml")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")
    lab.wait("side", "--timeout", "5m")
    # A commit that renders nothing new makes no commit there.
    lab.write("side/note", f"{time.time()}\n")
    lab.push("a note")
    lab.wait("side", "--timeout", "5m")


def shared(lab):
    """Another Application deploys the same object, from an older branch, and puts its own back."""
    lab.push_side(2)
    lab.git("push", "-q", "-f", "origin", "HEAD:older")
    lab.application("side", "side", "side")
    lab.push_side(4)
    lab.wait("side", "--timeout", "3m")
    lab.application("other", "side", "side", "older")
    lab.patch("other", {"spec": {"syncPolicy": {"automated": {"selfHeal": True}}}})
    try:
        until("the other has it", 90, lambda: lab.live("side", "side")["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"].startswith("other"))
        lab.wait("side", "--timeout", "4m", exit=5, code="object-excluded", says="other")
    finally:
        lab.remove("other")


def overridden(lab):
    """The Application itself says how many replicas."""
    lab.application("side", "side", "side")
    lab.patch("side", {"spec": {"source": {"kustomize": {"replicas": [{"name": "side", "count": 1}]}}}})
    lab.push_side(3)
    lab.wait("side", "--timeout", "4m", exit=5, code="effect-missing", says="kustomize.replicas (side=1)")
    lab.is_live(1, "side", "side")


def ignored_difference(lab):
    """The comparison leaves out the field that the commit changes."""
    rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    lab.application("side", "side", "side")
    lab.push_side(1)
    lab.wait("side", "--timeout", "3m")
    lab.patch("side", {"spec": {"ignoreDifferences": [rule]}})
    lab.push_side(4)
    lab.wait("side", "--timeout", "4m", exit=5, code="effect-ignored", says="replicas")
    lab.is_live(1, "side", "side")


def only_a_hook(lab):
    """A commit that changes nothing but a hook: it is compared, and nothing runs it."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.write("side/hook.yaml", """apiVersion: batch/v1
kind: Job
metadata:
  name: report
  annotations: {argocd.argoproj.io/hook: PostSync}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: report, image: "registry.example/report:1"}]
""")
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, hook.yaml]")
    lab.push("a hook")
    lab.wait("side", "--timeout", "3m", says="only hooks")
    if lab.kube.find("/apis/batch/v1/namespaces/side/jobs/report"):
        raise Surprise("the hook was run")
    lab.git("revert", "--no-edit", "HEAD")
    lab.git("push", "-q", "origin", "HEAD:main")


def skipped(lab):
    """The controller is told to leave it alone."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.patch("side", {"metadata": {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}})
    lab.push_side(3)
    lab.wait("side", "--timeout", "3m", exit=5, code="reconcile-skipped")


def stuck(lab):
    """A hook of an older commit never ends, and holds the place."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.write("side/hook.yaml", """apiVersion: batch/v1
kind: Job
metadata:
  name: endless
  annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: BeforeHookCreation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: endless, image: "registry.example/endless:1"}]
""")
    lab.replace("side/kustomization.yaml", "side.yaml]", "side.yaml, hook.yaml]")
    lab.replace("side/side.yaml", "side:1", "side:2")
    lab.push("a hook that does not end")
    lab.wait("side", "--timeout", "20s", exit=6, code="commit-not-synced", says="endless")
    lab.replace("side/kustomization.yaml", "side.yaml, hook.yaml]", "side.yaml]")
    lab.push("without it")
    lab.wait("side", "--timeout", "30s", exit=6, code="operation-stuck", says="endless")
    lab.replace("side/side.yaml", "side:2", "side:1")
    lab.push("as it was")


def controller_away(lab):
    """The controller halts for a while."""
    lab.application("side", "side", "side")
    lab.wait("side", "--timeout", "3m")
    lab.push_side(2)
    lab.cluster.controller.send_signal(signal.SIGSTOP)
    try:
        lab.wait("side", "--timeout", "100s", exit=6, code="controller-silent")
    finally:
        lab.cluster.controller.send_signal(signal.SIGCONT)
    lab.wait("side", "--timeout", "3m")
    lab.is_live(2, "side", "side")


def several_sources(lab):
    """Two sources, of which one is ours."""
    lab.write("notes/kustomization.yaml", "resources: [notes.yaml]\n")
    lab.write("notes/notes.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: notes\ndata:\n  a: b\n")
    lab.push_side(2)
    sources = [{"repoURL": lab.url, "path": path, "targetRevision": "main"} for path in ("notes", "side")]
    lab.application("side", "side", "side", source=None, sources=sources)
    lab.wait("--overlay", "side", "--timeout", "3m")
    lab.is_live(2, "side", "side")


STORIES = [first_sync, good_change, rollout, database, refused_manifest, no_build, deleted_branch, force_push, automation_off,
           later_commit, pinned, drift, pruned, failing_hook, replaced_failure, window, app_of_apps, rights, several_sources,
           application_set, rolling_sync, hydrated, overridden, ignored_difference, only_a_hook, skipped, stuck, shared,
           never_ready, controller_away]


def tell(lab, story, by):
    """Runs one; whether it went as expected."""
    lab.by, lab.said, lab.story = by, "", story.__name__
    lab.git("checkout", "-q", "main")
    lab.clear_side()
    began = time.monotonic()
    try:
        story(lab)
        result = "ok"
    except Surprise as surprise:
        result = f"WRONG: {surprise}"
    lab.remove("side")
    print(f"{story.__name__:18} {by:5} {time.monotonic() - began:6.1f} s  {lab.said}  {result}", flush=True)
    return result == "ok"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("overlay")
    parser.add_argument("stories", nargs="*")
    parser.add_argument("--by", choices=["rest", "kube"])
    parser.add_argument("--stay", action="store_true", help="leave it running until a line is read")
    asked = parser.parse_args()
    chosen = [story for story in STORIES if not asked.stories or story.__name__ in asked.stories]
    with Cluster(os.path.abspath(asked.folder)) as cluster:
        lab = Lab(cluster, os.path.abspath(asked.overlay))
        ways = [asked.by] if asked.by else ["rest", "kube"]
        went = [tell(lab, story, by) for by in ways for story in chosen]
        if asked.stay:
            input(f"KUBECONFIG={cluster.kubeconfig(ADMIN)}\n")
    sys.exit(0 if all(went) else 1)


if __name__ == "__main__":
    main()
