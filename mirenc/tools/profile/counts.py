"""`read_profile`: the profile of a run, as ``llvm-profdata merge -text`` writes it, brought to the blocks of a module.

Two kinds are read. Counters of LLVM's instrumentation (``clang -fprofile-generate``) are numbered by a function's
control flow graph: libLLVM instruments the module once more, and so tells which block has which counter. Samples
(AutoFDO, ``llvm-profgen``) are counted by source line, from the first line of the function; they may come from another
level, compiler or version of the source.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mirenc.base.arrays import Bool, Float64, Int64
from mirenc.base.errors import IRFileError
from mirenc.llvm import IRModule, parse_ir
from mirenc.llvm.analysis.profile import Flow
from mirenc.llvm.ir.metadata import annotated_lines
from mirenc.llvm.passes.find_llvm import find_engine
from mirenc.tools.profile.repair import repair_counts

_INSTRUMENT = "pgo-instr-gen"
_INCREMENT = re.compile(r"@llvm\.instrprof\.increment\(.*, i64 (-?\d+), i32 (\d+), i32 (\d+)\)")
_CERTAIN = 1e6  # samples that an execution gives where each is counted
_COUNTERS = re.compile(r"^# Func Hash:$", re.MULTILINE)
_SAMPLED_FUNCTION = re.compile(r"([^\s#:].*):\d+:\d+")
_SAMPLES = re.compile(r"( +)(\d+)(?:\.\d+)?: (?:(\d+)(?: .*)?|(.+):\d+)")
_NO_LINES = re.compile(r"^ +!CFGChecksum:|^\[", re.MULTILINE)  # samples by probe, or by calling context
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)(?!.*inlinedAt)", re.MULTILINE)
_SUBPROGRAM = re.compile(r"^!(\d+) = distinct !DISubprogram\(.*?\bline: (\d+)", re.MULTILINE)
_ATTACHED = re.compile(r" !dbg !(\d+)")

AVERAGE_SAMPLES, SHARED_POWER, DOUBTS = 100.0, 4, 3
"""How far counts by line are believed: the average block of a function counts as so many samples, divided by this power
of the number of blocks that share the line; ``doubts`` of `repair_counts`. Chosen by ``downstream/profile/repair.py``.
"""


class Counts(NamedTuple):
    """Executions of a module's B blocks and C edges, and what they were made from."""

    flow: Flow  # ``told`` (B,): whether the block's function is in the profile
    matched: int  # functions that are in the profile
    stale: int  # functions whose counters in the profile are those of other code
    counted: int  # blocks of matched functions with a count of their own
    inferred: int  # blocks of matched functions whose count follows from others


