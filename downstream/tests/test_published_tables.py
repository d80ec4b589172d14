"""Tables that are published without code: their traps, on small tables of the same format, and IR that a user adds."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transfer

from mirenc.base.errors import DatasetError, TaskError
from mirenc.decide.evaluation.evaluate_task import Evaluation, evaluate
from mirenc.decide.fit import fit_head
from mirenc.decide.load_samples import load_data, with_ir
from mirenc.decide.registry import get_task
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder

DOWNSTREAM = Path(__file__).parents[2] / "downstream"
NUMA = "numa_prefetch"
OPENMP, BLOCKS = (DOWNSTREAM / name / f"{name}.py" for name in ("openmp_published", "block_size_published"))
NAN = float("nan")
COLUMNS = [
    f"-O3_{threads}_{nodes}_{nodes}_{mapping}_0_{mask}_{pages}"
    for threads, nodes, mapping in ((16, 1, "compact"), (32, 2, "scatter"), (32, 2, "compact"))
    for mask in (0, 6)
    for pages in ("ori", "loc")
]
DEFAULT = COLUMNS.index("-O3_32_2_2_scatter_0_0_ori")
REGIONS = [
    *("__cere__cg_conj_grad_405", "__cere__cg_conj_grad_551", "__cere__ft_cffts1_516", "__cere__3D_computeTempOMP_150"),
    *("__cere____kernel_kernel_cpu_kernel_cpu_112", "__cere__lud_omp_lud_omp_123", "__cere__lu_ssor_3112"),
]


def write_numa(
    root: Path, name: str = "numa_prefetch/values_conf1_time_med.csv", *, columns: Sequence[str] = COLUMNS, **cells: str
) -> TaskData:
    """Region r under configuration c takes 1000 + 10 r + c, but for cells given as r0c5="-1"."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    lines = [";".join(["regions", *columns])]
    for number, region in enumerate(REGIONS):
        times = [cells.get(f"r{number}c{place}", f"{1000.0 + 10 * number + place}") for place in range(len(columns))]
        lines.append(";".join([region, *times]) + ";")
    (root / name).write_text("\n".join(lines) + "\n")
    return get_task(NUMA).load(root, "conf2" if "conf2" in name else "conf1")


# -- NUMA and prefetchers ------------------------------------------------------------------------------
def test_a_line_ends_in_a_semicolon_and_the_header_does_not(tmp_path: Path) -> None:
    data = write_numa(tmp_path)
    assert data.costs.shape == (7, 12)
    np.testing.assert_array_equal(data.costs[2], 1020.0 + np.arange(12))
    assert data.spaces[0].default == DEFAULT
    assert data.spaces[0].settings[DEFAULT] == (32, 2, 2, "scatter", 0, 0, 0, 0, 0, "ori")
    # Mask 6 turns off the second and the third prefetcher.
    assert data.spaces[0].settings[DEFAULT + 2] == (32, 2, 2, "scatter", 0, 0, 1, 1, 0, "ori")


def test_minus_one_was_not_measured_and_nobody_is_asked_about_it(tmp_path: Path) -> None:
    data = write_numa(tmp_path, r3c0="-1", r3c7="-1.0", r4c1="0.0", r4c2="")
    assert np.argwhere(np.isnan(data.known)).tolist() == [[3, 0], [3, 7], [4, 1], [4, 2]]
    assert data.labels[3] == 1


def test_a_region_that_was_not_measured_at_the_default_is_left_out_and_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"values_conf1_time_med\.csv: .* are left out, .*: __cere__cg_conj_grad_551$"):
        data = write_numa(tmp_path, **{f"r1c{DEFAULT}": "-1"})
    assert len(data) == len(REGIONS) - 1


def test_a_program_is_what_stands_before_the_first_underscore(tmp_path: Path) -> None:
    assert write_numa(tmp_path).group.tolist() == ["cg", "cg", "ft", "3D", "kernel", "lud", "lu"]


