"""`generate`: the seeded generator of C loops that `mirenc measure vectorization` measures unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from mirenc.measure.kernel import Kernel
from mirenc.measure.loops.driver import write_driver
from mirenc.measure.loops.source import write_source
from mirenc.measure.loops.structure import Structure, draw_size, structures

__all__ = ["generate"]

# A call of fewer iterations takes too little time: the driver then calls several times.
LEAST_WORK = 3000
TRIES = 20


def generate(count: int, seed: int) -> Iterator[Kernel]:
    """Generate kernels, each one loop of C with its driver: the same for a seed on any machine.

    Kernels come in rounds: a round takes every structure at most once, in a new order, and a structure of weight w is
    in w rounds of four. So any beginning is spread over groups, and a smaller count gives the beginning of a larger.
    No two have the same source and driver but for the driver's numbers.

    Raises
    ------
    ValueError
        The structures do not give so many different kernels.
    """
    members = [structure for family in structures().values() for structure in family]
    order = Random(f"order {seed}")
    seen: set[tuple[str, int, int]] = set()
    made = turn = 0
    while made < count:
        taken = [structure for structure in members if structure.weight > turn % 4]
        order.shuffle(taken)
        before = made
        for structure in taken:
            kernel = _draw_new(structure, Random(f"{structure.text.name} {seed} {turn}"), turn, seen)
            if kernel is not None:
                yield kernel
                made += 1
            if made == count:
                return
        if made == before:
            raise ValueError(f"The structures give {made} different kernels, not {count}; ask for fewer.")
        turn += 1


def _draw_new(structure: Structure, rng: Random, turn: int, seen: set[tuple[str, int, int]]) -> Kernel | None:
    for _ in range(TRIES):
        n = draw_size(structure.sizes, rng)
        source = write_source(structure, n, rng)
        # Names aside, the same text with the same size is the same sample.
        key = source.text.replace(source.function, ""), n, source.rows
        if key in seen:
            continue
        seen.add(key)
        work = n**structure.order * max(source.rows, 1)
        return Kernel(
            name=f"{structure.text.name}-{turn:03}",
            group=structure.text.name,
            family=structure.text.family,
            language="c",
            source=source.text,
            driver=write_driver(source, max(1, LEAST_WORK // work), rng),
            function=source.function,
            line=source.line,
            size=n,
            context={"trip_count": source.trip_count},
        )
    return None
