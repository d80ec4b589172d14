"""Make the two label sets of this folder: the IR from Debian's sources, and the labels from the IR.

    python downstream/own_labels/make.py ir SOURCES    # SOURCES: unpacked by apt-get source; needs clang-19
    python downstream/own_labels/make.py labels        # needs opt-19, llc-19 and llvm-size-19

The projects are of packages of Debian 12 that no model of mirenc was trained on. The IR is that of clang -O2 before any
pass.
"""

from __future__ import annotations

import argparse
import csv
import lzma
import re
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
IR = HERE / "ir"
MOST_BYTES = 90_000  # of a project's compressed IR
MOST_FUNCTIONS = 60  # of a project in a table
LEAST_BYTES = 32  # of a function's code: smaller ones are all alike

# Folder that apt-get source unpacks, and below it: files, and flags (folders of headers are relative to it).
PROJECTS: dict[str, tuple[str, str, str]] = {
    "chipmunk": ("Chipmunk2D*", "src/*.c", "-Iinclude/chipmunk -Iinclude"),
    "giflib": ("giflib-*", "*.c", ""),
    "lcms2": ("lcms2-*", "src/*.c", "-Iinclude"),
    "libdivsufsort": ("libdivsufsort-*", "lib/*.c", "-Iinclude -Ibuild/include -DHAVE_CONFIG_H=1"),
    "libgsm": ("gsm-*", "src/*.c", "-Iinc -DNeedFunctionPrototypes=1 -DSASR"),
    "mujs": ("mujs-*", "js*.c", ""),
    "picosat": ("picosat-*", "picosat.c", "-DNALARM"),
    "speex": ("speex-*", "libspeex/*.c", "-Iinclude -DFLOATING_POINT -DUSE_SMALLFT -DVAR_ARRAYS -DEXPORT="),
    "tidy-html5": ("tidy-html5-*", "src/*.c", '-Iinclude -DLIBTIDY_VERSION="" -DRELEASE_DATE=""'),
    "wavpack": ("wavpack-*", "src/*.c", "-Iinclude"),
}
SPEEX_TYPES = "\n".join(f"typedef {sign}{bits}_t spx_{sign}{bits}_t;" for sign in ("int", "uint") for bits in (16, 32))


def make_ir(sources: Path) -> None:
    """Compile each project's sources, the smallest first, until its share of bytes is used up."""
    for project, (folder, files, flags) in PROJECTS.items():
        (root,) = sources.glob(folder)
        if project == "speex":
            header = root / "include" / "speex" / "speex_config_types.h"
            header.write_text(f"#include <stdint.h>\n{SPEEX_TYPES}\n", encoding="utf-8")
        if project == "libdivsufsort":
            subprocess.run(["cmake", "-S", root, "-B", root / "build"], check=True, capture_output=True)
        if project == "picosat":
            (root / "config.h").touch()
        total_bytes = 0
        for source in sorted(root.glob(files), key=lambda path: (path.stat().st_size, path.name)):
            command = ["clang-19", "-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-w", "-o", "-"]
            name = source.relative_to(root)
            process = subprocess.run([*command, *flags.split(), name], cwd=root, capture_output=True, check=False)
            if process.returncode or b"\ndefine " not in process.stdout:
                continue
            data = lzma.compress(process.stdout, preset=9 | lzma.PRESET_EXTREME)
            if total_bytes and total_bytes + len(data) > MOST_BYTES:
                break
            total_bytes += len(data)
            target = IR / project / f"{source.stem}.ll.xz"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def labels_of(path: Path) -> tuple[dict[str, bool], dict[str, int]]:
    """Of a file's functions: whether -O3 vectorises a loop, of those with a loop; bytes of the code at -Os."""
    with tempfile.TemporaryDirectory() as scratch:
        ir, remarks, code = (Path(scratch) / name for name in ("x.ll", "x.yaml", "x.o"))
        ir.write_bytes(lzma.decompress(path.read_bytes()))
        call = ["opt-19", "-S", "-o", "/dev/null", "-passes=default<O3>", f"-pass-remarks-output={remarks}"]
        subprocess.run([*call, "-pass-remarks-filter=loop-vectorize", ir], check=True)
        vectorised: dict[str, bool] = {}
        for block in re.split(r"^--- ", remarks.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            function = re.search(r"^Function: +'?(.*?)'?$", block, re.MULTILINE)
            assert function is not None
            hit = block.startswith("!Passed") and "\nName:            Vectorized" in block
            vectorised[function[1]] = vectorised.get(function[1], False) or hit
        compiled = ["opt-19", "-passes=default<Os>", "-o", "-", ir]
        optimised = subprocess.run(compiled, check=True, capture_output=True).stdout
        call = ["llc-19", "-O2", "-function-sections", "-relocation-model=pic", "-filetype=obj", "-o", code, "-"]
        subprocess.run(call, input=optimised, check=True)
        table = subprocess.run(["llvm-size-19", "-A", code], check=True, capture_output=True, text=True).stdout
        sizes = re.findall(r"^\.text\.(?:unlikely\.|hot\.)?(\S+)\s+(\d+)", table, re.MULTILINE)
    return vectorised, {name: int(size) for name, size in sizes if int(size) >= LEAST_BYTES}


def make_labels() -> None:
    """Write ``vectorised.csv`` and ``code_bytes.csv``: at most `MOST_FUNCTIONS` of a project, evenly over its files."""
    rows: dict[str, list[tuple[str, str, object, str]]] = {"vectorised": [], "code_bytes": []}
    for project in PROJECTS:
        labels_by_table: dict[str, list[tuple[str, str, object, str]]] = {name: [] for name in rows}
        for path in sorted((IR / project).glob("*.ll.xz")):
            vectorised, sizes = labels_of(path)
            file = path.relative_to(HERE).as_posix()
            for name, size in sizes.items():
                labels_by_table["code_bytes"].append((file, name, size, project))
                if name in vectorised:
                    labels_by_table["vectorised"].append((file, name, "yes" if vectorised[name] else "no", project))
        for name, labels in labels_by_table.items():
            step = max(1.0, len(labels) / MOST_FUNCTIONS)
            rows[name] += [labels[int(place * step)] for place in range(min(MOST_FUNCTIONS, len(labels)))]
    for name, table in rows.items():
        with open(HERE / f"{name}.csv", "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["file", "function", "bytes" if name == "code_bytes" else "label", "group"])
            writer.writerows(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("ir").add_argument("sources", type=Path)
    verbs.add_parser("labels")
    arguments = parser.parse_args()
    if arguments.verb == "ir":
        make_ir(arguments.sources)
    else:
        make_labels()
