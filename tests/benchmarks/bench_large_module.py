"""Seconds and memory for one large real module, one tiny and many small files, beside IR2Vec 2.1.1 and llvm2graph-10.

Run by hand, see README.md here; no test runs this, and the tables are those of `speed_tables.py`. Every figure is of a
process of its own, and the tools take turns in each round, so that whatever else the machine does hits all alike.
Figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from speed_tables import (
    CHANGED,
    COLD,
    FLOW_AWARE,
    FUNCTIONS,
    FUNCTIONS_BESIDE,
    GRAPH,
    INSTRUCTIONS,
    INSTRUCTIONS_BESIDE,
    PEERS,
    PROGRAML,
    SAME,
    SYMBOLIC,
    TINY,
    complete_page,
)

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
SMALL = FIXTURES / "ir" / "llvm10" / "numeric.O1.ll"
JOBS = HERE / "jobs.py"
# Run by the peers' Python: what is installed there.
ASK_PEERS = """
import importlib.metadata as m, importlib.util as u, json
from pathlib import Path
program = Path(u.find_spec("programl").origin).parent / "bin" / "llvm2graph-10"
print(json.dumps({"IR2Vec": m.version("IR2Vec"), "programl": m.version("programl"), "llvm2graph": str(program)}))
"""

STAGES = "mirenc, stage by stage, no cache"


@dataclass(frozen=True)
class Run:
    """One process, start to end.

    Attributes
    ----------
    wall, cpu : float, seconds
        ``cpu`` is user and system time of the process and its children.
    peak : int, bytes
        Largest resident size; of mirenc, its LLVM process is added, each at its own largest.
    together : int, bytes
        Of mirenc, the largest sum of both at one time; else ``peak``.
    detail : dict
        What a job of jobs.py printed; empty for other programs.
    """

    wall: float
    cpu: float
    peak: int
    together: int
    detail: dict[str, Any] = field(default_factory=dict)


Command = Sequence[str | Path]


def run(command: Command, *, is_job: bool = False, cache: Path | None = None) -> Run:
    """Run a program to its end.

    Parameters
    ----------
    command : sequence of str or path
    is_job : bool
        It is one of jobs.py, and its output is kept.
    cache : path, optional
        Cache folder for the ``mirenc`` command.
    """
    environment = os.environ | ({"MIRENC_CACHE": str(cache)} if cache else {})
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        # A graph of 40 MB is nobody's to read: into the void.
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=out if is_job else subprocess.DEVNULL,
            stderr=err,
            env=environment,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        # wait4 took the exit status; Popen must not wait for it again.
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            words = err.read().decode("utf-8", "replace").strip()
            raise SystemExit(f"{' '.join(map(str, command))}\nended with {status}: {words}")
        detail = json.loads(out.read()) if is_job else {}
    peak = sum(detail["peak"].values()) if is_job else usage.ru_maxrss * 1024
    return Run(wall, usage.ru_utime + usage.ru_stime, peak, detail.get("together", peak), detail)


def rounds(count: int, programs: dict[str, Callable[[int], Run]]) -> dict[str, list[Run]]:
    """Every program once a round; each gets the number of the round."""
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for number in range(count):
        for name, program in programs.items():
            runs[name].append(program(number))
            print(f"round {number + 1}/{count}  {runs[name][-1].wall:7.2f} s  {name}", file=sys.stderr)
    return runs


def llvm10_text(text: str) -> str:
    """The module as LLVM 10 reads it, by the rules of the fixtures."""
    sys.path.insert(0, str(FIXTURES))
    from make import LLVM10_REWRITES

    for pattern, replacement in LLVM10_REWRITES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def with_renamed_function(text: str, number: int) -> str:
    """The module with its first function under another name: a file not seen, most statements of which were."""
    name = re.search(r"^define [^@\n]*@([\w.$]+)\(", text, re.MULTILINE)
    if name is None:
        raise SystemExit("the module defines no function with a plain name")
    return re.sub(rf"@{re.escape(name[1])}\b", f"@{name[1]}_{number}", text)


def large_module(options: argparse.Namespace, program: str, work: Path) -> dict[str, list[Run]]:
    """All processes on the large module."""
    text = options.module.read_text(encoding="utf-8")
    downgraded = work / "llvm10.ll"
    downgraded.write_text(llvm10_text(text), encoding="utf-8")
    here = [sys.executable, JOBS]

    def changed(number: int) -> Run:
        file = work / "renamed.ll"
        file.write_text(with_renamed_function(text, number), encoding="utf-8")
        return run([*here, "embed", file, options.model, work / f"cache{number}"], is_job=True)

    def embed(number: int) -> Run:
        cache = work / f"cache{number}"
        return run([*here, "embed", options.module, options.model, cache], is_job=True)

    def rows(level: str, number: int) -> Run:
        cache = work / f"cache-{level}{number}"
        return run([*here, "embed", options.module, options.model, cache, level], is_job=True)

    def ir2vec(mode: str, level: str = "module") -> Run:
        return run([options.peers, JOBS, "ir2vec", options.module, mode, level], is_job=True)

    # COLD fills the round's cache, from which CHANGED and SAME are answered: the order matters.
    return rounds(
        options.repeats,
        {
            STAGES: lambda _: run([*here, "stages", options.module, options.model], is_job=True),
            COLD: embed,
            FLOW_AWARE: lambda _: ir2vec("fa"),
            CHANGED: changed,
            SYMBOLIC: lambda _: ir2vec("sym"),
            SAME: embed,
            FUNCTIONS: lambda number: rows("function", number),
            FUNCTIONS_BESIDE: lambda _: ir2vec("fa", "function"),
            INSTRUCTIONS: lambda number: rows("instruction", number),
            INSTRUCTIONS_BESIDE: lambda _: ir2vec("fa", "instruction"),
            GRAPH: lambda _: run([*here, "graph", downgraded], is_job=True),
            PROGRAML: lambda _: run([program, "--stdout_fmt=pb", downgraded]),
        },
    )


def small_file(options: argparse.Namespace, program: str, work: Path) -> dict[str, list[Run]]:
    """Whole processes on a file of the fixtures: what starting costs."""
    mirenc = Path(sys.executable).with_name("mirenc")
    embed = [mirenc, "embed", SMALL, "--model", options.model]
    cache = work / "small"
    run(embed, cache=cache)  # so that every round finds the file in the cache

    return rounds(
        options.small_repeats,
        {
            "mirenc --help": lambda _: run([mirenc, "--help"]),
            TINY: lambda _: run([*embed, "--no-cache"]),
            "mirenc embed, seen before": lambda _: run(embed, cache=cache),
            SYMBOLIC: lambda _: run([options.peers, JOBS, "ir2vec", SMALL, "sym"], is_job=True),
            FLOW_AWARE: lambda _: run([options.peers, JOBS, "ir2vec", SMALL, "fa"], is_job=True),
            "llvm2graph-10": lambda _: run([program, "--stdout_fmt=pb", SMALL]),
        },
    )


def many_files(options: argparse.Namespace, work: Path) -> dict[str, float]:
    """Files a second of ``mirenc embed`` on a folder, with an empty cache: the whole process, median of the rounds."""
    from bench_many_files import run as embed_folder

    checkout, folder = HERE.parents[1], options.many.resolve()
    files = len(list(folder.glob("*.ll")))
    runs = [
        embed_folder(checkout, folder, options.model, work / f"many{number}", work / "many.npy")
        for number in range(options.repeats)
    ]
    wall, cpu = (statistics.median(each[clock] for each in runs) for clock in ("wall", "cpu"))
    return {"files": files, "seconds": wall, "cpu_seconds": cpu, "files_a_second": files / wall}


def summary(runs: list[Run], beside: list[Run] | None = None) -> dict[str, float]:
    """Medians of a process; of one with a peer how many times as fast it was, round by round."""
    wall = [one.wall for one in runs]
    medians = {
        "seconds": statistics.median(wall),
        "least": min(wall),
        "most": max(wall),
        "cpu_seconds": statistics.median(one.cpu for one in runs),
        "peak_mb": statistics.median(one.peak for one in runs) / 1e6,
        "together_mb": statistics.median(one.together for one in runs) / 1e6,
    }
    if beside is not None:
        medians["times_as_fast"] = statistics.median(
            theirs.wall / ours.wall for ours, theirs in zip(runs, beside, strict=True)
        )
    return {name: round(value, 3) for name, value in medians.items()}


def record_of(
    large: dict[str, list[Run]], small: dict[str, list[Run]], many: dict[str, float] | None
) -> dict[str, Any]:
    """What `speed_tables.py` makes tables of."""
    stages = large[STAGES]
    names = [name for name in stages[0].detail["seconds"] if name != "load"]
    beside = {name: large[peer] for name, (peer, _) in PEERS.items()}
    return {
        "counts": stages[0].detail["counts"],
        "rounds": {"large": len(stages), "small": len(small[TINY])},
        "large": {name: summary(runs, beside.get(name)) for name, runs in large.items() if name != STAGES},
        "stages": {name: round(statistics.median(one.detail["seconds"][name] for one in stages), 3) for name in names},
        "small_bytes": SMALL.stat().st_size,
        "small": {name: summary(runs, small[SYMBOLIC] if name == TINY else None) for name, runs in small.items()},
        "many": many,
    }


def circumstances(options: argparse.Namespace, peers: dict[str, str]) -> dict[str, Any]:
    """Where and with what; nothing that names the machine."""
    import importlib.metadata

    from mirenc import __version__

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cpu = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    versions = {name: importlib.metadata.version(name) for name in ("llvmlite", "numpy")}
    return {
        "machine": {
            "cpu": cpu[1] if cpu else platform.machine(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(memory / 2**30),
            "load_before": round(os.getloadavg()[0], 2),
        },
        "python": platform.python_version(),
        # A checkout need not be installed.
        "versions": {"mirenc": __version__} | versions | {name: peers[name] for name in ("IR2Vec", "programl")},
        "model": Path(options.model).name,
        "module": options.module.name,
    }


def main() -> None:
    """Measure and print the tables."""
    from mirenc.encoder.weights import DEFAULT_MODEL

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=Path, help="what make_module.sh wrote")
    parser.add_argument("--model", help="model name or folder [default: the packaged one]")
    parser.add_argument("--peers", type=Path, default=sys.executable, help="Python that has IR2Vec and programl [this]")
    parser.add_argument(
        "--many", type=Path, metavar="FOLDER", help="what `bench_many_files.py FOLDER --make 3000` wrote"
    )
    parser.add_argument("--repeats", type=int, default=3, help="rounds on the large module")
    parser.add_argument("--small-repeats", type=int, default=7, help="rounds on the small file")
    parser.add_argument("--record", type=Path, help="file for the record: runs.json here, for speed_tables.py")
    options = parser.parse_args()
    # Without .resolve(): the link to its Python is what makes an environment.
    options.module, options.peers = (Path(os.path.abspath(path)) for path in (options.module, options.peers))
    options.model = options.model or DEFAULT_MODEL
    if os.path.isdir(options.model):
        options.model = os.path.abspath(options.model)
    peers_asked = subprocess.run([options.peers, "-c", ASK_PEERS], capture_output=True, text=True)
    if peers_asked.returncode:
        raise SystemExit(f"{options.peers} lacks IR2Vec or programl:\n{peers_asked.stderr}")
    peers = json.loads(peers_asked.stdout)
    record = circumstances(options, peers)
    with tempfile.TemporaryDirectory() as folder:
        small = small_file(options, peers["llvm2graph"], Path(folder))
        large = large_module(options, peers["llvm2graph"], Path(folder))
        many = many_files(options, Path(folder)) if options.many else None
    record |= record_of(large, small, many)
    print(complete_page(record))
    if options.record:
        options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
