"""Exact branch counts of real programs, laid back on their IR.

    python downstream/profile/labels.py downstream/profile/programs.toml -o OUT

fetches each Debian source package of the recipe (deb-src must be on), builds it by clang-19 with counters, runs its
tests or a driver, and compiles every source that ran once more with what was counted. Minutes a package, on one core;
stopped, the same command goes on; names after the recipe take those alone. A package that fails is reported, no more.

OUT/IR/PROJECT/FILE.ll is what clang's front end writes, OUT/SSA the same after ``sroa<preserve-cfg>`` (so the same
blocks), OUT/O1 the same file at -O1, where LLVM's passes have kept the weights nearly true. All have ``!prof``: a
weight is a count and one. ``branches.parquet``, ``loops.parquet`` and ``functions.parquet`` say the counts themselves,
of IR and SSA; ``summary.json`` how many. What never ran is in no table, nor is a function that another source has, too,
under the same name (tests' ``main``): their counts cannot be told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mirenc.base.config import Config, load_toml
from mirenc.base.errors import MirencError
from mirenc.base.run_program import run_limited
from mirenc.base.writing import only_one
from mirenc.decide.tables.table_folder import write_json, write_parquet
from mirenc.llvm import IRModule, read_ir
from mirenc.llvm.analysis.loops import find_loops
from mirenc.llvm.analysis.profile import Flow, profiled_flow
from mirenc.llvm.inputs.compile_commands import program_flags
from mirenc.llvm.sources.ir_folder import digest
from mirenc.tools.run.run_folder import one_line

CLANG, CLANGXX, OPT, PROFDATA = "clang-19", "clang++-19", "opt-19", "llvm-profdata-19"
COUNTED = ("-fprofile-instr-generate", "-fprofile-update=atomic")
# What gcc 12 lets pass, and clang 19 does not.
LENIENT = (
    *("-w", "-Qunused-arguments", "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int"),
    *("-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"),
)
# Without marks of lifetimes, since their cleanups add switches that no weights tell of.
FRONT = ("-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-disable-lifetime-markers")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
PROBES = re.compile(r"conftest|CMakeFiles/|CMakeScratch|CMakeTmp|TryCompile|meson-private|_configtest")
TESTS = re.compile(r"(^|/)(t|tests?|testing|testsuite|check|examples?|bench\w*|fuzz\w*|\w*unit\w*)/|test[^/]*$", re.I)
FORMS = ("IR", "SSA", "O1")
STEPS = ("fetch", "build", "run", "compile")
FETCH_SECONDS, COMPILE_SECONDS = 600.0, 120.0
SATURATED = 2**31  # clang divides the weights of a branch that went one way 2**32 times or more: those say less
ODR = re.compile(r"define (?:\w+ )*?(linkonce_odr|weak_odr|available_externally) ")
_COUNTER = re.compile(r'@llvm\.instrprof\.increment\(ptr @("[^"]*"|[^,]+), i64 (-?\d+)')
_DEFINED = re.compile(r'^define .*?@("[^"]*"|[^(]+)\(')
_WEIGHTS = re.compile(r'^(!\d+ = !\{!"branch_weights", )(.*)\}$', re.MULTILINE)
_COUNT = re.compile(r'^(!\d+) = !\{!"function_entry_count", i64 (\d+)', re.MULTILINE)
_ATTACHED = re.compile(r", !prof (!\d+)\b")
_ENTERED = re.compile(r"^define .* !prof (!\d+) .*\{$")
_WEIGHT = re.compile(r"\bi32 (\d+)")
_PLACE = re.compile(r", !dbg (!\d+)")
_PLACES = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)", re.MULTILINE)

WRAPPER = """#!{python} -IS
import json, os, sys
words = sys.argv[1:]
if any(word.endswith({sources}) for word in words) and not {{"-E", "-M", "-MM", "-fsyntax-only"}} & set(words):
    log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, (json.dumps([os.getcwd(), {clang!r}, words]) + "\\n").encode())
