"""Whitening maps of one's own: fitted, kept under a name, applied; and what is too little or does not belong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from random_model import random_weights
from small_programs import program

from mirenc.base.errors import ConfigError, IRParseError, MirencError, ModelError, UnreadableIRWarning
from mirenc.encoder import Encoder, load
from mirenc.encoder.domain_map import MIN_ROWS, fit_map, shrinkage_floor
from mirenc.encoder.weights import WhiteningMap, list_maps, load_map, map_path, save_files, save_map
from mirenc.llvm import ReadOptions
from mirenc.model.config import GraphEncoderConfig, LexicalConfig, ModelConfig
from mirenc.model.tokenizer import IRTokenizer
from mirenc.model.whitening import fit_whitening

PROGRAMS = 20
PLAIN = ReadOptions(form="plain")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty programs, O0/x.ll beside O2/x.ll."""
    folder = tmp_path_factory.mktemp("code")
    for level in ("O0", "O2"):
        (folder / level).mkdir()
        for number in range(PROGRAMS):
            text = program(number, optimised=level == "O2")
            (folder / level / f"{number:02}.ll").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fitted_map(encoder: Encoder, code: Path) -> WhiteningMap:
    """A plain map of the programs."""
    return fit_map(encoder, code)


@pytest.fixture(scope="module")
def paired(encoder: Encoder, code: Path) -> WhiteningMap:
    """A map of the programs that knows which are one at two levels."""
    return fit_map(encoder, code, pairs="levels")


@pytest.fixture(autouse=True)
def maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where maps are kept: no test may touch the user's."""
    monkeypatch.setenv("MIRENC_MAPS", str(tmp_path / "maps"))
    return tmp_path / "maps"


def test_files_without_a_function_body_are_left_out(encoder: Encoder, code: Path, fitted_map: WhiteningMap) -> None:
    empty = "@table = constant i32 1\n"
    with pytest.warns(UnreadableIRWarning, match=f"1 of {2 * PROGRAMS + 1} files has no function body") as caught:
        assert fit_map(encoder, [*sorted(code.rglob("*.ll")), empty]).digest == fitted_map.digest
    assert caught[0].filename == __file__


def level_share(vectors: np.ndarray) -> float:
    """How far a program's two levels are from each other, of how far any two programs are."""
    half = len(vectors) // 2
    distance = np.linalg.norm(vectors[:half] - vectors[half:], axis=1).mean()
    others = np.linalg.norm(vectors[:half] - np.roll(vectors[:half], 7, axis=0), axis=1).mean()
    return float(distance / others)


def test_a_plain_map_is_the_shrunk_whitening_of_the_files(
    encoder: Encoder, code: Path, fitted_map: WhiteningMap
) -> None:
    count = 2 * PROGRAMS
    assert fitted_map.facts == {"level": "module", "files": count, "rows": count, "pairs": 0, "hide_names": False}
    assert (fitted_map.model, fitted_map.model_digest) == ("random", encoder.files.digest)
    mapped = encoder.with_map(fitted_map)
    for part in ("text", "graph"):
        plain = encoder.embed(code, part=part, whiten=False)
        mean, matrix = fit_whitening(plain, floor=shrinkage_floor(plain))
        vectors = mapped.embed(code, part=part)
        np.testing.assert_allclose(vectors, (plain - mean) @ matrix, atol=1e-4)
        np.testing.assert_allclose(vectors.mean(0), 0, atol=1e-3)
        assert (vectors**2).sum(1).mean() == pytest.approx(plain.shape[1], rel=0.05)
        np.testing.assert_array_equal(mapped.embed(code, part=part, whiten=False), plain)


@pytest.mark.parametrize("level", ["module", "function"])
def test_pairs_scale_down_what_the_level_changes(encoder: Encoder, code: Path, level: str) -> None:
    plain, paired = (fit_map(encoder, code, level=level, pairs=pairs) for pairs in (None, "levels"))
    assert paired.facts["pairs"] == PROGRAMS
    assert plain.digest != paired.digest
    vectors = [encoder.with_map(level_map).embed(code, level=level) for level_map in (plain, paired)]
    assert level_share(vectors[1]) < 0.5 * level_share(vectors[0])


def test_named_pairs_are_those_of_the_levels(encoder: Encoder, code: Path, paired: WhiteningMap) -> None:
    files = sorted(code.rglob("*.ll"))
    named = [(code / "O0" / f"{number:02}.ll", str(code / "O2" / f"{number:02}.ll")) for number in range(PROGRAMS)]
    assert fit_map(encoder, files, pairs=named).digest == paired.digest
    with pytest.raises(ConfigError, match=r"pairs: nowhere\.ll is not one of the 40 inputs"):
        fit_map(encoder, code, pairs=[("nowhere.ll", files[0])])


