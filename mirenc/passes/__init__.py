"""Running LLVM's passes on IR and weighing what comes out: exact sizes, without noise."""

from mirenc.passes.engine import Engine, Failed, Optimised, code_bytes
from mirenc.passes.extract import extract_functions, without_size_attributes
from mirenc.passes.installed import EmbeddedEngine, SharedEngine, find_engine

__all__ = [
    "EmbeddedEngine",
    "Engine",
    "Failed",
    "Optimised",
    "SharedEngine",
    "code_bytes",
    "extract_functions",
    "find_engine",
    "without_size_attributes",
]
