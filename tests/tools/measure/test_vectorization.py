"""The vectorizer's settings, built: one function each in one shared object, checked by calling them."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mirenc.base.errors import CompileError, IRFileError, TaskError, ToolchainError
from mirenc.decide.registry import get_task
from mirenc.decide.tables.measured import MeasuredKernel, _kernel_row
from mirenc.llvm import parse_ir
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.measure import vectorization
from mirenc.tools.measure.building import c_sources, ir_of
from mirenc.tools.measure.vector_variants import build_variants
from mirenc.tools.run.compilers import Toolchain

SOURCE = """\
#include <stddef.h>
void scale(float *restrict a, const float *restrict b, size_t n) {
  for (size_t j = 0; j < 2; j++)
    for (size_t i = 0; i < n; i++)
      a[i] = 2 * b[i] + j;
}
"""
DRIVER = """\
#include "mirenc_measure.h"
#include <stddef.h>
const char mirenc_function[] = "scale";
const long mirenc_sizes[] = {100, 1000L, 0};
const char mirenc_types[] = "f";
static float a[1000], b[1000];
static long n;
int mirenc_setup(long size) { n = size; return 0; }
void mirenc_reset(void) {}
void mirenc_call(mirenc_kernel kernel) { ((void (*)(float *, const float *, size_t))kernel)(a, b, n); }
long mirenc_output(int index, void **data) { *data = a; return index ? -1 : n; }
"""
METHOD = vectorization.VectorizationMethod()
SPACE = get_task("vectorization").space


def written(folder: Path, source: str = SOURCE, driver: str = DRIVER) -> Path:
    (folder / "scale.driver.c").write_text(driver)
    path = folder / "scale.c"
    path.write_text(source)
    return path


@pytest.mark.needs("clang")
def test_a_source_may_lie_beside_the_folder_that_one_is_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert len(list(METHOD.user_kernels([written(tmp_path / "there")], METHOD.find_compiler(None)))) == 2


@pytest.mark.needs("clang")
def test_a_kernel_of_the_user_is_built(tmp_path: Path) -> None:
    kernels = list(METHOD.user_kernels([written(tmp_path)], METHOD.find_compiler(None)))
    assert [(kernel.name, kernel.line, kernel.size) for kernel in kernels] == [
        ("scale:4 n=100", 4, 100),
        ("scale:4 n=1000", 4, 1000),
    ]
    assert kernels[0].context == {"trip_count": 0, "taken": "unknown", "rarer": "unknown"}
    folder = tmp_path / "build"
    folder.mkdir()
    build = METHOD.build(kernels[0], METHOD.parts()[0], folder, METHOD.find_compiler(None))
    assert tuple(cell.setting for cell in build.cells) == SPACE.settings
    assert [cell.problem for cell in build.cells if cell.problem] == []
    assert build.copy.code == build.cells[0].code
    assert build.copy.symbol != build.cells[0].symbol
    # The vectorizer does as it is told, and what is told apart is other code.
    assert [cell.effective for cell in build.cells[1:]] == list(SPACE.settings[1:])
    assert build.cells[0].effective in SPACE.settings
    assert max(Counter(cell.code for cell in build.cells).values()) <= 2
    assert {path.suffix for path in folder.iterdir()} == {".c", ".so"}
    inputs, expected = np.arange(100, dtype=np.float32), 2 * np.arange(100, dtype=np.float32) + 1
    for cell in (*build.cells, build.copy):
        outputs = np.zeros(100, dtype=np.float32)
        function = ctypes.CDLL(str(folder / cell.library))[cell.symbol]
        function(outputs.ctypes.data_as(ctypes.c_void_p), inputs.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(100))
        assert (outputs == expected).all(), cell
    loop = next(one for one in get_task("vectorization").regions(parse_ir(build.ir)) if one.header == build.header)
    assert (loop.symbol, loop.depth) == ("scale", 2)


@pytest.mark.needs("clang")
def test_ir_is_the_same_for_all_instruction_sets_and_names_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = next(METHOD.user_kernels([written(tmp_path)], METHOD.find_compiler(None)))
    texts = []
    for part in ("sse2", "avx2"):
        folder = tmp_path / part
        folder.mkdir()
        monkeypatch.chdir(folder)
        ir_of.cache_clear()
        vectorization.scalar_loops.cache_clear()
        texts.append(METHOD.build(kernel, part, folder, METHOD.find_compiler(None)).ir)
    assert texts[0] == texts[1]
    assert 'directory: "."' in texts[0]
    assert "mirenc-" not in texts[0]
    assert str(tmp_path) not in texts[0]


@pytest.mark.needs("clang")
def test_the_users_compiler_flags_and_headers_serve_source_and_driver(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "factor.h").write_text("static inline float twice(float x) { return FACTOR * x; }\n")
    source = SOURCE.replace("2 * b[i]", "twice(b[i])").replace("<stddef.h>", '<stddef.h>\n#include "factor.h"')
    driver = DRIVER.replace("<stddef.h>", '<stddef.h>\n#include "factor.h"\n_Static_assert(FACTOR == 2, "");')
    path = written(tmp_path / "own", source, driver)
    default = METHOD.find_compiler(None)
    with pytest.raises(CompileError, match="undeclared identifier 'FACTOR'"):
        list(METHOD.user_kernels([path], default))
    log, compiler = tmp_path / "log", tmp_path / "clang"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {shutil.which(default.compiler)} "$@"\n')
    compiler.chmod(0o755)
    toolchain = replace(default, compiler=str(compiler), cflags=("-DFACTOR=2",))
    kernels = list(METHOD.user_kernels([path], toolchain))
    assert len(kernels) == 2
    assert "-DFACTOR=2" in log.read_text()
    folder = tmp_path / "build"
    folder.mkdir()
    build = METHOD.build(kernels[0], METHOD.parts()[0], folder, toolchain)
    assert (folder / build.driver).is_file()
    assert not build.cells[0].problem
    assert str(tmp_path) not in build.ir
    assert str(tmp_path) in kernels[0].include
    assert str(tmp_path) not in str(_kernel_row(kernels[0]))  # a path, which a table does not have


@pytest.mark.needs("clang")
def test_what_files_call_themselves_names_no_folder(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "where.h").write_text("static inline const char *where(void) { return __FILE__; }\n")
    body = SOURCE.replace("{\n", "{\n  if (!n) puts(where());\n  assert(n < 9999);\n", 1)
    path = written(tmp_path / "own", f'#include <assert.h>\n#include <stdio.h>\n#include "where.h"\n{body}')
    kernel = next(METHOD.user_kernels([path], METHOD.find_compiler(None)))
    build = METHOD.build(kernel, METHOD.parts()[0], tmp_path, METHOD.find_compiler(None))
    assert {"where.h", "kernel.c"} <= set(re.findall(r'c"(?:\./)?([.\w]+)\\00"', build.ir))
    assert parse_ir(build.ir).text
    assert str(tmp_path) not in build.ir
    assert str(tmp_path / "own").encode() not in (tmp_path / build.cells[0].library).read_bytes()


@pytest.mark.needs("clang")
def test_what_takes_too_long_is_no_candidate(tmp_path: Path) -> None:
    toolchain = replace(METHOD.find_compiler(None), timeout=0.001)
    hints = [Hint(4, 1), Hint(64, 4), Hint(64, 16)]
    default, _, hinted = build_variants(written(tmp_path), "scale", 4, hints, flags=(), toolchain=toolchain, name="x")
    assert [cell.problem for cell in hinted] == ["", "compile: over 0.001 s", "compile: over 0.001 s"]
    assert [cell.setting for cell in hinted] == [(4, 1), (64, 4), (64, 16)]
    assert hasattr(ctypes.CDLL(str(tmp_path / default.library)), default.symbol)


@pytest.mark.needs("clang")
def test_a_setting_that_breaks_the_compiler_costs_itself_alone(tmp_path: Path) -> None:
    hints = [Hint(4, 1), Hint(8, 1), Hint(8, 2), Hint(0, 0, 8)]
    toolchain = breaking(tmp_path, "exit 70")
    default, copy, hinted = build_variants(
        written(tmp_path), "scale", 4, hints, flags=(), toolchain=toolchain, name="x"
    )
    assert [cell.problem for cell in hinted] == ["", "compile: clang fails", "compile: clang fails", ""]
    assert default.code == copy.code != hinted[0].code
    assert hasattr(ctypes.CDLL(str(tmp_path / hinted[0].library)), hinted[0].symbol)


def breaking(folder: Path, action: str) -> Toolchain:
    """A clang that does this, in the shell, at each module with a loop of width 8, and writes its session down."""
    real = shutil.which(METHOD.find_compiler(None).compiler)
    compiler = folder / "clang"
    compiler.write_text(f"""#!/bin/sh