def read_profile(path: Path) -> "Counters | LineSamples":
    """Read a text profile. Raises IRFileError: it is none, or of a kind that says nothing about IR."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        problem = f"{path}: is not text"
        raise IRFileError(f"{problem}. Type: llvm-profdata merge -text -o profile.txt {path.name}") from None
    if _COUNTERS.search(text):
        if not text.startswith(":ir") and "\n:ir" not in text:
            raise IRFileError(
                f"{path}: has counters of clang's front end (-fprofile-instr-generate), which only clang can map to "
                "code. Leave out --counts, and give the IR of: clang -fprofile-instr-use=FILE.profdata -S -emit-llvm. "
                "Or instrument with -fprofile-generate"
            )
        try:
            return Counters.from_text(text)
        except ValueError:
            problem = f"{path}: is cut off, or has more than counters (temporal traces)"
            raise IRFileError(f"{problem}. Type: llvm-profdata merge -text -o profile.txt PROFILE") from None
    if not any(map(_SAMPLED_FUNCTION.fullmatch, text.splitlines())):
        problem = f"{path}: is not a profile"
        raise IRFileError(f"{problem}. Give what llvm-profdata merge -text (or merge --sample -text) writes")
    if _NO_LINES.search(text):
        raise IRFileError(f"{path}: its samples are by probe or calling context. Give a profile by lines of the source")
    return LineSamples.from_text(text)


@dataclass(frozen=True)
class Counters:
    """Counters of LLVM's instrumentation: (function, hash of its control flow) -> counters by the full name."""

    functions: Mapping[tuple[str, int], Mapping[str, Sequence[int]]]

    @classmethod
    def from_text(cls, text: str) -> "Counters":
        functions: dict[tuple[str, int], dict[str, list[int]]] = defaultdict(dict)
        lines = (line for line in text.split("\n") if not line.startswith((":", "#")))
        for record in "\n".join(lines).split("\n\n"):
            if record.strip():
                name, code, size, *numbers = record.strip("\n").split("\n")
                counters = list(map(int, numbers[: int(size)]))
                if len(counters) < int(size) or min(counters, default=0) < 0:
                    raise ValueError(name)
                # A function's own name: that of a static one has its file before it.
                functions[re.split(r"[;:]", name)[-1], int(code)][name] = counters
        return cls(functions)

    def counts(self, module: IRModule, ir: bytes, shares: Float64) -> Counts:
        """Counts of a module that was read from ``ir``; its edges are believed to take ``shares`` (C,).

        Raises ToolchainError: there is no libLLVM to number the counters.
        """
        with find_engine([_INSTRUMENT]) as engine:
            instrumented = parse_ir(engine.text(ir, _INSTRUMENT))
        samples, rate = np.zeros(instrumented.block_count), np.zeros(instrumented.block_count)
        owner, names = _functions_of_blocks(instrumented), {name for name, _ in self.functions}
        matched, stale = set[int](), set[int]()
        for block, code, size, number in _increments(instrumented):
            name = instrumented.headers[owner[block]].name.strip('"')
            counters = [numbers for numbers in self.functions.get((name, code), {}).values() if len(numbers) == size]
            if len(counters) == 1:  # static functions of two files may have one name and one shape
                samples[block], rate[block] = _CERTAIN * counters[0][number], _CERTAIN
                matched.add(int(owner[block]))
            elif name in names:
                stale.add(int(owner[block]))
        blocks, twins = _matching_blocks(module, instrumented)
        fan_out = np.diff(instrumented.arrays.successor_start)
        edge_shares = 1.0 / np.repeat(fan_out, fan_out)
        edges, twin_edges = _edges_of(module, blocks), _edges_of(instrumented, twins)
        edge_shares[twin_edges] = shares[edges]
        repaired_flow = repair_counts(instrumented, samples, rate, edge_shares)
        for function in sorted(matched):  # where counters leave nothing open they are solved, not fitted
            if (solution := _solve(instrumented, function, samples, rate)) is not None:
                for block, count in solution[0].items():
                    repaired_flow.blocks[block], repaired_flow.known[block] = count, True
                for edge, count in solution[1].items():
                    repaired_flow.edges[edge] = count
        never_run = np.isin(owner, sorted(matched)) & (np.bincount(owner, samples)[owner] == 0)
        flow = Flow(np.zeros(module.block_count), np.zeros(len(shares)), np.zeros(module.block_count, np.bool_))
        flow.blocks[blocks], flow.edges[edges] = repaired_flow.blocks[twins], repaired_flow.edges[twin_edges]
        flow.known[blocks] = (repaired_flow.known | never_run)[twins]
        is_counted = rate[twins] > 0
        return _counts(module, flow, np.isin(np.arange(module.block_count), blocks[is_counted]), len(stale))


