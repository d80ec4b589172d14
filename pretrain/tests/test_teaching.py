"""The objective "compiler": its loss by hand, what it moves, and what is left of it in a packaged model."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from short_runs import Weights, assert_same_weights, killed_and_resumed, weights_of
from small_answers import write_answers
from small_compiled import ir_of
from teaching import AnswersConfig, Labels, TeachingConfig, TeachingTrainer, answers_figures, answers_loss

from mirenc import load
from mirenc.base.errors import ConfigError
from mirenc.encoder.golden import check_golden
from mirenc.encoder.weights import Source, read_provenance, write_provenance
from mirenc.llvm import parse_ir
from mirenc.model.config import ConvolutionConfig, DirectedGraphConfig, TaughtConfig
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import module_pools
from mirenc.model.sample import make_sample
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.graphs import join_graphs
from mirenc.pretrain.package import package
from mirenc.pretrain.trainer import StepReport

NAN = math.nan
# No two widths are equal, so that none can stand for another.
TEXT = ConvolutionConfig(embedding=12, channels=16, layers=1, feed_forward=24, hidden=20)
GRAPH = DirectedGraphConfig(hidden=16, out=10, layers=1, readout="mean-max-sum", statements=True)


@pytest.fixture(scope="module")
def answers(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> AnswersConfig:
    return write_answers(tmp_path_factory.mktemp("answers"), corpus)[0]


@pytest.fixture(scope="module")
def recipe(answers: AnswersConfig) -> TeachingConfig:
    """A run of one step of MLM and a few of the compiler's answers."""
    stage = {"batch": 8, "learning_rate": 3e-3, "warmup": 2}
    return TeachingConfig.from_dict(
        {
            "held_out_share": 0.3,
            "checkpoint_every": 4,
            "preset": "fast",
            "text": TEXT.model_dump(),
            "graph": GRAPH.model_dump(),
            "taught": {"width": 14, "hidden": 18},
            "answers": answers.model_dump(),
            "mlm": {**stage, "steps": 1},
            "gae": {**stage, "steps": 0},
            "igm": {**stage, "steps": 0, "batch": 4},
            "compiler": {**stage, "steps": 10},
        }
    )


