#!/bin/sh
# Builds a real Argo CD, and the Kubernetes API server it needs, from their Go modules into the folder given:
# then `tools/argocd_stories.py FOLDER OVERLAY` starts them on loopback and runs `overlay wait` against them.
# Needs Go 1.26; takes some twenty minutes of two cores and 4 GB of the build cache. No part of CI.
set -eu
folder=$1
argocd=v3.5.7
# The engine is a module of its own that has no versions: the commit nearest to that release that the proxy has.
engine=v0.0.0-20260914071520-c9c369efcc5b
kubernetes=v1.36.3
etcd=v3.6.16
export CGO_ENABLED=0 GOFLAGS="-mod=mod ${GOFLAGS:-}"
mkdir -p "$folder/bin"
folder=$(cd "$folder" && pwd)

# module NAME PACKAGE...: a module that imports these packages, with the lines of standard input in its go.mod
module() {
  name=$1
  shift
  mkdir -p "$folder/$name"
  cd "$folder/$name"
  { printf 'module scratch.test/%s\n\ngo 1.26.0\n\n' "$name"; cat; } > go.mod
  { printf '//go:build tools\n\npackage %s\n\nimport (\n' "$name"; printf '\t_ "%s"\n' "$@"; echo ')'; } > tools.go
  go mod tidy -e
}

# program MODULE NAME PACKAGE LDFLAGS: a program of that module, in bin. (`module` ends a pipeline, so that its `cd` is lost.)
program() {
  (cd "$folder/$1" && go build -ldflags "-s -w $4" -o "$folder/bin/$2" "$3")
}

# file_of MODULE@VERSION: its go.mod
file_of() {
  go mod download -json "$1" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p'
}

# Within its own repository Kubernetes takes its libraries from a folder; published they have its version with 0 in front.
{
  echo "require k8s.io/kubernetes $kubernetes"
  sed -n "s|^\t\(k8s.io/[a-z0-9-]*\) => ./staging/.*|replace \1 => \1 v0.${kubernetes#v1.}|p" "$(file_of "k8s.io/kubernetes@$kubernetes")"
} | module kube k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
minor=${kubernetes#v1.}
version=k8s.io/component-base/version
stamp="-X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}"
for name in kube-apiserver kube-controller-manager; do
  program kube "$name" "k8s.io/kubernetes/cmd/$name" "$stamp"
done

echo "require go.etcd.io/etcd/server/v3 $etcd" | module etcd go.etcd.io/etcd/server/v3
program etcd etcd go.etcd.io/etcd/server/v3 ""

{
  echo "require github.com/argoproj/argo-cd/v3 $argocd"
  sed -n '/^replace (/,/^)/p' "$(file_of "github.com/argoproj/argo-cd/v3@$argocd")"
  echo "replace github.com/argoproj/argo-cd/gitops-engine => github.com/argoproj/argo-cd/gitops-engine $engine"
} | module argo github.com/argoproj/argo-cd/v3/cmd
program argo argocd github.com/argoproj/argo-cd/v3/cmd "-X github.com/argoproj/argo-cd/v3/common.version=${argocd#v}"
source=$(cd "$folder/argo" && go list -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v3)
mkdir -p "$folder/crds"
cp "$source"/manifests/crds/*-crd.yaml "$folder/crds"
# The repository server calls it for each commit, verified or not.
install -m 755 "$source/hack/git-verify-wrapper.sh" "$folder/bin"
chmod u+w "$folder/crds"/*
