"""The recipe `pretrain/distil.py`, which is no package: loaded by its path, on a teacher with random weights."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from random_model import random_weights
from short_runs import Killed
from teaching import TeachingConfig

from mirenc.base.config import load_toml
from mirenc.base.errors import ConfigError
from mirenc.encoder.weights import Source, find_model, load_files, read_provenance, save_files, seen_by
from mirenc.model.config import ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.package import package
from mirenc.pretrain.trainer import Trainer

BEFORE = Source("teacher", "corpus", ("elsewhere",))
CPU = torch.device("cpu")
RECIPE = "distil"
FOLDER = Path(__file__).resolve().parents[2] / "pretrain"
TEXT = {"embedding": 20, "channels": 28, "feed_forward": 36, "hidden": 32}


@pytest.fixture(scope="module")
def teacher(corpus: Corpus, model_config: ModelConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = corpus.tokenizer.config.model_copy(update={"vocab_size": corpus.tokenizer.vocab_size})
    config = model_config.model_copy(update={"tokenizer": tokenizer})
    weights = random_weights(config)
    folder = tmp_path_factory.mktemp("teacher") / "teacher"
    return save_files(
        folder, name="teacher", config=config, tokenizer=corpus.tokenizer, weights=weights, provenance=[BEFORE]
    )


@pytest.fixture
def recipe(script: ModuleType, teacher: Path) -> Any:
    values = {"teacher": str(teacher), "text": TEXT, "count": 300, "steps": 150, "batch": 16}
    return script.Recipe.model_validate({**values, "learning_rate": 1e-2, "warmup": 4})


def folders(root: Path, *names: str) -> list[Path]:
    for name in names:
        (root / name).mkdir(parents=True)
    return [root / name for name in names]


def test_the_committed_recipe_is_valid(script: ModuleType) -> None:
    recipe = script.Recipe.model_validate(load_toml(FOLDER / "distil.toml"))
    assert recipe.student(load_files(recipe.teacher)).text.kind == "convolution"
    # What it holds out is what the run that starts from it does, and nothing that the teacher saw.
    assert recipe.held_out == TeachingConfig.from_dict(load_toml(FOLDER / "fast.toml")).held_out
    record = read_provenance(find_model(recipe.teacher))
    assert record is not None
    assert not set(recipe.held_out) & seen_by(record).keys()
    with pytest.raises(ValidationError, match="learning_rat"):
        script.Recipe.model_validate({**load_toml(FOLDER / "distil.toml"), "learning_rat": 1})


def test_validation_is_on_statements_that_training_projects_do_not_have(script: ModuleType, corpus: Corpus) -> None:
    train, held = corpus.split(script.HELD_OUT, script.SEED)
    ordered, validation = script.choose(corpus, train, held)
    assert set(ordered) == set(np.flatnonzero(corpus.text_counts(train)))
    assert set(validation) == set(np.flatnonzero(corpus.text_counts(held))) - set(ordered)
    assert len(validation) > 100
    # What many modules have comes early.
    spread = script.spread_of(corpus, train)
    assert spread.max() > 5
    assert spread[ordered[: len(ordered) // 4]].mean() > 1.3 * spread[ordered].mean()


def test_a_student_learns_and_a_run_starts_from_it(
    script: ModuleType, recipe: Any, corpus: Corpus, short_run: PretrainConfig, tmp_path: Path
) -> None:
    targets, out = folders(tmp_path, "targets", "out")
    figures = script.distil(recipe, corpus, targets, out, CPU, 1)
    # An untrained student's vectors have nothing to do with the teacher's: a cosine of 0.
    assert figures["training"]["mean"] > 0.4
    assert figures["held_out"]["mean"] > 0.2
    assert -1 <= figures["held_out"]["p5"] < figures["held_out"]["mean"] <= 1
    assert figures["epochs"] == pytest.approx(150 * 16 / 300)
    assert figures["seconds"]["training"] > 0
    assert figures["encoding"]["times"] > 0
    assert 0 <= figures["mlm"]["accuracy"] <= 1

    # Shapes of text and statement vectors fit; the graph encoder, of another width, starts anew.
    config = PretrainConfig.from_dict({**short_run.model_dump(), "text": {"kind": "convolution", **TEXT}})
    begun = config.model_copy(update={"start_from": str(out / "model")})
    distilled = load_files(out / "model").weights
    learned = {corpus.projects[module] for module in corpus.split(script.HELD_OUT, script.SEED)[0]}
    record = (BEFORE, Source("distilled", "distillation", tuple(sorted(learned))))
    assert read_provenance(out / "model") == record
    untaught = Trainer(config, corpus, tmp_path / "own").model.state_dict()
    trainer = Trainer(begun, corpus, tmp_path / "run")
    assert trainer.started_from is not None
    assert trainer.started_from["part"] == "text"
    for name, value in trainer.model.state_dict().items():
        expected = distilled[name] if name.startswith(("text.", "mlm.")) else untaught[name].numpy()
        np.testing.assert_array_equal(value.numpy(), expected, err_msg=name)
    trainer.run()
    card = (package(trainer, tmp_path / "model", name="model") / "MODEL_CARD.md").read_text()
    assert "From the text encoder of distilled (digest " in card
    carried_on = read_provenance(tmp_path / "model")
    assert carried_on is not None
    assert carried_on[:2] == record
    assert {source.model for source in carried_on[2:]} == {"model"}


def test_a_stopped_distillation_goes_on(
    script: ModuleType, recipe: Any, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets, one, two = folders(tmp_path, "targets", "one", "two")
    short = recipe.model_copy(update={"steps": 9})
    script.distil(short, corpus, targets, one, CPU, 1)
    seen: list[int] = []
    loss = script.Distillation.loss

    def stop(self: Any, step: int) -> Any:
        seen.append(step)
        if len(seen) == 8:
            raise Killed
        return loss(self, step)

    monkeypatch.setattr(script.Distillation, "loss", stop)
    with monkeypatch.context() as patch:
        patch.setattr(script, "CHECKPOINT_EVERY", 3)
        with pytest.raises(Killed):
            script.distil(short, corpus, targets, two, CPU, 1)
    script.distil(short, corpus, targets, two, CPU, 1)
    assert seen[8:] == [6, 7, 8]
    lines = [json.loads(line) for line in (two / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [3, 6, 9]
    uninterrupted, resumed = (load_files(folder / "model").weights for folder in (one, two))
    for name, value in uninterrupted.items():
        np.testing.assert_array_equal(value, resumed[name], err_msg=name)
    with pytest.raises(ConfigError, match="another configuration"):
        script.distil(recipe, corpus, targets, two, CPU, 1)
    assert json.loads((two / "config.json").read_text())["recipe"]["steps"] == 9


def test_the_teachers_vectors_are_made_once(
    script: ModuleType, corpus: Corpus, teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "SLICE", 32)
    files = load_files(teacher)
    rows, _ = script.choose(corpus, *corpus.split(script.HELD_OUT, script.SEED))
    folder, other = folders(tmp_path, "folder", "other")
    few, _ = script.targets(files, corpus, rows[:40], folder, CPU)
    first = few.copy()
    with (folder / "targets.f16").open("ab") as stream:
        stream.write(b"cut")  # off in the middle of a row
    encoded_rows: list[int] = []
    encode = script.encoding.statement_vectors
    monkeypatch.setattr(
        script.encoding,
        "statement_vectors",
        lambda model, corpus, rows, **options: encoded_rows.extend(rows) or encode(model, corpus, rows, **options),
    )
    more, _ = script.targets(files, corpus, rows[:100], folder, CPU)
    assert encoded_rows == rows[40:100].tolist()
    np.testing.assert_array_equal(more[:40], first)
    vectors, _ = script.targets(files, corpus, rows[:100], other, CPU)
    assert vectors.shape == (100, 32)
    np.testing.assert_allclose(more.astype(np.float32), vectors.astype(np.float32), atol=1e-2)
    again, _ = script.targets(files, corpus, rows[:60], folder, CPU)
    np.testing.assert_array_equal(again, more[:60])
    (folder / "targets.json").write_text('{"teacher": "another", "corpus": "", "seconds": 1}')
    with pytest.raises(ConfigError, match="of another teacher or corpus"):
        script.targets(files, corpus, rows[:100], folder, CPU)


def test_every_statement_is_seen_once_before_any_is_seen_again(script: ModuleType, recipe: Any, corpus: Corpus) -> None:
    rows = script.choose(corpus, *corpus.split(script.HELD_OUT, script.SEED))[0][:256]
    model = MIREncoder(recipe.student(load_files(recipe.teacher)))
    teacher_vectors = script.Targets.split(rows, rows[:0], np.zeros((256, 32), np.float16))
    training = script.Distillation(recipe, model, corpus, teacher_vectors, CPU)
    for epoch in range(2):
        batches = [training.batch(step) for step in range(16 * epoch, 16 * epoch + 16)]
        assert sorted(np.concatenate(batches)) == list(range(256))
    lengths = [corpus.text_length[rows[batch]] for batch in batches]
    assert np.mean([length.std() for length in lengths]) < 0.5 * np.concatenate(lengths).std()


def test_unfitting_inputs_are_refused(script: ModuleType, recipe: Any, corpus: Corpus, tmp_path: Path) -> None:
    targets, out = folders(tmp_path, "targets", "out")
    with pytest.raises(ConfigError, match=r"have 384 components, those of teacher 32. Set hidden = 32"):
        script.distil(recipe.model_copy(update={"text": None}), corpus, targets, out, CPU, 1)
    text = recipe.text.model_copy(update={"hidden": 128})
    other = recipe.model_copy(update={"teacher": "mirenc-tiny", "text": text})
    with pytest.raises(ConfigError, match="tokenizer of mirenc-tiny"):
        script.distil(other, corpus, targets, out, CPU, 1)


def test_nearness_worked_by_hand(script: ModuleType) -> None:
    """About the mean (1, 1) the teacher's are (3, 4) and (0, 2), the student's, spread by (1, 2), (3, 4) and (2, 0)."""
    teachers = np.array([[4.0, 5.0], [1.0, 3.0]], np.float16)
    predicted = np.array([[3.0, 2.0], [2.0, 0.0]], np.float32)
    none = np.zeros(0)
    teacher_vectors = script.Targets(none, none, none, none, np.ones(2, np.float32), np.array([1.0, 2.0], np.float32))
    cosines = teacher_vectors.nearness(predicted, teachers)
    assert cosines == {"statements": 2, "mean": pytest.approx(0.5), "p5": pytest.approx(0.05)}