@pytest.mark.parametrize("name", ["numa_prefetch/values_conf2_time_med.csv", "values/conf2_time_med.csv"])
def test_another_table_has_the_configurations_of_its_own_header(name: str, tmp_path: Path) -> None:
    columns = [*COLUMNS[3:], "-O3_20_1_2_compact_1_15_bal"]
    data = write_numa(tmp_path, name, columns=columns)
    assert data.width == 10
    assert data.spaces[0].settings[-1] == (20, 1, 2, "compact", 1, 1, 1, 1, 1, "bal")
    first = write_numa(tmp_path)
    assert (first.width, first.content_hash != data.content_hash) == (12, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"columns": [*COLUMNS, "-O3_many"]},
            "column '-O3_many' does not name a configuration. Name it as in -O3_32_2_2",
        ),
        (
            {"columns": [*COLUMNS, "-O3_32_2_2_scatter_0_16_ori"]},
            "'-O3_32_2_2_scatter_0_16_ori' does not name a configuration",
        ),
        ({"columns": COLUMNS[:4]}, "column '-O3_32_2_2_scatter_0_0_ori' is missing"),
        ({"r1c2": "fast"}, r"line 3 \(__cere__cg_conj_grad_551\): 'fast' for threads=16 .* is not a number"),
        ({"r1c2": "1;2"}, r"line 3 \(__cere__cg_conj_grad_551\): 14 fields, the header has 13"),
    ],
)
def test_a_broken_table_is_refused_by_line_and_column(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=message):
        write_numa(tmp_path, **change)


def test_a_table_that_is_not_there_is_told_by_both_its_names(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="mirenc datasets fetch numa_prefetch"):
        get_task(NUMA).load(tmp_path)
    write_numa(tmp_path)
    with pytest.raises(TaskError, match=r"it is values_conf2_time_med\.csv or conf2_time_med\.csv"):
        get_task(NUMA).load(tmp_path, "conf2")


def test_the_papers_folds_train_on_few_regions(tmp_path: Path) -> None:
    data = write_numa(tmp_path)
    protocol = get_task(NUMA).protocol("paper")
    for seed in (0, 1):
        folds = list(protocol.split(data, seed))
        assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(7))
        assert {len(training) for training, _ in folds} == {2}  # 5 % of 7 is none; two are the fewest
        assert len({tuple(training) for training, _ in folds}) > 1
        assert [fold[0].tolist() for fold in folds] == [fold[0].tolist() for fold in protocol.split(data, seed)]


# -- OpenMP --------------------------------------------------------------------------------------------
def write_openmp(
    root: Path, change: dict[str, str] | None = None, programs: Sequence[str] = ("bt", "cg", "ft")
) -> Path:
    folder = root / "openmp"
    folder.mkdir(parents=True, exist_ok=True)
    names = ["OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_SCHEDULE"]
    with (folder / "ruby-fullExploreDataset.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["progname", "probsize", *names, "xtime", "stddev"])
        writer.writeheader()
        for number, program in enumerate(programs):
            for size, factor in (("smlprob", 1), ("medprob", 4), ("lrgprob", 16)):
                for threads in ("4", "112"):
                    for schedule in ("static", "dynamic,8"):
                        time = factor * (2.0 + number) / (1 if threads == "4" else 2)
                        stopped = threads == "4" and schedule != "static" and size == "lrgprob"
                        row = {"progname": program, "probsize": size, "xtime": "600.0" if stopped else str(time)}
                        row |= dict(zip(names, (threads, "close", "cores", schedule), strict=True))
                        writer.writerow(row | {"stddev": "0.0" if stopped else "0.1"} | (change or {}))
    return root


def test_a_setting_of_openmp_is_read_into_knobs(tmp_path: Path) -> None:
    data = get_task(OPENMP).load(write_openmp(tmp_path))
    assert (len(data), data.width) == (9, 4)
    assert data.spaces[0].settings == (
        (4, "close", "cores", "dynamic", 8),
        (4, "close", "cores", "static", 0),
        (112, "close", "cores", "dynamic", 8),
        (112, "close", "cores", "static", 0),
    )
    assert data.spaces[0].default == 3
    assert data.samples[0].context == ("large",)
    assert data.group.tolist() == ["bt"] * 3 + ["cg"] * 3 + ["ft"] * 3


def test_a_run_that_was_stopped_costs_its_limit(tmp_path: Path) -> None:
    # Left out of the table, it would tell who chooses which settings run at all.
    data = get_task(OPENMP).load(write_openmp(tmp_path))
    assert data.known[[0, 3, 6], 0].tolist() == [600.0] * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probsize": "huge"}, r"record 1 \(bt, huge\): size 'huge' is none of smlprob, medprob, lrgprob"),
        ({"OMP_SCHEDULE": "dynamic,many"}, r"record 1 \(bt, smlprob\): .* schedule 'dynamic,many'; both are as in"),
        ({"xtime": "nan"}, r"record 1 \(bt, smlprob\): column 'xtime' is 'nan'"),
        ({"OMP_SCHEDULE": "static"}, r"record 2 \(bt, smlprob\): this setting stands twice"),
        ({"OMP_PLACES": "threads"}, "nothing ran under the default"),
    ],
)
def test_a_broken_row_of_openmp_is_named(change: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=message):
        get_task(OPENMP).load(write_openmp(tmp_path, change))


