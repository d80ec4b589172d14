"""`Structure`: a loop of C with its types, sizes and data left open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mirenc.measure.loops.types import ALL, TypePair

__all__ = ["Structure", "structure"]


@dataclass(frozen=True)
class Structure:
    """A function of C around one innermost loop, with holes.

    ``code`` begins with the return type and the parameters, the function's name left out; then its body. ``@`` stands
    before the loop that is decided about. These words are filled in: ``T`` and ``U`` (element types), ``I`` (type of
    counters), ``J`` (a signed one), ``_F`` (``f`` after a literal or a function of math.h if ``T`` is float), and the
    words of ``choices``.

    Attributes
    ----------
    name : str
        The group of its kernels.
    code : str
        The template.
    data : mapping of str to str
        By parameter. For a pointer ``LENGTH`` or ``LENGTH: FILL`` (`mirenc.measure.loops.fill`), or ``= POINTER`` for
        one that points into another parameter's array; a pointer that is not named has ``n`` plain elements. For a
        number its value. All are expressions of C.
    types : tuple of (str, str)
        What T and U may be.
    sizes : str
        What ``n`` may be: a name in `mirenc.measure.loops.sizes`.
    trip : str
        Trip count of the loop as an expression of ``n`` and the choices; "" where it is not known before the loop runs.
    choices : mapping of str to tuple of str
        What further words may be.
    prelude : str
        Static functions that the source needs.
    structs : str
        Types that the source and its driver need.
    rows : bool
        Whether the body may stand in a loop over rows, each pointer moved on by its length after each.
    constant : bool
        Whether ``n`` may be a constant of the source.
    order : int
        Work of a call is about ``n ** order`` iterations.
    weight : int
        How often it is drawn, from 1 to 4.
    """

    name: str
    code: str
    data: Mapping[str, str]
    types: tuple[TypePair, ...]
    sizes: str
    trip: str
    choices: Mapping[str, tuple[str, ...]]
    prelude: str
    structs: str
    rows: bool
    constant: bool
    order: int
    weight: int


def structure(
    name: str,
    code: str,
    *,
    types: tuple[TypePair, ...] = ALL,
    sizes: str = "any",
    trip: str = "n",
    choices: Mapping[str, tuple[str, ...]] | None = None,
    prelude: str = "",
    structs: str = "",
    rows: bool = True,
    constant: bool = True,
    order: int = 1,
    weight: int = 2,
    **data: str,
) -> Structure:
    """Write a structure down in short; `Structure` says what each argument is, ``data`` by parameter."""
    return Structure(
        name=name,
        code=code.strip("\n"),
        data=data,
        types=types,
        sizes=sizes,
        trip=trip,
        choices=choices or {},
        prelude=prelude.strip("\n"),
        structs=structs.strip("\n"),
        rows=rows,
        constant=constant,
        order=order,
        weight=weight,
    )
