"""The level that IR was compiled at, told from the IR: -O0, -O1, -O2 or -O3, -Os or -Oz.

Nothing here is learned. The rules are facts seen in what clang 13 to 19, zig, rustc and flang 19 print:

- **-Os, -Oz**: the front end gives every function ``optsize``, and at -Oz ``minsize``.
- **-O0**: clang gives every function ``optnone``, unless told not to (``-Xclang -disable-O0-optnone``). Either way no
  optimiser ran. Variables stay in memory that is only loaded and stored, which the first pass of -O1 ends; and nothing
  has the marks that optimisers leave on functions and calls (``local_unnamed_addr``, ``nofree``, ``nosync``, ``tail``).
- **-O1**: clang forbids the unrolling of every loop (``llvm.loop.unroll.disable``); at -O2 only the remainders that
  unrolling leaves behind say so. Before LLVM 15, -O1 had no pass that marks calls ``tail``. Where neither decides, -O1
  is recognised by what only passes of -O2 do: they thread branches on a value that the way into their block has decided
  (jump threading), and mark a pointer that a branch has found not to be null ``nonnull`` where a call passes it on
  (correlated value propagation).
- **-O2, -O3**: everything else.

So an -O1 module of a few straight lines is taken for -O2 (its IR is often the same), and so is much of what compilers
other than clang make at -O1. ``clang -O2 -fno-unroll-loops`` is taken for -O1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set as AbstractSet
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Int64
from mirenc.llvm.ir.grammar import Form
from mirenc.llvm.ir.lines import attribute_groups
from mirenc.llvm.ir.module import IRModule, OperandKind

Level: TypeAlias = Literal["O0", "O1", "O2", "Os"]
"""``O2`` is -O2 or -O3, ``Os`` is -Os or -Oz."""

_FOR_SIZE = frozenset({"optsize", "minsize"})
_BY_OPTIMISERS = frozenset({"nofree", "nosync"})
# Left by optimisers, but for the last, which front ends write from -O1 on.
_SIGNS = (" local_unnamed_addr ", "= tail call ", "\n  tail call ", "@llvm.lifetime.start")
# LLVM prints a function's group of attributes behind its arguments and the marks of its address.
_GROUP = re.compile(r"\)(?: local_unnamed_addr| unnamed_addr)?(?: addrspace\(\d+\))? (#\d+)")
_DEFINED = re.compile(r'^define (?:"[^"]*"|[^"@\n])*@("[^"]*"|[-a-zA-Z$._0-9]+)\(', re.MULTILINE)
_QUOTED = re.compile(r'"[^"]*"')
_NO_OPERAND = np.iinfo(np.int64).min  # assembler and metadata have negative keys, too
_NULL_TESTS = {"% = icmp eq ptr %, null": 1, "% = icmp ne ptr %, null": 0}


def level_of(module: IRModule) -> Level:
    """Level that a module was compiled at; of one that several were linked into, that of most of its functions."""
    return levels_by_symbol(module)[""]


def levels_of_functions(module: IRModule) -> list[Level]:
    """Level of each of ``module.defined_functions``: what it says itself, else `level_of` the module.

    A function says itself that it was built for size, and that it was not optimised; not, whether at -O1 or -O2.
    """
    levels = levels_by_symbol(module)
    return [levels.get(function.name, levels[""]) for function in module.defined_functions]


def stated_levels(text: str) -> dict[str, Level] | None:
    """As `levels_by_symbol`, of canonical text in which the attributes of each function say its level; else None."""
    attributes = _attributes(text)
    own: list[Level | None] = [
        "Os" if words & _FOR_SIZE else "O0" if "optnone" in words else None for words in attributes
    ]
    if not own or None in own:
        return None
    names = [match[1].strip('"') for match in _DEFINED.finditer(text)]
    return _by_symbol(names, own, "Os" if 2 * own.count("Os") > len(own) else "O0")


def levels_by_symbol(module: IRModule) -> dict[str, Level]:
    """Level of the module, under "", and of functions that have another one, by symbol: before its form's passes."""
    if module.built:
        return module.built  # type: ignore[return-value]  # made here
    attributes = _attributes(module.text)
    own = _own_levels(module, attributes)
    names = [function.name for function in module.defined_functions]
    return _by_symbol(names, own, _level_of_rest(module, attributes, own))


def _by_symbol(names: Sequence[str], own: Sequence[Level | None], rest: Level) -> dict[str, Level]:
    return {"": rest} | {name: level for name, level in zip(names, own, strict=True) if level not in (None, rest)}


