"""Several processes, and processes that are killed: the same run."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from short_runs import assert_same_weights
from small_answers import write_answers

from mirenc.cli import main
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.corpus.build import build_corpus

RUN = """
seed = 3
held_out_share = 0.3
checkpoint_every = 2
device = "cpu"
optimiser = "{optimiser}"
text = {{ hidden = 32, layers = 2, feed_forward = 48 }}
graph = {{ hidden = 24, out = 16 }}
mlm = {{ steps = 5, batch = 9, learning_rate = 1e-3, warmup = 2 }}
gae = {{ steps = 3, batch = 3, learning_rate = 1e-3 }}
igm = {{ steps = 3, batch = 5, learning_rate = 1e-3 }}
"""
COMPILER = """
taught = {{ width = 14, hidden = 18, dropout = 0 }}
answers = {{ corpus = "{answers.corpus}", table = "{answers.table}" }}
compiler = {{ steps = 3, batch = 7, learning_rate = 1e-3 }}
"""
# The losses of a run.
LOSSES = """
import json, sys
from pathlib import Path

from mirenc.base.config import load_toml
from mirenc.pretrain.corpus import Corpus
from teaching import TeachingConfig, TeachingTrainer

corpus, folder, config = map(Path, sys.argv[1:])
losses = []
trainer = TeachingTrainer(
    TeachingConfig.from_dict(load_toml(config)), Corpus.load(corpus), folder,
    report=lambda step: losses.append((step.stage, step.loss)),
)
trainer.run()
if trainer.processes.first:
    (folder / "losses.json").write_text(json.dumps(losses))
trainer.processes.close()
"""
RECIPES = str(Path(__file__).parents[2] / "pretrain")
Losses = list[tuple[str, float]]


@pytest.fixture(scope="module")
def stored(ir_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parallel")
    build_corpus(sorted(ir_folder.rglob("*.ll")), ir_folder, folder)
    assert len(Corpus.load(folder)) > 10
    return folder


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": RECIPES}


@pytest.fixture(scope="module")
def losses(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Losses, Losses]:
    """By one process, which is this one, and by two."""
    folder = tmp_path_factory.mktemp("losses")
    answers, _ = write_answers(folder, Corpus.load(stored))
    script = folder / "losses.py"
    script.write_text(LOSSES)
    config = folder / "run.toml"
    # Muon rounds to bfloat16 on its way, which would hide a wrong share behind a wide tolerance.
    config.write_text(RUN.format(optimiser="adamw") + COMPILER.format(answers=answers))
    one, two = ([str(script), str(stored), str(folder / count), str(config)] for count in ("one", "two"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", one)
        runpy.run_path(str(script))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *two]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    alone, together = (json.loads((folder / count / "losses.json").read_text()) for count in ("one", "two"))
    return alone, together


def test_two_processes_have_the_losses_of_one(losses: tuple[Losses, Losses]) -> None:
    """No batch divides by two (9, 3, 5 and 7): the shares are unequal, and the loss is still that of the batch."""
    alone, together = losses
    assert [stage for stage, _ in alone] == [stage for stage, _ in together]
    one, two = ([loss for _, loss in history] for history in (alone, together))
    assert two == pytest.approx(one, rel=2e-4)
    assert len(set(one)) == len(one) >= 8


def test_kill_nine_and_resume(stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real process, killed by a signal that nothing can catch: the same weights to the last bit."""
    config = tmp_path / "run.toml"
    config.write_text(RUN.format(optimiser="muon"))

    def command(folder: Path, *more: str) -> list[str]:
        arguments = [str(config), "-c", str(stored), "-o", str(folder), "--name", "model"]
        return [sys.executable, "-m", "mirenc", "pretrain", *arguments, *more]

    def run_here(folder: Path, *more: str) -> None:
        """In this process, which nobody kills."""
        monkeypatch.setattr(sys, "argv", command(folder, *more)[2:])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code

    uninterrupted, killed = tmp_path / "whole", tmp_path / "killed"
    run_here(uninterrupted)
    process = subprocess.Popen(command(killed), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (killed / "checkpoint.pt").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    run_here(killed, "--resume")
    expected, resumed = (
        torch.load(run / "checkpoint.pt", weights_only=True)["model"] for run in (uninterrupted, killed)
    )
    assert_same_weights(resumed, expected)
    assert (uninterrupted / "model" / "model.safetensors").read_bytes() == (
        killed / "model" / "model.safetensors"
    ).read_bytes()
