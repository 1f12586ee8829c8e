#!/usr/bin/env python3
"""Measure how long the digests of N images take: `overlay pin --resolve` beside loops over skopeo, against a registry on loopback.

usage: tools/bench_registry.py OVERLAY [N]          (N is 200; needs docker-registry, skopeo, git)

OVERLAY is the program. The registry is Debian's docker-registry (distribution), started here with an empty folder and
filled with N small images. Every digest of ours is compared with skopeo's. The table gives the best of three runs (the
loop one after the other: one run), with the requests that the registry has seen in one.
"""
import concurrent.futures, hashlib, json, os, pathlib, resource, socket, subprocess, sys, tempfile, time, urllib.request

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
REGISTRY = """version: 0.1
log: {{accesslog: {{disabled: false}}, level: error}}
storage: {{filesystem: {{rootdirectory: {root}/data}}}}
http: {{addr: 127.0.0.1:{port}}}
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}}}\nspec: {{containers: [{{name: c, image: \"{host}/{name}:1\"}}]}}\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def send(method, url, data=None, kind="application/octet-stream"):
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": kind})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers


def push(host, name):
    """One image without layers; its digest."""
    config = json.dumps({"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []},
                         "config": {"Labels": {"name": name}}}).encode()
    place = send("POST", f"http://{host}/v2/{name}/blobs/uploads/", b"")["Location"]
    send("PUT", f"{place}{'&' if '?' in place else '?'}digest={sha256(config)}", config)
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "layers": [],
                           "config": {"mediaType": CONFIG, "digest": sha256(config), "size": len(config)}}).encode()
    send("PUT", f"http://{host}/v2/{name}/manifests/1", manifest, MANIFEST)
    return sha256(manifest)


class Registry:
    def __init__(self, root):
        self.log = root / "access"
        port = free_port()
        self.host = f"127.0.0.1:{port}"
        (root / "registry.yml").write_text(REGISTRY.format(root=root, port=port))
        self.process = subprocess.Popen(["docker-registry", "serve", root / "registry.yml"],
                                        stdout=self.log.open("w"), stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("docker-registry does not start")

    def requests(self):
        return sum(" /v2/" in line for line in self.log.read_text().splitlines())


def overlay_with(root, host, names):
    folder = root / "repo" / "overlay"
    folder.mkdir(parents=True)
    (folder / "kustomization.yaml").write_text("resources: [pods.yaml]\n")
    (folder / "pods.yaml").write_text("---\n".join(POD.format(i=i, host=host, name=name) for i, name in enumerate(names)))
    subprocess.run(["git", "init", "-q", root / "repo"], check=True)
    return folder


def skopeo(host, name):
    command = ["skopeo", "inspect", "--tls-verify=false", "--no-tags", "--format", "{{.Digest}}", f"docker://{host}/{name}:1"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def measured(registry, rounds, run):
    """Wall time and CPU time of the best round, requests of one, and what it gave."""
    best = None
    for _ in range(rounds):
        before, cpu, start = registry.requests(), resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        result = run()
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
        if best is None or wall < best[0]:
            best = (wall, used, registry.requests() - before, result)
    return best


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program, count = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        registry = Registry(root)
        try:
            names = [f"team/image-{i}" for i in range(count)]
            pushed = {name: push(registry.host, name) for name in names}
            folder = overlay_with(root, registry.host, names)

            def ours():
                command = [program, "pin", folder, "--resolve", "--dry-run", "-o", "json"]
                ran = subprocess.run(command, capture_output=True, text=True)
                if ran.returncode != 0:
                    sys.exit(ran.stderr)
                effect = json.loads(ran.stdout)["result"]["overlays"][0]["effect"]
                images = (change["after"] for change in effect)
                return {image.split("/", 1)[1].split(":")[0]: image.split("@")[1] for image in images}

            def parallel():
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    return dict(zip(names, pool.map(lambda name: skopeo(registry.host, name), names)))

            def one_by_one():
                return {name: skopeo(registry.host, name) for name in names}

            rows = [("`overlay pin --resolve`, proof by rendering included", *measured(registry, 3, ours)),
                    ("`skopeo inspect`, eight at a time", *measured(registry, 3, parallel)),
                    ("`skopeo inspect`, one after the other", *measured(registry, 1, one_by_one))]
        finally:
            registry.process.kill()
            registry.process.wait()
    print(f"| {count} images | on the clock | CPU time | requests |\n|---|---|---|---|")
    for name, wall, cpu, requests, digests in rows:
        if digests != pushed:
            sys.exit(f"{name}: other digests than were pushed")
        print(f"| {name} | {wall:.2f} s | {cpu:.2f} s | {requests} |")


main()
