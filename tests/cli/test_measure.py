"""``mirenc measure``: the whole way from C sources to a table that ``mirenc evaluate`` takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run
from tools.measure.toy import SOURCE, Toy

from mirenc.decide import registry
from mirenc.decide.tables.measured import read_measured
from mirenc.tools.measure import timekeeper

QUICK = ("--rounds", "4", "--jobs", "2")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task `toy` that can be measured, on a machine whose noise does not matter."""
    monkeypatch.setitem(registry._REGISTRY, "toy", "tools.measure.toy:Toy")
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)


@pytest.mark.needs("clang")
def test_kernels_of_the_project(run: Run, toy: None, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "table"
    result = run("measure", "toy", "-o", folder, *QUICK)
    assert result.code == 0
    assert result.out == ""
    for phrase in (
        "mirenc: 2 samples of 2 kernels in 2 groups; dropped 0 for noise, 0 otherwise; 0 left",
        "cells: 2 compile, 2 crash, 2 differs, 2 flood, 4 ok, 2 same, 2 timeout",
        "noise (two copies of the default): median ",
        f"mirenc: wrote {folder}",
    ):
        assert phrase in result.err
    assert len(Toy().load(folder)) == 2

    again = run("measure", "toy", "-o", folder, *QUICK)
    assert again.code == 0
    assert "2 of 2 samples are there already" in again.err


@pytest.mark.needs("clang")
def test_kernels_of_the_user_and_their_flags(run: Run, toy: None, tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(f"#ifndef MINE\n#error\n#endif\n{SOURCE}")
    refused = run("measure", "toy", source, "-o", tmp_path / "without", *QUICK)
    assert refused.code == 1
    assert "no sample was kept; reason for the first: not built: compile: error:" in refused.err
    assert refused.err.endswith(". Mend the source or its driver, and run the same command again\n")
    result = run("measure", "toy", source, "-o", tmp_path / "with", *QUICK, "--cflags", "-DMINE")
    assert result.code == 0
    assert "1 samples of 1 kernels" in result.err
    assert Toy().load(tmp_path / "with").machine.endswith("-O2 -DMINE")


@pytest.mark.needs("clang")
def test_a_kernel_that_does_not_compile_is_named(run: Run, toy: None, tmp_path: Path) -> None:
    for name, text in (("bad", "this is no C"), ("good", SOURCE)):
        (tmp_path / f"{name}.c").write_text(text)
    words = ("measure", "toy", tmp_path / "bad.c", tmp_path / "good.c", "-o", tmp_path / "table", *QUICK)
    for last in (("--compile-only",), ()):
        result = run(*words, *last)
        assert result.code == 1
        assert "mirenc: warning: bad: " in result.err
        assert "error: 1 of 2 files failed (listed above); the other was delivered" in result.err
    assert [sample.name for sample in Toy().load(tmp_path / "table").samples] == ["good"]


@pytest.mark.needs("clang")
def test_building_first(run: Run, toy: None, tmp_path: Path) -> None:
    built = run("measure", "toy", "-o", tmp_path, *QUICK, "--compile-only", "--count", "1")
    assert built.code == 0
    assert "mirenc: built 1 of 1 samples\nmirenc: without --compile-only it times them\n" in built.err
    assert not (tmp_path / "machine.json").exists()
    late = run("measure", "toy", "-o", tmp_path, *QUICK, "--compile-only", "--budget", "0")
    assert "mirenc: built 0 of 2 samples\nmirenc: the same command builds the rest\n" in late.err
    bad = tmp_path / "bad.c"
    bad.write_text("this is no C")
    none = run("measure", "toy", bad, "-o", tmp_path / "user", *QUICK, "--compile-only")
    assert "mirenc: built 0 of 1 samples, 1 cannot be built; the first one: bad: compile: error:" in none.err
    assert "times them" not in none.err
    none = run("measure", "toy", "-o", tmp_path, *QUICK, "--count", "1", "--budget", "0")
    assert none.code == 1
    assert "--budget was used up before any of 1 samples was done. Give more minutes" in none.err


@pytest.mark.needs("clang")
def test_noise_is_tried_again_with_more_rounds(
    run: Run, toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timekeeper, "MAX_NOISE", -1.0)
    first = run("measure", "toy", "-o", tmp_path, *QUICK)
    assert first.code == 1
    assert "dropped 2 for noise, 0 otherwise; 0 left" in first.err
    assert "give more --rounds, and run the same command again; after 3 tries, with another folder" in first.err
    # Fewer kernels than were dropped: none are left, and not fewer.
    fewer = run("measure", "toy", "-o", tmp_path, *QUICK, "--count", "1")
    assert "dropped 2 for noise, 0 otherwise; 0 left" in fewer.err
    monkeypatch.setattr(timekeeper, "MAX_NOISE", 1e9)
    assert run("measure", "toy", "-o", tmp_path, "--rounds", "6").code == 0
    assert [sample.rounds for sample in read_measured(tmp_path, "toy").samples] == [6, 6]


def test_a_task_that_cannot_be_measured(run: Run, toy: None, tmp_path: Path) -> None:
    run("measure", "device_mapping", "-o", tmp_path).failed("task 'device_mapping' cannot be measured", "toy")


def test_what_is_missing_is_said_first(run: Run, toy: None, tmp_path: Path) -> None:
    run("measure", "toy").refused("name a folder for the table")
    (tmp_path / "file").write_text("")
    run("measure", "toy", "-o", tmp_path / "file").failed("file is a file", "Name a folder with -o")
    run("measure", "toy", "-o", tmp_path, "--cflags", "'").refused("--cflags")
    run("measure", "toy", "-o", tmp_path, "--compiler", "nothing-here").failed("'nothing-here' is not on PATH")


def test_a_source_that_is_wrong_leaves_no_folder(run: Run, tmp_path: Path) -> None:
    run("measure", "openmp", tmp_path / "gone.c", "-o", tmp_path / "table", "--compiler", "clang").failed()
    assert [*tmp_path.iterdir()] == []
