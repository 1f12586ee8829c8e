#!/usr/bin/env python3
"""Write an overlay whose render has N Deployments, each with a Service and a ConfigMap (about 3.3 KB for each N).

usage: tools/make_large.py DIRECTORY N
"""
import os, sys

TRIPLE = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-{n}
  labels: {{app: service-{n}}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: service-{n}}}
  template:
    metadata:
      labels: {{app: service-{n}}}
      annotations:
        note: "a longer text that nobody folds: {pad}"
    spec:
      containers:
        - name: main
          image: registry.example/service-{n}:1.0.{n}
          ports: [{{name: http, containerPort: 8080}}]
          envFrom: [{{configMapRef: {{name: settings-{n}}}}}]
          env:
{env}
          readinessProbe: {{httpGet: {{path: /readyz, port: http}}}}
          resources:
            requests: {{cpu: 50m, memory: 128Mi}}
---
apiVersion: v1
kind: Service
metadata:
  name: service-{n}
spec:
  selector: {{app: service-{n}}}
  ports: [{{name: http, port: 80, targetPort: http}}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings-{n}
data:
  settings.toml: |
{toml}
"""


def main():
    directory, count = sys.argv[1], int(sys.argv[2])
    os.makedirs(directory, exist_ok=True)
    env = "\n".join(f'            - {{name: SETTING_{i}, value: "{i * 7}"}}' for i in range(12))
    toml = "\n".join(f'    key_{i} = "value number {i} of a settings file"' for i in range(24))
    with open(os.path.join(directory, "all.yaml"), "w") as out:
        out.write("---\n".join(TRIPLE.format(n=n, env=env, toml=toml, pad="x" * 100) for n in range(count)))
    with open(os.path.join(directory, "kustomization.yaml"), "w") as out:
        out.write(
            "resources: [all.yaml]\nnamespace: large\nlabels:\n- pairs: {part-of: large}\n  includeSelectors: true\n"
            "images:\n- name: registry.example/service-7\n  digest: sha256:" + "a" * 64 + "\n"
            "replicas:\n- name: service-9\n  count: 3\n"
        )


main()
