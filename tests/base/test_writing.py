"""One run at a time in a folder; a file that is complete or not there."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.base.errors import ConfigError, IRFileError
from mirenc.base.writing import check_output, delivered, only_one, refused
from mirenc.cli import suggest
from mirenc.llvm.passes.find_llvm import EmbeddedEngine


def test_a_folder_has_one_run(tmp_path: Path) -> None:
    script = "import sys, pathlib, mirenc.base.writing as w\nwith w.only_one(pathlib.Path(sys.argv[1])): pass"
    other = [sys.executable, "-c", script, str(tmp_path)]
    with only_one(tmp_path):
        with pytest.raises(ConfigError, match="another run is at work there"), only_one(tmp_path):
            pass
        refused = subprocess.run(other, capture_output=True, text=True, check=False)
    assert "another run is at work there" in refused.stderr
    assert subprocess.run(other, check=False).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_left_empty_is_removed(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        with only_one(folder):
            raise KeyError

    for name in ("new/deep", "old"):
        with pytest.raises(KeyError):
            fails(tmp_path / name)
        assert not (tmp_path / name).exists()
    (tmp_path / "old").mkdir()
    with pytest.raises(KeyError):
        fails(tmp_path / "old")
    assert (tmp_path / "old").exists()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "x.bc").write_text("before")

    def fails() -> None:
        with delivered(tmp_path / "x.bc") as part:
            part.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space") as caught:
        fails()
    assert caught.value.filename == str(tmp_path / "x.bc")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.bc", "before")]


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    """Each has a file of its own; what came last is there whole, and what failed takes nothing with it."""
    path = tmp_path / ("x" * 251 + ".npz")  # as long as a name may be

    def fails() -> None:
        with delivered(path) as part:
            part.write_text("half")
            raise KeyError

    with delivered(path) as early:
        early.write_text("early")
        with delivered(path) as late:
            late.write_text("late, and longer")
        assert path.read_text() == "late, and longer"
        with pytest.raises(KeyError):
            fails()
        assert early.read_text() == "early"
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(path.name, "early")]


def test_the_advice_fits_the_systems_error(tmp_path: Path) -> None:
    for number, advice in ((errno.ENOSPC, "Free some space or name another file"), (errno.EACCES, "Name another file")):
        with pytest.raises(IRFileError) as caught, refused(tmp_path / "x"):
            raise OSError(number, "said by the system")
        assert str(caught.value) == f"cannot write {tmp_path / 'x'}: said by the system. {advice}"


def test_a_suggestion_on_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        suggest._write(EmbeddedEngine(), b"", tmp_path / "x.bc")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_folder_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_output(tmp_path / "x.json")
    check_output("/dev/null")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(IRFileError, match=r"cannot write .*x\.json: Permission denied"):
        check_output(tmp_path / "x.json")
