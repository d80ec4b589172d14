"""The trainer: resumption to the last bit, clear ends, a model that can be used."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from random_model import random_weights
from short_runs import Weights, assert_same_weights, killed_and_resumed, run_with_losses, weights_of, with_stages

from mirenc import load
from mirenc.base.errors import ConfigError, ModelError
from mirenc.base.writing import only_one
from mirenc.encoder.golden import GOLDEN_IR, check_golden
from mirenc.encoder.weights import Source, load_files, read_provenance, save_files, seen_by, write_provenance
from mirenc.encoder.weights.provenance import PROVENANCE_FILE
from mirenc.model.config import ConvolutionConfig, DirectedGraphConfig, GraphEncoderConfig, preset
from mirenc.pretrain.batches import Sampler
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus, build_corpus
from mirenc.pretrain.evaluation import Baselines
from mirenc.pretrain.optimiser import Optimiser
from mirenc.pretrain.package import package
from mirenc.pretrain.parallel import Processes
from mirenc.pretrain.trainer import StepReport, Trainer

FAST: dict[str, Any] = {"preset": "fast", "text": None}
LEARNING = {"steps": 12, "learning_rate": 3e-3}
Begin = Callable[..., Trainer]


@dataclass(frozen=True)
class Whole:
    """A run: its trainer, the weights it ended with (packaging rounds the trainer's), and the packaged model."""

    trainer: Trainer
    weights: Weights
    model: Path


@pytest.fixture(scope="module")
def finished(
    short_run: PretrainConfig, corpus: Corpus, ir_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Whole:
    """A run that nothing stops, and the model that is made of it."""
    folder = tmp_path_factory.mktemp("whole")
    trainer = Trainer(short_run, corpus, folder)
    weights = weights_of(trainer.run())
    return Whole(trainer, weights, package(trainer, folder / "model", name="model", ir=ir_folder))


@pytest.fixture
def begin(short_run: PretrainConfig, corpus: Corpus, tmp_path: Path) -> Begin:
    """Begin the short run with changes, in the test's own folder."""
    return lambda **changes: Trainer(short_run.model_copy(update=changes), corpus, tmp_path)


@pytest.mark.parametrize("stop", [("mlm", 5), ("gae", 2), ("igm", 4)])
def test_resume_gives_the_same_bits(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path, finished: Whole, stop: tuple[str, int]
) -> None:
    resumed = killed_and_resumed(short_run, corpus, tmp_path, *stop)
    assert_same_weights(resumed.model.state_dict(), finished.weights)


def test_a_convolutional_model_is_trained_resumed_and_packaged(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path
) -> None:
    config = short_run.model_copy(update=FAST)
    trainer = killed_and_resumed(config, corpus, tmp_path / "two", "mlm", 5)
    assert_same_weights(trainer.model.state_dict(), Trainer(config, corpus, tmp_path / "one").run().state_dict())
    folder = package(trainer, tmp_path / "model", name="model")
    assert "2 convolutions over 5 tokens, 192 channels" in (folder / "MODEL_CARD.md").read_text()
    assert check_golden(folder) < 1e-5
    files = load_files(folder)
    assert isinstance(files.config.text, ConvolutionConfig)
    assert load(folder, cache=False).embed(GOLDEN_IR["sum"]).shape == (384 + 256,)


@pytest.mark.parametrize(
    ("stage", "changes", "steps", "ends"),
    [
        ("mlm", {}, {"steps": 20, "learning_rate": 1e-2}, 5),
        ("gae", {}, LEARNING, 5),
        ("igm", {}, LEARNING, 5),
        ("mlm", FAST, {"steps": 12}, 3),
        ("gae", {"graph": DirectedGraphConfig(hidden=32, out=24)}, LEARNING, 4),
        ("igm", {"graph": DirectedGraphConfig(hidden=32, out=24, readout="mean-max-sum")}, LEARNING, 4),
        ("igm", {"graph": GraphEncoderConfig(hidden=32, out=24, readout="mean-max-sum")}, LEARNING, 4),
    ],
)
def test_a_stage_lowers_its_loss_and_moves_its_own_part_alone(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path, stage: str, changes: Any, steps: Any, ends: int
) -> None:
    """Each by itself, from random weights.

    After the others, matching would start where reconstruction has nothing left to learn: what its loss loses in so
    few steps is as much as batches differ. By itself no stage keeps more than 0.81 of its loss with any of five seeds.
    """
    config = with_stages(short_run, {stage: steps}, **changes)
    trainer, before, losses = run_with_losses(config, corpus, tmp_path)
    after = trainer.model.state_dict()
    assert len(losses) == steps["steps"]
    assert sum(losses[-ends:]) < 0.9 * sum(losses[:ends])
    moved = {name for name, value in before.items() if not torch.equal(value, after[name])}
    prefixes = {"mlm": ("text.", "mlm."), "gae": ("graph.",), "igm": ("graph.", "matching.")}[stage]
    # MLM leaves the layers between the tokens' states and the statement vector alone.
    assert moved == {name for name in before if name.startswith(prefixes) and not name.startswith("text.pool")}


def test_a_run_may_have_a_text_encoder_of_its_own(begin: Begin) -> None:
    text = ConvolutionConfig(embedding=16, channels=24, hidden=40)
    config = begin(text=text).model_config
    assert (config.text, config.graph) == (text, preset("tiny").graph)


@pytest.mark.parametrize(("name", "matrices"), [("tiny", 3 * 4), ("fast", 2 * 2)])
def test_muon_takes_the_matrices_of_the_layers(begin: Begin, name: str, matrices: int) -> None:
    """Of a Transformer's layer four, of a convolution's two: its depthwise weights are no matrix."""
    trainer = begin(preset=name, text=None)
    adam, muon = Optimiser([trainer.model.text, trainer.model.mlm], trainer.config).state()
    assert sum(len(group["params"]) for group in muon["param_groups"]) == matrices
    everything = [*trainer.model.text.parameters(), *trainer.model.mlm.parameters()]
    assert sum(len(group["params"]) for group in adam["param_groups"]) == len(everything) - matrices


def test_another_seed_is_another_model(begin: Begin, finished: Whole) -> None:
    other = begin(seed=1).run().state_dict()
    assert not torch.equal(finished.weights["text.token.weight"], other["text.token.weight"])


def test_a_folder_is_begun_once_and_resumed_by_its_own_run_alone(
    short_run: PretrainConfig, corpus: Corpus, tmp_path: Path, ir_folder: Path, finished: Whole
) -> None:
    folder = finished.trainer.folder
    with pytest.raises(ConfigError, match="--resume"):
        Trainer(short_run, corpus, folder).run()
    with pytest.raises(ConfigError, match="no checkpoint"):
        Trainer(short_run, corpus, tmp_path).run(resume=True)
    # Same vocabulary, other modules.
    files = sorted(path for path in ir_folder.rglob("*.ll") if "gamma" not in path.parts)
    other, _ = build_corpus(files, ir_folder, tmp_path / "other", tokenizer=corpus.tokenizer)
    for config, modules in ((short_run.model_copy(update={"seed": 5}), corpus), (short_run, other)):
        with pytest.raises(ConfigError, match="another configuration or corpus"):
            Trainer(config, modules, folder).run(resume=True)


def test_a_loss_that_is_no_number_keeps_the_checkpoint(begin: Begin, tmp_path: Path) -> None:
    trainer = begin()

    def poison(step: StepReport) -> None:
        if (step.stage, step.step) == ("mlm", 4):
            with torch.no_grad():
                trainer.model.text.norm_out.weight.fill_(float("nan"))

    trainer.report = poison
    with pytest.raises(ModelError, match="mlm loss is nan at step 4"):
        trainer.run()
    checkpoint = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert checkpoint["step"] == 3
    assert torch.isfinite(checkpoint["model"]["text.norm_out.weight"]).all()


def test_package_makes_a_model_that_embeds(finished: Whole) -> None:
    from mirenc.encoder.weights import verify_files

    folder = finished.model
    assert set(verify_files(folder)) == {
        *("config.json", "tokenizer.json", "model.safetensors"),
        *("MODEL_CARD.md", "golden.json", "baselines.safetensors", "provenance.json"),
    }
    assert check_golden(folder) < 1e-5
    encoder = load(folder, cache=False)
    # The directions of a model of eight steps hardly vary, so whitening enlarges what the runtimes round differently.
    other = load(folder, cache=False, backend="torch")
    for text in GOLDEN_IR.values():
        np.testing.assert_allclose(encoder.embed(text), other.embed(text), rtol=1e-2, atol=1e-2)
    assert encoder.embed(GOLDEN_IR["sum"]).shape == (encoder.dimension,)
    figures = json.loads((folder.parent / "model.figures.json").read_text())
    accuracy = figures["mlm"]["distinct"]["accuracy"]
    assert 0 <= accuracy <= 1
    assert set(figures["gae"]) == {"control", "data", "call"}
    card = (folder / "MODEL_CARD.md").read_text()
    assert f"{100 * accuracy:.1f} %" in card
    assert figures["retrieval"]["functions"] >= 10
    assert f"by text: recall at 1, at 10, MRR ({figures['retrieval']['functions']} functions)" in card
    trainer = finished.trainer
    stored = Baselines.load(folder, trainer.corpus.tokenizer.vocab_size)
    assert stored is not None
    fitted = Baselines.fit(trainer.corpus, trainer.train_modules)
    np.testing.assert_array_equal(stored.between_token, fitted.between_token)


def test_a_packaged_model_s_map_tells_programs_apart_rather_than_levels(
    corpus: Corpus, ir_folder: Path, finished: Whole
) -> None:
    """Over the very modules that the maps were fitted on."""
    encoder = load(finished.model, cache=False)
    modules = finished.trainer.train_modules.tolist()
    files = [ir_folder / corpus.names[module] for module in modules]
    programs = [corpus.programs[module] for module in modules]
    same = np.array([[one == other for other in programs] for one in programs])
    assert same.sum() > len(modules)  # some are there at two levels

    def level_share(vectors: NDArray[np.float32]) -> float:
        """Mean squared distance within a program over that between programs."""
        distance = ((vectors[:, None] - vectors[None]) ** 2).sum(-1)
        within = same & ~np.eye(len(same), dtype=bool)
        return float(distance[within].mean() / distance[~same].mean())

    for part, dimension in (("text", encoder.text_dimension), ("graph", encoder.graph_dimension)):
        vectors = encoder.embed(files, part=part, form="plain")
        assert np.abs(vectors.mean(0)).max() < 0.02
        assert np.trace(np.cov(vectors, rowvar=False)) == pytest.approx(dimension, rel=0.02)
        assert level_share(vectors) < 0.5 * level_share(encoder.embed(files, part=part, form="plain", whiten=False))


STAGE = {"batch": 4, "learning_rate": 1e-3}


def test_stages_of_a_run() -> None:
    steps = {"mlm": {"steps": 3, **STAGE}, "gae": {"steps": 0, **STAGE}, "igm": {"steps": 0, **STAGE}}
    assert list(PretrainConfig.from_dict(steps).stages) == ["mlm"]
    assert list(PretrainConfig().stages) == ["mlm", "gae", "igm"]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({name: {"steps": 0, **STAGE} for name in ("mlm", "gae", "igm")}, "nothing to train"),
        # A negative is another module's graph: with one there is none, and the loss would be 0 / 0.
        ({"igm": {**STAGE, "steps": 1, "batch": 1}}, r"igm\.batch must be at least 2"),
        ({"contrast": {"steps": 3}}, "needs functions = FOLDER"),
        (
            {"text": {"kind": "convolution", "chanels": 24}},
            r"unknown key 'text.chanels'; did you mean 'channels'\?",
        ),
    ],
)
def test_runs_that_make_no_sense_are_refused(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        PretrainConfig.from_dict(values)


def test_hard_negatives_are_of_nearly_equal_size(short_run: PretrainConfig, corpus: Corpus) -> None:
    def spread(share: float) -> float:
        config = short_run.model_copy(update={"hard_negatives": share})
        sampler = Sampler(corpus, np.arange(len(corpus)), config, Processes(torch.device("cpu")))
        batches = [corpus.node_count[sampler.modules("igm", step)] for step in range(40)]
        return float(np.mean([np.log(batch).std() for batch in batches]))

    assert spread(1.0) < 0.6 * spread(0.0)


def test_tensorboard_has_the_curves(finished: Whole) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder = finished.trainer.folder
    events = EventAccumulator(str(folder))
    events.Reload()
    assert {"mlm/loss", "gae/loss", "igm/loss", "mlm/learning_rate"} <= set(events.Tags()["scalars"])
    first = json.loads((folder / "metrics.jsonl").read_text().splitlines()[0])
    assert events.Scalars("mlm/loss")[0].value == pytest.approx(first["loss"], abs=1e-4)


def test_speed_and_time_left_are_of_the_steps_after_the_first(begin: Begin) -> None:
    reports: list[StepReport] = []
    trainer = begin()
    trainer.report = reports.append
    trainer.run()
    for stage in ("mlm", "gae", "igm"):
        first, *later = [report for report in reports if report.stage == stage]
        assert first.speed == pytest.approx(first.items / first.seconds)
        assert first.seconds_left == pytest.approx(first.seconds * (first.steps - 1))
        seconds = sum(report.seconds for report in later)
        assert later[-1].speed == pytest.approx(sum(report.items for report in later) / seconds)
        assert (later[-2].seconds_left, later[-1].seconds_left) == (
            pytest.approx((seconds - later[-1].seconds) / (len(later) - 1)),
            0.0,
        )


def test_a_full_disk_keeps_the_checkpoint(begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(payload: object, stream: BinaryIO) -> None:
        stream.write(b"half a checkpoint")
        raise OSError(28, "No space left on device")

    def fill(step: StepReport) -> None:
        if (step.stage, step.step) == ("mlm", 4):
            monkeypatch.setattr(torch, "save", full)

    trainer = begin()
    trainer.report = fill
    with pytest.raises(ModelError, match=r"No space left on device.*the one before it is kept"):
        trainer.run()
    assert torch.load(tmp_path / "checkpoint.pt", weights_only=True)["step"] == 3
    assert not list(tmp_path.glob("*.part"))


def test_a_gpu_that_is_not_there(begin: Begin) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ConfigError, match="no GPU"):
        begin(device="cuda")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"nonsense"])
