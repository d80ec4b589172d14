"""Thread coarsening: the published table reads as its papers say, and a broken one is refused by kernel and factor."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.metrics import decision_figures
from mirenc.decide.registry import get_task
from mirenc.decide.task_data import TaskData
from mirenc.llvm import parse_ir

NAN = float("nan")
GPUS = ["HD5900", "Tahiti", "GTX480", "K20c"]


def row(kernel: str, factor: int | str, **change: str) -> dict[str, str]:
    """One line of the table: GPU i takes 1000 (i + 1) / factor nanoseconds."""
    times = {
        f"runtime_{gpu}": str(1000.0 * (number + 1) / float(factor))
        for number, gpu in enumerate(("Cypress", "Tahiti", "Fermi", "Kepler"))
    }
    hand = {f"PCA{number}": str(10 * number + float(factor)) for number in range(1, 8)}
    return {"kernel": kernel, "cf": str(factor)} | hand | times | change


def load(root: Path, *rows: dict[str, str]) -> TaskData:
    folder = root / "thread_coarsening"
    (folder / "kernels_ir").mkdir(parents=True, exist_ok=True)
    for name in ("scan", "nbody"):
        (folder / "kernels_ir" / f"{name}.ll").write_text(f"define void @{name}() {{\n  ret void\n}}\n")
    with (folder / "pact-2014-runtimes.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return get_task("thread_coarsening").load(root)


# -- a small table -------------------------------------------------------------------------------------
def test_a_kernel_becomes_a_sample_on_each_gpu(tmp_path: Path) -> None:
    data = load(tmp_path, *(row(kernel, factor) for kernel in ("scan", "nbody") for factor in (1, 2, 4, 8, 16, 32)))
    assert [sample.name for sample in data.samples] == [
        f"{kernel} on {gpu}" for kernel in ("nbody", "scan") for gpu in GPUS
    ]
    third = data.samples[2]
    np.testing.assert_allclose(third.costs, 3e-6 / np.array([1, 2, 4, 8, 16, 32]))
    assert (third.group, third.context, third.part) == ("nbody", ("GTX480",), "GTX480")
    assert third.hand_features == (11.0, 21.0, 31.0, 41.0, 51.0, 61.0, 71.0)  # of the kernel as written
    assert b"@nbody" in third.ir  # type: ignore[operator]


def test_a_factor_that_was_never_run_is_clipped_to_the_largest_that_was(tmp_path: Path) -> None:
    data = load(tmp_path, row("scan", 1), row("scan", 2), row("scan", 4), row("scan", 8, runtime_Fermi=""))
    np.testing.assert_array_equal(np.isnan(data.costs).sum(axis=1), [2, 2, 3, 2])
    assert data.resolve(np.full(4, 5)).tolist() == [3, 3, 2, 3]
    assert data.labels.tolist() == [3, 3, 2, 3]


def test_the_order_of_lines_does_not_matter(tmp_path: Path) -> None:
    lines = [row(kernel, factor) for kernel in ("scan", "nbody") for factor in (1, 2, 4)]
    first, second = load(tmp_path / "a", *lines), load(tmp_path / "b", *reversed(lines))
    assert first.samples == second.samples or str(first.samples) == str(second.samples)  # NaN is not NaN


SCAN = row("scan", 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        *(
            ((SCAN, row("scan", 2, runtime_Tahiti=text)), rf"scan, factor 2: column 'runtime_Tahiti' is '{text}'")
            for text in ("nan", "inf", "fast")
        ),
        ((SCAN, row("scan", 3)), r"record 2 \(scan, factor 3\): factor 3 is unknown; allowed: 1, 2, 4, 8, 16, 32"),
        ((SCAN | {"cf": ""},), r"record 1 \(scan, factor \): column 'cf' is ''"),
        ((SCAN, row("scan", 2), row("scan", 2)), r"record 3 \(scan, factor 2\): .* twice"),
        ((row("scan", 2),), "kernel 'scan' has no time for factor 1"),
        ((row("scan", 1, runtime_Tahiti=""), row("scan", 2)), r"\(scan on Tahiti\): the default '1' has no cost"),
        ((SCAN, row("sobel", 1)), "no IR of kernel 'sobel'"),
    ],
)
def test_a_broken_table_is_refused_by_kernel_and_factor(
    rows: tuple[dict[str, str], ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(TaskError, match=message):
        load(tmp_path, *rows)


# -- features ------------------------------------------------------------------------------------------
def test_each_gpu_has_a_column() -> None:
    task = get_task("thread_coarsening")
    np.testing.assert_array_equal([task.context.encode((gpu,)) for gpu in GPUS], np.eye(4))
    assert task.context.parse({"gpu": "gtx480"}) == ("GTX480",)
    with pytest.raises(TaskError, match="'gpu' is 'a100'; allowed: HD5900, Tahiti, GTX480, K20c"):
        task.context.parse({"gpu": "a100"})


# -- the published table -------------------------------------------------------------------------------
def test_there_are_17_kernels_on_four_gpus(published_data: Any) -> None:
    data = published_data("thread_coarsening")
    assert len(data) == 68
    assert len({sample.name.split(" on ")[0] for sample in data.samples}) == 17
    assert list(dict.fromkeys(data.part.tolist())) == GPUS
    assert all(np.sum(data.part == gpu) == 17 for gpu in GPUS)


@pytest.mark.parametrize(
    ("gpu", "geometric", "arithmetic"),
    [("HD5900", 1.409, 1.498), ("Tahiti", 1.313, 1.404), ("GTX480", 1.241, 1.339), ("K20c", 1.158, 1.184)],
)
def test_the_published_table_has_the_published_oracle(
    gpu: str, geometric: float, arithmetic: float, published_data: Any
) -> None:
    data = published_data("thread_coarsening")
    of_gpu = data.part == gpu
    figures = decision_figures(data.costs[of_gpu], data.labels[of_gpu], data.baseline[of_gpu])
    assert figures["oracle_geometric"] == pytest.approx(geometric, abs=6e-4)
    assert figures["oracle_arithmetic"] == pytest.approx(arithmetic, abs=6e-4)


def test_two_kernels_came_with_the_same_ir(published_data: Any) -> None:
    # mtLocal's file is that of mt; their times differ. Neither may teach the other, so they are left out together.
    data = published_data("thread_coarsening")
    kernels = np.array([sample.name.split(" on ")[0] for sample in data.samples])
    joined = {group: sorted(set(kernels[data.group == group])) for group in set(data.group)}
    assert [names for names in joined.values() if len(names) > 1] == [["mt", "mtLocal"]]


@pytest.mark.parametrize(
    ("attributes", "attached", "factors"),
    [
        ("", "", [1, 2, 4, 8, 16, 32]),
        ("", "!reqd_work_group_size !0 ", [1, 2, 4]),  # of 12 work-items along x
        ('"nvvm.maxntid"="8"', "", [1, 2, 4, 8]),
        ('"nvvm.maxntid"="256"', "", [1, 2, 4, 8, 16, 32]),
    ],
)
def test_no_more_work_items_are_merged_than_a_group_has(attributes: str, attached: str, factors: list[int]) -> None:
    task = get_task("thread_coarsening")
    module = parse_ir(
        f"define ptx_kernel void @k(ptr %x) #0 {attached}{{\n  ret void\n}}\n"
        f"attributes #0 = {{ nounwind {attributes} }}\n"
        "!0 = !{i32 12, i32 4, i32 1}\n"
    )
    assert task.space is not None
    settings, limit = task.permitted(task.space, module, None, ("K20c",))
    assert [factor for (factor,) in settings] == factors
    assert bool(limit) is (len(factors) < 6)
