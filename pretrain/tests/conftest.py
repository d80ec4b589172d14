"""What tests of the recipes share with those of pre-training and of sources, and the recipes as modules."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from small_corpus import corpus, ir_folder, short_run
from source_trees import fake_tools, no_clang, write_tree

__all__ = ["corpus", "fake_tools", "ir_folder", "no_clang", "short_run", "write_tree"]


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest) -> ModuleType:
    """The recipe that a file of tests names as its ``RECIPE``, which is no package; it imports those beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[1])
        return importlib.import_module(request.module.RECIPE)
