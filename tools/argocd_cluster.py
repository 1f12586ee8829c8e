"""A real Argo CD on loopback: etcd, kube-apiserver, kube-controller-manager, Redis, and Argo CD's programs.

Used by tools/argocd_stories.py; the programs come from tools/argocd.sh, Redis from the system. What a node would do is
played here (class Hands): there is no kubelet, so pods are declared ready; there is no CloudNativePG either, so its
clusters are declared complete.
"""
import base64, json, os, shutil, socket, ssl, subprocess, sys, threading, time, urllib.error, urllib.request

ARGOCD = "argocd"
ADMIN, WAITER, READER, STRANGER = "admin-token", "waiter-token", "reader-token", "stranger-token"
MERGE = "application/merge-patch+json"

# What is asked of the parts that are not the subject: any Cluster is taken.
DATABASES = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusters.postgresql.cnpg.io"},
    "spec": {
        "group": "postgresql.cnpg.io", "scope": "Namespaced",
        "names": {"plural": "clusters", "singular": "cluster", "kind": "Cluster", "listKind": "ClusterList"},
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }],
    },
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, seconds, ask):
    """The first true answer of `ask`; what it raises counts as none."""
    end, last = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            if answer := ask():
                return answer
        except Exception as error:  # of a server that is not there yet
            last = error
        time.sleep(0.3)
    raise SystemExit(f"{what}: not within {seconds} s ({last})")


class Kube:
    """The Kubernetes API as one account."""

    def __init__(self, port, authority, token=ADMIN):
        self.base, self.token = f"https://127.0.0.1:{port}", token
        self.trust = ssl.create_default_context(cafile=authority)

    def ask(self, method, path, body=None, kind="application/json"):
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method, headers={
            "Authorization": f"Bearer {self.token}", "Content-Type": kind})
        with urllib.request.urlopen(request, timeout=30, context=self.trust) as answer:
            text = answer.read()
        return json.loads(text) if text[:1] == b"{" else text.decode()

    def find(self, path):
        try:
            return self.ask("GET", path)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def make(self, path, body):
        try:
            return self.ask("POST", path, body)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"POST {path}: {error.read().decode()}")