def test_few_vectors_are_drawn_to_a_sphere() -> None:
    rng = np.random.default_rng(0)
    scales = np.geomspace(1, 30, 20)
    few, many = (shrinkage_floor(rng.normal(size=(count, 20)) * scales) for count in (10, 5000))
    assert few > 20 * many
    # All directions alike: the sphere is the truth, however many there are.
    assert shrinkage_floor(rng.normal(size=(50, 20))) > 1
    assert shrinkage_floor(np.ones((50, 20))) == pytest.approx(99)


def test_a_map_of_few_programs_finds_more_than_one_without_shrinkage(encoder: Encoder) -> None:
    """The directions of sixteen vectors hardly say how others vary: worked out on normal vectors."""
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(30, 30)) * np.geomspace(1, 0.02, 30)
    draw = rng.normal(size=(16, 30)) @ mixing
    other = rng.normal(size=(400, 30)) @ mixing

    def spread(floor: float) -> float:
        mean, matrix = fit_whitening(draw, floor=floor)
        lengths = np.linalg.norm((other - mean) @ matrix, axis=1)
        return float(lengths.mean() / np.sqrt(30))

    assert spread(shrinkage_floor(draw)) < 3 < 10 < spread(1e-4)


@pytest.fixture(scope="module")
def worded(model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with the lexical view."""
    config = model_config.model_copy(update={"lexical": LexicalConfig(width=24, buckets=4096, weight=5.0)})
    folder = tmp_path_factory.mktemp("models") / "worded"
    save_files(folder, name="worded", config=config, tokenizer=tokenizer, weights=random_weights(config))
    return folder


def test_a_map_whitens_the_lexical_view(worded: Path, code: Path) -> None:
    encoder = load(worded, cache=False, options=PLAIN)
    fitted_map = fit_map(encoder, code)
    save_map(fitted_map, "words")
    mapped = load(worded, cache=False, options=PLAIN, whitening_map="words")
    plain, whitened = (
        np.concatenate([outcome.embedding.lexical for outcome in each.embed_stream([code]) if outcome.embedding])
        for each in (encoder, mapped)
    )
    mean, matrix = fit_whitening(plain, floor=shrinkage_floor(plain))
    np.testing.assert_allclose(whitened, (plain - mean) @ matrix * 5 / np.sqrt(24), atol=1e-4)
    # As long as they were, on average.
    np.testing.assert_allclose((plain**2).sum(1), 25, rtol=1e-4)
    assert (whitened**2).sum(1).mean() == pytest.approx(25, rel=0.03)
    np.testing.assert_array_equal(mapped.embed(code)[:, -24:], whitened)
    with pytest.raises(ModelError, match=r"was fitted with hide_names=False, the encoder has hide_names=True\. Load"):
        load(worded, cache=False, whitening_map="words", hide_names=True)
    hidden = load(worded, cache=False, options=PLAIN, hide_names=True)
    assert hidden.with_map(fit_map(hidden, code)).embed(code).shape == whitened.shape[:1] + (encoder.dimension,)


# -- under a name --------------------------------------------------------------------------------------
def test_a_map_is_kept_under_a_name(
    encoder: Encoder, model_folder: Path, code: Path, maps: Path, paired: WhiteningMap
) -> None:
    assert list_maps("random") == []
    assert save_map(paired, "mine") == maps / "random" / "mine.safetensors" == map_path("random", "mine")
    assert list_maps("random") == ["mine"]
    again = load(model_folder, cache=False, options=PLAIN, whitening_map="mine")
    assert again.whitening_map is not None
    mine = again.whitening_map
    assert (mine.name, mine.facts, mine.digest) == ("mine", paired.facts, paired.digest)
    np.testing.assert_array_equal(again.embed(code), encoder.with_map(paired).embed(code))
    same = load(model_folder, cache=False, options=PLAIN, whitening_map=paired)
    np.testing.assert_array_equal(same.embed(code), again.embed(code))
    assert again.digest == encoder.with_map(paired).digest != encoder.digest == encoder.files.digest


def test_features_and_the_cache_know_no_map(
    encoder: Encoder, model_folder: Path, code: Path, tmp_path: Path, fitted_map: WhiteningMap
) -> None:
    plain, mapped = (
        load(model_folder, cache=tmp_path / "c", options=PLAIN),
        load(model_folder, cache=tmp_path / "c", options=PLAIN, whitening_map=fitted_map),
    )
    for _ in range(2):
        np.testing.assert_array_equal(plain.embed(code), encoder.embed(code))
        np.testing.assert_array_equal(mapped.embed(code), encoder.with_map(fitted_map).embed(code))
    np.testing.assert_array_equal(mapped.embed(code, purpose="features"), plain.embed(code, purpose="features"))


def test_a_map_of_another_model_is_refused(
    model_folder: Path, model_config: ModelConfig, tokenizer: IRTokenizer, tmp_path: Path, fitted_map: WhiteningMap
) -> None:
    save_map(fitted_map, "mine")
    weights = random_weights(model_config, seed=5)
    save_files(tmp_path / "new", name="random", config=model_config, tokenizer=tokenizer, weights=weights)
    save_files(tmp_path / "other", name="other", config=model_config, tokenizer=tokenizer, weights=weights)
    with pytest.raises(ModelError, match=r"'mine' takes vectors of random .* Fit it again: mirenc models"):
        load(tmp_path / "new", whitening_map="mine")
    with pytest.raises(ModelError, match=r"other has no map 'mine'; it has: none\. Fit one with: mirenc models adapt"):
        load(tmp_path / "other", whitening_map="mine")
    with pytest.raises(ModelError, match=r"the map takes vectors of random .*, not of other"):
        load(tmp_path / "other", whitening_map=fitted_map)
    # A file that was copied from a model of other widths is whole, and said to be that model's.
    wider = GraphEncoderConfig(hidden=16, out=24)
    assert wider.width != model_config.graph.width
    config = model_config.model_copy(update={"graph": wider})
    save_files(tmp_path / "wide", name="wide", config=config, tokenizer=tokenizer, weights=random_weights(config))
    map_path("wide", "mine").parent.mkdir()
    shutil.copy(map_path("random", "mine"), map_path("wide", "mine"))
    with pytest.raises(ModelError, match=r"'mine' takes vectors of random .*, not of wide .* --name mine --model wide"):
        load(tmp_path / "wide", whitening_map="mine")


def test_a_map_is_a_name_or_a_map(model_folder: Path) -> None:
    with pytest.raises(ConfigError, match="map is of type PosixPath; allowed: the name of a map of random, or a Whit"):
        load(model_folder, whitening_map=Path("mine.safetensors"))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "../mine", ".mine", "a b", "a/b", "m" * 101])
def test_names_that_cannot_be(name: str, maps: Path, fitted_map: WhiteningMap) -> None:
    with pytest.raises(ConfigError, match="a map cannot be called"):
        save_map(fitted_map, name)
    assert not maps.exists()


def test_damaged_maps_are_refused(encoder: Encoder, fitted_map: WhiteningMap) -> None:
    path = save_map(fitted_map, "mine")
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + length])

    def rewritten(edit: dict) -> bytes:
        text = json.dumps(head | {"__metadata__": head["__metadata__"] | edit}).encode()
        return len(text).to_bytes(8, "little") + text + content[8 + length :]

    not_finite = bytearray(content)
    not_finite[-4:] = np.float32(np.nan).tobytes()
    for data in (b"", content[:-8], rewritten({"format": "9"}), rewritten({"facts": "{"}), bytes(not_finite)):
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"mine\.safetensors: is not a map, or is damaged \(.*Fit the map again"):
            load_map(encoder.files, "mine")


# -- too little ----------------------------------------------------------------------------------------
def test_too_few_different_modules(encoder: Encoder, code: Path) -> None:
    files = sorted(code.rglob("*.ll"))[: MIN_ROWS - 1]
    with pytest.raises(ConfigError, match=r"31 different modules in 31 files; a map needs at least 32"):
        fit_map(encoder, files)
    with pytest.raises(ConfigError, match=r"1 different modules in 40 files"):
        fit_map(encoder, [files[0]] * 40)
    with pytest.raises(ConfigError, match=r"0 different modules in 0 files"):
        fit_map(encoder, [])


def test_too_few_pairs(encoder: Encoder, code: Path) -> None:
    files = sorted((code / "O0").iterdir()) + sorted((code / "O2").iterdir())[:15]
    with pytest.raises(ConfigError, match=r"15 pairs of modules at two levels; a map needs at least 16"):
        fit_map(encoder, files, pairs="levels")
    with pytest.raises(ConfigError, match="unknown pairs 'stems'; available: levels"):
        fit_map(encoder, files, pairs="stems")  # type: ignore[arg-type]
    for wrong in ([("a", "b", "c")], [1]):
        with pytest.raises(ConfigError, match=r"pairs: .*; allowed: 'levels', or pairs of paths"):
            fit_map(encoder, files, pairs=wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="unknown level 'loop'; available: module, function"):
        fit_map(encoder, files, level="loop")  # type: ignore[arg-type]


def test_files_that_cannot_be_read_end_it_or_are_told(encoder: Encoder, code: Path, tmp_path: Path) -> None:
    shutil.copytree(code, tmp_path / "code")
    (tmp_path / "code" / "O0" / "05.ll").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(IRParseError):
        fit_map(encoder, tmp_path / "code")
    failures: list[MirencError] = []
    fitted = fit_map(encoder, tmp_path / "code", pairs="levels", failed=failures.append)
    assert len(failures) == 1
    count = 2 * PROGRAMS - 1
    facts = {"level": "module", "files": count, "rows": count, "pairs": PROGRAMS - 1, "hide_names": False}
    assert fitted.facts == facts
