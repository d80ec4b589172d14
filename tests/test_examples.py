"""The examples in docstrings: what one types, and what is answered."""

import doctest
import importlib
from pathlib import Path

import pytest

import mirenc

_PACKAGE = Path(mirenc.__file__).parent
_ROOT = Path(__file__).parents[1]
_MODULES = [
    ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)
    for path in sorted(_PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", _MODULES)
def test_examples_answer_what_they_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_ROOT)  # their files are those of examples/
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed
