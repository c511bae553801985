#!/bin/sh
# Fetches the scripts that the documentation site serves itself, at pinned versions, from npm's
# registry: Mermaid for the drawings, a shim for the search in a site opened from disk. Both MIT.
#
# usage: tools/site_scripts.sh FOLDER
set -eu

folder=$1
if ! command -v npm >/dev/null 2>&1; then
    echo "make: the site's scripts come from npm's registry; install npm and run make site again" >&2
    exit 1
fi
mkdir -p "$folder"

# fetch PACKAGE@VERSION SHA256 FILE NAME
fetch() {
    archive=$(cd "$folder" && npm pack --silent "$1")
    echo "$2  $folder/$archive" | sha256sum --check --quiet
    tar -xzOf "$folder/$archive" "package/$3" >"$folder/$4"
    rm "$folder/$archive"
}

fetch @mermaid-js/tiny@11.17.2 28302a2f6bd556bfd223acff76a1fd511bcc9e6f1cac1bad91b904469aeca102 \
    dist/mermaid.tiny.js mermaid.js
fetch iframe-worker@1.0.4 e8c5d12d87829c503afba01d67772ea9f4aba5b7ae57a0c98e1917711030efbb \
    shim/index.js iframe-worker.js
