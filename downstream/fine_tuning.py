"""Frozen against fine-tuned: what training the encoders on a task adds to its score and its cost (paper, Table 9).

On the first folds grouped by kernel source one head of three linear layers is trained twice, from the same first
weights, on the same batches, for as many epochs:

- frozen: on vectors embedded once, beside the context features; the model is not touched;
- fine-tuned: on the live model. Text encoder, graph encoder and token embedding move too, at a smaller learning rate
  and with clipped gradients; pooling, whitening and the columns' means and scales stay those of the frozen model.

Held-out accuracy is that of the last epoch, so nothing is chosen on the test rows; it is recorded after every epoch,
because equal epochs need not be equal chances. Seconds are of training alone, reading IR and measuring left out.

    MIRENC_DATA=... python downstream/fine_tuning.py device_mapping --model mirenc-base --folds 10 --epochs 20

writes downstream/<task>/fine_tuning.<model>.json, again after each fold.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

import mirenc
from mirenc.decide.metrics import decision_figures, group_interval
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder
from mirenc.encoder.encoding import join_samples
from mirenc.model.data import sample_data
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.pooling import Pools, module_pools
from mirenc.model.sample import IRSample, make_sample

Rows = NDArray[np.int64]
HIDDEN = (128, 64)
BATCH = 32  # rows a step; kernels embedded at once
HEAD_RATE = 1e-3
ENCODER_RATE = 5e-5
ENCODER_DECAY = 0.01
CLIP = 1.0  # norm of the encoders' gradient
ARMS = ("frozen", "fine_tuned")


def clocks() -> NDArray[np.float64]:
    """Wall-clock and processor seconds: on a busy machine they part. (2,)."""
    return np.array([time.perf_counter(), time.process_time()])


def read_kernels(encoder: Encoder, pieces: Sequence[Any]) -> list[tuple[IRSample, Pools]]:
    """Read some IR for a model's tokenizer and pooling."""
    samples = [make_sample(encoder.read(piece), encoder.tokenizer) for piece in pieces]
    return [(sample, module_pools(sample, encoder.files.config.pooling.weighting)) for sample in samples]


class LiveModel(nn.Module):
    """A model's encoders and its whitening maps, differentiable from end to end."""

    def __init__(self, model: MIREncoder, kernels: list[tuple[IRSample, Pools]]) -> None:
        super().__init__()
        self.model = model
        self.kernels = kernels

    def forward(self, chosen: Sequence[int]) -> Tensor:
        """Vectors of some kernels as `mirenc.Encoder.embed(form="plain")` gives them: B numbers -> (B, H + d)."""
        samples, pools = zip(*(self.kernels[number] for number in chosen), strict=True)
        encoded = self.model(sample_data(*join_samples(samples, pools)))
        return torch.cat([self.model.whiten_text(encoded.text), self.model.whiten_graph(encoded.graph)], 1)


@torch.no_grad()
def embed(live: LiveModel, chosen: Sequence[int]) -> Tensor:
    """Vectors without gradients, some kernels at a time. Shapes: B numbers -> (B, H + d)."""
    return torch.cat([live(chosen[start : start + BATCH]) for start in range(0, len(chosen), BATCH)])


@dataclass(frozen=True, eq=False)
class Table:
    """What both arms learn from: n rows, K kernels."""

    context: Tensor  # (n, A) float32
    kernel: Rows  # (n,) its kernel
    data: TaskData
    labels: Tensor  # (n,) setting of least cost
    vectors: Tensor  # (K, H + d) float32, of the frozen model

    def frozen_rows(self, rows: Rows) -> Tensor:
        """Context features beside frozen vectors. (m,) -> (m, A + D)."""
        return torch.cat([self.context[rows], self.vectors[self.kernel[rows]]], 1)

    def live_rows(self, live: LiveModel, rows: Rows) -> Tensor:
        """Context features beside vectors of the live model; a kernel is encoded once a batch. (m,) -> (m, A + D)."""
        kernels, inverse = np.unique(self.kernel[rows], return_inverse=True)
        return torch.cat([self.context[rows], live(kernels.tolist())[inverse]], 1)


