"""Damaged modules: what LLVM accepts is embedded, what it refuses is refused with a reason or mended with a warning.

Mutants are made of the fixtures, half of them as text (lines dropped, doubled, swapped; bytes changed) and half as
bitcode (bytes changed, cut). The judge is the verifier of the LLVM that mirenc reads with, in a process of its own; no
older clang is asked, which reads what LLVM 22 does not parse.
"""

import contextlib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import pytest

from mirenc.base import errors
from mirenc.encoder import Encoder
from mirenc.llvm import parse_ir
from mirenc.llvm.child.parsing_worker import ParsingWorker

FIXTURES = Path(__file__).resolve().parent / "fixtures"
SIZES = range(200, 60_000)  # bytes of a fixture
LEVELS = ("module", ("function", "loop", "block"), "instruction")


class Mutant(NamedTuple):
    """A damaged module, and how it was made: fixture, seed and kind of damage."""

    name: str
    data: bytes


@cache
def originals() -> list[tuple[str, bytes, bytes]]:
    """Names, text and bitcode of the fixtures that LLVM 22 reads by itself."""
    modules = []
    for path in sorted(path for folder in ("handwritten", "ir") for path in (FIXTURES / folder).rglob("*.ll")):
        text = path.read_bytes()
        if len(text) in SIZES:
            with contextlib.suppress(RuntimeError):
                module = llvm.parse_assembly(text.decode(), context=llvm.create_context())
                modules.append((path.relative_to(FIXTURES).as_posix(), text, bytes(module.as_bitcode())))
    return modules


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """``count`` mutants, the same for the same seed."""
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        name, text, bitcode = chance.choice(originals())
        kind, damage = chance.choice([*TEXT_DAMAGE.items(), *BITCODE_DAMAGE.items()])
        data = damage(bitcode if kind in BITCODE_DAMAGE else text, chance)
        yield Mutant(f"{name} {kind} {seed}/{number}", data)


def _bytes_changed(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8])):
        changed[chance.randrange(min(len(data) - 1, 8), len(data))] = chance.randrange(256)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(8, len(data))]


def _lines_dropped(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(min(chance.choice([1, 1, 2, 5]), len(lines) - 1)):
        del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _line_doubled(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    return b"\n".join([*lines[:at], lines[at], *lines[at:]])


def _lines_swapped(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _word_replaced(data: bytes, chance: random.Random) -> bytes:
    """A word in the place of another one of the same text: types, names and opcodes where they do not belong."""
    words = data.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(words)
    return b" ".join(words)


TEXT_DAMAGE = {
    "bytes": _bytes_changed,
    "dropped": _lines_dropped,
    "doubled": _line_doubled,
    "swapped": _lines_swapped,
    "replaced": _word_replaced,
}
BITCODE_DAMAGE = {"bitcode bytes": _bytes_changed, "bitcode bytes again": _bytes_changed, "bitcode cut": _cut}


def verdict(judge: ParsingWorker, data: bytes) -> str:
    """LLVM's own on a module: ``accepted``, ``refused``, or ``died`` where it does not survive reading it."""
    try:
        judge.canonicalise(data)
    except errors.IRParseError:
        return "refused"
    except errors.IRResourceError:
        return "died"
    return "accepted"


def answers(encoder: Encoder, mutants: Sequence[Mutant], level: str | tuple[str, ...]) -> list[tuple[str, str]]:
    """What mirenc makes of each mutant, ``accepted`` or ``refused``, and why it is refused."""
    inputs = [mutant.data for mutant in mutants]
    answered = []
    for outcome in encoder.embed_stream(inputs, level=level, jobs=1):
        error = outcome.error
        if error is None or isinstance(error, errors.NoFunctionBodyError):
            answered.append(("accepted", ""))
        elif isinstance(error, (errors.UnexpectedError, errors.ConfigError, errors.CompileError)):
            answered.append(("fault", getattr(error, "traceback", "") or str(error)))
        else:
            answered.append(("refused", str(error)))
    return answered


def disagreements(encoder: Encoder, count: int, seed: int, counts: Counter[str]) -> Iterator[str]:
    """One line for each mutant on which mirenc and LLVM differ, or that is refused without a reason."""
    judge, batch = ParsingWorker(), 50
    every = list(mutants(count, seed))
    try:
        for first in range(0, count, batch):
            batch_mutants, level = every[first : first + batch], LEVELS[first // batch % len(LEVELS)]
            for mutant, (answer, reason) in zip(batch_mutants, answers(encoder, batch_mutants, level), strict=True):
                judged = verdict(judge, mutant.data)
                # A NUL byte ends text for LLVM, which then accepts what stands before it.
                cut = answer == "refused" and "NUL" in reason and b"\0" in mutant.data
                # A declaration that is missing, say, which a warning tells (tests/llvm/ir/test_repair_text.py).
                if (judged, answer) == ("refused", "accepted") and parse_ir(mutant.data).mended:
                    counts["refused by LLVM, mended"] += 1
                    continue
                expected = "refused" if judged == "died" or cut or not mutant.data.strip() else judged
                counts[f"{judged} by LLVM, {answer}"] += 1
                if answer != expected or (answer == "refused" and len(reason) < 20):
                    yield f"{mutant.name}: LLVM {judged}, mirenc {answer} {reason}"
    finally:
        judge.close()


def test_mirenc_accepts_what_llvm_accepts(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # an older clang on it reads what LLVM 22 refuses
    counts: Counter[str] = Counter()
    assert list(disagreements(encoder, 300, 0, counts)) == []
    assert counts["accepted by LLVM, accepted"] > 30
    assert counts["refused by LLVM, refused"] > 100
