"""The registry of methods: which tasks can be measured."""

from __future__ import annotations

import importlib

from mirenc.errors import TaskError
from mirenc.measure.method import Method

__all__ = ["get_method", "list_methods"]

# Task -> module and class. A new method is one file and one line here.
_REGISTRY: dict[str, str] = {
    "block_size": "mirenc.measure.block_size:BlockSizeMethod",
}


def list_methods() -> list[str]:
    """Tasks that `get_method` knows."""
    return sorted(_REGISTRY)


def get_method(task: str) -> Method:
    """How a task is measured.

    Raises
    ------
    TaskError
        It cannot be, or there is no such task.
    """
    if task not in _REGISTRY:
        raise TaskError(f"task {task!r} cannot be measured; those that can: {', '.join(list_methods())}. Name one")
    module, _, attribute = _REGISTRY[task].partition(":")
    method: Method = getattr(importlib.import_module(module), attribute)()
    return method
