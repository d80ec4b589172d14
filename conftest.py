"""Tests of the package and of the recipes (``downstream/tests/``, ``pretrain/tests/``) share options and fixtures."""

import math

import pytest

pytest_plugins = ["shared_fixtures"]


@pytest.fixture(autouse=True)
def _no_lines_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests compare what is on stderr, however long a machine takes."""
    monkeypatch.setattr("mirenc.base.progress.FIRST_LINE", math.inf)
