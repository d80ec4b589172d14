"""IR of any LLVM as the canonical text of llvmlite's: parsed, repaired where that is certain, verified, printed."""

import contextlib
import logging
import math
import re
import time
from collections.abc import Callable

from mirenc.base.errors import IRParseError, IRResourceError
from mirenc.llvm.child.parsing_worker import DEFAULT_TIMEOUT, ParsingWorker
from mirenc.llvm.inputs.file_kind import InputBytes
from mirenc.llvm.inputs.languages import command_for
from mirenc.llvm.inputs.other_llvm import lower_by_other_llvm
from mirenc.llvm.ir import old_text
from mirenc.llvm.ir.float_literals import older_literals
from mirenc.llvm.ir.repair_text import CHANGED_INTRINSIC, repair, without_debug_information

_LOGGER = logging.getLogger(__name__)
_TARGET = re.compile(r'^target[ \t]+(datalayout|triple)[ \t]*=[ \t]*("[^"]*").*\n?', re.MULTILINE)
_COROUTINE_END = b"llvm.coro.end"
_DROPPED_CONSTANT = "constexprs are no longer supported"  # an older LLVM computes them; no change of the text does
_MOST_REPAIRS = 200
_LEAST_SECONDS = 0.1  # an attempt that begins late fails as one that takes too long

_Canonicalise = Callable[..., str]  # of `ParsingWorker.canonicalise`


def canonical_text(
    source: InputBytes, worker: ParsingWorker, *, most_text: int, timeout: float | None
) -> tuple[str, bool]:
    """Canonical text of some IR, and whether it was repaired or read by another LLVM, which a warning says.

    Bitcode and text that llvmlite's LLVM does not parse go through a clang or opt of another version; ``timeout``, in
    seconds, is that of all attempts. Raises IRParseError: also for what is invalid in any LLVM
    (`old_text.is_broken`); IRResourceError.
    """
    limit, start = timeout or DEFAULT_TIMEOUT, math.nan

    def remaining() -> float:
        nonlocal start
        if math.isnan(start):  # the first attempt
            start = time.monotonic()
            return limit
        return max(limit - (time.monotonic() - start), _LEAST_SECONDS)

    def canonicalise(data: bytes, *, incomplete: bool = False) -> str:
        return worker.canonicalise(data, incomplete=incomplete, most_text=most_text, timeout=remaining())

    def lower(*, as_text: bool = False) -> tuple[bytes, str] | None:
        return lower_by_other_llvm(source.data, as_text=as_text, timeout=remaining(), memory_limit=worker.memory_limit)

    if source.kind != "bitcode":
        return _from_text(source.name, source.data, canonicalise, lower)
    has_coroutine = _COROUTINE_END in source.data
    try:
        return canonicalise(source.data), False
    except IRResourceError as error:  # LLVM 22 ends its process on the `llvm.coro.end` of LLVM 16 and older
        if not (has_coroutine and error.crashed):
            raise
        lowered = lower(as_text=True)
        if lowered is None:
            raise IRParseError(f"LLVM cannot read it: {old_text.OLD_COROUTINE}") from None
    except IRParseError as refusal:
        cause = CHANGED_INTRINSIC.search(refusal.diagnostic) or old_text.newer_producer(refusal)
        lowered = lower(as_text=True) if has_coroutine or cause else None
        if lowered is None:
            refusal.args = (f"{refusal.args[0]}. {old_text.explain_bitcode(refusal)}",)
            raise
    text, program = lowered
    target = ", for this machine's target" if "clang" in program else ""
    _LOGGER.warning("mirenc: warning: %s: bitcode of another LLVM version, read by %s%s", source.name, program, target)
    return _from_text(source.name, text, canonicalise, lambda: None)[0], True


def _from_text(
    name: str, data: bytes, canonicalise: _Canonicalise, lower: Callable[[], tuple[bytes, str] | None]
) -> tuple[str, bool]:
    """Canonical text of a text: as it is, then with what `old_text` and `repair_text` mend, then by another LLVM."""
    if _COROUTINE_END in data:
        data = _encode(old_text.modernise_coroutine_end(_decode(data)))
    try:
        return canonicalise(data), False
    except IRParseError as error:
        refusal = error
    except IRResourceError as error:  # LLVM may end its process on a node of debug information
        stripped_text = without_debug_information(_decode(data))
        if not error.crashed or _encode(stripped_text) == data:
            raise
        result = canonicalise(_encode(stripped_text))
        _LOGGER.warning("mirenc: warning: %s: its debug information, on which LLVM crashed, is left out", name)
        return result, True
    new_text = text = _decode(data)
    if _DROPPED_CONSTANT not in refusal.diagnostic:
        new_text = older_literals(old_text.modernise(text))
        if new_text != text:
            try:
                return canonicalise(_encode(new_text)), False
            except IRParseError as error:
                refusal = error
        if (repaired_text := _repair_and_read(name, new_text, refusal, canonicalise)) is not None:
            return repaired_text, True
    if re.search("^define ", text, re.MULTILINE) and not old_text.is_broken(refusal):
        if (lowered := lower()) is not None:
            bitcode, program = lowered
            with contextlib.suppress(IRParseError):  # the first error says more: it has a place
                upgraded = _with_target(canonicalise(bitcode), text, canonicalise)
                _LOGGER.warning("mirenc: warning: %s: text of another LLVM version, read by %s", name, program)
                return upgraded, True
    elif (source := command_for(name)) is not None:
        language, command = source
        raise IRParseError(f"is {language} source, which mirenc does not compile. Type: {command}") from None
    refusal.args = (f"{refusal.args[0]}. {old_text.explain(new_text, refusal)}",)
    raise refusal from None


def _repair_and_read(name: str, text: str, refusal: IRParseError, canonicalise: _Canonicalise) -> str | None:
    """Canonical text of a text that LLVM refused, after some repairs, which are logged; None: none of them helps."""
    repairs: dict[str, None] = {}
    incomplete = False
    for _ in range(_MOST_REPAIRS):
        outcome = repair(text, refusal)
        if outcome is None or (outcome.text == text and outcome.incomplete <= incomplete):
            return None
        text, incomplete = outcome.text, incomplete or outcome.incomplete
        repairs[outcome.description] = None
        try:
            result = canonicalise(_encode(text), incomplete=incomplete)
        except IRParseError as error:
            refusal = error
        else:
            for note in repairs:
                _LOGGER.warning("mirenc: warning: %s: %s", name, note)
            return result
    return None


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _with_target(upgraded: str, text: str, canonicalise: _Canonicalise) -> str:
    """Canonical text from a clang, which replaced the target, with the target that ``text`` names."""
    target = "".join(f"target {key} = {value}\n" for key, value in _TARGET.findall(text))
    header = "".join(f"target {key} = {value}\n" for key, value in _TARGET.findall(canonicalise(target.encode())))
    body = _TARGET.sub("", upgraded)
    place = body.index("\n", body.index("source_filename = ")) + 1
    return body[:place] + header + body[place:]
