"""Distil a model's statement vectors into a small text encoder.

What you get: `OUT/model`, a packaged model whose text encoder gives the teacher's statement vectors (standardised), to
start a pre-training run from (`start_from`); and `OUT/figures.json`: configuration, seconds, how near the vectors are
on statements that only held-out projects have, and what encoding costs beside the teacher in the same run.
How long: the teacher's vectors 3 minutes of one core for 20,000 statements, kept in TARGETS and never made twice, also
not for a larger `count`; a step of 256 statements 0.35 s of one core. Stopped, the same command goes on.

    python pretrain/distil.py pretrain/distil.toml pretrain/shards TARGETS OUT

Statements: drawn without replacement by the square root of how many training modules have them, in one order, so that
a larger `count` adds to a smaller one. Loss: squared error and cosine distance to the teacher's standardised vectors,
and masked tokens on every eighth statement, so that the states of the tokens stay worth something to an MLM head.
A script and no objective of `mirenc pretrain`: it is made once for a teacher and has a file of targets that no other
objective needs; what it gives enters a run as weights do. Let that run have `mlm.steps = 0`: MLM by
itself moves the tokens' states and leaves behind the layers that make a vector of them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import BaseModel, ConfigDict, Field

from mirenc.base.config import load_toml
from mirenc.base.errors import ConfigError
from mirenc.base.progress import progress
from mirenc.base.writing import only_one
from mirenc.encoder.weights import ModelFiles, Source, ancestry, load_files, save_files, seen_by
from mirenc.model.config import ConvolutionConfig, ModelConfig, preset
from mirenc.model.mirencoder import MIREncoder
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.tokenizer import PAD
from mirenc.pretrain import checkpoint, encoding
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus
from mirenc.pretrain.evaluation import Baselines
from mirenc.pretrain.evaluation.mlm import evaluate_mlm
from mirenc.pretrain.objectives import mask_tokens, mlm_loss
from mirenc.pretrain.optimiser import Optimiser

HELD_OUT, SEED = 0.1, 0  # of the shipped recipes; as there, what the teacher or its ancestors saw is not held out
VALIDATION = 4000  # statements
TIMED = 1000  # of these: both encoders are timed on them, and a run is watched on them
STANDARDISED = 20000  # vectors that mean and spread are taken of
SLICE = 1000  # statements of the teacher between two that are safe
CHECKPOINT_EVERY = 200  # steps
NOTED = 20  # steps between two losses that are shown
POOL = 16  # batches that are drawn at once and sorted by length
MLM_EVERY, MLM_WEIGHT, MASK_SHARE = 8, 0.1, 0.25
LEAST_SPREAD = 1e-3  # of a component: one that never varies is left alone

Array = np.ndarray[Any, Any]


class Recipe(BaseModel):
    """One distillation; ``text``, where given, is another convolution than the preset's.

    ``held_out`` names projects to validate on; left out, they are drawn. None may be one that the teacher saw.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    teacher: str
    preset: Literal["fast"] = "fast"
    text: ConvolutionConfig | None = None
    held_out: tuple[str, ...] = ()
    count: int = Field(ge=1)
    steps: int = Field(ge=1)
    batch: int = Field(ge=8)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(ge=1)

    def student(self, teacher: ModelFiles) -> ModelConfig:
        """Architecture of the student.

        Raises
        ------
        ConfigError
            Its statement vectors are not as wide as the teacher's.
        """
        config = preset(self.preset)
        text = self.text or config.text
        if text.hidden != teacher.config.text.hidden:
            raise ConfigError(
                f"the student's statement vectors have {text.hidden} components, those of {teacher.name} "
                f"{teacher.config.text.hidden}. Set hidden = {teacher.config.text.hidden} under [text]"
            )
        return config.model_copy(update={"text": text, "tokenizer": teacher.config.tokenizer})


def choose(corpus: Corpus, train: Array, held_out: Array) -> tuple[Array, Array]:
    """Training statements in the order they are taken, and those to validate on, which no training project has."""
    spread, unseen = (spread_of(corpus, modules) for modules in (train, held_out))
    rng = np.random.default_rng([SEED, 1])
    validation = rng.permutation(np.flatnonzero((spread == 0) & (unseen > 0)))[:VALIDATION]
    rows = np.flatnonzero(spread)
    # Efraimidis and Spirakis 2006: the largest keys are a draw by weight, without replacement.
    keys = np.log(rng.random(len(rows))) / np.sqrt(spread[rows])
    return rows[np.argsort(-keys)], validation


def spread_of(corpus: Corpus, modules: Array) -> Array:
    """(U,) how many of some modules have each text as a statement."""
    count = np.zeros(len(corpus.text_length), dtype=np.int64)
    for module in modules.tolist():
        count[corpus[module].statement_row] += 1
    return count


