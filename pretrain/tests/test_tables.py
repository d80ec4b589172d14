"""Tables of `pretrain/` that a script writes whole are those of the records beside them."""

import importlib
import json
from pathlib import Path

import pytest

PRETRAIN = Path(__file__).resolve().parents[1]
SCRIPTS = {
    "functions": "compare_functions",
    "mixture": "mixture",
    "programs": "compare_programs",
    "retrieval": "compare_retrieval",
    "whitening": "whitening_study",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_table_is_that_of_its_record(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PRETRAIN)
    record = json.loads((PRETRAIN / f"{name}.json").read_text(encoding="utf-8"))
    written = importlib.import_module(SCRIPTS[name]).markdown(record)
    assert written == (PRETRAIN / f"{name}.md").read_text(encoding="utf-8")
