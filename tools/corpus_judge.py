"""What the scripts that edit a corpus share: clean copies of its repositories, one call of the program, and the judges,
a kustomize that is not ours and git.

A corpus holds `expected.tsv` (overlay, then anything) and `expected/OVERLAY.yaml`, what the overlay renders; the
overlays stand below it at the paths named, the first step of which is their repository.

An edit is *exact* when nothing speaks against what it left and a second run changes nothing. It is *refused* when the
program says no and touches nothing. Anything else is *wrong*.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import random
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


def kustomize():
    """The command of the judge, without the overlay; KUSTOMIZE names one."""
    named = os.environ.get("KUSTOMIZE")
    for program in filter(None, (named, "kustomize", "kubectl")):
        if shutil.which(program):
            return [program, "kustomize"] if "kubectl" in os.path.basename(program) else [program, "build"]
    sys.exit("neither kustomize nor kubectl is on PATH")


def git(tree, *args):
    return subprocess.run(["git", *args], cwd=tree, env=ENV, check=True, capture_output=True, text=True).stdout


def render(tree, overlay):
    """The documents that the judge renders; None where it does not build."""
    run = subprocess.run(kustomize() + [os.path.join(tree, overlay)], env=ENV, capture_output=True, text=True)
    return list(yaml.load_all(run.stdout, Loader=Loader)) if run.returncode == 0 else None


def documents(docs):
    return [doc for doc in docs or [] if isinstance(doc, dict) and doc.get("kind") != "CustomResourceDefinition"]


def expected(corpus, overlay):
    """What the corpus says that an overlay renders."""
    with open(os.path.join(corpus, "expected", overlay + ".yaml"), encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader=Loader))


def flat(value, path=(), out=None):
    """Every scalar by its path; a null list is an empty one."""
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


@contextlib.contextmanager
def copy(corpus, overlay):
    """The repository of an overlay, copied and committed, and the overlay's path in it."""
    repository, _, inside = overlay.partition("/")
    top = tempfile.mkdtemp(prefix="corpus-")
    try:
        tree = os.path.join(os.path.realpath(top), "tree")
        shutil.copytree(os.path.join(corpus, repository), tree, symlinks=True)
        subprocess.run(["chmod", "-R", "u+w", tree], check=True)
        git(tree, "init", "-q", "-b", "main", ".")
        git(tree, "add", "-A", "-f")
        git(tree, "commit", "-q", "-m", "start")
        yield tree, inside or "."
    finally:
        shutil.rmtree(top, ignore_errors=True)


def call(binary, tree, arguments):
    run = subprocess.run([binary, *arguments, "-o", "json"],
                         cwd=tree, env=ENV, capture_output=True, text=True, timeout=600)
    try:
        return run.returncode, json.loads(run.stdout)
    except ValueError:
        return run.returncode, None


def attempt(binary, tree, arguments, faults):
    """One call on a clean tree, `faults` being what speaks against what it left: `exact`, (`refused`, code, message) or
    (`wrong`, why)."""
    status, report = call(binary, tree, arguments)
    try:
        if report is None or status not in (0, 3, 4):
            return "wrong", f"exit {status}", json.dumps((report or {}).get("error"))
        if status != 0:
            touched = git(tree, "status", "--porcelain")
            if touched:
                return "wrong", "refused and touched", touched
            return "refused", report["error"]["code"], report["error"]["message"]
        found = faults()
        if not found:
            status, again = call(binary, tree, arguments)
            if status != 0 or again is None or again["changed"]:
                found = ["a second run is not unchanged"]
        return ("wrong", "effect", "; ".join(found)[:400]) if found else ("exact", "", "")
    finally:
        git(tree, "reset", "-q", "--hard")
        git(tree, "clean", "-fdq")


def parser(usage):
    made = argparse.ArgumentParser(description=usage.splitlines()[0])
    made.add_argument("binary", type=os.path.abspath)
    made.add_argument("corpus")
    made.add_argument("--only", default="", help="overlays whose path holds this")
    made.add_argument("--sample", type=int, help="so many of them, drawn with a fixed seed")
    made.add_argument("--jobs", type=int, default=1)
    made.add_argument("--show", action="store_true", help="print refusals too")
    return made


def judge_all(args, results_of, least):
    """Judges every overlay of the corpus by `results_of`, which gives (overlay, what, verdict, kind, message) for each
    edit, the first word of `what` being its sort; exits with 1 where an edit is wrong or fewer than `least` percent are exact."""
    with open(os.path.join(args.corpus, "expected.tsv"), encoding="utf-8") as file:
        overlays = [line.split("\t")[0] for line in file.read().splitlines()[1:]]
    overlays = [overlay for overlay in overlays if args.only in overlay]
    if args.sample and args.sample < len(overlays):
        overlays = random.Random(7).sample(overlays, args.sample)
    counts, kinds = collections.Counter(), collections.Counter()
    edited = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for results in pool.map(results_of, overlays):
            edited += bool(results)
            for overlay, what, verdict, kind, message in results:
                counts[verdict] += 1
                kinds[what.split()[0], verdict, kind] += 1
                if verdict != "exact" and (args.show or verdict == "wrong"):
                    print(f"{verdict}: {overlay}: {what}: {kind}: {message}", flush=True)
    judged = counts["exact"] + counts["refused"] + counts["wrong"]
    share = 100 * counts["exact"] / judged if judged else 0
    print(f"{edited} overlays, {judged} edits: exact {counts['exact']} ({share:.1f} %), "
          f"refused {counts['refused']}, wrong {counts['wrong']}, skipped {counts['skipped']}")
    for (sort, verdict, kind), count in sorted(kinds.items()):
        print(f"  {sort}: {verdict} {kind}".rstrip() + f": {count}")
    sys.exit(1 if counts["wrong"] or share < least else 0)
