"""Block size as a task: kernels of a module, what the code tells, a tuner's words for shapes, and a made-up table."""

import json
from itertools import product
from pathlib import Path

import pytest
from small_measured import kernel_of, machine_record, sample_of

from mirenc.base.errors import ForeignIRError, TaskError
from mirenc.decide.prediction import Choice, Evidence
from mirenc.decide.tables.measured import MeasuredTable
from mirenc.decide.tasks.block_size import (
    KNOBS,
    ON_ANOTHER_GPU,
    TRIES_WORTH,
    BlockSize,
    block_space,
    likely_shapes,
    permitted_shapes,
    tuner_restriction,
)
from mirenc.llvm import parse_ir, read_ir
from mirenc.llvm.analysis.block_bounds import BlockBounds
from mirenc.llvm.analysis.regions import Region

OPENCL = """target triple = "spir64-unknown-unknown"
define spir_kernel void @line(ptr addrspace(1) %x) {
  %i = tail call i64 @_Z13get_global_idj(i32 0)
  ret void
}
define spir_func i32 @helper(i32 %x) {
  ret i32 %x
}
define spir_kernel void @plane(ptr addrspace(1) %x) {
  %i = tail call i64 @_Z13get_global_idj(i32 0)
  %j = tail call i64 @_Z13get_global_idj(i32 noundef 1)
  ret void
}
declare i64 @_Z13get_global_idj(i32)
"""
CUDA = """target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @plane(ptr %x) {
  %i = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %j = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
"""
TASK = BlockSize()
ROOT = Path(__file__).parents[3]
BOUNDS = ROOT / "tests" / "fixtures" / "bounds"


def test_kernels_are_decided_about_and_helpers_are_not() -> None:
    module = parse_ir(OPENCL)
    regions = TASK.regions(module)
    assert [region.symbol for region in regions] == ["line", "plane"]
    assert [TASK.context.from_ir(module, region) for region in regions] == [
        {"dimensions": 1, "cuda": 0},
        {"dimensions": 2, "cuda": 0},
    ]


def test_cuda_is_told_by_its_target() -> None:
    module = parse_ir(CUDA)
    assert TASK.context.from_ir(module, TASK.regions(module)[0]) == {"dimensions": 2, "cuda": 1}


def test_a_module_without_a_kernel_is_refused() -> None:
    with pytest.raises(ForeignIRError, match="no OpenCL or CUDA kernel"):
        TASK.regions(parse_ir("define i32 @main() {\n  ret i32 0\n}\n"))


def test_a_question_gives_only_the_size() -> None:
    assert TASK.context.parse_question({"n": "64"}) is None
    assert TASK.context.parse({"n": "64", "dimensions": "2", "cuda": "0"}) == (64, 2, 0)
    assert TASK.context.encode((64, 2, 0)).tolist() == [6, 2, 0]
    with pytest.raises(TaskError, match="'dimensions' is '3'; allowed: 1 or 2"):
        TASK.context.parse({"n": "64", "dimensions": "3", "cuda": "0"})
    with pytest.raises(TaskError, match=r"'n' is '0'; allowed: .*1 or more"):
        TASK.context.parse({"n": "0", "dimensions": "1", "cuda": "0"})


@pytest.mark.parametrize(("language", "dimensions"), list(product(("cl", "cuda"), (1, 2))))
def test_every_space_has_the_habitual_default(language: str, dimensions: int) -> None:
    space = block_space(language, dimensions)
    assert space.settings[space.default] == ((256, 1) if dimensions == 1 else (16, 16))
    assert len(space) >= (12 if language == "cl" else 10)
    assert TASK.space_for((64, dimensions, int(language == "cuda"))) is space


def test_three_dimensions_have_no_shapes() -> None:
    with pytest.raises(TaskError, match="no block shapes for 'cl' in 3 dimensions"):
        block_space("cl", 3)


def test_a_restriction_keeps_the_named_shapes_and_no_other() -> None:
    ratios = {"block_x=8 block_y=8": 1.2, "block_x=32 block_y=8": 1.0, "block_x=64 block_y=1": 3.0}
    planes = likely_shapes(ratios, 2)
    assert planes == [(32, 8), (8, 8)]
    shapes = [
        (block_size_x, block_size_y)
        for block_size_x, block_size_y in product((8, 32, 64), (1, 8))
        if eval(tuner_restriction(planes), {"block_size_x": block_size_x, "block_size_y": block_size_y})
    ]
    assert shapes == [(8, 8), (32, 8)]
    assert tuner_restriction([(64, 1), (128, 1)]) == "block_size_x in [64, 128]"


