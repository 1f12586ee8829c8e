#!/usr/bin/env python3
"""Pin every image of every overlay of a corpus, and let a kustomize that is not ours and git judge.

usage: pin_corpus.py BINARY CORPUS [--only TEXT] [--sample N] [--jobs N] [--show]

CORPUS is as `corpus_judge.py` says. Names are taken from the expected renders. Each overlay is copied with its
repository, committed, and pinned in one call; where that is refused, image by image.

An image is *exact* when every place that names it renders its digest, nothing else of the render differs
(a null list is an empty one), and git shows changes in lines of images alone, in files of the overlay's own
directory, and a second run changes nothing. It is *refused* when the program says no and touches nothing.
Anything else is *wrong*. Exit 1 if anything is wrong or fewer than 98 % are exact.

Needs git, PyYAML, and kustomize or kubectl (KUSTOMIZE names another).
"""
import hashlib
import json
import os
import re

from corpus_judge import attempt, copy, documents, expected, flat, git, judge_all, parser, render

IMAGE_LINE = re.compile(r"^[+-]\s*(-\s*)?(\{.*(name|digest).*\}|images:.*|(name|newName|newTag|digest):.*)\s*$")


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


def names_of(docs):
    return sorted({split(image)[0] for doc in documents(docs) for _, image in places(doc)})


def digest_of(overlay, name):
    return "sha256:" + hashlib.sha256(f"{overlay} {name}".encode()).hexdigest()


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
    own = "" if overlay == "." else os.path.normpath(overlay)
    faults = [f"touches {path}" for path in git(tree, "diff", "--name-only").splitlines()
              if os.path.dirname(path) != own]
    lines = [line for line in git(tree, "diff", "-U0").splitlines()
             if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    # A last line without a newline shows as changed when lines follow it.
    kept = {line[1:] for line in lines if line[0] == "-"} & {line[1:] for line in lines if line[0] == "+"}
    lines = [line for line in lines if line[1:] not in kept]
    return faults + [f"line {line!r}" for line in lines if line[1:].strip() and not IMAGE_LINE.match(line)]


def pin(binary, tree, overlay, pins, before):
    arguments = ["pin", overlay, "--digests", json.dumps(pins)]
    faults = lambda: effect_faults(before, render(tree, overlay), pins) + diff_faults(tree, overlay)
    return attempt(binary, tree, arguments, faults)


def overlay_results(binary, corpus, overlay):
    names = names_of(expected(corpus, overlay))
    if not names:
        return []
    with copy(corpus, overlay) as (tree, inside):
        before = render(tree, inside)
        if before is None:
            return [(overlay, f"pin {name}", "skipped", "the judge does not build it", "") for name in names]
        pins = {name: digest_of(overlay, name) for name in names}
        outcome = pin(binary, tree, inside, pins, before)
        if outcome[0] != "refused" or len(names) == 1:
            return [(overlay, f"pin {name}", *outcome) for name in names]
        alone = lambda name: pin(binary, tree, inside, {name: pins[name]}, before)
        return [(overlay, f"pin {name}", *alone(name)) for name in names]


def main():
    args = parser(__doc__).parse_args()
    judge_all(args, lambda overlay: overlay_results(args.binary, args.corpus, overlay), least=98)


if __name__ == "__main__":
    main()
