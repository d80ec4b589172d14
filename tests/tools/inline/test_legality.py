"""Which calls a decision may inline: those that LLVM's inliner inlines where no cost is too high, and no other."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product

import pytest

from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.tools.inline import calls_of

LINKAGES = (
    *("private", "internal", "external", "weak", "weak_odr", "linkonce", "linkonce_odr"),
    "available_externally",
)
REPLACED = {"weak", "linkonce"}  # by any definition of the same name
HIDDEN = {"private", "internal"}  # of default visibility only
BODY = "".join(f"  %v{at} = call i32 @elsewhere(i32 %{f'v{at - 1}' if at else 'x'})\n" for at in range(8))
TEXT = f" {{\n{BODY}  ret i32 %v7\n}}\n"
"""A body that -Oz does not inline by itself."""
FLAG = '!llvm.module.flags = !{!0}\n!0 = !{i32 1, !"SemanticInterposition", i32 1}\n'


def linkages(*, windows: bool) -> list[tuple[str, str, str, str]]:
    """Linkage, visibility, dso_local and comdat of functions that LLVM's verifier accepts."""
    comdats = ("", "any", "nodeduplicate", *(("exactmatch", "largest", "samesize") if windows else ()))
    every = product(LINKAGES, ("default", "hidden", "protected"), ("dso_preemptable", "dso_local"), comdats)
    return [
        (linkage, visibility, local, comdat)
        for linkage, visibility, local, comdat in every
        if not (linkage in HIDDEN and (visibility != "default" or local != "dso_local"))
        and not (visibility == "hidden" and local != "dso_local")
        and not (comdat and (linkage == "available_externally" or (windows and linkage == "private")))
    ]


def module_of_linkages(triple: str, rows: list[tuple[str, str, str, str]], flag: str) -> str:
    parts = [f'target triple = "{triple}"\ndeclare i32 @elsewhere(i32)\n{flag}']
    for number, (linkage, visibility, local, comdat) in enumerate(rows):
        if comdat:
            parts.append(f"$callee{number} = comdat {comdat}\n")
        words = f"{linkage} {local} {visibility} i32 @callee{number}(i32 %x) minsize optsize"
        parts.append(f"define {words}{' comdat' if comdat else ''}{TEXT}")
        parts.append(f"@use{number} = global ptr @callee{number}\n{caller(number)}")  # its last call would cost nothing
    return "".join(parts)


def caller(number: int, *, words: str = "minsize optsize", called: str = "") -> str:
    call = called or f"call i32 @callee{number}(i32 %x)"
    return f"define i32 @caller{number}(i32 %x) {words} {{\n  %y = {call}\n  ret i32 %y\n}}\n"


OTHER = {
    # of the callee; of the caller; the call; whether it is inlined, None where LLVMs differ
    "plain": ("", "", "", True),
    "noinline": ("noinline", "", "", False),
    "always": ("alwaysinline", "", "", True),
    "kept": ("", "noinline optnone", "", False),
    "avx": ('"target-features"="+avx2"', "", "", False),
    "avx in both": ('"target-features"="+avx2"', '"target-features"="+avx2"', "", True),
    "null": ("null_pointer_is_valid", "", "", False),
    "null in both": ("null_pointer_is_valid", "null_pointer_is_valid", "", True),
    "asan": ("sanitize_address", "", "", False),
    "strict": ("strictfp", "", "", False),
    "gc": ('gc "shadow-stack"', 'gc "statepoint-example"', "", False),
    "builtins": ('"no-builtins"', "", "", False),
    "nobuiltin": ("", "", "call i32 @callee{0}(i32 %x) nobuiltin", True),
    "protected stack": ("sspstrong", "", "", True),
    "denormals": ('"denormal-fp-math"="preserve-sign,preserve-sign"', "", "", None),  # from 17 on
    "cold": ("cold", "", "", True),
    "tail": ("", "", "musttail call i32 @callee{0}(i32 %x)", True),
    "said": ("", "", "call i32 @callee{0}(i32 %x) noinline", False),
    "coroutine": ("presplitcoroutine", "", "", False),
}
BODIES = {
    "varargs": "  call void @llvm.va_start(ptr %x)\n  ret void\n",
    "returns twice": "  %y = call i32 @setjmp(ptr %x) returns_twice\n  ret void\n",
    "escapes": "  %a = alloca i32\n  call void (...) @llvm.localescape(ptr %a)\n  ret void\n",
    "jumps": "  %p = load ptr, ptr %x\n  indirectbr ptr %p, [label %a, label %b]\na:\n  ret void\nb:\n  ret void\n",
    "itself": "  call void @callee{0}(ptr %x)\n  ret void\n",
}


