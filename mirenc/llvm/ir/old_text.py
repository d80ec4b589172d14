"""Fix-ups for text that LLVM 22 refuses only because an older LLVM wrote it; line numbers stay the same."""

import re

from mirenc.base.errors import IRParseError

_LOCAL_TYPE = r'(?:%(?:[-a-zA-Z$._0-9]+|"[^"]*")|\{[^{}]*\}|\[[^\[\]]*\]|i\d+|float|double|half)'
# LLVM < 12 wrote `T* byval`; the pointee now stands in the attribute. sret and inalloca followed in LLVM 13.
_BARE_POINTEE = re.compile(
    rf"({_LOCAL_TYPE})(\s*(?:addrspace\(\d+\)\s*)?\*(?:\s+(?:[a-z_]+(?:\(\d+\))?|align \d+))*?\s+)"
    r"(byval|sret|inalloca|byref|preallocated)(?!\()\b"
)
# LLVM <= 18 wrote `inrange` at one index of a constant getelementptr (in all vtables of clang 5 to 18), LLVM 19 writes
# it in front, with a range of bytes. It is only a hint.
_INRANGE_INDEX = re.compile(r"(, )inrange (?=i\d+ )")
# LLVM 3.7 gave load and getelementptr an explicit result type; before, it was that of the pointer: `load i32* %p`.
_OLD_LOAD = re.compile(r"^\s*(?:%\S+ = )?(?:tail )?load (?:volatile |atomic )*[^,]*\*+ %", re.MULTILINE)
_OLD_GEP = re.compile(r"getelementptr (?:inbounds )?[^,()]*\*+ [%@]")
_OLD_METADATA = re.compile(r"^!\d+ = metadata ", re.MULTILINE)

# LLVM <= 14 passed the labels of asm goto as arguments. The text parses, but only bitcode is upgraded.
_OLD_ASM_GOTO = "Number of label constraints does not match number of callbr dests"


def is_broken(refusal: IRParseError) -> bool:
    """Whether IR is invalid in any LLVM: the verifier refused it, and not for what an older LLVM wrote."""
    return refusal.by_verifier and not refusal.diagnostic.startswith(_OLD_ASM_GOTO)


def modernise(text: str) -> str:
    """Text with the fix-ups applied; the same string if none applies."""
    previous = None
    while previous != text:  # an argument may carry several of the attributes
        previous = text
        text = _BARE_POINTEE.sub(r"\1\2\3(\1)", text)
    return _INRANGE_INDEX.sub(r"\1", text)


def explain(text: str, diagnostic: str) -> str:
    """Advice for text that LLVM refuses even after the fix-ups; "" if its age is not the reason."""
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
    return ""
