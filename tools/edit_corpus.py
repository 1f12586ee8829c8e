#!/usr/bin/env python3
"""Set replicas, strategies and instances over a corpus, and let a kustomize that is not ours and git judge.

usage: edit_corpus.py BINARY CORPUS [--mode replicas|strategy|instances|all] [--only TEXT] [--sample N] [--jobs N] [--show]

CORPUS is that of pin_corpus.py. For every Deployment, StatefulSet and CloudNativePG Cluster of every overlay
(of N overlays drawn with a fixed seed, with --sample) one edit is made on a clean copy of its repository:

  replicas   the number becomes one more (Deployment, StatefulSet)
  strategy   maxSurge becomes 30%, maxUnavailable 10% (Deployment; from Recreate the type moves too)
  instances  the number becomes one more (Cluster; `enablePDB: false` becomes true with it)

An edit is *exact* when the judge's render differs in these fields of this object alone (a null list is an
empty one), git shows changes in files of the overlay's own directory alone, and a second run changes
nothing. It is *refused* when the program says no and touches nothing. Anything else is *wrong*. Exit 1 if
anything is wrong or fewer than 97 % are exact.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import yaml

from pin_corpus import ENV, Loader, documents, flat, git, render

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


def run(binary, tree, command, overlay, arguments):
    done = subprocess.run([binary, *command, overlay, *arguments, "-o", "json"],
                          cwd=tree, env=ENV, capture_output=True, text=True, timeout=600)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, None


def attempt(binary, tree, overlay, before, doc, command, arguments, wanted):
    """One call on a clean tree: `exact`, (`refused`, code, message) or (`wrong`, why)."""
    status, report = run(binary, tree, command, overlay, arguments)
    try:
        if report is None or status not in (0, 3, 4):
            return "wrong", f"exit {status}", json.dumps((report or {}).get("error"))
        if status != 0:
            touched = git(tree, "status", "--porcelain")
            if touched:
                return "wrong", "refused and touched", touched
            return "refused", report["error"]["code"], report["error"]["message"]
        faults = effect_faults(before, render(tree, overlay), identity(doc), wanted)
        own = os.path.normpath(overlay)
        faults += [f"touches {path}" for path in git(tree, "diff", "--name-only").splitlines()
                   if own != "." and not path.startswith(own + "/")]
        if not faults:
            status, again = run(binary, tree, command, overlay, arguments)
            if status != 0 or again is None or again["changed"]:
                faults = ["a second run is not unchanged"]
        return ("wrong", "effect", "; ".join(faults)[:400]) if faults else ("exact", "", "")
    finally:
        git(tree, "reset", "-q", "--hard")
        git(tree, "clean", "-fdq")


def overlay_results(binary, corpus, overlay, modes):
    with open(os.path.join(corpus, "expected", overlay + ".yaml"), encoding="utf-8") as file:
        docs = [doc for doc in documents(list(yaml.load_all(file, Loader=Loader))) if doc.get("metadata")]
    wanted = [(doc, *edit) for doc in docs for edit in edits(doc, modes)]
    if not wanted:
        return []
    repository, _, inside = overlay.partition("/")
    inside = inside or "."
    top = tempfile.mkdtemp(prefix="edit-corpus-")
    try:
        tree = os.path.join(os.path.realpath(top), "tree")
        shutil.copytree(os.path.join(corpus, repository), tree, symlinks=True)
        subprocess.run(["chmod", "-R", "u+w", tree], check=True)
        git(tree, "init", "-q", "-b", "main", ".")
        git(tree, "add", "-A", "-f")
        git(tree, "commit", "-q", "-m", "start")
        before = render(tree, inside)
        results = []
        for doc, mode, command, arguments, fields in wanted:
            what = f"{mode} {doc['kind']}/{doc['metadata']['name']}"
            if before is None:
                results.append((overlay, what, "skipped", "the judge does not build it", ""))
                continue
            verdict = attempt(binary, tree, inside, before, doc, command, arguments, fields)
            results.append((overlay, what, *verdict))
        return results
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("corpus")
    parser.add_argument("--mode", default="all", choices=["replicas", "strategy", "instances", "all"])
    parser.add_argument("--only", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    modes = ["replicas", "strategy", "instances"] if args.mode == "all" else [args.mode]
    binary = os.path.abspath(args.binary)
    with open(os.path.join(args.corpus, "expected.tsv"), encoding="utf-8") as file:
        overlays = [line.split("\t")[0] for line in file.read().splitlines()[1:]]
    overlays = [overlay for overlay in overlays if args.only in overlay]
    if args.sample and args.sample < len(overlays):
        overlays = random.Random(7).sample(overlays, args.sample)
    counts, kinds = collections.Counter(), collections.Counter()
    with_edits = 0
    judge_one = lambda overlay: overlay_results(binary, args.corpus, overlay, modes)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for results in pool.map(judge_one, overlays):
            with_edits += bool(results)
            for overlay, what, verdict, kind, message in results:
                counts[verdict] += 1
                kinds[what.split()[0], verdict, kind] += 1
                if verdict != "exact" and (args.show or verdict == "wrong"):
                    print(f"{verdict}: {overlay}: {what}: {kind}: {message}", flush=True)
    judged = counts["exact"] + counts["refused"] + counts["wrong"]
    share = 100 * counts["exact"] / judged if judged else 0
    print(f"{with_edits} overlays, {judged} edits: exact {counts['exact']} ({share:.1f} %), "
          f"refused {counts['refused']}, wrong {counts['wrong']}, skipped {counts['skipped']}")
    for (mode, verdict, kind), count in sorted(kinds.items()):
        print(f"  {mode}: {verdict} {kind}: {count}")
    sys.exit(1 if counts["wrong"] or share < 97 else 0)


if __name__ == "__main__":
    main()
