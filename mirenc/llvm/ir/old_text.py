"""IR that LLVM 22 refuses only because another LLVM wrote it: fix-ups, which keep line numbers, and advice."""

import re

from mirenc.base.errors import IRParseError
from mirenc.llvm.ir.repair_text import NEWEST_READ, place_of

_LOCAL_TYPE = r'(?:%(?:[-a-zA-Z$._0-9]+|"[^"]*")|\{[^{}]*\}|\[[^\[\]]*\]|i\d+|float|double|half)'
# LLVM < 12 wrote `T* byval`; the pointee now stands in the attribute. sret and inalloca followed in LLVM 13.
_BARE_POINTEE = re.compile(
    rf"({_LOCAL_TYPE})(\s*(?:addrspace\(\d+\)\s*)?\*(?:\s+(?:[a-z_]+(?:\(\d+\))?|align \d+))*?\s+)"
    r"(byval|sret|inalloca|byref|preallocated)(?!\()\b"
)
# LLVM <= 18 wrote `inrange` at one index of a constant getelementptr (in all vtables of clang 5 to 18), LLVM 19 writes
# it in front, with a range of bytes. It is only a hint.
_INRANGE_INDEX = re.compile(r"(, )inrange (?=i\d+ )")
# LLVM 20 dropped the type x86_mmx, and reads it in bitcode as this vector; LLVM 3.x wrote an alignment of no bits.
_MMX = re.compile(r'(?<![\w.%@$!"-])x86_mmx(?![\w."-])')
_NO_STACK_ALIGNMENT = re.compile(r'(?<=^target datalayout = ")S0-|(?<=-)S0-|-S0(?="$)', re.MULTILINE)
# LLVM 3.7 gave load and getelementptr an explicit result type; before, it was that of the pointer: `load i32* %p`.
_OLD_LOAD = re.compile(r"^[ \t]*(?:%\S+ = )?(?:tail )?load (?:volatile |atomic )*[^,]*\*+ %", re.MULTILINE)
_OLD_GEP = re.compile(r"getelementptr (?:inbounds )?[^,()]*\*+ [%@]")
_OLD_METADATA = re.compile(r"^!\d+ = metadata ", re.MULTILINE)

# LLVM <= 14 passed the labels of asm goto as arguments. The text parses, but only bitcode is upgraded.
_OLD_ASM_GOTO = "Number of label constraints does not match number of callbr dests"

_OLD_COROUTINE_END = re.compile(
    r'(?:(?P<result>%(?:"[^"\n]+"|[-\w$.]+)) = )?(?P<call>(?:tail |notail )?call|invoke|declare)'
    r" (?:noundef |zeroext )?i1 (?:\([^()\n]*\) )?@llvm\.coro\.end\((?P<arguments>(?:[^()\n]|\([^()\n]*\))*)\)"
)

OLD_COROUTINE = "It has a coroutine of LLVM 21 or older. Write it as text: `clang -S -emit-llvm`"
_PRODUCER = re.compile(r'^!\d+ = !\{!"[^"\n]*?clang version (\d+)\.', re.MULTILINE)
_BITCODE_PRODUCER = re.compile(r"Producer: 'LLVM(\d+)")
# What LLVM 23 reads and 22 does not, where it stands: most of it is mended (`repair_text`).
_NEWER_WORDS = {
    "23": re.compile(r"b\d+|f0x\w+|prefalign|elementwise|f(?:min|max)imumnum|llvm\.(?:pext|pdep|masked\.[us]\w+)\..*")
}
_NAMED_WORD = re.compile(r"(?:unknown intrinsic|invalid symbolic addrspace) '([^']+)'")
_WORD = re.compile(r"[a-zA-Z_][\w.]*")
_MODULE_START = re.compile(r"^source_filename = ", re.MULTILINE)
_DEFINITION = re.compile(r"^define ", re.MULTILINE)
_BLOCK_OR_INSTRUCTION = re.compile(r"^[ \t]*(?:[-\w.$]+:|%\S+ = [a-z]|(?:store|br|ret|call) )", re.MULTILINE)


def is_broken(refusal: IRParseError) -> bool:
    """Whether IR is invalid in any LLVM: the verifier refused it, and not for what an older LLVM wrote."""
    return refusal.by_verifier and not refusal.diagnostic.startswith(_OLD_ASM_GOTO)


def modernise(text: str) -> str:
    """Text with the fix-ups applied; the same string if none applies."""
    previous = None
    while previous != text:  # an argument may carry several of the attributes
        previous = text
        text = _BARE_POINTEE.sub(r"\1\2\3(\1)", text)
    return _NO_STACK_ALIGNMENT.sub("", _MMX.sub("<1 x i64>", _INRANGE_INDEX.sub(r"\1", text)))


