"""Device mapping: the published table reads as its papers say, and a broken one is refused by row and column."""

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
from mirenc.decide.tasks.device_mapping import ir_name
from mirenc.llvm import parse_ir, statements_of

IR = "define void @{}() {{\n  ret void\n}}\n"
ROW = {
    "benchmark": "npb-3.3-BT-add",
    "dataset": "A",
    "comp": "7",
    "rational": "0.5",
    "mem": "3",
    "localmem": "0",
    "coalesced": "1",
    "atomic": "0",
    "transfer": "1048575",
    "wgsize": "127",
    "runtime_cpu": "0.5",
    "runtime_gpu": "0.25",
    "src": "kernel void add() {}",
}


def write(root: Path, *rows: dict[str, str], table: str = "cgo17-nvidia.669.csv") -> Path:
    """A folder of data: the table, and IR of two kernels, one of them by data size."""
    folder = root / "device_mapping"
    (folder / "kernels_ir").mkdir(parents=True, exist_ok=True)
    for name in ("npb-3.3-BT-add_A", "npb-3.3-BT-add_B", "amd-scan"):
        (folder / "kernels_ir" / f"{name}.ll").write_text(IR.format(name.replace("-", "_")))
    with (folder / table).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return root


def load(root: Path, *rows: dict[str, str], variant: str = "") -> TaskData:
    return get_task("device_mapping").load(write(root, *rows), variant)


# -- a small table -------------------------------------------------------------------------------------
def test_a_row_becomes_a_sample(tmp_path: Path) -> None:
    data = load(tmp_path, ROW)
    (sample,) = data.samples
    assert sample.name == "npb-3.3-BT-add/A"
    assert b"npb_3.3_BT_add_A" in sample.ir  # type: ignore[operator]
    assert (sample.context, sample.costs, sample.suite) == ((1048575.0, 127.0), (0.5, 0.25), "npb")
    assert (data.spaces[0].names[data.labels[0]], data.baseline.tolist()) == ("gpu", [0.25])


def test_npb_has_an_ir_for_each_data_size_and_others_one(tmp_path: Path) -> None:
    rows = [
        ROW,
        ROW | {"dataset": "B"},
        ROW | {"benchmark": "amd-scan"},
        ROW | {"benchmark": "amd-scan", "dataset": "B"},
    ]
    data = load(tmp_path, *rows)
    pieces, of = data.distinct_code
    assert [b"amd_scan" in piece for piece, _ in pieces] == [False, False, True]  # type: ignore[operator]
    assert of.tolist() == [0, 1, 2, 2]
    assert [sample.suite for sample in data.samples] == ["npb", "npb", "amd-app-sdk", "amd-app-sdk"]
    assert ir_name("amd-scan", "A", {}) is None


def test_a_group_is_a_source_or_the_same_code(tmp_path: Path) -> None:
    other = ROW | {"benchmark": "amd-scan", "src": "other"}
    data = load(tmp_path, ROW, ROW | {"dataset": "B"}, other)
    assert len(set(data.group)) == 1  # two sources of one code
    file = tmp_path / "device_mapping" / "kernels_ir" / "amd-scan.ll"
    file.write_text(file.read_text().replace("ret void", "fence seq_cst\n  ret void"))
    data = get_task("device_mapping").load(tmp_path)
    assert data.group[0] == data.group[1] != data.group[2]


def test_a_variant_names_its_table(tmp_path: Path) -> None:
    write(tmp_path, ROW)
    write(tmp_path, ROW | {"runtime_cpu": "0.125"}, table="cgo17-amd.680.csv")
    task = get_task("device_mapping")
    assert task.load(tmp_path).costs[0, 0] == task.load(tmp_path, "nvidia").costs[0, 0] == 0.5
    assert task.load(tmp_path, "amd-680").costs[0, 0] == 0.125
    with pytest.raises(OSError, match=r"cgo17-amd\.669\.csv"):
        task.load(tmp_path, "amd")
    with pytest.raises(TaskError, match="no variant 'intel'; available: nvidia, amd, nvidia-680, amd-680"):
        task.load(tmp_path, "intel")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            ({"dataset": "B", column: text}, rf"record 2 \(npb-3\.3-BT-add/B\): column '{column}' is '{text}'")
            for column, text in (("runtime_cpu", ""), ("transfer", "nan"), ("wgsize", "fast"), ("mem", "inf"))
        ),
        ({"benchmark": "npb-3.3-CG-zero"}, r"record 2 \(npb-3\.3-CG-zero/A\): kernels_ir has no IR of this kernel"),
    ],
)
def test_a_broken_row_is_named(change: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=message):
        load(tmp_path, ROW, ROW | change)


