"""IR of any LLVM as the canonical text of llvmlite's: parsed, repaired where that is certain, verified, printed."""

import contextlib
import logging
import re
from collections.abc import Callable
from functools import partial

from mirenc.base.errors import IRParseError, IRResourceError
from mirenc.llvm.child.parsing_worker import ParsingWorker
from mirenc.llvm.inputs.file_kind import InputBytes, command_for
from mirenc.llvm.inputs.other_llvm import lower_by_other_llvm
from mirenc.llvm.ir import old_text
from mirenc.llvm.ir.repair_text import repair

_LOGGER = logging.getLogger(__name__)
_TARGET = re.compile(r'^target[ \t]+(datalayout|triple)[ \t]*=[ \t]*("[^"]*").*\n?', re.MULTILINE)
_COROUTINE_END = b"llvm.coro.end"
_MOST_REPAIRS = 50

_Canonical = Callable[..., str]  # of `ParsingWorker.canonicalise`


def canonical_text(loaded: InputBytes, worker: ParsingWorker, *, most_text: int, timeout: float | None) -> str:
    """Canonical text of some IR; what was repaired, and which other LLVM read it, is logged as a warning.

    Bitcode and text that llvmlite's LLVM does not parse go through a clang or opt of another version. Raises
    IRParseError: also for what is invalid in any LLVM (`old_text.is_broken`); IRResourceError.
    """
    canonical = partial(worker.canonicalise, most_text=most_text, timeout=timeout)
    other = partial(lower_by_other_llvm, loaded.data, timeout=timeout, memory_limit=worker.memory_limit)
    if loaded.kind != "bitcode":
        return _from_text(loaded.name, loaded.data, canonical, other)
    coroutine = _COROUTINE_END in loaded.data
    try:
        return canonical(loaded.data)
    except IRResourceError:  # LLVM 22 ends its process on the `llvm.coro.end` of LLVM 16 and older
        if not coroutine or (lowered := other(as_text=True)) is None:
            raise
    except IRParseError as refusal:
        lowered = other(as_text=True) if coroutine or not old_text.is_broken(refusal) else None
        if lowered is None:
            refusal.args = (f"{refusal.args[0]}. {old_text.explain_bitcode(refusal)}",)
            raise
    text, program = lowered
    _LOGGER.warning("mirenc: warning: %s: bitcode of another LLVM, read by %s", loaded.name, program)
    return _from_text(loaded.name, text, canonical, lambda: None)


def _from_text(name: str, data: bytes, canonical: _Canonical, other: Callable[[], tuple[bytes, str] | None]) -> str:
    """Canonical text of a text: as it is, then with what `old_text` and `repair_text` mend, then by another LLVM."""
    if _COROUTINE_END in data:
        data = _encoded(old_text.modernise_coroutine_end(_decoded(data)))
    try:
        return canonical(data)
    except IRParseError as error:
        refusal = error
    text = _decoded(data)
    fixed, incomplete, repairs = old_text.modernise(text), False, list[str]()
    for _ in range(_MOST_REPAIRS):
        if fixed != text or repairs:
            try:
                read = canonical(_encoded(fixed), incomplete=incomplete)
            except IRParseError as error:
                refusal = error
            else:
                for what in dict.fromkeys(repairs):
                    _LOGGER.warning("mirenc: warning: %s: %s", name, what)
                return read
        if (found := repair(fixed, refusal)) is None or (found.text == fixed and found.incomplete <= incomplete):
            break
        fixed, incomplete = found.text, incomplete or found.incomplete
        repairs.append(found.what)
    if re.search("^define ", text, re.MULTILINE) and not old_text.is_broken(refusal):
        if (lowered := other()) is not None:
            bitcode, program = lowered
            with contextlib.suppress(IRParseError):  # the first error says more: it has a place
                upgraded = _with_target(canonical(bitcode), text, canonical)
                _LOGGER.warning("mirenc: warning: %s: text of another LLVM, read by %s", name, program)
                return upgraded
    elif (source := command_for(name)) is not None:
        language, command = source
        raise IRParseError(f"is {language} source, which mirenc does not compile. Type: {command}") from None
    refusal.args = (f"{refusal.args[0]}. {old_text.explain(text, refusal.diagnostic)}",)
    raise refusal from None


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _with_target(upgraded: str, text: str, canonical: _Canonical) -> str:
    """Canonical text from a clang, which replaced the target, with the target that ``text`` names."""
    own = "".join(f"target {what} = {value}\n" for what, value in _TARGET.findall(text))
    header = "".join(f"target {what} = {value}\n" for what, value in _TARGET.findall(canonical(own.encode())))
    bare = _TARGET.sub("", upgraded)
    place = bare.index("\n", bare.index("source_filename = ")) + 1
    return bare[:place] + header + bare[place:]