def test_a_size_is_asked_for_by_name() -> None:
    task = get_task(OPENMP)
    assert task.context.parse({"size": "Medium"}) == ("medium",)
    with pytest.raises(TaskError, match="'size' is '300'; allowed: small, medium, large"):
        task.context.parse({"size": "300"})


# -- block sizes ---------------------------------------------------------------------------------------
HUB = ["A100", "A4000", "A6000", "MI250X", "W6600", "W7800"]
TUNER = ["RTX_2080_Ti", "RTX_3060_laptop", "RTX_3090", "RTX_Titan"]


def write_blocks(root: Path, convolution: str = "") -> Path:
    """Every table with two blocks, the default and a faster one, and two values of another parameter."""
    folder = root / "cuda_blocks"
    folder.mkdir(parents=True, exist_ok=True)
    shapes = {"convolution": (HUB, (16, 16)), "convolution_kt": (TUNER, (16, 16)), "dedispersion": (HUB, (8, 32))}
    shapes |= {"gemm": (TUNER, (16, 16)), "pnpoly": (TUNER, (256, 1))}
    for kernel, (gpus, (x, y)) in shapes.items():
        names = {"gemm": ("MDIMC", "NDIMC"), "pnpoly": ("block_size_x",)}.get(kernel, ("block_size_x", "block_size_y"))
        for gpu in gpus:
            lines = [",".join([*names, "use_shmem", "time_ms"])]
            for block, time in (((x, y), 8.0), ((32, y), 4.0)):
                block_text = ",".join(map(str, block[: len(names)]))
                lines += [f"{block_text},0,{time}", f"{block_text},1,{2 * time}", f"{block_text},1,"]
            text = "\n".join(lines) + "\n" + (convolution if kernel == "convolution" else "")
            with gzip.open(folder / f"{kernel}-{gpu}.csv.gz", "wt") as stream:
                stream.write(text)
    return root


def test_a_block_costs_the_least_time_over_the_other_parameters(tmp_path: Path) -> None:
    data = get_task(BLOCKS).load(write_blocks(tmp_path))
    place = [sample.name for sample in data.samples].index("gemm on RTX_3090")
    assert data.spaces[place].settings == (("gemm", 16, 16), ("gemm", 32, 16))
    np.testing.assert_allclose(data.costs[place, :2], [8e-3, 4e-3])
    assert np.isnan(data.costs[place, 2:]).all()
    assert data.spaces[place].default == 0


def test_rows_that_are_made_up_and_launches_that_did_nothing_are_left_out(tmp_path: Path) -> None:
    data = get_task(BLOCKS).load(write_blocks(tmp_path))
    names = [sample.name for sample in data.samples]
    assert [name for name in names if name.startswith("pnpoly")] == ["pnpoly on RTX_3060_laptop", "pnpoly on RTX_3090"]
    # Without shared memory it took half as long everywhere; on A6000 those rows are synthetic.
    ratio = data.costs[names.index("convolution on A6000")] / data.costs[names.index("convolution on A4000")]
    np.testing.assert_allclose(ratio[:2], 2.0)


