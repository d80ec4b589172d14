"""What a profile is worth to clang -O2, without noise: what programs execute that are compiled with and without one.

    python downstream/profile/worth.py downstream/profile/programs.toml OUT WORK --table predicted=TABLE -o RECORD

OUT is what ``labels.py`` wrote; WORK is for what is built, once more for each variant, of the programs that have a
driver in drivers.toml, beside the recipe. Each source's IR, as clang's front end writes it, is compiled at -O2 with
other ``!prof``:

- ``none``: without any, ``LLVM`` guesses;
- ``true``: all that ``-fprofile-instr-use`` writes of the very run that is measured: weights, and how often each
  function is called;
- ``true_branches``: the weights of branches of two ways alone, which is what a prediction can be;
- ``inverted``: those with the two ways changed, so the wrong one;
- each TABLE: probabilities of first ways that are predicted, in Parquet: project, file, block, first; blocks as
  `read_ir` numbers them in OUT/SSA, whose branches are those of the front end's form. Files without rows get nothing.
  Once more (``_outside_loops``) without those that go back to a loop's header or out of it.

The program must say the same as without a profile, and end alike. Counted are, by valgrind's callgrind: instructions,
jumps (conditional branches that are taken, and jumps without a condition; no calls), branches that its predictor
misses, fetches of instructions that miss 32 KiB, all with those of shared libraries; and the bytes of the program's
``.text``. Stopped, the same command goes on.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from labels import (
    COMPILE_SECONDS,
    COUNTED,
    FETCH_SECONDS,
    FRONT,
    LENIENT,
    PROBES,
    PROFDATA,
    SOURCES,
    WRAPPER,
    FailedError,
    Program,
    Work,
    call,
    output_of,
)

from mirenc.base.arrays import Float64, Int64
from mirenc.base.config import load_toml
from mirenc.base.errors import IRFileError, MirencError
from mirenc.base.writing import only_one
from mirenc.decide.tables.table_folder import write_json
from mirenc.llvm import read_ir
from mirenc.tools.profile.loops import of_loops
from mirenc.tools.profile.write_profile import predicted_weights, with_profile
from mirenc.tools.run.run_folder import one_line

MEASURES = ("instructions", "jumps", "mispredicted", "fetch_misses", "bytes")
OUTSIDE = "_outside_loops"
DRAWS = 2000
CALLGRIND = (
    "valgrind --tool=callgrind --cache-sim=yes --I1=32768,8,64 --branch-sim=yes --collect-jumps=yes --dump-instr=yes"
)
# A compiler that takes IR in place of the sources that it is told to compile.
INSTEAD = """#!{python} -IS
import hashlib, json, os, sys
words = sys.argv[1:]
key = hashlib.sha256(json.dumps([os.getcwd(), words]).encode()).hexdigest()[:20]
folder = os.path.join({chosen!r}, key)
if os.path.isdir(folder):
    open(os.path.join({chosen!r}, "used"), "a").write(key + "\\n")
    for before, word in zip(words, words[1:]):
        if before == "-MF":  # IR has no headers, but make asks for the list
            open(word, "a").close()
    instead = {{name[:-3]: os.path.join(folder, name) for name in os.listdir(folder)}}
    words = [
        instead[os.path.splitext(os.path.basename(word))[0]] if word.endswith({sources}) and word[0] != "-" else word
        for word in words
    ]
os.execvp({clang!r}, [{clang!r}, *words, *{flags}])
"""
COUNT = """
counted() {{ {tool} "$@"; echo "$1 $?" >> {folder}/ends; }}
{{ {lines}
}} > {folder}/said 2> {folder}/complained
"""
_ATTACHED = re.compile(r",? !prof !\d+\b")
_SUMMARY = re.compile(r'^(!\d+) = !\{i32 \d+, !"ProfileSummary", ', re.MULTILINE)
_FLAGS = re.compile(r"^(!llvm\.module\.flags = !\{)(.*)\}$", re.MULTILINE)
_TWO_WAYS = re.compile(r'^(!\d+ = !\{!"branch_weights", )(i32 \d+), (i32 \d+)\}$', re.MULTILINE)
_JUMPS = re.compile(r"^(?:jump|jcnd)=(\d+)", re.MULTILINE)
_TEXT = re.compile(r"^\.text\s+(\d+)", re.MULTILINE)


class Unit(NamedTuple):
    """A source in a call of the compiler."""

    key: str  # of the call
    file: str  # below the project's sources
    path: Path  # its IR, with the true profile


Rows = tuple[Int64, Float64]  # blocks of a module, (n,), and the probability of each's first way


def without_profile(text: str) -> str:
    """IR as the front end writes it where it knows no profile, but for nodes that nobody names."""
    return _without_summary(_ATTACHED.sub("", text))


def only_branch_weights(text: str) -> str:
    """IR with weights of branches of two ways, and no more of the profile."""
    lines = [line if line.lstrip().startswith("br i1 ") else _ATTACHED.sub("", line) for line in text.split("\n")]
    return _without_summary("\n".join(lines))


def inverted(text: str) -> str:
    """`only_branch_weights`, with the weights of a branch's ways changed."""
    return _TWO_WAYS.sub(r"\1\3, \2}", only_branch_weights(text))


