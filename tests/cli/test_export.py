"""``mirenc export``: heads as C that answers as they do, encoders as ONNX that embeds files, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import Run
from small_labels import write_labels

from mirenc.decide import BoostedRegressor, fit_labels, save_head
from mirenc.encoder import Encoder, load
from mirenc.encoder.weights import load_files
from mirenc.llvm.inputs.compile_source import find_compiler

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")


def compared(folder: Path, name: str) -> str:
    files = [f"{name}.c", f"{name}_test.c"]
    subprocess.run([*find_compiler("c"), *STRICT, *files, "-lm", "-o", "test"], cwd=folder, check=True)
    done = subprocess.run([folder / "test"], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.needs("C compiler")
def test_a_head_that_looks_ahead_becomes_c_with_the_names_of_its_inputs(run: Run, tmp_path: Path) -> None:
    assert run("export", "vectorization.look_ahead", "--c", tmp_path).code == 0
    text = (tmp_path / "vectorization_look_ahead.c").read_text(encoding="utf-8")
    assert " * held-out answers were " in text
    assert " *     0: vectorization_factor=0 interleave_factor=0\n" in text
    for name in ("vectorization context, encoded [0]", "log2 of vector width", "load instructions for each element"):
        assert f'    "{name}",\n' in text
    last = (45, "trip count below elements")  # of 46: the head is older than the columns about branches
    for place, name in ((1, "interleave_factor"), (2, "log2 of vector width, less the default's"), last):
        assert f" *     {place}: {name}\n" in text
    assert " *     46: " not in text
    assert compared(tmp_path, "vectorization_look_ahead").startswith("0 of 1000 choices differ")


@pytest.mark.parametrize("name", ["thread_coarsening", "device_mapping.nvidia"])
def test_a_head_on_vectors_of_a_model_is_refused_with_what_to_type(name: str, run: Run, tmp_path: Path) -> None:
    result = run("export", name, "--c", tmp_path)
    assert result.code == 1
    words = " ".join(result.err.split())
    assert "takes a vector of mirenc-fast (1," in words
    assert f"To use it, type: mirenc predict {name.partition('.')[0]} FILE --json." in words
    assert not [*tmp_path.iterdir()]


def test_heads_of_labels_take_vectors_and_are_refused(run: Run, tmp_path: Path) -> None:
    for place, table in enumerate(write_labels(tmp_path)):  # of classes, and of numbers that are fitted as logarithms
        fit_labels(table, load("mirenc-tiny")).head.save(head := tmp_path / f"head{place}")
        result = run("export", head, "--c", tmp_path)
        assert result.code == 1
        words = " ".join(result.err.split())
        assert "takes a vector of mirenc-tiny (262 numbers in all), which no C program can make" in words
        assert f"To use it, type: mirenc predict {head} FILE --json." in words


@pytest.mark.needs("C compiler")
def test_a_head_without_a_task_has_its_own_names_and_range(run: Run, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(200, 2)) * 50
    head = BoostedRegressor(2, trees=5).fit(rows, np.abs(rows).sum(axis=1))
    save_head(head, tmp_path / "my head", extra={"features": ["depth", "trips"]})
    assert run("export", tmp_path / "my head", "--c", tmp_path).code == 0
    assert '"depth",\n    "trips",' in (tmp_path / "my_head.c").read_text(encoding="utf-8")
    compared(tmp_path, "my_head")


@pytest.mark.needs("C compiler")
@pytest.mark.parametrize(("name", "last"), [("branch_probability", "second way"), ("trip_count", "256 and more")])
def test_chances_of_branches_and_loops_become_c(name: str, last: str, run: Run, tmp_path: Path) -> None:
    assert run("export", name, "--c", tmp_path).code == 0
    text = (tmp_path / f"{name}.c").read_text(encoding="utf-8")
    assert f": {last}\n" in text
    columns = int(text.partition("_features[")[2].partition("]")[0])
    assert text.count('    "') == columns
    assert compared(tmp_path, name).startswith("0 of 1000 choices differ")


@pytest.mark.parametrize("model", ["mirenc-fast", "mirenc-search"])
def test_an_exported_model_gives_the_vectors_of_a_file(model: str, run: Run, tmp_path: Path) -> None:
    for module in ("onnx", "onnxruntime", "torch"):
        pytest.importorskip(module)
    assert run("export", model, "--onnx", tmp_path).code == 0
    files = [str(EXAMPLES / name) for name in ("saxpy.ll", "insertion_sort.ll")]
    command = [sys.executable, "-m", "mirenc.encoder.onnx_runtime", tmp_path, model, *files]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    expected = load(model, cache=False).embed(files)
    vectors = np.array([json.loads(line) for line in lines])
    np.testing.assert_allclose(vectors, expected, atol=1e-5 * np.abs(expected).max())

    # It is onnxruntime that computes them: without the weights of the encoders they are the same.
    from mirenc.encoder.onnx_runtime import OnnxRuntime

    loaded = load_files(model)
    encoders = ("text.", "graph.")
    weights = {
        name: np.zeros_like(array) if name.startswith(encoders) and name != "text.token.weight" else array
        for name, array in loaded.weights.items()
    }
    empty = replace(loaded, weights=weights)
    for purpose in ("search", "features"):
        again = Encoder(empty, OnnxRuntime(empty, tmp_path)).embed(files, purpose=purpose)
        same = load(model, cache=False).embed(files, purpose=purpose)
        np.testing.assert_allclose(again, same, atol=1e-5 * np.abs(same).max())


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("thread_coarsening",), 2, "taken for a head. Type: --c FOLDER"),
        (("mirenc-fast", "--c", "out"), 2, "taken for a model. Type: --onnx FOLDER"),
        (("mirenc-tiny", "--onnx", "out"), 1, "gcn encoder of mirenc-tiny has no ONNX. Export mirenc-fast"),
        (("nothing", "--c", "out"), 1, "no shipped head; available: block_size, "),
    ],
)
def test_what_cannot_be_exported_is_said(
    words: tuple[str, ...], code: int, complaint: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("export", *words)
    assert result.code == code
    assert complaint in " ".join(result.err.split())