def test_a_gpu_is_in_no_fold_with_itself(tmp_path: Path) -> None:
    task = get_task(BLOCKS)
    data = task.load(write_blocks(tmp_path))
    assert len(data) == 22
    assert set(data.group) == {*HUB, *TUNER} == set(task.machines)
    for name in ("gpu", "generation"):
        for training, test in task.protocol(name).split(data, 0):
            assert not set(data.group[training]) & set(data.group[test])
            assert set(data.part[test]) & set(data.part[training])
    assert task.machine("", ("A100",)).startswith("NVIDIA A100")
    with pytest.raises(TaskError, match="'gpu' is 'H100'; allowed: A100"):
        task.context.encode(("H100",))


def test_tables_of_tuning_that_are_not_there_or_broken_are_told(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"no convolution-A100\.csv .*benchmark_hub.*--data"):
        get_task(BLOCKS).load(tmp_path)
    with pytest.raises(TaskError, match=r"convolution-A100\.csv, record 7: column 'time_ms' is 'fast'"):
        get_task(BLOCKS).load(write_blocks(tmp_path, "32,16,1,fast\n"))


def test_a_block_is_brought_to_another_gpu_of_the_same_kernel() -> None:
    space = Space(("block_x",), ((256,), (32,), (64,), (128,)), missing="never")
    costs = {"A": (4.0, 1.0, 2.0, 3.0), "B": (4.0, 5.0, 2.0, 1.0), "C": (4.0, NAN, 8.0, 1.0)}
    suites = {"A": "old", "B": "old", "C": "new"}
    samples = [Sample(gpu, None, gpu, (gpu,), cost, suite=suites[gpu], part="k") for gpu, cost in costs.items()]
    samples.append(Sample("other", None, "A", ("A",), costs["A"], suite="A", part="other"))
    data = TaskData(samples, space)
    pairs = transfer.pairs_of(data)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    taken, tried, two = transfer.choices(data, pairs).values()
    # A's best, 32, is slower than the default on B, and does not run on C.
    assert taken.tolist() == [1, 0, 3, 3, 3, 3]
    assert tried.tolist() == [0, 0, 3, 3, 3, 3]
    assert two.tolist() == [2, 0, 2, 3, 3, 3]
    rows = {row["title"]: row for row in transfer.rows_of(data, ["x", "x", "y", "x"])}  # the makers
    assert {title: row["pairs"] for title, row in rows.items()} == {"all": 6, "to another maker's": 4, "k": 6} | {
        "to a GPU of the same generation": 2
    }
    assert rows["k"]["ways"]["as it is"]["slowdowns_2"] == pytest.approx(1 / 6)


