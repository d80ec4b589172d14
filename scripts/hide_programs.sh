#!/usr/bin/env bash
# Run a command where no clang, no other program of LLVM and no ProGraML can be reached, as on a machine that has what
# pip brings, and perhaps a gcc:
#     bash scripts/hide_programs.sh python -m pytest tests/model/graph
# A folder of PATH that holds such a tool is replaced by links to everything else in it, and llvm2graph-10 finds an empty
# libtinfo.so.5. If one of them can still be reached after that, the command is not run.
set -euo pipefail
tools='(clang|flang|llvm|llc|lli|lld|ld\.lld).*|opt(-[0-9]+)?'

hiding=$(mktemp -d)
trap 'rm -rf "$hiding"' EXIT
path=
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
    in_it=(find -H "$folder" -mindepth 1 -maxdepth 1 -regextype posix-extended)
    if [ -n "$("${in_it[@]}" -regex ".*/($tools)" -print -quit 2>/dev/null)" ]; then
        others=$hiding/${folder//\//_}
        mkdir "$others"
        "${in_it[@]}" ! -regex ".*/($tools)" -exec ln -s -t "$others" {} +
        folder=$others
    fi
    path=$path:$folder
done
export PATH=${path#:}
mkdir "$hiding/lib"
: >"$hiding/lib/libtinfo.so.5"
export LD_LIBRARY_PATH=$hiding/lib

if found=$(compgen -c | grep -m 1 -xE "$tools"); then
    echo "error: $found is still on PATH: $PATH" >&2
    exit 1
fi
programl=$(PYTHONPATH=$(dirname "$0")/../tests python -c 'from llvm2graph import find_programl; print(find_programl())' \
    2>/dev/null) || programl= # not installed yet
if [ -n "$programl" ] && "$programl" --version >/dev/null 2>&1; then
    echo "error: $programl still starts" >&2
    exit 1
fi
"$@"
