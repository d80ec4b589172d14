"""The stage "contrast": what a step sees is what an encoder gives, it learns, resumes exactly and is packaged."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from same_vectors import assert_same_vectors
from short_runs import Weights, assert_same_weights, killed_and_resumed, run_with_losses, weights_of

from mirenc.base.errors import ConfigError
from mirenc.encoder import load
from mirenc.encoder.golden import GOLDEN_IR
from mirenc.encoder.weights import load_files, read_provenance
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain.batches import Sampler
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.contrast import PLAIN, UNNAMED, ContrastLosses, FunctionTable, info_nce, validation_pairs
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.corpus.functions import MIN_INSTRUCTIONS, Functions, build_functions
from mirenc.pretrain.package import package
from mirenc.pretrain.parallel import Processes
from mirenc.pretrain.trainer import Trainer


@pytest.fixture(scope="module")
def folder(ir_folder: Path, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The functions of the small corpus, plain and in the form of -O1."""
    folder = tmp_path_factory.mktemp("functions")
    assert not build_functions([ir_folder], folder, corpus.tokenizer, forms=("plain", "O1"))
    return folder


@pytest.fixture(scope="module")
def recipe(short_run: PretrainConfig, folder: Path) -> PretrainConfig:
    values: dict[str, Any] = short_run.model_dump()
    values |= {name: values[name] | {"steps": 0} for name in ("mlm", "gae", "igm")}
    values["graph"] = {"kind": "directed", "hidden": 16, "out": 10, "readout": "mean-max-sum", "statements": True}
    values |= {"held_out": ("gamma",), "optimiser": "adamw", "checkpoint_every": 5}
    contrast = {"steps": 12, "batch": 3, "learning_rate": 3e-3, "warmup": 2, "functions": str(folder)}
    return PretrainConfig.from_dict(values | {"contrast": contrast})


@pytest.fixture(scope="module")
def trained(
    recipe: PretrainConfig, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Trainer, list[float], Weights]:
    """A run that nothing stops, its losses, and the weights that it ended with."""
    trainer, _, losses = run_with_losses(recipe, corpus, tmp_path_factory.mktemp("run"))
    return trainer, losses, weights_of(trainer.model)


def test_the_loss_falls_and_every_part_learns(
    recipe: PretrainConfig, corpus: Corpus, trained: Any, tmp_path: Path
) -> None:
    trainer, losses, after = trained
    assert sum(losses[-4:]) < 0.9 * sum(losses[:4])
    before = Trainer(recipe, corpus, tmp_path).model.state_dict()
    still = {name for name in before if torch.equal(before[name], after[name])}
    assert not still
    lines = [json.loads(line) for line in (trainer.folder / "metrics.jsonl").read_text().splitlines()]
    measured = [line["recall_at_1"] for line in lines if "recall_at_1" in line]
    assert len(measured) == 3  # at both checkpoints and at the end
    assert measured[-1] == trainer.recall
    assert trainer.recall.keys() == {f"{b}{n}" for b in ("text", "graph", "both") for n in ("", "_unnamed")} | {
        "functions"
    }
    assert trainer.recall["functions"] > 3
    assert 0 < trainer.recall["both"] <= 1


def test_a_stopped_run_goes_on_to_the_same_bits(
    recipe: PretrainConfig, corpus: Corpus, trained: Any, tmp_path: Path
) -> None:
    resumed = killed_and_resumed(recipe, corpus, tmp_path, "contrast", 8)
    assert_same_weights(resumed.model.state_dict(), trained[2])
    assert resumed.recall == trained[0].recall
    changed = recipe.contrast.model_copy(update={"unnamed": 0.25})
    other = Trainer(recipe.model_copy(update={"contrast": changed}), corpus, tmp_path)
    with pytest.raises(ConfigError, match="another configuration or corpus"):
        other.run(resume=True)