@pytest.mark.parametrize(
    ("cuda", "dimensions", "bounds", "permitted"),
    [
        (True, 1, BlockBounds(), [256, 32, 64, 96, 128, 192, 384, 512, 768, 1024]),
        (True, 1, BlockBounds(most=96), [96, 32, 64]),  # the default is the nearest to what people write
        (False, 1, BlockBounds(least=512, most=1024), [512, 1024]),
        (True, 2, BlockBounds(most=64), [(8, 8)]),
        (False, 2, BlockBounds(most=64, words=("a bound",)), [(8, 8), (1, 1), (4, 4), (16, 4), (64, 1), (1, 64)]),
        (True, 2, BlockBounds(widest=(16, 8, 1)), [(16, 8), (8, 8)]),
        (False, 1, BlockBounds(required=(48, 2, 1)), [(48, 2)]),  # whatever the shapes are
    ],
)
def test_shapes_that_a_kernel_permits(
    cuda: bool, dimensions: int, bounds: BlockBounds, permitted: list[object]
) -> None:
    shapes = [(int(x), int(y)) for x, y in block_space("cuda" if cuda else "cl", dimensions).settings]
    expected = [one if isinstance(one, tuple) else (one, 1) for one in permitted]
    assert permitted_shapes(shapes, shapes[0], "k", bounds, cuda=cuda) == expected


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (
            BlockBounds(most=16, words=("BOUND",)),
            "k has BOUND, which allows none of .*: 32 x 1, .* Launch the kernel with a shape of your own",
        ),
        (
            BlockBounds(required=(8, 8, 8), words=("BOUND",)),
            "k has BOUND, so there is nothing to predict. Launch the kernel with 8 x 8 x 8",
        ),
        (
            BlockBounds(required=(2048, 1, 1), words=("BOUND",)),
            "no GPU can launch it: 2048 work-items, and at most 1024",
        ),
    ],
)
def test_no_shape_at_all_is_said(bounds: BlockBounds, words: str) -> None:
    with pytest.raises(TaskError, match=words):
        permitted_shapes([(256, 1), (32, 1)], (256, 1), "k", bounds, cuda=True)


def test_every_kernel_has_its_own_bounds() -> None:
    module = read_ir(BOUNDS / "clang-19.cuda.ll")
    space = block_space("cuda", 1)
    permitted_of = {}
    for region in TASK.regions(module):
        if region.symbol != "small":
            permitted_of[region.symbol] = TASK.permitted(space, module, region, (64.0, 1.0, 1.0))
    assert permitted_of["anything"] == (space.settings, "")
    assert permitted_of["bounded"][0] == ((64, 1), (32, 1))
    assert permitted_of["both"][0] == tuple(one for one in space.settings if one[0] <= 512)
    assert permitted_of["bounded"][1] == "__launch_bounds__(64): at most 64 threads a block"


def test_the_worth_of_an_answer_on_another_gpu_is_the_record_s() -> None:
    record = json.loads((ROOT / "downstream/block_size_published/transfer.json").read_text())
    row = record["rows"][0]
    taken, tried = (
        f"{row['ways'][rule]['oracle_gain_share']:.0%}".replace("%", " %") for rule in list(row["ways"])[:2]
    )
    words = f"has {taken} of the oracle's gain on another, and {tried} if it is tried beside the default"
    assert words in ON_ANOTHER_GPU
    assert f"({row['pairs']} pairs)" in ON_ANOTHER_GPU


def test_the_worth_of_the_shapes_to_measure_is_the_record_s() -> None:
    rows = json.loads((ROOT / "downstream/ceilings.json").read_text())["block_size.h200"]["rows"]
    row = next(row for row in rows if row["title"] == "the default and 2 fixed, the best kept")
    assert f"has {100 * row['oracle_gain_share']:.0f} % of the oracle's gain" in TRIES_WORTH


@pytest.mark.parametrize("most", [1024, 256])
def test_two_shapes_are_to_be_measured_where_a_cuda_kernel_permits_them(most: int) -> None:
    space = block_space("cuda", 1)
    expected = {name: 1.0 for name, (x, _) in zip(space.names, space.settings, strict=True) if int(x) <= most}
    answer = Choice(
        choice=space.names[0],
        setting=space.settings[0],
        default=space.names[0],
        preference=expected,
        expected=expected,
        region=None,
        context={"n": 64.0, "dimensions": 1.0, "cuda": 1.0},
        machine="",
        distance=0.5,
        evidence=Evidence("default", None),
    )
    line = f"to be sure, measure block_x=64 block_y=1 and block_x=512 block_y=1: {TRIES_WORTH}"
    assert (line in TASK.remarks(answer)) == (most == 1024)


