"""Features from a look-ahead: the code that each setting makes, and its rough cost, beside those of the default.

The cost is no model of a processor: it adds up instructions by class, with rough weights, of the parts that run for a
number of iterations (prologue, vector body, remainder). A head learns what it leaves out.
"""

import hashlib
from collections.abc import Callable, Sequence
from importlib.metadata import version

import numpy as np

from mirenc import __version__
from mirenc.base.arrays import Float64, Int64
from mirenc.base.cache import Cache, cache_key
from mirenc.base.errors import MirencError, TaskError
from mirenc.decide.estimators.chooser import Settings
from mirenc.decide.loop_task import LoopTask
from mirenc.decide.task_data import TaskData
from mirenc.encoder import Encoder
from mirenc.llvm.passes.assembly import CLASSES, Loop
from mirenc.llvm.passes.look_ahead import LoopCode

_COUNTS = len(CLASSES)
# Rough cycles of an instruction of each class, where many are in flight at once.
_CYCLES = {"gather": 8, "divide": 8, "call": 20, "store": 1, "shuffle": 1, "convert": 1, "mask": 1, "spill": 0.7}
_CYCLES |= {"load": 0.5, "multiply": 0.5, "float": 0.5, "branch": 0.5, "vector": 0.4, "integer": 0.3, "move": 0.15}
_WEIGHTS = np.array([_CYCLES[name] for name in CLASSES])
_TURN = 0.5  # cycles that an iteration takes beside its instructions
_MASKED_STORE, _WRONG_WAY = 12.0, 8.0  # further cycles of one, and of the rarer way of a branch
_HALF = (1.0, 0.5, 0.2)  # how often branches are taken where that is not known
_GRID = (2, 4, 8, 16, 32, 64, 256, 1024)  # trip counts for which costs are estimated in any case
TRIP_COUNTS = (2, 4, 8, 16, 24, 40, 75, 200, 1500, 20_000)
"""What stands for an unknown trip count: each is about equally likely among the project's own loops."""
# Columns of `loop_numbers`: width, count, unrolling; presence, bits and counts of three bodies; counts around; totals.
_HEAD, _PART = 3, 2 + _COUNTS
_FIRST_MORE = _HEAD + 3 * _PART + _COUNTS + 2  # of each body: masked stores, and instructions that a jump may skip
NUMBERS = _FIRST_MORE + 3 * (1 + _COUNTS)
DEFAULT_NAMES = (
    *(f"log2 of {name}" for name in ("vector width", "interleave count", "unroll count", "vector bits")),
    *(f"has {name}" for name in ("vector body", "vector epilogue", "scalar loop")),
    "number of loops",
    *(f"log(1 + {name})" for name in ("instructions", "around the loop", "branches around", "in the body")),
    *(f"{name} for each element" for name in ("instructions", "rough cycles")),
    *(f"{name} for each element of the scalar loop" for name in ("instructions", "rough cycles")),
    *(f"{name} instructions for each element" for name in CLASSES),
)
"""The columns of `default_columns`."""
_TAKEN_NAMES = ("known how often branches are taken", "share of conditional code that runs", "rarer ways an iteration")
_TRIP_NAMES = (
    "log rough cost over the default's",
    *(f"log2 of {name}" for name in ("1 + trip count", "trip count over elements")),
    "share of iterations in the remainder",
    "trip count below elements",
)
_EACH_NAMES = tuple(
    f"{name} for each element"
    for name in ("cycles a jump may skip", "masked stores", "cycles of the scalar loop a jump may skip")
)
_PART_NAMES = ("log turns", "iterations left", "log cycles of turns", "log cycles of those left", "log cycles")
_OF = ("", ", of the default")
TAKEN_COLUMNS, TRIP_COLUMNS = len(_TAKEN_NAMES), len(_TRIP_NAMES) + 1 + 2 * len(_PART_NAMES)
"""The last so many columns of settings follow from the trip count; zeros where it is unknown."""
_CODE_NAMES = (
    *(f"{name}, less the default's" for name in DEFAULT_NAMES),
    *(f"log rough cost over the default's for {count} iterations" for count in _GRID),
)
OLDER_NAMES = _CODE_NAMES + _TRIP_NAMES
SETTING_NAMES = (
    *_CODE_NAMES,
    *_TAKEN_NAMES,
    *(f"log cost with branches over the default's for {count} iterations" for count in _GRID),
    *(f"{name}{of}" for name in _EACH_NAMES for of in _OF),
    *_TRIP_NAMES,
    "log cost with branches over the default's",
    *(f"{name}{of}" for name in _PART_NAMES for of in _OF),
)
"""The columns of `setting_columns` with ``taken``; without it they are the `OLDER_NAMES`."""


