"""What a reader is sent to is there: links between documents, and documents that the code names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "docs",
    "downstream",
    "examples",
    "mirenc",
    "models",
    "notebooks",
    "pretrain",
    "scripts",
    "tests",
    "tokenizer",
)
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
CODE = sorted(
    path for folder in FOLDERS for kind in ("py", "sh", "toml") for path in (ROOT / folder).rglob(f"*.{kind}")
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
# A document as they are called here, in capitals: what a comment sends its reader to.
NAMED = re.compile(r"\b[A-Z][A-Z_]+\.md\b")
WRITTEN = {"OUT.md"}  # a script's output, in the words of its usage


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_named_documents_are_in_the_repository() -> None:
    named = {name: path for path in [*CODE, *DOCUMENTS] for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert named.keys() >= {"README.md", "MODEL_CARD.md"}
    assert named.keys() - {path.name for path in DOCUMENTS} - WRITTEN == set(), named
