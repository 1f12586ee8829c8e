#!/usr/bin/env python3
"""Write seeds for the `kustomize` target from the folders of fixtures/build: one text a case.

usage: fuzz/seeds.py FIXTURES OUTPUT
"""
import hashlib, os, sys

fixtures, output = sys.argv[1:]
os.makedirs(output, exist_ok=True)
for folder, _, names in os.walk(fixtures):
    if os.path.basename(folder) != "in":
        continue
    text = ""
    for root, _, files in os.walk(folder):
        for name in sorted(files):
            path = os.path.join(root, name)
            try:
                text += f"#### {os.path.relpath(path, folder)}\n" + open(path, encoding="utf-8", newline="").read()
            except UnicodeDecodeError:
                pass
    with open(os.path.join(output, hashlib.sha1(text.encode()).hexdigest()), "w", newline="") as seed:
        seed.write(text)
