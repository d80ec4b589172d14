"""`vectorizer_choices`: the vector width and interleave count that LLVM chooses for each innermost loop."""

import atexit
import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mirenc.base.child_process import Answer, ChildProcess, EndedError
from mirenc.llvm.analysis.loops import find_loops, ways_in
from mirenc.llvm.analysis.regions import block_name
from mirenc.llvm.child.parsing_worker import llvmlite_folder
from mirenc.llvm.ir.module import IRModule
from mirenc.llvm.passes.loop_hint import Hint

Key = tuple[str, str]  # symbol of the function, header of the loop
_SERVICE = Path(__file__).parents[1] / "child" / "vectorizer_service.py"
_TIMEOUT = 60.0  # seconds for one module
_MEMORY = 4 * 2**30  # bytes of address space
# Architecture and bits of its widest vectors -> a processor that has these and no wider ones.
_PROCESSORS = {
    ("x86_64", 128): "x86-64",
    ("x86_64", 256): "x86-64-v3",
    ("x86_64", 512): "x86-64-v4",
    ("aarch64", 128): "generic",
}
_ARCHITECTURE = re.compile(r'^target triple = "(\w+)', re.MULTILINE)
_ALIASES = {"amd64": "x86_64", "arm64": "aarch64"}
# The processor that a function is for, and metadata, which may have other hints and places of loops.
_PROCESSOR = re.compile(r' "(?:target-cpu|target-features|tune-cpu)"="[^"]*"')
_ATTACHMENT = re.compile(r" ![\w.]+ !\d+")
# Begins the scope of a metadata node, and is left behind by inlining; the nodes are not kept.
_SCOPE = "call void @llvm.experimental.noalias.scope.decl("
# A place needs a scope, and that a file. The module's own nodes are left out.
_DEBUG_NODES = (
    "!llvm.module.flags = !{!0}",
    "!llvm.dbg.cu = !{!1}",
    '!0 = !{i32 2, !"Debug Info Version", i32 3}',
    "!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, emissionKind: LineTablesOnly)",
    '!2 = distinct !DISubprogram(name: "loops", scope: !3, file: !3, unit: !1, spFlags: DISPFlagDefinition)',
    '!3 = !DIFile(filename: "loops", directory: "")',
)
_NODES = 4  # of the first loop
_OWN_NODE = re.compile(r"^!(\d+) = distinct !\{!\1, !\d+\}$", re.MULTILINE)
_HINT_NODES = Hint(2, 2).nodes()


@functools.lru_cache(maxsize=1)  # asked for each loop of a module in turn, and one answer is of all
def vectorizer_choices(module: IRModule, vector_bits: int) -> Mapping[Key, tuple[int, int]]:
    """Vector width and interleave count that LLVM 22 chooses at -O3 for every innermost loop; (1, 1): neither.

    The loops are those before the vectorizer, such as `mirenc.llvm.inputs.dialect.SCALAR_LOOPS`; ``vector_bits`` are of
    the widest vector of the processor: 128, 256 or 512 on x86-64, 128 on AArch64. The keys are the function's symbol
    and the loop's header as in `mirenc.llvm.Region`. Empty where the module is for another processor, or LLVM does not
    come to an end with it.
    """
    text, loops = marked(module)
    return _choices(module, text, loops, vector_bits)


@functools.lru_cache(maxsize=1)
def follows_hints(module: IRModule, vector_bits: int) -> frozenset[Key]:
    """The innermost loops that LLVM vectorises where a hint asks for it; no pragma changes the others.

    Keys, loops and bits are as in `vectorizer_choices`; where that has no answer, all loops are given.
    """
    text, loops = marked(module)
    choices = _choices(module, with_hint(text, _HINT_NODES, loop_node(len(loops))), loops, vector_bits)
    return frozenset(key for key in loops if choices.get(key) != (1, 1))


