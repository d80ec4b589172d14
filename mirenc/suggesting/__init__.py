"""Pass lists for one's own code: which may beat -Oz, whether any is worth trying, and what trying them won.

from mirenc.suggesting import read_code, suggest, try_lists
"""

from __future__ import annotations

from mirenc.suggesting.code import Code, read_code
from mirenc.suggesting.lists import Suggested, Suggestion, suggest
from mirenc.suggesting.trial import Outcome, Tried, try_lists

__all__ = ["Code", "Outcome", "Suggested", "Suggestion", "Tried", "read_code", "suggest", "try_lists"]
