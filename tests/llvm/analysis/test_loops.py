"""Natural loops: worked by hand, and against a slow second writing on random graphs."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from ir_views import blocks_of

from mirenc.llvm import IRModule, parse_ir, read_ir
from mirenc.llvm.analysis.loops import LoopForest, find_loops

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# Depth, header and blocks, the blocks counted from the function's entry.
Loop = tuple[int, int, frozenset[int]]

# Function -> its loops in order: depth, header, all blocks.
HAND_WORKED: dict[str, list[tuple[int, str, set[str]]]] = {
    "straight": [],
    "backward_jump_without_cycle": [],
    "itself": [(1, "again", {"again"})],
    "endless": [(1, "a", {"a", "b"})],
    "nested": [(1, "outer", {"outer", "inner", "body", "latch"}), (2, "inner", {"inner", "body"})],
    "inner_first": [
        (1, "outer", {"outer", "inner", "second"}),
        (2, "inner", {"inner"}),
        (2, "second", {"second"}),
    ],
    "two_latches": [(1, "head", {"head", "body", "rest"})],
    "one_header": [(1, "head", {"head", "outer"})],
    "irreducible": [],
    "irreducible_inside": [(1, "head", {"head", "a", "b", "latch"})],
    "half_reducible": [(1, "head", {"head"})],
    "unreachable": [(1, "head", {"head"})],
    "numbered": [(1, "3", {"3", "5"})],
    "quoted name": [(1, "again, please", {"again, please"})],
    "terminators": [(1, "head", {"head", "call", "pad", "jump", "latch"}), (2, "jump", {"jump"})],
    "deep": [
        (1, "one", {"one", "two", "three", "four", "end_three", "end_two", "end_one"}),
        (2, "two", {"two", "three", "four", "end_three", "end_two"}),
        (3, "three", {"three", "four", "end_three"}),
        (4, "four", {"four"}),
    ],
}


@pytest.fixture(scope="module")
def shapes() -> IRModule:
    module = read_ir(FIXTURES / "loops" / "shapes.ll")
    assert [function.name for function in module.defined_functions] == list(HAND_WORKED)
    return module


@pytest.mark.parametrize("name", HAND_WORKED)
def test_loops_worked_by_hand(shapes: IRModule, name: str) -> None:
    forest = find_loops(shapes)
    function = shapes.function(name)
    blocks = blocks_of(function)
    loop_rows = np.flatnonzero(forest.function == function.index)
    block, loop = forest.members()
    described = [
        (
            int(forest.depth[row]),
            blocks[forest.header[row] - function.header.first_block].name,
            {blocks[inside - function.header.first_block].name for inside in block[loop == row]},
        )
        for row in loop_rows
    ]
    assert described == HAND_WORKED[name]


def random_function(random: Random, name: str) -> str:
    """A function of up to 20 blocks with edges at random: nested, irreducible, unreachable, whatever comes."""
    count = random.randint(2, 20)
    lines = [f"define void @{name}(i32 %n) {{", "entry:", "  br label %b0"]
    for block in range(count):
        near = [
            min(count - 1, max(0, block + random.choice([-6, -3, -1, 0, 1, 1, 2, 2, 3])))
            for _ in range(random.choice([0, 1, 2, 2, 2, 2, 3, 3]))
        ]
        lines.append(f"b{block}:")
        if not near:
            lines.append("  ret void")
        else:
            cases = " ".join(f"i32 {number}, label %b{target}" for number, target in enumerate(near[1:]))
            lines.append(f"  switch i32 %n, label %b{near[0]} [ {cases} ]")
    return "\n".join([*lines, "}"])


def reached(successors: list[list[int]], start: int, without: int = -1) -> set[int]:
    """Blocks that a walk from the start meets; it never enters ``without``."""
    seen: set[int] = set()
    work = [start]
    while work:
        block = work.pop()
        if block != without and block not in seen:
            seen.add(block)
            work += successors[block]
    return seen


def slow_loops(successors: list[list[int]]) -> set[Loop]:
    """The definition, word for word: a dominates b if no walk from the entry reaches b without a."""
    reachable = reached(successors, 0)
    bodies: dict[int, set[int]] = {}
    for head in reachable:
        dominated = reachable - reached(successors, 0, without=head)
        latches = {block for block in dominated if head in successors[block]}
        if latches:
            inside = {block for block in dominated if latches & reached(successors, block, without=head)}
            bodies[head] = inside | {head}
    return {(sum(head in other for other in bodies.values()), head, frozenset(body)) for head, body in bodies.items()}


def mirenc_loops(module: IRModule) -> dict[str, set[Loop]]:
    """Loops of each defined function, by its name, as mirenc finds them."""
    forest = find_loops(module)
    blocks: list[set[int]] = [set() for _ in range(len(forest))]
    for block, loop in zip(*(column.tolist() for column in forest.members()), strict=True):
        blocks[loop].add(block)
    loops: dict[str, set[Loop]] = {function.name: set() for function in module.defined_functions}
    for loop, inside in enumerate(blocks):
        header = module.headers[forest.function[loop]]
        first = header.first_block
        entry = (int(forest.depth[loop]), int(forest.header[loop]) - first, frozenset(b - first for b in inside))
        loops[header.name.strip('"')].add(entry)
    return loops


def test_random_graphs_against_the_definition() -> None:
    """LLVM's loops are these; that blocks have LLVM's successors is the oracle's to say."""
    random = Random(11)
    module = parse_ir("\n".join(random_function(random, f"f{number}") for number in range(600)))
    loops_of = mirenc_loops(module)
    irreducible = 0
    for function in module.defined_functions:
        successors = [block.successors for block in blocks_of(function)]
        expected = slow_loops(successors)
        assert loops_of[function.name] == expected, function.name
        irreducible += still_cyclic(successors, expected)
    assert sum(map(len, loops_of.values())) > 600
    assert max(depth for loops in loops_of.values() for depth, _, _ in loops) >= 4
    assert irreducible > 50


