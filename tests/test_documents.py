"""What a reader is sent to is there: links between documents, and documents that the code names."""

from __future__ import annotations

import configparser
import re
from importlib.metadata import files
from pathlib import Path

import pytest
from test_import_arrows import FLOORS

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


def test_the_readme_names_what_is_large_of_what_everybody_installs() -> None:
    """Packages of more than 100 MB, as they lie installed; who adds one has to say so."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = [line for line in setup["options"]["install_requires"].split("\n") if line and not line.startswith("#")]
    names = [re.split(r"[^\w-]", line)[0] for line in listed]
    sizes = {
        name: sum(file.locate().stat().st_size for file in files(name) or () if file.locate().is_file())
        for name in names
    }
    large = {name for name, size in sizes.items() if size > 100e6}
    assert "llvmlite" in large
    (line,) = [
        line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if "pip install . " in line
    ]
    assert [name for name in sorted(large) if name not in line] == []


def test_contributing_has_every_part_on_its_floor() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text[text.index("| Parts |") :], re.MULTILINE)
    assert [tuple(re.findall(r"\w+", row)) for row in rows] == list(FLOORS)