def modernise_coroutine_end(text: str) -> str:
    """Text in which ``llvm.coro.end`` gives no value, as from LLVM 22 on; before, it was true outside the ramp."""

    def replacement(call: re.Match[str]) -> str:
        if call["call"] == "declare":
            return "declare void @llvm.coro.end(ptr, i1, token)"
        arguments = call["arguments"] if "token " in call["arguments"] else f"{call['arguments']}, token none"
        end_call = f"{call['call']} void @llvm.coro.end({arguments})"
        if call["result"] is None:
            return end_call
        in_ramp = f'%"mirenc.in.ramp.{call["result"].strip("%").strip(chr(34))}"'
        return f"{in_ramp} = call i1 @llvm.coro.is_in_ramp() {call['result']} = xor i1 {in_ramp}, true {end_call}"

    return _OLD_COROUTINE_END.sub(replacement, text)


def explain(text: str, refusal: IRParseError) -> str:
    """What to do about text that LLVM refuses even after the fix-ups, and that no other LLVM here reads."""
    diagnostic = refusal.diagnostic
    if _OLD_METADATA.search(text) or _OLD_LOAD.search(text) or _OLD_GEP.search(text):
        return (
            "The text is from LLVM 3.6 or older (load and getelementptr without result type). "
            "Compile the source again with clang 10 or newer, or convert it: assemble with the LLVM that "
            "wrote it (llvm-as) and give mirenc the .bc file"
        )
    if "constexprs are no longer supported" in diagnostic:
        return (
            "The text is from LLVM 18 or older and has a constant expression that LLVM 22 dropped. Put the clang that "
            "wrote it on PATH (as clang-14, say), or give bitcode, which LLVM upgrades: `clang -c -emit-llvm`"
        )
    word, producer = _refused_word(text, refusal), _PRODUCER.search(text)
    if producer is not None and int(producer[1]) > NEWEST_READ:
        detail = f", whose {word!r} LLVM {NEWEST_READ} does not know" if word else ""
        return _newer_message(producer[1], f"It was written by LLVM {producer[1]}{detail}")
    if version := next((version for version, words in _NEWER_WORDS.items() if words.fullmatch(word)), ""):
        return _newer_message(version, f"{word!r} is of LLVM {version}")
    if "must be sized" in diagnostic:
        return "A type that it uses is not defined: add its line, `%struct.S = type { ... }`"
    if len(_MODULE_START.findall(text)) > 1:
        return "It holds several modules: write each to a file of its own"
    if not _DEFINITION.search(text) and _BLOCK_OR_INSTRUCTION.search(text):
        return "The text has no whole function. Give one, from `define` to its closing brace"
    if _DEFINITION.search(text):
        guess = "The file may be damaged or incomplete"
        advice = f", or another LLVM wrote it: put its clang or opt on PATH (as clang-{NEWEST_READ + 1})"
        return f"LLVM {NEWEST_READ} does not know {word!r} there. {guess}{advice}" if word else guess
    return "If it is IR, check it with `opt -passes=verify`; if it is source, name it .c, .cpp, .cl or .cu"


def newer_producer(refusal: IRParseError) -> str:
    """Major version of the LLVM that wrote some bitcode that was refused, if it is newer than those read; else ""."""
    version = _BITCODE_PRODUCER.search(refusal.diagnostic)
    return version[1] if version is not None and int(version[1]) > NEWEST_READ else ""


def explain_bitcode(refusal: IRParseError) -> str:
    """What to do about bitcode that LLVM refuses, and that no other LLVM here reads."""
    if version := newer_producer(refusal):
        return _newer_message(version, f"It was written by LLVM {version}")
    if "llvm.coro.end" in refusal.diagnostic:
        return OLD_COROUTINE
    cause = "Write it again" if refusal.by_verifier else "The file may be truncated: write it again"
    return f"{cause} with `clang -c -emit-llvm`"


def _newer_message(version: str, problem: str) -> str:
    return (
        f"{problem}; this mirenc reads LLVM 10 to {NEWEST_READ}. Put a clang or opt of LLVM "
        f"{version} on PATH (as clang-{version}), write it with clang {NEWEST_READ} or older, or install a newer mirenc"
    )


def _refused_word(text: str, refusal: IRParseError) -> str:
    """The word that LLVM's parser refused, which its message or its place names; "" if it is none."""
    if name_match := _NAMED_WORD.search(refusal.diagnostic):
        return name_match[1]
    if refusal.line is None or refusal.column is None:
        return ""
    match = _WORD.match(*place_of(text, refusal.line, refusal.column))
    return match[0] if match else ""
