<<<<<<< HEAD
"""What the tests of this folder share."""
=======
"""What tests of the recipes share with those of pre-training and of sources."""
>>>>>>> 72fb9a2eb00cb6a61cb508407d0039686a5a72f4

from small_corpus import corpus, ir_folder, short_run
from source_trees import fake_tools, no_clang, write_tree

<<<<<<< HEAD
__all__ = ["corpus", "ir_folder", "short_run"]
=======
__all__ = ["corpus", "fake_tools", "ir_folder", "no_clang", "short_run", "write_tree"]
>>>>>>> 72fb9a2eb00cb6a61cb508407d0039686a5a72f4
