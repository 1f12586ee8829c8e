#!/usr/bin/env python3
"""Run `overlay verify --follow` against a real Kubernetes API server and its controllers, story by story.

usage: tools/rollout_stories.py FOLDER OVERLAY [STORY…] [--record DIR]

FOLDER/bin has etcd, kube-apiserver and kube-controller-manager (tools/argocd.sh makes them); OVERLAY is the program; kubectl
is in the PATH. Deployments, ReplicaSets, StatefulSets, DaemonSets, quotas and disruption budgets are the real controllers';
what a scheduler and a kubelet do is played here (class Node) by the annotation `play` of a pod's template. A story
changes the overlay in git, begins to follow, applies the change, and is judged by what `overlay` says of it and by what
the cluster itself says then: its API, and `kubectl rollout status`. Exit status 1 if any story went otherwise.

With --record what was watched is written down, one folder a story, as `overlay verify --follow --from` reads it.

Seen with kube-apiserver 1.36.3, etcd 3.6.16 and kubectl 1.37.1; all of it takes eleven minutes.
"""
import argparse, json, os, shutil, signal, subprocess, sys, threading, time, urllib.error

from argocd_cluster import ADMIN, MERGE, Kube, free_port, now, until

APPLY = "application/apply-patch+yaml"
KINDS = {
    "Namespace": "/api/v1/namespaces", "Pod": "/api/v1/namespaces/{}/pods", "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments", "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets", "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "ControllerRevision": "/apis/apps/v1/namespaces/{}/controllerrevisions", "Event": "/api/v1/namespaces/{}/events",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets", "Node": "/api/v1/nodes",
}
RECORDED = ["Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision", "PodDisruptionBudget", "Event", "Node"]
IMAGE = "registry.example/shop/web@sha256:"


class Control:
    """etcd, the API server and the controller manager on loopback; `stop` ends what was started."""

    def __init__(self, folder):
        self.bin, self.home, self.programs = os.path.join(folder, "bin"), os.path.join(folder, "rollouts"), {}
        shutil.rmtree(self.home, ignore_errors=True)
        os.makedirs(self.home)
        self.port = {name: free_port() for name in ("etcd", "peer", "kube", "manager")}

    def path(self, name):
        return os.path.join(self.home, name)

    def start(self, name, *argv):
        log = open(self.path(f"{name}.log"), "w")
        self.programs[name] = subprocess.Popen([f"{self.bin}/{name}", *argv], stdout=log, stderr=log, cwd=self.home)

    def kube(self):
        return Kube(self.port["kube"], self.path("certs/apiserver.crt"))

    def kubeconfig(self):
        with open(self.path("kubeconfig"), "w") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "here", "users": [{"name": "me", "user": {"token": ADMIN}}],
                "clusters": [{"name": "here", "cluster": {"server": f"https://127.0.0.1:{self.port['kube']}",
                                                          "certificate-authority": self.path("certs/apiserver.crt")}}],
                "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}]}, file)
        return self.path("kubeconfig")

    def __enter__(self):
        client, peer = (f"http://127.0.0.1:{self.port[name]}" for name in ("etcd", "peer"))
        self.start("etcd", "--data-dir", self.path("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
                   "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--unsafe-no-fsync")
        key = self.path("accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        with open(self.path("tokens.csv"), "w") as file:
            file.write(f'{ADMIN},admin,1,"system:masters"\n')
        self.start("kube-apiserver", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.port['kube']}",
                   f"--cert-dir={self.path('certs')}", f"--etcd-servers={client}", "--service-cluster-ip-range=10.0.0.0/24",
                   "--service-account-issuer=https://localhost", f"--service-account-signing-key-file={key}",
                   f"--service-account-key-file={key}", f"--token-auth-file={self.path('tokens.csv')}", "--authorization-mode=RBAC",
                   "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none")
        until("kube-apiserver", 120, lambda: self.kube().ask("GET", "/readyz") == "ok")
        self.start("kube-controller-manager", f"--kubeconfig={self.kubeconfig()}", "--leader-elect=false", "--bind-address=127.0.0.1",
                   f"--secure-port={self.port['manager']}", f"--cert-dir={self.path('certs')}", f"--service-account-private-key-file={key}",
                   "--controllers=deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,"
                   "disruption-controller,resourcequota-controller,namespace-controller,garbage-collector-controller")
        kube = self.kube()
        for name in ("node-a", "node-b"):
            kube.make("/api/v1/nodes", {"metadata": {"name": name}})
            kube.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": {
                "capacity": {"pods": "110"}, "allocatable": {"pods": "110"},
                "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "played", "lastTransitionTime": now(),
                                "lastHeartbeatTime": now()}]}}, MERGE)
            # A new node is tainted until its controller, which does not run here, has seen it ready.
            kube.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)
        return self

    def __exit__(self, *_):
        for program in reversed(list(self.programs.values())):
            program.send_signal(signal.SIGCONT)
            program.terminate()
        for program in self.programs.values():
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()


