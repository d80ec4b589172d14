"""Tune real programs end to end: ``python downstream/look_ahead/real_programs.py WORK [PROGRAM...]``.

Each is fetched from Debian (`apt-get source`, which needs a deb-src entry), built by its own build and flags, and
run on data of its own; `mirenc tune` does the rest. What it found is in ``real_programs.json``; again goes on.
Without PROGRAM all are tuned.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
# Text of a thousand words, rare ones seldom; sound with noise.
_TEXT = """python3 - <<'END'
import random
random.seed(1)
words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(1000)]
open("data.bin", "w").write(" ".join(random.choices(words, [1 / (n + 1) for n in range(1000)], k={words})))
END
"""
_SOUND = """python3 - <<'END'
import math, random, wave
random.seed(1)
out = wave.open("data.wav", "wb")
out.setparams((2, 2, 44100, 0, "NONE", ""))
values = (int(9000 * math.sin(n / 20) + random.gauss(0, 900)) for n in range(1_500_000))
out.writeframes(b"".join(value.to_bytes(2, "little", signed=True) * 2 for value in values))
END
"""
_CONFIGURE = "./configure -q CC=clang-19 ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: --disable-shared"
_FLAC = "--disable-ogg --disable-cpplibs --disable-asm-optimizations --disable-doxygen-docs"
# Program -> what prepares it, what builds it, what is run.
PROGRAMS = {
    "kernels": ("", "make", "./bench 800"),
    "bzip2": (_TEXT.replace("{words}", "600_000"), "make bzip2", "LD_LIBRARY_PATH=. ./bzip2 -9 -c data.bin"),
    "zopfli": (_TEXT.replace("{words}", "25_000"), "make zopfli", "./zopfli -c --i5 data.bin"),
    "libdeflate": (_TEXT.replace("{words}", "1_200_000"), "make gzip", "./gzip -9 -c data.bin"),
    "flac": (f"{_CONFIGURE} {_FLAC} && {_SOUND}", "make -s", "src/flac/flac -s -8 -f -c data.wav"),
    "lame": (f"{_CONFIGURE} --disable-nasm && {_SOUND}", "make -s", "frontend/lame --quiet -b 128 data.wav -"),
}


def main() -> None:
    """Tune each in turn."""
    work = Path(sys.argv[1]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    record = HERE / "real_programs.json"
    programs = json.loads(record.read_text(encoding="utf-8"))["programs"] if record.is_file() else {}
    for name in sys.argv[2:] or PROGRAMS:
        before, build, run = PROGRAMS[name]
        folder = _fetch(name, work)
        if before and not (folder / ".prepared").exists():
            subprocess.run(["sh", "-c", before], cwd=folder, check=True)
            (folder / ".prepared").touch()
        start = time.monotonic()
        words = ["mirenc", "tune", "vectorization", "--build", build, "--run", run, "-o", str(work / f"{name}.tuned")]
        printed = subprocess.run(words, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
        verdict = printed.splitlines()[0]
        report = json.loads((work / f"{name}.tuned/report.json").read_text(encoding="utf-8"))
        for loop in report["loops"]:
            loop["file"] = str(Path(loop["file"]).relative_to(folder))
            for one in loop["tried"]:
                one["problem"] = one["problem"].replace(str(folder), ".")
        minutes = round((time.monotonic() - start) / 60, 1)
        figures = {key: report[key] for key in ("seconds", "builds", "whole", "loops")}
        programs[name] = {"said": verdict, "minutes": minutes, **figures}
        print(name, programs[name]["said"], programs[name]["minutes"], "min", flush=True)
        text = json.dumps({"lines": _table(programs), "programs": programs}, indent=1)
        record.write_text(f"{text}\n", encoding="utf-8")


def _table(programs: dict[str, Any]) -> list[list[str]]:
    """What `downstream/tables.py` writes into the README, of programs in their order."""
    edges = (0, 8, 32, 256, math.inf)
    classes = [f"work in loops of {name}, %" for name in ("<8", "8-31", "32-255", "more")]
    lines = [
        ["program", "run, s", "loops tried", "left alone", "builds", "minutes", "speedup of the program", *classes]
    ]
    for name in filter(programs.__contains__, PROGRAMS):
        one = programs[name]
        tried = sum(bool(loop["tried"]) for loop in one["loops"])
        is_faster = "nothing is changed" not in one["said"]
        speedup = "{:.3f} [{:.3f}, {:.3f}]".format(*one["whole"][0]) if is_faster else "nothing kept"
        counts, shares = ([loop[key] for loop in one["loops"]] for key in ("trip_count", "share"))
        work = np.histogram(counts, edges, weights=shares)[0] / sum(shares)
        cells = [f"{one['seconds']:.2f}", tried, len(one["loops"]) - tried, one["builds"], one["minutes"], speedup]
        lines.append([name, *map(str, cells), *(f"{100 * share:.0f}" for share in work)])
    return lines


def _fetch(name: str, work: Path) -> Path:
    """The program's folder, below ``work``."""
    if name == "kernels":
        return Path(shutil.copytree(HERE / name, work / name, dirs_exist_ok=True))
    if not (there := [one for one in work.glob(f"{name}-*") if one.is_dir()]):
        subprocess.run(["apt-get", "source", "-qq", name], cwd=work, check=True)
        there = [one for one in work.glob(f"{name}-*") if one.is_dir()]
    return there[0]


if __name__ == "__main__":
    main()
