"""Fixtures and hooks of the package's tests (`tests/conftest.py`), for those of the recipes."""

from small_corpus import corpus, ir_folder, short_run

from conftest import (
    cache_folder,
    compiler,
    convolution_config,
    encoder,
    fixture_modules,
    fixture_statements,
    links,
    model_config,
    model_folder,
    model_weights,
    pytest_generate_tests,
    pytest_runtest_setup,
    samples,
    tokenizer,
)

__all__ = [
    "cache_folder",
    "compiler",
    "convolution_config",
    "corpus",
    "encoder",
    "fixture_modules",
    "fixture_statements",
    "ir_folder",
    "links",
    "model_config",
    "model_folder",
    "model_weights",
    "pytest_generate_tests",
    "pytest_runtest_setup",
    "samples",
    "short_run",
    "tokenizer",
]
