"""Inlining for size: decisions written into a module, and a search for better ones."""

from mirenc.inlining.calls import Call as Call, Calls as Calls, calls_of as calls_of
from mirenc.inlining.search import Decisions as Decisions
from mirenc.inlining.trying import Inlining as Inlining, try_inlining as try_inlining
