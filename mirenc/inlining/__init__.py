"""Inlining for size: a clang that asks about each call, decisions written into a module, a search for better ones."""

from mirenc.inlining.calls import Call, Calls, calls_of
from mirenc.inlining.host import CallSite, compile_asking, llvm_rule
from mirenc.inlining.search import Decisions
from mirenc.inlining.trying import Inlining, try_inlining

__all__ = [
    "Call",
    "CallSite",
    "Calls",
    "Decisions",
    "Inlining",
    "calls_of",
    "compile_asking",
    "llvm_rule",
    "try_inlining",
]
