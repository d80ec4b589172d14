"""Notebooks run from top to bottom, say what their prose says, and use what a user may use.

They are documentation that executes: what breaks one of them breaks somebody's first hour.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from traitlets import default

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
PUBLIC = ("mirenc", "mirenc.decide", "mirenc.llvm.passes", "mirenc.tools.suggest")

# What the prose draws a conclusion from. A changed model or rule may move it: then the prose changes, too.
SAID = {
    "embed_and_compare": [
        "(1280,) (4, 1280) float32",
        "['insertion_sort', 'position', 'shift_right']",
        "position        -> insertion_sort",
        "locals renamed              1.0000  1.0000  1.0000",
        "stores a, forgets the sum   1.0000  0.99",  # the same text, another graph
    ],
    "device_mapping": [
        "STAND-IN: invented times",
        "76 samples of 19 kernels",
        "(leaks)  100.0 %",
        "grouped by kernel, 10-fold                           0.0 %",
        "embedding, both",
        "['head.json', 'head.safetensors']",
        "12,000 bytes: cpu",
        "120,000,000 bytes: gpu",
    ],
    "your_own_task": [
        "32 samples of 4 kernels",
        "sample 0 (saxpy at 16): the cost of 'O2' is 0.0",
        "both         accuracy 100.0 %",  # random rows leak
        "mirenc: wrote head",
        "saxpy.ll: no evidence for any level but the default, O2",  # four kernels are not enough
        "it prefers O3",
        "8: prefers O2",
        "100000: prefers O3",
        "chooses O2, evidence: False",
    ],
    "labels_of_your_own": [
        "506 rows; {'file': 'ir/chipmunk/cpArray.ll.xz', 'function': 'cpArrayNew', 'bytes': '66', 'group': 'chipmunk'}",
        "numbers of 506 functions in 10 groups; logarithms",
        "clearly better than every row without the encoder: True",
        "['head.json', 'head.safetensors']",
        "follow: False, unlike the code that the head was trained on",
        "(506, 1030) vectors",
    ],
    "which_functions_pay_for_o3": [
        "14 functions",
        "larger at -O3 than at -O2: transform\n",
        "156 functions of 23 families",
        "better than without code: True",
        "furthest off: transform",
    ],
}
COMPILES = "which_functions_pay_for_o3"


class OwnKernel(AsyncKernelManager):
    """Starts this very interpreter, whatever the user has installed as kernel python3."""

    @default("kernel_spec_manager")
    def _without_folders(self) -> KernelSpecManager:
        return KernelSpecManager(kernel_dirs=[])


def code_of(notebook: str) -> Iterator[str]:
    """Python of each code cell, and of each file that a cell writes."""
    for cell in nbformat.read(FOLDER / f"{notebook}.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            yield cell.source.partition("\n")[2] if cell.source.startswith("%%writefile") else cell.source


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Execute a notebook; gives all that it printed and showed as text."""
    # Nothing of the user's is read or written: settings, kernels, caches, temporary files.
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MIRENC_CACHE", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()

    def execute(notebook: str) -> str:
        content = nbformat.read(FOLDER / f"{notebook}.ipynb", as_version=4)
        resources = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(content, kernel_manager_class=OwnKernel, timeout=600, resources=resources).execute()
        outputs = [output for cell in content.cells for output in cell.get("outputs", ())]
        assert [output.text for output in outputs if output.get("name") == "stderr"] == []  # no warnings, for one
        return "\n".join(
            output.text if output.output_type == "stream" else output.data.get("text/plain", "") for output in outputs
        )

    return execute


def test_readme_lists_the_notebooks():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 5
    assert sorted(SAID) == NOTEBOOKS
    for notebook in NOTEBOOKS:
        assert f"[{notebook}.ipynb]({notebook}.ipynb)" in text


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_committed_without_outputs(notebook):
    content = json.loads((FOLDER / f"{notebook}.ipynb").read_text(encoding="utf-8"))
    nbformat.validate(content)
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert code
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert [cell["execution_count"] for cell in code] == [None] * len(code)
    # Neither whose kernel it ran in, nor how long a cell took.
    assert set(content["metadata"]) == {"kernelspec", "language_info"}
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert all(cell["metadata"] == {} for cell in content["cells"])


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_uses_only_public_names(notebook):
    used: list[tuple[str, str]] = []
    for code in code_of(notebook):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.partition(".")[0] == "mirenc"]
                assert set(names) <= {"mirenc"}, f"import {names}: take the names from {', '.join(PUBLIC)}"
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mirenc":
                used += [(node.module, alias.name) for alias in node.names]
            elif isinstance(node, ast.Attribute):
                assert not node.attr.startswith("_"), f"{node.attr} is private"
                if isinstance(node.value, ast.Name) and node.value.id == "mirenc":
                    used.append(("mirenc", node.attr))
    assert used
    for module, name in used:
        assert module in PUBLIC
        assert hasattr(importlib.import_module(module), name)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", sorted({*NOTEBOOKS} - {COMPILES}))
def test_runs(notebook, run, monkeypatch):
    monkeypatch.delenv("MIRENC_DATA", raising=False)  # small data, the same everywhere
    check_run(notebook, run)


@pytest.mark.slow
@pytest.mark.needs("C compiler")
def test_what_compiles_runs(run):
    check_run(COMPILES, run)


def check_run(notebook, run):
    before = sorted(FOLDER.rglob("*"))
    text = run(notebook)
    for sentence in SAID[notebook]:
        assert sentence in text
    assert sorted(FOLDER.rglob("*")) == before  # leaves nothing in the checkout


@pytest.mark.slow
def test_device_mapping_runs_on_the_published_data(run):
    if not (Path(os.environ.get("MIRENC_DATA", "")) / "device_mapping").is_dir():
        pytest.skip("needs the published data: MIRENC_DATA names no folder that holds device_mapping/")
    text = run("device_mapping")
    assert "669 samples of 234 kernels" in text
    assert "81.0 %" in text  # of the test rows of random folds have their kernel in training
    assert "STAND-IN" not in text
