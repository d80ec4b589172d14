"""Pass lists for one's own code: which may beat -Oz, and what trying them won.

from mirenc.suggesting import fixed_lists, read_code, try_lists
"""

from __future__ import annotations

from mirenc.suggesting.code import Code, read_code
from mirenc.suggesting.lists import FixedList, fixed_lists
from mirenc.suggesting.trial import Outcome, Tried, try_lists

__all__ = ["Code", "FixedList", "Outcome", "Tried", "fixed_lists", "read_code", "try_lists"]