cut -d' ' -f6 /proc/$$/stat >> {folder}/sessions
for word; do
  case $word in
    *.ll) if [ -f "$word" ] && grep -q '"llvm.loop.vectorize.width", i32 8}}' "$word"; then {action}; fi;;
  esac
done
exec {real} "$@"
""")
    compiler.chmod(0o755)
    return Toolchain(str(compiler))


@pytest.fixture
def sigint_ends_children() -> Iterator[None]:
    """What a shell runs in the background ignores SIGINT, and hands that down."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.needs("clang")
@pytest.mark.parametrize("name", ["INT", "TERM", "KILL"])
@pytest.mark.usefixtures("sigint_ends_children")
def test_a_compiler_that_was_ended_from_outside_says_nothing_of_a_setting(tmp_path: Path, name: str) -> None:
    toolchain = breaking(tmp_path, f"kill -{name} $$")
    with pytest.raises(ToolchainError, match="the compiler was ended from outside"):
        build_variants(written(tmp_path), "scale", 4, [Hint(8, 1)], flags=(), toolchain=toolchain, name="x")


@pytest.mark.needs("clang")
def test_a_compiler_that_crashes_costs_the_setting_and_ctrl_c_does_not_reach_it(tmp_path: Path) -> None:
    toolchain = breaking(tmp_path, "kill -SEGV $$")
    _, _, (cell,) = build_variants(written(tmp_path), "scale", 4, [Hint(8, 1)], flags=(), toolchain=toolchain, name="x")
    assert cell.problem == "compile: clang fails"
    sessions = (tmp_path / "sessions").read_text().split()
    assert len(sessions) > 2
    assert str(os.getsid(0)) not in sessions


