"""The occupancy rule, against examples worked out by hand."""

import pytest

from mirenc.errors import TaskError
from mirenc.tasks.occupancy import block_by_occupancy, multiprocessor, resident_warps


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "warps"),
    [
        ("sm_70", 256, 32, 0, 64),  # 8 blocks of 8 warps: all of the 64
        ("sm_70", 32, 16, 0, 32),  # at most 32 blocks
        ("sm_70", 256, 64, 0, 32),  # 2048 registers a warp: 32 warps
        ("sm_70", 256, 40, 0, 48),  # 1280 a warp: 51, of which 48 in fours, 6 blocks
        ("sm_70", 128, 32, 20000, 16),  # 20224 bytes a block: 4 of 98304
        ("sm_80", 128, 32, 20000, 28),  # 21120 with what is kept back: 7 of 167936
        ("sm_80", 1024, 40, 0, 32),  # 48 warps fit, and a block has 32
        ("sm_70", 1024, 128, 0, 0),  # 16 warps fit, and a block has 32
    ],
)
def test_resident_warps(architecture: str, threads: int, registers: int, shared: int, warps: int) -> None:
    assert resident_warps(multiprocessor(architecture), threads, registers, shared) == warps


def test_the_largest_of_the_fullest_blocks_is_taken() -> None:
    on, threads = multiprocessor("sm_70"), (64, 128, 256, 512, 1024)
    assert block_by_occupancy(on, threads, 32, lambda _: 0) == 4
    assert block_by_occupancy(on, threads, 40, lambda _: 0) == 3  # 48 warps: 3 blocks of 16
    assert block_by_occupancy(on, threads, 32, lambda each: 96 * each) == 4


def test_another_architecture_is_refused() -> None:
    with pytest.raises(TaskError, match="no limits of 'sm_1' are known; available: sm_70, sm_80"):
        multiprocessor("sm_1")
