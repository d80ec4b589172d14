"""Models on disk: a folder comes back as it was saved, damage is named, and every model at hand keeps its promises."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from random_model import random_weights
from same_vectors import assert_same_vectors

import mirenc
from mirenc.base.errors import MirencError, ModelError
from mirenc.encoder import load
from mirenc.encoder.golden import GOLDEN_IR, TOLERANCE, check_golden, difference
from mirenc.encoder.weights import DEFAULT_MODEL, find_model, list_models, load_files, save_files, seal, verify_files
from mirenc.encoder.weights.checksums import BASELINES_FILE
from mirenc.encoder.weights.provenance import PROVENANCE_FILE
from mirenc.model.config import ModelConfig, TaughtConfig
from mirenc.model.tokenizer import IRTokenizer, TokenizerConfig, train_tokenizer

SAXPY = Path(__file__).resolve().parents[3] / "examples" / "saxpy.ll"
FILES = ["config.json", "tokenizer.json", "model.safetensors", "MODEL_CARD.md", "golden.json"]


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model that may be damaged."""
    return Path(shutil.copytree(model_folder, tmp_path / "model"))


# -- round trip ----------------------------------------------------------------------------------------
def test_what_is_saved_is_loaded(
    model_folder: Path, model_config: ModelConfig, model_weights: dict[str, np.ndarray], tokenizer: IRTokenizer
) -> None:
    files = load_files(model_folder)
    assert (files.name, files.config, files.folder) == ("random", model_config, model_folder)
    assert (files.tokenizer.vocab, files.tokenizer.config) == (tokenizer.vocab, tokenizer.config)
    assert files.weights.keys() == model_weights.keys()
    for name, value in model_weights.items():
        assert files.weights[name].dtype == (np.float16 if name == "text.token.weight" else np.float32)
        # Stored as float16, and as nothing less.
        np.testing.assert_array_equal(files.weights[name], value.astype(np.float16).astype(np.float32), err_msg=name)
    assert files.parameter_count == sum(value.size for value in model_weights.values())


def test_saving_what_was_loaded_gives_the_same_files(model_folder: Path, tmp_path: Path) -> None:
    files = load_files(model_folder)
    again = save_files(
        tmp_path / "again", name=files.name, config=files.config, tokenizer=files.tokenizer, weights=files.weights
    )
    for name in FILES[:3]:
        assert (again / name).read_bytes() == (model_folder / name).read_bytes(), name
    assert load_files(again).digest == files.digest
    assert not (again / "MODEL_CARD.md").exists()
    assert verify_files(again) == FILES[:3]


def test_the_digest_is_of_everything_that_decides_a_vector(folder: Path) -> None:
    before = load_files(folder).digest
    (folder / "MODEL_CARD.md").write_text("another card\n", encoding="utf-8")
    assert load_files(folder).digest == before
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "name": "other"}), encoding="utf-8")
    seal(folder)
    assert load_files(folder).digest != before


@pytest.mark.parametrize(
    "changed", ["whiten_text.matrix", "whiten_graph.mean", "whiten_lexical.matrix", "lexical_idf", "names"]
)
def test_the_digest_of_features_is_not_of_what_only_search_has(tmp_path: Path, changed: str) -> None:
    files = load_files("mirenc-fast")
    weights, config = dict(files.weights), files.config
    if changed in weights:
        weights[changed] = weights[changed] * np.float32(0.5)
    else:
        assert config.lexical is not None
        config = config.model_copy(update={"lexical": config.lexical.model_copy(update={"module_names": 0.75})})
    save_files(tmp_path, name=files.name, config=config, tokenizer=files.tokenizer, weights=weights)
    other = load_files(tmp_path)
    assert other.digest != files.digest
    shutil.rmtree(tmp_path)  # it is of what was loaded, not of what lies there now
    assert other.features_digest == files.features_digest


@pytest.mark.needs("mirenc-base")
def test_features_of_a_model_that_no_compiler_taught_are_whitened(tmp_path: Path) -> None:
    files = load_files("mirenc-base")
    assert files.config.taught is None
    weights = {**files.weights, "whiten_text.matrix": files.weights["whiten_text.matrix"] * np.float32(0.5)}
    save_files(tmp_path, name=files.name, config=files.config, tokenizer=files.tokenizer, weights=weights)
    assert files.features_digest == files.digest
    assert load_files(tmp_path).features_digest != files.features_digest
    fast = [load_files("mirenc-fast").features_digest for _ in range(2)]
    assert fast[0] == fast[1] != files.features_digest


