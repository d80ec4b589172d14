"""What mirenc-search was trained on is what an encoder gives, and a run in miniature makes a model."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors

from mirenc.encoder import load
from mirenc.encoder.weights import load_files, read_provenance

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "ir" / "clang-19"  # text that LLVM 22 reads without an older clang
PROJECTS = {"alpha": ("sorting", "numeric"), "beta": ("reduce",)}
FORMS = (("clang-14", "O0"), ("clang-19", "O2"))
sys.path.insert(0, str(ROOT / "pretrain"))

import contrast  # noqa: E402
import contrast_data  # noqa: E402

from mirenc.model.mirencoder import MIREncoder  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """IR as `compile_pairs.py` writes it."""
    root = tmp_path_factory.mktemp("forms")
    for project, names in PROJECTS.items():
        for compiler, level in FORMS:
            target = root / compiler / project / level
            target.mkdir(parents=True)
            for name in names:
                shutil.copy(FIXTURES / level / f"{name}.ll", target)
    return root


@pytest.fixture(scope="module")
def packed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("arrays")
    encoder = load("mirenc-fast", cache=False)
    for project in contrast_data.projects_of(folder):
        arrays, facts = contrast_data.forms(encoder, folder, project)
        data = contrast_data.pack(arrays, facts)
        again, told = contrast_data.unpack(data)
        assert told == json.loads(json.dumps(facts))
        assert again.keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(again[name], array, err_msg=name)
        (out / f"{project}.xz").write_bytes(data)
    return out


@pytest.mark.parametrize("hide_names", [False, True])
def test_a_step_sees_what_an_encoder_gives(folder: Path, packed: Path, hide_names: bool) -> None:
    files = load_files("mirenc-search")
    model = MIREncoder(files.config).eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in files.weights.items()})
    forms = contrast.Forms(sorted(packed.glob("*.xz")), torch.device("cpu"))
    assert len(forms.modules) == 6
    modules = torch.arange(6)
    spelling = torch.full((6,), contrast.UNNAMED if hide_names else contrast.PLAIN)
    batch = contrast.assemble(forms, modules, spelling)
    with torch.no_grad():
        text, graph, taught, _ = contrast.forward(model, forms, batch)
    encoder = load("mirenc-search", cache=False, hide_names=hide_names)
    row = 0
    for number, (compiler, project, level, name) in enumerate(forms.modules):
        for given in ("function", "module"):
            file = folder / compiler / project / level / name
            found = encoder.embed_parts(file, level=given, form="plain", whiten=False)
            kept = np.flatnonzero(found.sizes[:, 2] >= contrast_data.MIN_INSTRUCTIONS)
            if given == "module":
                at = np.array([len(batch.functions) + number])
            else:
                at = np.arange(row, row + len(kept))
                row += len(kept)
            for made, expected in ((text, found.text), (graph, found.graph), (taught, found.taught)):
                assert_same_vectors(made[at].numpy(), expected[kept] if given == "function" else expected)
    assert row == len(batch.functions)


def test_functions_are_paired_with_their_other_form(packed: Path) -> None:
    forms = contrast.Forms(sorted(packed.glob("*.xz")), torch.device("cpu"))
    pairs = np.array([numbers for project in forms.programs.values() for numbers in project]).T
    batch = contrast.assemble(forms, torch.from_numpy(pairs.flatten()), torch.zeros(pairs.size, dtype=torch.long))
    one, other = contrast.paired(forms, batch, pairs.shape[1])
    assert len(one) > 5
    assert (forms.name[batch.functions[one]] == forms.name[batch.functions[other]]).all()
    assert (batch.function_module[one] + pairs.shape[1] == batch.function_module[other]).all()


@pytest.mark.slow
def test_a_run_in_miniature(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = (ROOT / "pretrain" / "contrast.toml").read_text(encoding="utf-8")
    start = recipe.index("validated")
    recipe = recipe[:start] + 'validated = ["beta"]\n' + recipe[recipe.index("seed") :]
    (tmp_path / "recipe.toml").write_text(recipe.replace("mirenc-search", "small"), encoding="utf-8")
    words = ["contrast.py", str(tmp_path / "recipe.toml"), str(packed), str(tmp_path / "run"), "--steps", "1"]
    monkeypatch.setattr(sys, "argv", words)
    contrast.main()
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    losses = lines[2]["losses"]
    assert losses.keys() == {"text", "graph", "both", "module", "matching", "tokens", "edges", "taught"}
    assert all(np.isfinite(value) and value >= 0 for value in losses.values())
    assert lines[-1]["validated"]["functions"] > 1
    made, started = load_files(tmp_path / "run" / "model"), load_files("mirenc-fast")
    assert made.config.paired is not None
    assert np.abs(made.weights["whiten_text.matrix"] - started.weights["whiten_text.matrix"]).max() > 0
    record = read_provenance(tmp_path / "run" / "model")
    assert record is not None
    assert (record[-1].model, record[-1].kind, record[-1].projects) == ("small", "pairs", ("alpha",))
