"""`pretrain/words.py`: the table of a model's lexical view, counted on folders of IR."""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mirenc.embed import load
from mirenc.golden import check_golden
from mirenc.weights import Source, find_model, load_files, read_provenance, verify_files

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "ir" / "clang-19"  # text that LLVM 22 reads without an older clang


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "pretrain" / "words.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_model_with_a_table_of_its_own(tmp_path: Path) -> None:
    recipe = tmp_path / "words.toml"
    recipe.write_text(
        f'module_names = 0.5\nmap_floor = 2.0\n[[domains]]\nfolder = "{FIXTURES}"\nlevel = "function"\n'
        f'[[domains]]\nfolder = "{FIXTURES / "O0"}"\n',
        encoding="utf-8",
    )
    made = tmp_path / "mirenc-fast"
    seen = run("mirenc-fast", str(recipe), "-o", str(made), "--held-out", str(FIXTURES))
    assert seen.returncode == 1
    assert f"mirenc-fast learned from {FIXTURES.name}" in seen.stderr
    unseen = shutil.copytree(FIXTURES, tmp_path / "unseen")
    done = run("mirenc-fast", str(recipe), "-o", str(made), "--held-out", str(unseen))
    assert done.returncode == 0, done.stderr
    before, after = read_provenance(find_model("mirenc-fast")), read_provenance(made)
    assert before is not None
    assert after == (*before, Source("mirenc-fast", "words", (FIXTURES.name,)))
    shipped, found = load_files("mirenc-fast"), load_files(made)
    # Nothing but the table moves, and how much names count in a module.
    assert shipped.config.lexical is not None
    lexical = shipped.config.lexical.model_copy(update={"module_names": 0.5, "whiten": True})
    assert found.config == shipped.config.model_copy(update={"lexical": lexical})
    assert found.config.lexical is not None
    assert found.features_digest == shipped.features_digest
    fitted = {"lexical_idf", "whiten_lexical.mean", "whiten_lexical.matrix"}
    assert found.weights.keys() == shipped.weights.keys() | fitted
    for name in shipped.weights.keys() - fitted:
        np.testing.assert_array_equal(found.weights[name], shipped.weights[name], err_msg=name)
    # About their mean, words are as long as the model says, and no direction is far longer than the others.
    encoder = load(made, cache=False)
    files = sorted(path for path in FIXTURES.rglob("*") if path.is_file())
    plain, mapped = (
        np.concatenate([encoder.embed_parts(file, level="function", whiten=white).lexical for file in files])
        for white in (False, True)
    )
    length = np.sqrt(((mapped - mapped.mean(0)) ** 2).sum(1).mean())
    assert length == pytest.approx(found.config.lexical.weight, rel=0.3)
    mean, matrix = (found.weights[f"whiten_lexical.{name}"] for name in ("mean", "matrix"))
    np.testing.assert_allclose(mapped, (plain - mean) @ matrix, atol=1e-3)
    variance = [np.linalg.eigvalsh(np.cov(each, rowvar=False)) for each in (plain, mapped)]
    share = [each[-1] / each.sum() for each in variance]
    assert share[1] < share[0] / 1.5
    assert shipped.digest != found.digest
    verify_files(made)
    assert check_golden(made) < 1e-5
    card = (made / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card.count("## Words") == 1
    assert f"{FIXTURES} (" in card
    old = (shipped.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    line = "| Function retrieval O0 -> O2 by both"
    assert [row for row in card.splitlines() if row.startswith(line)] != [
        row for row in old.splitlines() if row.startswith(line)
    ]


def test_a_model_without_words_is_refused(tmp_path: Path) -> None:
    recipe = tmp_path / "words.toml"
    recipe.write_text(f'[[domains]]\nfolder = "{FIXTURES}"\n', encoding="utf-8")
    done = run("mirenc-tiny", str(recipe), "-o", str(tmp_path / "out"), "--held-out", str(FIXTURES))
    assert done.returncode == 1
    assert "mirenc-tiny has no lexical view" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_table_of_several_kinds_of_code() -> None:
    # One word in all of one kind and in none of the other, one in a tenth of both, one in nothing.
    first, second = np.zeros(8, np.int64), np.zeros(8, np.int64)
    first[:2], second[1] = (100, 10), 20
    idf_of = runpy.run_path(str(ROOT / "pretrain" / "words.py"))["idf_of"]
    found = idf_of([(first, 100), (second, 200)])
    np.testing.assert_allclose(found[:3], -np.log([0.5, 0.1, 1 / 800]), rtol=1e-6)
