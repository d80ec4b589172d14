"""Tasks over a table of `mirenc label`: sizes, the benefit of -Oz, which passes fire, the best pass list.

A sample is a piece: a function that was compiled by itself, or a module. Sizes are exact, so tables have no noise.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.errors import TaskError
from mirenc.decide.context import Context, Feature
from mirenc.decide.estimators.chooser import portfolio
from mirenc.decide.prediction import PredictedLabels, PredictedNumber
from mirenc.decide.protocols import Protocol
from mirenc.decide.sample import Sample
from mirenc.decide.settings import Space
from mirenc.decide.tables.compiled import MAKE_ONE, CompiledTable, Piece, read_compiled, read_piece_ir
from mirenc.decide.task import Task
from mirenc.decide.task_data import TaskData
from mirenc.llvm import Dialect, IRModule, Region, parse_ir
from mirenc.llvm.inputs.languages import LANGUAGE_FLAGS
from mirenc.llvm.passes.extract import extract_functions

_FLAGS = ("-Oz", "-Xclang", "-disable-llvm-passes")
# What -Oz begins with: every function marked minsize and optsize, and no pass run.
BEFORE_OZ = Dialect(
    title="IR of -Oz before any pass",
    flags={language: (*language_flags, *_FLAGS) for language, language_flags in LANGUAGE_FLAGS.items()},
)
HELD_OUT = Protocol(
    "held_out", "trained on some projects, tested on projects held out", lambda data: data.group, over="held_out"
)
_PROJECT = Protocol(
    "project", "5 folds of whole projects, without those held out", lambda data: data.group, folds=5, over="rest"
)
_LEVELS = ("function", "module")


def _count_and_level(module: IRModule, region: Region | None) -> Mapping[str, Any]:
    if region is None:
        return {"instructions": module.instruction_count, "level": "module"}
    header = module.function(region.symbol).header
    return {"instructions": header.last - header.first, "level": "function"}


class CompiledTask(Task):
    """A task whose labels come from a compiler; subclasses take them from a table (`data_of`)."""

    labels_from = "compiled"
    source = "this project's own compilations (mirenc label)"
    context = Context(
        Feature("instructions", "a whole number from 1 up, before any pass", least=1, whole=True, known_from="ir"),
        Feature("level", ", ".join(_LEVELS), allowed=_LEVELS, known_from="ir"),
        encode=lambda context: [np.log(context[0]), float(context[1] == "module")],
        from_ir=_count_and_level,
    )
    level = "function"
    other_levels = ("module",)
    dialect = BEFORE_OZ
    protocols = (HELD_OUT, _PROJECT)

    def load(self, data_dir: str | Path | None = None, variant: str = "") -> TaskData:
        """Read a table; its samples have code where the IR is beside it."""
        if data_dir is None:
            raise TaskError(f"{self.name} needs a table of passes. {MAKE_ONE}")
        table = read_compiled(data_dir)
        has_code = (Path(data_dir) / "ir.parquet").exists()
        texts = read_piece_ir(data_dir, table.pieces) if has_code else [None] * len(table.pieces)
        samples = [_sample(piece, text) for piece, text in zip(table.pieces, texts, strict=True)]
        return self.data_of(table, samples, self.check_variant(variant))

    def data_of(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        """The samples, one a piece, with the labels that the table has of them. Raises TaskError: it has none."""
        raise NotImplementedError

    def _data(
        self, table: CompiledTable, samples: list[Sample], field: str, values: Iterable[Any], mask: Bool, **options: Any
    ) -> TaskData:
        """The samples that ``mask`` selects, each with its value in ``field``."""
        rows = zip(samples, values, mask.tolist(), strict=True)
        known_samples = [replace(sample, **{field: value}) for sample, value, is_known in rows if is_known]
        llvm = str(table.record["llvm"])
        return TaskData(known_samples, content_hash=table.content_hash, machine=table.title, llvm=llvm, **options)

    def _sizes_after(self, table: CompiledTable, level: str) -> Float64:
        """(n,) bytes of code after a level, 1 at least; NaN where it failed."""
        if level not in table.levels:
            problem = f"the table has {', '.join(table.levels) or 'none'}. Label anew with this release"
            raise TaskError(f"{self.name} needs sizes after {level}; {problem}: mirenc label SOURCES -o FOLDER")
        return np.asarray(np.maximum(table.levels[level].code_bytes, 1.0))

    def modules(self, module: IRModule, regions: Sequence[Region | None]) -> list[IRModule]:
        """Functions become modules of their own, except those that take the address of a block elsewhere."""
        function_texts = dict(extract_functions(module.text)) if any(regions) else {}
        texts = [None if region is None else function_texts.get(region.symbol) for region in regions]
        return [module if text is None else parse_ir(text) for text in texts]


def _sample(piece: Piece, text: str | None) -> Sample:
    """A piece without its target. The IR may have declarations beside its function, so the region names it."""
    name, symbol, region = piece.name, piece.symbol, None
    if piece.level == "function":
        region = Region("function", symbol, symbol, "", 0, piece.file, 0, symbol)
    context = (max(piece.instructions, 1), piece.level)
    return Sample(
        name, text, piece.project, context, region=region, part=piece.level, kernel=name, held_out=piece.held_out
    )


class SizeAfter(CompiledTask):
    """The logarithm of the bytes after -Oz, -O3 or no pass, so that a factor counts alike for all sizes."""

    name = "size_after"
    title = "code size by optimisation level"
    target = "number"
    unit = "log bytes"
    logarithm = True
    variants = ("Oz", "O3", "O0")

    def data_of(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        logs = np.log(self._sizes_after(table, variant))
        return self._data(table, samples, "value", logs.tolist(), np.isfinite(logs))

    def number_words(self, answer: PredictedNumber) -> str:
        """The bytes; those of a function hold before it is inlined or other functions are inlined into it."""
        note = "" if answer.region is None else " by itself, before inlining"
        return f"{np.exp(answer.value):,.0f} bytes{note}"

    def details(self, answer: PredictedNumber) -> dict[str, Any]:
        return {"bytes": float(np.exp(answer.value))}


class OzBenefit(CompiledTask):
    """The logarithm of how many times as large the code is without -Oz.

    ``Oz_over_O0``: size at -O0 over size at -Oz, what -Oz saves. ``O3_over_Oz``: at -O3 over at -Oz, its cost in size.
    """

    name = "oz_benefit"
    title = "benefit of -Oz"
    target = "number"
    unit = "log ratio"
    logarithm = True
    variants = ("Oz_over_O0", "O3_over_Oz")
    events = {"Oz_over_O0": ("-Oz halves it", math.log(2.0)), "O3_over_Oz": ("-O3 is a tenth larger", math.log(1.1))}

    def data_of(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        larger_size = self._sizes_after(table, "O0" if variant == "Oz_over_O0" else "O3")
        logs = np.log(larger_size / self._sizes_after(table, "Oz"))
        return self._data(table, samples, "value", logs.tolist(), np.isfinite(logs))

    def number_words(self, answer: PredictedNumber) -> str:
        return f"{math.exp(answer.value):.2f} times as large without -Oz"

    def details(self, answer: PredictedNumber) -> dict[str, Any]:
        return {"ratio": math.exp(answer.value)}


_LEAST_SHARE = 0.005  # of pieces that a pass changes, and leaves alone
_PASSES_SHOWN = 8


class PassFires(CompiledTask):
    """Which passes of -Oz or -O3 change the code, predicted before any is run: a label a pass.

    Passes that nearly always or hardly ever fire in training are left out: so few exceptions cannot be learned.
    """

    name = "pass_fires"
    title = "passes that change the code, by level"
    target = "labels"
    variants = ("Oz", "O3")

    def data_of(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        if variant not in table.fires:
            problem = f"the table has those of {', '.join(table.fires) or 'no level'}. Label anew where opt is on PATH"
            raise TaskError(f"{self.name} needs to know which passes of {variant} change a piece; {problem}")
        fires = table.fires[variant]
        training = fires.known & ~np.array([sample.held_out for sample in samples], dtype=bool)
        changed = fires.changed[training]
        rarer_count = np.minimum(changed.sum(axis=0), (~changed).sum(axis=0))
        learnable = np.flatnonzero(rarer_count >= max(1.0, _LEAST_SHARE * len(changed)))
        if not len(learnable):
            problem = "each pass changes either all training pieces or none, so there is nothing to learn"
            raise TaskError(f"{self.name}: {problem}. Label more sources")
        labels = map(tuple, fires.changed[:, learnable].astype(int).tolist())
        names = tuple(fires.passes[index] for index in learnable)
        return self._data(table, samples, "labels", labels, fires.known, label_names=names)

    def remarks(self, answer: PredictedLabels) -> list[str]:
        idle_passes = sorted(answer.labels, key=lambda name: answer.labels[name])[:_PASSES_SHOWN]
        return [f"least likely to change anything: {', '.join(idle_passes)}"]


KNOB = "passes"
LISTS = 50


class PassListChoice(CompiledTask):
    """The pass list that makes a piece smallest, out of `LISTS` chosen among all measured; costs are bytes.

    The lists are those of which the best serves the pieces for training best (`covering_lists`); -Oz, list 0 of a
    table, is the first of them and the default. A list under which a piece does not compile runs as the default.
    """

    name = "pass_list"
    title = "pass list"
    portfolios = (2, 3, 4)
    select = "speedup"
    cost_unit = "bytes"

    def data_of(self, table: CompiledTable, samples: list[Sample], variant: str) -> TaskData:
        sizes = np.where(np.isnan(table.sizes.code_bytes), np.nan, np.maximum(table.sizes.code_bytes, 1.0))
        measured = np.isfinite(sizes[:, 0])
        held_out = np.array([sample.held_out for sample in samples], dtype=bool)
        training = sizes[measured & ~held_out]
        if not len(training) or sizes.shape[1] < 2:
            raise TaskError(
                f"{self.name}: the table has {len(training)} pieces for training under {sizes.shape[1]} lists; one "
                "piece and two lists are needed. Measure anew: mirenc label SOURCES --lists 100 -o FOLDER"
            )
        chosen = covering_lists(training, LISTS)
        space = Space((KNOB,), tuple((table.lists[index].pipeline,) for index in chosen))
        return self._data(table, samples, "costs", map(tuple, sizes[:, chosen].tolist()), measured, space=space)


def covering_lists(sizes: Float64, count: int) -> Int64:
    """Choose lists one by one after the first, each so that the best of them for each piece saves most on average.

    ``sizes`` are bytes (n, N), NaN where a list failed, which the first never did. Returns (min(count, N),) columns.
    """
    logs = np.log(sizes)
    logs = np.where(np.isnan(logs), logs[:, :1], logs)  # what fails runs as the first
    return np.append(0, portfolio(np.minimum(logs, logs[:, :1])[:, 1:], count - 1) + 1)
