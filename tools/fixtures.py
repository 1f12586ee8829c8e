#!/usr/bin/env python3
"""Prints the expectations of fixtures/build with a real kustomize.

    tools/fixtures.py [--kustomize PROGRAM] [--check] [CASE ...]

Each case is a folder with an input tree in `in/`; what the program prints for its overlay becomes
`expected.yaml`, and where it refuses, its words become `error.txt`. With --check nothing is written
and a difference ends with 1. The program is `kustomize`, or `kubectl` (whose `kustomize` command is
then used); version 5.8.1 made what is checked in.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "build"
NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def cases():
    return sorted(path.parent for path in ROOT.glob("*/*/in"))


def overlay_of(case):
    """`in/overlay` where it exists, else `in`."""
    inner = case / "in" / "overlay"
    return inner if inner.is_dir() else case / "in"


def build(program, case):
    """The text printed and None, or None and the words of the refusal."""
    command = [program, "kustomize"] if "kubectl" in os.path.basename(program) else [program, "build"]
    done = subprocess.run([*command, str(overlay_of(case))], capture_output=True, timeout=60)
    if done.returncode == 0:
        return done.stdout, None
    words = [line for line in done.stderr.decode(errors="replace").splitlines()
             if not line.startswith("# Warning:") and not re.match(r"\d{4}/\d\d/\d\d ", line)]
    broken = [line for line in words if line.startswith(("panic:", "fatal error:"))]
    words = broken or words
    text = "\n".join(words).replace(str(case.resolve()), "").replace(str(ROOT), "")
    text = re.sub(r"0x[0-9a-f]{6,}", "0xADDRESS", text)
    return None, (text.strip() + "\n").encode()


def stored(path):
    return path.read_bytes() if path.exists() else None


def store(path, content):
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kustomize", default=os.environ.get("KUSTOMIZE") or shutil.which("kustomize") or "kubectl")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where an expectation differs")
    parser.add_argument("case", nargs="*", type=pathlib.Path, help="folders; default all")
    asked = parser.parse_args()
    chosen = [path.resolve() for path in asked.case] or cases()
    differing = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = pool.map(lambda case: build(asked.kustomize, case), chosen)
        for case, (text, refusal) in zip(chosen, built):
            for name, content in (("expected.yaml", text), ("error.txt", refusal)):
                if stored(case / name) != content and not (asked.check and name == "error.txt" and content):
                    differing += 1
                    print(f"{case.relative_to(ROOT)}: {name}")
                    if not asked.check:
                        store(case / name, content)
    print(f"{len(chosen)} cases, {differing} expectations {'differ' if asked.check else 'written'}")
    return 1 if asked.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