def test_flags_of_an_instruction_set() -> None:
    assert METHOD.flags("avx2") == ("-O3", "-mllvm", "-hints-allow-reordering=false", "-march=x86-64-v3")


@pytest.mark.needs("clang")
def test_a_source_that_does_not_compile(tmp_path: Path) -> None:
    kernel = MeasuredKernel("k", "k", "user", "c", "f", 1, 1, {}, "void f(void) { for (;;) oops(; }", DRIVER)
    with pytest.raises(CompileError, match=r"refuses it: .* error: "):
        METHOD.build(kernel, METHOD.parts()[0], tmp_path, METHOD.find_compiler(None))
    gone = replace(kernel, source="int f(int n) { int s = 0;\nfor (int i = 0; i < n; i++) s += i;\nreturn s; }", line=2)
    with pytest.raises(CompileError, match="no innermost loop of 'f' is left that begins in line 2"):
        METHOD.build(gone, METHOD.parts()[0], tmp_path, METHOD.find_compiler(None))


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("source", "driver", "phrase"),
    [
        (SOURCE, DRIVER.replace("mirenc_function", "other"), "does not say which function"),
        (SOURCE, DRIVER.replace("100, 1000L, 0", "0"), "does not say which function"),
        ("void scale(void) {}", DRIVER, "no loop is left in 'scale'"),
        (SOURCE.replace("scale", "grow"), DRIVER, "driver times 'scale', and functions here are grow. Mend"),
        ("void other(void) {}\n" + SOURCE.replace("void scale", "static void scale"), DRIVER, "or leave `static` out"),
        (
            "void scale(int *a, int n) { for (int i = 0; i < n; i++) a[i]++; for (int i = 9; i < n; i++) a[i] *= 7; }",
            DRIVER,
            r"scale\.c:1: two loops begin in this line. Give each a line of its own",
        ),
        (
            "void scale(float *a, int n)\n{\n  int i = 0;\nagain:\n  a[i]++;\n  if (++i < n)\n    goto again;\n}\n",
            DRIVER,
            "no loop of 'scale' can be measured: no `for`, `while` or `do` of 'scale' begins in line",
        ),
    ],
)
def test_a_source_with_nothing_to_measure(tmp_path: Path, source: str, driver: str, phrase: str) -> None:
    with pytest.raises(TaskError, match=phrase):
        list(METHOD.user_kernels([written(tmp_path, source, driver)], METHOD.find_compiler(None)))


