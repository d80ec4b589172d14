#!/usr/bin/env bash
# Make the large module: SQLite's amalgamation as LLVM IR, some 230,000 instructions.
#
#     bash tests/benchmarks/make_module.sh FOLDER      # writes FOLDER/sqlite3.ll
#
# Needs Debian's `apt-get source` (a deb-src entry), dpkg-dev, clang-14, make, gcc and tclsh. clang-14 because its text has
# typed pointers: IR2Vec 2.1.1 reads it as it is, and LLVM 10 after a few attributes are taken out.
set -euo pipefail

folder=${1:?usage: make_module.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

for tool in apt-get dpkg-source clang-14 make gcc tclsh; do
    command -v "$tool" >/dev/null || {
        echo "make_module.sh: $tool is missing. Type: apt-get install dpkg-dev clang-14 make gcc tcl" >&2
        exit 1
    }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# Fails without a deb-src entry, and then says so.
apt-get source --quiet sqlite3
cd sqlite3-*/
./configure --quiet >/dev/null
make sqlite3.c >/dev/null
# Inside the folder, by bare name: no path of this machine in `source_filename`.
clang-14 -O1 -S -emit-llvm -o "$folder/sqlite3.ll" sqlite3.c
echo "$folder/sqlite3.ll: $(grep -c '^  ' "$folder/sqlite3.ll") indented lines, of sqlite3 $(cat VERSION)" >&2
