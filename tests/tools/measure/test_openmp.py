"""Measuring OpenMP: the project's kernels, the user's, and one kernel all the way to an answer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import mirenc
from mirenc.base.errors import TaskError
from mirenc.decide.evaluation.evaluate_task import Evaluation
from mirenc.decide.fit import fit_head
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir
from mirenc.tools.measure import openmp, timekeeper
from mirenc.tools.measure.building import INCLUDE
from mirenc.tools.measure.method import get_method
from mirenc.tools.measure.openmp import OpenMPMethod
from mirenc.tools.measure.timed import Objects, TimedRun
from mirenc.tools.run.compilers import Toolchain
from mirenc.tools.run.run_folder import Plan

KERNELS = sorted((INCLUDE / "kernels" / "openmp").glob("*.driver.c"))
NAMES = [path.name.removesuffix(".driver.c") for path in KERNELS]
ANY = Toolchain("clang")  # where nothing is compiled
DRIVER = """
#include "mirenc_measure.h"
#include <stdlib.h>
const char mirenc_function[] = "work";
const long mirenc_sizes[] = {100, 2000, 0};
const char mirenc_types[] = "d";
static double *x;
static long n;
int mirenc_setup(long size) { n = size; x = calloc(size, sizeof *x); return x == 0; }
void mirenc_reset(void) { for (long i = 0; i < n; i++) x[i] = 0; }
void mirenc_call(mirenc_kernel kernel) { ((void (*)(long, double *))kernel)(n, x); }
long mirenc_output(int index, void **data) { *data = x; return index == 0 ? n : -1; }
"""
SOURCE = """
static double half(double x) { return x / 2; }
void work(long n, double *x)
{
#pragma omp parallel for schedule(dynamic)
    for (long i = 0; i < n; i++)
        x[i] = half(i);
}
"""
# Runs in a process of its own: a kernel that goes wrong must not take the tests with it.
COMPARE = """
import ctypes, sys
from pathlib import Path
import numpy as np
from mirenc.tools.measure.runners import Cell
from mirenc.tools.measure.runners.c import CRunner
for path in map(Path, sys.argv[1:]):
    library, runner, name = ctypes.CDLL(str(path)), CRunner(), path.stem
    runner.load(path.parent, path.name, ctypes.c_long.in_dll(library, "mirenc_sizes").value)
    def outputs(threads):
        library.omp_set_num_threads(threads)
        found = runner.outputs(Cell((), (), library=path.name, symbol=name))
        assert len(found) == len(runner.types) and all(len(one) > 0 for one in found), name
        return found
    for letter, before, one, three in zip(runner.types, outputs(1), outputs(1), outputs(3), strict=True):
        assert np.array_equal(before, one), f"{name}: not the same after a reset"
        limit = {"d": 1e-9, "f": 1e-4}.get(letter, 0) * np.abs(one).max()
        assert np.isfinite(one).all(), name
        assert (np.abs(one.astype(float) - three) <= limit).all(), f"{name}: three threads differ"
        assert len(one) == 1 or (one != one[0]).any(), f"{name}: all outputs are equal"
"""


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine of one core, too: two threads take turns there, and no test asks how long they took."""
    monkeypatch.setattr(openmp, "_cores", lambda: 2)


@pytest.fixture(scope="session")
def tiny() -> Encoder:
    return mirenc.load("mirenc-tiny", cache=False)


def test_there_are_five_sizes_of_each_kernel() -> None:
    method = OpenMPMethod()
    kernels = list(method.own_kernels(10**6))
    assert len(kernels) == method.default_count == 5 * len(NAMES)
    assert len({kernel.name for kernel in kernels}) == len(kernels)
    assert {kernel.group for kernel in kernels[: len(NAMES)]} == set(NAMES)
    sizes = [sorted(kernel.size for kernel in kernels if kernel.group == name) for name in NAMES]
    assert [len(set(each)) for each in sizes] == [5] * len(NAMES)
    # Any beginning has all of a kernel's places: of 73 kernels, some 14 at their least size.
    least = {f"{name} n={each[0]}" for name, each in zip(NAMES, sizes, strict=True)}
    assert 10 <= sum(kernel.name in least for kernel in kernels[: len(NAMES)]) <= 20
    assert len({kernel.family for kernel in kernels}) >= 10
    assert kernels[:20] == list(method.own_kernels(20))
    for kernel in kernels:
        assert "#pragma omp parallel for" in kernel.source.splitlines()[kernel.line - 1]


