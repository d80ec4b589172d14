"""Deciding: heads that answer questions about code and know what that is worth, and pass lists to try on one's own."""

from mirenc.deciding.fitting import fit_head as fit_head
from mirenc.deciding.head import TaskHead as TaskHead, ready_heads as ready_heads
from mirenc.deciding.pass_lists import (
    Code as Code,
    FixedList as FixedList,
    Outcome as Outcome,
    Tried as Tried,
    fixed_lists as fixed_lists,
    read_code as read_code,
    try_lists as try_lists,
)