@dataclass(frozen=True)
class LineSamples:
    """Samples by line: function -> line, from that of the function -> samples. Discriminators are not told apart."""

    functions: Mapping[str, Mapping[int, float]]

    @classmethod
    def from_text(cls, text: str) -> "LineSamples":
        """Samples of inlined copies are added to the function's own; where it was called has those of its entry."""
        functions: dict[str, dict[tuple[int, str], float]] = defaultdict(lambda: defaultdict(float))
        callers: list[str] = []
        entries: list[tuple[str, tuple[int, str]] | None] = []  # of each caller where it is inlined, until it is known
        for line in text.splitlines():
            if (function := _SAMPLED_FUNCTION.fullmatch(line)) is not None:
                callers, entries = [function[1]], [None]
            elif callers and (match := _SAMPLES.fullmatch(line)) is not None:
                depth, offset, count, callee = len(match[1]), int(match[2]), match[3], match[4]
                del callers[depth:], entries[depth:]
                place = offset, line.partition(":")[0].strip()
                if callee is not None:
                    entries.append((callers[-1], place))
                    callers.append(callee)
                    continue
                functions[callers[-1]][place] += float(count)
                if (call := entries[-1]) is not None:
                    functions[call[0]][call[1]] += float(count)
                    entries[-1] = None
        lines: dict[str, dict[int, float]] = {name: {} for name in functions}
        for name, places in functions.items():
            for (offset, _), count in places.items():
                lines[name][offset] = max(lines[name].get(offset, 0.0), count)
        return cls(lines)

    def counts(self, module: IRModule, shares: Float64) -> Counts:
        """Counts of a module whose edges are believed to take ``shares`` (C,).

        Raises IRFileError: the IR has no source lines.
        """
        by_block = lines_of_blocks(module)
        if not any(map(len, by_block)):
            raise IRFileError(f"{module.name}: no source lines, which samples need. Compile with -gline-tables-only")
        counts: list[Mapping[int, float] | None] = [None] * len(by_block)
        for function, first in _first_lines(module).items():
            header = module.headers[function]
            by_line = {first + line: count for line, count in self.functions.get(header.name.strip('"'), {}).items()}
            if any(by_line.values()):
                counts[header.first_block : header.last_block] = [by_line] * (header.last_block - header.first_block)
        samples, rate = line_samples(by_block, counts, _functions_of_blocks(module))
        flow = repair_counts(module, samples, rate, shares, doubts=DOUBTS)
        return _counts(module, flow, rate > 0, 0)


def line_samples(
    lines: Sequence[Int64], counts: Sequence[Mapping[int, float] | None], function: Int64
) -> tuple[Float64, Float64]:
    """``samples`` and ``rate`` (B,) for `repair_counts`, from counts by line.

    ``lines`` of each block, ``counts`` of the lines of its function (a line that is not in it has none; None: nothing
    is known of the function), ``function`` (B,). A block takes the count of that of its lines which the fewest blocks
    of its function share.
    """
    uses: Counter[tuple[int, int]] = Counter()
    for block_lines, owner in zip(lines, function.tolist(), strict=True):
        uses.update((owner, line) for line in block_lines.tolist())
    line_counts, blocks = np.full(len(lines), -1.0), np.ones(len(lines))
    for block, (block_lines, owner, by_line) in enumerate(zip(lines, function.tolist(), counts, strict=True)):
        if by_line is not None and len(block_lines):
            blocks[block], negative = min((uses[owner, line], -by_line.get(line, 0.0)) for line in block_lines.tolist())
            line_counts[block] = -negative
    is_known = line_counts >= 0
    mean = np.bincount(function, np.where(is_known, line_counts, 0)) / np.maximum(np.bincount(function, is_known), 1)
    average = np.maximum(mean, 1e-9)[function]
    rate = np.where(is_known & (mean[function] > 0), AVERAGE_SAMPLES / average / blocks**SHARED_POWER, 0.0)
    return np.where(is_known, line_counts, 0) * rate, rate


def lines_of_blocks(module: IRModule) -> list[Int64]:
    """For each block the lines of its function's own source that its instructions are of; inlined code has none."""
    places = {number: int(line) for number, line in _LOCATION.findall(module.annotated)}
    text, arrays, lines = annotated_lines(module), module.arrays, []
    for begin, end in zip(arrays.block_start[:-1].tolist(), arrays.block_start[1:].tolist(), strict=True):
        rows = arrays.line[begin:end].tolist() if places else []
        numbers = {places.get(match[1], 0) for row in rows if (match := _ATTACHED.search(text[row]))}
        lines.append(np.array(sorted(numbers - {0}), dtype=np.int64))
    return lines


def _first_lines(module: IRModule) -> dict[int, int]:
    """The line of the source on which each function begins, by the function's number."""
    begins, text = dict(_SUBPROGRAM.findall(module.annotated)), annotated_lines(module)
    attached = {function.index: _ATTACHED.search(text[function.header.line]) for function in module.defined_functions}
    return {number: int(begins[match[1]]) for number, match in attached.items() if match and match[1] in begins}


def _counts(module: IRModule, flow: Flow, is_counted: Bool, stale: int) -> Counts:
    matched = len(np.unique(_functions_of_blocks(module)[flow.known]))
    sampled = int((flow.known & is_counted).sum())
    return Counts(flow, matched, stale, sampled, int(flow.known.sum()) - sampled)