class Hands(threading.Thread):
    """What nodes and operators do: pods become ready after `delay`, unless their image says `never`; databases are complete."""

    def __init__(self, kube, delay=2.0):
        super().__init__(daemon=True)
        self.kube, self.delay, self.seen = kube, delay, {}

    def run(self):
        while True:
            try:
                self.ready_pods()
                self.complete_databases()
            except Exception:  # a conflict, or the end
                pass
            time.sleep(0.4)

    def ready_pods(self):
        for pod in self.kube.ask("GET", "/api/v1/pods")["items"]:
            since = self.seen.setdefault(pod["metadata"]["uid"], time.monotonic())
            conditions = pod["status"].get("conditions", [])
            is_ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
            containers = pod["spec"]["containers"]
            is_never = any("never" in container["image"] for container in containers)
            if is_ready or is_never or time.monotonic() - since < self.delay or pod["status"].get("phase") == "Failed":
                continue
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
            fails = any("fails" in container["image"] for container in containers)
            status = {"phase": "Failed"} if fails else {
                "phase": "Running",
                "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now()} for kind in ("Ready", "ContainersReady")],
                "containerStatuses": [{
                    "name": container["name"], "ready": True, "restartCount": 0, "image": container["image"], "imageID": "",
                    "state": {"running": {"startedAt": now()}}} for container in containers],
            }
            self.kube.ask("PATCH", path, {"status": status}, MERGE)

    def complete_databases(self):
        found = self.kube.find("/apis/postgresql.cnpg.io/v1/clusters")
        for cluster in (found or {"items": []})["items"]:
            name, wanted = cluster["metadata"]["name"], cluster["spec"].get("instances", 1)
            if cluster.get("status", {}).get("readyInstances") == wanted:
                continue
            status = {"phase": "Cluster in healthy state", "instances": wanted, "readyInstances": wanted, "conditions": [],
                      "currentPrimary": f"{name}-1", "targetPrimary": f"{name}-1"}
            path = f"/apis/postgresql.cnpg.io/v1/namespaces/{cluster['metadata']['namespace']}/clusters/{name}/status"
            self.kube.ask("PATCH", path, {"status": status}, MERGE)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Cluster:
    """All of it, in `folder`/run; `stop` ends what was started. `controller` is Argo CD's, to be halted for a while."""

    def __init__(self, folder):
        self.bin, self.crds = os.path.join(folder, "bin"), os.path.join(folder, "crds")
        self.home = os.path.join(folder, "run")
        shutil.rmtree(self.home, ignore_errors=True)
        os.makedirs(self.home)
        self.programs = []
        self.port = {name: free_port() for name in (
            "etcd", "peer", "kube", "manager", "redis", "repo", "repo-metrics", "server", "server-metrics",
            "controller-metrics", "commit", "commit-metrics", "sets", "sets-metrics", "sets-probe")}

    def path(self, *parts):
        return os.path.join(self.home, *parts)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text if isinstance(text, str) else json.dumps(text, indent=1))
        return self.path(name)

    def start(self, name, argv, **environment):
        log = open(self.path(f"{name}.log"), "w")
        # Argo CD's programs find kustomize, git and their own scripts on the path, and nothing of whoever starts this.
        plain = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": self.home, "TMPDIR": self.path("tmp")}
        os.makedirs(self.path("tmp"), exist_ok=True)
        program = subprocess.Popen(argv, stdout=log, stderr=log, env={**plain, **environment}, cwd=self.home)
        self.programs.append(program)
        return program

    def stop(self):
        for program in reversed(self.programs):
            program.terminate()
        for program in self.programs:
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()

    def __enter__(self):
        try:
            self.start_kubernetes()
            self.start_argocd()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def kubeconfig(self, token):
        """A kubeconfig of that account."""
        return self.write(f"kubeconfig-{token}", {
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": {
                "server": f"https://127.0.0.1:{self.port['kube']}", "certificate-authority": self.path("certs/apiserver.crt")}}],
            "users": [{"name": "me", "user": {"token": token}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me", "namespace": ARGOCD}}],
        })

    def kube(self, token=ADMIN):
        return Kube(self.port["kube"], self.path("certs/apiserver.crt"), token)

    def start_kubernetes(self):
        client, peer = (f"http://127.0.0.1:{self.port[name]}" for name in ("etcd", "peer"))
        self.start("etcd", [
            f"{self.bin}/etcd", "--data-dir", self.path("etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}", "--unsafe-no-fsync"])
        key = self.path("accounts.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        tokens = self.write("tokens.csv", "".join([
            f'{ADMIN},admin,1,"system:masters"\n', f"{WAITER},waiter,2\n", f"{READER},reader,3\n", f"{STRANGER},stranger,4\n"]))
        self.start("kube-apiserver", [
            f"{self.bin}/kube-apiserver", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={self.port['kube']}",
            f"--cert-dir={self.path('certs')}", f"--etcd-servers={client}", "--service-cluster-ip-range=10.0.0.0/24",
            "--service-account-issuer=https://localhost", f"--service-account-signing-key-file={key}",
            f"--service-account-key-file={key}", f"--token-auth-file={tokens}", "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount", "--allow-privileged=true", "--endpoint-reconciler-type=none"])
        until("kube-apiserver", 90, lambda: self.kube().ask("GET", "/readyz") == "ok")
        self.start("kube-controller-manager", [
            f"{self.bin}/kube-controller-manager", f"--kubeconfig={self.kubeconfig(ADMIN)}", "--leader-elect=false",
            "--bind-address=127.0.0.1", f"--secure-port={self.port['manager']}", f"--cert-dir={self.path('certs')}",
            f"--service-account-private-key-file={key}",
            "--controllers=deployment-controller,replicaset-controller,namespace-controller,garbage-collector-controller,"
            "disruption-controller,job-controller,cronjob-controller,serviceaccount-controller"])
        kube = self.kube()
        kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for name in sorted(os.listdir(self.crds)):
            with open(os.path.join(self.crds, name), "rb") as file:
                kube.ask("POST", kinds, file.read(), "application/yaml")
        kube.make(kinds, DATABASES)
        until("Applications", 30, lambda: kube.find("/apis/argoproj.io/v1alpha1/applications"))
        until("AppProjects", 30, lambda: kube.find("/apis/argoproj.io/v1alpha1/appprojects"))
        for name in (ARGOCD, "lattice"):
            kube.make("/api/v1/namespaces", {"metadata": {"name": name}})
        self.allow(kube)
        Hands(kube).start()

    def allow(self, kube):
        """What docs/argo-cd.md says an account needs, and an account that may only read."""
        read = ["get", "list", "watch"]
        rules = {
            "waiter": [(["argoproj.io"], ["applications"], [*read, "patch"]), (["argoproj.io"], ["applicationsets", "appprojects"], read),
                       (["", "apps", "policy", "batch", "postgresql.cnpg.io"], ["*"], ["get"])],
            "reader": [(["argoproj.io"], ["applications"], ["get", "list"])],
        }
        access = "/apis/rbac.authorization.k8s.io/v1"
        for name, lines in rules.items():
            kube.make(f"{access}/clusterroles", {"metadata": {"name": name}, "rules": [
                {"apiGroups": groups, "resources": kinds, "verbs": verbs} for groups, kinds, verbs in lines]})
            kube.make(f"{access}/clusterrolebindings", {
                "metadata": {"name": name}, "subjects": [{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}],
                "roleRef": {"kind": "ClusterRole", "name": name, "apiGroup": "rbac.authorization.k8s.io"}})

    def start_argocd(self):
        kube, labels = self.kube(), {"app.kubernetes.io/part-of": "argocd"}
        settings = {
            "argocd-cm": {"accounts.overlay": "apiKey", "admin.enabled": "true", "timeout.reconciliation": "120s"},
            "argocd-rbac-cm": {"policy.csv": "p, role:waiter, applications, get, */*, allow\n"
                               "p, role:waiter, applications, sync, */*, allow\n"
                               "p, role:waiter, applicationsets, get, */*, allow\ng, overlay, role:waiter\n"},
            "argocd-ssh-known-hosts-cm": {}, "argocd-tls-certs-cm": {}, "argocd-gpg-keys-cm": {}, "argocd-cmd-params-cm": {},
        }
        for name, data in settings.items():
            kube.make(f"/api/v1/namespaces/{ARGOCD}/configmaps", {"metadata": {"name": name, "labels": labels}, "data": data})
        kube.make(f"/api/v1/namespaces/{ARGOCD}/secrets", {"metadata": {"name": "argocd-secret", "labels": labels}})
        kube.make(f"/apis/argoproj.io/v1alpha1/namespaces/{ARGOCD}/appprojects", {
            "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "team"},
            "spec": {"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}],
                     "clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}})
        port = {name: str(number) for name, number in self.port.items()}
        self.start("redis", ["redis-server", "--bind", "127.0.0.1", "--port", port["redis"], "--save", "", "--appendonly", "no"])
        common = {
            "KUBECONFIG": self.kubeconfig(ADMIN), "ARGOCD_FAKE_IN_CLUSTER": "true", "ARGOCD_GPG_ENABLED": "false",
            **{f"ARGOCD_{name}": self.path(name.lower()) for name in ("TLS_DATA_PATH", "SSH_DATA_PATH", "GPG_DATA_PATH", "GNUPGHOME", "PLUGINSOCKFILEPATH")}}
        for name in ("tls", "ssh", "gpg"):
            os.makedirs(self.path(f"{name}_data_path"), exist_ok=True)
        redis, repo = ["--redis", f"127.0.0.1:{port['redis']}"], f"127.0.0.1:{port['repo']}"

        def argocd(name, *args):
            return self.start(name, [f"{self.bin}/argocd", *args], ARGOCD_BINARY_NAME=f"argocd-{name}", **common)

        argocd("repo-server", "--address", "127.0.0.1", "--port", port["repo"], "--metrics-address", "127.0.0.1",
               "--metrics-port", port["repo-metrics"], "--disable-tls", "--client-ca-path=", *redis)
        argocd("commit-server", "--address", "127.0.0.1", "--port", port["commit"], "--metrics-address", "127.0.0.1",
               "--metrics-port", port["commit-metrics"])
        argocd("server", "--insecure", "--address", "127.0.0.1", "--port", port["server"], "--metrics-port", port["server-metrics"],
               "--repo-server", repo, "--repo-server-plaintext", "--namespace", ARGOCD, "--hydrator-enabled", *redis)
        until("Argo CD's server", 90, lambda: self.ask("GET", "/api/version"))
        argocd("applicationset-controller", "--argocd-repo-server", repo, "--repo-server-plaintext", "--namespace", ARGOCD,
               "--enable-progressive-syncs", "--metrics-addr", f"127.0.0.1:{port['sets-metrics']}",
               "--probe-addr", f"127.0.0.1:{port['sets-probe']}", "--webhook-addr", f"127.0.0.1:{port['sets']}")
        self.controller = argocd("application-controller", "--repo-server", repo, "--repo-server-plaintext", "--namespace", ARGOCD,
               "--metrics-port", port["controller-metrics"], "--app-resync-jitter", "0", "--hydrator-enabled",
               "--commit-server", f"127.0.0.1:{port['commit']}", *redis)
        self.token = until("a token", 60, self.make_token)

    def ask(self, method, path, body=None, token=None):
        """Argo CD's API."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port['server']}{path}", None if body is None else json.dumps(body).encode(), method=method,
            headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def make_token(self):
        """A token of the account `overlay`, made by the first administrator."""
        secret = self.kube().find(f"/api/v1/namespaces/{ARGOCD}/secrets/argocd-initial-admin-secret")
        password = base64.b64decode(secret["data"]["password"]).decode()
        session = self.ask("POST", "/api/v1/session", {"username": "admin", "password": password})["token"]
        return self.ask("POST", "/api/v1/account/overlay/token", {"name": "overlay"}, session)["token"]


if __name__ == "__main__":
    sys.exit("used by tools/argocd_stories.py")