class Node(threading.Thread):
    """The scheduler and the kubelet of one namespace. What a pod does is in its annotation `play`, words with spaces between:

    unplaced, image, config, crash, init, unready, liveness, evicted: what keeps it from being ready; dips: it is unready for a
    while in between; rude: ends without failing its readiness; drains: does not end; stuck: is never ended.
    """

    def __init__(self, kube, namespace):
        super().__init__(daemon=True)
        self.kube, self.namespace, self.seen, self.ended = kube, namespace, {}, False

    def run(self):
        while not self.ended:
            try:
                for pod in self.kube.ask("GET", KINDS["Pod"].format(self.namespace))["items"]:
                    self.play(pod)
            except (urllib.error.URLError, OSError):  # a conflict, a pod that is gone, or the end
                pass
            time.sleep(0.15)

    def path(self, pod, sub=""):
        return f"{KINDS['Pod'].format(self.namespace)}/{pod['metadata']['name']}{sub}"

    def status(self, pod, **status):
        self.kube.ask("PATCH", self.path(pod, "/status"), {"status": status}, MERGE)

    def step(self, pod, name, after=0.0):
        """Whether this step of a pod's life is due, the first time that it is."""
        steps = self.seen.setdefault(pod["metadata"]["uid"], {})
        began = steps.setdefault(f"{name}?", time.monotonic())
        if name in steps or time.monotonic() - began < after:
            return False
        steps[name] = True
        return True

    def did(self, pod, name):
        return name in self.seen.get(pod["metadata"]["uid"], {})

    def play(self, pod):
        words = pod["metadata"].get("annotations", {}).get("play", "").split()
        if "deletionTimestamp" in pod["metadata"]:
            return self.end(pod, words)
        if "unplaced" in words:
            if self.step(pod, "refuse"):
                self.status(pod, conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                              "message": "0/2 nodes are available: 2 Insufficient cpu.", "lastTransitionTime": now()}])
            return
        if pod["spec"].get("schedulingGates"):
            return
        if "nodeName" not in pod["spec"] and self.step(pod, "bind"):
            self.kube.ask("POST", self.path(pod, "/binding"), {"apiVersion": "v1", "kind": "Binding",
                          "metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": self.place(pod)}})
        if self.step(pod, "start", 0.3):
            return self.begin(pod, words)
        keeps = {"image", "config", "crash", "init", "unready", "liveness", "evicted"}
        if self.did(pod, "start") and not keeps & set(words) and self.step(pod, "ready", 0.7):
            return self.ready(pod, True)
        if "dips" in words and self.did(pod, "ready") and self.step(pod, "dip", 6):
            return self.ready(pod, False)
        if self.did(pod, "dip") and self.step(pod, "rise", 2):
            return self.ready(pod, True)

    def place(self, pod):
        """The node that a DaemonSet wants, else the first."""
        required = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
        fields = [field for term in required.get("nodeSelectorTerms", []) for field in term.get("matchFields", [])]
        return fields[0]["values"][0] if fields else "node-a"

    def container(self, pod, state, ready=False, restarts=0, last=None):
        one = pod["spec"]["containers"][0]
        return [{"name": one["name"], "image": one["image"], "imageID": one["image"], "ready": ready, "started": "running" in state,
                 "restartCount": restarts, "state": state, "lastState": {"terminated": last} if last else {}}]

    def conditions(self, ready):
        mark = "True" if ready else "False"
        return [{"type": kind, "status": value, "lastTransitionTime": now()} for kind, value in (
            ("PodScheduled", "True"), ("Initialized", "True"), ("ContainersReady", mark), ("Ready", mark))]

    def ready(self, pod, is_ready):
        conditions = self.conditions(is_ready)
        if pod["spec"].get("readinessGates"):
            conditions[-1]["status"] = "False"
        self.status(pod, phase="Running", conditions=conditions,
                    containerStatuses=self.container(pod, {"running": {"startedAt": now()}}, is_ready))

    def waiting(self, pod, reason, message, phase="Pending", **more):
        self.status(pod, phase=phase, conditions=self.conditions(False),
                    containerStatuses=self.container(pod, {"waiting": {"reason": reason, "message": message}}, **more))

    def begin(self, pod, words):
        image = pod["spec"]["containers"][0]["image"]
        if "image" in words:
            self.event(pod, "Failed", f'Failed to pull image "{image}": rpc error: code = NotFound desc = failed to pull and unpack image "{image}": not found')
            return self.waiting(pod, "ImagePullBackOff", f'Back-off pulling image "{image}"')
        if "config" in words:
            return self.waiting(pod, "CreateContainerConfigError", 'configmap "web-env" not found')
        if "crash" in words:
            last = {"exitCode": 1, "reason": "Error", "message": "panic: no DATABASE_URL", "startedAt": now(), "finishedAt": now()}
            return self.waiting(pod, "CrashLoopBackOff", "back-off 20s restarting failed container", "Running", restarts=3, last=last)
        if "evicted" in words:
            return self.status(pod, phase="Failed", reason="Evicted", message="The node was low on resource: ephemeral-storage.")
        if "init" in words:
            init = [{"name": "migrate", "image": image, "imageID": image, "ready": False, "started": True, "restartCount": 0,
                     "state": {"running": {"startedAt": now()}}, "lastState": {}}]
            return self.status(pod, phase="Pending", conditions=self.conditions(False), initContainerStatuses=init,
                               containerStatuses=self.container(pod, {"waiting": {"reason": "PodInitializing"}}))
        self.ready(pod, False)
        if "unready" in words:
            self.event(pod, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
        if "liveness" in words:
            self.event(pod, "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500")
            self.status(pod, containerStatuses=self.container(pod, {"running": {"startedAt": now()}}, restarts=2))

    def event(self, pod, reason, message):
        self.kube.make(KINDS["Event"].format(self.namespace), {
            "metadata": {"generateName": pod["metadata"]["name"]}, "type": "Warning", "reason": reason, "message": message,
            "firstTimestamp": now(), "lastTimestamp": now(), "count": 3, "source": {"component": "kubelet"},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace, "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}})

    def end(self, pod, words):
        is_running = pod["status"].get("phase") == "Running"
        if "stuck" in words:
            return
        if is_running and "rude" not in words and self.step(pod, "unready", 0.2):
            return self.ready(pod, False)
        if "drains" in words:
            return
        if is_running and not self.did(pod, "over") and self.step(pod, "over", 1.2):
            ended = {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}
            return self.status(pod, phase="Succeeded", conditions=self.conditions(False), containerStatuses=self.container(pod, {"terminated": ended}))
        if (self.did(pod, "over") or not is_running) and self.step(pod, "gone", 0.3):
            self.kube.ask("DELETE", self.path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}})


class Recorder:
    """Writes down what is watched in a namespace, each with the time at which it was heard."""

    def __init__(self, control, namespace, file):
        self.control, self.namespace, self.out, self.lock = control, namespace, open(file, "w"), threading.Lock()
        for kind in RECORDED:
            listing = control.kube().ask("GET", KINDS[kind].format(namespace))
            items = [self.plain({"apiVersion": listing["apiVersion"], "kind": kind, **item}) for item in listing["items"]]
            self.write({"apiVersion": listing["apiVersion"], "kind": f"{kind}List", "items": items})
            threading.Thread(target=self.watch, args=(kind, listing["metadata"]["resourceVersion"]), daemon=True).start()

    def plain(self, item):
        item["metadata"].pop("managedFields", None)
        item["metadata"].get("annotations", {}).pop("kubectl.kubernetes.io/last-applied-configuration", None)
        return item

    def write(self, document):
        with self.lock:
            if not self.out.closed:
                self.out.write(json.dumps({"at": now(), **document}, separators=(",", ":")) + "\n")

    def watch(self, kind, version):
        import urllib.request
        kube = self.control.kube()
        request = urllib.request.Request(f"{kube.base}{KINDS[kind].format(self.namespace)}?watch=true&resourceVersion={version}",
                                         headers={"Authorization": f"Bearer {kube.token}"})
        with urllib.request.urlopen(request, timeout=600, context=kube.trust) as lines:
            for line in lines:
                event = json.loads(line)
                self.write({"type": event["type"], "object": self.plain(event["object"])})

    def close(self):
        self.write({"type": "END"})
        with self.lock:
            self.out.close()


def web(image="a", play="", kind="Deployment", replicas=2, strategy=None, grace=30, note=None, **more):
    """A workload of one container; `image` is the digit of its digest."""
    spec = {"containers": [{"name": "web", "image": IMAGE + 64 * image, "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}}}],
            "terminationGracePeriodSeconds": grace, **more.pop("pod", {})}
    annotations = {"play": play, **({"note": note} if note else {})}
    template = {"metadata": {"labels": {"app": "web"}, "annotations": annotations, **more.pop("pod_metadata", {})}, "spec": spec}
    own = {} if kind == "DaemonSet" else {"replicas": replicas}
    if kind == "StatefulSet":
        own["serviceName"] = "web"
    if strategy:
        own["strategy" if kind == "Deployment" else "updateStrategy"] = strategy
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"},
            "spec": {**own, "selector": {"matchLabels": {"app": "web"}}, "template": template, **more}}


def surge(more, fewer):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": more, "maxUnavailable": fewer}}


STEP = surge(1, 0)
INIT = {"initContainers": [{"name": "migrate", "image": IMAGE + 64 * "b"}]}
DEPLOYMENT, SETS, DAEMONS = "Deployment/web", "StatefulSet/web", "DaemonSet/web"
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": {"pods": "2"}}}
WEBHOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "policy"},
    "webhooks": [{"name": "policy.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
                  "clientConfig": {"url": "https://127.0.0.1:1/pods"}, "namespaceSelector": {"matchLabels": {"webhook": "yes"}},
                  "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]}]}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}

# name: (before, after, exit, findings as "id object", more): `more` may have labels of the namespace, objects beside, a time, and
# what happens meanwhile.
STORIES = {
    "clean": (web(strategy=STEP), web("b", strategy=STEP), 0, [], {}),
    "restart": (web(strategy=STEP), web(note="again", strategy=STEP), 0, [], {}),
    "quarter": (web(replicas=8), web("b", replicas=8), 0, [], {}),
    "recreate": (web(strategy={"type": "Recreate"}), web("b", strategy={"type": "Recreate"}), 0, [], {}),
    "scaled-up": (web(), web(replicas=5), 0, [], {}),
    "scaled-down": (web(replicas=4), web(replicas=1), 0, [], {}),
    "set": (web(kind="StatefulSet", replicas=3), web("b", kind="StatefulSet", replicas=3), 0, [], {}),
    "daemons": (web(kind="DaemonSet"), web("b", kind="DaemonSet"), 0, [], {}),
    "exited-ready": (web(play="rude", strategy=STEP), web("b", strategy=STEP), 7, ["exited-ready Pod"], {}),
    "below-minimum": (web(play="dips", strategy=STEP), web("b", play="init", strategy=STEP, pod=INIT), 6,
                      [f"rollout-unfinished {DEPLOYMENT}", "init-unfinished Pod", f"below-minimum {DEPLOYMENT}"], {"time": 12}),
    "draining": (web(play="drains", strategy=STEP, grace=900), web("b", strategy=STEP), 6, ["draining Pod"], {"is_done": True}),
    "grace-below-drain": (web(play="drains", strategy=STEP, grace=60, pod={"containers": [{
        "name": "web", "image": IMAGE + 64 * "a", "args": ["--drain-timeout=15m"], "readinessProbe": {"httpGet": {"port": 8080}}}]}),
        web("b", strategy=STEP), 6, ["grace-below-drain Pod"], {"is_done": True}),
    "recreate-drains": (web(play="drains", strategy={"type": "Recreate"}, grace=900), web("b", strategy={"type": "Recreate"}), 6,
                        [f"rollout-unfinished {DEPLOYMENT}", "draining Pod"], {}),
    "set-drains": (web(play="drains", kind="StatefulSet", grace=900), web("b", kind="StatefulSet"), 6,
                   [f"rollout-unfinished {SETS}", "draining Pod"], {}),
    "stuck-terminating": (web(play="stuck", strategy=STEP, grace=1), web("b", strategy=STEP), 6, ["stuck-terminating Pod"], {"time": 26, "is_done": True}),
    "finalizer": (web(strategy=STEP, pod_metadata={"finalizers": ["example.com/deregister"]}), web("b", strategy=STEP), 6, ["finalizer Pod"], {"is_done": True}),
    "unschedulable": (web(strategy=STEP), web("b", play="unplaced", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "unschedulable Pod"], {}),
    "image-not-found": (web(strategy=STEP), web("b", play="image", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "image-unpullable Pod"], {}),
    "config-missing": (web(strategy=STEP), web("b", play="config", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "config-missing Pod"], {}),
    "crash-loop": (web(strategy=STEP), web("b", play="crash", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "crash-loop Pod"], {}),
    "init": (web(strategy=STEP), web("b", play="init", strategy=STEP, pod=INIT), 6, [f"rollout-unfinished {DEPLOYMENT}", "init-unfinished Pod"], {}),
    "readiness": (web(strategy=STEP), web("b", play="unready", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "readiness-failing Pod"], {}),
    "liveness": (web(strategy=STEP), web("b", play="liveness", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", "liveness-failing Pod"], {}),
    "readiness-gate": (web(strategy=STEP), web("b", strategy=STEP, pod={"readinessGates": [{"conditionType": "lb.example/ok"}]}), 6,
                       [f"rollout-unfinished {DEPLOYMENT}", "readiness-gate Pod"], {}),
    "scheduling-gate": (web(strategy=STEP), web("b", strategy=STEP, pod={"schedulingGates": [{"name": "example.com/quota"}]}), 6,
                        [f"rollout-unfinished {DEPLOYMENT}", "scheduling-gated Pod"], {}),
    "quota": (web(strategy=STEP), web("b", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", f"quota-exceeded {DEPLOYMENT}"], {"beside": QUOTA}),
    "pod-security": (web(strategy=STEP), web("b", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", f"creation-refused {DEPLOYMENT}"], {"labels": RESTRICTED}),
    "webhook-down": (web(strategy=STEP), web("b", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", f"creation-refused {DEPLOYMENT}"], {"labels": {"webhook": "yes"}, "time": 14}),
    "paused": (web(strategy=STEP), web("b", strategy=STEP, paused=True), 6, [f"rollout-unfinished {DEPLOYMENT}", f"paused {DEPLOYMENT}"], {}),
    "min-ready": (web(strategy=STEP), web("b", strategy=STEP, minReadySeconds=60), 6, [f"rollout-unfinished {DEPLOYMENT}", f"min-ready {DEPLOYMENT}"], {}),
    "deadline": (web(strategy=STEP), web("b", play="image", strategy=STEP, progressDeadlineSeconds=4), 7, [f"deadline-exceeded {DEPLOYMENT}", "image-unpullable Pod"], {"time": 40}),
    "set-blocked": (web(kind="StatefulSet"), web("b", play="crash", kind="StatefulSet"), 6, [f"rollout-unfinished {SETS}", "crash-loop Pod"], {}),
    "set-mended": (web("b", play="crash", kind="StatefulSet"), web("c", kind="StatefulSet"), 6,
                   [f"rollout-unfinished {SETS}", f"ordered-blocked {SETS}", "crash-loop Pod"], {"is_broken": True}),
    "on-delete": (web(kind="StatefulSet", strategy={"type": "OnDelete"}), web("b", kind="StatefulSet", strategy={"type": "OnDelete"}), 6, [f"on-delete {SETS}"], {}),
    "partition": (web(kind="StatefulSet"), web("b", kind="StatefulSet", strategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}), 0, [f"partition {SETS}"], {}),
    "daemon-unready": (web(kind="DaemonSet"), web("b", play="unready", kind="DaemonSet"), 6, [f"rollout-unfinished {DAEMONS}", "readiness-failing Pod"], {}),
    "not-applied": (web(strategy=STEP), web("b", strategy=STEP), 6, [f"object-differs {DEPLOYMENT}"], {"is_applied": False}),
    "controller-silent": (web(strategy=STEP), web("b", strategy=STEP), 6, [f"rollout-unfinished {DEPLOYMENT}", f"controller-silent {DEPLOYMENT}"], {"time": 68, "is_silent": True}),
}


class Surprise(Exception):
    """A story went otherwise."""


class Lab:
    def __init__(self, control, overlay, record):
        self.control, self.overlay, self.record, self.kube = control, overlay, record, control.kube()
        self.environment = {"PATH": os.environ["PATH"], "HOME": control.home, "GIT_CONFIG_NOSYSTEM": "1", "KUBECONFIG": control.kubeconfig(),
                            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Somebody"), ("EMAIL", "some@body.example"))}}

    def git(self, where, *args):
        subprocess.run(["git", *args], cwd=where, env=self.environment, check=True, capture_output=True)

    def commit(self, where, workload):
        with open(os.path.join(where, "web.json"), "w") as file:
            json.dump(workload, file)
        self.git(where, "add", "-A")
        self.git(where, "commit", "-qm", "a change")

    def apply(self, namespace, thing):
        path = KINDS[thing["kind"]].format(namespace)
        body = json.dumps({**thing, "metadata": {**thing["metadata"], "namespace": namespace}}).encode()
        self.kube.ask("PATCH", f"{path}/{thing['metadata']['name']}?fieldManager=story&force=true", body, APPLY)

    def live(self, namespace, kind):
        return self.kube.find(f"{KINDS[kind].format(namespace)}/web")

    def is_settled(self, namespace, thing):
        live, pods = self.live(namespace, thing["kind"]), self.kube.ask("GET", KINDS["Pod"].format(namespace))["items"]
        wanted = 2 if thing["kind"] == "DaemonSet" else thing["spec"]["replicas"]
        status = live["status"]
        ready = status.get("numberReady", status.get("readyReplicas", 0))
        return status.get("observedGeneration") == live["metadata"]["generation"] and ready == wanted == len(pods)

    def tell(self, name):
        before, after, exit, findings, more = STORIES[name]
        namespace = f"s-{name}"
        where = self.control.path(namespace)
        os.makedirs(where)
        with open(os.path.join(where, "kustomization.yaml"), "w") as file:
            file.write(f"namespace: {namespace}\nresources: [web.json]\n")
        self.git(where, "init", "-q", "-b", "main")
        self.commit(where, before)
        self.kube.make("/api/v1/namespaces", {"metadata": {"name": namespace}})
        node = Node(self.kube, namespace)
        node.start()
        self.apply(namespace, before)
        if more.get("is_broken"):
            until("a broken start", 30, lambda: self.kube.ask("GET", KINDS["Pod"].format(namespace))["items"][0]["status"].get("containerStatuses"))
        else:
            until("a settled start", 60, lambda: self.is_settled(namespace, before))
        if "beside" in more:
            self.apply(namespace, more["beside"])
            until("the quota", 30, lambda: self.kube.find(f"{KINDS['ResourceQuota'].format(namespace)}/team")["status"].get("used"))
        if "labels" in more:
            self.kube.ask("PATCH", f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": more["labels"]}}, MERGE)
        old = {pod["metadata"]["name"] + pod["metadata"]["uid"] for pod in self.kube.ask("GET", KINDS["Pod"].format(namespace))["items"]}
        recorder = None
        if self.record:
            os.makedirs(os.path.join(self.record, name), exist_ok=True)
            recorder = Recorder(self.control, namespace, os.path.join(self.record, name, "watch.json"))
        self.commit(where, after)
        seconds = more.get("time", 60 if exit in (0, 7) else 20 if more.get("is_done") else 9)
        began = time.monotonic()
        following = subprocess.Popen([self.overlay, "verify", ".", "--follow", "--dwell", "2s", "--timeout", f"{seconds}s", "--no-registry", "-o", "json"],
                                     cwd=where, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.0)
        manager = self.control.programs["kube-controller-manager"]
        if more.get("is_silent"):
            manager.send_signal(signal.SIGSTOP)
        if more.get("is_applied", True):
            self.apply(namespace, after)
        text, said = following.communicate(timeout=seconds + 60)
        took = time.monotonic() - began
        if recorder:
            recorder.close()
        try:
            self.judge(name, namespace, json.loads(text), following.returncode, took, old, said)
        finally:
            manager.send_signal(signal.SIGCONT)
            node.ended = True
        return f"exit {following.returncode} in {took:.1f} s"

    def judge(self, name, namespace, answer, exit, took, old, said):
        before, after, want_exit, want, more = STORIES[name]
        found = answer["result"]["findings"]
        # Names of pods are the controllers'.
        shown = lambda finding: finding["resource"]["kind"] if finding["resource"]["kind"] == "Pod" else "{kind}/{name}".format(**finding["resource"])
        have = {f"{finding['id']} {shown(finding)}" for finding in found}
        if exit != want_exit or have != set(want):
            raise Surprise(f"exit {exit}, {sorted(have)}; not {want_exit}, {sorted(want)}\n{json.dumps(found, indent=1)}\n{said}")
        # What kubectl says of the same roll.
        if after["spec"].get("updateStrategy", {}).get("type") != "OnDelete" and more.get("is_applied", True):
            asked = subprocess.run(["kubectl", "-n", namespace, "rollout", "status", f"{after['kind']}/web", "--watch=false"],
                                   env=self.environment, capture_output=True, text=True)
            is_done = asked.returncode == 0 and ("successfully rolled out" in asked.stdout or "complete" in asked.stdout)
            if is_done != (want_exit == 0 or more.get("is_done", name in ("exited-ready",))):
                raise Surprise(f"kubectl: {asked.stdout}{asked.stderr}")
        # What the API says of the pods.
        live = {pod["metadata"]["name"] + pod["metadata"]["uid"] for pod in self.kube.ask("GET", KINDS["Pod"].format(namespace))["items"]}
        pods = answer["result"]["follow"]["pods"]
        told_old = sum(1 for pod in pods if pod["wasThere"])
        told_gone = sum(1 for pod in pods if pod["wasThere"] and pod["gone"])
        if (told_old, told_gone) != (len(old), len(old - live)):
            raise Surprise(f"{told_old} old pods, {told_gone} gone; the API says {len(old)}, {len(old - live)}")
        for pod in pods:
            order = [pod[step] for step in ("seen", "terminating", "ended", "gone") if pod[step]]
            if order != sorted(order):
                raise Surprise(f"in no order: {pod}")

    def budgets(self):
        """The disruption controller's own numbers against those that `overlay check` reckons from the render."""
        namespace, where, count = "s-budgets", self.control.path("s-budgets"), 0
        self.kube.make("/api/v1/namespaces", {"metadata": {"name": namespace}})
        node = Node(self.kube, namespace)
        node.start()
        os.makedirs(where)
        rules = [(field, value) for field, values in (("minAvailable", (1, 2, "50%", "100%")), ("maxUnavailable", (0, 1, "50%", "1%"))) for value in values]
        for replicas in (1, 2, 3, 5, 7, 10):
            thing = web(replicas=replicas)
            self.apply(namespace, thing)
            until("pods", 60, lambda: self.is_settled(namespace, thing))
            for field, value in rules:
                budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
                          "spec": {field: value, "selector": {"matchLabels": {"app": "web"}}}}
                made = self.kube.ask("POST", KINDS["PodDisruptionBudget"].format(namespace), budget)
                path = f"{KINDS['PodDisruptionBudget'].format(namespace)}/web"
                status = until("the disruption controller", 30, lambda: (lambda s: s if s.get("observedGeneration") == 1 and "conditions" in s else None)(
                    self.kube.find(path).get("status", {})))
                with open(os.path.join(where, "kustomization.yaml"), "w") as file:
                    file.write(f"namespace: {namespace}\nresources: [all.json]\n")
                with open(os.path.join(where, "all.json"), "w") as file:
                    file.write(json.dumps({"apiVersion": "v1", "kind": "List", "items": [thing, budget]}))
                ran = subprocess.run([self.overlay, "check", ".", "--namespace", "-o", "json"], cwd=where, env=self.environment, capture_output=True, text=True)
                line = json.loads(ran.stdout)["result"]["budgets"][0]
                theirs = [status[key] for key in ("expectedPods", "desiredHealthy", "disruptionsAllowed")]
                if [line[key] for key in ("expected", "desired", "allowed")] != theirs:
                    raise Surprise(f"{field} {value} of {replicas}: {line}, the controller says {status}")
                count += 1
                self.kube.ask("DELETE", path, {"preconditions": {"uid": made["metadata"]["uid"]}})
                until("no budget", 10, lambda: self.kube.find(path) is None)
        node.ended = True
        return f"{count} budgets"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("overlay")
    parser.add_argument("stories", nargs="*")
    parser.add_argument("--record")
    args = parser.parse_args()
    names = args.stories or [*STORIES, "budgets"]
    bad = 0
    with Control(os.path.abspath(args.folder)) as control:
        lab = Lab(control, os.path.abspath(args.overlay), args.record and os.path.abspath(args.record))
        lab.kube.make("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", WEBHOOK)
        for name in names:
            try:
                print(f"{name}: {lab.budgets() if name == 'budgets' else lab.tell(name)}", flush=True)
            except (Surprise, SystemExit, OSError, subprocess.SubprocessError) as surprise:
                bad += 1
                print(f"{name}: OTHERWISE: {surprise}", flush=True)
    print(f"{len(names) - bad} of {len(names)} stories as they should be")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
