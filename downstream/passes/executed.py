"""Whether code is still right under the lists that win: the project's own loops, run with their drivers.

    python downstream/passes/executed.py TABLE -o EXECUTED.json

LLVM's verifier says that a module is well formed, not that it computes what it did. So the lists that are best most
often in a table of `mirenc label` compile generated loops, and every output must be that of -Oz. It needs the
table's libLLVM and clang.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from mirenc.base.errors import CompileError, MirencError
from mirenc.decide.tables.compiled import CompiledTable, PassList, read_compiled
from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.llvm.inputs.compile_source import compile_source
from mirenc.llvm.passes.find_llvm import SharedEngine, major_of
from mirenc.llvm.passes.size_after_passes import Engine
from mirenc.tools.measure.building import build_driver
from mirenc.tools.measure.passes.inputs import FLAGS
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.measure.timekeeper import Timekeeper
from mirenc.tools.measure.vectorization import VectorizationMethod
from mirenc.tools.run.compilers import Toolchain, clang_of, compile_problem

KERNELS, LISTS = 12, 10  # loops that are run, and lists that they are run under
_ROUNDS = 4  # the fewest; times decide nothing here


def winning_lists(table: CompiledTable) -> list[int]:
    """Numbers of the lists that are best most often, among those that beat -Oz; the most frequent first."""
    sizes = table.sizes.code_bytes
    best = Counter(np.where(np.isnan(sizes), np.inf, sizes).argmin(axis=1).tolist())
    return sorted((number for number in best if number), key=lambda number: (-best[number], number))[:LISTS]


def execute(engine: Engine, compiler: str, lists: Sequence[PassList]) -> dict[str, int]:
    """Compile and run generated loops under some lists; ``compiler`` is a clang of the engine's version.

    Counts ``loops`` that were run, and runs that were ``same`` as the first list's, ``differs``, ``crash`` or the like.
    """
    counts: Counter[str] = Counter()
    with closing(Timekeeper("c", _ROUNDS, pin=False)) as keeper, tempfile.TemporaryDirectory() as scratch:
        for kernel in VectorizationMethod().own_kernels(KERNELS):
            folder = Path(scratch, kernel.name)
            folder.mkdir()
            try:
                build = _build(kernel, folder, engine, compiler, lists)
            except MirencError:
                counts["loops_not_built"] += 1
                continue
            outcome = keeper.sample(kernel, "", build, folder, (0,))
            if outcome.status[0] != "ok" or outcome.dropped.startswith(("default", "driver", "a second", "the copy")):
                counts["loops_not_run"] += 1
                continue
            counts["loops"] += 1
            # `same`: the same code as an earlier list's, so the same outputs.
            counts.update("same" if status == "ok" else status for status in outcome.status[1:])
    return dict(sorted(counts.items()))


def _build(kernel: MeasuredKernel, folder: Path, engine: Engine, compiler: str, lists: Sequence[PassList]) -> Build:
    source = folder / "kernel.c"
    source.write_text(kernel.source, encoding="utf-8")
    ir = compile_source(source, "c", compiler=compiler, cflags=(*FLAGS, "-fPIC"))

    def cell(number: int, pipeline: str) -> Cell:
        library, bitcode = f"list{number}.so", folder / f"list{number}.bc"
        try:
            optimised = engine.run(ir, pipeline)
        except MirencError as error:
            return Cell((number,), (number,), problem=f"compile: {error}")
        bitcode.write_bytes(optimised.ir)
        command = [compiler, *FLAGS, "-w", "-fPIC", "-shared", "-o", str(folder / library), str(bitcode), "-lm"]
        return Cell((number,), (number,), optimised.digest, library, kernel.function, problem=compile_problem(command))

    *cells, copy = (cell(number, entry.pipeline) for number, entry in enumerate((*lists, lists[0])))
    if cells[0].problem:
        raise CompileError(cells[0].problem)
    return Build(tuple(cells), copy, build_driver(kernel, folder, Toolchain(compiler)), "")


def main() -> None:
    """Run the winning lists; print the counts, and write them with the lists' numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, metavar="TABLE")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    table = read_compiled(arguments.table)
    numbers = winning_lists(table)
    with SharedEngine(major_of(table.record["llvm"])) as engine:
        lists = [table.lists[number] for number in (0, *numbers)]
        record = {"lists": numbers, **execute(engine, clang_of(engine.version), lists)}
    print(record)
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
