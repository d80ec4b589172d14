"""A method of a few C functions that do what a variant may do: be faster, be the same, crash, hang, flood, differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mirenc.base.errors import CompileError
from mirenc.decide.context import Context
from mirenc.decide.protocols import Protocol
from mirenc.decide.settings import Space
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredTask
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.measure.building import build_driver
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.runners import Build, Cell
from mirenc.tools.run.compilers import Toolchain, compile_problem

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
void scale(float *x, long n) {
#if FLAVOUR_crash
  abort();
#elif FLAVOUR_hang
  for (volatile int forever = 1; forever;) {}
#elif FLAVOUR_flood
  for (;;) puts("a line that is written again and again, and nobody wants to read any of it");
#elif FLAVOUR_broken
  this is no C;
#endif
#if FLAVOUR_fast
#pragma clang loop vectorize_width(8)
#else
#pragma clang loop vectorize(disable) interleave(disable)
#endif
  for (long i = 0; i < n; i++)
    x[i] = x[i] * 2.0f + 1.0f;
#if FLAVOUR_wrong
  x[n / 2] += 1.0f;
#endif
}
"""
DRIVER = """
#include "mirenc_measure.h"
#include <stdlib.h>
const char mirenc_function[] = "scale";
const long mirenc_sizes[] = {1000, 0};
const char mirenc_types[] = "f";
static float *x;
static long n;
int mirenc_setup(long size) { n = size; x = malloc(sizeof *x * n); return x == 0; }
void mirenc_reset(void) { for (long i = 0; i < n; i++) x[i] = (float)(i % 7); }
void mirenc_call(mirenc_kernel kernel) { ((void (*)(float *, long))kernel)(x, n); }
long mirenc_output(int index, void **data) { *data = x; return index == 0 ? n : -1; }
"""
# Of a GPU kernel that adds a * x to y by way of local memory, which is the parameter before `a` or the last.
TILE = '[[argument]]\nname = "tile"\nlocal = "4 * bx"\n'
SCALED = """\
kernel = "scaled"
sizes = [1000]
global = ["n"]
[[argument]]
name = "x"
buffer = "float"
count = "n"
fill = "ramp"
[[argument]]
name = "y"
buffer = "float"
count = "n"
fill = "ramp"
output = true
{first}[[argument]]
name = "a"
scalar = "float"
value = 2
[[argument]]
name = "n"
scalar = "int"
value = "n"
{last}"""
FLAVOURS = ("plain", "same", "fast", "wrong", "crash", "hang", "flood", "broken")
SPACE = Space(("flavour",), tuple((flavour,) for flavour in FLAVOURS), missing="never")


def kernel(size: int = 1000, **changes: Any) -> MeasuredKernel:
    fields = {"source": SOURCE, "driver": DRIVER, "line": 0, "name": f"scale{size}", "group": f"g{size % 3}", **changes}
    return MeasuredKernel(family="toys", language="c", function="scale", size=size, context={"n": size}, **fields)


class ToyMethod(Method):
    """Two kernels, one flavour a setting; ``same`` is the same code as ``plain``."""

    task, default_count, knobs, space = "toy", 2, SPACE.knobs, SPACE

    def __init__(self, flavours: Sequence[str] = FLAVOURS) -> None:
        self.flavours = flavours
        self.built: list[str] = []

    def parts(self) -> tuple[str, ...]:
        return ("",)

    def find_compiler(self, compiler: str | None) -> Toolchain:
        return Toolchain(find_compiler("cl", compiler)[0], ("-O2",), timeout=30.0)

    def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
        yield from (kernel(1000 + number, source=f"{SOURCE}// {number}\n") for number in range(count))

    def user_kernels(self, paths: Sequence[Path], toolchain: Toolchain) -> Iterator[MeasuredKernel]:
        for path in paths:
            yield kernel(source=path.read_text(), name=path.stem)

    def build(self, kernel: MeasuredKernel, part: str, folder: Path, toolchain: Toolchain) -> Build:
        self.built.append(kernel.name)
        driver = build_driver(kernel, folder, toolchain)
        (folder / "kernel.c").write_text(kernel.source)
        cells = [self._cell(flavour, folder, toolchain) for flavour in FLAVOURS]
        copy = self._cell("plain", folder, toolchain, name="copy")
        if cells[0].problem:
            raise CompileError(cells[0].problem)
        ir = folder / "kernel.ll"
        problem = compile_problem([*self._command(toolchain), "-S", "-emit-llvm", "-O1", *self._io(folder, ir)], 30.0)
        assert not problem
        return Build(tuple(cells), copy, driver, ir.read_text(), "scale", "")

    def _cell(self, flavour: str, folder: Path, toolchain: Toolchain, name: str = "") -> Cell:
        library = f"{name or flavour}.so"
        if flavour not in self.flavours:
            return Cell((flavour,), (flavour,), problem="compile: left out")
        command = [*self._command(toolchain), "-shared", "-fPIC", f"-DFLAVOUR_{flavour}=1"]
        problem = compile_problem([*command, *self._io(folder, folder / library)], 30.0)
        code = "" if problem else hashlib.sha256((folder / library).read_bytes()).hexdigest()
        return Cell((flavour,), (flavour,), code, library, "scale", problem=problem)

    @staticmethod
    def _command(toolchain: Toolchain) -> list[str]:
        return [toolchain.compiler, *toolchain.cflags]

    @staticmethod
    def _io(folder: Path, output: Path) -> list[str]:
        return ["-o", str(output), str(folder / "kernel.c")]


class Toy(MeasuredTask):
    name, title, source = "toy", "toy", "this test"
    method = "tools.measure.toy:ToyMethod"
    space, level, context = SPACE, "function", Context("n")
    protocols = (Protocol("kernel", "by kernel", lambda data: data.group, folds=2),)
