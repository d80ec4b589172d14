"""`generate`: the seeded generator of C loops that `mirenc measure vectorization` measures unless told otherwise."""

from collections.abc import Iterator
from random import Random

from kernel_files import KernelText
from loop_driver import write_driver
from loop_source import draw_size, structures, write_source

from mirenc.decide.tables.measured import MeasuredKernel

# A call of fewer iterations takes too little time: the driver then calls several times.
LEAST_WORK = 3000
TRIES = 20


def generate(count: int, seed: int) -> Iterator[MeasuredKernel]:
    """Generate kernels, each one loop of C with its driver: the same for a seed on any machine.

    Kernels come in rounds: a round takes every structure at most once, in a new order, and a structure of weight w is
    in w rounds of four. So any beginning is spread over groups, and a smaller count gives the beginning of a larger.
    No two have the same source and driver but for the driver's numbers. A ValueError: there are not so many.
    """
    members = [(text, int(text.keys["weight"])) for family in structures().values() for text in family]
    order = Random(f"order {seed}")
    known_keys: set[tuple[str, int, int]] = set()
    generated = turn = 0
    while generated < count:
        round_texts = [text for text, weight in members if weight > turn % 4]
        order.shuffle(round_texts)
        count_before = generated
        for text in round_texts:
            kernel = _draw_new(text, Random(f"{text.name} {seed} {turn}"), turn, known_keys)
            if kernel is not None:
                yield kernel
                generated += 1
            if generated == count:
                return
        if generated == count_before:
            raise ValueError(f"The generator has {generated} different kernels, not {count}. Ask for fewer.")
        turn += 1


def _draw_new(text: KernelText, rng: Random, turn: int, known_keys: set[tuple[str, int, int]]) -> MeasuredKernel | None:
    for _ in range(TRIES):
        n = draw_size(text.keys["sizes"], rng)
        source = write_source(text, n, rng)
        # Names aside, the same text with the same size is the same sample.
        key = source.text.replace(source.function, ""), n, source.rows
        if key in known_keys:
            continue
        known_keys.add(key)
        operations = n ** int(text.keys["order"]) * max(source.rows, 1)
        return MeasuredKernel(
            name=f"{text.name}-{turn:03}",
            group=text.name,
            family=text.family,
            language="c",
            source=source.text,
            driver=write_driver(source, max(1, LEAST_WORK // operations), rng),
            function=source.function,
            line=source.line,
            size=n,
            context={"trip_count": source.trip_count},
        )
    return None
