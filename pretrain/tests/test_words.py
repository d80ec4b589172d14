"""`pretrain/words.py`: the table of a model's lexical view, counted on folders of IR."""

import shutil
import sys
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mirenc.encoder import load
from mirenc.encoder.golden import check_golden
from mirenc.encoder.weights import Source, find_model, load_files, read_provenance, verify_files
from mirenc.llvm import ReadOptions
from mirenc.model.config import LexicalConfig
from mirenc.model.lexical import Lexicon
from mirenc.model.pooling import Pools, make_pool

pytest.importorskip("torch")

RECIPE = "words"
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "ir" / "clang-19"  # text that LLVM 22 reads without an older clang
SMALL = "control_flow device numeric reduce structs vectors".split()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Some of them, at two levels."""
    for level in ("O0", "O2"):
        (tmp_path / "code" / level).mkdir(parents=True)
        for name in SMALL:
            shutil.copy(FIXTURES / level / f"{name}.ll", tmp_path / "code" / level)
    return tmp_path / "code"


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    """What the command line does, in this process."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["words.py", *map(str, arguments)])
        script.main()


def test_a_model_with_a_table_of_its_own(
    script: ModuleType, tmp_path: Path, code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "words.toml"
    recipe.write_text(
        f'module_names = 0.5\nmap_floor = 2.0\n[[domains]]\nfolder = "{code}"\nlevel = "function"\n'
        f'[[domains]]\nfolder = "{code / "O0"}"\n',
        encoding="utf-8",
    )
    out = tmp_path / "mirenc-fast"
    with pytest.raises(SystemExit, match="mirenc-fast learned from code"):
        run(script, monkeypatch, "mirenc-fast", recipe, "-o", out, "--held-out", code)
    unseen = shutil.copytree(code, tmp_path / "unseen")
    run(script, monkeypatch, "mirenc-fast", recipe, "-o", out, "--held-out", unseen)
    before, after = read_provenance(find_model("mirenc-fast")), read_provenance(out)
    assert before is not None
    assert after == (*before, Source("mirenc-fast", "words", ("code",)))
    shipped, remade = load_files("mirenc-fast"), load_files(out)
    # Nothing but the table moves, and how much names count in a module.
    assert shipped.config.lexical is not None
    lexical = shipped.config.lexical.model_copy(update={"module_names": 0.5, "whiten": True})
    assert remade.config == shipped.config.model_copy(update={"lexical": lexical})
    assert remade.config.lexical is not None
    assert remade.features_digest == shipped.features_digest
    fitted = {"lexical_idf", "whiten_lexical.mean", "whiten_lexical.matrix"}
    assert remade.weights.keys() == shipped.weights.keys() | fitted
    for name in shipped.weights.keys() - fitted:
        np.testing.assert_array_equal(remade.weights[name], shipped.weights[name], err_msg=name)
    # About the means of both kinds, words are as long as the model says; no direction is far longer than the others.
    encoder = load(out, cache=False, options=ReadOptions(form="plain"))
    files = sorted(code.rglob("*.ll"))
    plain, mapped = (
        np.concatenate([encoder.embed_parts(file, level="function", whiten=white).lexical for file in files])
        for white in (False, True)
    )
    modules = np.concatenate([encoder.embed_parts(file).lexical for file in sorted((code / "O0").iterdir())])
    square = [((each - each.mean(0)) ** 2).sum(1).mean() for each in (mapped, modules)]
    assert np.sqrt(np.mean(square)) == pytest.approx(remade.config.lexical.weight, rel=0.05)
    mean, matrix = (remade.weights[f"whiten_lexical.{name}"] for name in ("mean", "matrix"))
    np.testing.assert_allclose(mapped, (plain - mean) @ matrix, atol=1e-3)
    variance = [np.linalg.eigvalsh(np.cov(each, rowvar=False)) for each in (plain, mapped)]
    share = [each[-1] / each.sum() for each in variance]
    assert share[1] < share[0] / 1.5
    assert shipped.digest != remade.digest
    verify_files(out)
    assert check_golden(out) < 1e-5
    card = (out / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card.count("## Words") == 1
    assert f"{code} (" in card
    old = (shipped.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    line = "| Function retrieval O0 -> O2 by both"
    assert [row for row in card.splitlines() if row.startswith(line)] != [
        row for row in old.splitlines() if row.startswith(line)
    ]


def test_a_model_without_words_is_refused(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = tmp_path / "words.toml"
    recipe.write_text(f'[[domains]]\nfolder = "{FIXTURES}"\n', encoding="utf-8")
    with pytest.raises(SystemExit, match="mirenc-tiny has no lexical view"):
        run(script, monkeypatch, "mirenc-tiny", recipe, "-o", tmp_path / "out", "--held-out", FIXTURES)
    assert not (tmp_path / "out").exists()


def test_a_table_of_several_kinds_of_code(script: ModuleType) -> None:
    # One word in all of one kind and in none of the other, one in a tenth of both, one in nothing.
    first, second = np.zeros(8, np.int64), np.zeros(8, np.int64)
    first[:2], second[1] = (100, 10), 20
    idf = script.idf_of([(first, 100), (second, 200)])
    np.testing.assert_allclose(idf[:3], -np.log([0.5, 0.1, 1 / 800]), rtol=1e-6)


def test_document_frequency_counts_groups(script: ModuleType) -> None:
    lexicon = Lexicon(LexicalConfig(buckets=4096), np.zeros(4096, np.float32))
    texts = ["% = add i32 %, 7", "% = mul i32 %, 7", "ret void", "@x = global i32 7"]
    text = make_pool(np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1]), 3, "count")
    taken = make_pool(np.array([3]), np.array([1]), 3, "count")
    frequency = script.document_frequency(lexicon, texts, Pools(text, text, taken))
    expected = {"add i32": 1, "mul i32": 1, "7": 2, "ret void": 2, "global i32": 1}
    assert {term: frequency[zlib.crc32(term.encode()) % 4096] for term in expected} == expected
    assert frequency.sum() == sum(expected.values())