def encode(runtime: NumpyRuntime, corpus: Corpus, rows: Array) -> Array:
    """Statement vectors. Shapes: (R,) -> (R, H) float32."""
    return runtime.encode_texts(corpus.padded_ids(rows).astype(np.uint16), corpus.text_length[rows].astype(np.int32))


def torch_model(files: ModelFiles, device: torch.device) -> MIREncoder:
    """A packaged model for torch, ready to encode."""
    model = MIREncoder(files.config).eval()
    model.load_state_dict({name: torch.tensor(value) for name, value in files.weights.items()})
    return model.to(device)


def targets(
    teacher: ModelFiles, corpus: Corpus, rows: Array, folder: Path, device: torch.device
) -> tuple[Array, float]:
    """(R, H) float16 vectors of the teacher, read from the folder as far as it has them; seconds spent on all so far.

    Raises
    ------
    ConfigError
        The folder's are of another teacher or corpus.
    """
    identity = {"teacher": teacher.digest, "corpus": corpus.digest}
    width = teacher.config.text.hidden
    path, record_file = folder / "targets.f16", folder / "targets.json"
    record = json.loads(record_file.read_text()) if record_file.exists() else identity | {"seconds": 0.0}
    if {key: record[key] for key in identity} != identity:
        raise ConfigError(f"{folder}: its vectors are of another teacher or corpus. Name another folder")
    stored_rows = path.stat().st_size // (2 * width) if path.exists() else 0
    model = torch_model(teacher, device)
    with progress(f"{teacher.name}'s vectors", max(0, len(rows) - stored_rows)) as advance, path.open("ab") as stream:
        stream.truncate(stored_rows * 2 * width)  # a slice that was cut off
        for first in range(stored_rows, len(rows), SLICE):
            start = time.monotonic()
            block = encoding.statement_vectors(model, corpus, rows[first : first + SLICE])
            stream.write(block.astype(np.float16).tobytes())
            stream.flush()
            record["seconds"] += time.monotonic() - start
            record_file.write_text(json.dumps(record) + "\n")
            advance(len(block))
    vectors = np.memmap(path, np.float16, "r", shape=(path.stat().st_size // (2 * width), width))
    return vectors[: len(rows)], record["seconds"]


def new_student(config: ModelConfig, teacher: ModelFiles) -> MIREncoder:
    """Random weights, but for the token embedding: the teacher's in its principal components."""
    torch.manual_seed(SEED)
    model = MIREncoder(config)
    table = teacher.weights["text.token.weight"].astype(np.float64)
    table -= table.mean(0)
    _, vectors = np.linalg.eigh(table.T @ table)  # ascending
    components = table @ vectors[:, ::-1][:, : config.text.token_width]
    with torch.no_grad():
        model.text.token.weight[:, : components.shape[1]] = torch.from_numpy(components).float()
    return model


@dataclass(frozen=True, eq=False)
class Targets:
    """Statements and the vectors that a student shall give them.

    Attributes
    ----------
    rows, held_rows : (N,) and (V,) int64
        Texts of the corpus: to train on, to validate on.
    vectors, held_vectors : (N, H) and (V, H) float16
        The teacher's.
    mean, spread : (H,) float32
        What standardises them.
    """

    rows: Array
    vectors: Array
    held_rows: Array
    held_vectors: Array
    mean: Array
    spread: Array

    @classmethod
    def split(cls, rows: Array, held_rows: Array, vectors: Array) -> Targets:
        """Of the vectors of the held-out rows, then of the others."""
        held_vectors, training = vectors[: len(held_rows)], vectors[len(held_rows) :]
        sample = training[np.random.default_rng([SEED, 5]).permutation(len(training))[:STANDARDISED]].astype(np.float32)
        return cls(rows, training, held_rows, held_vectors, sample.mean(0), np.maximum(sample.std(0), LEAST_SPREAD))

    def standardised(self, rows: Array) -> Array:
        """Targets of some training statements. Shapes: (B,) -> (B, H) float32."""
        vectors: Array = (self.vectors[rows].astype(np.float32) - self.mean) / self.spread
        return vectors

    def nearness(self, predicted: Array, targets: Array) -> dict[str, float]:
        """Cosines of a student's vectors with the teacher's, both about the mean of the training statements."""
        student, teacher = predicted * self.spread, targets.astype(np.float32) - self.mean
        cosine = (student * teacher).sum(1) / (np.linalg.norm(student, axis=1) * np.linalg.norm(teacher, axis=1))
        return {"statements": len(cosine), "mean": float(cosine.mean()), "p5": float(np.quantile(cosine, 0.05))}


class Distillation:
    """The training loop: every step draws by (seed, step), so that a resumed run is the run it would have been.

    Parameters
    ----------
    recipe : Recipe
    model : MIREncoder
    corpus : Corpus
    teacher : Targets
    device : torch.device
    """

    def __init__(
        self, recipe: Recipe, model: MIREncoder, corpus: Corpus, teacher: Targets, device: torch.device
    ) -> None:
        self.recipe, self.model, self.corpus, self.teacher = recipe, model.to(device), corpus, teacher
        self.device = device
        stage = {"steps": recipe.steps, "batch": recipe.batch, "learning_rate": recipe.learning_rate}
        self.optimiser = Optimiser([model.text, model.mlm], PretrainConfig.from_dict({"mlm": stage}))
        self.done, self.seconds = 0, 0.0
        self.last_pool = -1, np.zeros((0, 0), np.int64)  # the last pool and its number

    def batch(self, step: int) -> Array:
        """(B,) places of a step's statements, of similar length; every statement once before any comes again."""
        if self.last_pool[0] != step // POOL:
            self.last_pool = step // POOL, self.pool(step // POOL)
        chosen: Array = self.last_pool[1][step % POOL]
        return chosen

    def pool(self, number: int) -> Array:
        """(POOL, B) places of the statements of some steps in a row."""
        size, count = self.recipe.batch * POOL, len(self.teacher.rows)
        places = np.arange(number * size, (number + 1) * size)
        pool = np.empty_like(places)
        for epoch in range(places[0] // count, places[-1] // count + 1):
            in_epoch = places // count == epoch
            pool[in_epoch] = np.random.default_rng([SEED, 2, epoch]).permutation(count)[places[in_epoch] % count]
        pool = pool[np.argsort(self.corpus.text_length[self.teacher.rows[pool]], kind="stable")]
        batches: Array = pool.reshape(POOL, -1)[np.random.default_rng([SEED, 3, number]).permutation(POOL)]
        return batches

    def loss(self, step: int) -> torch.Tensor:
        """Squared error, cosine distance, and masked tokens of some."""
        places = self.batch(step)
        ids = self.corpus.padded_ids(self.teacher.rows[places])
        ids = np.pad(ids, ((0, 0), (0, -ids.shape[1] % 4)), constant_values=PAD)
        target = torch.from_numpy(self.teacher.standardised(places)).to(self.device)
        masked_source = ids[::MLM_EVERY]
        rng = np.random.default_rng([SEED, 4, step])
        masked, chosen = mask_tokens(masked_source, rng, vocab_size=self.corpus.tokenizer.vocab_size, share=MASK_SHARE)
        with torch.autocast(self.device.type, torch.bfloat16):
            predicted = self.model.text.encode(torch.from_numpy(ids).to(self.device))
            tensors = [torch.from_numpy(array).to(self.device) for array in (masked_source, masked, chosen)]
            tokens = mlm_loss(self.model, *tensors, total=int(chosen.sum()))
        predicted = predicted.float()
        distance = F.mse_loss(predicted, target) + (1 - F.cosine_similarity(predicted, target)).mean()
        return distance + MLM_WEIGHT * tokens

    def run(self, folder: Path, identity: dict[str, Any]) -> None:
        """Train to the end, from the folder's checkpoint if there is one."""
        path = folder / "checkpoint.pt"
        if not path.exists():
            (folder / "config.json").write_text(json.dumps(identity, indent=1) + "\n")
        else:
            state = checkpoint.read(path, identity, device=self.device)
            self.model.load_state_dict(state["model"])
            self.optimiser.load(state["optimiser"])
            self.done, self.seconds = state["done"], state["seconds"]
        self.model.train()
        note = ""
        with progress("distilling", self.recipe.steps - self.done) as advance:
            for step in range(self.done, self.recipe.steps):
                start = time.monotonic()
                loss = self.loss(step)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.optimiser.parameters, 1.0)
                self.optimiser.step(self.recipe.learning_rate * self.rate(step))
                self.done, self.seconds = step + 1, self.seconds + time.monotonic() - start
                if step % NOTED == 0:  # asking waits for a GPU
                    note = f"loss {float(loss.detach()):.3f}"
                advance(note=note)
                if self.done % CHECKPOINT_EVERY == 0 or self.done == self.recipe.steps:
                    state = {"model": self.model.state_dict(), "optimiser": self.optimiser.state()}
                    checkpoint.write(path, identity | state | {"done": self.done, "seconds": self.seconds})
                    line = {"step": self.done, "seconds": round(self.seconds, 1), "held_out": self.held_out()}
                    with (folder / "metrics.jsonl").open("a") as stream:
                        stream.write(json.dumps(line) + "\n")
        self.model.eval()

    def held_out(self) -> dict[str, float]:
        """How near the vectors are now, on some of the statements to validate on."""
        predicted = encoding.statement_vectors(self.model, self.corpus, self.teacher.held_rows[:TIMED])
        return self.teacher.nearness(predicted, self.teacher.held_vectors[:TIMED])

    def rate(self, step: int) -> float:
        """Share of the peak learning rate: linear warm-up, cosine decay to a tenth."""
        if step < self.recipe.warmup:
            return (step + 1) / self.recipe.warmup
        share = (step - self.recipe.warmup) / max(1, self.recipe.steps - self.recipe.warmup)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * share))