def loop_numbers(code: LoopCode | None) -> Float64:
    """The compiled code of a loop as numbers, (NUMBERS,); NaN where it is not known."""
    if code is None:
        return np.full(NUMBERS, np.nan)

    def part(loop: Loop | None) -> list[float]:
        return [0.0] * _PART if loop is None else [1.0, float(loop.bits), *loop.counts]

    parts = [*part(code.vector), *part(code.epilogue), *part(code.scalar), *code.around.counts]
    setting, totals = (code.hint.width, code.hint.count, code.unrolled), [float(code.loops), code.instructions]
    for loop in (code.vector, code.epilogue, code.scalar):
        totals += [0.0] * (1 + _COUNTS) if loop is None else [float(loop.masked_stores), *loop.skipped]
    return np.array([*setting, *parts, *totals], dtype=np.float64)


class _Columns:
    """The columns of a table (K, NUMBERS) by name."""

    def __init__(self, table: Float64) -> None:
        self.width, self.count, self.unrolled = table[:, :_HEAD].T
        parts = [table[:, _HEAD + row * _PART : _HEAD + (row + 1) * _PART] for row in range(3)]
        (self.vector, self.epilogue, self.scalar) = (part[:, 2:] for part in parts)
        (self.has_vector, self.has_epilogue, self.has_scalar) = (part[:, 0] > 0 for part in parts)
        self.bits, self.epilogue_bits, _ = (np.maximum(part[:, 1], 64.0) for part in parts)
        self.around = table[:, _FIRST_MORE - _COUNTS - 2 : _FIRST_MORE - 2]
        self.loops, self.instructions = table[:, _FIRST_MORE - 2 : _FIRST_MORE].T
        branch_counts = table[:, _FIRST_MORE:].reshape(len(table), 3, -1).swapaxes(0, 1)
        self.masked_stores, self.skipped = branch_counts[..., 0], branch_counts[..., 1:]
        self.elements = self.width * self.count
        self.unroll_or_elements = np.where(self.has_vector, self.elements, self.unrolled)
        self.body = np.where(self.has_vector[:, None], self.vector, self.scalar)

    def parts(self, iterations: float, taken: Sequence[float] = ()) -> tuple[Float64, ...]:
        """Turns, iterations left for the scalar loop; rough cycles of both, and of the loop entered once. (K,) each.

        With ``taken``, as `setting_columns` has it, cycles also follow from branches.
        """
        divisor = np.where((self.count > 1) | (self.epilogue_bits < self.bits), 1.0, 2.0)
        lanes = np.maximum(2.0, self.width * self.epilogue_bits / self.bits / divisor)
        elements, cycles = (self.elements, lanes, self.unrolled), []
        for number, body in enumerate((self.vector, self.epilogue, self.scalar)):
            cycles.append(body @ _WEIGHTS + _TURN)
            if len(taken):
                _, share, rarer = taken if taken[0] else _HALF
                skipped = self.skipped[number] @ _WEIGHTS
                cycles[-1] += _MASKED_STORE * self.masked_stores[number] - (1 - share) * skipped
                cycles[-1] += _WRONG_WAY * rarer * elements[number] * (skipped > 0)
        turns = np.where(self.has_vector, iterations // self.elements, 0.0)
        # Without a scalar loop, the remainder is a turn with idle lanes.
        turns += self.has_vector & ~self.has_scalar & (turns * self.elements < iterations)
        remaining = np.maximum(iterations - turns * self.elements, 0.0)
        epilogue_turns = np.where(self.has_epilogue, remaining // lanes, 0.0)
        remaining -= epilogue_turns * lanes
        vector, scalar = turns * cycles[0], remaining * cycles[2] / self.unrolled
        total = self.around @ _WEIGHTS + vector + epilogue_turns * cycles[1] + scalar
        return turns, remaining, vector, scalar, total

    def cost(self, iterations: float, taken: Sequence[float] = ()) -> Float64:
        """Logarithm of the rough cycles of the loop, entered once for so many iterations. (K,)."""
        return np.log1p(self.parts(iterations, taken)[-1])

    def branches(self) -> list[Float64]:
        """Cycles that a jump may skip and masked stores, for each element, and the former of the scalar loop. (K,)."""
        bodies = zip(self.skipped @ _WEIGHTS, self.masked_stores, strict=True)
        (vector, stores), _, (scalar, scalar_stores) = bodies
        body = np.where(self.has_vector, (vector, stores), (scalar, scalar_stores)) / self.unroll_or_elements
        return [*body, scalar / self.unrolled]

    def static(self) -> Float64:
        """Columns about the code alone, `DEFAULT_NAMES`. (K, F)."""
        body = self.body / self.unroll_or_elements[:, None]
        rest = self.scalar / self.unrolled[:, None]
        branches = self.around[:, CLASSES.index("branch")]
        columns = [
            *(np.log2(self.width), np.log2(self.count), np.log2(self.unrolled), np.log2(self.bits)),
            *(self.has_vector, self.has_epilogue, self.has_scalar, self.loops),
            *(np.log1p(self.instructions), np.log1p(self.around.sum(axis=1)), np.log1p(branches)),
            *(np.log1p(self.body.sum(axis=1)), body.sum(axis=1), body @ _WEIGHTS),
            *(rest.sum(axis=1), rest @ _WEIGHTS),
        ]
        return np.column_stack([*columns, body])


def default_columns(table: Float64, default: int) -> Float64:
    """Features of a loop itself: its code under the default setting. (K, NUMBERS) -> (F,), zeros: not known."""
    return np.nan_to_num(_Columns(table[default, None]).static()[0])


def setting_columns(table: Float64, default: int, iterations: float, taken: Sequence[float] = ()) -> Float64:
    """Features of each setting of a loop, from `loop_numbers` of each. (K, NUMBERS) -> (K, F), NaN as in ``table``.

    The difference of its code from that of the ``default``, and its rough cost over the default's for a few trip counts
    and for ``iterations``, 0 where these are not known; ``taken`` as `mirenc.decide.loop_task.branches` has it: without
    it, as of older heads, there are no columns about branches and parts.
    """
    columns = _Columns(table)
    code = columns.static()
    grid = np.column_stack([columns.cost(count) for count in _GRID])
    trip = np.zeros((len(table), TRIP_COLUMNS if len(taken) else len(_TRIP_NAMES)))
    more = np.zeros((len(table), 0))
    if len(taken):
        with_branches = np.column_stack([columns.cost(count, taken) for count in _GRID])
        more = np.column_stack([with_branches - with_branches[default], *_with_default(columns.branches(), default)])
    if iterations > 0:
        cost, count = columns.cost(iterations), columns.elements
        turns = (np.log2(iterations / count), iterations % count / iterations, iterations < count)
        trip = np.column_stack([cost - cost[default], np.full(len(table), np.log2(1 + iterations)), *turns])
        if len(taken):
            parts = enumerate(columns.parts(iterations, taken))
            logs = [part if number == 1 else np.log1p(part) for number, part in parts]
            trip = np.column_stack([trip, logs[-1] - logs[-1][default], *_with_default(logs, default)])
    branches = np.tile(taken, (len(table), 1))
    return np.concatenate([code - code[default], grid - grid[default], branches, more, trip], axis=1)


def _with_default(columns: Sequence[Float64], default: int) -> list[Float64]:
    """Each column (K,), and after it one (K,) that repeats the default's value."""
    return [each for column in columns for each in (column, np.full_like(column, column[default]))]


def look_ahead_tables(task: LoopTask, data: TaskData, encoder: Encoder, advance: Callable[..., None] | None) -> Float64:
    """`loop_numbers` of each sample's loop under each setting. (n, K, NUMBERS), NaN where nothing is known.

    They are cached, as a sample takes two dozen compilations. Raises TaskError: IR that cannot be read.
    """
    versions = f"look-ahead {NUMBERS} {version('llvmlite')} {__version__}"
    cache = Cache(hashlib.sha256(versions.encode()).hexdigest(), kind="look-ahead")
    tables = np.full((len(data), data.width, NUMBERS), np.nan)
    # What a run tells changes no code, so that all data of a loop share it.
    keys = [cache_key("look-ahead", repr((sample.ir, sample.region, sample.context[1:]))) for sample in data.samples]
    stored = cache.get(keys)
    for row, (sample, key) in enumerate(zip(data.samples, keys, strict=True)):
        if key in stored:
            tables[row] = np.frombuffer(stored[key], np.float32).reshape(-1, NUMBERS)
        else:
            assert sample.ir is not None
            try:
                module = task.read_sample(encoder, sample.ir)
            except MirencError as error:
                raise TaskError(f"sample {sample.name}: {error}") from None
            tables[row] = [loop_numbers(code) for code in task.look_ahead(module, sample.region, sample.context)]
            stored[key] = tables[row].astype(np.float32).tobytes()
            cache.put({key: stored[key]})
        if advance is not None:
            advance(1, total=len(data), note="look-ahead")
    return tables


def look_ahead_settings(
    settings: Settings, tables: Float64, default: Int64, iterations: Float64, taken: Float64 | None = None
) -> Settings:
    """Settings with `setting_columns` of each sample appended; those without a known code are left out.

    ``tables`` (n, K, NUMBERS), ``default`` (n,) columns, ``iterations`` (n,) trip counts, 0: not known, ``taken``
    (n, 3) how often branches are taken (`mirenc.decide.loop_task.branches`); left out, or (n, 0): no such columns.
    """
    features, row, count = [], np.full_like(settings.row, -1), 0
    for sample, (table, setting_rows) in enumerate(zip(tables, settings.row, strict=True)):
        known = np.flatnonzero((setting_rows >= 0) & ~np.isnan(table[:, 0]))
        if default[sample] not in known:
            known = np.array([], dtype=np.int64)
        sample_taken = () if taken is None else taken[sample]
        columns = setting_columns(table, int(default[sample]), float(iterations[sample]), sample_taken)[known]
        row[sample, known] = count + np.arange(len(known))
        count += len(known)
        features.append(np.concatenate([settings.features[setting_rows[known]], columns], axis=1))
    return Settings(np.concatenate(features), row)
