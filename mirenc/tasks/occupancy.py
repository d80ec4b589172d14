"""The occupancy rule: the block that fills a multiprocessor best, from a kernel's registers and shared memory.

What people use who do not measure. The limits are those of NVIDIA's tables of compute capabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirenc.errors import TaskError

__all__ = ["Multiprocessor", "block_by_occupancy", "multiprocessor", "resident_warps"]

_WARP = 32
_REGISTER_UNIT = 256  # registers that a warp gets at once
_WARP_UNIT = 4  # warps are spread over four schedulers


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor holds. Shared memory in bytes: of all blocks, of its units, and kept back for each."""

    warps: int
    blocks: int
    registers: int
    shared: int
    shared_unit: int
    shared_kept: int


_KNOWN = {
    "sm_70": Multiprocessor(64, 32, 65536, 98304, 256, 0),
    "sm_80": Multiprocessor(64, 32, 65536, 167936, 128, 1024),
}


def multiprocessor(architecture: str) -> Multiprocessor:
    """The limits of an architecture.

    Raises
    ------
    TaskError
        Not a known one.
    """
    if architecture not in _KNOWN:
        raise TaskError(f"no limits of {architecture!r} are known; available: {', '.join(_KNOWN)}")
    return _KNOWN[architecture]


def resident_warps(on: Multiprocessor, threads: int, registers: int, shared: int) -> int:
    """Warps that a multiprocessor holds at once; 0 where a block does not fit.

    Parameters
    ----------
    on : Multiprocessor
    threads : int
        Of a block.
    registers : int
        Of a thread.
    shared : int
        Bytes of a block.
    """
    warps = _up(threads, _WARP) // _WARP
    blocks = min(on.blocks, on.warps // warps)
    if registers:
        held = on.registers // _up(registers * _WARP, _REGISTER_UNIT)
        blocks = min(blocks, held // _WARP_UNIT * _WARP_UNIT // warps)
    if taken := _up(shared + on.shared_kept, on.shared_unit):
        blocks = min(blocks, on.shared // taken)
    return blocks * warps


def block_by_occupancy(on: Multiprocessor, threads: Sequence[int], registers: int, shared: Callable[[int], int]) -> int:
    """The index of the block of most resident warps; the largest of equal ones, as CUDA's own calculator has it.

    Parameters
    ----------
    on : Multiprocessor
    threads : sequence of int
        Of each block to choose among.
    registers : int
        Of a thread.
    shared : callable
        Threads of a block -> bytes of its shared memory.
    """
    return max(
        range(len(threads)),
        key=lambda index: (resident_warps(on, threads[index], registers, shared(threads[index])), threads[index]),
    )


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
