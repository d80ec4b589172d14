from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from decide.datasets.toy_dataset import Site, serve, toy, write_packed, write_plain

from mirenc.decide.datasets.dataset_registry import DATASETS


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for datasets; the toy dataset is registered, and published nowhere."""
    monkeypatch.delenv("MIRENC_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.setitem(DATASETS, "toy", toy())
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture(params=[write_plain, write_packed], ids=["plain", "packed"])
def there(request: pytest.FixtureRequest, root: Path) -> Path:
    """The root with the toy dataset in it, in each layout."""
    request.param(root / "toy")
    return root


@pytest.fixture
def site(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server that publishes the toy dataset; no attempt is repeated after a pause."""
    monkeypatch.setenv("no_proxy", "*")
    with serve() as running:
        monkeypatch.setitem(DATASETS, "toy", toy(running.address))
        yield running
