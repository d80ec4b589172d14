"""Models of other packages: found by the name they are announced under; who does not ask for one pays nothing."""

from __future__ import annotations

import importlib.metadata
import shutil
from importlib.metadata import EntryPoints
from pathlib import Path
from typing import NoReturn

import pytest
from announced import announce

from mirenc.base.errors import ModelError
from mirenc.encoder import load
from mirenc.encoder.weights import (
    DEFAULT_MODEL,
    find_model,
    is_model_name,
    list_models,
    load_files,
    search_model,
    verify_files,
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: Path) -> Path:
    """A folder of installed packages: `some_models` is the tiny model's, `deeper.inside` too."""
    site = tmp_path / "site"
    for package in ("some_models", "deeper/inside"):
        shutil.copytree(model_folder, site / package)
    monkeypatch.syspath_prepend(site)
    return site


@pytest.mark.parametrize("package", ["some_models", "deeper.inside"])
def test_an_announced_model_has_a_name(site: Path, model_folder: Path, package: str) -> None:
    (site / package.split(".")[0] / "__init__.py").write_text("raise SystemExit('run')\n")  # of which nothing is run
    announce(site, "random", package)
    assert "random" in list_models()
    assert is_model_name("random")
    assert find_model("random") == site.joinpath(*package.split("."))
    assert load_files("random").digest == load_files(model_folder).digest
    assert load("random", cache=False).name == "random"
    assert verify_files("random") == verify_files(model_folder)
    (find_model("random") / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match=r"model\.safetensors is not the file that was released"):
        verify_files("random")


def test_an_announced_model_goes_before_a_folder(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a shipped one does: a name means one thing wherever one stands, and a path can always be written."""
    shutil.copytree(site / "some_models", tmp_path / "random")
    monkeypatch.chdir(tmp_path)
    assert find_model("random") == tmp_path / "random"
    announce(site, "random", "some_models")
    assert find_model("random") == site / "some_models"
    assert find_model("./random") == tmp_path / "random"


@pytest.mark.parametrize(
    ("model", "value", "complaint"),
    [
        ("random", "nowhere", "some-models announces a model 'random' in 'nowhere', which is no model folder. Install"),
        ("random", "some_models.below", "in 'some_models.below', which is no model folder"),
        ("random", "some_models:folder", "which is no model folder"),
        ("random", "", "which is no model folder"),
        ("random", "json", "which is no model folder"),
        ("random", "sys", "which is no model folder"),
        ("random", "__main__", "which is no model folder"),
        ("other", "some_models", "which is the folder of a model 'random'"),
        ("random", "broken", "which is no model folder"),
    ],
)
def test_an_announcement_that_no_model_comes_of(site: Path, model: str, value: str, complaint: str) -> None:
    (site / "broken").mkdir()
    (site / "broken" / "config.json").write_text("{")
    announce(site, model, value)
    check_left_out(model, complaint)


def test_two_announcements_of_a_name(site: Path) -> None:
    announce(site, "random", "some_models")
    announce(site, "random", "deeper.inside", by="deeper")
    check_left_out("random", "the model 'random' is announced 2 times, by deeper and some-models. Uninstall all but")


def check_left_out(model: str, complaint: str) -> None:
    with pytest.warns(UserWarning, match=".") as caught:
        names = list_models()
    assert [complaint in str(each.message) for each in caught] == [True]
    assert model not in names
    assert DEFAULT_MODEL in names
    for use in (find_model, is_model_name, load_files):
        with pytest.raises(ModelError) as error:
            use(model)
        assert complaint in str(error.value)
    with pytest.raises(ModelError, match=f"unknown model 'nobody'; available: .*{DEFAULT_MODEL}"):
        find_model("nobody")  # and no warning


def test_a_shipped_model_s_name_stays_its_own(site: Path) -> None:
    (site / "some_models" / "config.json").write_text('{"name": "mirenc-tiny"}')
    announce(site, "mirenc-tiny", "some_models")
    with pytest.warns(
        UserWarning, match="a package announces a model 'mirenc-tiny', .* the package's model is left out"
    ):
        assert list_models().count("mirenc-tiny") == 1
    assert find_model("mirenc-tiny").parent.name == "weights"


def test_announcements_are_read_only_for_names_that_do_not_ship(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(**_: str) -> NoReturn:
        raise AssertionError("it would take milliseconds of every run")

    monkeypatch.setattr(importlib.metadata, "entry_points", read)
    for model in (None, DEFAULT_MODEL, "mirenc-tiny", model_folder, str(model_folder)):
        assert load_files(model).name == find_model(model).name
    with pytest.raises(AssertionError):
        find_model("mirenc-base")


def test_a_model_of_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: EntryPoints())
    assert list_models() == ["mirenc-fast", "mirenc-search", "mirenc-tiny"]
    assert is_model_name("mirenc-base")
    for use in (find_model, load, verify_files):
        with pytest.raises(
            ModelError, match=r"'mirenc-base' is a package .* pip install \./models/mirenc-base; for another machine"
        ):
            use("mirenc-base")


@pytest.mark.needs("mirenc-base")
def test_the_model_that_is_a_package_of_its_own() -> None:
    assert "mirenc-base" in list_models()
    assert load_files("mirenc-base").name == "mirenc-base"


def test_parts_of_modules_are_searched_by_the_model_trained_on_pairs() -> None:
    assert search_model("module") == search_model("function", "features") == DEFAULT_MODEL
    assert load_files(DEFAULT_MODEL).config.paired is None
    for level in ("function", "loop", "block", "instruction"):
        assert load_files(search_model(level)).config.paired is not None
