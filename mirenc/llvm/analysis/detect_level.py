"""Detect the optimisation level that IR was compiled at: -O0, -O1, -O2 or -O3, -Os or -Oz.

Nothing here is learned. The rules hold for the IR of clang 13 to 19, zig, rustc and flang 19:

- **-Os, -Oz**: the front end gives every function ``optsize``, and at -Oz ``minsize``.
- **-O0**: clang gives every function ``optnone``, but not with ``-Xclang -disable-O0-optnone``. No optimiser ran, so
  variables stay in memory that is only loaded and stored, which the first pass of -O1 ends; and nothing has the
  attributes of optimisers on functions and calls (``local_unnamed_addr``, ``nofree``, ``nosync``, ``tail``).
- **-O1**: clang forbids the unrolling of every loop (``llvm.loop.unroll.disable``); at -O2 only remainders of unrolled
  loops have this. Before LLVM 15, -O1 had no pass that marks calls ``tail``. If neither decides, -O1 is recognised by
  the lack of what only passes of -O2 do: jump threading of branches on a value that the way into their block decides,
  and ``nonnull`` on the argument of a call that a branch found not to be null (correlated value propagation).
- **-O2, -O3**: everything else.

So a short -O1 module without branches is taken for -O2 (its IR is often the same), and so is much IR of other compilers
at -O1. ``clang -O2 -fno-unroll-loops`` is taken for -O1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set as AbstractSet
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mirenc.base.arrays import Bool, Int64
from mirenc.llvm.ir.grammar import Form
from mirenc.llvm.ir.lines import DEFINED, attribute_groups
from mirenc.llvm.ir.metadata import metadata_nodes
from mirenc.llvm.ir.module import IRModule, OperandKind

Level: TypeAlias = Literal["O0", "O1", "O2", "Os"]
"""``O2`` is -O2 or -O3, ``Os`` is -Os or -Oz."""

LEVEL_WORDS = {"O0": "before optimisation", "O1": "at -O1", "O2": "at -O2 or -O3", "Os": "at -Os or -Oz"}
_SIZE_ATTRIBUTES = frozenset({"optsize", "minsize"})
_PASS_ATTRIBUTES = frozenset({"nofree", "nosync"})
# Written by optimisers, except the last, which front ends write from -O1 on.
_SIGNS = (" local_unnamed_addr ", "= tail call ", "\n  tail call ", "@llvm.lifetime.start")
# The attribute group of a function is printed behind its arguments and the attributes of its address.
_GROUP = re.compile(r"\)(?: local_unnamed_addr| unnamed_addr)?(?: addrspace\(\d+\))? (#\d+)")
_QUOTED = re.compile(r'"[^"]*"')
_NO_OPERAND = np.iinfo(np.int64).min  # the keys of assembler and metadata are negative, too
_NULL_TESTS = {"% = icmp eq ptr %, null": 1, "% = icmp ne ptr %, null": 0}


def level_of(module: IRModule) -> Level:
    """Level that a module was compiled at; for several linked modules that of most functions."""
    return levels_by_symbol(module)[""]


def levels_of_functions(module: IRModule) -> list[Level]:
    """Level of each of ``module.defined_functions``: its own, if known, else `level_of` the module.

    A function shows by itself that it was built for size or not optimised, but not whether at -O1 or -O2.
    """
    levels = levels_by_symbol(module)
    return [levels.get(function.name, levels[""]) for function in module.defined_functions]


def stated_levels(text: str) -> dict[str, Level] | None:
    """`levels_by_symbol` of canonical text, if the attributes of each function state its level; otherwise None."""
    levels = [*map(_stated_level, _attributes(text))]
    if not levels or None in levels:
        return None
    names = [match[1].strip('"') for match in DEFINED.finditer(text)]
    return _by_symbol(names, levels, "Os" if 2 * levels.count("Os") > len(levels) else "O0")


def levels_by_symbol(module: IRModule) -> dict[str, Level]:
    """Level of the module, under "", and of functions with another level, by symbol; before the passes of its form."""
    if module.built:
        return module.built  # type: ignore[return-value]  # from here
    attributes = _attributes(module.text)
    levels = _function_levels(module, attributes)
    names = [function.name for function in module.defined_functions]
    return _by_symbol(names, levels, _module_level(module, attributes, levels))


def _by_symbol(names: Sequence[str], levels: Sequence[Level | None], main: Level) -> dict[str, Level]:
    return {"": main} | {name: level for name, level in zip(names, levels, strict=True) if level not in (None, main)}


def _attributes(text: str) -> list[AbstractSet[str]]:
    """Words in the attribute group of each function with a body."""
    metadata = text[text.rfind("\n}\n") :]  # the groups stand between functions and metadata
    groups = attribute_groups(metadata[: metadata.find("\n!") + 1 or None])
    words = {name: frozenset(group.split()) for name, group in groups.items()}
    lines = [part.partition("\n")[0] for part in f"\n{text}".split("\ndefine ")[1:]]
    matches = (_GROUP.search(_QUOTED.sub("", line) if '"' in line else line) for line in lines)
    return [words[match[1]] if match else frozenset() for match in matches]


def _function_levels(module: IRModule, attributes: Sequence[AbstractSet[str]]) -> list[Level | None]:
    """Level that each function with a body shows by its own attributes and variables; None if unknown."""
    functions = _functions_with_promotable_variables(module)
    bodies = [row for row, header in enumerate(module.headers) if not header.is_declaration]
    stated = map(_stated_level, attributes)
    return [level or ("O0" if row in functions else None) for row, level in zip(bodies, stated, strict=True)]


def _stated_level(attributes: AbstractSet[str]) -> Level | None:
    """Level that a function's attributes state; None if they state none."""
    return "Os" if attributes & _SIZE_ATTRIBUTES else "O0" if "optnone" in attributes else None