@pytest.fixture(scope="module")
def trained(recipe: TeachingConfig, corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run that nothing stops: its trainer, weights before and after the stage, and its losses."""
    losses: list[float] = []
    before: Weights = {}

    def report(step: StepReport) -> None:
        if step.stage == "mlm":
            before.update(weights_of(trainer.model))
        else:
            losses.append(step.loss)

    trainer = TeachingTrainer(recipe, corpus, tmp_path_factory.mktemp("trained"), report=report)
    return trainer, before, weights_of(trainer.run()), losses


# -- the loss ------------------------------------------------------------------------------------------
def test_loss_by_hand() -> None:
    predicted = {
        "sizes": torch.tensor([[1.0, 0.0], [4.0, 7.0]]),
        "fires": torch.tensor([[0.0, 3.0], [2.0, 0.0]]),
    }
    truth = {
        "sizes": torch.tensor([[0.0, NAN], [1.0, NAN]]),
        "fires": torch.tensor([[1.0, NAN], [0.0, 1.0]]),
    }
    # Sizes: |1| is the square's end, 1/2; 3 is on the line, 3 - 1/2; a column of which nothing is known counts for
    # nothing. Fires: the first column has both pieces, the second one.
    sizes = (0.5 + 2.5) / 2
    first = (math.log(2) + math.log1p(math.exp(2))) / 2
    fires = (first + math.log(2)) / 2
    assert answers_loss(predicted, truth).item() == pytest.approx((sizes + fires) / 2)


def test_unknown_answers_give_no_loss_and_no_gradient() -> None:
    predicted = torch.ones(2, 3, requires_grad=True)
    loss = answers_loss({"lists": predicted}, {"lists": torch.full((2, 3), NAN)})
    loss.backward()
    assert loss.item() == 0
    assert not predicted.grad.any()


def test_shares_add_up_to_the_whole() -> None:
    rng = torch.Generator().manual_seed(0)
    predicted = {kind: torch.randn(5, 3, generator=rng) for kind in ("sizes", "fires")}
    truth = {"sizes": torch.randn(5, 3, generator=rng), "fires": torch.randint(0, 2, (5, 3), generator=rng).float()}
    truth["sizes"][0, 0] = truth["fires"][3, 2] = NAN
    shares = [slice(number, None, 2) for number in (0, 1)]
    parts = [answers_loss({k: v[share] for k, v in predicted.items()}, truth, share=share) for share in shares]
    assert sum(parts).item() == pytest.approx(answers_loss(predicted, truth).item())


# -- a run ---------------------------------------------------------------------------------------------
def test_the_stage_compiler_lowers_its_loss_and_keeps_the_text_encoder(trained: Any) -> None:
    _, before, after, losses = trained
    assert len(losses) == 10
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])
    same = {name.partition(".")[0] for name in before if torch.equal(before[name], after[name])}
    moved = {name.partition(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert moved == {"graph", "matching", "taught"}
    assert same == {"text", "mlm", "whiten_text", "whiten_graph"}


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_change_no_bit_and_a_stopped_run_goes_on(
    recipe: TeachingConfig, corpus: Corpus, tmp_path: Path, trained: Any, workers: int
) -> None:
    config = recipe.model_copy(update={"workers": workers})
    trainer = killed_and_resumed(config, corpus, tmp_path, "compiler", 7, TeachingTrainer)
    first, _, expected, _ = trained
    assert_same_weights(trainer.model.state_dict(), expected)
    assert_same_weights(trainer.heads.state_dict(), first.heads.state_dict())


def test_the_trunk_takes_the_vectors_of_an_encoder(trained: Any) -> None:
    """From the table's IR itself, through the whole of `mirenc embed`, as from the corpus of its pieces."""
    trainer = trained[0]
    state = {name: value.numpy() for name, value in trainer.model.state_dict().items()}
    runtime, teacher = NumpyRuntime(trainer.model_config, state), trainer.teacher()
    rows = np.array([2, 7, 11])
    weighting = trainer.model_config.pooling.weighting
    assert weighting == "sqrt"
    graphs = join_graphs(teacher.answers.corpus, teacher.answers.modules[rows], weighting=weighting)
    with torch.no_grad():
        vectors = teacher.taught(torch.from_numpy(rows), graphs.data(torch.device("cpu"))).numpy()
    for row, vector in zip(rows.tolist(), vectors, strict=True):
        sample = make_sample(parse_ir(ir_of(row)), trainer.corpus.tokenizer)
        expected = runtime.forward(sample, module_pools(sample, weighting)).taught[0]
        np.testing.assert_allclose(vector, expected, rtol=1e-4, atol=1e-4)


def test_a_packaged_model_has_the_trunk_and_the_figures(
    trained: Any, recipe: TeachingConfig, corpus: Corpus, tmp_path: Path
) -> None:
    trainer = trained[0]
    folder = package(trainer, tmp_path / "model", name="model")
    assert check_golden(folder) < 1e-5
    files = load(folder, cache=False).files
    assert files.config.taught == TaughtConfig(width=14, hidden=18)
    assert not [name for name in files.weights if "kinds" in name]
    figures = json.loads((tmp_path / "model.figures.json").read_text())
    for part, pieces, projects in (("held_out", 4, 1), ("choosing", 4, 1)):
        figures_of_part = figures["answers"][part]
        assert (figures_of_part["pieces"], figures_of_part["projects"]) == (pieces, projects)
        for who in ("model", "counts"):
            assert len(figures_of_part[who]["sizes"]) == 13
            assert 0 <= figures_of_part[who]["fires"] <= 1
            assert figures_of_part[who]["lists"] <= 1
    assert figures["training"]["config"]["answers"] == {"kinds": ["sizes", "fires", "lists"]}
    card = " ".join((folder / "MODEL_CARD.md").read_text().split())
    assert "10 steps of 4 pairs and of a compiler's answers (sizes, fires, lists) about 8 of 16 pieces of 4 " in card
    assert "Passes that change the code, mean ROC AUC (4 pieces held out)" in card
    # Another run takes all of it; one with another trunk all but that, and its own stays random.
    again = recipe.model_copy(update={"start_from": str(folder)})
    for taught, shared in ((recipe.taught, True), (TaughtConfig(width=9, hidden=18), False)):
        begun = TeachingTrainer(again.model_copy(update={"taught": taught}), corpus, tmp_path / f"{shared}")
        assert begun.started_from is not None
        assert "part" not in begun.started_from
        for name, value in begun.model.state_dict().items():
            if name.startswith(("text.", "graph.", "matching.")) or (shared and name.startswith("taught.")):
                np.testing.assert_array_equal(value.numpy(), files.weights[name])
            elif name.startswith("taught."):
                assert value.shape != files.weights[name].shape or not np.array_equal(value, files.weights[name])


def test_a_table_that_holds_out_what_an_ancestor_saw_is_refused(
    trained: Any, recipe: TeachingConfig, corpus: Corpus, tmp_path: Path
) -> None:
    answers = trained[0].answers
    folder = package(trained[0], tmp_path / "model", name="model")
    record = read_provenance(folder)
    assert record is not None
    learned = tuple(sorted({answers.projects[row] for row in answers.training}))
    assert Source("model", "answers", learned) in record
    held = answers.projects[answers.held_out[0]]
    write_provenance(folder, [*record, Source("grandmother", "distillation", (held,))])
    with pytest.raises(ConfigError, match=f"the table holds out {held}, which is in the training of grandmother"):
        TeachingTrainer(recipe.model_copy(update={"start_from": str(folder)}), corpus, tmp_path / "run")


# -- figures -------------------------------------------------------------------------------------------
def test_figures_by_hand(trained: Any) -> None:
    labels = {
        "sizes": Labels(("a", "b"), np.array([[0, 5], [1, 5], [2, NAN]], np.float32)),
        "fires": Labels(("p", "q"), np.array([[0, 1], [1, 1], [1, 1]], np.float32)),
        "lists": Labels(("x", "y"), np.array([[0, 10], [2, NAN], [4, 12]], np.float32)),
    }
    predicted = {
        "sizes": np.array([[0, 5], [1, 5], [1, 9]], np.float32),
        "fires": np.array([[0.4, 0], [0.9, 0], [0.1, 0]], np.float32),
        "lists": np.array([[0, 10], [2, 99], [4, 10]], np.float32),
    }
    figures = answers_figures(replace(trained[0].answers, labels=labels), np.arange(3), predicted)
    # a: one squared error of 1 over deviations of 1 + 0 + 1; b does not deviate.
    assert figures["sizes"]["a"] == pytest.approx(0.5)
    assert math.isnan(figures["sizes"]["b"])
    # p: of two pairs one is in order; q has one class.
    assert figures["fires"] == 0.5
    # Deviations 4 + 0 + 4 about 2, and 1 + 1 about 11; one error of 2.
    assert figures["lists"] == pytest.approx(1 - 4 / 10)


# -- configuration -------------------------------------------------------------------------------------
def test_a_stage_without_its_trunk_is_refused(recipe: TeachingConfig, corpus: Corpus, tmp_path: Path) -> None:
    assert list(recipe.stages) == ["mlm", "compiler"]
    with pytest.raises(ConfigError, match=r"add \[taught\]"):
        TeachingTrainer(recipe.model_copy(update={"taught": None}), corpus, tmp_path)


def test_resuming_refuses_other_answers(recipe: TeachingConfig, corpus: Corpus, tmp_path: Path, trained: Any) -> None:
    other = write_answers(tmp_path, corpus, projects=5)[0]
    with pytest.raises(ConfigError, match="another"):
        TeachingTrainer(recipe.model_copy(update={"answers": other}), corpus, trained[0].folder).run(resume=True)
