"""The repository that a real Argo CD reads, its Applications, and the person who runs `overlay wait` in a clone.

Used by tools/argocd_stories.py.
"""
import json, os, shutil, subprocess, sys, time

from argocd_cluster import ARGOCD, MERGE, WAITER, until

APPLICATIONS = f"/apis/argoproj.io/v1alpha1/namespaces/{ARGOCD}/applications"
SETS = f"/apis/argoproj.io/v1alpha1/namespaces/{ARGOCD}/applicationsets"
CLUSTER = "https://kubernetes.default.svc"
DEPLOYMENT = "/apis/apps/v1/namespaces/{}/deployments/{}"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A small overlay beside the large one, for what happens to branches and by hand.
SIDE = {
    "kustomization.yaml": "namespace: side\nresources: [namespace.yaml, side.yaml]\n",
    "namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: side\n",
    "side.yaml": """apiVersion: apps/v1
kind: Deployment
metadata:
  name: side
spec:
  replicas: 1
  progressDeadlineSeconds: 5
  selector:
    matchLabels: {app: side}
  template:
    metadata:
      labels: {app: side}
    spec:
      containers:
        - name: side
          image: registry.example/side:1
""",
}


class Surprise(Exception):
    """A story went otherwise."""


class Lab:
    """The cluster, a repository as Argo CD reads it, and the clone of the person who waits."""

    def __init__(self, cluster, overlay):
        self.cluster, self.overlay, self.kube = cluster, overlay, cluster.kube()
        self.hub, self.clone = cluster.path("deploy.git"), cluster.path("clone")
        self.url = f"file://{self.hub}"
        self.by = "rest"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": cluster.home, "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Somebody"), ("EMAIL", "some@body.example"))}}
        self.git("init", "-q", "--bare", "-b", "main", self.hub, where=cluster.home)
        self.git("init", "-q", "-b", "main", self.clone, where=cluster.home)
        self.git("commit", "-q", "--allow-empty", "-m", "nothing yet")
        shutil.copytree(os.path.join(ROOT, "fixtures/overlays/lattice"), self.clone, dirs_exist_ok=True)
        for name, text in SIDE.items():
            self.write(f"side/{name}", text)
        self.git("remote", "add", "origin", self.url)
        self.push("the start")
        self.application("lattice", "overlays/prod", "lattice")
        os.makedirs(cluster.path("frames"))
        self.frames, self.story = 0, ""

    def git(self, *args, where=None):
        ran = subprocess.run(["git", *args], cwd=where or self.clone, env=self.environment, capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"git {' '.join(args)}: {ran.stderr}")
        return ran.stdout.strip()

    def write(self, name, text):
        path = os.path.join(self.clone, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def replace(self, name, old, new):
        with open(os.path.join(self.clone, name)) as file:
            text = file.read()
        assert old in text, (name, old)
        self.write(name, text.replace(old, new, 1))

    def push(self, message, branch="main"):
        """A commit of all that is there, pushed; its name."""
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        self.git("push", "-q", "-f", "origin", f"HEAD:{branch}")
        return self.git("rev-parse", "HEAD")

    def application(self, name, path, namespace, revision="main", automated=True, **more):
        policy = {"retry": {"limit": 1, "backoff": {"duration": "1s"}}}
        if automated:
            policy["automated"] = {"prune": True}
        spec = {"project": "team", "source": {"repoURL": self.url, "path": path, "targetRevision": revision},
                "destination": {"server": CLUSTER, "namespace": namespace}, "syncPolicy": policy, **more}
        self.kube.make(APPLICATIONS, {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": name},
                                      "spec": {key: value for key, value in spec.items() if value is not None}})

    def set(self, name, path, namespaces, **more):
        """An ApplicationSet that deploys one overlay into each of the namespaces; a strategy may be given."""
        template = {
            "metadata": {"name": name + "-{{.place}}", "labels": {"step": "{{.place}}"}},
            "spec": {"project": "team", "source": {"repoURL": self.url, "path": path, "targetRevision": "main"},
                     "destination": {"server": CLUSTER, "namespace": "{{.place}}"},
                     "syncPolicy": {"automated": {"prune": True}, "syncOptions": ["CreateNamespace=true"]}}}
        self.kube.make(SETS, {
            "apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": name},
            "spec": {"goTemplate": True, "generators": [{"list": {"elements": [{"place": place} for place in namespaces]}}],
                     "template": template, **more}})
        for place in namespaces:
            until(f"{name}-{place}", 60, lambda: self.read(f"{name}-{place}"))

    def remove_set(self, name, applications):
        """The set and its Applications."""
        self.kube.ask("DELETE", f"{SETS}/{name}")
        for application in applications:
            until(f"{application} is gone", 60, lambda: self.read(application) is None)

    def read(self, name):
        return self.kube.find(f"{APPLICATIONS}/{name}")

    def patch(self, name, patch):
        self.kube.ask("PATCH", f"{APPLICATIONS}/{name}", patch, MERGE)

    def remove(self, name):
        """The Application without what it deployed."""
        if self.read(name):
            self.kube.ask("DELETE", f"{APPLICATIONS}/{name}")
            until(f"{name} is gone", 30, lambda: self.read(name) is None)

    def record(self, name):
        """The Applications as they are now, as the tests have them: without what is of this machine and this minute."""
        commit, parent = (self.git("rev-parse", "--verify", "-q", revision) for revision in ("HEAD", "HEAD~1"))
        self.frames += 1
        for application in ("lattice", "side"):
            if found := self.read(application):
                found["metadata"].pop("managedFields", None)
                text = json.dumps(found, indent=1, sort_keys=True)
                for here, there in ((self.url, "https://git.test/ops/deploy.git"), (commit, "@NEW@"), (parent, "@OLD@")):
                    text = text.replace(here, there)
                self.cluster.write(f"frames/{self.frames:03}-{name}-{application}.json", text + "\n")

    def run(self, *args, token=WAITER):
        """`overlay`, by the way that is tried; what it answered as JSON, with its exit status and time."""
        way = {"ARGOCD_SERVER": f"http://127.0.0.1:{self.cluster.port['server']}", "ARGOCD_AUTH_TOKEN": self.cluster.token}
        if self.by == "kube":
            way = {"KUBECONFIG": self.cluster.kubeconfig(token)}
        began = time.monotonic()
        ran = subprocess.run([self.overlay, *args, "-o", "json"], cwd=self.clone, env={**self.environment, **way}, capture_output=True, text=True)
        answer = json.loads(ran.stdout)
        answer.update(exit=ran.returncode, seconds=time.monotonic() - began, lines=ran.stderr)
        return answer

    def wait(self, *args, exit=0, code=None, says="", token=WAITER, dwell="2s"):
        """`overlay wait`; how it ends is what the story expects."""
        answer = self.run("wait", *args, "--dwell", dwell, token=token)
        self.record(f"{self.story}-{self.by}")
        error = answer["error"] or {}
        self.said = f"exit {answer['exit']} {error.get('code', 'ready')} in {answer['seconds']:.1f} s"
        whole = json.dumps(answer)
        if (answer["exit"], error.get("code")) != (exit, code) or says not in whole:
            raise Surprise(f"{self.said}, not {exit} {code} {says}\n{whole}\n{answer['lines']}")
        return answer

    def live(self, name="gateway", namespace="lattice"):
        return self.kube.find(DEPLOYMENT.format(namespace, name))

    def is_live(self, replicas, name="gateway", namespace="lattice"):
        """The cluster has these replicas, all of the newest template and available."""
        found = self.live(name, namespace)
        status = found["status"]
        seen = (found["spec"]["replicas"], status.get("updatedReplicas", 0), status.get("availableReplicas", 0), status.get("replicas", 0))
        if seen != (replicas,) * 4 or status.get("observedGeneration") != found["metadata"]["generation"]:
            raise Surprise(f"success, and the cluster has {seen} of {replicas} replicas of {name}")

    def replicas(self, count):
        """The edit by `overlay` itself, committed and pushed."""
        answer = self.run("set", "replicas", "overlays/prod", f"gateway={count}", "--commit", "--push")
        if answer["exit"]:
            raise Surprise(json.dumps(answer))
        return self.git("rev-parse", "HEAD")

    def clear_side(self):
        """The small overlay as it was, with one replica, and nothing of it in the cluster: what a story changes differs."""
        self.write_side(1)
        self.push("one replica")
        path = DEPLOYMENT.format("side", "side")
        if self.kube.find(path):
            self.kube.ask("DELETE", path)
            until("the small overlay is gone", 30, lambda: self.kube.find(path) is None)

    def push_side(self, replicas, branch="main"):
        """The small overlay with that number of replicas; the commit."""
        self.write_side(replicas)
        return self.push(f"{replicas} replicas", branch)

    def write_side(self, replicas):
        path = os.path.join(self.clone, "side/side.yaml")
        with open(path) as file:
            lines = [f"  replicas: {replicas}\n" if line.startswith("  replicas:") else line for line in file]
        self.write("side/side.yaml", "".join(lines))
        self.write("side/count", f"{time.time()}\n")


if __name__ == "__main__":
    sys.exit("used by tools/argocd_stories.py")
