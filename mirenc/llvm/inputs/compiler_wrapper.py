"""Scripts that stand for clang in a build: a driver that starts its script where it would start itself for one source.

So whatever a build asks for (several sources, a link, dependencies, assembly), the driver works out, and the script
gets the words of one compilation (``-cc1``).
"""

import os
import shlex
import subprocess
from pathlib import Path

_DRIVER = """#!/usr/bin/env bash
# clang, by: {maker}
clang={clang}
[ "$1" != -cc1as ] || exec -a clang "$clang" "$@" # the assembler
if [ "$1" != -cc1 ]; then
    case ${{0##*/}} in *++*) mode=g++ ;; *) mode=gcc ;; esac
    front=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do front+=("$1"); shift; done
    exec -a "$(realpath -s -- "$0")" "$clang" --driver-mode=$mode -no-canonical-prefixes -fno-integrated-cc1 \\
        -ccc-install-dir "${{clang%/*}}" -resource-dir {resources} "${{front[@]}}" {flags} "$@"
fi
# What a compilation adds in passes of its own, as sanitizers and profiles do, or in files, no other list of passes has.
added=" -(fsanitize|fprofile-instrument|coverage-|pg |finstrument|fxray|split-dwarf|ffat-lto)"
[[ ! " $* " =~ $added ]] || exec -a clang "$clang" "$@"
"""


def driver(clang: Path, maker: str, flags: str = "") -> str:
    """The beginning of such a script; what follows runs for one source. ``flags`` come after those of the build."""
    result = subprocess.run([clang, "-print-resource-dir"], capture_output=True, text=True, check=True)
    resources = shlex.quote(result.stdout.strip())
    return _DRIVER.format(maker=maker, clang=shlex.quote(str(clang)), resources=resources, flags=flags)


def write_script(path: Path, text: str) -> None:
    """Write a script that can be started; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def stand_in(folder: Path, version: str, script: str) -> dict[str, str]:
    """Write a script into a folder under the names that builds look for; the environment in which they find it.

    ``version`` is what follows a clang's name, as in ``clang-19``. The script sees by ``$0`` whether C++ is meant.
    """
    for name in ("cc", "gcc", "clang", f"clang{version}", "c++", "g++", "clang++", f"clang++{version}"):
        write_script(folder / name, script)
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    return {"CC": str(folder / "cc"), "CXX": str(folder / "c++"), "PATH": path, "CCACHE_DISABLE": "1"}
