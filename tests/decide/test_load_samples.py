"""Samples of the same code are one group, whatever their sources are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.load_samples import join_same_code
from mirenc.decide.sample import Sample


def sample(group: str, body: str, name: str = "f") -> Sample:
    ir = f"define i32 @{name}(i32 %x) {{\n  %y = {body}\n  ret i32 %y\n}}\n"
    return Sample(group, ir, group, (), (1.0, 2.0))


def groups(*samples: Sample) -> list[str]:
    return [one.group for one in join_same_code(samples)]


def test_the_same_statements_under_other_names_are_one_group() -> None:
    assert groups(sample("b", "add i32 %x, 1"), sample("a", "add i32 %x, 1", "g"), sample("c", "add i32 %x, 2")) == [
        "a",
        "a",
        "c",
    ]


def test_groups_are_joined_through_a_third() -> None:
    # One source with two sizes, each of which is also another source.
    joined = groups(
        sample("s", "add i32 %x, 1"),
        sample("s", "add i32 %x, 2"),
        sample("t", "add i32 %x, 2"),
        sample("r", "add i32 %x, 1"),
        sample("other", "mul i32 %x, 2"),
    )
    assert joined == ["r", "r", "r", "r", "other"]


def test_bitcode_and_files_count_as_their_text(tmp_path: Path) -> None:
    text = sample("a", "add i32 %x, 1")
    path = tmp_path / "b.ll"
    path.write_text(str(text.ir))
    assert groups(
        text, Sample("b", path, "b", (), (1.0, 2.0)), Sample("c", str(text.ir).encode(), "c", (), (1.0,))
    ) == [
        "a",
        "a",
        "a",
    ]


def test_unreadable_ir_names_the_sample() -> None:
    with pytest.raises(TaskError, match="sample broken: "):
        groups(Sample("broken", "define i32 @f( {\n", "broken", (), (1.0, 2.0)))
