"""Brings a module to a normal form: LLVM's passes of a level, such as -O2, so that builds of one source look alike.

The passes are those of the LLVM inside llvmlite, in the parsing child process, for the module's own target. Removed
before them are attributes that clang puts on every function, ``optnone`` and ``noinline`` at -O0, ``optsize`` and
``minsize`` before passes for speed, and what compilers note for passes (profiles, aliasing, unrolling). Functions that
the passes delete (inlined wherever they are called, or never called) are brought to the form by themselves.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple

from mirenc.base.errors import ConfigError, IRParseError, unknown
from mirenc.llvm.ir.lines import DEFINED, NAME, balanced, without_hints

Form = Literal["plain", "light", "O1", "O2", "O3", "Os", "Oz"]

PASSES: dict[str, dict[str, Any]] = {
    "light": {"speed": 1, "functions": True},
    "O1": {"speed": 1},
    "O2": {"speed": 2},
    "O3": {"speed": 3},
    # LLVM 22 has no pipelines for size: its passes go by these attributes, which clang puts on all functions.
    "Os": {"speed": 2, "attributes": ["optsize"]},
    "Oz": {"speed": 2, "attributes": ["optsize", "minsize"]},
}
"""Requests to the child process by form (`mirenc.llvm.child.parsing_service`)."""
FORMS = ("plain", *PASSES)
PASSES_OF = "LLVM 22"
"""The LLVM whose passes these are, that of the only llvmlite that setup.cfg allows."""

_BODY = re.compile(rf"{DEFINED.pattern}.*?^\}}$", re.MULTILINE | re.DOTALL)
_LINKAGE = re.compile(
    r"^define (?:(?:private|internal|available_externally|linkonce|linkonce_odr|weak|weak_odr) )?"
    r"((?:dso_local |dso_preemptable )?)(?:dllimport )?"
)
_LOCAL_VARIABLE = re.compile(
    rf"^(@({NAME}) = )(?:private|internal) (?=(?:[a-z_]+(?:\([^)\n]*\))? )*global )", re.MULTILINE
)
# What needs the body of a function: an alias, an ifunc, the address of a block.
_NEEDS_BODIES = re.compile(rf"^@({NAME}) = [^\n\"]*\b(?:alias|ifunc) |\bblockaddress\(", re.MULTILINE)
_GROUP = re.compile(r"^attributes #\d+ = \{[^\n]* optnone [^\n]*\}$", re.MULTILINE)
_ANY_GROUP = re.compile(r"^attributes #\d+ = \{[^\n]*\}$", re.MULTILINE)
_OPTNONE = re.compile(r" (?:noinline|optnone)(?= )")
_SIZE_ATTRIBUTES = re.compile(r" (?:optsize|minsize|optdebug)(?= )")
_DEBUG_ATTRIBUTE = re.compile(r" optdebug(?= )")  # LLVM refuses it beside optsize
# After the arguments: whether the address matters, its space, attributes.
_AFTER_ARGUMENTS = re.compile(r"(?: (?:local_)?unnamed_addr)?( addrspace\(\d+\))?( #\d+)?")


class FormedText(NamedTuple):
    """Canonical text of a module in a form, and of a module with the functions that its passes deleted ("": none)."""

    text: str
    deleted: str


def check_form(form: str) -> None:
    """Raise ConfigError where ``form`` is none of the `FORMS`."""
    if form not in FORMS:
        raise ConfigError(unknown("form", form, FORMS))


def has_definitions(text: str) -> bool:
    """Whether canonical text defines a function."""
    return DEFINED.search(text) is not None


def formed(
    text: str, form: str, run: Callable[[str, str], str], *, unoptimised: bool = False, deleted: bool = True
) -> FormedText:
    """Bring a module's canonical text to one of the `PASSES`; ``run`` (text, form) runs these, and may raise.

    ``unoptimised`` says that the module was built at -O0. Without ``deleted``, functions that the passes delete are
    left out, unless that is all of them. Raises IRParseError: it cannot be brought to the form.
    """
    # A module that was read has no other hints than these either, and no vector may depend on a profile.
    text = without_optnone(without_hints(text), unoptimised=unoptimised)
    # Passes for speed inline what was not inlined for size: -O2 of an -Oz build is nearly that of the -O2 build.
    attributes = _DEBUG_ATTRIBUTE if "attributes" in PASSES[form] else _SIZE_ATTRIBUTES
    text = _ANY_GROUP.sub(lambda group: _without_attributes(attributes, group[0]), text)
    names = set(DEFINED.findall(text))
    if any(name.isdecimal() for name in names):  # one that is called so stands in quotes
        raise IRParseError("some functions have no names, and passes would renumber them")
    optimised = run(text, form)
    missing = names.difference(DEFINED.findall(optimised))
    if not missing or not (deleted or missing == names):
        return FormedText(optimised, "")
    deleted_text = with_bodies(run(keep_bodies(text, missing), form), missing)
    if lost_names := missing.difference(DEFINED.findall(deleted_text)):
        raise IRParseError(f"LLVM's passes delete {', '.join(sorted(lost_names))} although other modules may use it")
    return FormedText(deleted_text, "") if missing == names else FormedText(optimised, deleted_text)


def without_optnone(text: str, *, unoptimised: bool = False) -> str:
    """Canonical text without ``optnone``, and without ``noinline`` where it stands beside it.

    Of an ``unoptimised`` module without any ``noinline``: there ``clang -O0 -Xclang -disable-O0-optnone`` puts it on
    every function, and the author's own cannot be told from it.
    """
    return (_ANY_GROUP if unoptimised else _GROUP).sub(lambda group: _without_attributes(_OPTNONE, group[0]), text)


def _without_attributes(attributes: re.Pattern[str], group: str) -> str:
    """A group without some attributes; one left empty, which LLVM refuses, gets an attribute without meaning."""
    return re.sub(r"= \{ \}$", '= { "none" }', attributes.sub("", group))


def keep_bodies(text: str, names: Collection[str]) -> str:
    """Canonical text in which the functions called ``names`` alone have bodies, and are visible from outside.

    So no pass deletes them. Variables are made visible, too, since functions that write them are gone. Where an alias,
    an ifunc or the address of a block needs other bodies, all stay.
    """

    def make_visible(match: re.Match[str]) -> str:
        return _LINKAGE.sub(r"define \1", match[0]) if match[1] in names else match[0]

    text = _BODY.sub(make_visible, _LOCAL_VARIABLE.sub(r"\1", text))
    return text if _NEEDS_BODIES.search(text) else with_bodies(text, names)


def with_bodies(text: str, names: Collection[str]) -> str:
    """Canonical text in which other functions than ``names`` are declared, not defined."""

    def declare(match: re.Match[str]) -> str:
        if match[1] in names:
            return match[0]
        # Its calling convention, type, address space and attributes.
        header = match[0][: match[0].index("\n")]
        end = balanced(header, match.end(1) - match.start())
        suffix = _AFTER_ARGUMENTS.match(header, end)
        words = "" if suffix is None else "".join(word or "" for word in suffix.groups())
        return _LINKAGE.sub(r"declare \1", header[:end]) + words

    return _BODY.sub(declare, text)
