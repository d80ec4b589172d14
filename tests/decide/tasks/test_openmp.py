"""The OpenMP task: which functions it is about, what their vectors may depend on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_programs import PARALLEL_LOOPS as SOURCE

from mirenc.base.errors import TaskError
from mirenc.decide.registry import get_task
from mirenc.decide.tasks.openmp import DIALECT, OpenMP, openmp_space, parallel_regions, without_places
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir
from mirenc.llvm.inputs.compile_source import compile_source


# -- what is decided about ---------------------------------------------------------------------------------
@pytest.mark.needs("clang")
def test_regions_are_the_loops_that_a_clang_outlined(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(SOURCE)
    module = parse_ir(compile_source(source, "c", dialect=DIALECT), name="two.c")
    regions = parallel_regions(module)
    assert [region.line for region in regions] == [3, 11, 14]
    assert all("omp_outlined" in region.symbol for region in regions)
    assert [region.line for region in parallel_regions(without_places(module))] == [3, 11, 14]


@pytest.mark.needs("clang")
def test_vectors_do_not_depend_on_the_path_or_on_debug_information(tiny: Encoder, tmp_path: Path) -> None:
    task = OpenMP()
    vectors = []
    for name in ("a.c", "a_much_longer_name_for_the_same.c"):
        (tmp_path / name).write_text(SOURCE)
        vectors.append(tiny.embed(task.read(tiny, tmp_path / name), level="function"))
    plain = compile_source(tmp_path / "a.c", "c", cflags=["-g0"], dialect=DIALECT)
    vectors.append(tiny.embed(task.read(tiny, plain), level="function"))
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_code_without_a_parallel_loop_is_refused(tiny: Encoder) -> None:
    with pytest.raises(TaskError, match=r"has no parallel loop\. Give a source with `#pragma omp parallel for`"):
        OpenMP().regions(parse_ir("define void @f() {\n  ret void\n}\n"))


# -- settings and context ----------------------------------------------------------------------------------
def test_the_space_follows_from_the_cores() -> None:
    space = openmp_space(8)
    assert len(space) == 20
    assert space.settings[space.default] == (8, "static", 0)
    assert space.settings[OpenMP.baselines["one thread"]] == (1, "static", 0)
    with pytest.raises(TaskError, match="Name two cores or more"):
        openmp_space(1)


def test_the_size_is_a_number_of_one_or_more() -> None:
    task = get_task("openmp")
    assert task.context.encode(task.context.parse({"n": "1024"})).tolist() == [10.0]
    with pytest.raises(TaskError, match="'n' is '0'; allowed: problem size, 1 or more"):
        task.context.parse({"n": "0"})


def test_a_setting_is_a_pragma() -> None:
    assert OpenMP().directive((2, "dynamic", 8)) == "#pragma omp parallel for num_threads(2) schedule(dynamic, 8)"


def test_a_table_is_needed() -> None:
    with pytest.raises(TaskError, match="mirenc measure openmp -o FOLDER"):
        OpenMP().load()