@pytest.mark.needs("libomp")
@pytest.mark.parametrize("first", range(8))
def test_the_kernels_compile_without_a_warning_and_threads_change_no_output(tmp_path: Path, first: int) -> None:
    compiler = OpenMPMethod().find_compiler(None).compiler
    built = []
    for name in NAMES[first::8]:
        folder = INCLUDE / "kernels" / "openmp"
        sources = [str(folder / f"{name}.c"), str(folder / f"{name}.driver.c"), str(INCLUDE / "harness.c")]
        built.append(str(tmp_path / f"{name}.so"))
        flags = ["-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{INCLUDE}", "-lm"]
        subprocess.run([compiler, *sources, *flags, "-o", built[-1]], check=True)
    done = subprocess.run([sys.executable, "-c", COMPARE, *built], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def written(folder: Path, source: str = SOURCE, driver: str = DRIVER) -> Path:
    (folder / "mine.c").write_text(source)
    (folder / "mine.driver.c").write_text(driver)
    return folder / "mine.c"


def test_every_loop_of_the_users_function_is_a_kernel(tmp_path: Path) -> None:
    again = "#pragma omp parallel for\n    for (long i = 0; i < n; i++)\n        x[i] += 1;\n}\n"
    twice = SOURCE.removesuffix("}\n") + again
    other = "void other(int *x)\n{\n#pragma omp parallel for\n    for (int i = 0; i < 9; i++)\n        x[i] = 0;\n}\n"
    kernels = list(OpenMPMethod().user_kernels([written(tmp_path, other + twice)], ANY))
    assert [kernel.name for kernel in kernels] == [f"mine:{line} n={n}" for line in (11, 14) for n in (100, 2000)]
    assert kernels[0].context == {"n": 100}


def test_missing_parts_of_a_users_kernel_are_named(tmp_path: Path) -> None:
    method = OpenMPMethod()
    path = written(tmp_path, source="void work(void) {}\n")
    with pytest.raises(TaskError, match="'work' has no `#pragma omp parallel for`"):
        list(method.user_kernels([path], ANY))
    path = written(tmp_path, driver="int x;\n")
    with pytest.raises(TaskError, match=r"mine\.driver\.c: it does not say which function .* Write, for example"):
        list(method.user_kernels([path], ANY))
    (tmp_path / "mine.driver.c").unlink()
    with pytest.raises(TaskError, match=r"no driver mine\.driver\.c beside it"):
        list(method.user_kernels([path], ANY))


def test_sizes_may_say_that_they_are_long(tmp_path: Path) -> None:
    path = written(tmp_path, driver=DRIVER.replace("100, 2000, 0", "1000L, 0"))
    assert [kernel.size for kernel in OpenMPMethod().user_kernels([path], ANY)] == [1000]


@pytest.mark.needs("libomp")
def test_headers_beside_a_source_are_found_and_flags_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = openmp.openmp_space(2)
    monkeypatch.setattr(OpenMPMethod, "space", type(few)(few.knobs, few.settings[:2], missing="never"))
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "half.h").write_text("static inline double halved(double x) { return x / DIVISOR; }\n")
    include = '#include "half.h"\n'
    checked = "#include <assert.h>\n" + SOURCE.replace("half(i)", "halved(i)").replace("\n{\n", "\n{\n    assert(n);\n")
    path = written(folder, include + checked, include + DRIVER)
    method = OpenMPMethod()
    default = method.find_compiler(None)
    toolchain = Toolchain(default.compiler, (*default.cflags, "-DDIVISOR=2"), default.timeout)
    objects, kernel = Objects(tmp_path / "objects", method, toolchain), next(method.user_kernels([path], toolchain))
    build = objects.build(kernel, "")
    assert [cell.problem for cell in build.cells] == ["", ""]
    assert (objects.folder(kernel, "") / build.driver).is_file()
    assert str(tmp_path) not in build.ir
    assert str(Path.cwd()) not in build.ir
    assert re.search(r'c"(\./)?kernel\.c\\00"', build.ir)
    assert build.symbol in parse_ir(build.ir).text


def test_a_build_is_kept_until_all_its_sizes_are_measured(tmp_path: Path) -> None:
    method = OpenMPMethod()
    objects = Objects(tmp_path, method, Toolchain(sys.executable))  # nothing is compiled
    small, large = list(method.user_kernels([written(tmp_path)], ANY))
    other = replace(small, source=SOURCE.replace("2", "3"))
    folder = objects.folder(small, "")
    assert folder == objects.folder(large, "") != objects.folder(other, "")
    folder.mkdir(parents=True)
    objects.keep_for([(small, ""), (large, ""), (other, "")])
    objects.discard(small, "")
    assert folder.exists()
    objects.discard(large, "")
    assert not folder.exists()


@pytest.mark.needs("libomp")
def test_from_measuring_to_an_answer(tmp_path: Path, tiny: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)  # how noisy a test machine is decides nothing here
    # Two settings of two cores each way: every variant is a compiler's run.
    few = openmp.openmp_space(2)
    settings = (few.settings[0], few.settings[2], few.settings[10])
    monkeypatch.setattr(OpenMPMethod, "space", type(few)(few.knobs, settings, missing="never"))
    sources = []
    for number in range(3):
        folder = tmp_path / f"user{number}"
        folder.mkdir()
        path = written(folder, SOURCE.replace("x / 2", f"x / {number + 2}"))
        sources.append(path.rename(folder / f"mine{number}.c"))
        (folder / "mine.driver.c").rename(folder / f"mine{number}.driver.c")
    method = get_method("openmp")
    table = tmp_path / "table"
    table.mkdir()
    run = TimedRun(method, method.find_compiler(None), Plan(sources=tuple(sources), rounds=4), table)
    run.go(lambda *_, **__: None)
    assert list(run.objects.root.iterdir()) == []
    record = json.loads((table / "machine.json").read_text())
    assert (record["samples"], record["cells"]) == (6, {"ok": 18})
    assert str(tmp_path) not in "".join(kernel.ir for kernel in run.table().kernels.values())

    task = get_task("openmp")
    data = task.load(table)
    assert [sample.context for sample in data.samples[:2]] == [(100,), (2000,)]
    assert {sample.region.symbol for sample in data.samples if sample.region} == {"work.omp_outlined"}
    report = Evaluation.prepare(task, data, encoder=tiny, rows=["no_code", "both"]).run(seeds=(0,))
    assert report.figures("kernel", "both")["speedup_geometric"] > 0

    head = TaskHead.load(fit_head(task, data, tiny).save(tmp_path / "head"), task, encoder=tiny)
    (answer,) = head.predict(sources[0], {"n": 500})
    assert answer.region is not None
    assert (answer.region.line, answer.setting in settings) == (5, True)
    assert answer.seconds is not None
    assert min(answer.seconds.values()) > 0
