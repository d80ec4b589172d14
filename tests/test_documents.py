"""What a reader is sent to is there: links between documents, and documents that the code names. And no more words."""

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
# What a script writes: between marks, or a whole file.
GENERATED = re.compile(r"^<!-- (?:table|passes|speed)\b.*?^<!-- end -->$", re.DOTALL | re.MULTILINE)
WHOLE = {
    *(ROOT / "pretrain" / f"{name}.md" for name in ("function_pools", "functions", "mixture", "programs", "retrieval")),
    ROOT / "pretrain" / "whitening.md",
    ROOT / "downstream" / "passes" / "suggest.md",
}
MOST_WORDS = 25_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_named_documents_are_in_the_repository() -> None:
    named = {name: path for path in [*CODE, *DOCUMENTS] for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert named.keys() >= {"README.md", "MODEL_CARD.md"}
    assert named.keys() - {path.name for path in DOCUMENTS} - WRITTEN == set(), named


def words(document: Path) -> int:
    """Words of a document that a person wrote: between spaces, as ``wc -w`` counts, generated tables apart."""
    if document.name == "MODEL_CARD.md" or document in WHOLE:
        return 0
    return len(GENERATED.sub("", document.read_text(encoding="utf-8")).split())


def test_generated_tables_are_left_out(tmp_path: Path) -> None:
    document = tmp_path / "x.md"
    document.write_text(
        "one two\n\n<!-- table a -->\n| three |\n<!-- end -->\n\n<!-- not run: four -->\n", encoding="utf-8"
    )
    assert words(document) == 2 + 5


def test_there_are_no_more_words_than_one_can_read() -> None:
    assert set(DOCUMENTS) >= WHOLE
    counts = {path.relative_to(ROOT).as_posix(): words(path) for path in DOCUMENTS}
    assert sum(counts.values()) <= MOST_WORDS, counts


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
