#!/usr/bin/env bash
# The four commands of pretrain/README.md in miniature: from package names to a model that embeds. Needs the test
# environment (scripts/test.sh makes it), clang-14, clang-19, dpkg-dev and deb-src. Where apt-get has no source packages, C files
# of this repository stand in for them, and it says so.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/venv.sh"
here=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

if apt-get source --print-uris zlib >/dev/null 2>&1; then
    source=ir
    python "$here/pretrain/debian.py" "$here/tests/fixtures/miniature/debian.toml" ir
else
    echo "apt-get knows no source packages here: compiling tests/fixtures/sources instead" >&2
    mkdir sources
    number=0
    for file in "$here"/tests/fixtures/sources/*.c; do
        number=$((number + 1))
        mkdir -p "sources/project$((number % 3))"
        cp "$file" "sources/project$((number % 3))/"
    done
    source=sources
fi
mirenc corpus build "$source" -o corpus --vocab-size 1000
mirenc pretrain "$here/tests/fixtures/miniature/run.toml" -c corpus -o run --name miniature
mirenc embed --model run/miniature "$here/examples/saxpy.ll"