def made_up(folder: Path) -> Path:
    """Kernels of one dimension where those that multiply want 8 in place of 256, and of two where nothing matters."""
    kernels, samples = {}, []
    for number in range(24):
        dimensions, works = 1 + number % 2, number % 3 == 0
        space = block_space("cl", dimensions)
        step = "mul" if works else "add"
        second = "" if dimensions == 1 else "  %j = tail call i64 @_Z13get_global_idj(i32 1)\n"
        body = "".join(f"  %v{k} = {step} i64 %i, {k + number}\n" for k in range(4 + number))
        ir = (
            'target triple = "spir64-unknown-unknown"\ndefine spir_kernel void @f(ptr %x) {\n'
            f"  %i = tail call i64 @_Z13get_global_idj(i32 0)\n{second}{body}  ret void\n}}\n"
            "declare i64 @_Z13get_global_idj(i32)\n"
        )
        name = f"k{number}"
        context = {"n": 64 * (1 + number % 4), "dimensions": dimensions, "cuda": 0}
        kernels[name] = kernel_of(name, ir, Region("function", "f", "f", "", 0, "", 0, "f"), context)
        costs = [0.5 if works and dimensions == 1 and x == 8 else 1.0 for x, _ in space.settings]
        samples.append(sample_of(name, "cpu", space.settings, costs))
    MeasuredTable(machine_record("block_size", *KNOBS), kernels, samples).write(folder)
    return folder


def test_a_measured_table_becomes_samples_of_two_spaces(tmp_path: Path) -> None:
    data = TASK.load(made_up(tmp_path))
    assert len(data) == 24
    assert not data.shares_space
    assert {len(space) for space in data.spaces} == {13, 16}
    assert data.spaces[0].settings[data.labels[0]] == (8, 1)


def test_a_kernel_that_forbids_the_default_is_measured_against_another(tmp_path: Path) -> None:
    space = block_space("cl", 1)
    costs = [1.0 + x / 64 if x <= 64 else float("nan") for x, _ in space.settings]
    ir = OPENCL.replace("(ptr addrspace(1) %x) {", "(ptr addrspace(1) %x) !reqd_work_group_size !0 {", 1)
    region = Region("function", "line", "line", "", 0, "", 0, "line")
    kernel = kernel_of("k", ir, region, {"n": 64, "dimensions": 1, "cuda": 0})
    table = MeasuredTable(
        machine_record("block_size", *KNOBS), {"k": kernel}, [sample_of("k", "cpu", space.settings, costs)]
    )
    table.write(tmp_path)
    data = TASK.load(tmp_path)
    space_of_first = data.spaces[0]
    assert space_of_first.settings[space_of_first.default] == space_of_first.settings[0] == (64, 1)
    assert sorted(space_of_first.settings) == sorted(space.settings)
    assert data.baseline.tolist() == [2.0]
    assert space_of_first.settings[data.labels[0]] == (1, 1)


@pytest.mark.parametrize(("default", "matters", "cuda"), [(1.02, False, 0), (1.2, True, 1)])
def test_an_answer_says_whether_it_matters_and_what_to_try(default: float, matters: bool, cuda: int) -> None:
    space = block_space("cl", 2)
    ratios = dict.fromkeys(space.names, 2.0) | {space.names[1]: 1.0, space.names[space.default]: default}
    answer = Choice(
        choice=space.names[1],
        setting=space.settings[1],
        default=space.names[space.default],
        preference=ratios,
        expected=ratios,
        region=None,
        context={"n": 64, "dimensions": 2, "cuda": cuda},
        machine="",
        distance=0.5,
        evidence=Evidence("default", None),
    )
    details, remarks = TASK.details(answer), TASK.remarks(answer)
    assert details["matters"] is matters
    assert details["loss"][space.names[space.default]] == pytest.approx(default - 1)
    assert details["restriction"].startswith("(block_size_x, block_size_y) in [(1, 1), (16, 16), ")
    assert any(line.startswith("the default is good enough here: block_x=16") for line in remarks) is not matters
    assert any(repr(details["restriction"]) in line for line in remarks)
    assert (ON_ANOTHER_GPU in remarks) == cuda
    assert json.dumps(details)