def _module_level(module: IRModule, attributes: Sequence[AbstractSet[str]], levels: Sequence[Level | None]) -> Level:
    """Level of the module, and of its functions without a level of their own."""
    for level in ("Os", "O0"):
        if 2 * levels.count(level) > len(levels):
            return level
    if not any(sign in module.text for sign in _SIGNS) and not any(words & _PASS_ATTRIBUTES for words in attributes):
        return "O0"
    if (may_unroll := _loops_may_unroll(module.text)) is not None:
        return "O2" if may_unroll else "O1"
    is_o1 = _lacks_tail_marks(module) or _has_decided_branch(module) or _has_unmarked_pointer(module)
    return "O1" if is_o1 else "O2"


def _loops_may_unroll(text: str) -> bool | None:
    """Whether any loop of the module may be unrolled; None if the loops do not decide the level."""
    if text.find('!{!"llvm.loop.', text.rfind("\n}\n")) < 0:
        return None
    nodes = metadata_nodes(text)
    property_nodes = ((number, node) for number, node in nodes.items() if node.startswith('!{!"llvm.loop.'))
    properties = {f"!{number}": node.split('"')[1] for number, node in property_nodes}
    # A node that names itself first is a loop's, or that of a scope of aliases.
    loops = [node[:-1].split(", ")[1:] for number, node in nodes.items() if node.startswith(f"!{{!{number}, ")]
    loop_properties = [names for loop in loops if (names := {properties[node] for node in loop if node in properties})]
    if any("llvm.loop.unroll.disable" not in names for names in loop_properties):
        return True
    # Only clang forbids unrolling at -O1. From other compilers these are remainders of unrolled loops.
    by_clang = any("llvm.loop.mustprogress" in names for names in loop_properties)
    by_clang = by_clang or any("clang version" in node for node in nodes.values())
    return False if loop_properties and by_clang else None


def _functions_with_promotable_variables(module: IRModule) -> set[int]:
    """Functions (numbers of ``module.headers``) with a variable in memory that is only loaded and stored.

    Volatile accesses exclude a variable, lifetime intrinsics do not.
    """
    arrays = module.arrays
    is_variable = _form_values(module, lambda form: form.opcode == "alloca")
    uses = np.flatnonzero(arrays.operand_kind == OperandKind.INSTRUCTION)  # operands
    uses = uses[is_variable[arrays.operand_ref[uses]]]
    user = np.searchsorted(arrays.operand_start, uses, side="right") - 1  # instructions
    address = _form_values(module, _address_operand)[user]
    is_access = uses - arrays.operand_start[user] == address
    is_other = ~is_access & ~_form_values(module, lambda form: form.callee.startswith("@llvm.lifetime."))[user]
    promotable = np.zeros(len(arrays.form), np.bool_)
    promotable[arrays.operand_ref[uses[is_access]]] = True
    promotable[arrays.operand_ref[uses[is_other]]] = False
    return set(arrays.function[promotable].tolist())


def _address_operand(form: Form) -> int:
    """Number of the operand that is the address of a non-volatile load or store; -1 for other instructions."""
    if form.opcode not in ("load", "store") or " volatile " in form.statement:
        return -1
    return 0 if form.opcode == "load" else 1


def _form_values(module: IRModule, value: Callable[[Form], Any]) -> NDArray[Any]:
    """``value`` of the form of each instruction, (I,)."""
    return np.array([value(form) for form in module.forms])[module.arrays.form]


def _is_call(form: Form) -> bool:
    return form.opcode == "call" and not form.callee.startswith("@llvm.")


