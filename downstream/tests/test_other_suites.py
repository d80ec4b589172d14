"""What the recipe of other suites hands to the compiler: folders as they are named in the folder of sources."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

RECIPE = Path(__file__).parents[1] / "vectorization" / "other_suites" / "measure.py"


def test_flags_name_no_folder_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}

    def timed(samples: object, folder: Path, *, compile_only: bool, cflags: tuple[str, ...]) -> None:
        found.update(samples=samples, folder=folder, only=compile_only, cflags=cflags)

    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("other_suites_measure", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, recipe)
    spec.loader.exec_module(recipe)
    monkeypatch.setattr(recipe, "timed", timed)
    sources, folder = tmp_path / "sources", tmp_path / "work"
    for path in (path for suite in recipe.SUITES for path in suite.include):
        (sources / path / "sundials").mkdir(parents=True)
    configuration = next(sources.glob("sundials-*/include/sundials")) / "sundials_config.in"
    configuration.write_text("#cmakedefine USED\n@PRECISION_LEVEL@\n")
    folder.mkdir()
    (folder / "kernels.json").write_text("[]")
    monkeypatch.setattr(sys, "argv", ["measure.py", "sources", "work", "--compile-only"])
    monkeypatch.chdir(tmp_path)
    recipe.main()
    assert (found["samples"], found["folder"], found["only"]) == ([], folder, True)
    assert not [flag for flag in found["cflags"] if str(tmp_path) in flag]
    included = [flag.removeprefix("-I") for flag in found["cflags"] if flag.startswith("-I")]
    assert len(included) == 1 + sum(len(suite.include) for suite in recipe.SUITES)
    # The compiler runs where these are found.
    assert all(Path(path).is_dir() for path in included)
    assert Path("sundials/sundials_config.h").is_file()
