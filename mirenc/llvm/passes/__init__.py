"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise.

Names are imported when first used (PEP 562): reading IR in a form needs none of them.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirenc.llvm.passes.extract import (
        extract_functions as extract_functions,
        without_size_attributes as without_size_attributes,
    )
    from mirenc.llvm.passes.find_llvm import (
        EmbeddedEngine as EmbeddedEngine,
        SharedEngine as SharedEngine,
        find_engine as find_engine,
    )
    from mirenc.llvm.passes.size_after_passes import (
        Engine as Engine,
        Failed as Failed,
        Optimised as Optimised,
        code_bytes as code_bytes,
    )

_HOME = dict.fromkeys(("extract_functions", "without_size_attributes"), "extract")
_HOME |= dict.fromkeys(("EmbeddedEngine", "SharedEngine", "find_engine"), "find_llvm")
_HOME |= dict.fromkeys(("Engine", "Failed", "Optimised", "code_bytes"), "size_after_passes")
__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"mirenc.llvm.passes.{_HOME[name]}"), name)
    raise AttributeError(f"module 'mirenc.llvm.passes' has no attribute {name!r}")