def test_the_package_is_a_model_for_search(trained: Any, corpus: Corpus) -> None:
    trainer, _, weights = trained
    folder = package(trainer, trainer.folder / "model", name="model")
    files = load_files(folder)
    assert files.config.paired is not None
    # The maps that were trained ship, not ones that are fitted afterwards.
    np.testing.assert_array_equal(files.weights["whiten_text.matrix"], weights["whiten_text.matrix"].numpy())
    sources = read_provenance(folder)
    assert sources is not None
    assert {(source.kind, source.projects) for source in sources} == {
        ("corpus", ("alpha", "beta")),
        ("pairs", ("alpha", "beta")),
    }
    figures = json.loads((folder.parent / "model.figures.json").read_text(encoding="utf-8"))
    assert figures["functions"] == trainer.recall
    assert figures["retrieval"] is None  # of no IR
    assert "was not given" in figures["missing"]["retrieval"]
    assert load(folder, cache=False).embed(GOLDEN_IR["sum"], level="function").shape == (1, 32 + 30)


def test_a_run_goes_on_from_a_model_with_its_architecture_maps_and_words(
    recipe: PretrainConfig, corpus: Corpus, trained: Any, tmp_path: Path
) -> None:
    folder = package(trained[0], tmp_path / "first", name="first")
    contrast = recipe.contrast.model_copy(update={"steps": 1, "validated": ("alpha",)})
    start = {"preset": "start", "start_from": str(folder), "text": None, "graph": None, "contrast": contrast}
    trainer = Trainer(recipe.model_copy(update=start), corpus, tmp_path / "second")
    files = load_files(folder)
    assert trainer.model_config == files.config
    for name, value in trainer.model.state_dict().items():
        np.testing.assert_array_equal(value, files.weights[name], err_msg=name)
    trainer.run()
    assert trainer.recall is not None
    assert trainer.recall["functions"] > trained[0].recall["functions"]
    assert trainer.kept_out == {"alpha", "gamma"}


@pytest.mark.parametrize("hide_names", [False, True])
def test_a_step_sees_what_an_encoder_gives(
    ir_folder: Path, tmp_path: Path, recipe: PretrainConfig, hide_names: bool
) -> None:
    files = load_files("mirenc-search")
    build_functions([ir_folder], tmp_path, files.tokenizer)
    functions = Functions.load(tmp_path, files.tokenizer)
    model = MIREncoder(files.config).eval()
    model.load_state_dict({name: torch.from_numpy(value) for name, value in files.weights.items()})
    modules = torch.tensor([number for number, form in enumerate(functions.forms) if form.project == "alpha"][:6])
    batch = FunctionTable(functions, torch.device("cpu"), "sqrt").batch(
        modules, torch.full((len(modules),), UNNAMED if hide_names else PLAIN)
    )
    losses = object.__new__(ContrastLosses)
    torch.nn.Module.__init__(losses)
    losses._table, losses.device = FunctionTable(functions, torch.device("cpu"), "sqrt"), torch.device("cpu")
    losses._precision = torch.autocast("cpu", enabled=False)
    with torch.no_grad():
        encoded = losses._encode(model, batch)
    encoder = load("mirenc-search", cache=False, hide_names=hide_names)
    row = 0
    for number, form in enumerate(functions.forms[module] for module in modules.tolist()):
        file = ir_folder / form.project / form.level / form.file
        expected = encoder.embed_parts(file, level="function", form="plain", whiten=False)
        long_enough = np.flatnonzero(expected.sizes[:, 2] >= MIN_INSTRUCTIONS)
        for name in ("text", "graph", "taught"):
            vectors = getattr(encoded, name)
            assert_same_vectors(vectors[row : row + len(long_enough)].numpy(), getattr(expected, name)[long_enough])
            module_vector = getattr(encoder.embed_parts(file, level="module", form="plain", whiten=False), name)
            assert_same_vectors(vectors[len(batch.functions) + number][None].numpy(), module_vector)
        row += len(long_enough)
    assert row == len(batch.functions) > 10