def module_of_attributes() -> str:
    head = (
        'target triple = "x86_64-pc-linux-gnu"\n'
        "declare i32 @elsewhere(i32)\ndeclare void @llvm.va_start(ptr)\ndeclare i32 @setjmp(ptr)\n"
        "declare void @llvm.localescape(...)\n@taken = global ptr blockaddress(@callee900, %here)\n"
        f"define i32 @body(i32 %x) minsize optsize{TEXT}"
        "@other = weak alias i32 (i32), ptr @body\n@strong = alias i32 (i32), ptr @body\n"
        "@chosen = ifunc i32 (i32), ptr @resolve\ndefine ptr @resolve() {\n  ret ptr @body\n}\n"
        "define void @callee900(ptr %x) minsize {\n  br label %here\nhere:\n  store ptr null, ptr %x\n  ret void\n}\n"
        "define void @caller900(ptr %x) minsize {\n  call void @callee900(ptr %x)\n  ret void\n}\n"
    )
    parts = [head]
    for number, (callee, words, called, _) in enumerate(OTHER.values()):
        parts.append(f"define i32 @callee{number}(i32 %x) minsize optsize {callee}{TEXT}")
        size = "" if "optnone" in words else "minsize optsize "
        parts.append(caller(number, words=size + words, called=called.format(number)))
    for number, body in enumerate(BODIES.values(), 500):
        several = ", ..." if "va_start" in body else ""
        kind = " (ptr, ...)" if several else ""
        parts.append(f"define void @callee{number}(ptr %x{several}) minsize optsize {{\n{body.format(number)}}}\n")
        call = f"  call void{kind} @callee{number}(ptr %x)\n"
        parts.append(f"define void @caller{number}(ptr %x) minsize optsize {{\n{call}  ret void\n}}\n")
    for number, name in enumerate(("body", "other", "strong", "chosen"), 800):
        parts.append(caller(number, called=f"call i32 @{name}(i32 %x)"))
    return "".join(parts)


def left(optimised: str) -> set[int]:
    """The callers that still call."""
    bodies = re.findall(r"^define [^\n]*@caller(\d+)\(.*?\n(.*?)^\}", optimised, re.MULTILINE | re.DOTALL)
    assert len(bodies) > 10
    called = r"call [^\n]*@(?:callee\d+|body|other|strong|chosen)\("
    return {int(number) for number, body in bodies if re.search(called, body)}


def by_decisions(text: str, version: int) -> tuple[set[int], set[int]]:
    """Callers that still call where nothing is decided, and where all is to be inlined."""
    with SharedEngine(version) as engine:
        calls = calls_of(engine.text(text.encode()))
        decided = calls.decided(dict.fromkeys(range(len(calls.calls)), True)).encode()
        return left(engine.text(text.encode(), "cgscc(inline)")), left(engine.deciding.text(decided, "cgscc(inline)"))


def by_opt(text: str, version: int) -> set[int]:
    """Callers that still call where LLVM takes no cost for too high."""
    words = [f"opt-{version}", "-S", "-passes=cgscc(inline)", "-inline-threshold=1000000"]
    return left(subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(params=[19, *(one for one in (16, 17, 18, 20, 21, 22) if shutil.which(f"opt-{one}"))])
def version(request: pytest.FixtureRequest) -> int:
    """LLVM 19, and any other that is here."""
    return int(request.param)


pytestmark = [pytest.mark.needs("opt-19"), pytest.mark.needs("libLLVM 19")]


@pytest.mark.parametrize("flag", ["", FLAG])
@pytest.mark.parametrize("triple", ["x86_64-pc-linux-gnu", "x86_64-pc-windows-msvc"])
def test_llvm_decides_about_replaceable_callees(triple: str, flag: str, version: int) -> None:
    rows = linkages(windows="windows" in triple)
    text = module_of_linkages(triple, rows, flag)
    undecided, decided = by_decisions(text, version)
    assert undecided == set(range(len(rows)))
    assert decided == by_opt(text, version)
    for number, (linkage, visibility, local, _) in enumerate(rows):
        # LLVM's GlobalValue::isInterposable: a definition of another meaning, or any that is not this module's own.
        mine = local == "dso_local" or visibility != "default" or linkage in HIDDEN
        assert (number in decided) == (linkage in REPLACED or (bool(flag) and not mine)), rows[number]


def test_llvm_decides_about_attributes_aliases_and_bodies(version: int) -> None:
    text = module_of_attributes()
    undecided, decided = by_decisions(text, version)
    assert decided <= undecided
    for number, (name, (*_, inlined)) in enumerate(OTHER.items()):
        assert inlined is None or (number not in decided) == inlined, name
    # Aliases and ifuncs are no definitions; what is by body may not be inlined at any cost, nor a function by itself.
    assert {801, 802, 803} <= decided
    assert 800 not in decided
    assert {500, 501, 502, 503, 504, 900} <= decided
    assert decided == by_opt(text, version)
