#!/usr/bin/env python3
"""Write a git repository with N overlays over one base, and a second commit that changes the base.

usage: tools/make_fleet.py DIRECTORY N          (needs git)

Each overlay has a namespace, labels, a patch, a generated config map and an `images:` entry without a digest. The
second commit moves an image of the base, one replica count of every tenth overlay, and one generated setting of
every hundredth.
"""
import os, subprocess, sys

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
        - name: {name}
          image: registry.example/{name}:1.0
          ports: [{{name: http, containerPort: 8080}}]
          envFrom: [{{configMapRef: {{name: settings}}}}]
          readinessProbe: {{httpGet: {{path: /readyz, port: http}}}}
          resources:
            requests: {{cpu: 50m, memory: 128Mi}}
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector: {{app: {name}}}
  ports: [{{name: http, port: 80, targetPort: http}}]
"""

OVERLAY = """apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: tenant-{n}
resources:
  - ../../base
labels:
  - pairs: {{tenant: "{n}"}}
patches:
  - path: replicas.yaml
configMapGenerator:
  - name: settings
    behavior: merge
    literals: [TENANT={n}]
images:
  - name: registry.example/web   # the front
    newTag: "1.1"
"""

REPLICAS = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {count}
"""

SERVICES = ["web", "api", "worker", "cache"]


def write(top, path, text):
    path = os.path.join(top, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def base(top, tag):
    for name in SERVICES:
        text = DEPLOYMENT.format(name=name)
        write(top, f"base/{name}.yaml", text.replace("/api:1.0", f"/api:{tag}"))
    listed = "".join(f"  - {name}.yaml\n" for name in SERVICES)
    settings = "configMapGenerator:\n  - name: settings\n    literals: [LEVEL=info, REGION=north]\n"
    write(top, "base/kustomization.yaml", f"resources:\n{listed}{settings}")


def overlay(top, n, count, setting):
    write(top, f"overlays/t{n:05}/kustomization.yaml", OVERLAY.format(n=n).replace(f"TENANT={n}", f"TENANT={setting}"))
    write(top, f"overlays/t{n:05}/replicas.yaml", REPLICAS.format(count=count))


def commit(top, message):
    identity = ["-c", "user.name=Fleet", "-c", "user.email=fleet@example.test", "-c", "gc.auto=0"]
    subprocess.run(["git", "-C", top, "add", "-A"], check=True)
    subprocess.run(["git", "-C", top, *identity, "commit", "-q", "-m", message], check=True)


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    top, count = sys.argv[1], int(sys.argv[2])
    os.makedirs(top)
    subprocess.run(["git", "init", "-q", "-b", "main", top], check=True)
    base(top, "1.0")
    for n in range(count):
        overlay(top, n, 3, n)
    commit(top, "start")
    base(top, "1.1")
    for n in range(count):
        overlay(top, n, 4 if n % 10 == 0 else 3, f"{n}x" if n % 100 == 0 else n)
    commit(top, "a change of the base and of some overlays")


main()
