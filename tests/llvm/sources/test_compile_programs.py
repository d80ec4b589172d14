"""Many compilations, any of which may fail: what is kept, what is counted, what a second run does."""

import hashlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from fake_tools import FakeTools

from mirenc.base.errors import ConfigError
from mirenc.llvm.sources.compile_programs import (
    CHUNK,
    Choices,
    Limits,
    Program,
    compile_chunk,
    compile_programs,
    levels_of,
)
from mirenc.llvm.sources.ir_folder import IRFolder


@pytest.fixture
def program(fake_tools: FakeTools, tmp_path: Path) -> Callable[..., Program]:
    """Make a program of one file that the stand-in for clang-19 compiles."""
    root = tmp_path / "source"
    root.mkdir()

    def make(file: str, text: str, levels: tuple[str, ...] = ("O0", "O2")) -> Program:
        (root / file).write_text(text, encoding="utf-8")
        commands = {level: ("clang-19", f"-{level}", file) for level in levels}
        return Program("p", file, "c", "clang-19", root, commands, version="1")

    return make


def statuses(folder: IRFolder) -> dict[str, str]:
    return {f"{record.file} {record.opt_level}": record.status for record in folder.records()}


def test_each_outcome_is_one_record(program: Callable[..., Program], tmp_path: Path) -> None:
    programs = [
        program("good.c", "int good;"),
        program("same.c", "int good;"),
        program("bad.c", "#error"),
        program("none.c", "declare"),
        program("big.c", "x" * 3000),
        program("slow.c", "hang"),
        program("omp.c", "__kmpc_fork_call"),
    ]
    done: list[tuple[int, str]] = []
    with IRFolder(tmp_path / "ir") as folder:
        limits = Limits(seconds=2, max_file_bytes=2000)
        compile_programs(programs, folder, jobs=2, limits=limits, advance=lambda n, note: done.append((n, note)))
        assert statuses(folder) == {
            "good.c O0": "ok",
            "good.c O2": "ok",
            "same.c O0": "duplicate",
            "same.c O2": "duplicate",
            "bad.c O0": "failed",  # and is not tried at -O2
            "none.c O0": "empty",
            "none.c O2": "empty",
            "big.c O0": "large",
            "big.c O2": "large",
            "slow.c O0": "timeout",
            "omp.c O0": "ok",
            "omp.c O2": "ok",
        }
        good, bad = folder.get(("p", "good.c", "O2")), folder.get(("p", "bad.c", "O0"))
        openmp = folder.get(("p", "omp.c", "O0"))
    assert good is not None
    assert bad is not None
    assert openmp is not None
    assert bad.reason == "bad.c:1:2: error: told so"
    assert openmp.language == "c+openmp"
    assert done == [(1, "p")] * 7
    ir = (tmp_path / "ir" / "p" / "O2" / "good.c.ll").read_bytes()
    assert ir == b"; ModuleID = good.c\nsource_filename = good.c\n; -O2 int good;\ndefine void @f()\n"
    # The first two lines name the file: two copies of one program have the same hash.
    assert good.sha256_of_ir == hashlib.sha256(b"; -O2 int good;\ndefine void @f()\n").hexdigest()
    assert good.ir_bytes == len(ir)


def test_a_stopped_run_goes_on_where_it_was(
    program: Callable[..., Program], tmp_path: Path, fake_tools: FakeTools
) -> None:
    programs = [program(f"{number}.c", f"int x{number % 20};") for number in range(CHUNK + 6)]
    with IRFolder(tmp_path / "whole") as folder:
        compile_programs(programs, folder, jobs=2, limits=Limits())
        records = folder.kept()

    for stop_at in (3, 20, CHUNK):
        done: list[int] = []

        def killed(count: int, note: str, done: list[int] = done, stop_at: int = stop_at) -> None:
            done.append(count)
            if len(done) == stop_at:
                raise KeyboardInterrupt

        with IRFolder(tmp_path / "stopped") as folder, pytest.raises(KeyboardInterrupt):
            compile_programs(programs, folder, jobs=2, limits=Limits(), advance=killed)
    with IRFolder(tmp_path / "stopped") as folder:
        compile_programs(programs, folder, jobs=2, limits=Limits())
        assert folder.kept() == records
    names = [sorted(p.name for p in (tmp_path / run).rglob("*.ll")) for run in ("whole", "stopped")]
    assert names[0] == names[1]
    assert len(names[0]) == 40  # 20 different files at two levels


def test_a_level_added_later_is_compiled_alone(
    program: Callable[..., Program], tmp_path: Path, fake_tools: FakeTools
) -> None:
    with IRFolder(tmp_path / "ir") as folder:
        compile_programs([program("a.c", "int a;", ("O2",))], folder, jobs=1, limits=Limits())
        compile_programs([program("a.c", "int a;", ("O1", "O2"))], folder, jobs=1, limits=Limits())
        assert statuses(folder) == {"a.c O1": "ok", "a.c O2": "ok"}
    assert [call[1] for call in fake_tools.calls()] == ["-O2", "-O1"]


def test_every_eighth_file_is_also_compiled_at_oz() -> None:
    files = [f"src/{number}.c" for number in range(800)]
    counts = Counter(levels_of("zlib", file, "c") for file in files)
    assert set(counts) == {("O0", "O2"), ("O0", "O2", "Oz")}
    assert 60 < counts["O0", "O2", "Oz"] < 140
    assert {levels_of("lapack", file, "fortran") for file in files} == {("O0", "O2")}  # flang has no -Oz
    assert levels_of("p", "a.c", "c", ["O3"]) == ("O3",)


def test_levels_are_checked() -> None:
    Choices(levels=["O0", "O3", "Os"])
    with pytest.raises(ConfigError, match="unknown optimisation level 'O9'; available: O0, O1, O2, O3, Os, Oz"):
        Choices(levels=["O0", "O9"])
    with pytest.raises(ConfigError, match="no optimisation level"):
        Choices(levels=[])


def test_limits_have_a_range() -> None:
    with pytest.raises(ConfigError, match=r"seconds: .*greater than 0"):
        Limits.from_dict({"seconds": 0})
    with pytest.raises(ConfigError, match="unknown key 'max_file_byte'; did you mean 'max_file_bytes'"):
        Limits.from_dict({"max_file_byte": 5})


def test_two_programs_of_one_name_do_not_depend_on_which_is_done_first(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    class OneByOne(ThreadPoolExecutor):
        map = staticmethod(map)  # type: ignore[assignment]  # the first is stored before the second runs

    first, second = program("a.c", "int first;"), program("b.c", "int second;")
    second = replace(second, file="a.c")
    with IRFolder(tmp_path / "ir") as folder, OneByOne(1) as pool:
        limits = Limits(seconds=10)
        each = compile_chunk(pool, [first, second], folder, limits)
        assert [len(tried) for _, tried in each] == [2, 2]
        assert [tried for _, tried in compile_chunk(pool, [first, second], folder, limits)] == [[], []]
