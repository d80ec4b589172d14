"""Inlining for size: decisions written into a module, and a search for better ones."""

from mirenc.tools.inline.calls import Call as Call, Calls as Calls, calls_of as calls_of
from mirenc.tools.inline.search_decisions import Decisions as Decisions
from mirenc.tools.inline.trial import Inlining as Inlining, try_inlining as try_inlining
