#!/bin/sh
# Builds a real Gitea for the tests, from its Go module, into the folder given: then `GITEA=FOLDER cargo test --test suite gitea`.
# Needs Go; takes some ten minutes of two cores.
set -eu
folder=$1
version=v1.27.3
module=$(go mod download -json "code.gitea.io/gitea@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
mkdir -p "$folder"
cp -R "$module/." "$folder"
chmod -R u+w "$folder"
cd "$folder"
go build -tags 'sqlite sqlite_unlock_notify' -ldflags '-s -w' -o gitea .