def test_a_damaged_checkpoint_is_named(begin: Begin, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(ModelError, match=r"checkpoint.pt: damaged .* Start in another folder"):
        begin().run(resume=True)


def test_too_few_graphs_are_refused_before_training(begin: Begin, short_run: PretrainConfig) -> None:
    with pytest.raises(ConfigError, match=r"0 training module.* with at most 16 nodes"):
        begin(max_nodes=16)
    no_steps = short_run.gae.model_copy(update={"steps": 0})
    assert list(begin(max_nodes=16, gae=no_steps, igm=no_steps).stages) == ["mlm"]


def test_two_runs_do_not_share_a_folder(begin: Begin, tmp_path: Path) -> None:
    with only_one(tmp_path), pytest.raises(ConfigError, match="another run is at work there"):
        begin().run()
    assert list(tmp_path.iterdir()) == []


def test_goes_on_from_a_packaged_model(begin: Begin, finished: Whole, tmp_path: Path) -> None:
    trainer = begin(start_from=str(finished.model))
    weights = load_files(finished.model).weights
    for name, value in trainer.model.state_dict().items():
        if name.startswith("whiten_"):
            assert torch.equal(value, torch.eye(len(value)) if value.ndim == 2 else torch.zeros_like(value)), name
        else:
            np.testing.assert_array_equal(value.numpy(), weights[name])
    trainer.run()
    card = (package(trainer, tmp_path / "second", name="second") / "MODEL_CARD.md").read_text()
    assert "weights of model" in card
    first, second = read_provenance(finished.model), read_provenance(tmp_path / "second")
    assert first is not None
    assert second is not None
    assert second[: len(first)] == first
    assert {source.model for source in second[len(first) :]} == {"second"}
    assert f"The model, its ancestors included, learned from {len(seen_by(second))} projects" in card
    resumed = begin(start_from=str(finished.model)).run(resume=True).state_dict()
    assert resumed.keys() == weights.keys()  # a finished run is resumed from what packaging has not rounded yet
    assert not torch.equal(resumed["text.token.weight"], torch.from_numpy(weights["text.token.weight"]))


def test_a_run_holds_out_only_what_no_ancestor_saw(
    begin: Begin, corpus: Corpus, finished: Whole, tmp_path: Path
) -> None:
    def held_out(start: Path, **changes: Any) -> set[str]:
        return corpus.projects_of(begin(start_from=str(start), **changes).held_out)

    seen = corpus.projects_of(finished.trainer.train_modules)
    unseen = set(corpus.projects) - seen
    assert read_provenance(finished.model) == tuple(
        Source("model", kind, tuple(sorted(seen))) for kind in ("corpus", "maps")
    )
    for seed in range(5):
        assert held_out(finished.model, seed=seed) == unseen
    assert held_out(finished.model, held_out=tuple(unseen)) == unseen
    with pytest.raises(ConfigError, match=f"held_out: {min(seen)} was in the training of model"):
        held_out(finished.model, held_out=(min(seen),))
    copy = shutil.copytree(finished.model, tmp_path / "copy")
    write_provenance(copy, [Source("grandmother", "words", tuple(sorted(set(corpus.projects))))])
    with pytest.raises(ConfigError, match=r"no project is left to hold out: .* in the training of grandmother"):
        held_out(copy)
    (copy / PROVENANCE_FILE).unlink()
    with pytest.warns(UserWarning, match="what model was trained on is not known"):
        assert held_out(copy)


def test_start_needs_the_same_tokenizer_and_architecture(
    begin: Begin, corpus: Corpus, finished: Whole, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="--tokenizer mirenc-tiny"):
        begin(start_from="mirenc-tiny")
    config = preset("tiny").model_copy(update={"tokenizer": corpus.tokenizer.config})
    tiny = tmp_path / "tiny"
    save_files(tiny, name="tiny", config=config, tokenizer=corpus.tokenizer, weights=random_weights(config))
    for start, hint in ((tiny, 'Set preset = "tiny"'), (finished.model, r"Give the run its \[text\] table")):
        with pytest.raises(ConfigError, match=hint):
            begin(start_from=str(start), preset="small", text=None)
    with pytest.raises(ModelError, match="unknown model 'no-such'"):
        begin(start_from="no-such")