os.execvp({clang!r}, [{clang!r}, *words, *{flags}])
"""


class Program(Config):
    """One ``[[program]]`` of a recipe; commands are lines for sh, in the sources; ``run`` goes on after one that fails.

    ``CC``, ``CXX`` and whatever is called cc, gcc, clang, c++, g++ or clang++ are compilers that count.
    """

    name: str  # of the project: a source package, if it has no folder
    version: str = ""  # of the package; default: the release's
    folder: str = ""  # sources that lie below the recipe, instead of a package
    needs: tuple[str, ...] = ()  # Debian packages that are no part of a bare compiler's
    configure: str = ""
    build: str = "make -s"
    run: str  # failing or ending late is not fatal: what ended has counts
    seconds: float = 300  # that it may run
    build_seconds: float = 900
    exclude: tuple[str, ...] = ()  # globs of sources that are left out; `*` crosses folders
    cap: int = 150  # at most so many sources, drawn by their names, so that no project dominates


class FailedError(Exception):
    """A package cannot be had, built or run, and why."""


class Source(NamedTuple):
    """A translation unit as it was compiled first."""

    path: Path
    file: str  # below the project's sources
    folder: str  # where the compiler ran
    command: list[str]  # the compiler and what matters of its words


class Work:
    """One program's folder, ``OUT/work/NAME``, and what is done of it: ``state.json``."""

    def __init__(self, program: Program, out: Path, recipe: Path) -> None:
        self.program, self.out, self.recipe = program, out, recipe
        self.folder = out / "work" / program.name
        self.source, self.log = self.folder / "src", self.folder / "compiled.jsonl"
        self.raw, self.profile = self.folder / "raw", self.folder / "merged.profdata"
        self.state_file = self.folder / "state.json"
        self.state: dict[str, Any] = {}
        if self.state_file.exists():
            self.state = json.loads(self.state_file.read_text(encoding="utf-8"))
        stamp = program.model_dump_json()
        if self.state.get("recipe") != stamp:  # none, or another: begin again
            self.state = {"recipe": stamp}

    def did(self, **facts: Any) -> None:
        """Note what is done."""
        self.state |= facts
        write_json(self.state_file, self.state)

    def go(self) -> None:
        """Every step that is not done yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for step in STEPS:
            if step not in self.state:
                begun = time.monotonic()
                facts = getattr(self, step)()
                self.state.pop("failed", None)
                self.did(**{step: {"seconds": round(time.monotonic() - begun, 1), **facts}})

    def shell(self, command: str, seconds: float, step: str, counted: str = "/dev/null") -> int:
        """Exit code of a command in the sources, by the compilers that count. FailedError: it did not end in time."""
        environment = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "CC": "cc", "CXX": "c++", "MAKEFLAGS": ""}
        words = [
            "env",
            *(f"{key}={value}" for key, value in environment.items()),
            f"LLVM_PROFILE_FILE={counted}",
            "sh",
            "-c",
        ]
        log = shlex.quote(f"{self.folder}/{step}.log")
        words.append(f"exec > {log} 2>&1 < /dev/null\n{command}")
        try:
            return run_limited(words, timeout=seconds, memory_limit=None, folder=str(self.source)).code
        except TimeoutExpired:
            raise FailedError(f"{step}: longer than {seconds:g} s") from None

    def fetch(self) -> dict[str, Any]:
        """The sources, as they are packed."""
        missing = [
            name
            for name in self.program.needs
            if not output_of("dpkg-query", "-f", "${Status}", "-W", name).endswith("ok installed")
        ]
        if missing:
            raise FailedError(f"apt-get install --no-install-recommends {' '.join(missing)}")
        shutil.rmtree(self.source, ignore_errors=True)
        if self.program.folder:
            shutil.copytree(self.recipe.parent / self.program.folder, self.source)
            return {"version": ""}
        package = self.program.name + (f"={self.program.version}" if self.program.version else "")
        archives = sorted(self.folder.glob("*.dsc"))
        if not archives:
            ask = ("apt-get", "-o", "APT::Sandbox::User=root", "-qq", "source", "--only-source", "--download-only")
            run_limited([*ask, package], timeout=FETCH_SECONDS, memory_limit=None, folder=str(self.folder))
            archives = sorted(self.folder.glob("*.dsc"))
        # A mirror may lack Debian's patches; upstream's sources alone are good enough.
        for archive in (*archives, *sorted(self.folder.glob("*.orig.tar.*z*"))):
            shutil.rmtree(self.source, ignore_errors=True)
            command: Sequence[str] = ("dpkg-source", "--no-check", "-x", archive.name, "src")
            if archive.suffix != ".dsc":
                self.source.mkdir()
                command = ("tar", "--strip-components=1", "--no-same-owner", "-C", "src", "-xf", archive.name)
            if not run_limited(command, timeout=FETCH_SECONDS, memory_limit=None, folder=str(self.folder)).code:
                break
        else:
            raise FailedError(f"no source package {package}")
        for path in self.source.rglob("*"):  # of one age: else make would make anew what is packed as made
            if path.is_file() and not path.is_symlink():
                os.utime(path, (1.7e9, 1.7e9))
        return {"version": archive.name.removesuffix(".dsc").partition("_")[2].partition(".orig")[0]}

    def build(self) -> dict[str, Any]:
        """Configure and make; again from the beginning, if it was stopped."""
        if self.log.exists():
            self.fetch()
            self.log.unlink()
        self.compilers(WRAPPER, flags=[*COUNTED, *LENIENT, "-O1", "-g0"], log=str(self.log))
        # What is built may run already: those counts are not kept.
        self.make("configure")
        self.make("build")
        if not self.log.exists():
            raise FailedError("build: nothing was compiled")
        return {"compiled": self.log.read_text(encoding="utf-8").count("\n")}

    def compilers(self, wrapper: str, **values: Any) -> None:
        """What cc, c++ and their other names are from now on: `wrapper`, a Python program, with these values in it."""
        shutil.rmtree(self.folder / "bin", ignore_errors=True)
        (self.folder / "bin").mkdir()
        for names, clang in ((("cc", "gcc", "clang", CLANG), CLANG), (("c++", "g++", "clang++", CLANGXX), CLANGXX)):
            text = wrapper.format(python=sys.executable, clang=shutil.which(clang), sources=SOURCES, **values)
            for name in names:
                (self.folder / "bin" / name).write_text(text, encoding="utf-8")
                (self.folder / "bin" / name).chmod(0o755)

    def make(self, step: str) -> None:
        """Configure or build. FailedError: it fails."""
        command = getattr(self.program, step)
        if command and self.shell(f"set -e\n{command}", self.program.build_seconds, step):
            raise FailedError(f"{step}: {self.last_words(step)}")

    def run(self) -> dict[str, Any]:
        """Run it, and merge what was counted."""
        shutil.rmtree(self.raw, ignore_errors=True)
        self.raw.mkdir()
        try:
            code = self.shell(self.program.run, self.program.seconds, "run", f"{self.raw}/%8m.profraw")
            outcome = "passed" if code == 0 else f"failed ({code}): {self.last_words('run')}"
        except FailedError as error:
            outcome = str(error)
        raw = sorted(self.raw.iterdir())
        if not raw:
            raise FailedError(f"run: nothing was counted; {outcome}")
        # A process that was ended may have left half a file.
        call([PROFDATA, "merge", "--failure-mode=all", "-o", str(self.profile), *map(str, raw)], FETCH_SECONDS)
        shutil.rmtree(self.raw)
        return {"ended": outcome, "counted_objects": len({path.name.partition("_")[0] for path in raw})}

    def last_words(self, step: str) -> str:
        """The end of a step's log, or its last line that says error."""
        lines = (self.folder / f"{step}.log").read_text(encoding="utf-8", errors="replace").splitlines() or [""]
        errors = [line for line in lines if "rror" in line]
        return one_line((errors or lines)[-1])[:200]

    def sources(self) -> list[Source]:
        """The translation units, each once, as it was compiled first; what a configuration tries is none."""
        sources: dict[Path, Source] = {}
        root = self.source.resolve()
        for line in self.log.read_text(encoding="utf-8").splitlines():
            folder, clang, words = json.loads(line)
            flags = program_flags(words)
            arguments = {value for word, value in pairwise(words) if word in ("-include", "-o", "-MF", "-MT", "-MQ")}
            for word in words:
                path = Path(folder, word).resolve()
                if word.startswith("-") or word in arguments or not word.endswith(SOURCES) or path in sources:
                    continue
                if not path.is_relative_to(root) or not path.is_file() or PROBES.search(str(path)):
                    continue
                file = path.relative_to(root).as_posix()
                if any(fnmatch(file, glob) for glob in self.program.exclude):
                    continue
                sources[path] = Source(path, file, folder, [clang, *flags, word])
        return sorted(sources.values(), key=lambda source: digest(f"{source.file}/{self.program.name}"))

    def compile(self) -> dict[str, Any]:
        """IR of every source that ran, in three forms, and the counts of the first as tables."""
        for form in FORMS:
            shutil.rmtree(self.out / form / self.program.name, ignore_errors=True)
        sources = self.sources()
        rows = _Rows(self.program.name)
        facts: Counter[str] = Counter(sources=len(sources), over_cap=max(0, len(sources) - self.program.cap))
        for source in sources[: self.program.cap]:
            try:
                facts[self._compile_one(source, rows)] += 1
            except (FailedError, MirencError, TimeoutExpired) as error:
                facts["not_compiled"] += 1
                print(f"{self.program.name}: {source.file}: {one_line(str(error))[:200]}", file=sys.stderr)
        rows.save(self.out / "parts")
        return {**facts, **rows.facts}

    def _compile_one(self, source: Source, rows: _Rows) -> str:
        """Compile one source; what became of it."""
        place = {form: self.out / form / self.program.name / f"{source.file}.ll" for form in FORMS}
        for path in place.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        front_end = [*source.command, *LENIENT, "-S", "-emit-llvm", "-o"]
        profile_flags = [f"-fprofile-instr-use={self.profile}", "-g1", f"-fdebug-prefix-map={self.source.resolve()}=."]
        try:
            call([*front_end, str(place["IR"]), *FRONT, *profile_flags], COMPILE_SECONDS, source.folder)
            if not any(
                int(count) for _, count in _COUNT.findall(place["IR"].read_text(encoding="utf-8", errors="replace"))
            ):
                place["IR"].unlink()
                return "did_not_run"
            call(
                [OPT, "-S", "-passes=function(sroa<preserve-cfg>)", str(place["IR"]), "-o", str(place["SSA"])],
                COMPILE_SECONDS,
            )
            call([*front_end, str(place["O1"]), "-O1", *profile_flags], COMPILE_SECONDS, source.folder)
            counters = self.folder / "counters.ll"
            call([*front_end, str(counters), *FRONT, COUNTED[0]], COMPILE_SECONDS, source.folder)
            if weights_of(place["IR"]) != weights_of(place["SSA"]):
                raise FailedError("SSA has other branches than the front end's form")
            rows.add(source.file, read_ir(place["IR"]), counter_names(counters))
        except BaseException:
            for path in place.values():
                path.unlink(missing_ok=True)
            raise
        return "files"


