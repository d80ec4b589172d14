"""What tests of the recipes share with those of pre-training and of sources."""

from small_corpus import corpus, ir_folder, short_run
from source_trees import fake_tools, no_clang, write_tree

__all__ = ["corpus", "fake_tools", "ir_folder", "no_clang", "short_run", "write_tree"]