def _solve(
    module: IRModule, function: int, samples: Float64, rate: Float64
) -> tuple[dict[int, float], dict[int, float]] | None:
    """Counts of a function's blocks and edges by conservation of flow, as in LLVM's PGOInstrumentation.cpp.

    Known are the blocks with a counter (``rate`` > 0). None where something stays open, or comes out below 0.
    """
    header, arrays, outside = module.headers[function], module.arrays, -1
    nodes = [outside, *range(header.first_block, header.last_block)]
    incoming: dict[int, list[int]] = {node: [] for node in nodes}
    outgoing: dict[int, list[int]] = {node: [] for node in nodes}
    edge_ids = itertools.count(outside, -1)  # edges to and from outside of the function have numbers below 0
    links = [(outside, header.first_block, next(edge_ids))]
    for block in nodes[1:]:
        edges = range(int(arrays.successor_start[block]), int(arrays.successor_start[block + 1]))
        links += [(block, int(arrays.successor[edge]), edge) for edge in edges] or [(block, outside, next(edge_ids))]
    for source, target, edge in links:
        outgoing[source].append(edge)
        incoming[target].append(edge)
    blocks = {block: float(samples[block] / rate[block]) for block in nodes[1:] if rate[block] > 0}
    flow: dict[int, float] = {}
    solved_count = -1
    while solved_count < (solved_count := len(blocks) + len(flow)):
        for node in nodes:
            for side in (incoming[node], outgoing[node]):
                open_edges = [edge for edge in side if edge not in flow]
                if not open_edges:
                    blocks.setdefault(node, sum(flow[edge] for edge in side))
                elif len(open_edges) == 1 and node in blocks:
                    flow[open_edges[0]] = blocks[node] - sum(flow[edge] for edge in side if edge in flow)
    if len(blocks) + len(flow) < len(nodes) + len(links) or min(*blocks.values(), *flow.values()) < 0:
        return None
    del blocks[outside]
    return blocks, {edge: count for edge, count in flow.items() if edge >= 0}


def _increments(module: IRModule) -> Iterator[tuple[int, int, int, int]]:
    """Yield each counter's block, its function's hash and number of counters, and its place among these."""
    lines, arrays = module.lines, module.arrays
    for row in np.flatnonzero(arrays.callee >= 0).tolist():
        if (match := _INCREMENT.search(lines[arrays.line[row]])) is not None:
            yield int(arrays.block[row]), int(match[1]) % 2**64, int(match[2]), int(match[3])


def _matching_blocks(module: IRModule, instrumented: IRModule) -> tuple[Int64, Int64]:
    """The blocks of a module that its entries reach, and the same ones where it is instrumented.

    LLVM puts blocks on edges between a block with several ways out and one with several ways in. A function in which
    more was changed is left out.
    """
    fan_in = [np.bincount(side.arrays.successor, minlength=side.block_count) for side in (module, instrumented)]
    entry_blocks = {copy.name: copy.header.first_block for copy in instrumented.defined_functions}
    twins: dict[int, int] = {}
    for function in module.defined_functions:
        queue, function_twins = [(function.header.first_block, entry_blocks[function.name])], dict[int, int]()
        while queue:
            block, twin = queue.pop()
            if block in function_twins:
                continue
            function_twins[block], ways, twin_ways = twin, _ways(module, block), _ways(instrumented, twin)
            if len(ways) != len(twin_ways):
                function_twins.clear()
                break
            for way, twin_way in zip(ways, twin_ways, strict=True):
                is_split = fan_in[0][way] > 1 and fan_in[1][twin_way] == 1
                queue.append((way, _ways(instrumented, twin_way)[0] if is_split else twin_way))
        twins |= function_twins
    return np.array([*twins], np.int64), np.array([*twins.values()], np.int64)


def _ways(module: IRModule, block: int) -> list[int]:
    return module.arrays.successor[slice(*module.arrays.successor_start[block : block + 2])].tolist()


def _edges_of(module: IRModule, blocks: Int64) -> Int64:
    """Rows of ``arrays.successor`` that go out of some blocks."""
    start = module.arrays.successor_start
    return np.concatenate([np.arange(start[block], start[block + 1]) for block in blocks.tolist()] or [blocks]).astype(
        np.int64
    )


def _functions_of_blocks(module: IRModule) -> Int64:
    return module.arrays.function[module.arrays.block_start[:-1]].astype(np.int64)
