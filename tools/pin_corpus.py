#!/usr/bin/env python3
"""Pin every image of every overlay of a corpus, and let a kustomize that is not ours and git judge.

usage: pin_corpus.py BINARY CORPUS [--only TEXT] [--jobs N] [--show]

CORPUS holds `expected.tsv` (overlay, then anything) and `expected/OVERLAY.yaml`, what the overlay renders;
the overlays stand below CORPUS at the paths named. Names are taken from the expected renders. Each overlay
is copied with its repository, committed, and pinned in one call; where that is refused, image by image.

An image is *exact* when every place that names it renders its digest, nothing else of the render differs
(a null list is an empty one), and git shows changes in lines of images alone, in files of the overlay's own
directory, and a second run changes nothing. It is *refused* when the program says no and touches nothing.
Anything else is *wrong*. Exit 1 if anything is wrong or fewer than 98 % are exact.

Needs git, PyYAML, and kustomize or kubectl (KUSTOMIZE names another).
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml


class Loader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """Timestamps stay text, as in what kustomize prints."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for key, resolvers in Loader.yaml_implicit_resolvers.items()
}
Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)

ENV = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", NO_COLOR="1",
           GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.test",
           GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.test")
IMAGE_LINE = re.compile(r"^[+-]\s*(-\s*)?(\{.*(name|digest).*\}|images:.*|(name|newName|newTag|digest):.*)\s*$")


def judge():
    named = os.environ.get("KUSTOMIZE")
    for program in filter(None, (named, "kustomize", "kubectl")):
        if shutil.which(program):
            return [program, "kustomize"] if "kubectl" in os.path.basename(program) else [program, "build"]
    sys.exit("neither kustomize nor kubectl is on PATH")


def git(tree, *args):
    return subprocess.run(["git", *args], cwd=tree, env=ENV, check=True, capture_output=True, text=True).stdout


def render(tree, overlay):
    run = subprocess.run(judge() + [os.path.join(tree, overlay)], env=ENV, capture_output=True, text=True)
    return list(yaml.load_all(run.stdout, Loader=Loader)) if run.returncode == 0 else None


def split(reference):
    """Name, tag and digest, as kustomize divides them."""
    at = reference.find("/") if "/" in reference else 0
    name = re.split(r"[:@]", reference[at:], maxsplit=1)[0]
    rest = reference[at + len(name):]
    digest = rest.split("@", 1)[1] if "@" in rest else ""
    return reference[:at] + name, rest.split("@", 1)[0].lstrip(":"), digest