@pytest.mark.parametrize("taught", [None, TaughtConfig(width=20, hidden=28)])
@pytest.mark.parametrize("changed", ["text.token.weight", "tokenizer", "pooling"])
def test_the_digest_of_features_is_of_everything_else(
    tmp_path: Path, model_config: ModelConfig, tokenizer: IRTokenizer, changed: str, taught: TaughtConfig | None
) -> None:
    folder, config = tmp_path, model_config.model_copy(update={"taught": taught})
    weights = random_weights(config)
    save_files(folder, name="random", config=config, tokenizer=tokenizer, weights=weights)
    before = load_files(folder).features_digest
    assert load_files(folder).features_digest == before
    if changed == "pooling":
        other = "count" if config.pooling.weighting == "sqrt" else "sqrt"
        config = config.model_copy(update={"pooling": config.pooling.model_copy(update={"weighting": other})})
    elif changed in weights:
        weights[changed] = weights[changed] + np.float32(0.25)
    save_files(folder, name="random", config=config, tokenizer=tokenizer, weights=weights)
    if changed == "tokenizer":
        text = (folder / "tokenizer.json").read_text(encoding="utf-8")
        swapped = text.replace('"##a"', '"##@@"').replace('"##b"', '"##a"').replace('"##@@"', '"##b"')
        (folder / "tokenizer.json").write_text(swapped, encoding="utf-8")
        seal(folder)
    assert load_files(folder).features_digest != before