class Head(nn.Module):
    """The paper's three linear layers; columns are standardised by the frozen training rows, (m, A + D)."""

    mean: Tensor
    scale: Tensor

    def __init__(self, rows: Tensor, settings: int) -> None:
        super().__init__()
        scale = rows.std(0, correction=0)
        self.register_buffer("mean", rows.mean(0))
        self.register_buffer("scale", torch.where(scale > 0, scale, 1.0))
        sizes = list(pairwise((rows.shape[1], *HIDDEN, settings)))
        layers = [layer for size in sizes for layer in (nn.Linear(*size), nn.ReLU())]
        self.layers = nn.Sequential(*layers[:-1])

    def forward(self, rows: Tensor) -> Tensor:
        """Scores. Shapes: (m, A + D) -> (m, settings)."""
        scores: Tensor = self.layers((rows - self.mean) / self.scale)
        return scores


def train(
    table: Table,
    training: Rows,
    live: LiveModel | None,
    *,
    epochs: int,
    seed: int,
    encoder_rate: float,
    after_epoch: Callable[[Head, float], None],
) -> tuple[Head, NDArray[np.float64]]:
    """Train a head on the frozen vectors; if there is a live model, on its vectors, and the model too.

    The seed decides the head's first weights and the batches, alike in both
    arms. ``after_epoch`` is called with the head and the mean training loss; what it takes is not counted in the
    seconds that are returned beside the head.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    head = Head(table.frozen_rows(training), table.data.width)
    # Without decay AdamW is Adam: the head's rule is the same in both arms.
    groups: list[dict[str, Any]] = [{"params": list(head.parameters()), "lr": HEAD_RATE, "weight_decay": 0.0}]
    tuned = [] if live is None else [*live.model.text.parameters(), *live.model.graph.parameters()]
    if tuned:
        groups.append({"params": tuned, "lr": encoder_rate, "weight_decay": ENCODER_DECAY})
    optimiser = torch.optim.AdamW(groups)
    spent = np.zeros(2)
    for _ in range(epochs):
        start = clocks()
        total = 0.0
        order = rng.permutation(training)
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            inputs = table.frozen_rows(rows) if live is None else table.live_rows(live, rows)
            loss = F.cross_entropy(head(inputs), table.labels[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            if tuned:
                nn.utils.clip_grad_norm_(tuned, CLIP)
            optimiser.step()
            total += loss.item() * len(rows)
        spent += clocks() - start
        after_epoch(head, total / len(order))
    return head, spent


def measure_arm(arm: str, table: Table, live: LiveModel, training: Rows, test: Rows, **options: Any) -> dict[str, Any]:
    """One arm on one fold: choices of the test rows, losses and held-out accuracies by epoch, seconds."""
    needed, place = np.unique(table.kernel[test], return_inverse=True)
    frozen = arm == "frozen"
    curve: dict[str, list[float]] = {"loss_by_epoch": [], "accuracy_by_epoch": []}

    @torch.no_grad()
    def choose(head: Head, *, is_frozen: bool) -> Rows:
        vectors = table.vectors[table.kernel[test]] if is_frozen else embed(live, needed.tolist())[place]
        choice = table.data.default.copy()
        choice[test] = head(torch.cat([table.context[test], vectors], 1)).argmax(1).numpy()
        return table.data.resolve(choice)[test]

    def after_epoch(head: Head, loss: float) -> None:
        accuracy = float(np.mean(choose(head, is_frozen=frozen) == table.labels[test].numpy()))
        curve["loss_by_epoch"].append(round(loss, 5))
        curve["accuracy_by_epoch"].append(round(accuracy, 5))
        print(f"  {arm}, epoch {len(curve['loss_by_epoch'])}: loss {loss:.4f}, held out {accuracy:.3f}", flush=True)

    seconds = {}
    head, seconds["training"] = train(table, training, None if frozen else live, after_epoch=after_epoch, **options)
    start = clocks()
    choices = choose(head, is_frozen=False)  # a new kernel must be embedded in either arm
    seconds["inference"] = clocks() - start
    return {
        "choices": choices.tolist(),
        **curve,
        **{f"{stage}_seconds": round(float(wall), 4) for stage, (wall, _) in seconds.items()},
        **{f"{stage}_cpu_seconds": round(float(cpu), 4) for stage, (_, cpu) in seconds.items()},
    }


def figures(data: TaskData, folds: list[dict[str, Any]], embedding_seconds: list[float]) -> dict[str, Any]:
    """Each arm and their difference: means over folds, but for intervals and ``pooled``, which are over all test rows.

    ``training_ratio_with_embedding`` charges the one embedding of all kernels to every frozen fold.
    """
    rows = np.concatenate([fold["test"] for fold in folds])
    out: dict[str, Any] = {}
    hits: dict[str, NDArray[np.float64]] = {}
    for arm in ARMS:
        runs = [fold[arm] for fold in folds]
        choice = np.concatenate([record["choices"] for record in runs])
        hits[arm] = (choice == data.labels[rows]).astype(np.float64)
        accuracies = [record["accuracy_by_epoch"][-1] for record in runs]
        out[arm] = {
            "accuracy": float(np.mean(accuracies)),  # mean over folds
            "accuracy_sd": float(np.std(accuracies, ddof=1)) if len(folds) > 1 else 0.0,
            "accuracy_interval": group_interval(hits[arm], data.group[rows]),
            "accuracy_by_epoch": np.mean([record["accuracy_by_epoch"] for record in runs], axis=0).tolist(),
            "loss_by_epoch": np.mean([record["loss_by_epoch"] for record in runs], axis=0).tolist(),
            "pooled": decision_figures(data.known[rows], choice, data.baseline[rows]),
            **{key: float(np.mean([record[key] for record in runs])) for key in runs[0] if key.endswith("seconds")},
        }
    frozen, tuned = (out[arm]["training_seconds"] for arm in ARMS)
    difference = hits["fine_tuned"] - hits["frozen"]
    out["embedding_seconds"], out["embedding_cpu_seconds"] = embedding_seconds
    out["gain"] = out["fine_tuned"]["accuracy"] - out["frozen"]["accuracy"]
    out["pooled_gain"] = float(difference.mean())
    out["pooled_gain_interval"] = group_interval(difference, data.group[rows])
    out["training_ratio"] = tuned / frozen
    out["training_cpu_ratio"] = out["fine_tuned"]["training_cpu_seconds"] / out["frozen"]["training_cpu_seconds"]
    out["training_ratio_with_embedding"] = tuned / (frozen + embedding_seconds[0])
    return out


def measure(arguments: argparse.Namespace, write: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Both arms on the first folds; ``write`` gets the record after each."""
    task = mirenc.get_task(arguments.task_file or arguments.task)
    protocol, variant = task.protocol("kernel"), task.check_variant(arguments.variant)
    data = task.load(arguments.data, variant)
    encoder = mirenc.load(arguments.model, backend="torch", cache=False)
    model: MIREncoder = encoder.runtime.model  # type: ignore[attr-defined]  # the torch runtime has one
    pieces, kernel = data.distinct_code
    kernels = read_kernels(encoder, [ir for ir, _ in pieces])
    start = clocks()
    vectors = embed(LiveModel(model, kernels), range(len(pieces)))
    embedding_seconds = np.round(clocks() - start, 3).tolist()
    print(f"{len(pieces)} kernels embedded in {embedding_seconds[0]} s", flush=True)
    context = np.array([task.context.encode(sample.context) for sample in data.samples], dtype=np.float32)
    table = Table(torch.from_numpy(context), kernel, data, torch.from_numpy(data.labels), vectors)
    record: dict[str, Any] = {
        "mirenc_version": mirenc.__version__,
        "task": task.name,
        "variant": variant,
        "protocol": protocol.title,
        "data_hash": data.content_hash,
        "model": {"name": encoder.name, "digest": encoder.files.digest},
        "epochs": arguments.epochs,
        "threads": torch.get_num_threads(),
        "rates": {"head": HEAD_RATE, "encoder": arguments.encoder_rate},
        "settings": {"encoder_decay": ENCODER_DECAY, "batch": BATCH, "hidden": list(HIDDEN), "clip": CLIP},
        "figures": {},
        "folds": [],
    }
    options = {"epochs": arguments.epochs, "encoder_rate": arguments.encoder_rate}
    splits = ((seed, *fold) for seed in count() for fold in protocol.split(data, seed))
    for number, (seed, training, test) in enumerate(islice(splits, arguments.folds)):
        print(
            f"fold {number + 1} of {arguments.folds}: {len(training)} training rows, {len(test)} test rows", flush=True
        )
        fold: dict[str, Any] = {"split_seed": seed, "training_seed": number, "test": test.tolist()}
        for arm in ARMS:
            live = LiveModel(copy.deepcopy(model), kernels)
            fold[arm] = measure_arm(arm, table, live, training, test, seed=number, **options)
        record["folds"].append(fold)
        record["figures"] = figures(data, record["folds"], embedding_seconds)
        write(record)
    return record


