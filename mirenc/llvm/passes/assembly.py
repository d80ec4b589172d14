"""Loops of a function in LLVM's assembly, with their instructions by class.

It reads assembly with LLVM's comments (``-S``, ``emit_assembly``), which name each block after the IR's and say which
loop it is in. x86 in AT&T's syntax, and AArch64.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from mirenc.base.arrays import Float64

CLASSES = (
    "load",
    "store",
    "gather",  # and scatter
    "shuffle",  # moves between lanes, and between vector and general registers
    "convert",
    "mask",
    "divide",  # and square roots
    "multiply",
    "vector",  # other arithmetic on vectors
    "float",  # other arithmetic on floating-point scalars
    "integer",  # other arithmetic on general registers
    "branch",
    "call",
    "spill",  # and reload
    "move",  # between registers
)
"""The classes. An instruction may be of two: an addition from memory is a load and arithmetic."""
_PLACE = {name: place for place, name in enumerate(CLASSES)}

_FUNCTION = re.compile(r"^(?P<name>[^\s.#/][^\s:]*|\"[^\"]+\"):")
_END = re.compile(r"^\.Lfunc_end\d+:")
_BLOCK = re.compile(r"^(?:\.LBB(?P<label>\d+_\d+):|(?:#|//) %bb\.\d+:)(?:\s+(?:#|//) (?:%(?P<name>\S+))?)?")
_HEADER = re.compile(r"=>\s*This (?:Inner )?Loop Header: Depth=(\d+)")
_INSIDE = re.compile(r"in Loop: Header=BB(\d+_\d+) Depth=(\d+)")
_INSTRUCTION = re.compile(r"^\t(?P<name>[a-z]\w*(?:\.\w+)?)(?:\t(?P<rest>.*))?$")
_SPILL = re.compile(r"-byte (?:Folded )?(?:Spill|Reload)")
_COMMENT = re.compile(r"\s(?:#|//) .*$")

# x86 without the `v` of AVX.
_X86 = {
    "gather": r"p?(?:gather|scatter)",
    "divide": r"i?div|sqrt",
    "convert": r"cvt|pmov[sz]x|pmovs?[wdq]{2}$|pmov(?:wb|d[bw]|q[bwd])$|c(?:bw|wd|dq|wtd|ltd|qto|wtl|ltq)",
    "mask": r"k(?!$)|blendv|pblendm|blendm|p?test|ptestn?m|pmovm2|pmov[bwdq]2m|p?movmsk|p?maskmov|cmp\w*[ps][sd]$|pcmp",
    "shuffle": r"p?shuf|p?unpck|punpck|p?perm|pack|p?insert|p?extract|pinsr|pextr|p?broadcast|p?blend|palignr|align|"
    r"ps[lr]ldq|mov(?:s[lh]|d)dup|movlh|movhl|mov[hl]p|p?expand|p?compress|phadd|hadd|psadbw|zero",
    "multiply": r"i?mul|pm(?:ul|add)|fn?m(?:add|sub)|mulx",
    "branch": r"j",
    "call": r"call",
}
_X86_SCALAR = re.compile(r"(?:s[sd]|si2s[sd]l?q?)$")
_AARCH64 = {
    "divide": r"[fsu]div|fsqrt",
    "convert": r"fcvt|[su]cvtf|[su]xtl|[su]shll|[su]?q?xtu?n|[su]xt[bhw]|shrn",
    "mask": r"bsl|bi[tf]|cm(?:eq|g[et]|h[is]|l[et]|tst)|fcm|csel|cset|cinc|csinc|fcsel",
    "shuffle": r"zip|uzp|trn|ext$|dup|ins$|mov$|tb[lx]|rev|addv|addp|[su]m(?:ax|in)v|[su]addlv|[su]mov",
    "multiply": r"f?n?m(?:ul|add|sub|la|ls)|fml|[su]m(?:ull|lal|addl|ulh)|[su]dot",
    "branch": r"b$|b\.|cbn?z|tbn?z",
    "call": r"bl",
}


_X86_CLASSES, _AARCH64_CLASSES = (
    [(_PLACE[name], re.compile(f"(?:{pattern})")) for name, pattern in classes.items()] for classes in (_X86, _AARCH64)
)


@dataclass
class Loop:
    """Blocks of one loop, without those of loops inside it; or of depth 0, all that is in no loop."""

    name: str  # of its header, as the IR has it; "" where that has none
    depth: int  # 1: in no other; 0: no loop
    counts: Float64 = field(default_factory=lambda: np.zeros(len(CLASSES)))  # instructions by class
    instructions: int = 0
    bits: int = 0  # of the widest register of it
    skipped: Float64 = field(default_factory=lambda: np.zeros(len(CLASSES)))  # of these, those a jump may go past
    masked_stores: int = 0  # by AVX2's moves under a mask, which take many cycles


def loops_of(assembly: str, function: str, *, branches: bool = True) -> list[Loop]:
    """The loops of a function in their order, after what is in no loop; [] where the function is not there.

    Without ``branches``, as where jumps are what LLVM makes of selects, nothing counts as skipped.
    """
    loops: dict[str, Loop] = {}
    current: Loop | None = None
    in_function = False
    block = ("", "")  # label and name
    steps: list[tuple[Loop, list[int], str]] = []  # of each instruction: its loop, classes, and where it jumps to
    starts: dict[str, int] = {}  # label -> the first step of its block
    classify = _classify_aarch64 if "// %bb." in assembly else _classify_x86
    for line in assembly.split("\n"):
        if not in_function:
            match = _FUNCTION.match(line)
            if match and match["name"].strip('"') == function:
                in_function = True
                current = loops.setdefault("", Loop("", 0))
        elif _END.match(line):
            break
        elif start := _BLOCK.match(line):
            block = start["label"] or "", start["name"] or ""
            starts[block[0] or "none"] = len(steps)
            current = loops[""]
            if loop_match := _INSIDE.search(line):
                current = loops.setdefault(loop_match[1], Loop("", int(loop_match[2])))
        elif header := _HEADER.search(line):
            current = loops.setdefault(block[0], Loop("", 0))
            current.name, current.depth = block[1], int(header[1])
        elif loop_match := _INSIDE.search(line):
            current = loops.setdefault(loop_match[1], Loop("", int(loop_match[2])))
        elif (instruction := _INSTRUCTION.match(line)) and current is not None:
            operands = instruction["rest"] or ""
            current.instructions += 1
            classes = classify(current, instruction["name"], _COMMENT.sub("", operands))
            classes = [_PLACE["spill"]] if _SPILL.search(operands) else classes
            current.counts[classes] += 1
            steps.append((current, classes, _COMMENT.sub("", operands).rpartition(".LBB")[2]))
    skip_end: dict[int, int] = {}  # loop -> the step up to which all may be skipped: a jump goes on there
    for place, (loop, classes, target) in enumerate(steps if branches else ()):
        if loop.depth and place < skip_end.get(id(loop), 0):
            loop.skipped[classes] += 1
        end = starts.get(target, 0)
        if place < end < len(steps) and steps[end][0] is loop:
            skip_end[id(loop)] = max(end, skip_end.get(id(loop), 0))
    return [*loops.values()]


def _classify_x86(loop: Loop, name: str, operands: str) -> list[int]:
    bits = 512 if "%zmm" in operands else 256 if "%ymm" in operands else 128 if "%xmm" in operands else 64
    stem = name.removeprefix("v")
    is_scalar = bits == 128 and _X86_SCALAR.search(stem) is not None
    loop.bits = max(loop.bits, 64 if is_scalar else bits)
    classes = []
    if "(" in operands and not name.startswith(("lea", "prefetch", "nop")):
        last = operands.rstrip().endswith(")") or (operands.rstrip().endswith("}") and re.search(r"\)\s*\{", operands))
        changes = "," in operands or stem.startswith(("inc", "dec", "neg", "not"))
        writes = last and changes and not stem.startswith(("cmp", "test", "ucomi", "comi", "bt"))
        is_move = stem.startswith(("mov", "extract", "pextr", "set"))
        if "gather" not in stem and "scatter" not in stem:
            if writes or stem.startswith("set"):
                classes.append(_PLACE["store"])
            if not writes or not is_move:
                classes.append(_PLACE["load"])
    loop.masked_stores += _PLACE["store"] in classes and "maskmov" in stem
    kind = next((place for place, pattern in _X86_CLASSES if pattern.match(stem)), None)
    if kind is not None and (bits > 64 or "%k" in operands or CLASSES[kind] not in ("mask", "shuffle")):
        return [*classes, kind]
    if stem.startswith("mov"):
        crosses = "%xmm" in operands and re.search(r"%(?:[re][a-ds0-9]|r\d+)", operands) and "(" not in operands
        return [*classes, _PLACE["shuffle"]] if crosses else classes or [_PLACE["move"]]
    return [*classes, _PLACE["float" if is_scalar else "vector" if bits > 64 else "integer"]]


_AARCH64_VECTOR = re.compile(r"\bv\d+\.|\bq\d+\b")
_AARCH64_FLOAT = re.compile(r"\b[sdh]\d+\b")


def _classify_aarch64(loop: Loop, name: str, operands: str) -> list[int]:
    is_vector = _AARCH64_VECTOR.search(operands) is not None
    loop.bits = max(loop.bits, 128 if is_vector else 64)
    if name.startswith(("ldr", "ldp", "ldur", "ld1", "ld2", "ld3", "ld4")):
        return [_PLACE["load"]]
    if name.startswith(("str", "stp", "stur", "st1", "st2", "st3", "st4")):
        return [_PLACE["store"]]
    if name in ("mov", "fmov", "movi") and not is_vector:
        return [_PLACE["move"]]
    kind = next((place for place, pattern in _AARCH64_CLASSES if pattern.match(name)), None)
    if kind is not None and (is_vector or CLASSES[kind] != "shuffle"):
        return [kind]
    if is_vector:
        return [_PLACE["vector"]]
    return [_PLACE["float" if _AARCH64_FLOAT.search(operands) else "integer"]]