def places(value, path=()):
    """Every place of a container's image, with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("containers", "initContainers") and isinstance(inner, list):
                for index, item in enumerate(inner):
                    if isinstance(item, dict) and isinstance(item.get("image"), str) and item["image"]:
                        yield path + (key, index, "image"), item["image"]
            yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, path + (index,))


def documents(docs):
    return [doc for doc in docs or [] if isinstance(doc, dict) and doc.get("kind") != "CustomResourceDefinition"]


def names_of(docs):
    return sorted({split(image)[0] for doc in documents(docs) for _, image in places(doc)})


def digest_of(overlay, name):
    return "sha256:" + hashlib.sha256(f"{overlay} {name}".encode()).hexdigest()


def flat(value, path=(), out=None):
    out = {} if out is None else out
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            flat(inner, path + (key,), out)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            flat(inner, path + (index,), out)
    elif value not in (None, []):
        out[path] = value
    return out


def effect_faults(before, after, wanted):
    """What differs from: each image named has its digest, and all else is as before."""
    if after is None:
        return ["no longer builds"]
    if len(before) != len(after):
        return [f"{len(before)} documents became {len(after)}"]
    faults = []
    for old, new in zip(before, after):
        images = {path: image for path, image in places(old)} if old in documents([old]) else {}
        a, b = flat(old), flat(new)
        for path in a.keys() | b.keys():
            reference = images.get(path)
            name, tag, _ = split(reference) if reference else ("", "", "")
            if name in wanted:
                new_name, new_tag, digest = split(b.get(path, ""))
                if (new_name, digest) != (name, wanted[name]) or new_tag not in ("", tag):
                    faults.append(f"{reference} became {b.get(path)}")
            elif a.get(path) != b.get(path):
                faults.append(f"{'.'.join(map(str, path))}: {a.get(path)!r} became {b.get(path)!r}")
    return faults


def diff_faults(tree, overlay):
    faults = [f"touches {path}" for path in git(tree, "diff", "--name-only").splitlines()
              if os.path.dirname(path) != overlay]
    lines = [line for line in git(tree, "diff", "-U0").splitlines()
             if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    # A last line without a newline shows as changed when lines follow it.
    kept = {line[1:] for line in lines if line[0] == "-"} & {line[1:] for line in lines if line[0] == "+"}
    lines = [line for line in lines if line[1:] not in kept]
    return faults + [f"line {line!r}" for line in lines if line[1:].strip() and not IMAGE_LINE.match(line)]


def pin(binary, tree, overlay, pins):
    run = subprocess.run([binary, "pin", overlay, "--digests", json.dumps(pins), "-o", "json"],
                         cwd=tree, env=ENV, capture_output=True, text=True, timeout=300)
    try:
        return run.returncode, json.loads(run.stdout)
    except ValueError:
        return run.returncode, None


def attempt(binary, tree, overlay, pins, before):
    """One call on a clean tree: `exact`, (`refused`, code, message) or (`wrong`, why)."""
    status, report = pin(binary, tree, overlay, pins)
    try:
        if report is None or status not in (0, 3, 4):
            return "wrong", f"exit {status}", json.dumps((report or {}).get("error"))
        if status != 0:
            touched = git(tree, "status", "--porcelain")
            if touched:
                return "wrong", "refused and touched", touched
            return "refused", report["error"]["code"], report["error"]["message"]
        faults = effect_faults(before, render(tree, overlay), pins) + diff_faults(tree, overlay)
        if not faults:
            status, again = pin(binary, tree, overlay, pins)
            if status != 0 or again is None or again["changed"]:
                faults = ["a second run is not unchanged"]
        return ("wrong", "effect", "; ".join(faults)[:400]) if faults else ("exact", "", "")
    finally:
        git(tree, "reset", "-q", "--hard")
        git(tree, "clean", "-fdq")


def overlay_results(binary, corpus, overlay):
    with open(os.path.join(corpus, "expected", overlay + ".yaml"), encoding="utf-8") as file:
        names = names_of(yaml.load_all(file, Loader=Loader))
    if not names:
        return []
    repository, _, inside = overlay.partition("/")
    top = tempfile.mkdtemp(prefix="pin-corpus-")
    try:
        tree = os.path.join(os.path.realpath(top), "tree")
        shutil.copytree(os.path.join(corpus, repository), tree, symlinks=True)
        subprocess.run(["chmod", "-R", "u+w", tree], check=True)
        git(tree, "init", "-q", "-b", "main", ".")
        git(tree, "add", "-A", "-f")
        git(tree, "commit", "-q", "-m", "start")
        before = render(tree, inside)
        if before is None:
            return [(overlay, name, "skipped", "the judge does not build it", "") for name in names]
        pins = {name: digest_of(overlay, name) for name in names}
        outcome = attempt(binary, tree, inside, pins, before)
        if outcome[0] != "refused" or len(names) == 1:
            return [(overlay, name, *outcome) for name in names]
        return [(overlay, name, *attempt(binary, tree, inside, {name: pins[name]}, before)) for name in names]
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("corpus")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with open(os.path.join(args.corpus, "expected.tsv"), encoding="utf-8") as file:
        overlays = [line.split("\t")[0] for line in file.read().splitlines()[1:]]
    overlays = [overlay for overlay in overlays if args.only in overlay]
    counts, kinds = collections.Counter(), collections.Counter()
    with_images = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for results in pool.map(lambda overlay: overlay_results(binary, args.corpus, overlay), overlays):
            with_images += bool(results)
            for overlay, name, verdict, kind, message in results:
                counts[verdict] += 1
                kinds[verdict, kind] += verdict != "exact"
                if verdict != "exact" and (args.show or verdict == "wrong"):
                    print(f"{verdict}: {overlay}: {name}: {kind}: {message}")
    judged = counts["exact"] + counts["refused"] + counts["wrong"]
    share = 100 * counts["exact"] / judged if judged else 0
    print(f"{with_images} overlays with images, {judged} images: exact {counts['exact']} ({share:.1f} %), "
          f"refused {counts['refused']}, wrong {counts['wrong']}, skipped {counts['skipped']}")
    for (verdict, kind), count in sorted(kinds.items()):
        if count:
            print(f"  {verdict} {kind}: {count}")
    sys.exit(1 if counts["wrong"] or share < 98 else 0)


if __name__ == "__main__":
    main()