def table_text(record: dict[str, Any]) -> str:
    """The record as Markdown."""
    figures = record["figures"]
    title = f"{record['task']} {record['variant']}, {record['model']['name']}: {record['protocol']}"
    extent = f"{len(record['folds'])} folds, {record['epochs']} epochs, {record['threads']} threads"
    columns = "| Arm | accuracy ± sd of folds | training, s | inference, s |"
    lines = [f"{title}, {extent}", "", columns, "|---|---|---|---|"]
    for arm in ARMS:
        values = figures[arm]
        accuracy = f"{100 * values['accuracy']:.1f} ± {100 * values['accuracy_sd']:.1f}"
        lines.append(f"| {arm} | {accuracy} | {values['training_seconds']:.2f} | {values['inference_seconds']:.2f} |")
    low, high = (100 * bound for bound in figures["pooled_gain_interval"])
    over_rows = f"over rows {100 * figures['pooled_gain']:+.1f} [{low:+.1f}, {high:+.1f}] (95 %, over kernels)"
    lines += ["", f"fine_tuned - frozen: {100 * figures['gain']:+.1f} points, mean of folds; {over_rows}"]
    ratio = f"{figures['training_ratio']:.0f} (processor time: {figures['training_cpu_ratio']:.0f})"
    embedding = f"with {figures['embedding_seconds']:.1f} s of embedding {figures['training_ratio_with_embedding']:.1f}"
    lines.append(f"seconds of training, fine_tuned / frozen: {ratio}; {embedding}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, write after each fold, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", default="device_mapping")
    parser.add_argument("--task-file", type=Path, help="a task of your own; the file is executed")
    parser.add_argument("--data")
    parser.add_argument("--variant", default="", help="[default: the task's first]")
    parser.add_argument("--model", default="mirenc-base")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--encoder-rate", type=float, default=ENCODER_RATE, help="learning rate of the encoders")
    parser.add_argument("--threads", type=int, default=1, help="torch's; part of the record")
    parser.add_argument("--output", type=Path, help="folder [default: downstream/TASK]")
    parsed = parser.parse_args(arguments)
    if min(parsed.folds, parsed.epochs, parsed.threads) < 1:
        parser.error("--folds, --epochs and --threads take a whole number from 1 up")
    torch.set_num_threads(parsed.threads)

    def write(record: dict[str, Any]) -> None:
        folder = parsed.output or Path(__file__).parent / record["task"]
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record) + "\n"
        (folder / f"fine_tuning.{record['model']['name']}.json").write_text(text, encoding="utf-8")

    print(table_text(measure(parsed, write)))


if __name__ == "__main__":
    main()
