"""Fixtures of pre-training."""

from small_corpus import corpus, ir_folder, short_run

__all__ = ["corpus", "ir_folder", "short_run"]
