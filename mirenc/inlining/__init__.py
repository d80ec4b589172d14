"""Inlining for size: decisions written into a module, and a search for better ones."""

from mirenc.inlining.calls import Call, Calls, calls_of
from mirenc.inlining.search import Decisions
from mirenc.inlining.trying import Inlining, try_inlining

__all__ = [
    "Call",
    "Calls",
    "Decisions",
    "Inlining",
    "calls_of",
    "try_inlining",
]
