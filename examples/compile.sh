#!/usr/bin/env bash
# Make the .ll files of this folder from their sources. CLANG is the command of the compiler (default clang-19).
#
# The .ll files are committed: embedding them needs no compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
clang="${CLANG:-clang-19}"

for source in *.c; do
    $clang -O2 -S -emit-llvm "$source" -o "${source%.c}.ll"
done
for source in *.cl; do
    $clang -O2 -S -emit-llvm -x cl -cl-std=CL1.2 -target spir64-unknown-unknown \
        "$source" -o "${source%.cl}.ll"
done
