"""What the tests of this folder share."""

from small_corpus import corpus, ir_folder, short_run

__all__ = ["corpus", "ir_folder", "short_run"]