def test_functions_are_paired_with_their_other_form(recipe: PretrainConfig, corpus: Corpus) -> None:
    functions = Functions.load(recipe.contrast.functions, corpus.tokenizer)
    assert {form.form for form in functions.forms} == {"plain", "O1"}
    table = FunctionTable(functions, torch.device("cpu"), "count")
    pairs = np.array([numbers[:2] for project in functions.programs.values() for numbers in project]).T
    batch = table.batch(torch.from_numpy(pairs.ravel()), torch.zeros(pairs.size, dtype=torch.long))
    one, other = table.pairs(batch, pairs.shape[1])
    assert len(one) > 5
    assert (table.name[batch.functions[one]] == table.name[batch.functions[other]]).all()
    assert (batch.function_module[one] + pairs.shape[1] == batch.function_module[other]).all()
    known = table.alike(batch, one, other)
    assert not known.diagonal().any()
    for pair in validation_pairs(functions, {"alpha"}):
        assert [functions.forms[number].level for number in pair] == ["O0", "O2"]


def test_held_out_projects_are_never_drawn(recipe: PretrainConfig, corpus: Corpus) -> None:
    functions = Functions.load(recipe.contrast.functions, corpus.tokenizer)
    train, _ = corpus.split(0.3, 0, named=("gamma",))
    processes = Processes(torch.device("cpu"))
    sampler = Sampler(corpus, train, recipe, processes, functions=functions, held_out={"gamma"})
    drawn = [sampler.contrast(step) for step in range(20)]
    for forms, spelling in drawn:
        one, other = forms.reshape(2, -1)
        for first, second in zip(one.tolist(), other.tolist(), strict=True):
            assert functions.forms[first][:2] == functions.forms[second][:2]
            assert first != second
        assert (spelling.reshape(2, -1)[0] == spelling.reshape(2, -1)[1]).all()
    projects = {functions.forms[number].project for forms, _ in drawn for number in forms.tolist()}
    assert projects == {"alpha", "beta"}


def test_loss_by_hand() -> None:
    """Two pairs: own scores 2, the others 0; a pair that is known to be alike is left out; no pair has no loss."""
    one, other = torch.eye(2), torch.eye(2)
    scale = torch.tensor(2.0)
    assert info_nce(one, other, scale).item() == pytest.approx(math.log(1 + math.exp(-2)))
    known = torch.tensor([[False, True], [False, False]])
    half = math.log(1 + math.exp(-2)) / 2
    assert info_nce(one, other, scale, known).item() == pytest.approx(half, abs=1e-6)
    none = torch.zeros(0, 4, requires_grad=True)
    assert info_nce(none, none, scale).item() == 0


def test_a_folder_without_functions_or_of_another_tokenizer_is_refused(
    recipe: PretrainConfig, corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    def run(path: Path) -> None:
        contrast = recipe.contrast.model_copy(update={"functions": str(path)})
        Trainer(recipe.model_copy(update={"contrast": contrast}), corpus, tmp_path / "run")

    with pytest.raises(ConfigError, match="this folder has no functions"):
        run(tmp_path)
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="made with another tokenizer"):
        run(other)


def test_functions_by_another_tokenizer_or_in_other_forms_are_not_mixed(tmp_path: Path) -> None:
    for level in ("O0", "O2"):
        (tmp_path / "ir" / "p" / level).mkdir(parents=True)
        (tmp_path / "ir" / "p" / level / "sum.ll").write_text(GOLDEN_IR["sum"])
    tiny, fast = (load_files(name).tokenizer for name in ("mirenc-tiny", "mirenc-fast"))
    build_functions([tmp_path / "ir"], tmp_path / "out", tiny, forms=["plain"])
    build_functions([tmp_path / "ir"], tmp_path / "out", tiny, forms=["plain"])  # the same goes on
    for tokenizer, forms in ((fast, ["plain"]), (tiny, ["plain", "O2"])):
        with pytest.raises(ConfigError, match=r"of another tokenizer or in other forms\. Name another folder"):
            build_functions([tmp_path / "ir"], tmp_path / "out", tokenizer, forms=forms)
