"""Names of a package that are imported when they are first used (PEP 562), so that the package starts at once."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than a small command
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], dict[str, str]]:
    """A package's ``__getattr__``, and the module of each name; ``modules`` has the names of each, space-separated."""
    home = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, home