def cost(runtimes: dict[str, NumpyRuntime], corpus: Corpus, rows: Array) -> dict[str, float]:
    """Seconds each runtime takes for the same statements, the better of two turns, and how many times as fast."""
    seconds = dict.fromkeys(runtimes, math.inf)
    for _ in range(2):
        for name, runtime in runtimes.items():
            start = time.perf_counter()
            encode(runtime, corpus, rows)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds | {"statements": len(rows), "times": seconds["teacher"] / seconds["student"]}


def distil(
    recipe: Recipe, corpus: Corpus, target_folder: Path, out: Path, device: torch.device, threads: int
) -> dict[str, Any]:
    """The whole way; returns what `figures.json` has.

    Raises
    ------
    ConfigError
        The corpus has another tokenizer than the teacher, or a folder belongs to another run.
    """
    teacher = load_files(recipe.teacher)
    config = recipe.student(teacher)
    if corpus.tokenizer.to_json() != teacher.tokenizer.to_json():
        raise ConfigError(f"the corpus was not built with the tokenizer of {teacher.name}. Build it with --tokenizer")
    torch.set_num_threads(threads)
    ancestors = ancestry(teacher.name, teacher.folder)
    train, held_out = corpus.split(HELD_OUT, SEED, seen=seen_by(ancestors), named=recipe.held_out)
    ordered, validation = choose(corpus, train, held_out)
    rows = ordered[: recipe.count]
    with only_one(target_folder):
        all_rows = np.concatenate([validation, rows])
        vectors, teacher_seconds = targets(teacher, corpus, all_rows, target_folder, device)
    truth = Targets.split(rows, validation, vectors)
    training = Distillation(recipe, new_student(config, teacher), corpus, truth, device)
    identity = {"recipe": recipe.model_dump(), "teacher": teacher.digest, "corpus": corpus.digest}
    with only_one(out):
        training.run(out, identity)
        weights = {name: value.cpu().numpy() for name, value in training.model.state_dict().items()}
        source = Source(
            "distilled", "distillation", tuple(sorted({corpus.projects[module] for module in train.tolist()}))
        )
        folder = save_files(
            out / "model",
            name="distilled",
            config=config,
            tokenizer=teacher.tokenizer,
            weights=weights,
            provenance=(*ancestors, source),
        )
    student = load_files(folder)  # rounded to float16, as a run starts from it
    runtimes = {
        name: NumpyRuntime(files.config, files.weights, threads=threads)
        for name, files in (("teacher", teacher), ("student", student))
    }
    model = torch_model(student, torch.device("cpu"))
    baselines = Baselines.fit(corpus, train)
    sample = np.random.default_rng([SEED, 6]).permutation(len(rows))[:VALIDATION]
    return {
        **identity,
        "held_out": truth.nearness(encode(runtimes["student"], corpus, validation), truth.held_vectors),
        "training": truth.nearness(encode(runtimes["student"], corpus, rows[sample]), truth.vectors[sample]),
        "mlm": evaluate_mlm(model, corpus, validation, baselines),
        "seconds": {"teacher's vectors": teacher_seconds, "training": training.seconds},
        "epochs": recipe.steps * recipe.batch / len(rows),
        "device": device.type,
        "threads": threads,
        "encoding": cost(runtimes, corpus, validation[:TIMED]),
    }


def main() -> None:
    """Distil, or go on with it, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("recipe", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("targets", type=Path, help="folder of the teacher's vectors; several students may share it")
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    for folder in (args.targets, args.out):
        folder.mkdir(parents=True, exist_ok=True)
    recipe = Recipe.model_validate(load_toml(args.recipe))
    figures = distil(recipe, Corpus.load(args.corpus), args.targets, args.out, torch.device(args.device), args.threads)
    (args.out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({key: figures[key] for key in ("held_out", "training", "mlm", "seconds", "encoding")}, indent=1))


if __name__ == "__main__":
    main()
