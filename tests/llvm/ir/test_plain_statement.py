"""One spelling of statements: by hand, and addresses against what LLVM's own optimiser makes of them."""

import random
import re

import llvmlite.binding as llvm
import pytest

from mirenc.llvm.ir.plain_statement import Layout, plain_statement

DEFINITIONS = [
    "%struct.node = type { i32, ptr, [4 x i16] }",
    "%struct.packed = type <{ i8, i64 }>",
    '%"class.std::pair<int, char>" = type { i32, %struct.node, i8 }',
    "%struct.hidden = type opaque",
    "%struct.loop = type { i32, %struct.loop }",
]


@pytest.mark.parametrize(
    ("statement", "plain"),
    [
        ("% = getelementptr inbounds nuw %struct.node, ptr %, i32 0, i32 2, i64 3", "i8, ptr %, i64 22"),
        ("% = getelementptr inbounds i8, ptr %, i64 22", "i8, ptr %, i64 22"),
        ("% = getelementptr %struct.node, ptr %, i64 -1, i32 1", "i8, ptr %, i64 -16"),
        ('% = getelementptr %"class.std::pair<int, char>", ptr %, i32 0, i32 2', "i8, ptr %, i64 32"),
        ("% = getelementptr inbounds %struct.packed, ptr %, i64 0, i32 1", "i8, ptr %, i64 1"),
        ("% = getelementptr inbounds { i32, i64 }, ptr %, i32 0, i32 1", "i8, ptr %, i64 8"),
        (
            "% = getelementptr [16 x i8], ptr @std::map<int, int>::x, i64 0, i64 3",
            "i8, ptr @std::map<int, int>::x, i64 3",
        ),
        ("% = getelementptr i32, ptr addrspace(1) %, i64 2", "i8, ptr addrspace(1) %, i64 8"),
        ("% = getelementptr inbounds [9 x [4 x double]], ptr %, i64 0, i64 2, i64 %", "double, ptr %, i64 %"),
        ("% = getelementptr inbounds %struct.node, ptr %, i64 %, i32 1", "%struct.node, ptr %, i64 %"),
        ("% = getelementptr inbounds float, ptr %, i32 %", "float, ptr %, i64 %"),
        ("% = getelementptr [4 x <4 x float>], ptr %, i64 0, i64 1", "i8, ptr %, i64 16"),
    ],
)
def test_an_address_is_in_bytes(statement: str, plain: str) -> None:
    assert plain_statement(statement, Layout(DEFINITIONS)) == f"% = getelementptr {plain}"


@pytest.mark.parametrize(
    "statement",
    [
        "% = getelementptr %struct.unknown, ptr %, i32 0, i32 1",
        "% = getelementptr %struct.hidden, ptr %, i64 1",
        "% = getelementptr %struct.loop, ptr %, i64 1",
        "% = getelementptr %struct.node, ptr %, i32 0, i32 7",
        "% = getelementptr [4 x [4 x i8]], ptr %, i64 %, i64 0, i64 %",
        "% = getelementptr i8, <2 x ptr> %, <2 x i64> <i64 1, i64 2>",
        "ret void",
        '% = call i32 @puts(ptr @"add nuw ")',
        "",
    ],
)
def test_what_cannot_be_measured_stays(statement: str) -> None:
    assert plain_statement(statement, Layout(DEFINITIONS)) == statement


def test_flags_and_poison() -> None:
    layout = Layout()
    assert plain_statement("% = add nuw nsw i32 %, 1", layout) == "% = add i32 %, 1"
    assert plain_statement("% = or disjoint i64 %, 1", layout) == "% = or i64 %, 1"
    assert plain_statement("% = icmp samesign ult i32 %, 8", layout) == "% = icmp ult i32 %, 8"
    assert plain_statement("% = fadd fast float %, %", layout) == "% = fadd fast float %, %"
    assert plain_statement("call void @f(i32 poison)", layout) == "call void @f(i32 undef)"
    assert plain_statement("call void @poison(i32 1)", layout) == "call void @poison(i32 1)"


def test_layout_passes_over_other_statements() -> None:
    layout = Layout(["% = add i32 %, 1", "@x = global i32 0", "%struct.a = type { i8 }", "%struct.a = type { i64 }"])
    assert layout.measure("%struct.a") == (1, 1, ("i8",), (0,))  # the first of a name
    assert layout.measure("label") is None
    assert layout.measure("[3 x i24]") == (12, 4, (), ())


SCALARS = ("i1", "i8", "i16", "i32", "i64", "i128", "half", "float", "double", "x86_fp80", "ptr", "<3 x i32>", "i24")


def random_type(rng: random.Random, depth: int, named: list[str]) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return rng.choice(SCALARS)
    if kind < 0.7:
        return f"[{rng.randint(1, 5)} x {random_type(rng, depth - 1, named)}]"
    fields = ", ".join(random_type(rng, depth - 1, named) for _ in range(rng.randint(1, 4)))
    named.append(f"<{{ {fields} }}>" if kind < 0.78 else f"{{ {fields} }}")
    return f"%t{len(named) - 1}"


@pytest.mark.parametrize("seed", range(8))
def test_addresses_are_where_llvm_finds_them(seed: int) -> None:
    """LLVM's instcombine writes an address at a fixed distance in bytes, too."""
    rng = random.Random(seed)
    named: list[str] = []
    functions = []
    for number in range(40):
        kind = random_type(rng, 3, named)
        indices = f"i64 {rng.randint(-3, 3)}"
        at = kind
        while at.startswith(("%", "[")):
            if at.startswith("["):
                count, inner = re.fullmatch(r"\[(\d+) x (.*)\]", at).groups()  # type: ignore[union-attr]
                indices, at = f"{indices}, i64 {rng.randrange(int(count))}", inner
            else:
                fields = Layout([f"%t{row} = type {body}" for row, body in enumerate(named)]).measure(at).fields  # type: ignore[union-attr]
                field = rng.randrange(len(fields))
                indices, at = f"{indices}, i32 {field}", fields[field]
        functions.append((f"f{number}", f"getelementptr {kind}, ptr %, {indices}"))
    types = [f"%t{row} = type {body}" for row, body in enumerate(named)]
    bodies = [
        f"define ptr @{name}(ptr %p) {{\n  %a = {text.replace('%,', '%p,')}\n  ret ptr %a\n}}"
        for name, text in functions
    ]
    llvm.initialize_native_target()
    target = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
    module = llvm.parse_assembly("\n".join([f'target datalayout = "{target.target_data}"', *types, *bodies]))
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=2)))
    addresses = dict(
        re.findall(r"define ptr @(\w+)\(.*\n(?:  %a = getelementptr (?:inbounds |nuw )*(.*)\n)?", str(module))
    )
    layout = Layout(types)
    assert len(addresses) == len(functions)
    for name, text in functions:
        expected = addresses[name].replace("%p", "%") or "i8, ptr %, i64 0"
        assert plain_statement(f"% = {text}", layout) == f"% = getelementptr {expected}", text
