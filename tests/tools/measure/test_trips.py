"""Trip counts of loops, counted in a run."""

import pytest

from mirenc.decide.tables.measured import MeasuredKernel
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.measure.count_trips import mean_trip_count
from mirenc.tools.run.compilers import Toolchain

SOURCE = """\
void work(int *a, long n) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < i; j++)
      a[j] += i;
  long k = 0;
  do
    a[k] = 0;
  while (++k < 3);
  while (k < n) { k++; if (a[k - 1] == 77) continue; a[k - 1]++; }
  while (a[0] < 0)
    a[0]++;
}
"""
DRIVER = """\
#include "mirenc_measure.h"
#include <stdlib.h>
const char mirenc_function[] = "work";
const long mirenc_sizes[] = {8, 0};
const char mirenc_types[] = "i";
static int *a; static long n;
int mirenc_setup(long size) { n = size; a = calloc(n, sizeof *a); return a == 0; }
void mirenc_reset(void) {}
void mirenc_call(mirenc_kernel kernel) { for (int r = 0; r < 2; r++) ((void (*)(int *, long))kernel)(a, n); }
long mirenc_output(int index, void **data) { *data = a; return index ? -1 : n; }
"""


def kernel(line: int, driver: str = DRIVER) -> MeasuredKernel:
    return MeasuredKernel("k", "g", "f", "c", "work", line, 8, {}, SOURCE, driver)


@pytest.mark.needs("clang")
@pytest.mark.parametrize(("line", "count"), [(2, 8.0), (3, 3.5), (6, 3.0), (9, 5.0), (10, 0.0)])
def test_each_kind_of_loop(line: int, count: float) -> None:
    """0 to 7 rounds of the inner loop are 3.5 in the mean; what is never entered has none."""
    toolchain = Toolchain(find_compiler("c", None)[0])
    assert mean_trip_count(kernel(line), toolchain) == count


@pytest.mark.needs("clang")
def test_a_driver_that_fails_or_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = Toolchain(find_compiler("c", None)[0])
    assert mean_trip_count(kernel(2, DRIVER.replace("return a == 0;", "return 1;")), toolchain) == 0
    assert mean_trip_count(kernel(2, DRIVER.replace("calloc", "no_such_function")), toolchain) == 0
    monkeypatch.setattr("mirenc.tools.measure.count_trips._LONGEST", 0.5)
    assert mean_trip_count(kernel(2, DRIVER.replace("reset(void) {", "reset(void) { for (;;) ;")), toolchain) == 0