def _lacks_tail_marks(module: IRModule) -> bool:
    """Whether no call of the module is marked ``tail``, although LLVM would mark some.

    It marks every call in a function without variables in memory (``TailRecursionElimination.cpp``), unless an
    attribute forbids it.
    """
    if "tail call " in module.text or " byval(" in module.text or '"disable-tail-calls"="true"' in module.text:
        return False
    function = module.arrays.function
    has_variable = np.zeros(len(module.headers), np.bool_)
    has_variable[function[_form_values(module, lambda form: form.opcode == "alloca")]] = True
    return bool(np.any(_form_values(module, _is_call) & ~has_variable[function]))


def _loop_free_instructions(module: IRModule) -> Int64:
    """Instructions (rows of the module's arrays) of functions without a backward branch.

    In loops, unrolling and vectorising leave decided branches at -O2, too.
    """
    arrays = module.arrays
    last = arrays.block_start[1:] - 1
    block = np.repeat(np.arange(module.block_count), np.diff(arrays.successor_start))
    has_loop = np.zeros(len(module.headers), np.bool_)
    has_loop[arrays.function[last[block[arrays.successor <= block]]]] = True
    return np.flatnonzero(~has_loop[arrays.function])


def _has_decided_branch(module: IRModule) -> bool:
    """Whether a function without loops branches on a phi of the same block with a constant among its values.

    The condition is the phi, or a comparison of it with a constant.
    """
    arrays, rows = module.arrays, _loop_free_instructions(module)
    first, count = arrays.operand_start[:-1], np.diff(arrays.operand_start)
    has_constant = np.zeros(len(count), np.bool_)
    has_constant[np.repeat(np.arange(len(count)), count)[arrays.operand_kind == OperandKind.CONSTANT]] = True

    def users_of(is_decided: Bool, opcodes: tuple[str, ...]) -> Int64:
        """Instructions among ``rows``, of some opcodes, whose first operand ``is_decided`` and in the same block."""
        users = rows[_form_values(module, lambda form: form.opcode in opcodes)[rows] & (count[rows] > 1)]
        users = users[arrays.operand_kind[first[users]] == OperandKind.INSTRUCTION]
        operand = arrays.operand_ref[first[users]]
        return users[is_decided[operand] & (arrays.block[operand] == arrays.block[users])]

    is_decided = _form_values(module, lambda form: form.opcode == "phi") & has_constant
    comparisons = users_of(is_decided, ("icmp",))
    is_decided[comparisons] = has_constant[comparisons]
    return bool(len(users_of(is_decided, ("br", "switch"))))


def _has_unmarked_pointer(module: IRModule) -> bool:
    """Whether an argument of a call, which the branch into its block found not to be null, is not ``nonnull``."""
    arrays = module.arrays
    key = arrays.operand_ref.astype(np.int64) * len(OperandKind) + arrays.operand_kind
    # For a comparison with null: number of the successor of a branch on it that is reached for other pointers.
    nonnull_edge = _form_values(module, lambda form: _NULL_TESTS.get(form.statement, -1))
    is_branch = _form_values(module, lambda form: form.opcode == "br" and len(form.operands) == 3)
    last = arrays.block_start[1:] - 1  # instruction of each block
    block = np.flatnonzero(is_branch[last])
    condition = arrays.operand_start[last[block]]
    block = block[(arrays.operand_kind[condition] == OperandKind.INSTRUCTION)]
    test = arrays.operand_ref[arrays.operand_start[last[block]]]
    block, test = block[nonnull_edge[test] >= 0], test[nonnull_edge[test] >= 0]
    target = arrays.successor[arrays.successor_start[block] + nonnull_edge[test]]
    guards = np.full(module.block_count, _NO_OPERAND)
    guards[target] = key[arrays.operand_start[test]]
    guards[np.bincount(arrays.successor, minlength=module.block_count) > 1] = _NO_OPERAND  # also reached from elsewhere
    user = np.repeat(np.arange(len(arrays.form)), np.diff(arrays.operand_start))
    arguments = np.flatnonzero(_form_values(module, _is_call)[user] & (key == guards[arrays.block[user]]))
    return any(_is_unmarked(module, int(user[row]), int(row - arrays.operand_start[user[row]])) for row in arguments)


def _is_unmarked(module: IRModule, call: int, place: int) -> bool:
    """Whether an argument of a call is a pointer without ``nonnull``."""
    operand = module.forms[int(module.arrays.form[call])].operands[place]
    name = re.escape(module.local_names(call)[operand.slot])
    argument = re.search(rf".*\bptr ([^%]*)%{name}[,)]", module.lines[int(module.arrays.line[call])])
    return argument is not None and "nonnull" not in argument[1].split()
