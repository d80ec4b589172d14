"""Deciding: heads that answer questions about code and know what that is worth, and pass lists to try on one's own."""

from mirenc.deciding.fitting import fit_head
from mirenc.deciding.head import TaskHead, ready_heads
from mirenc.deciding.pass_lists import Code, FixedList, Outcome, Tried, fixed_lists, read_code, try_lists

__all__ = [
    "Code",
    "FixedList",
    "Outcome",
    "TaskHead",
    "Tried",
    "fit_head",
    "fixed_lists",
    "read_code",
    "ready_heads",
    "try_lists",
]
