"""The pool of pass lists: one for all pieces, from a seed.

List 0 is -Oz itself, list 1 the same as LLVM prints it, pass by pass. Then come mutations of that print-out, and random
lists, short and long, of the passes that change something. Most are random: tried on 60 functions, thirty mutations of
one to eight changes gave 0.7 modules that were not -Oz's, thirty random lists 23; and a list of up to 40 passes gained
more than one of up to 20.
"""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mirenc.base.errors import ConfigError, IRParseError
from mirenc.base.writing import delivered
from mirenc.decide.tables.compiled import PassList
from mirenc.llvm.passes.pass_lists import PassNode, Step, expanded, level, mutated, parse, random_list, render, steps
from mirenc.llvm.passes.size_after_passes import Engine, Optimised

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
    rest = count - len(lists)
    mutations = round(_MUTATIONS * rest)
    long = (rest - mutations) // 2
    _draw("mutation", mutation, mutations, engine, lists)
    _draw("random", lambda: random_list(pool, chance), rest - mutations - long, engine, lists)
    _draw("long random", lambda: random_list(pool, chance, _LONG), long, engine, lists)
    return lists


def firing(engine: Engine, texts: Iterable[str], pool: Sequence[Step]) -> list[Step]:
    """The passes of a pool that change any of the modules after one of `_BEGINNINGS`."""
    fired: set[Step] = set()
    for text in texts:
        untested = [step for step in pool if step not in fired]
        alone = [random_list([step], random.Random(0), longest=1) for step in untested]  # the list of one pass
        for beginning in _BEGINNINGS:
            lists = [beginning, *(",".join(filter(None, (beginning, single))) for single in alone)]
            try:
                before, *after = engine.run_all(text.encode(), lists)
            except IRParseError:
                continue
            if isinstance(before, Optimised):
                for step, result in zip(untested, after, strict=True):
                    if isinstance(result, Optimised) and result.digest != before.digest:
                        fired.add(step)
    return [step for step in pool if step in fired]


def _draw(kind: str, draw: Callable[[], str], count: int, engine: Engine, lists: list[PassList]) -> None:
    """Add ``count`` new lists that the engine knows."""
    seen, end = {drawn.pipeline for drawn in lists}, len(lists) + count
    for _ in range(_TRIES * count):
        if len(lists) == end:
            break
        pipeline = draw()
        if pipeline not in seen and engine.knows(pipeline):
            seen.add(pipeline)
            lists.append(PassList(pipeline, kind))


def kept_lists(path: Path, setup: Mapping[str, Any], draw: Callable[[], list[PassList]]) -> list[PassList]:
    """The lists that an earlier run with this setup drew, or new ones, which are kept for later runs."""
    if path.exists():
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
            if before["setup"] == json.loads(json.dumps(setup)):
                return [PassList(**entry) for entry in before["lists"]]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise ConfigError(f"{path} is damaged ({error!r}). Remove the folder, or name another") from None
    lists = draw()
    with delivered(path) as part:
        part.write_text(json.dumps({"setup": setup, "lists": [asdict(entry) for entry in lists]}), encoding="utf-8")
    return lists
