"""The guides' code runs, and prints what the guides say it prints.

A block of ``sh`` or ``python`` is run; or written to a file, where ``<!-- file: NAME -->`` stands before it; or left
alone, where ``<!-- not run: REASON -->`` does. A block of ``text`` right after it is its output.
Blocks of one guide share a folder and Python's names.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mirenc

ROOT = Path(__file__).resolve().parents[1]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|file): (?P<name>[^>]+) -->\n)?"
    r"^```(?P<kind>sh|python)\n(?P<code>.*?)^```\n"
    r"(?:\n^```text\n(?P<output>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"-?\d+\.\d+")


def alike(printed: str, expected: str) -> bool:
    """Equal but for the last digits of numbers, and for spaces."""
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", expected).split():
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True)
    return all(abs(float(one) - float(other)) < 2e-3 for one, other in pairs)


def test_alike_knows_a_difference() -> None:
    assert alike("a  0.2756\n", "a 0.2749\n")
    assert not alike("a 0.2756\n", "a 0.28\n")
    assert not alike("a 0.2756\n", "b 0.2756\n")
    assert not alike("1.0 2.0", "1.0")


def execute(kind: str, code: str, names: dict[str, Any]) -> str:
    if kind == "sh":
        # This checkout's command, whatever is installed.
        command = f'mirenc() {{ "{sys.executable}" -m mirenc "$@"; }}\n'
        done = subprocess.run(["bash", "-euc", command + code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        return done.stdout
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        exec(compile(code, "guide", "exec"), names)
    return stream.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_runs(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copytree(ROOT / "downstream" / "own_labels", tmp_path / "downstream" / "own_labels")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    ran = 0
    for block in BLOCK.finditer(guide.read_text(encoding="utf-8")):
        if block["mark"] == "file":
            (tmp_path / block["name"]).write_text(block["code"], encoding="utf-8")
        elif block["mark"] is None:
            printed = execute(block["kind"], block["code"], names)
            ran += 1
            if block["output"] is not None:
                assert alike(printed, block["output"]), f"{block['code']}\nprinted\n{printed}"
    assert ran


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in BLOCK.finditer((ROOT / "README.md").read_text(encoding="utf-8")):
        if block["kind"] == "python":
            assert alike(execute("python", block["code"], names), block["output"])
    assert names["vector"].shape == (1280,)
    assert names["rows"].shape == (1, 3)


def test_every_block_is_seen() -> None:
    # A fence that the pattern misses would be a block that nobody runs.
    for guide in GUIDES:
        text = guide.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == len(re.findall(r"^```(?:sh|python)$", text, re.MULTILINE))


def test_the_reference_has_every_public_name() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))
    last = {name.rpartition(".")[2] for name in shown}
    assert {name for name, home in mirenc._HOME.items() if home not in shown} <= last
    # A package of which one name is shown is shown whole, constants apart.
    for package in {name.rpartition(".")[0] for name in shown} - {"mirenc"}:
        module = importlib.import_module(package)
        if hasattr(module, "__path__"):
            names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
            public = {name: getattr(module, name) for name in names}
            assert {
                name for name, value in public.items() if inspect.isroutine(value) or inspect.isclass(value)
            } <= last
