"""The small table of passes as answers to learn from: its pieces as a corpus with another corpus's tokenizer."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from small_compiled import write_small_table
from teaching import AnswersConfig

from mirenc.decide.tables.compiled import CompiledTable
from mirenc.pretrain.corpus import Corpus, build_corpus

PRETRAIN = Path(__file__).parents[1] / "pretrain"


def write_answers(folder: Path, corpus: Corpus, *, projects: int = 6) -> tuple[AnswersConfig, CompiledTable]:
    """Table and corpus of its pieces below a folder."""
    (folder / "table").mkdir()
    table = write_small_table(folder / "table", projects)
    write_pieces(folder / "table", folder / "pieces")
    files = sorted((folder / "pieces").rglob("*.ll"))
    built, _ = build_corpus(
        files, folder / "pieces", folder / "corpus", corpus.tokenizer.config, tokenizer=corpus.tokenizer
    )
    assert len(built) == len(table.pieces)
    return AnswersConfig(corpus=str(folder / "corpus"), table=str(folder / "table")), table


def write_pieces(table: Path, folder: Path) -> None:
    """What ``python pretrain/pieces.py TABLE FOLDER`` does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pieces.py", str(table), str(folder)])
        runpy.run_path(str(PRETRAIN / "pieces.py"), run_name="__main__")
