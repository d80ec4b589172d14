"""``mirenc export``: a shipped head and one of one's own as C and ONNX, encoders as ONNX, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from command_line import Run

from mirenc.decide import BoostedRegressor, save_head
from mirenc.encoder.weights import load_files
from mirenc.llvm.inputs.compile_source import find_compiler

STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")


def compared(folder: Path, name: str) -> str:
    files = [f"{name}.c", f"{name}_test.c"]
    subprocess.run([*find_compiler("c"), *STRICT, *files, "-lm", "-o", "test"], cwd=folder, check=True)
    done = subprocess.run([folder / "test"], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.needs("C compiler")
def test_a_shipped_head_becomes_c_that_answers_as_it_does(run: Run, tmp_path: Path) -> None:
    assert run("export", "thread_coarsening", "--c", tmp_path).code == 0
    text = (tmp_path / "thread_coarsening.c").read_text(encoding="utf-8")
    assert " * held-out answers are worth x 1.018 [" in text
    assert " *     5: 32\n" in text
    for name in ("context_3", "text_383", "instructions_0", "graph_0", "taught_255"):
        assert f'    "{name}",\n' in text
    assert "code_0" not in text
    assert compared(tmp_path, "thread_coarsening").startswith("0 of 1000 choices differ")


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


def test_a_head_becomes_onnx_with_its_names(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert run("export", "thread_coarsening", "--onnx", tmp_path).code == 0
    session = runtime.InferenceSession(tmp_path / "thread_coarsening.onnx")
    about = session.get_modelmeta().custom_metadata_map
    assert about["choices"].split("\n") == ["1", "2", "4", "8", "16", "32"]
    assert len(about["features"].split("\n")) == session.get_inputs()[0].shape[1] == 1034


def test_encoders_become_onnx(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    torch = pytest.importorskip("torch")
    from mirenc.model.onnx_export import _Graph
    from mirenc.model.torch_runtime import TorchRuntime

    assert run("export", "mirenc-fast", "--onnx", tmp_path).code == 0
    files = load_files("mirenc-fast")
    model, random = TorchRuntime(files.config, files.weights).model, np.random.default_rng(0)
    text = runtime.InferenceSession(tmp_path / "mirenc-fast.text.onnx")
    for ids, length in (
        files.tokenizer.encode_batch(["ret void", "%x = add i32 %y, 1"]),
        files.tokenizer.encode_batch(["x"]),
    ):
        ids = ids[:, : length.max()].astype(np.int64)
        vectors, features = text.run(None, {"ids": ids})
        with torch.inference_mode():
            wanted = model.text.encode(torch.from_numpy(ids)).numpy()
            np.testing.assert_allclose(vectors, wanted, atol=1e-5 * np.abs(wanted).max())
            np.testing.assert_allclose(features, model.text_features(torch.from_numpy(ids)).numpy(), atol=1e-6)
    graph = runtime.InferenceSession(tmp_path / "mirenc-fast.graph.onnx")
    for nodes, edges in (30, 80), (1, 2), (5, 5):
        whole = {"node_kind": (3, nodes), "node_argument": (12, nodes), "edge_index": (nodes, (2, edges))}
        whole |= {"edge_flow": (3, edges), "edge_position": (7, edges)}
        given = {
            name: random.normal(size=(nodes, width)).astype(np.float32)
            for name, width in (("features", 128), ("statements", 384))
        }
        given |= {name: random.integers(0, most, size) for name, (most, size) in whole.items()}
        (found,) = graph.run(None, given)
        with torch.inference_mode():
            wanted = _Graph(model)(*(torch.from_numpy(one) for one in given.values())).numpy()
        np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("thread_coarsening",), 2, "--c FOLDER or --onnx FOLDER"),
        (("mirenc-fast", "--c", "out"), 2, "a model, which is written as ONNX alone"),
        (("nothing", "--c", "out"), 1, "no shipped head; available: block_size, "),
    ],
)
def test_what_cannot_be_exported_is_said(
    words: tuple[str, ...], code: int, said: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("export", *words)
    assert result.code == code
    assert said in " ".join(result.err.split())
