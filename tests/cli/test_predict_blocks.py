"""``mirenc predict block_size`` of kernels that say how large their blocks may be: every form of an answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import Run

BOUNDS = Path(__file__).parent.parent / "fixtures" / "bounds"


def items(name: str) -> int:
    """Work-items of ``block_x=8 block_y=4``."""
    sides = [int(side) for side in re.findall(r"block_[xy]=(\d+)", name)]
    assert len(sides) == 2
    return sides[0] * sides[1]


@pytest.mark.parametrize(
    ("kernel", "most"), [("clang-14.cuda bounded", 64), ("clang-19.cuda both", 512), ("clang-16.amdgcn anything", 256)]
)
def test_no_form_of_an_answer_has_a_shape_too_large(run: Run, tmp_path: Path, kernel: str, most: int) -> None:
    file, name = kernel.split()
    tuner, sarif, remarks = (tmp_path / one for one in ("shapes.txt", "x.sarif", "x.opt.yaml"))
    question = ("predict", "block_size", BOUNDS / f"{file}.ll", "--kernel", name, "-c", "n=4096")
    done = run(*question, "--restrict", tuner, "-o", sarif, "-o", remarks)
    assert done.code == 0, done.err
    answer = json.loads(run(*question, "--json").out)
    for key in ("preference", "cost_ratio", "loss"):
        assert max(map(items, answer[key])) == most
        assert len(answer[key]) > 1
    assert items(answer["choice"]) <= most
    assert items(answer["default"]) == min(most, 256)
    assert sum(answer["preference"].values()) == pytest.approx(1)
    assert answer["held_out"] is None  # what answers among all shapes were worth says nothing here
    assert str(most) in answer["limit"]
    assert answer["restriction"] == tuner.read_text().strip()
    assert all(int(side) <= most for side in re.findall(r"\d+", answer["restriction"]))
    for text in (done.out, sarif.read_text(), remarks.read_text()):
        assert answer["limit"] in text.replace("\\u0027", "'")
        shapes = re.findall(r"block_x=\d+ block_y=\d+", text)
        assert shapes
        assert max(map(items, shapes)) <= most


@pytest.mark.parametrize(
    ("file", "kernel", "variant", "device"),
    [("clang-19.cuda", "anything", "h200", "NVIDIA H200"), ("clang-16.amdgcn", "anything", "", "pthread")],
)
def test_the_language_of_a_kernel_chooses_the_machine(
    run: Run, file: str, kernel: str, variant: str, device: str
) -> None:
    question = ("predict", "block_size", BOUNDS / f"{file}.ll", "--kernel", kernel, "-c", "n=4096", "--json")
    answer = json.loads(run(*question).out)
    assert answer["variant"] == variant
    assert device in answer["machine"]
    assert json.loads(run(*question, "--variant", "h200").out)["variant"] == "h200"


def test_what_is_required_is_the_answer(run: Run, tmp_path: Path) -> None:
    question = ("predict", "block_size", BOUNDS / "clang-19.spir.ll", "--kernel", "plane", "-c", "n=64")
    done = run(*question, "--restrict", tmp_path / "shapes.txt")
    assert done.code == 0, done.err
    assert "block_x=48 block_y=2, the only one" in done.out
    assert "reqd_work_group_size(48, 2, 1): no other shape can be launched" in done.out
    assert (tmp_path / "shapes.txt").read_text() == "(block_size_x, block_size_y) in [(48, 2)]\n"
    answer = json.loads(run(*question, "--json").out)
    assert (answer["choice"], answer["default"], answer["fixed"]) == (*["block_x=48 block_y=2"] * 2, True)
    assert answer["preference"] == {"block_x=48 block_y=2": 1}


def test_a_kernel_without_a_shape_leaves_the_others_their_answers(run: Run) -> None:
    done = run("predict", "block_size", BOUNDS / "clang-16.cuda.ll", "-c", "n=64", "--json")
    assert done.code == 1
    *warnings, error = done.error_lines
    assert all(line.startswith("mirenc: warning: ") for line in warnings)  # the head knows no CUDA
    assert error.startswith("mirenc: error: ")
    assert "small has __launch_bounds__(16): at most 16 threads a block" in error
    assert "Launch the kernel with" in error
    answers = [json.loads(line)["region"]["symbol"] for line in done.out.splitlines()]
    assert answers == ["anything", "bounded", "both"]
    run("predict", "block_size", BOUNDS / "clang-16.cuda.ll", "--kernel", "small", "-c", "n=64").failed("at most 16")


def test_a_list_of_ones_own_is_not_written_over(run: Run, tmp_path: Path) -> None:
    shapes = tmp_path / "shapes.txt"
    question = ("predict", "block_size", BOUNDS / "clang-19.spir.ll", "--kernel", "required", "-c", "n=64")
    shapes.write_text("32 1\n64 1\n")
    run(*question, "--restrict", shapes).failed("not a restriction that mirenc wrote")
    assert shapes.read_text() == "32 1\n64 1\n"
    shapes.unlink()
    for _ in range(2):  # what it wrote itself, it writes again
        assert run(*question, "--restrict", shapes).code == 0
    assert shapes.read_text() == "block_size_x in [64]\n"
