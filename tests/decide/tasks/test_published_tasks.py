"""Two published tables of OpenCL kernels: what they say of themselves, and that a split parts no kernel."""

from __future__ import annotations

from typing import Any

import pytest

from mirenc.base.errors import TaskError
from mirenc.decide.datasets.dataset_registry import DATASETS
from mirenc.decide.registry import get_task

GPUS = ("HD5900", "Tahiti", "GTX480", "K20c")


@pytest.mark.parametrize(
    ("name", "protocols", "context_names", "machines"),
    [
        (
            "device_mapping",
            ["paper", "kernel", "suite"],
            ("transfer", "wgsize"),
            [(variant, (1.0, 1.0)) for variant in get_task("device_mapping").variants],
        ),
        ("thread_coarsening", ["paper", "kernel"], ("gpu",), [("", (gpu,)) for gpu in GPUS]),
    ],
)
def test_the_published_protocol_comes_first_and_says_that_it_leaks(
    name: str, protocols: list[str], context_names: tuple[str, ...], machines: list[tuple[str, tuple[Any, ...]]]
) -> None:
    task = get_task(name)
    assert [protocol.name for protocol in task.protocols] == protocols
    assert "leaks" in task.protocol("paper").title
    assert name in DATASETS  # what `mirenc datasets fetch` gets
    assert task.context.names == context_names
    assert all(feature.help for feature in task.context.features)
    assert task.space is not None
    assert task.space.default in task.baselines.values()
    assert all(task.machine(variant, context) for variant, context in machines)
    assert task.dialect is not None
    with pytest.raises(TaskError, match=rf"no protocol 'random'; available: {', '.join(protocols)}"):
        task.protocol("random")


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name in ("device_mapping", "thread_coarsening") for variant in get_task(name).variants],
)
def test_grouped_by_kernel_no_group_is_on_both_sides(name: str, variant: str, published_data: Any) -> None:
    task, data = get_task(name), published_data(name, variant)
    assert all(space is task.space for space in data.spaces)
    for training, test in task.protocol("kernel").split(data, 0):
        assert not set(data.group[training]) & set(data.group[test])
