"""Draw pass lists for `mirenc label` from a seed: its own are mirenc/tools/measure/passes/lists.json.

    python downstream/passes/draw_lists.py TABLE -o lists.json --count 100 --seed 0

TABLE is one of `mirenc label` with its IR. List 0 is -Oz itself, list 1 the same as LLVM prints it, pass by pass. Then
come mutations of that print-out, and random lists, short and long, of the passes that change something. Most are
random: tried on 60 functions, thirty mutations of one to eight changes gave 0.7 modules that were not -Oz's, thirty
random lists 23; and a list of up to 40 passes gained more than one of up to 20.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from mirenc.base.errors import IRParseError, PassError
from mirenc.decide.tables.compiled import PassList, read_compiled, read_piece_ir
from mirenc.decide.tables.table_folder import write_json
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.pass_lists import PassNode, Step, expanded, level, parse, render, steps
from mirenc.llvm.passes.size_after_passes import Engine, Optimised

LONGEST = 20  # passes of a random list
MOST_CHANGES = 8  # of a mutation
_ASKED = {"function": 20, "module": 3}  # pieces for training that say which passes change anything
_LOOPS = ("loop", "loop-mssa")
_ANALYSES = ("require", "invalidate")  # stay where they are

_MUTATIONS = 0.3  # share of the lists beside -Oz itself; the others are half short, half long random lists
_CHANGES = 12  # of a mutation: each is one to eight changes, and a few change nothing that counts
_LONG = 40  # passes of a long random list, at most
_TRIES = 50  # draws a list: a small pool has few different ones
# What a pass is tried after: nothing, what brings variables into registers, and what else many passes wait for.
_BEGINNINGS = ("", "function(sroa)", "function(sroa,early-cse,instcombine,simplifycfg,loop-mssa(licm))")


def make_lists(engine: Engine, texts: Iterable[str], count: int, seed: int) -> list[PassList]:
    """Draw ``count`` different lists, or fewer if there are no more.

    Passes of -Oz that change none of ``texts`` (IR) are not drawn from. A `PassError` where -Oz of the engine's LLVM is
    not known pass by pass.
    """
    tree = parse(expanded("Oz", engine.version))
    pool = sorted(set(steps(tree)), key=lambda step: (step.kind, step.text))
    pool = firing(engine, texts, pool) or pool
    chance = random.Random(seed)

    def mutation() -> str:
        """A list mutated again and again, so often that it is seldom -Oz under another name."""
        changed: Sequence[PassNode] = tree
        for _ in range(chance.randint(1, _CHANGES)):
            changed = mutated(changed, chance)
        return render(changed)

    lists = [PassList(level("Oz"), "default"), PassList(render(tree), "expanded")][:count]
    remaining = count - len(lists)
    mutations = round(_MUTATIONS * remaining)
    long = (remaining - mutations) // 2
    _draw("mutation", mutation, mutations, engine, lists)
    _draw("random", lambda: random_list(pool, chance), remaining - mutations - long, engine, lists)
    _draw("long random", lambda: random_list(pool, chance, _LONG), long, engine, lists)
    return lists


def firing(engine: Engine, texts: Iterable[str], pool: Sequence[Step]) -> list[Step]:
    """The passes of a pool that change any of the modules after one of `_BEGINNINGS`."""
    fired: set[Step] = set()
    for text in texts:
        untested = [step for step in pool if step not in fired]
        singles = [random_list([step], random.Random(0), longest=1) for step in untested]  # the list of one pass
        for beginning in _BEGINNINGS:
            lists = [beginning, *(",".join(filter(None, (beginning, single))) for single in singles)]
            try:
                reference, *results = engine.run_all(text.encode(), lists)
            except IRParseError:
                continue
            if isinstance(reference, Optimised):
                for step, result in zip(untested, results, strict=True):
                    if isinstance(result, Optimised) and result.digest != reference.digest:
                        fired.add(step)
    return [step for step in pool if step in fired]


def _draw(kind: str, draw: Callable[[], str], count: int, engine: Engine, lists: list[PassList]) -> None:
    """Add ``count`` new lists that the engine knows."""
    pipelines, end = {entry.pipeline for entry in lists}, len(lists) + count
    for _ in range(_TRIES * count):
        if len(lists) == end:
            break
        pipeline = draw()
        if pipeline not in pipelines and engine.knows(pipeline):
            pipelines.add(pipeline)
            lists.append(PassList(pipeline, kind))


def mutated(passes: Sequence[PassNode], chance: random.Random) -> tuple[PassNode, ...]:
    """A list with one to `MOST_CHANGES` changes; PassError where it has no pass to change.

    A change drops or repeats a pass, swaps two neighbours, or repeats an adaptor with all that is in it.
    """
    if not any(steps(passes)):
        raise PassError("a list without passes cannot be changed; give one like 'function(sroa,instcombine)'")
    root = PassNode("", "", tuple(passes))
    for _ in range(chance.randint(1, MOST_CHANGES)):
        change = chance.choice(("drop", "repeat", "swap", "repeat adaptor"))
        if places := list(_places(root, change)):
            changed = _edited(root, chance.choice(places), change, chance)
            # The last pass of a list is not dropped.
            root = changed if any(steps(changed.passes)) else root
    return root.passes


def random_list(pool: Sequence[Step], chance: random.Random, longest: int = LONGEST) -> str:
    """A list of one to ``longest`` passes of a pool, with repetition; PassError for an empty pool."""
    if not pool:
        raise PassError("there are no passes to draw a list from")
    sequence = [chance.choice(pool) for _ in range(chance.randint(1, longest))]
    adaptors = groupby(sequence, key=lambda step: "function" if step.kind in _LOOPS else step.kind)
    return ",".join(_level(kind, list(group)) for kind, group in adaptors)


def _level(kind: str, group: list[Step]) -> str:
    """Neighbours that one adaptor of the module takes."""
    parts = []
    for inner, loops in groupby(group, key=lambda step: step.kind):
        texts = ",".join(step.text for step in loops)
        parts.append(f"{inner}({texts})" if inner in _LOOPS else texts)
    return f"{kind}({','.join(parts)})" if kind != "module" else ",".join(parts)


def _edited(node: PassNode, path: Sequence[int], change: str, chance: random.Random) -> PassNode:
    """A tree with a change at the end of a way; adaptors left without any passes are gone."""
    index, *rest = path
    children = list(node.passes)
    if rest:
        child = _edited(children[index], rest, change, chance)
        children[index : index + 1] = [child] if child.passes else []
    elif change == "drop":
        del children[index]
    elif change == "swap":
        children[index], children[index + 1] = children[index + 1], children[index]
    else:
        children.insert(chance.randint(0, len(children)) if change == "repeat" else index, children[index])
    return PassNode(node.name, node.options, tuple(children))


def _places(node: PassNode, change: str) -> Iterator[list[int]]:
    """Ways (indices from the root) to what a change can be made at."""
    for index, child in enumerate(node.passes):
        fits = bool(child.passes) == (change == "repeat adaptor")
        if change == "swap":
            fits = any(peer.name not in _ANALYSES and peer != child for peer in node.passes[index + 1 : index + 2])
        if fits and child.name not in _ANALYSES:
            yield [index]
        yield from ([index, *path] for path in _places(child, change))


def main() -> None:
    """Draw lists by the first training pieces of a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    pieces = [piece for piece in read_compiled(arguments.table).pieces if not piece.held_out]
    asked = [piece for name, count in _ASKED.items() for piece in [one for one in pieces if one.level == name][:count]]
    texts = read_piece_ir(arguments.table, asked)
    with SharedEngine(19) as engine:
        lists = make_lists(engine, texts, arguments.count, arguments.seed)
    write_json(arguments.output, [asdict(entry) for entry in lists])


if __name__ == "__main__":
    main()
