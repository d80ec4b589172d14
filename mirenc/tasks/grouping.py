"""Groups by what the code *is*: samples with the same statements are one group, whatever their sources say.

Grouping by source is what is published, and not enough: two sources may compile to the same IR (BT and SP of NPB share
kernels; two files of the coarsening data are the same), and a fold would then show the test code in training.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from mirenc.errors import MirencError, TaskError
from mirenc.ir import parse_ir, statements_of
from mirenc.tasks.sample import Sample

__all__ = ["join_same_code"]


def join_same_code(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with groups joined where a source or the normalised statements of the IR are the same.

    Parameters
    ----------
    samples : sequence of Sample
        With one group for each kernel source; ``ir`` is text, bitcode, or a `pathlib.Path`.

    Raises
    ------
    TaskError
        IR that cannot be read (the sample is named).
    """
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        leader.setdefault(name, name)
        while leader[name] != name:
            name = leader[name]
        return name

    for sample in samples:
        if sample.ir is None:
            raise TaskError(f"sample {sample.name} has no IR to compare. Leave it out, or give its IR")
        try:
            ir = sample.ir if isinstance(sample.ir, (str, bytes)) else Path(sample.ir).read_bytes()
            code = _statements_hash(ir)
        except MirencError as error:
            raise TaskError(f"sample {sample.name}: {error}") from None
        first, second = find(f"group {sample.group}"), find(code)
        leader[second] = first
    names = _short_names((find(f"group {sample.group}"), sample.group) for sample in samples)
    return [replace(sample, group=names[find(f"group {sample.group}")]) for sample in samples]


def _short_names(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Each joined group is called by the first of its groups in sorted order."""
    names: dict[str, str] = {}
    for joined, group in pairs:
        names[joined] = min(group, names.get(joined, group))
    return names


@lru_cache(maxsize=4096)
def _statements_hash(ir: str | bytes) -> str:
    """Of the module's normalised statements in order: names, metadata and alignment do not count."""
    return statements_of(parse_ir(ir)).content_hash.hex()
