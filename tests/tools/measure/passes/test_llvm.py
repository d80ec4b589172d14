"""Labels by LLVM itself, in miniature: ten functions of C, every level, a few lists, what fires."""

from __future__ import annotations

import numpy as np
import pytest

from mirenc.decide.tables.compiled import CompiledTable, read_compiled
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.tools.measure.passes.run import PassRun
from mirenc.tools.run.run_folder import Plan

SOURCE = """
int sum(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
int largest(const int *x, int n) { int m = x[0]; for (int i = 1; i < n; i++) if (x[i] > m) m = x[i]; return m; }
int sign(int x) { if (x > 0) return 1; if (x < 0) return -1; return 0; }
int steps(unsigned n) { int s = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; s++; } return s; }
void fill(float *x, int n, float v) { for (int i = 0; i < n; i++) x[i] = v; }
int same(const char *a, const char *b) { while (*a && *a == *b) { a++; b++; } return *a == *b; }
long power(long x, int n) { long r = 1; while (n) { if (n & 1) r *= x; x *= x; n >>= 1; } return r; }
int month(int m) { switch (m) { case 2: return 28; case 4: case 6: case 9: case 11: return 30; default: return 31; } }
static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
int grey(int r, int g, int b) { return clamp((30 * r + 59 * g + 11 * b) / 100, 0, 255); }
unsigned bits(unsigned x) { unsigned n = 0; for (; x; x &= x - 1) n++; return n; }
"""

pytestmark = [pytest.mark.needs("libLLVM 19"), pytest.mark.needs("clang-19")]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[PassRun, CompiledTable]:
    """Ten functions and their module under eight lists."""
    folder = tmp_path_factory.mktemp("passes")
    source = folder / "small" / "small.c"
    source.parent.mkdir()
    source.write_text(SOURCE)
    (folder / "table").mkdir()
    plan = Plan((source,), functions=10, modules=1, lists=8)
    run = PassRun(plan, folder / "table", lambda: SharedEngine(19), lambda line: None)
    run.prepare()
    run.go(lambda **_: None)
    run.save()
    return run, read_compiled(folder / "table")


def test_every_cell_has_a_size(table: tuple[PassRun, CompiledTable]) -> None:
    measured = table[1]
    assert sum(piece.level == "function" for piece in measured.pieces) == 10
    assert sum(piece.level == "module" for piece in measured.pieces) == 1
    assert len(measured.lists) == 8
    assert np.isfinite(measured.sizes.code_bytes).all()
    for sizes in measured.levels.values():
        assert (sizes.code_bytes > 0).all()
    assert not measured.record["dropped"]


def test_levels_are_what_they_are_called(table: tuple[PassRun, CompiledTable]) -> None:
    levels = {name: sizes.code_bytes for name, sizes in table[1].levels.items()}
    assert (levels["Oz"] < levels["O0"]).all()
    assert levels["Oz"].sum() <= levels["Oz_plain"].sum() < levels["O3"].sum()
    # List 0 is -Oz.
    np.testing.assert_array_equal(table[1].sizes.code_bytes[:, 0], levels["Oz"])


def test_passes_that_fire_are_named(table: tuple[PassRun, CompiledTable]) -> None:
    fires = table[1].fires
    assert set(fires) == {"Oz", "O3"}
    assert fires["Oz"].known.all()
    assert fires["Oz"].changed[:, fires["Oz"].passes.index("SROA")].all()
    assert "LoopVectorize" in fires["O3"].passes
    assert "LoopVectorize" not in fires["Oz"].passes


def test_winners_are_counted(table: tuple[PassRun, CompiledTable]) -> None:
    run, measured = table
    better = int((measured.sizes.code_bytes.min(axis=1) < measured.sizes.code_bytes[:, 0]).sum())
    assert measured.record["winners"] == {"better_than_oz": better}
    assert not run.left
