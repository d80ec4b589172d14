"""What a token of a statement is: grammar, part of a name or string, or part of a number.

Grammar is learnt from any code; the name of a function is learnt from its own project or not at all. So figures of
masked tokens are told apart by these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

__all__ = ["TokenKind", "token_kinds"]

_NAME = re.compile(r"[-$._:a-z0-9]+", re.IGNORECASE)


class TokenKind(IntEnum):
    """Kinds, as indices."""

    GRAMMAR = 0  # keywords, opcodes, types, punctuation
    NAME = 1  # after @, % or !, or between quotes
    NUMBER = 2


def token_kinds(pieces: Iterable[str]) -> list[TokenKind]:
    """Kind of each piece of one statement.

    Parameters
    ----------
    pieces : iterable of str
        As `IRTokenizer.pieces` gives them; a piece that begins a word begins with a space.
    """
    kinds: list[TokenKind] = []
    in_string = in_name = in_number = False
    brackets = 0  # open ones of C++ template arguments: names are demangled
    last = word = ""
    for piece in pieces:
        text = piece.strip()
        # No space in front: it may belong to what stands before. A letter or digit after another one surely does.
        goes_on = text == piece and bool(text)
        if '"' in text:
            kind, in_string, in_name, in_number = TokenKind.GRAMMAR, not in_string, False, False
        elif in_string or brackets or (in_name and goes_on and _NAME.fullmatch(text)):
            kind = TokenKind.NAME
            if brackets:
                brackets += (text == "<") - (text == ">")
        elif in_name and text == "<" and word != "operator":
            kind, brackets = TokenKind.NAME, 1
        elif goes_on and text[0].isalnum() and last.isalnum():
            kind = kinds[-1]
        elif text[:1].isdigit() or (in_number and goes_on and text in (".", "+", "-")):  # 1.5e+03
            kind, in_name, in_number = TokenKind.NUMBER, False, True
        else:
            kind, in_name, in_number = TokenKind.GRAMMAR, text[-1:] in ("@", "%", "!"), False
        kinds.append(kind)
        last, word = text[-1:], text
    return kinds