def counter_names(path: Path) -> dict[str, tuple[str, str]]:
    """Of each function of IR with counters the key of its profile: name and hash."""
    names: dict[str, tuple[str, str]] = {}
    function = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("define "):
            match = _DEFINED.match(line)
            function = match[1].strip('"') if match else ""
        elif (matched := _COUNTER.search(line)) and function not in names:
            names[function] = matched[1].strip('"'), matched[2]
    return names


def weights_of(path: Path) -> list[str]:
    """Weights of all branches of a file, in their order."""
    text = path.read_text(encoding="utf-8", errors="replace")
    nodes = {name.partition(" ")[0]: words for name, words in _WEIGHTS.findall(text)}
    return [nodes[name] for name in _ATTACHED.findall(text) if name in nodes]


class Counts:
    """What the profile of a module in the front end's form says: exact counts of B blocks and C edges, -1 unknown."""

    def __init__(self, module: IRModule) -> None:
        self.module, arrays = module, module.arrays
        text = module.annotated
        nodes = {
            name.partition(" ")[0]: [int(weight) - 1 for weight in _WEIGHT.findall(words)]
            for name, words in _WEIGHTS.findall(text)
        }
        entry_counts = dict(_COUNT.findall(text))
        self.lines = lines = text.split("\n")
        self.places = {name: int(line) for name, line in _PLACES.findall(text)}
        self.starts = arrays.successor_start.tolist()
        self.successor = arrays.successor.tolist()
        self.edges = [-1] * len(self.successor)
        self.branch_counts: dict[int, list[int]] = {}  # block -> counts of its branch
        self.ends = [lines[arrays.line[end - 1]].strip() for end in arrays.block_start[1:].tolist()]
        for block, end in enumerate(self.ends):
            matched = _ATTACHED.search(end)
            counts = nodes.get(matched[1], []) if matched else []
            if counts and len(counts) == self.starts[block + 1] - self.starts[block]:
                self.branch_counts[block] = counts
                self.edges[self.starts[block] : self.starts[block + 1]] = counts
        self.entries: dict[int, int] = {}  # function -> how often it was called, of those with a profile
        for number, header in enumerate(module.headers):
            if not header.is_declaration and (match := _ENTERED.match(lines[header.line])):
                self.entries[number] = int(entry_counts.get(match[1], 0))

    def solve(self, number: int) -> tuple[list[int], bool, bool]:
        """Executions of a function's blocks by what flows in and out, -1 unknown; whether all agrees; if it is assumed.

        Fills in `edges`. Calls that never come back (``exit``, ``longjmp``) are what it does not agree on; assumed is,
        where that alone tells more, that no ``invoke`` unwinds.
        """
        header = self.module.headers[number]
        first, last = header.first_block, header.last_block
        incoming: list[list[int]] = [[] for _ in range(first, last)]
        for edge in range(self.starts[first], self.starts[last]):
            incoming[self.successor[edge] - first].append(edge)
        invokes = [block for block in range(first, last) if " invoke " in f" {self.ends[block]}"]
        unwinding = [self.starts[block + 1] - 1 for block in invokes]
        blocks, agrees, edges = [-1] * (last - first), True, self.edges
        assumed, changed = False, True
        while changed or not assumed:
            if not changed:
                unwinding = [edge for edge in unwinding if edges[edge] < 0]
                if not unwinding:
                    break
                assumed = True
                for edge in unwinding:
                    edges[edge] = 0
            changed = False
            for block in range(last - first):
                out = range(self.starts[first + block], self.starts[first + block + 1])
                edge_sets: list[Iterable[int]] = [out] if len(out) else []
                if block:
                    edge_sets.append(incoming[block])
                for edge_set in edge_sets:
                    if blocks[block] < 0 and all(edges[edge] >= 0 for edge in edge_set):
                        blocks[block], changed = sum(edges[edge] for edge in edge_set), True
                if not block and blocks[block] < 0:
                    blocks[block], changed = self.entries[number], True
                for edge_set in edge_sets:
                    unknown = [edge for edge in edge_set if edges[edge] < 0]
                    if unknown and not blocks[block]:
                        for edge in unknown:
                            edges[edge], changed = 0, True
                    elif blocks[block] >= 0 and len(unknown) == 1:
                        remainder = blocks[block] - sum(edges[edge] for edge in edge_set if edge != unknown[0])
                        agrees &= remainder >= 0
                        edges[unknown[0]], changed = max(remainder, 0), True
        for block, count in enumerate(blocks):
            if count >= 0 and block and all(edges[edge] >= 0 for edge in incoming[block]):
                agrees &= count == sum(edges[edge] for edge in incoming[block])
        return blocks, agrees and blocks[0] == self.entries[number], assumed

    def entered(self, header: int, members: set[int], executions: int) -> int:
        """How often a loop was entered, after `solve`; -1 unknown."""
        outer: list[int] = []
        latches: list[int] = []
        function = self.module.headers[self.module.arrays.function[self.module.arrays.block_start[header]]]
        for block in range(function.first_block, function.last_block):
            for edge in range(self.starts[block], self.starts[block + 1]):
                if self.successor[edge] == header:
                    (latches if block in members else outer).append(self.edges[edge])
        if min(outer, default=0) >= 0:
            return sum(outer)
        return executions - sum(latches) if min(latches, default=-1) >= 0 else -1

    def place(self, block: int) -> int:
        """Line of the source that a block's end is of; 0 unknown."""
        match = _PLACE.search(self.ends[block])
        return self.places.get(match[1], 0) if match else 0


