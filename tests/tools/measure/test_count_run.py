"""What one run of a kernel's driver tells about its loop."""

from dataclasses import replace

import pytest

from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.tools.measure import count_run
from mirenc.tools.measure.vectorization import VectorizationMethod

SOURCE = """\
void work(int *restrict a, int *restrict b, long n) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < i; j++)
      a[j] += i;
  for (long k = 0; k < n - 3; k++)
    if (k > 0)
      b[k] = a[k];
  for (long k = a[0]; k < 0; k++)
    b[-k] ^= 3;
  for (long k = 0; k < n; k++)
    switch (k & 3) {
    case 0: b[k] = a[k] * 3; break;
    case 1: a[k] = b[k] + 7; break;
    }
}
"""
DRIVER = """\
#include "mirenc_measure.h"
#include <stdlib.h>
const char mirenc_function[] = "work";
const long mirenc_sizes[] = {8, 0};
const char mirenc_types[] = "i";
static int *a, *b; static long n;
int mirenc_setup(long size) { n = size; a = calloc(n, sizeof *a); b = calloc(n, sizeof *b); return a == 0; }
void mirenc_reset(void) {}
void mirenc_call(mirenc_kernel kernel) { for (int r = 0; r < 2; r++) ((void (*)(int *, int *, long))kernel)(a, b, n); }
long mirenc_output(int index, void **data) { *data = a; return index ? -1 : n; }
"""


def run_counts(line: int, driver: str = DRIVER) -> dict[str, float]:
    method = VectorizationMethod()
    kernel = MeasuredKernel("k", "g", "f", "c", "work", line, 8, {}, SOURCE, driver)
    toolchain = method.find_compiler(None)
    ir, region = method.scalar_ir(kernel, toolchain)
    return method.run_context(replace(kernel, ir=ir, region=region), toolchain)


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("line", "context"),
    [
        (3, {"trip_count": 4.0}),  # 1 to 7 rounds; one that has none does not enter it
        (5, {"trip_count": 5.0, "taken": 0.8, "rarer": 0.2}),
        (8, {}),
        (10, {"trip_count": 8.0, "taken": 0.25, "rarer": 0.5}),  # of two cases, one in four each
    ],
)
def test_each_kind_of_loop(line: int, context: dict[str, float]) -> None:
    counts = run_counts(line)
    assert counts == pytest.approx({f"run_{name}": value for name, value in context.items()}, abs=0.1)


@pytest.mark.needs("clang")
def test_a_driver_that_fails_or_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_counts(3, DRIVER.replace("return a == 0;", "return 1;")) == {}
    assert run_counts(3, DRIVER.replace("calloc", "no_such_function")) == {}
    monkeypatch.setattr(count_run, "_LONGEST", 0.5)
    assert run_counts(3, DRIVER.replace("reset(void) {", "reset(void) { for (;;) ;")) == {}