@pytest.mark.needs("clang")
def test_loops_of_other_functions_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "twice.h").write_text(
        "static inline void twice(float *a, size_t n) { for (size_t i = 0; i < n; i++) a[i] *= 2; }\n"
    )
    source = """#include <stddef.h>
#include "twice.h"
static void half(float *a, size_t n) {
  for (size_t i = 0; i < n; i++) a[i] /= 2;
}
void scale(float *restrict a, const float *restrict b, size_t n) {
  while (n--)
    a[n] = 3 * b[n];
  half(a, n); twice(a, n);
}
"""
    kernels = METHOD.user_kernels([written(tmp_path, source)], METHOD.find_compiler(None))
    assert {kernel.line for kernel in kernels} == {7}


@pytest.mark.needs("clang")
def test_an_error_names_the_users_file(tmp_path: Path) -> None:
    path = written(tmp_path, SOURCE.replace("2 * b[i]", "oops"))
    with pytest.raises(CompileError, match=rf"^{re.escape(str(path))}: .* refuses it: {re.escape(str(path))}:5:"):
        list(METHOD.user_kernels([path], METHOD.find_compiler(None)))


def test_which_files_are_sources(tmp_path: Path) -> None:
    source = written(tmp_path)
    driver = source.with_name("scale.driver.c")
    assert c_sources([driver, source]) == [source]
    with pytest.raises(TaskError, match=r"scale\.driver\.c is a driver\. Name its source, .*scale\.c"):
        c_sources([driver])
    for path in (tmp_path, tmp_path / "scale.cpp", Path(".")):
        with pytest.raises(TaskError, match="is not a C source"):
            c_sources([path])
    with pytest.raises(IRFileError, match=r"gone\.c: no such file"):
        c_sources([tmp_path / "gone.c"])


def test_a_text_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    path, toolchain = written(tmp_path), Toolchain("clang")
    path.write_bytes(b"/* caf\xe9 */\n" + SOURCE.encode())
    with pytest.raises(IRFileError, match=r"scale\.c: byte 6 is not UTF-8.* iconv -f latin1 -t utf-8 scale\.c"):
        list(METHOD.user_kernels([path], toolchain))
    path.write_text(SOURCE)
    (tmp_path / "scale.driver.c").write_bytes(b"/* caf\xe9 */\n" + DRIVER.encode())
    with pytest.raises(IRFileError, match=r"scale\.driver\.c: byte 6 is not UTF-8"):
        list(METHOD.user_kernels([path], toolchain))
    with pytest.raises(IRFileError, match=r"gone\.c: no such file"):
        list(METHOD.user_kernels([tmp_path / "gone.c"], toolchain))


@pytest.mark.needs("clang")
def test_kernels_of_the_project_are_measurable(tmp_path: Path) -> None:
    kernel = next(METHOD.own_kernels(1))
    build = METHOD.build(kernel, METHOD.parts()[-1], tmp_path, METHOD.find_compiler(None))
    assert build.cells[0].problem == ""
    assert build.symbol == kernel.function


def test_parts_are_what_the_processor_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mirenc.decide import loop_task as task

    wide = "avx avx2 bmi1 bmi2 f16c fma abm movbe"
    info = tmp_path / "cpuinfo"
    monkeypatch.setattr(task, "_CPU_INFO", info)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert METHOD.parts() == ("sse2",)
    for flags, parts in (
        ("sse2 avx avx2", ("sse2",)),
        (wide, ("sse2", "avx2")),
        (f"{wide} avx512f avx512bw avx512cd avx512dq avx512vl", ("sse2", "avx2", "avx512")),
        ("avx512f avx512bw avx512cd avx512dq avx512vl", ("sse2",)),
    ):
        info.write_text(f"model name\t: x\nflags\t\t: {flags}\n")
        assert METHOD.parts() == parts
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert METHOD.parts() == ("neon",)
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ToolchainError, match="no instruction sets are known for riscv64"):
        METHOD.parts()


def test_only_a_clang_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(ToolchainError, match="no clang on PATH"):
        METHOD.find_compiler(None)