def undone(module: IRModule) -> IRModule:
    """The module with counts for weights: without the one that clang adds."""

    def less(match: re.Match[str]) -> str:
        return f"{match[1]}{_WEIGHT.sub(lambda one: f'i32 {int(one[1]) - 1}', match[2])}}}"

    return replace(module, annotated=_WEIGHTS.sub(less, module.annotated))


def flow_of(module: IRModule) -> Flow | None:
    """`profiled_flow`; None where that cannot solve it: a loop without an end."""
    try:
        return profiled_flow(module)
    except RuntimeError:
        return None


WORDS = {name: pa.string() for name in ("project", "file", "function")}
SCHEMAS = {
    "branches": pa.schema(
        {**WORDS, "block": pa.int32(), "taken_first": pa.int64(), "other": pa.int64(), "switch": pa.bool_()}
        | {"counts": pa.list_(pa.int64()), "saturated": pa.bool_(), "line": pa.int32(), "test": pa.bool_()}
    ),
    "loops": pa.schema(
        {**WORDS, "header": pa.int32(), "depth": pa.int32(), "entries": pa.int64(), "executions": pa.int64()}
        | {"agrees": pa.bool_(), "assumed": pa.bool_(), "line": pa.int32(), "test": pa.bool_()}
    ),
    "functions": pa.schema(
        {
            **WORDS,
            "entries": pa.int64(),
            "blocks": pa.int32(),
            "agrees": pa.bool_(),
            "assumed": pa.bool_(),
            "test": pa.bool_(),
        }
    ),
}