@pytest.mark.parametrize("name", ["text.token.weight", "matching.linear1.bias"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers_are_refused(
    tmp_path: Path,
    model_config: ModelConfig,
    model_weights: dict[str, np.ndarray],
    tokenizer: IRTokenizer,
    name: str,
    value: float,
) -> None:
    damaged = model_weights[name].copy()
    damaged.flat[-1] = value
    weights = {**model_weights, name: damaged}
    save_files(tmp_path, name="random", config=model_config, tokenizer=tokenizer, weights=weights)
    with pytest.raises(ModelError, match=f"weight '{name}' has values that are not finite"):
        load_files(tmp_path)
    damaged.flat[-1] = 65504.0  # the largest there is
    save_files(tmp_path, name="random", config=model_config, tokenizer=tokenizer, weights=weights)
    load_files(tmp_path)


def test_other_users_can_read_a_saved_model(folder: Path, model_folder: Path) -> None:
    modes = {name: (model_folder / name).stat().st_mode & 0o777 for name in FILES}
    assert modes["model.safetensors"] == modes["config.json"], modes


# -- verification --------------------------------------------------------------------------------------
def test_a_whole_folder_verifies(model_folder: Path) -> None:
    assert verify_files(model_folder) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_found(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelError, match=rf"{name} is not the file that was released .*Install the model again"):
        verify_files(folder)


def test_loading_verifies_what_decides_a_vector(folder: Path) -> None:
    from safetensors.numpy import load, save

    # Whole and of the right shapes: only the checksum can tell.
    stored = load((folder / "model.safetensors").read_bytes())
    name = next(iter(stored))
    (folder / "model.safetensors").write_bytes(save({**stored, name: stored[name] + 1}))
    with pytest.raises(ModelError, match=r"model\.safetensors is not the file that was released .*weights\.seal\("):
        load_files(folder)
    seal(folder)
    load_files(folder)
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "SHA256SUMS").write_text("".join(lines[:2]), encoding="utf-8")
    with pytest.raises(ModelError, match=r"SHA256SUMS does not list model\.safetensors"):
        load_files(folder)
    # A folder of one's own need not have any.
    (folder / "SHA256SUMS").unlink()
    load_files(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_found(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        verify_files(folder)


def test_a_folder_without_sums_is_not_verified(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ModelError, match="no SHA256SUMS, so nothing to verify against"):
        verify_files(folder)


@pytest.mark.parametrize("line_count", [0, 1])
def test_sums_that_leave_the_weights_out_verify_nothing(folder: Path, line_count: int) -> None:
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "SHA256SUMS").write_text("".join(lines[:line_count]), encoding="utf-8")
    with pytest.raises(ModelError, match="SHA256SUMS"):
        verify_files(folder)


def test_sums_are_what_sha256sum_reads(model_folder: Path) -> None:
    expected = [f"{hashlib.sha256((model_folder / name).read_bytes()).hexdigest()}  {name}" for name in FILES]
    assert (model_folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines() == expected


# -- damage --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FILES[:3])
def test_a_folder_without_a_needed_file_is_no_model(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"no {name}. A model folder needs config.json, tokenizer.json"):
        load_files(folder)


@pytest.mark.parametrize("name", FILES[:3])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\x00\x80", b"\x00" * 100, b"null", b"{}"])
def test_a_damaged_file_is_an_error_of_mirenc(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(MirencError, match=str(folder)):
        load_files(folder)


def test_a_truncated_weight_file(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ModelError, match=r"damaged .*mirenc models verify"):
        load_files(folder)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda values: values.update(format=2), "model format 2, this mirenc reads 1"),
        (lambda values: values.pop("name"), r"config\.json"),
        (lambda values: values.pop("model"), r"config\.json"),
        (lambda values: values["model"].update(texxt={}), "unknown key 'texxt'; did you mean 'text'"),
        *(
            (lambda values, text=text: values["model"].update(text=text), message)
            for text, message in [
                ({"kind": "convolution", "chanels": 8}, "unknown key 'text.chanels'; did you mean 'channels'?"),
                ({"kind": "convolution", "heads": 8}, "unknown key 'text.heads'; known keys: kind, embedding, "),
                ({"heads": 4, "chanels": 8}, "unknown key 'text.chanels'; known keys: kind, hidden, layers, heads"),
                ({"kind": "convolution", "width": 4}, r"text: .*width \(4\) must be odd"),
                ({"kind": "lstm"}, "text: kind must be 'transformer' or 'convolution'"),
                ([], "text: "),
            ]
        ),
    ],
)
def test_a_broken_configuration_is_refused(folder: Path, edit: Callable[[dict], object], message: str) -> None:
    change(folder, edit)
    with pytest.raises(ModelError, match=message):
        load_files(folder)


def test_a_configuration_that_names_no_kind_is_a_transformer_s(folder: Path, model_config: ModelConfig) -> None:
    """As every release before there was another kind wrote it."""
    change(folder, lambda values: values["model"]["text"].pop("kind"))
    seal(folder)
    assert load_files(folder).config == model_config


def test_a_convolutional_model_is_saved_and_loaded(
    tmp_path: Path, convolution_config: ModelConfig, tokenizer: IRTokenizer
) -> None:
    weights = random_weights(convolution_config)
    save_files(tmp_path, name="fast", config=convolution_config, tokenizer=tokenizer, weights=weights)
    assert load_files(tmp_path).config == convolution_config
    encoders = [load(tmp_path, cache=False, backend=backend) for backend in ("numpy", "torch")]
    for text in GOLDEN_IR.values():
        one, other = (encoder.embed(text) for encoder in encoders)
        assert one.shape == (32 + 16,)
        assert_same_vectors(one, other)


def change(folder: Path, edit: Callable[[dict], object]) -> None:
    """Edit a model folder's configuration in place."""
    path = folder / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    edit(values)
    path.write_text(json.dumps(values), encoding="utf-8")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_pointer_of_git_lfs(folder: Path, name: str) -> None:
    (folder / name).write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    message = f"{folder / name}: is a Git LFS pointer, not the file that it stands for. Type: git lfs pull"
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        load_files(folder)


# -- parts that do not belong together -----------------------------------------------------------------
def test_a_tokenizer_of_another_size(folder: Path, fixture_statements: list[str]) -> None:
    train_tokenizer(fixture_statements[::20], TokenizerConfig(vocab_size=300)).save(folder / "tokenizer.json")
    with pytest.raises(ModelError, match=r"pieces: found 300, but config\.json needs 512\. The files"):
        load_files(folder)


@pytest.mark.parametrize("other", [{"max_length": 32}, {"max_length": 128}, {"normalisation": "none"}])
def test_a_tokenizer_of_another_configuration(folder: Path, fixture_statements: list[str], other: dict) -> None:
    config = TokenizerConfig(**{"vocab_size": 512, **other})
    train_tokenizer(fixture_statements, config).save(folder / "tokenizer.json")
    assert IRTokenizer.from_file(folder / "tokenizer.json").vocab_size == 512
    with pytest.raises(ModelError, match="do not belong together"):
        load_files(folder)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("text", "layers", 3),
        ("text", "layers", 1),
        ("text", "hidden", 64),
        ("graph", "out", 8),
        ("matching", "hidden", 24),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_weights_of_another_architecture(folder: Path, part: str, key: str, value: int, backend: str) -> None:
    change(folder, lambda values: values["model"][part].update({key: value}))
    with pytest.raises(ModelError) as caught:
        load(folder, cache=False, backend=backend)
    assert "device" not in str(caught.value)


# -- names ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["mirenc-bse", ""])
def test_an_unknown_name(name: str) -> None:
    available = ", ".join(list_models()) or "none"
    with pytest.raises(ModelError) as caught:
        load_files(name)
    start, _, advice = str(caught.value).partition(f"; available: {available}. ")
    assert start == f"unknown model {name!r}"
    nearest = "mirenc-base" if "mirenc-base" in available else "mirenc-[a-z]+"
    meant = f"Did you mean '{nearest}'\\? " if name else ""
    assert re.fullmatch(f"{meant}To load a folder, give its path", advice)


def test_a_path_without_a_folder() -> None:
    names = ", ".join(list_models()) or "none"
    for path in ("./missing", "no/such/folder"):
        with pytest.raises(ModelError) as caught:
            load_files(path)
        assert str(caught.value) == f"{path}: no such folder. Give a model's folder, or a name: {names}"


def test_a_folder_is_found_by_its_path(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_model(model_folder) == find_model(str(model_folder)) == model_folder
    monkeypatch.chdir(model_folder.parent)
    assert load_files("random").digest == load_files(model_folder).digest


def test_a_file_is_no_model_folder(model_folder: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json: a file, and a model is a folder\. Give a model's"):
        load_files(model_folder / "config.json")


# -- golden vectors ------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_golden_vectors_are_reproduced(model_folder: Path, backend: str) -> None:
    # Golden vectors are rounded to six digits.
    assert check_golden(model_folder, backend=backend) < 2e-5


def test_golden_vectors_are_the_encoder_s(model_folder: Path) -> None:
    golden = json.loads((model_folder / "golden.json").read_text(encoding="utf-8"))
    assert golden.keys() == GOLDEN_IR.keys()
    encoder = load(model_folder, cache=False)
    for name, vector in golden.items():
        np.testing.assert_allclose(vector, encoder.embed(GOLDEN_IR[name], form="plain"), atol=1e-6)


def test_other_weights_do_not_reproduce_them(folder: Path, model_weights: dict[str, np.ndarray]) -> None:
    files = load_files(folder)
    other = {**model_weights, "text.norm_out.bias": model_weights["text.norm_out.bias"] + np.float32(0.01)}
    save_files(folder, name=files.name, config=files.config, tokenizer=files.tokenizer, weights=other)
    with pytest.raises(ModelError, match=r"the vector of 'sum' differs from the released one by .* of its length"):
        check_golden(folder)


@pytest.mark.parametrize("content", [None, "{", '{"unknown": [1.0]}', "{}"])
def test_golden_vectors_that_cannot_be_used(folder: Path, content: str | None) -> None:
    path = folder / "golden.json"
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"golden\.json"):
        check_golden(folder)


# -- the models at hand --------------------------------------------------------------------------------
def test_there_is_a_packaged_model_and_the_default_is_one() -> None:
    """FAILS WITHOUT A RELEASED MODEL: the tests below run over none then, and `mirenc.load()` cannot work."""
    assert (Path(mirenc.encoder.weights.__file__).parent / DEFAULT_MODEL / "config.json").is_file()
    assert DEFAULT_MODEL in list_models()


@pytest.mark.parametrize("name", list_models())
def test_a_packaged_model_is_whole(name: str) -> None:
    # The first model was made before models had baselines.
    assert verify_files(name) == [*FILES, *([] if name == "mirenc-tiny" else [BASELINES_FILE]), PROVENANCE_FILE]
    files = load_files(name)
    assert files.name == name
    assert files.folder == find_model(name)
    card = (files.folder / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card.startswith(f"# {name}\n")
    assert f"{files.parameter_count:,} parameters" in card


@pytest.mark.parametrize("name", list_models())
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_packaged_model_reproduces_its_golden_vectors_and_embeds_the_example(name: str, backend: str) -> None:
    encoder = load(name, cache=False, backend=backend)
    golden = json.loads((find_model(name) / "golden.json").read_text(encoding="utf-8"))
    assert golden.keys() == GOLDEN_IR.keys()
    for key, vector in golden.items():
        assert difference(encoder.embed(GOLDEN_IR[key], form="plain"), vector) <= TOLERANCE
    embedding = encoder.embed_parts(SAXPY, form="plain")
    assert embedding.vector.shape == (1, encoder.dimension)
    assert np.isfinite(embedding.vector).all()
    assert embedding.vector.std() > 1e-3
    rows = encoder.embed_parts(SAXPY, level="function")
    assert rows.names == ["saxpy"]
    assert encoder.embed(SAXPY, level="instruction").shape == (embedding.counts["instructions"], encoder.dimension)
    assert 0 <= encoder.match(SAXPY, SAXPY) <= 1


@pytest.mark.parametrize("name", list_models())
def test_a_packaged_model_s_tokenizer_fits_the_example(name: str) -> None:
    tokenizer = load_files(name).tokenizer
    statements = mirenc.statements_of(mirenc.read_ir(SAXPY), tokenizer.config.normalisation).texts
    assert tokenizer.report(statements).unk_rate == 0
    for statement in statements:
        assert tokenizer.decode(tokenizer.encode(statement)) == statement.lower()
