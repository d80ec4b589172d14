"""What the generated drivers put into arrays.

The data stay as they are however often a loop is called: small integers, floating numbers near 1.
"""

from __future__ import annotations

from mirenc.measure.loops.types import is_float, is_unsigned

__all__ = ["fill_value"]


def fill_value(fill: str, ctype: str) -> str:
    """Value of an element, in C.

    Parameters
    ----------
    fill : str
        Name of the fill, and an argument after a space for some.
    ctype : str
        Type of the element.

    Returns
    -------
    str
        An expression of ``i``, the element, ``count``, the number of elements, and ``next()``, a random number of 32
        bits.

    Raises
    ------
    ValueError
        If there is no such fill.
    """
    name, _, argument = fill.partition(" ")
    if name in ("plain", "positive", "near", "percent", "waves", "ramp", "any"):
        return _number(name, ctype)
    values = {
        "zero": "0",
        "identity": f"i % ({argument})",
        "clustered": f"((i / 16 * 2654435761ul) % ({argument}) + next() % 16) % ({argument})",
        "random": f"next() % ({argument})",
        "shuffled": f"(i * 7919ul + 13) % ({argument})",
        "skewed": f"(next() % 4 ? next() % 8 : next()) % ({argument})",
        "flags": f"next() % 100 < {argument}",
        "only": f"i == (long)({argument})",
        "text": 'i + 1 == count ? 0 : " etaoinshrdlu,.ETA09"[next() % 20]',
        "starts": f"i == 0 ? 0 : now[i - 1] + next() % (2 * ({argument}) + 1)",
        "powers": "i == 0 ? 0 : now[i - 1] + (next() % 16 ? next() % 4 : next() % 64)",
        "sorted": "i * 2",
    }
    if name not in values:
        raise ValueError(f"Fill {fill!r} is unknown. Known are: {', '.join(sorted(values))}")
    return values[name]


def _number(name: str, ctype: str) -> str:
    if is_float(ctype):
        return {
            "plain": "(next() % 2001) / 1000.0 - 1",
            "positive": "0.5 + (next() % 1001) / 1000.0",
            "near": "0.999 + (next() % 2001) / 1000000.0",
            "percent": "(next() % 10000) / 100.0",
            "waves": "i / 64 * 37 % 100 + 0.5",
            "ramp": "i % 97 / 97.0",
            "any": "(next() % 20001) / 100.0 - 100",
        }[name]
    low = "" if is_unsigned(ctype) else " - 20"
    wide = "next()" if is_unsigned(ctype) or ctype in ("int8_t", "char") else "(int)(next() % 20001) - 10000"
    return {
        "plain": f"(int)(next() % 41){low}",
        "positive": "1 + next() % 20",
        "near": "next() % 2 * 2 + 1",
        "percent": "next() % 100",
        "waves": "i / 64 * 37 % 100",
        "ramp": "i % 97",
        "any": wide,
    }[name]
