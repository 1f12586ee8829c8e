#!/usr/bin/env python3
"""Set replicas, strategies and instances over a corpus, and let a kustomize that is not ours and git judge.

usage: edit_corpus.py BINARY CORPUS [--mode replicas|strategy|instances|all] [--only TEXT] [--sample N] [--jobs N] [--show]

CORPUS is as `corpus_judge.py` says. For every Deployment, StatefulSet and CloudNativePG Cluster of every overlay
(of N overlays drawn with a fixed seed, with --sample) one edit is made on a clean copy of its repository:

  replicas   the number becomes one more (Deployment, StatefulSet)
  strategy   maxSurge becomes 30%, maxUnavailable 10% (Deployment; from Recreate the type moves too)
  instances  the number becomes one more (Cluster; `enablePDB: false` becomes true with it)

An edit is *exact* when the judge's render differs in these fields of this object alone (a null list is an
empty one), git shows changes in files of the overlay's own directory alone, and a second run changes
nothing. It is *refused* when the program says no and touches nothing. Anything else is *wrong*. Exit 1 if
anything is wrong or fewer than 97 % are exact.
"""
import os

from corpus_judge import attempt, copy, documents, expected, flat, git, judge_all, parser, render

SCALED = {("apps", "Deployment"), ("apps", "StatefulSet")}


def group(doc):
    return str(doc.get("apiVersion", "")).rpartition("/")[0]


def is_cluster(doc):
    return group(doc) == "postgresql.cnpg.io" and doc.get("kind") == "Cluster"


def spec(doc):
    return doc.get("spec") or {}


def number(doc, field, default):
    value = spec(doc).get(field, default)
    return value if isinstance(value, int) else default


def edits(doc, modes):
    """Each edit of an object: mode, arguments behind the overlay, and the fields that may change."""
    name = doc["kind"] + ("." + group(doc) if group(doc) else "") + "/" + doc["metadata"]["name"]
    if "replicas" in modes and (group(doc), doc["kind"]) in SCALED:
        count = number(doc, "replicas", 1) + 1
        flags = ["--turn-on", "--allow-unpinned", "--override-owner"]
        yield "replicas", ["set", "replicas"], [f"{name}={count}", *flags], {("spec", "replicas"): count}
    if "strategy" in modes and (group(doc), doc["kind"]) == ("apps", "Deployment"):
        rolling = ("spec", "strategy", "rollingUpdate")
        wanted = {(*rolling, "maxSurge"): "30%", (*rolling, "maxUnavailable"): "10%"}
        if ((spec(doc).get("strategy") or {}).get("type") or "RollingUpdate") != "RollingUpdate":
            wanted["spec", "strategy", "type"] = "RollingUpdate"
        arguments = [name, "--max-surge", "30%", "--max-unavailable", "10%"]
        yield "strategy", ["set", "strategy"], arguments, wanted
    if "instances" in modes and is_cluster(doc):
        count = number(doc, "instances", 1) + 1
        wanted = {("spec", "instances"): count}
        if spec(doc).get("enablePDB") is False:
            wanted["spec", "enablePDB"] = True
        yield "instances", ["set", "instances"], [f"{name}={count}"], wanted


def identity(doc):
    metadata = doc.get("metadata") or {}
    return doc.get("apiVersion"), doc.get("kind"), metadata.get("namespace"), metadata.get("name")


def effect_faults(before, after, wanted_id, wanted):
    if after is None:
        return ["no longer builds"]
    olds, news = ({identity(doc): doc for doc in docs if isinstance(doc, dict)} for docs in (before, after))
    if olds.keys() != news.keys():
        return [f"other objects: {sorted(map(str, olds.keys() ^ news.keys()))[:3]}"]
    faults = []
    for key, old in olds.items():
        a, b = flat(old), flat(news[key])
        if key == wanted_id:
            a = {**a, **wanted}
            a = {path: value for path, value in a.items() if value not in ({}, None)}
            b = {path: value for path, value in b.items() if value not in ({}, None)}
        for path in a.keys() | b.keys():
            if a.get(path) != b.get(path) or type(a.get(path)) is not type(b.get(path)):
                faults.append(f"{key[1]}/{key[3]} {'.'.join(map(str, path))}: {a.get(path)!r} became {b.get(path)!r}")
    return faults


def edit(binary, tree, overlay, before, doc, command, arguments, wanted):
    own = os.path.normpath(overlay)

    def faults():
        found = effect_faults(before, render(tree, overlay), identity(doc), wanted)
        return found + [f"touches {path}" for path in git(tree, "diff", "--name-only").splitlines()
                        if own != "." and not path.startswith(own + "/")]

    return attempt(binary, tree, [*command, overlay, *arguments], faults)


def overlay_results(binary, corpus, overlay, modes):
    docs = [doc for doc in documents(expected(corpus, overlay)) if doc.get("metadata")]
    wanted = [(doc, *change) for doc in docs for change in edits(doc, modes)]
    if not wanted:
        return []
    with copy(corpus, overlay) as (tree, inside):
        before = render(tree, inside)
        results = []
        for doc, mode, command, arguments, fields in wanted:
            what = f"{mode} {doc['kind']}/{doc['metadata']['name']}"
            verdict = ("skipped", "the judge does not build it", "")
            if before is not None:
                verdict = edit(binary, tree, inside, before, doc, command, arguments, fields)
            results.append((overlay, what, *verdict))
        return results


def main():
    options = parser(__doc__)
    options.add_argument("--mode", default="all", choices=["replicas", "strategy", "instances", "all"])
    args = options.parse_args()
    modes = ["replicas", "strategy", "instances"] if args.mode == "all" else [args.mode]
    judge_all(args, lambda overlay: overlay_results(args.binary, args.corpus, overlay, modes), least=97)


if __name__ == "__main__":
    main()
