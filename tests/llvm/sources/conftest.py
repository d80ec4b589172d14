"""What the tests of this folder share."""

from source_trees import fake_tools, no_clang, write_tree  # noqa: F401