def test_a_table_of_a_header_alone_is_refused(tmp_path: Path) -> None:
    write(tmp_path, ROW)
    (tmp_path / "device_mapping" / "cgo17-nvidia.669.csv").write_text(",".join(ROW) + "\n")
    with pytest.raises(TaskError, match="no samples"):
        get_task("device_mapping").load(tmp_path)


# -- features ------------------------------------------------------------------------------------------
def test_transfer_and_wgsize_are_encoded_each_by_itself() -> None:
    # The published ProGraML script takes both from transfer.
    task = get_task("device_mapping")
    np.testing.assert_allclose(task.context.encode((1048575, 127)), [20 * np.log(2), 7 * np.log(2)])
    np.testing.assert_allclose(task.context.encode((0, 127)), [0, 7 * np.log(2)])
    assert task.context.parse({"wgsize": "127", "transfer": "0"}) == (0.0, 127.0)


def test_hand_features_are_logs_of_counts(tmp_path: Path) -> None:
    data = load(tmp_path, ROW)
    np.testing.assert_allclose(data.samples[0].hand_features, np.log1p([7, 0.5, 3, 0, 1, 0]))


# -- the published table -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("variant", "rows", "oracle"),
    [("nvidia", 669, 1.337), ("amd", 669, 2.377), ("nvidia-680", 680, None), ("amd-680", 680, None)],
)
def test_the_published_table_has_the_published_oracle(
    variant: str, rows: int, oracle: float | None, published_data: Any
) -> None:
    data = published_data("device_mapping", variant)
    assert len(data) == rows
    figures = decision_figures(data.costs, data.labels, data.baseline)
    assert figures["oracle_geometric"] == figures["speedup_geometric"]
    if oracle is not None:
        assert figures["oracle_geometric"] == pytest.approx(oracle, abs=5e-4)
    assert sorted(set(data.suite)) == ["amd-app-sdk", "npb", "nvidia-sdk", "parboil", "polybench", "rodinia", "shoc"]
    assert len(set(data.group)) == 234  # of 247 sources


@pytest.mark.parametrize("name", ["device_mapping", "thread_coarsening"])
def test_no_code_is_on_both_sides_of_a_grouped_fold(name: str, published_data: Any) -> None:
    data = published_data(name)
    pieces, of = data.distinct_code
    codes = np.array([hash(tuple(statements_of(parse_ir(piece)))) for piece, _ in pieces])[of]
    for training, test in get_task(name).protocol("kernel").split(data, 0):
        assert not set(codes[training]) & set(codes[test])


def test_a_group_that_the_kernel_forbids_is_refused() -> None:
    task = get_task("device_mapping")
    text = (
        "define spir_kernel void @k(ptr %x) !reqd_work_group_size !0 {\n  ret void\n}\n!0 = !{i32 16, i32 4, i32 1}\n"
    )
    module = parse_ir(text)
    assert task.space is not None
    for items in (64.0, 0.0):  # 0: nobody said
        assert task.permitted(task.space, module, None, (1024.0, items)) == ((("gpu",), ("cpu",)), "")
    with pytest.raises(TaskError, match=r"'wgsize' is 128: 128 work-items, and 64 are allowed \(reqd_work_group_size"):
        task.permitted(task.space, module, None, (1024.0, 128.0))
    # Another kernel of the module may be the one.
    two_kernels = parse_ir(text.replace("!0 = ", "define spir_kernel void @free(ptr %x) {\n  ret void\n}\n!0 = "))
    assert task.permitted(task.space, two_kernels, None, (1024.0, 128.0))[1] == ""
