"""The recipe `pretrain/teaching_study.py`, which is no package: loaded by its path, on a run in miniature."""

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from kept_features import read_kept
from small_answers import write_answers
from small_compiled import ir_of
from teaching import TeachingConfig, TeachingTrainer

from mirenc.decide.tables.compiled import hash_of_ir
from mirenc.llvm import parse_ir
from mirenc.model.config import DirectedGraphConfig
from mirenc.model.data import IRData
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import module_pools
from mirenc.model.sample import make_sample
from mirenc.model.torch_layers import GraphEncoder, Neighbours, TorchLayers
from mirenc.pretrain.corpus import Corpus

RECIPE = "teaching_study"


@pytest.fixture(scope="module")
def recipe(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run of a few steps, as a recipe's file has it."""
    answers, _ = write_answers(tmp_path_factory.mktemp("answers"), corpus)
    stage = {"batch": 4, "learning_rate": 3e-3, "warmup": 2}
    return {
        "held_out_share": 0.3,
        "preset": "fast",
        "text": {"kind": "convolution", "embedding": 12, "channels": 16, "layers": 1, "feed_forward": 24, "hidden": 20},
        "graph": {"kind": "directed", "hidden": 16, "out": 10, "readout": "mean-max-sum", "statements": True},
        "taught": {"width": 14, "hidden": 18},
        "answers": {"corpus": answers.corpus, "table": answers.table},
        "mlm": {**stage, "steps": 1},
        "gae": {**stage, "steps": 1},
        "igm": {**stage, "steps": 1},
        "compiler": {**stage, "steps": 2},
    }


def test_each_variant_lacks_what_its_name_says(script: ModuleType, recipe: dict[str, Any]) -> None:
    def config(name: str) -> TeachingConfig:
        values = {**recipe, "start_from": "a-model", "igm": dict(recipe["igm"])}
        script.VARIANTS[name](values)
        return TeachingConfig.from_dict(values)

    complete = config("whole")
    assert complete.taught is not None
    assert config("no compiler").taught is None
    assert (config("no compiler").compiler.steps, config("no compiler").igm.steps) == (0, 3)
    assert config("no distillation").start_from is None
    assert config("no distillation").mlm.steps == 700
    assert config("no direction").graph.positions is False
    assert config("no sums").graph.readout == "mean"
    assert config("only fires").answers.kinds == ("fires",)
    assert config("without fires").answers.kinds == ("sizes", "lists")
    # Nothing else differs.
    assert config("no sums").model_copy(update={"graph": complete.graph}) == complete
    assert config("only sizes").model_copy(update={"answers": complete.answers}) == complete
    assert recipe["igm"]["steps"] == 1


def test_without_direction_an_edge_is_the_same_both_ways_and_only_then(script: ModuleType) -> None:
    index, flow = torch.tensor([[0, 1, 2], [1, 2, 0]]), torch.tensor([0, 1, 2])
    position = torch.tensor([0, 1, 0])
    config = DirectedGraphConfig(hidden=8, out=8)
    encoder = GraphEncoder(config, config.declare(8, 8))

    def heard(edges: torch.Tensor) -> list[tuple[int, int, int]]:
        seen: list[Neighbours] = []
        original = TorchLayers.neighbours
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TorchLayers, "neighbours", lambda *arguments: seen.append(original(*arguments)) or seen[-1])
            zeros = torch.zeros(3, dtype=torch.int64)
            data = IRData(
                node_kind=zeros, node_argument=zeros, edge_index=edges, edge_flow=flow, edge_position=position
            )
            encoder(data, torch.zeros(3, 8))
        near = seen[0]
        relation = torch.repeat_interleave(torch.arange(len(near.sizes)), torch.tensor(near.sizes))
        pairs = zip(near.source.tolist(), near.pair.tolist(), strict=True)
        return sorted((source, int(near.node[pair]), int(relation[pair])) for source, pair in pairs)

    assert heard(index) != heard(index.flip(0))
    with script.as_variant("no direction"):
        assert heard(index) == heard(index.flip(0))
        assert {relation for *_, relation in heard(index)} == {0, 2, 6}
    assert heard(index) != heard(index.flip(0))


def test_features_are_those_of_the_trained_model(
    script: ModuleType, recipe: dict[str, Any], corpus: Corpus, tmp_path: Path
) -> None:
    trainer = TeachingTrainer(TeachingConfig.from_dict(recipe), corpus, tmp_path)
    trainer.run()
    features = script.features_of(trainer, trainer.answers, "whole-0")
    state = {name: value.numpy() for name, value in trainer.model.state_dict().items()}
    runtime = NumpyRuntime(trainer.model_config, state)
    row_of = {name: row for row, name in enumerate(features.hashes.tolist())}
    for piece in (0, 5, 23):
        sample = make_sample(parse_ir(ir_of(piece)), corpus.tokenizer)
        pools = module_pools(sample, trainer.model_config.pooling.weighting)
        expected, row = runtime.forward(sample, pools), row_of[hash_of_ir(ir_of(piece))]
        text = np.concatenate([expected.text[0], np.log1p(pools.counts(sample.node_kind)[0])])
        for name, value in (("text", text), ("graph", expected.graph[0]), ("taught", expected.taught[0])):
            np.testing.assert_allclose(features.parts[name][row], value, rtol=1e-4, atol=1e-4)


def test_a_study_is_run_once_and_becomes_a_table(
    script: ModuleType,
    recipe: dict[str, Any],
    corpus: Corpus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    toml = tmp_path / "recipe.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in recipe.items() if not isinstance(value, dict)]
    for key, part in recipe.items():
        if isinstance(part, dict):
            lines += [f"[{key}]", *(f"{name} = {json.dumps(value)}" for name, value in part.items())]
    toml.write_text("\n".join(lines))
    study = tmp_path / "study"
    chosen = [word for name in ("whole", "no compiler", "no direction") for word in ("--variant", name)]
    command = ["teaching_study.py", str(toml), "corpus", "-o", str(study), "--seeds", "1", *chosen]
    monkeypatch.setattr(script, "Corpus", SimpleNamespace(load=lambda folder: corpus))
    monkeypatch.setattr(sys, "argv", command)
    script.main()
    names = {path.stem for path in study.glob("*.json")}
    assert names == {"whole-1", "no_compiler-1", "no_direction-1"}
    assert set(read_kept(study / "features" / "whole-1.npz").parts) == {"text", "graph", "taught"}
    assert set(read_kept(study / "features" / "no_compiler-1.npz").parts) == {"text", "graph"}
    monkeypatch.setattr(script, "run", pytest.fail)
    script.main()  # all is there
    heads = {"figures": {"both": {"mape": 0.25}, "both:no_direction-1": {"mape": 0.5}, "both:whole-1": {"mape": 0.125}}}
    (study / "heads").mkdir()
    (study / "heads" / "size_after.Oz.held_out.json").write_text(json.dumps(heads))
    monkeypatch.setattr(sys, "argv", ["teaching_study.py", "--table", str(study)])
    capsys.readouterr()
    script.main()
    table = capsys.readouterr().out
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("|")}
    assert "size_after Oz, MAPE" in rows["Variant"]
    for name, mape in (("whole", "0.125"), ("no compiler", "0.250"), ("no direction", "0.500")):
        assert rows[name].endswith(f"{mape} ± 0.000 |")
        matching = json.loads((study / f"{name.replace(' ', '_')}-1.json").read_text())["matching, random"]
        assert f"{matching:.3f} ± 0.000" in rows[name]
