"""What the tests of tables of passes share."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_tools import FakeTools


@pytest.fixture
def fake_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTools:
    """Compilers that write something like IR, and nothing else on PATH."""
    return FakeTools.only(tmp_path / "bin", monkeypatch)
