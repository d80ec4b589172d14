"""One run at a time in a folder, and a folder that nothing came of goes again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.errors import ConfigError
from mirenc.writing import only_one

pytest.importorskip("fcntl")


def test_a_folder_has_one_run(tmp_path: Path) -> None:
    script = "import sys, pathlib, mirenc.writing as w\nwith w.only_one(pathlib.Path(sys.argv[1])): pass"
    other = [sys.executable, "-c", script, str(tmp_path)]
    with only_one(tmp_path):
        with pytest.raises(ConfigError, match="another run is at work there"), only_one(tmp_path):
            pass
        refused = subprocess.run(other, capture_output=True, text=True, check=False)
    assert "another run is at work there" in refused.stderr
    assert subprocess.run(other, check=False).returncode == 0


def test_a_new_folder_without_anything_goes_again(tmp_path: Path) -> None:
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