def _choices(module: IRModule, text: str, loops: Sequence[Key], vector_bits: int) -> Mapping[Key, tuple[int, int]]:
    if not loops:
        return {}
    choices = dict.fromkeys(loops, (1, 1))
    try:
        ((answer, _),) = ask_llvm(module, text, [""], vector_bits)
    except EndedError:
        return {}
    for line, width, count in answer["choices"]:
        if 0 < line <= len(loops):  # LLVM's own loops have line 0; of several copies of one, the widest counts
            key = loops[line - 1]
            choices[key] = max(choices[key], (width, count), key=widest)
    return choices


def widest(choice: tuple[int, int]) -> tuple[int, int]:
    """Sort key of a vector width and interleave count: by iterations at once, then by width."""
    return choice[0] * choice[1], choice[0]


@functools.lru_cache(maxsize=1)
def marked(module: IRModule) -> tuple[str, tuple[Key, ...]]:
    """The module with a source line for each innermost loop, and the loops: that at place p has line p + 1.

    Its metadata node is `loop_node` (p).
    """
    forest, arrays = find_loops(module), module.arrays
    lines = [_without_metadata(line) for line in module.lines]
    loops: list[Key] = []
    nodes = []
    for row in sorted(set(range(len(forest))) - set(forest.parent.tolist())):
        node = loop_node(len(loops))
        for latch in ways_in(module, forest, row)[0]:
            lines[arrays.line[arrays.block_start[latch + 1] - 1]] += f", !llvm.loop !{node}"
        loops.append((module.headers[int(forest.function[row])].name, block_name(module, int(forest.header[row]))))
        nodes.append(f"!{node} = distinct !{{!{node}, !{node + 1}}}")
        nodes.append(f"!{node + 1} = !DILocation(line: {len(loops)}, scope: !2)")
    return "\n".join([*lines, *_DEBUG_NODES, *nodes, ""]), tuple(loops)


def _without_metadata(line: str) -> str:
    """A line without metadata, and without the processor it is for."""
    if line.startswith("!") or _SCOPE in line:
        return ""
    if line.startswith("attributes "):
        return _PROCESSOR.sub("", line)
    return _ATTACHMENT.sub("", line) if line.startswith(("define ", "declare ", "@")) else line


def with_hint(text: str, hint: Sequence[str], first_free: int, *, excluded_node: int = -1) -> str:
    """Text of `marked` with a hint on all loops but ``excluded_node``; the hint's nodes begin at ``first_free``."""
    references = "".join(f", !{first_free + number}" for number in range(len(hint)))
    text = _OWN_NODE.sub(lambda match: "" if int(match[1]) == excluded_node else f"{match[0][:-1]}{references}}}", text)
    return text + "".join(f"!{first_free + number} = {node}\n" for number, node in enumerate(hint))


def loop_node(place: int) -> int:
    """Number of the node of the loop at a place of `marked`; the next node is its place in the source."""
    return _NODES + 2 * place


def ask_llvm(
    module: IRModule, text: str, endings: Sequence[str], vector_bits: int, *, function: str = "", header: int = 0
) -> list[Answer]:
    """What LLVM answers to ``text`` with each ending (`mirenc.llvm.child.vectorizer_service`).

    ``module`` names the processor's family. Raises EndedError: LLVM does not come to an end with it, or no processor
    is known for the module.
    """
    match = _ARCHITECTURE.search(module.text)
    architecture = _ALIASES.get(match[1], match[1]) if match else ""
    processor = _PROCESSORS.get((architecture, vector_bits), "")
    folder = llvmlite_folder()
    if not (processor and folder):
        problem = f"mirenc knows no {architecture} processor with vectors of {vector_bits} bits"
        raise EndedError("start", problem if architecture else "the IR names no target, so no processor is known")
    child = _child(folder, f"{architecture}-unknown-linux-gnu", processor)
    return child.ask({"endings": [*endings], "function": function, "header": header}, text.encode(), _TIMEOUT)


@functools.cache
def _child(*arguments: str) -> ChildProcess:
    child = ChildProcess(_SERVICE, arguments, _MEMORY)
    atexit.register(child.close)
    return child


os.register_at_fork(after_in_child=_child.cache_clear)