def _attributes(text: str) -> list[AbstractSet[str]]:
    """Words in the group of attributes of each function with a body."""
    metadata = text[text.rfind("\n}\n") :]  # the groups stand between functions and metadata
    groups = attribute_groups(metadata[: metadata.find("\n!") + 1 or None])
    words = {name: frozenset(group.split()) for name, group in groups.items()}
    lines = [rest.partition("\n")[0] for rest in f"\n{text}".split("\ndefine ")[1:]]
    found = (_GROUP.search(_QUOTED.sub("", line) if '"' in line else line) for line in lines)
    return [words[match[1]] if match else frozenset() for match in found]


def _own_levels(module: IRModule, attributes: Sequence[AbstractSet[str]]) -> list[Level | None]:
    """What each function with a body says itself; None where it says nothing."""
    functions = _functions_with_promotable_variables(module)
    bodies = [at for at, header in enumerate(module.headers) if not header.is_declaration]
    levels: list[Level | None] = []
    for at, words in zip(bodies, attributes, strict=True):
        unoptimised = "optnone" in words or at in functions
        levels.append("Os" if words & _FOR_SIZE else "O0" if unoptimised else None)
    return levels


def _level_of_rest(module: IRModule, attributes: Sequence[AbstractSet[str]], own: Sequence[Level | None]) -> Level:
    """Level of the module, and of those of its functions that say nothing themselves."""
    for level in ("Os", "O0"):
        if 2 * own.count(level) > len(own):
            return level
    if not any(sign in module.text for sign in _SIGNS) and not any(words & _BY_OPTIMISERS for words in attributes):
        return "O0"
    if (may_unroll := _loops_may_unroll(module.text)) is not None:
        return "O2" if may_unroll else "O1"
    left_over = _lacks_tail_marks(module) or _has_decided_branch(module) or _has_unmarked_pointer(module)
    return "O1" if left_over else "O2"


def _loops_may_unroll(text: str) -> bool | None:
    """Whether any loop of the module may be unrolled; None where the loops do not tell."""
    metadata = text[text.rfind("\n}\n") :]
    if '!{!"llvm.loop.' not in metadata:
        return None
    properties, loops = {}, []
    for name, _, node in (line.partition(" = ") for line in metadata.split("\n") if "!{" in line):
        if node.startswith('!{!"llvm.loop.'):
            properties[name] = node.split('"')[1]
        elif node.startswith(f"distinct !{{{name}, "):  # a loop, or a scope of aliases
            loops.append(node[:-1].split(", ")[1:])
    said = [{properties[node] for node in loop if node in properties} for loop in loops]
    said = list(filter(None, said))
    if any("llvm.loop.unroll.disable" not in loop for loop in said):
        return True
    # Only clang forbids unrolling at -O1. Of another compiler, these are remainders of loops that it unrolled.
    by_clang = any("llvm.loop.mustprogress" in loop for loop in said) or "clang version" in metadata
    return False if said and by_clang else None


def _functions_with_promotable_variables(module: IRModule) -> set[int]:
    """Functions (numbers of ``module.headers``) with a variable in memory that is loaded and stored, and no more.

    Volatile accesses do not count, and marks of its lifetime do not matter.
    """
    arrays = module.arrays
    is_variable = _of_forms(module, [form.opcode == "alloca" for form in module.forms])
    uses = np.flatnonzero(arrays.operand_kind == OperandKind.INSTRUCTION)  # operands
    uses = uses[is_variable[arrays.operand_ref[uses]]]
    user = np.searchsorted(arrays.operand_start, uses, side="right") - 1  # instructions
    address = _of_forms(module, [_place_of_address(form) for form in module.forms])[user]
    is_access = uses - arrays.operand_start[user] == address
    is_other = (
        ~is_access & ~_of_forms(module, [form.callee.startswith("@llvm.lifetime.") for form in module.forms])[user]
    )
    promotable = np.zeros(len(arrays.form), np.bool_)
    promotable[arrays.operand_ref[uses[is_access]]] = True
    promotable[arrays.operand_ref[uses[is_other]]] = False
    return set(arrays.function[promotable].tolist())


def _place_of_address(form: Form) -> int:
    """Which operand is the address of a load or store that is not volatile; -1 for other instructions."""
    if form.opcode not in ("load", "store") or " volatile " in form.statement:
        return -1
    return 0 if form.opcode == "load" else 1


def _of_forms(module: IRModule, values: list[Any]) -> NDArray[Any]:
    """(I,) value of each instruction, from those of the forms."""
    return np.array(values)[module.arrays.form]


