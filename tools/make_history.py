#!/usr/bin/env python3
"""Makes the repository of the history benchmark: many commits over 50 overlays of one base.

    tools/make_history.py DIR [COMMITS]

Of every hundred commits one changes the base, two the pins of `overlays/o000`, one its replicas; the others change other
overlays or files that nothing renders. `git fast-import` writes them, so that ten thousand take seconds.
"""
import hashlib
import subprocess
import sys

OVERLAYS = 50


def digest(number):
    return "sha256:" + hashlib.sha256(str(number).encode()).hexdigest()


def base(number):
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  annotations: {{revision: "{number}"}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
        - name: web
          image: registry.example/web
"""


def overlay(number, replicas):
    return f"""resources:
  - ../../base
images:
  - name: registry.example/web
    digest: {digest(number)} # by the pipeline
replicas:
  - name: web
    count: {replicas}
"""


def commit(out, number, files):
    message = f"commit {number}\n".encode()
    when = 1_700_000_000 + number * 60
    out.write(b"commit refs/heads/main\n")
    out.write(f"author A <a@example.test> {when} +0000\ncommitter A <a@example.test> {when} +0000\n".encode())
    out.write(f"data {len(message)}\n".encode() + message)
    for path, text in files.items():
        data = text.encode()
        out.write(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")


def files_of(number):
    if number == 0:
        files = {f"overlays/o{at:03}/kustomization.yaml": overlay(at, 1) for at in range(OVERLAYS)}
        return files | {"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": base(0)}
    step = number % 100
    if step == 0:
        return {"base/web.yaml": base(number)}
    if step in (33, 66):
        return {"overlays/o000/kustomization.yaml": overlay(number, 1)}
    if step == 50:
        return {"overlays/o000/kustomization.yaml": overlay(number - 17, 1 + number // 100 % 5)}
    if step % 2:
        return {f"overlays/o{1 + number % (OVERLAYS - 1):03}/kustomization.yaml": overlay(number, 1)}
    return {f"notes/n{number % 97}.md": f"note {number}\n"}


def main():
    directory = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    subprocess.run(["git", "init", "-q", "-b", "main", directory], check=True)
    writer = subprocess.Popen(["git", "-C", directory, "fast-import", "--quiet"], stdin=subprocess.PIPE)
    for number in range(count):
        commit(writer.stdin, number, files_of(number))
    writer.stdin.close()
    if writer.wait() != 0:
        sys.exit("git fast-import failed")
    subprocess.run(["git", "-C", directory, "reset", "-q", "--hard"], check=True)


main()