# -- IR of the user's ----------------------------------------------------------------------------------
def write_ir(folder: Path, names: Sequence[str], body: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        code = body or "".join(f"  %v{step} = add i32 %x, {step}\n" for step in range(number + 1))
        (folder / f"{name}.ll").write_text(f"define i32 @f(i32 %x) {{\n{code}  ret i32 %x\n}}\n")
    return folder


def test_without_ir_the_rows_that_need_none_are_run(tmp_path: Path, tiny: Encoder) -> None:
    write_numa(tmp_path)
    report = evaluate(NUMA, tmp_path, encoder=tiny, seeds=(0, 1))
    for protocol in ("paper", "region", "program"):
        assert report.rows(protocol) == ["default", "best_single", "majority", "try_2", "try_3"]
        assert report.predictions(protocol, "best_single").shape == (2, 7)
    assert "speedup over default" in str(report)
    report = evaluate(OPENMP, write_openmp(tmp_path), encoder=tiny, seeds=(0,))
    assert report.rows("program")[-1] == "no_code"


def test_a_row_of_code_without_ir_says_what_to_give(tmp_path: Path, tiny: Encoder) -> None:
    task, data = get_task(OPENMP), get_task(OPENMP).load(write_openmp(tmp_path))
    message = r"sample bt large comes without code. Give IR of your own for all samples with --ir-dir DIR, as in DIR/b"
    with pytest.raises(TaskError, match=message):
        Evaluation.prepare(task, data, encoder=tiny, rows=["both"])
    with pytest.raises(TaskError, match=message):
        fit_head(task, data, tiny)
    blocks = get_task(BLOCKS).load(write_blocks(tmp_path))
    with pytest.raises(TaskError, match="Without code, only heads that see no code can be trained: give --row no_code"):
        Evaluation.prepare(get_task(BLOCKS), blocks, encoder=tiny, rows=["both"])


def test_with_ir_the_rows_of_code_are_run_and_a_head_is_made(tmp_path: Path, tiny: Encoder) -> None:
    task = get_task(OPENMP)
    write_openmp(tmp_path)
    data = load_data(task, tmp_path, ir_dir=write_ir(tmp_path / "ir", ["bt", "cg", "ft"]))
    report = evaluate(task, data, encoder=tiny, rows=["no_code", "both"], seeds=(0,))
    assert report.rows("program")[-2:] == ["no_code", "both"]
    assert "not as published" in report.caption()  # the table is made up, whatever the IR
    assert fit_head(task, data, tiny).row == "both"


def test_regions_of_the_same_code_are_one_group(tmp_path: Path) -> None:
    data = write_numa(tmp_path)
    same = with_ir(data, write_ir(tmp_path / "ir", REGIONS, body="  %a = mul i32 %x, %x\n"))
    assert set(same.group.tolist()) == {"3D"}
    assert same.content_hash == data.content_hash
    other = with_ir(data, write_ir(tmp_path / "other" / "below", REGIONS).parent)
    assert other.group.tolist() == data.group.tolist()


def test_ir_that_is_missing_doubled_or_not_wanted_is_told(tmp_path: Path) -> None:
    data = write_numa(tmp_path)
    with pytest.raises(TaskError, match=r"nowhere: no such folder"):
        with_ir(data, tmp_path / "nowhere")
    folder = write_ir(tmp_path / "ir", REGIONS[:5])
    with pytest.raises(TaskError, match=r"no IR for 2 of 7 names of the table: __cere__lu_ssor_3112\.ll, __cere__lud"):
        with_ir(data, folder)
    write_ir(folder / "again", REGIONS[:1])
    with pytest.raises(TaskError, match="two files of one name"):
        with_ir(data, folder)
    blocks = get_task(BLOCKS).load(write_blocks(tmp_path))
    with pytest.raises(TaskError, match="has its IR, or needs none"):
        with_ir(blocks, folder)


# -- the published tables ------------------------------------------------------------------------------
def over_oracle(data: TaskData, choice: Any) -> float:
    """Geometric mean of what a choice costs, over the least."""
    cost = data.known[np.arange(len(data)), choice]
    return float(np.exp(np.log(cost / np.nanmin(data.known, axis=1)).mean()))


def test_the_published_regions(published: str) -> None:
    data = get_task(NUMA).load(published, "conf1")
    assert (len(data), data.width, len(set(data.group))) == (60, 768, 23)
    missing = np.isnan(data.known)
    assert missing.sum() == 28
    assert [data.samples[row].name for row in np.flatnonzero(missing.any(axis=1))] == ["__cere__3D_computeTempOMP_150"]
    assert over_oracle(data, data.default) == pytest.approx(1.427, abs=6e-4)
    best = np.nanmean(np.log(data.known / np.nanmin(data.known, axis=1, keepdims=True)), axis=0)
    assert np.exp(best.min()) == pytest.approx(1.354, abs=6e-4)


def test_the_published_openmp_table(published: str) -> None:
    data = get_task(OPENMP).load(published)
    assert (len(data), data.width, len(set(data.group))) == (18, 1320, 6)
    assert over_oracle(data, data.default) == pytest.approx(1.4225, abs=6e-4)
    # What was stopped stands as a whole number of seconds, the largest of its program and size.
    limit = data.known.max(axis=1, keepdims=True)
    assert np.sum((data.known == limit) & (limit % 1 == 0)) == 2216


def test_what_a_block_is_worth_on_another_gpu_is_recorded(published: str) -> None:
    assert json.loads(transfer.RECORD.read_text()) == json.loads(json.dumps(transfer.record_of(published)))


def test_the_published_blocks(published: str) -> None:
    data = get_task(BLOCKS).load(published)
    assert len(data) == 22
    assert {len(space) for space in data.spaces} == {60, 36, 106, 9, 31}