def _lacks_tail_marks(module: IRModule) -> bool:
    """Whether no call of the module is marked ``tail``, though there are some that LLVM would mark.

    It marks every call of a function without variables in memory (``TailRecursionElimination.cpp``), unless the
    function forbids it.
    """
    if "tail call " in module.text or " byval(" in module.text or '"disable-tail-calls"="true"' in module.text:
        return False
    function = module.arrays.function
    has_variable = np.zeros(len(module.headers), np.bool_)
    has_variable[function[_of_forms(module, [form.opcode == "alloca" for form in module.forms])]] = True
    is_call = [form.opcode == "call" and not form.callee.startswith("@llvm.") for form in module.forms]
    return bool(np.any(_of_forms(module, is_call) & ~has_variable[function]))


def _in_functions_without_loops(module: IRModule) -> Int64:
    """Instructions (rows of the module's arrays) of the functions in which no branch goes back.

    In loops, unrolling and vectorising leave decided branches behind at -O2, too.
    """
    arrays = module.arrays
    last = arrays.block_start[1:] - 1
    block = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    has_loop = np.zeros(len(module.headers), np.bool_)
    has_loop[arrays.function[last[block[arrays.successor <= block]]]] = True
    return np.flatnonzero(~has_loop[arrays.function])


def _has_decided_branch(module: IRModule) -> bool:
    """Whether a function without loops branches on a phi of the same block that has a constant among its values.

    On the phi itself, or on a comparison of it with a constant.
    """
    arrays, rows = module.arrays, _in_functions_without_loops(module)
    first, count = arrays.operand_start[:-1], np.diff(arrays.operand_start)
    has_constant = np.zeros(len(count), np.bool_)
    has_constant[np.repeat(np.arange(len(count)), count)[arrays.operand_kind == OperandKind.CONSTANT]] = True

    def by(decided: Bool, opcodes: tuple[str, ...]) -> Int64:
        """Those of ``rows``, of some opcodes, whose first operand is ``decided`` and of the same block."""
        users = rows[_of_forms(module, [form.opcode in opcodes for form in module.forms])[rows] & (count[rows] > 1)]
        users = users[arrays.operand_kind[first[users]] == OperandKind.INSTRUCTION]
        operand = arrays.operand_ref[first[users]]
        return users[decided[operand] & (arrays.block[operand] == arrays.block[users])]

    decided = _of_forms(module, [form.opcode == "phi" for form in module.forms]) & has_constant
    compared = by(decided, ("icmp",))
    decided[compared] = has_constant[compared]
    return bool(len(by(decided, ("br", "switch"))))


def _has_unmarked_pointer(module: IRModule) -> bool:
    """Whether a call passes on a pointer that the branch into its block found not to be null, without ``nonnull``."""
    arrays = module.arrays
    key = arrays.operand_ref.astype(np.int64) * len(OperandKind) + arrays.operand_kind
    # 1 and 0: successor of a branch that is reached where the pointer that this compares with null is another one.
    other = _of_forms(module, [_NULL_TESTS.get(form.statement, -1) for form in module.forms])
    is_branch = _of_forms(module, [form.opcode == "br" and len(form.operands) == 3 for form in module.forms])
    last = arrays.block_start[1:] - 1  # instruction of each block
    block = np.flatnonzero(is_branch[last])
    condition = arrays.operand_start[last[block]]
    block = block[(arrays.operand_kind[condition] == OperandKind.INSTRUCTION)]
    test = arrays.operand_ref[arrays.operand_start[last[block]]]
    block, test = block[other[test] >= 0], test[other[test] >= 0]
    reached = arrays.successor[arrays.successor_start[block] + other[test]]
    found = np.full(module.block_count, _NO_OPERAND)
    found[reached] = key[arrays.operand_start[test]]
    found[np.bincount(arrays.successor, minlength=module.block_count) > 1] = _NO_OPERAND  # also reached from elsewhere
    is_call = [form.opcode == "call" and not form.callee.startswith("@llvm.") for form in module.forms]
    user = np.repeat(np.arange(len(arrays.form)), np.diff(arrays.operand_start))
    passed = np.flatnonzero(_of_forms(module, is_call)[user] & (key == found[arrays.block[user]]))
    return any(_is_unmarked(module, int(user[row]), int(row - arrays.operand_start[user[row]])) for row in passed)


def _is_unmarked(module: IRModule, call: int, place: int) -> bool:
    """Whether an argument of a call is a pointer without ``nonnull``."""
    operand = module.forms[int(module.arrays.form[call])].operands[place]
    name = re.escape(module.local_names(call)[operand.slot])
    argument = re.search(rf".*\bptr ([^%]*)%{name}[,)]", module.lines[int(module.arrays.line[call])])
    return argument is not None and "nonnull" not in argument[1].split()