def _without_summary(text: str) -> str:
    if matched := _SUMMARY.search(text):
        flags = [name for name in _FLAGS.search(text)[2].split(", ") if name != matched[1]]  # type: ignore[index]
        return _FLAGS.sub(lambda match: f"{match[1]}{', '.join(flags)}}}", text)
    return text


class Trial(Work):
    """A program with a driver."""

    def __init__(self, program: Program, drive: str, work: Path, recipe: Path) -> None:
        super().__init__(program, work, recipe)
        self.drive = drive
        self.ready, self.base = self.folder / "ready", self.folder / "base"
        if self.state.get("drive") != drive:
            self.state = {"recipe": program.model_dump_json(), "drive": drive}

    def prepare(self) -> None:
        """Configure, keep that, build with counters, run, and make every call's IR with what was counted."""
        if "units" in self.state:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.did(fetch=self.fetch())
        self.log.unlink(missing_ok=True)
        self.compilers(WRAPPER, flags=[*COUNTED, *LENIENT, "-O1", "-g0"], log=str(self.log))
        self.make("configure")
        self.log.unlink(missing_ok=True)
        self.copied(self.source, self.ready)
        self.make("build")
        shutil.rmtree(self.raw, ignore_errors=True)
        self.raw.mkdir()
        self.driven("", f"{self.raw}/%8m.profraw")
        call([PROFDATA, "merge", "-o", str(self.profile), *map(str, self.raw.iterdir())], FETCH_SECONDS)
        shutil.rmtree(self.base, ignore_errors=True)
        self.did(units=[[*unit[:2], str(unit.path)] for unit in self.front_ends()])

    def copied(self, source: Path, target: Path) -> None:
        """Put a folder, with its times, in place of another."""
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)

    def driven(self, tool: str, counts_file: str = "/dev/null") -> tuple[str, list[str]]:
        """What the driver said, and how what is counted ended."""
        for name in ("ends", "said", "complained"):
            (self.folder / name).unlink(missing_ok=True)
        lines = COUNT.format(tool=tool, folder=self.folder, lines=self.drive)
        self.shell(lines, self.program.build_seconds, "drive", counts_file)
        ends = (self.folder / "ends").read_text().splitlines()
        return (self.folder / "said").read_text(errors="replace"), sorted(ends)

    def front_ends(self) -> list[Unit]:
        """The IR of every source that the build compiled, of each call."""
        units: dict[Path, Unit] = {}
        root = self.source.resolve()
        for line in self.log.read_text(encoding="utf-8").splitlines():
            folder, clang, words = json.loads(line)
            key = hashlib.sha256(json.dumps([folder, words]).encode()).hexdigest()[:20]
            valued = {number + 1 for number, word in enumerate(words) if word in ("-o", "-MF", "-MT", "-MQ")}
            options = [
                word
                for number, word in enumerate(words)
                if number not in valued
                and not re.match(r"-(c|o|l.*|MF|MT|MQ|MD|MMD|MP|Wl.*)$|[^-].*\.(o|a|so|lo)$", word)
            ]
            for word in [word for word in options if word.endswith(SOURCES) and not word.startswith("-")]:
                source = Path(folder, word).resolve()
                path = self.base / key / f"{source.stem}.ll"
                if path in units or PROBES.search(str(source)) or not source.is_file():
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                retained = [option for option in options if option == word or not option.endswith(SOURCES)]
                profile_flags = ["-S", "-emit-llvm", f"-fprofile-instr-use={self.profile}", "-g0", "-o", str(path)]
                call([clang, *retained, *LENIENT, "-O2", *FRONT[1:], *profile_flags], COMPILE_SECONDS, folder)
                units[path] = Unit(
                    key, source.relative_to(root).as_posix() if source.is_relative_to(root) else "", path
                )
        return list(units.values())

    def texts(self, change: Callable[[Unit, str], str], chosen: Path) -> str:
        """Write a variant's IR; its digest."""
        digest = hashlib.sha256(self.drive.encode())
        shutil.rmtree(chosen, ignore_errors=True)
        for key, file, path in self.state["units"]:
            unit = Unit(key, file, Path(path))
            text = change(unit, unit.path.read_text(encoding="utf-8", errors="surrogateescape"))
            (chosen / key).mkdir(parents=True, exist_ok=True)
            (chosen / key / unit.path.name).write_text(text, encoding="utf-8", errors="surrogateescape")
            digest.update(f"{key}{file}{text}".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def measure_variant(self, name: str, change: Callable[[Unit, str], str]) -> None:
        """Build a variant, run it, and count, if that is not done."""
        chosen = self.folder / "chosen"
        digest = self.texts(change, chosen)
        found = self.state.setdefault("found", {})
        if found.get(name, {}).get("digest") == digest:
            return
        self.copied(self.ready, self.source)
        self.compilers(INSTEAD, flags=[*LENIENT, "-O2", "-g0"], chosen=str(chosen))
        self.make("build")
        used_keys = set((chosen / "used").read_text().split())
        if missing := {key for key, *_ in self.state["units"]} - used_keys:
            raise FailedError(f"{name}: {len(missing)} calls of the compiler are others")
        logs = self.folder / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        behaviour = self.driven(f"{CALLGRIND} --log-file={logs}/%p.log --callgrind-out-file={logs}/%p.out")
        words = [path.read_text(errors="replace") for path in logs.glob("*.log")]
        jumps = [_JUMPS.findall(path.read_text(errors="replace")) for path in logs.glob("*.out")]
        found[name] = {
            "digest": digest,
            "says": hashlib.sha256(repr(behaviour).encode()).hexdigest(),
            "ends": behaviour[1],
            "instructions": total(words, r"I +refs: +([\d,]+)"),
            "jumps": sum(int(count) for counts in jumps for count in counts),
            "mispredicted": total(words, r"Mispredicts: +([\d,]+)"),
            "fetch_misses": total(words, r"I1 +misses: +([\d,]+)"),
            "bytes": self.bytes_of(words),
        }
        self.did()

    def bytes_of(self, words: Sequence[str]) -> int:
        """Bytes of code of the programs that the logs of valgrind name."""
        commands = {matched[1] for text in words if (matched := re.search(r"Command: (\S+)", text))}
        return sum(text_bytes(self.source / command) for command in commands)


def text_bytes(path: Path) -> int:
    """Size of a program's ``.text``."""
    match = _TEXT.search(output_of("llvm-size-19", "-A", str(path)))
    assert match, path
    return int(match[1])


def total(logs: Sequence[str], pattern: str) -> int:
    """The sum of a figure over logs, which all must have it."""
    matches = [re.search(pattern, text) for text in logs]
    assert all(matches), pattern
    assert matches, pattern
    return sum(int(found[1].replace(",", "")) for found in matches if found)


def read_table(path: Path) -> dict[tuple[str, str], Rows]:
    """Of each file, project and name, what is predicted."""
    table = pq.read_table(path, columns=["project", "file", "block", "first"]).sort_by(
        [("project", "ascending"), ("file", "ascending")]
    )
    block, first = table["block"].to_numpy().astype(np.int64), table["first"].to_numpy().astype(np.float64)
    keys = list(zip(table["project"].to_pylist(), table["file"].to_pylist(), strict=True))
    starts = [row for row, key in enumerate(keys) if row == 0 or keys[row - 1] != key]
    return {keys[start]: (block[start:end], first[start:end]) for start, end in pairwise([*starts, len(keys)])}


def predicted(
    trial: Trial, out: Path, table: dict[tuple[str, str], Rows], facts: Counter[str], *, loops: bool
) -> Callable[[Unit, str], str]:
    """What writes a table's weights, with those `of_loops` or without; ``facts`` is told how many, of how many."""

    def change(unit: Unit, text: str) -> str:
        unprofiled = without_profile(text)
        rows = table.get((trial.program.name, unit.file))
        facts["files"] += 1
        facts["branches"] += sum(line.lstrip().startswith("br i1 ") for line in unprofiled.split("\n"))
        if rows is None:
            return unprofiled
        module = read_ir(out / "SSA" / trial.program.name / f"{unit.file}.ll")
        chosen = loops | ~of_loops(module, rows[0])
        try:
            unprofiled, count = with_profile(unprofiled, module, predicted_weights(rows[0][chosen], rows[1][chosen]))
        except IRFileError:  # compiled once more, with other macros
            facts["files_that_differ"] += 1
            return unprofiled
        facts["files_predicted"] += 1
        facts["predicted"] += count
        return unprofiled

    return change


def summarized(programs: dict[str, dict[str, dict[str, Any]]], variants: Sequence[str]) -> dict[str, Any]:
    """Of each variant and measure: change against `none` in the geometric mean, and its shares of two others' changes.

    With intervals of 95 %, by a bootstrap over programs; a share is of logarithms' means.
    """
    draws = np.random.default_rng(0).integers(len(programs), size=(DRAWS, len(programs)))
    logs = {
        name: np.log(
            [[figures[name][kind] / figures["none"][kind] for kind in MEASURES] for figures in programs.values()]
        )
        for name in variants
    }

    def interval(statistic: Callable[[Any], Float64]) -> list[list[float]]:
        values = statistic(slice(None))
        low, high = np.quantile([statistic(rows) for rows in draws], (0.025, 0.975), axis=0)
        return [[round(float(value), 4) for value in triple] for triple in zip(values, low, high, strict=True)]

    rows: dict[str, Any] = {}
    for name in variants:
        change = interval(functools.partial(_change, logs[name]))
        rows[name] = {"change": dict(zip(MEASURES, change, strict=True))}
        for perfect in ("true", "true_branches"):
            share = interval(functools.partial(_share, logs[name], logs[perfect]))
            rows[name][f"share_of_{perfect}"] = dict(zip(MEASURES, share, strict=True))
    return rows


def _change(log: Float64, rows: Any) -> Float64:
    return np.asarray(np.exp(log[rows].mean(0)) - 1)


def _share(log: Float64, perfect: Float64, rows: Any) -> Float64:
    change, perfect_change = log[rows].mean(0), perfect[rows].mean(0)
    return np.divide(change, perfect_change, out=np.zeros(len(change)), where=perfect_change != 0)


def main(words: Sequence[str] | None = None) -> None:
    """Build, run, and count what is asked for on the command line, or in ``words``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", help="of programs; default: all that have a driver")
    parser.add_argument("--table", action="append", default=[], metavar="NAME=TABLE", help="what is predicted")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args(words)
    folder = arguments.work.resolve()
    drivers = load_toml(arguments.recipe.with_name("drivers.toml"))
    recipes = {row["name"]: Program.from_dict(row, where=row["name"]) for row in load_toml(arguments.recipe)["program"]}
    names = arguments.names or list(drivers)
    tables = {name: read_table(Path(path)) for name, _, path in (word.partition("=") for word in arguments.table)}
    changes_by_name: dict[str, Callable[[Unit, str], str]] = {
        "none": lambda _, text: without_profile(text),
        "true": lambda _, text: text,
        "true_branches": lambda _, text: only_branch_weights(text),
        "inverted": lambda _, text: inverted(text),
    }
    programs: dict[str, dict[str, dict[str, Any]]] = {}
    facts: dict[str, Counter[str]] = {f"{name}{suffix}": Counter() for name in tables for suffix in ("", OUTSIDE)}
    variants = [name for name in (*changes_by_name, *facts) if name != "none"]
    record: dict[str, Any] = {"failed": {}}
    with only_one(folder):
        for name in names:
            trial = Trial(recipes[name], drivers[name].strip(), folder, arguments.recipe)
            try:
                trial.prepare()
                for variant, change in changes_by_name.items():
                    trial.measure_variant(variant, change)
                for variant, variant_facts in facts.items():
                    table, loops = tables[variant.removesuffix(OUTSIDE)], not variant.endswith(OUTSIDE)
                    trial.measure_variant(variant, predicted(trial, arguments.out, table, variant_facts, loops=loops))
            except (FailedError, MirencError, TimeoutExpired) as error:
                record["failed"][name] = one_line(str(error))[:300]
                print(f"{name}: {error}", file=sys.stderr)
                continue
            found = trial.state["found"]
            if misbehaving := [title for title in variants if found[title]["says"] != found["none"]["says"]]:
                record["failed"][name] = f"does not behave the same: {', '.join(misbehaving)}"
            else:
                programs[name] = {
                    title: {measure: found[title][measure] for measure in MEASURES} for title in ("none", *variants)
                }
            changes = [
                f"{title} {found[title]['instructions'] / found['none']['instructions'] - 1:+.2%}" for title in variants
            ]
            print(f"{name}: {found['none']['instructions']:,}", *changes, sep="; ", file=sys.stderr)
    record |= {"programs": programs, "facts": facts, "rows": summarized(programs, variants)}
    write_json(arguments.output, record)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what runs ends, too
    main()
