"""Several processes, and processes that are killed: the same run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from small_answers import write_answers

from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.corpus.build import build_corpus

RUN = """
seed = 3
held_out_share = 0.3
checkpoint_every = 2
device = "cpu"
optimiser = "{optimiser}"
schedule = "{schedule}"

[mlm]
steps = 12
batch = 9
learning_rate = 1e-3
warmup = 2

[gae]
steps = 6
batch = 3
learning_rate = 1e-3

[igm]
steps = 6
batch = 5
learning_rate = 1e-3
"""
COMPILER = """
[taught]
width = 14
hidden = 18
dropout = 0

[answers]
corpus = "{answers.corpus}"
table = "{answers.table}"

[compiler]
steps = 6
batch = 7
learning_rate = 1e-3
"""
LOSSES = """
import json, sys
from mirenc.config import PretrainConfig, load_toml
from mirenc.pretraining.corpus import Corpus
from mirenc.pretraining.trainer import Trainer

losses = []
trainer = Trainer(
    PretrainConfig.from_dict(load_toml(sys.argv[1])), Corpus.load(sys.argv[2]), sys.argv[3],
    report=lambda step: losses.append((step.stage, step.loss)),
)
trainer.run()
if trainer.processes.first:
    open(sys.argv[4], "w").write(json.dumps(losses))
trainer.processes.close()
"""


@pytest.fixture(scope="module")
def stored(ir_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parallel")
    build_corpus(sorted(ir_folder.rglob("*.ll")), ir_folder, folder)
    assert len(Corpus.load(folder)) > 10
    return folder


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("schedule", ["sequential", "joint"])
def test_two_processes_have_the_losses_of_one(stored: Path, tmp_path: Path, schedule: str) -> None:
    """No batch divides by two (9, 3, 5 and 7): the shares are unequal, and the loss is still that of the batch."""
    config, script = tmp_path / "run.toml", tmp_path / "losses.py"
    # Muon rounds to bfloat16 on its way, which would hide a wrong share behind a wide tolerance.
    answers, _ = write_answers(tmp_path, Corpus.load(stored))
    config.write_text(RUN.format(optimiser="adamw", schedule=schedule) + COMPILER.format(answers=answers))
    script.write_text(LOSSES)
    found = {}
    for count, launcher in ((1, []), (2, ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"])):
        folder, result = tmp_path / f"run{count}", tmp_path / f"losses{count}.json"
        command = [sys.executable, *launcher, str(script), str(config), str(stored), str(folder), str(result)]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        found[count] = json.loads(result.read_text())
    assert [stage for stage, _ in found[1]] == [stage for stage, _ in found[2]]
    one, two = ([loss for _, loss in found[count]] for count in (1, 2))
    assert two == pytest.approx(one, rel=2e-4)
    assert len(set(one)) > 10


def test_kill_nine_and_resume(stored: Path, tmp_path: Path) -> None:
    """A real process, killed by a signal that nothing can catch: the same weights to the last bit."""
    config = tmp_path / "run.toml"
    config.write_text(RUN.format(optimiser="muon", schedule="sequential"))

    def command(folder: Path, *more: str) -> list[str]:
        arguments = [str(config), "-c", str(stored), "-o", str(folder), "--name", "model"]
        return [sys.executable, "-m", "mirenc", "pretrain", *arguments, *more]

    def final(folder: Path) -> dict[str, torch.Tensor]:
        state: dict[str, torch.Tensor] = torch.load(folder / "checkpoint.pt", weights_only=True)["model"]
        return state

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    done = subprocess.run(command(whole), env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    process = subprocess.Popen(command(killed), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (killed / "checkpoint.pt").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    done = subprocess.run(
        command(killed, "--resume"), env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    expected, found = final(whole), final(killed)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        assert torch.equal(value, found[name]), name
    assert (whole / "model" / "model.safetensors").read_bytes() == (killed / "model" / "model.safetensors").read_bytes()