class _Rows:
    """The tables of one project, grown file by file."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        self.homes: dict[tuple[str, str], set[str]] = defaultdict(set)  # key of a profile -> files that have it
        self.keys: dict[tuple[str, str], tuple[str, str, bool]] = {}  # file and function -> key; whether copies are one
        self.facts: Counter[str] = Counter()

    def add(self, file: str, module: IRModule, names: dict[str, tuple[str, str]]) -> None:
        """One file that ran."""
        counts = Counts(module)
        loops, flows = find_loops(module), [flow_of(module), flow_of(undone(module))]
        self.facts["files_without_flow"] += None in flows
        loops_of_function: dict[int, list[int]] = defaultdict(list)
        for row, number in enumerate(loops.function.tolist()):
            loops_of_function[number].append(row)
        members: dict[int, set[int]] = defaultdict(set)
        for block, row in zip(*(rows.tolist() for rows in loops.members()), strict=True):
            members[row].add(block)
        test = {"test": TESTS.search(file) is not None}

        def compare(kind: str, block: int, executions: int) -> None:
            self.facts[f"{kind}_compared"] += 1
            for name, flow in zip(("as_is", "without_the_one"), flows, strict=True):
                self.facts[f"{kind}_right_{name}"] += flow is not None and bool(
                    abs(flow.blocks[block] - executions) < 0.5
                )

        for number, entries in counts.entries.items():
            if not entries:
                continue
            header = module.headers[number]
            name = header.name.strip('"')
            columns = {"project": self.project, "file": file, "function": name}
            self.facts["mains"] += name == "main"
            key = names.get(name, (name, ""))
            self.homes[key].add(file)
            self.keys[file, name] = (*key, ODR.match(counts.lines[header.line]) is not None)
            first, (blocks, agrees, assumed) = header.first_block, counts.solve(number)
            row_values: dict[str, Any] = {
                "entries": entries,
                "blocks": len(blocks),
                "agrees": agrees,
                "assumed": assumed,
            }
            self.rows["functions"].append({**columns, **row_values, **test})
            for block in range(first, header.last_block):
                if total := sum(edge_counts := counts.branch_counts.get(block, [])):
                    row_values = {
                        "block": block - first,
                        "taken_first": edge_counts[0],
                        "other": total - edge_counts[0],
                        "counts": edge_counts,
                    }
                    row_values |= {
                        "switch": counts.ends[block].startswith("switch"),
                        "saturated": max(edge_counts) >= SATURATED,
                    }
                    self.rows["branches"].append({**columns, **row_values, "line": counts.place(block), **test})
                    compare("blocks", block, total)
            for row in loops_of_function[number]:
                start = int(loops.header[row])
                executions, visits = blocks[start - first], counts.entered(start, members[row], blocks[start - first])
                if executions < 0 or visits < 0:
                    self.facts["loops_unknown"] += 1
                elif executions:
                    row_values = {"header": start - first, "depth": int(loops.depth[row]), "entries": visits}
                    row_values |= {
                        "executions": executions,
                        "agrees": agrees,
                        "assumed": assumed,
                        "line": counts.place(start),
                    }
                    self.rows["loops"].append({**columns, **row_values, **test})
                    compare("loops", start, executions)

    def _kept_functions(self) -> Iterator[tuple[str, str]]:
        kept_keys: set[tuple[str, str]] = set()
        for (file, function), (name, digits, is_one) in self.keys.items():
            copies = len(self.homes[name, digits])
            if copies == 1 or (is_one and (name, digits) not in kept_keys):
                yield file, function
            else:
                self.facts["functions_copied" if is_one else "functions_ambiguous"] += 1
            kept_keys.add((name, digits))

    def save(self, folder: Path) -> None:
        """Write the tables; a function that several files have is there once if C++ says it is one, else not."""
        chosen = set(self._kept_functions())
        for name, schema in SCHEMAS.items():
            rows = [row for row in self.rows[name] if (row["file"], row["function"]) in chosen]
            folder.joinpath(name).mkdir(parents=True, exist_ok=True)
            write_parquet(folder / name / f"{self.project}.parquet", pa.Table.from_pylist(rows, schema))


def call(command: Sequence[str], seconds: float, folder: str = "") -> None:
    """FailedError: with what the command said."""
    process = run_limited(command, timeout=seconds, memory_limit=None, folder=folder, most_output=0)
    if process.code:
        errors = [line for line in process.words.splitlines() if "rror" in line] or [process.words[-200:]]
        raise FailedError(f"{Path(command[0]).name}: {one_line(errors[0])[:200]}")


def output_of(*command: str) -> str:
    """What a command says on its standard output."""
    return run_limited(command, timeout=60, memory_limit=None).output.decode()


def gather(out: Path, works: Sequence[Work]) -> dict[str, Any]:
    """The projects' tables in one, and how many rows they have."""
    finished = [work for work in works if "compile" in work.state]
    tables = {}
    for name, schema in SCHEMAS.items():
        parts = [out / "parts" / name / f"{work.program.name}.parquet" for work in finished]
        tables[name] = pa.concat_tables([pq.read_table(part) for part in parts] or [schema.empty_table()])
        write_parquet(out / f"{name}.parquet", tables[name])
    branches, switch = tables["branches"], tables["branches"]["switch"]
    switches, tests = pc.sum(switch).as_py() or 0, pc.and_not(branches["test"], switch)
    projects = {entry["values"]: entry["counts"] for entry in branches["project"].value_counts().to_pylist()}
    facts: Counter[str] = Counter()
    for work in finished:
        facts.update({key: value for key, value in work.state["compile"].items() if key != "seconds"})
    record = {
        **facts,
        "projects": len(projects),
        "functions": len(tables["functions"]),
        "branches": len(branches) - switches,
        "switches": switches,
        "loops": len(tables["loops"]),
        "branches_of_tests": pc.sum(tests).as_py() or 0,
        "functions_that_agree": pc.sum(tables["functions"]["agrees"]).as_py() or 0,
        "seconds": {step: round(sum(work.state[step]["seconds"] for work in finished), 1) for step in STEPS},
        "by_project": {
            work.program.name: {
                "rows": projects.get(work.program.name, 0),
                **{step: work.state[step] for step in STEPS},
            }
            for work in finished
        },
        "failed": {work.program.name: work.state["failed"] for work in works if "failed" in work.state},
    }
    write_json(out / "summary.json", record)
    return record


def main(words: Sequence[str] | None = None) -> None:
    """Count what is asked for on the command line, or in ``words``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("names", nargs="*", help="of programs, in the order wanted; default: all")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args(words)
    out = arguments.output.resolve()
    values = load_toml(arguments.recipe)
    programs = [Program.from_dict(item, where=f"{arguments.recipe}: {item.get('name')}") for item in values["program"]]
    works = {program.name: Work(program, out, arguments.recipe) for program in programs}
    if unknown := set(arguments.names) - set(works):
        parser.error(f"no program {', '.join(sorted(unknown))} in {arguments.recipe}")
    with only_one(out):
        for name in arguments.names or works:
            try:
                works[name].go()
            except (FailedError, MirencError, TimeoutExpired, OSError, RuntimeError, ValueError) as error:
                works[name].did(failed=one_line(str(error))[:300])
                print(f"{name}: {error}", file=sys.stderr)
            record = gather(out, list(works.values()))
            print(f"{name}: {record['projects']} projects, {record['branches']:,} branches that ran", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what runs ends, too
    main()
