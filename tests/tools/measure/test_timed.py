"""Runs: they stop anywhere and go on, one bad kernel ends none, and two setups never mix."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tools.measure.toy import FLAVOURS, SOURCE, Toy, ToyMethod, kernel

from mirenc.base.errors import ConfigError, TaskError
from mirenc.decide.tables.measured import MeasuredKernel, MeasuredTable, read_measured
from mirenc.tools.measure import timekeeper
from mirenc.tools.measure.timed import TimedRun
from mirenc.tools.run.compilers import Toolchain
from mirenc.tools.run.run_folder import Plan

pytestmark = pytest.mark.needs("clang")

QUICK = ("plain", "same", "fast", "wrong")


@pytest.fixture(autouse=True)
def any_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)


def run_in(
    folder: Path, method: ToyMethod | None = None, *, toolchain: Toolchain | None = None, **plan: Any
) -> TimedRun:
    method = method or ToyMethod(QUICK)
    folder.mkdir(exist_ok=True)
    return TimedRun(method, toolchain or method.find_compiler(None), Plan(**{"count": 2, "rounds": 4, **plan}), folder)


def gone(run: TimedRun) -> MeasuredTable:
    run.go(lambda *_, **__: None)
    return run.table()


def test_a_run_writes_what_the_task_reads(tmp_path: Path) -> None:
    gone(run_in(tmp_path))
    table = read_measured(tmp_path, "toy")
    assert "scale" in table.kernels["scale1000"].ir
    assert str(tmp_path) not in table.kernels["scale1000"].ir + json.dumps(table.machine)
    assert table.machine["samples"] == 2
    assert table.machine["cells"] == {"compile": 8, "differs": 2, "ok": 4, "same": 2}
    data = Toy().load(tmp_path)
    assert [sample.name for sample in data.samples] == ["scale1000", "scale1001"]
    first = data.samples[0]
    assert (first.group, first.suite, first.context) == ("g1", "toys", (1000,))
    assert first.region is not None
    assert first.region.symbol == "scale"
    assert first.effective is not None
    assert first.effective[FLAVOURS.index("same")] == FLAVOURS.index("plain")
    known = {name: math.isfinite(cost) for name, cost in zip(FLAVOURS, data.known[0], strict=True)}
    assert known == dict.fromkeys(FLAVOURS, False) | dict.fromkeys(("plain", "same", "fast"), True)


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    first = run_in(tmp_path)
    finished: list[str] = []

    def stop(*_: object, **fields: str) -> None:
        finished.append(fields["note"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.go(stop)
    assert finished == ["scale1000"]
    assert [sample.name for sample in Toy().load(tmp_path).samples] == ["scale1000"]
    before = read_measured(tmp_path, "toy").samples[0]

    method = ToyMethod(QUICK)
    second = run_in(tmp_path, method)
    assert [kernel.name for kernel, _ in second.left] == ["scale1001"]
    gone(second)
    table = read_measured(tmp_path, "toy")
    assert [sample.kernel for sample in table.samples] == ["scale1000", "scale1001"]
    assert table.samples[0].label[0] == before.label[0]
    assert run_in(tmp_path).left == []


def test_a_line_that_was_being_written_is_measured_again(tmp_path: Path) -> None:
    gone(run_in(tmp_path, count=1))
    journal = tmp_path / "work" / "journal.jsonl"
    content = journal.read_bytes()
    journal.write_bytes(content[:-30])
    again = run_in(tmp_path, count=1)
    assert len(again.left) == 1
    gone(again)
    assert run_in(tmp_path, count=1).left == []
    journal.write_bytes(content.replace(b'{"sample": {', b'{"sample": {"colour": 1, '))
    with pytest.raises(ConfigError, match=r"journal.jsonl, line \d+ is damaged .* name another"):
        run_in(tmp_path, count=1)


def test_another_setup_is_refused(tmp_path: Path) -> None:
    gone(run_in(tmp_path, count=1))
    toolchain = replace(ToyMethod().find_compiler(None), cflags=("-O3",))
    other = r"has results of another run: flags \['-O2'\], not \['-O3'\]\. Name another folder"
    with pytest.raises(ConfigError, match=other):
        run_in(tmp_path, count=1, toolchain=toolchain)
    assert len(run_in(tmp_path, count=3).left) == 2


def test_what_a_journal_does_not_say_is_not_compared(tmp_path: Path) -> None:
    gone(run_in(tmp_path, count=1))
    journal = tmp_path / "work" / "journal.jsonl"
    header, *lines = journal.read_text().splitlines(keepends=True)
    setup = json.loads(header)["setup"]
    del setup["method_flags"]
    journal.write_text(json.dumps({"setup": setup | {"rounds": 99}}) + "\n" + "".join(lines))
    assert run_in(tmp_path, count=1).left == []


def test_compiling_first_and_timing_later(tmp_path: Path) -> None:
    method = ToyMethod(QUICK)
    table = gone(run_in(tmp_path, method, compile_only=True))
    assert sorted(method.built) == ["scale1000", "scale1001"]
    assert table.samples == []
    assert not (tmp_path / "machine.json").exists()
    (root,) = (tmp_path / "work" / "objects").iterdir()
    objects = list(root.iterdir())
    assert len(objects) == 2
    # What is the same code is kept once.
    assert {path.name for path in objects[0].glob("*.so")} == {
        "driver.so",
        "plain.so",
        "fast.so",
        "wrong.so",
        "copy.so",
    }
    later = ToyMethod(QUICK)
    assert gone(run_in(tmp_path, later)).machine["samples"] == 2
    assert later.built == []
    assert list(root.iterdir()) == []


def test_time_that_is_up_leaves_the_rest(tmp_path: Path) -> None:
    run = run_in(tmp_path, minutes=0.0)
    assert gone(run).samples == []
    assert len(run.left) == 2


def test_a_kernel_that_does_not_compile_is_dropped_with_the_reason(tmp_path: Path) -> None:
    for name, text in (("bad", "this is no C"), ("good", SOURCE)):
        (tmp_path / f"{name}.c").write_text(text)
    run = run_in(tmp_path / "table", sources=(tmp_path / "bad.c", tmp_path / "good.c"))
    table = gone(run)
    assert [(sample.kernel, sample.dropped[:26].strip()) for sample in table.samples] == [
        ("bad", "not built: compile: error:"),
        ("good", ""),
    ]
    assert table.machine["dropped_otherwise"] == 1
    assert table.machine["sources"] == "the user's"
    assert [sample.name for sample in Toy().load(tmp_path / "table").samples] == ["good"]


def test_a_kernel_that_does_not_compile_is_built_for_one_of_its_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [kernel(size, source="this is no C", group="g") for size in (10, 20, 30)]
    monkeypatch.setattr(ToyMethod, "own_kernels", lambda *_: iter(sizes))
    method = ToyMethod(QUICK)
    dropped = [sample.dropped for sample in gone(run_in(tmp_path, method)).samples]
    assert method.built == ["scale10"]
    assert len(dropped) == 3
    assert all(reason.startswith("not built: compile: error:") for reason in dropped)


def test_a_source_that_was_changed_is_measured_again(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(SOURCE)
    gone(run_in(tmp_path / "table", sources=(source,)))
    assert run_in(tmp_path / "table", sources=(source,)).left == []
    source.write_text(SOURCE + "// changed")
    again = run_in(tmp_path / "table", sources=(source,))
    assert len(again.left) == 1
    gone(again)
    table = read_measured(tmp_path / "table", "toy")
    assert [kernel.source[-7:] for kernel in table.kernels.values()] == ["changed"]
    assert len(table.samples) == 1
    assert run_in(tmp_path / "table", sources=(source,)).left == []
    with pytest.raises(ConfigError, match=r"sources \"the user's\", not \"the project's own\""):
        run_in(tmp_path / "table")


def test_noise_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timekeeper, "MAX_NOISE", -1.0)
    table = gone(run_in(tmp_path, count=1))
    assert table.samples[0].dropped.startswith("noise ")
    assert table.samples[0].rounds == 16
    assert (table.machine["samples"], table.machine["dropped_for_noise"]) == (0, 1)
    with pytest.raises(TaskError, match="the table has 1 samples, and all were dropped"):
        Toy().load(tmp_path)
    # The machine may be quiet another time.
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)
    again = run_in(tmp_path, count=1)
    assert len(again.left) == 1
    machine = gone(again).machine
    assert (machine["samples"], machine["tried_again"]) == (1, 1)
    assert read_measured(tmp_path, "toy").samples[0].tries == 2
    assert run_in(tmp_path, count=1).left == []


def test_a_noisy_sample_is_tried_three_times_and_after_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timekeeper, "MAX_NOISE", -1.0)
    for tries in (1, 2, 3):
        assert len(run_in(tmp_path, count=1).left) == 1
        assert gone(run_in(tmp_path, count=1, rounds=2 * tries + 2)).samples[0].tries == tries
        names = [kernel.name for kernel, _ in run_in(tmp_path).left]
        assert names == ["scale1001", "scale1000"][: 2 if tries < 3 else 1]
    run = run_in(tmp_path, count=1, rounds=12)
    assert (run.left, run.new) == ([], [])
    record = run.table().machine
    assert (record["rounds"], record["tried_again"]) == (12, 1)


def test_another_version_of_the_compiler_builds_anew(tmp_path: Path) -> None:
    real = shutil.which(ToyMethod().find_compiler(None).compiler)
    compiler = tmp_path / "clang"

    def method(version: str) -> ToyMethod:
        script = f'#!/bin/sh\n[ "$1" = --version ] && echo {version} && exit\nexec {real} "$@"\n'
        compiler.write_text(script)
        compiler.chmod(0o755)
        return ToyMethod(QUICK)

    toolchain = Toolchain(str(compiler), ("-O2",), 30.0)
    for version, built in (("1.0", 1), ("1.0", 0), ("1.1", 1)):
        now = method(version)
        gone(run_in(tmp_path / "table", now, toolchain=toolchain, count=1, compile_only=True))
        assert len(now.built) == built


def test_flags_and_title_are_those_of_all_parts_that_were_measured(tmp_path: Path) -> None:
    class Parts(ToyMethod):
        def parts(self) -> tuple[str, ...]:
            return ("one", "two", "three")

        def describe(self, part: str) -> dict[str, Any]:
            return {"name": part.upper(), "platform": "P", "driver": "1"}

        def flags(self, part: str) -> tuple[str, ...]:
            return ("-O7", f"-m{part}")

    gone(run_in(tmp_path, Parts(QUICK), count=1, parts=("one",)))
    assert read_measured(tmp_path, "toy").title.endswith(" -O7 -mone -O2")
    gone(run_in(tmp_path, Parts(QUICK), count=1, parts=("two",)))
    table = read_measured(tmp_path, "toy")
    assert table.machine["method_flags"] == {part: ["-O7", f"-m{part}"] for part in ("one", "two", "three")}
    assert "; ONE (P 1); TWO (P 1); " in table.title
    assert "THREE" not in table.title
    assert table.title.endswith(" -O7 -O2")


def test_parts_and_names_are_checked(tmp_path: Path) -> None:
    class Twice(ToyMethod):
        def parts(self) -> tuple[str, ...]:
            return ("small", "large")

        def own_kernels(self, count: int) -> Any:
            yield from (kernel(), kernel())

    with pytest.raises(TaskError, match=r"toy has no part 'tiny' on this machine; available: small, large"):
        run_in(tmp_path, Twice(), parts=("tiny",))
    with pytest.raises(TaskError, match=r"two kernels are called 'scale1000'\. Rename one"):
        run_in(tmp_path, Twice())
    with pytest.raises(TaskError, match=r"available: none: leave --part out"):
        run_in(tmp_path, parts=("tiny",))


def test_every_kernel_is_measured_at_one_part_before_any_at_a_second(tmp_path: Path) -> None:
    class Parts(ToyMethod):
        def parts(self) -> tuple[str, ...]:
            return ("one", "two")

        def own_kernels(self, count: int) -> Iterator[MeasuredKernel]:
            return (kernel(1000 + number, group="same") for number in range(count))

    run = run_in(tmp_path, Parts(QUICK), count=4)
    first, second = run.samples[:4], run.samples[4:]
    assert [one.name for one, _ in first] == [one.name for one, _ in second] == [f"scale{1000 + n}" for n in range(4)]
    # The parts take turns within a group.
    assert [part for _, part in first] in (["one", "two"] * 2, ["two", "one"] * 2)
    assert all(here != there for (_, here), (_, there) in zip(first, second, strict=True))
    assert [(one.kernel, one.part) for one in gone(run).samples[:3]] == [
        ("scale1000", "one"),
        ("scale1000", "two"),
        ("scale1001", "one"),
    ]
