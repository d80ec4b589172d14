"""What a user's sources include is part of what they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mirenc.decide.tables.measured import MeasuredSample
from mirenc.tools.measure import openmp
from mirenc.tools.measure.block_size import BlockSizeMethod
from mirenc.tools.measure.building import headers_digest
from mirenc.tools.measure.method import Method
from mirenc.tools.measure.openmp import OpenMPMethod
from mirenc.tools.measure.timed import Objects, Samples
from mirenc.tools.measure.vectorization import VectorizationMethod
from mirenc.tools.run.compilers import Toolchain

DRIVER = """
#include "mirenc_measure.h"
const char mirenc_function[] = "work";
const long mirenc_sizes[] = {100, 0};
"""
C = """
#include "own.h"
void work(int *x, int n)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = OWN;
}
"""
CL = '#include "own.h"\nkernel void work(global int *x) { x[get_global_id(0)] = OWN; }\n'
CUDA = '#include "own.h"\n__global__ void work(int *x) { x[threadIdx.x] = OWN; }\n'
TOML = """
kernel = "work"
sizes = [100]
global = ["n"]
[[argument]]
name = "x"
buffer = "int"
count = "n"
output = true
"""


@pytest.fixture
def clang() -> Toolchain:
    return VectorizationMethod().find_compiler(None)


@pytest.mark.needs("clang")
def test_headers_are_those_that_the_compiler_finds(tmp_path: Path, clang: Toolchain) -> None:
    folder = tmp_path / "with blanks, # and $"
    folder.mkdir()
    source, own_header, other = folder / "mine.c", folder / "own one.h", folder / "other.h"
    source.write_text(
        '#include "own one.h"\n#ifdef MORE\n#include <inner.h>\n#endif\n#ifdef __AVX2__\n#include "wide.h"\n#endif\n'
        "int one = ONE;\nconst char *where = __FILE__;\n"
    )
    own_header.write_text("#define ONE 1\n")
    for path in (other, folder / "inner.h", folder / "wide.h"):
        path.write_text("\n")
    seen = set()

    def digest(*flags: str, arms: tuple[tuple[str, ...], ...] = ((),)) -> str:
        return headers_digest([source], Toolchain(clang.compiler, flags), arms)

    def is_new(header: str) -> bool:
        new = header not in seen
        seen.add(header)
        return new

    more = ("-DMORE", f"-I{folder}")
    assert is_new(digest())
    source.write_text(source.read_text() + "// a source is told by its text\n")
    other.write_text("int included_by_none;\n")
    (folder / "inner.h").write_text("int included_with_a_flag;\n")
    (folder / "own one.h").write_text("#define ONE 1  // the same code\n")
    assert not is_new(digest())
    own_header.write_text("#define ONE 2\n")
    assert is_new(digest())
    assert is_new(digest(*more))
    (folder / "inner.h").write_text("int changed;\n")
    assert is_new(digest(*more))
    arms = (("-msse2",), ("-mavx2",))
    assert is_new(digest(arms=arms))
    (folder / "wide.h").write_text("int wider;\n")
    assert is_new(digest(arms=arms))
    assert not is_new(digest())
    folder, source = tmp_path / "moved", tmp_path / "moved" / "mine.c"
    (tmp_path / "with blanks, # and $").rename(folder)
    assert not is_new(digest())


def test_what_cannot_be_preprocessed_is_told_by_its_build(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text('#include "gone.h"\n')
    nothing = headers_digest([], Toolchain("clang"))
    assert headers_digest([source], Toolchain("clang")) == nothing
    assert headers_digest([source], Toolchain(str(tmp_path / "no-compiler"))) == nothing


@pytest.mark.needs("libomp")
@pytest.mark.parametrize(
    ("make", "ending", "text", "driver"),
    [
        (VectorizationMethod, "c", C, DRIVER),
        (OpenMPMethod, "c", C, DRIVER),
        (BlockSizeMethod, "cl", CL, TOML),
        (BlockSizeMethod, "cu", CUDA, TOML),
    ],
)
def test_a_changed_header_is_another_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[], Method], ending: str, text: str, driver: str
) -> None:
    monkeypatch.setattr(openmp, "_cores", lambda: 2)
    method = make()
    source = tmp_path / f"mine.{ending}"
    source.write_text(text)
    (tmp_path / f"mine.driver.{'c' if ending == 'c' else 'toml'}").write_text(driver)
    toolchain = method.find_compiler(None)
    objects = Objects(tmp_path / "objects", method, toolchain)
    kernels, folders = [], []
    for number in (1, 2):
        (tmp_path / "own.h").write_text(f"#define OWN {number}\n")
        kernels += list(method.user_kernels([source], toolchain))
        folders.append(objects.folder(kernels[-1], ""))
    one, two = kernels
    assert one.source == two.source
    assert folders[0] != folders[1]
    journal = Samples(tmp_path / "journal.jsonl", {"format": 1})
    journal.add(one, MeasuredSample(one.name, ""))
    again = Samples(tmp_path / "journal.jsonl", {"format": 1})
    assert [again.tries(kernel, "") for kernel in kernels] == [1, 0]