def still_cyclic(successors: list[list[int]], loops: set[Loop]) -> bool:
    """Whether cycles are left when the back edges of all loops are cut."""
    bodies = {head: body for _, head, body in loops}
    cut = [
        [target for target in targets if block not in bodies.get(target, ())]
        for block, targets in enumerate(successors)
    ]
    return any(block in reached(cut, target) for block in reached(successors, 0) for target in cut[block])


def test_a_forest_is_in_order_and_nested(fixture_modules: dict[str, IRModule]) -> None:
    loops = 0
    for module in fixture_modules.values():
        forest = find_loops(module)
        loops += len(forest)
        block, loop = forest.members()
        bodies = [set(block[loop == row].tolist()) for row in range(len(forest))]
        for row, body in enumerate(bodies):
            parent = int(forest.parent[row])
            assert forest.header[row] in body
            assert {module.arrays.function[module.arrays.block_start[inside]] for inside in body} == {
                forest.function[row]
            }
            if parent < 0:
                assert forest.depth[row] == 1
            else:
                assert parent < row  # outer before inner
                assert body < bodies[parent]
                assert forest.depth[row] == forest.depth[parent] + 1
            assert body == {inside for inside in range(module.block_count) if forest.contains(row, inside)}
        siblings: dict[tuple[int, int], list[int]] = {}
        for row in range(len(forest)):
            siblings.setdefault((int(forest.function[row]), int(forest.parent[row])), []).append(forest.header[row])
        assert all(headers == sorted(headers) for headers in siblings.values())
        for inside, inner in enumerate(forest.innermost):
            around = [row for row, body in enumerate(bodies) if inside in body]
            assert inner == max(around, key=lambda row: forest.depth[row], default=-1)
    assert loops > 400


LONG = 20_000  # blocks: recursion or n^2 steps would not come back


def long_chain(*blocks: str) -> LoopForest:
    return find_loops(parse_ir("\n".join(["define void @f(i1 %c) {", *blocks, "exit:\n  ret void\n}"])))


def test_a_long_chain_of_early_exits() -> None:
    """Edges of all blocks into one, and a back edge over them all."""
    blocks = [f"b{i}:\n  br i1 %c, label %b{i + 1}, label %exit" for i in range(LONG)]
    forest = long_chain(*blocks, f"b{LONG}:\n  br i1 %c, label %b1, label %exit")
    assert forest.header.tolist() == [1]
    assert (forest.innermost >= 0).sum() == LONG


def test_a_long_chain_of_cycles_with_a_second_way_in() -> None:
    """Blocks that each jump back by one, and a way into the end."""
    blocks = [f"b{i}:\n  br i1 %c, label %b{i + 1}, label %b{i - 1}" for i in range(1, LONG)]
    entry, end = f"  br i1 %c, label %b0, label %b{LONG}", f"b{LONG}:\n  br i1 %c, label %b{LONG - 1}, label %exit"
    assert len(long_chain(entry, "b0:\n  br label %b1", *blocks, end)) == 0
