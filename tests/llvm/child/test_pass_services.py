"""Both LLVMs that run passes: figures worked out by hand or by ``opt`` and ``llc``; what fails costs itself alone."""

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small_programs import SUM

from mirenc.base.errors import IRParseError, PassError, ToolchainError
from mirenc.llvm import parse_ir
from mirenc.llvm.child.llvmlite_pass_service import PASSES
from mirenc.llvm.passes.extract import extract_functions, without_size_attributes
from mirenc.llvm.passes.find_llvm import EmbeddedEngine, SharedEngine
from mirenc.llvm.passes.object_file import elf_functions, elf_sections
from mirenc.llvm.passes.size_after_passes import Engine, Failed, Optimised

FIXTURES = Path(__file__).parents[2] / "fixtures"
UNOPTIMISED = FIXTURES / "ir" / "clang-19" / "O0"
SORTING = (UNOPTIMISED / "sorting.ll").read_bytes()
# clang's -O0 forbids optimising; -Oz's attributes in its place.
FOR_SIZE = SORTING.replace(b" optnone", b"").replace(b" noinline", b" minsize optsize")
COROUTINE = b"""target triple = "x86_64-pc-linux-gnu"
define ptr @twice() presplitcoroutine {
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i32 @llvm.coro.size.i32()
  %memory = call ptr @malloc(i32 %size)
  %frame = call ptr @llvm.coro.begin(token %id, ptr %memory)
  %way = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %way, label %leave [
    i8 0, label %resumed
    i8 1, label %leave
  ]
resumed:
  call void @said()
  br label %leave
leave:
  ret ptr %frame
}
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i32 @llvm.coro.size.i32()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @malloc(i32)
declare void @said()
"""
NEEDS_SHARED = pytest.mark.needs("libLLVM")


@pytest.fixture(scope="module")
def embedded() -> Iterator[EmbeddedEngine]:
    with EmbeddedEngine() as engine:
        yield engine


@pytest.fixture(scope="module")
def shared() -> Iterator[SharedEngine]:
    with SharedEngine() as engine:
        yield engine


@pytest.fixture(params=["embedded", pytest.param("shared", marks=NEEDS_SHARED)])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.getfixturevalue(request.param)


def test_figures_worked_out_by_hand(engine: Engine) -> None:
    promoted = engine.run(SUM, "function(sroa)")
    # lea (%rdi,%rsi), %eax is 3 bytes, ret is 1.
    assert (promoted.instructions, promoted.text_bytes) == (2, 4)
    assert engine.run(promoted.ir, "") == promoted
    assert engine.run(SUM, "").instructions == 5
    if isinstance(engine, EmbeddedEngine):  # llvmlite reads what it wrote
        assert len(parse_ir(promoted.ir).functions) == 1


def test_names_of_locals_change_nothing(engine: Engine) -> None:
    assert engine.run(SUM.replace(b"%first", b"%other"), "sroa") == engine.run(SUM, "sroa")
    assert engine.run(SUM.replace(b"add", b"sub"), "sroa").digest != engine.run(SUM, "sroa").digest


def test_a_module_is_printed(engine: Engine) -> None:
    text = engine.text(SUM, "function(sroa)")
    assert "alloca" in engine.text(engine.run(SUM, "").ir)
    assert "alloca" not in text
    assert engine.run(text.encode(), "") == engine.run(SUM, "function(sroa)")


def test_a_coroutine_that_no_pass_has_split_has_machine_code(engine: Engine) -> None:
    functions = {one.name: one.size for one in elf_functions(engine.compile(COROUTINE, ""))}
    assert functions.keys() - {"twice.cleanup"} == {"twice", "twice.destroy", "twice.resume"}
    # The IR stays as it is.
    assert engine.run(COROUTINE, "").instructions == 9
    assert "@llvm.coro.suspend" in engine.text(COROUTINE)
    assert engine.run(COROUTINE, "").text_bytes >= sum(functions.values())


def test_lists_do_not_see_each_other(engine: Engine) -> None:
    lists = ["default<O2>", "function(sroa)", "", "default<O1>", "function(sroa)"]
    together = engine.run_all(SORTING, lists)
    assert all(isinstance(result, Optimised) for result in together)
    assert together[1] == together[4]
    assert engine.run_all(SORTING, reversed(lists)) == together[::-1]
    for pipeline, result in zip(lists, together, strict=True):
        assert replace(engine.run(SORTING, pipeline), ir=b"") == result


def test_a_list_that_is_not_known_costs_itself(engine: Engine) -> None:
    known, unknown, again = engine.run_all(SUM, ["function(sroa)", "function(no-such-pass)", "function(sroa)"])
    assert isinstance(unknown, Failed)
    assert unknown.status == "pipeline"
    assert "no-such-pass" in unknown.problem
    assert known == again
    with pytest.raises(PassError, match="no-such-pass") as error:
        engine.run(SUM, "function(no-such-pass)")
    assert error.value.failed == "pipeline"


@pytest.mark.parametrize(
    ("pipeline", "embedded_knows", "shared_knows"),
    [
        ("default<O2>", True, True),
        ("default<Oz>", False, True),
        ("function(sroa<modify-cfg>,loop-mssa(licm))", False, True),
        ("function(no-such-pass)", False, False),
        ("function(sroa", False, False),
    ],
)
def test_an_engine_knows_what_it_can_read(
    engine: Engine, pipeline: str, embedded_knows: bool, shared_knows: bool
) -> None:
    assert engine.knows(pipeline) == (embedded_knows if isinstance(engine, EmbeddedEngine) else shared_knows)


def test_modules_that_llvm_refuses_or_dies_of_are_errors(engine: Engine) -> None:
    for path in sorted((FIXTURES / "broken").glob("refused_*.*")):
        if path.suffix in (".ll", ".bc"):
            with pytest.raises(IRParseError):
                engine.run_all(path.read_bytes(), ["sroa"])
    with pytest.raises(IRParseError, match=r"cannot read the module: <string>:2:7"):
        engine.run(b"define i32 @f() {\n  ret i64 1\n}\n", "")
    with pytest.raises(IRParseError, match="LLVM ended while it read the module"):
        engine.run_all((FIXTURES / "broken" / "dies_in_parser.ll").read_bytes(), ["sroa"])
    assert isinstance(engine.run_all(SUM, ["sroa"])[0], Optimised)


def test_a_backend_that_is_missing_is_told(engine: Engine) -> None:
    results = engine.run_all(SUM.replace(b"x86_64-pc-linux-gnu", b"nowhere-none-none"), ["sroa", ""])
    assert [result.status for result in results if isinstance(result, Failed)] == ["backend", "backend"]


# -- llvmlite's LLVM -----------------------------------------------------------------------------------
def test_every_pass_of_llvmlite_runs(embedded: EmbeddedEngine) -> None:
    lists = [step.text if step.kind == "module" else f"{step.kind}({step.text})" for step in PASSES]
    lists += [",".join(random.Random(seed).choices(lists, k=10)) for seed in range(30)]
    results = embedded.run_all(SORTING, lists)
    assert all(isinstance(result, Optimised) for result in results)
    assert len({result.digest for result in results[-30:] if isinstance(result, Optimised)}) > 10
    assert results == embedded.run_all(SORTING, lists)


def test_size_attributes_make_code_small_and_go_again(embedded: EmbeddedEngine) -> None:
    unoptimised, small = embedded.run(SORTING, "default<O0>"), embedded.run(FOR_SIZE, "default<O2>")
    large = embedded.run(without_size_attributes(FOR_SIZE.decode()).encode(), "default<O2>")
    assert small.text_bytes < embedded.run(SORTING, "default<O2>").text_bytes
    assert small.text_bytes < large.text_bytes < unoptimised.text_bytes


@pytest.mark.parametrize(
    ("pipeline", "problem"),
    [
        ("default<Oz>", "llvmlite has no pass 'default<Oz>'"),
        ("function(sroa<modify-cfg>)", "llvmlite's sroa takes no options; found 'sroa<modify-cfg>'"),
        (
            "function(nonsense)",
            "llvmlite has no pass 'nonsense' for a function; it has default<O0> to default<O3>, adce, aggressive-",
        ),
        ("function(globaldce)", "llvmlite has no pass 'globaldce' for a function"),
        ("function(sroa", "a list of passes is wrong at its end"),
    ],
)
def test_passes_that_llvmlite_does_not_have_are_named(embedded: EmbeddedEngine, pipeline: str, problem: str) -> None:
    (refused,) = embedded.run_all(SUM, [pipeline])
    assert isinstance(refused, Failed)
    assert refused.problem.startswith(problem)


def test_inline_assembly_of_this_machine_is_weighed(embedded: EmbeddedEngine) -> None:
    # A module without a target is this machine's, and each of them has a `nop`.
    text = 'define void @f() {{\n  call void asm sideeffect "{}", ""()\n  ret void\n}}\n'
    one, two = (embedded.run(text.format(code).encode(), "").text_bytes for code in ("nop", "nop\\0Anop"))
    assert 0 < one < two


def test_raw_bytes_in_a_constant_are_read(embedded: EmbeddedEngine) -> None:
    assert embedded.run(SUM + b'@text = constant [1 x i8] c"\xff"\n', "sroa").instructions == 2


# -- libLLVM -------------------------------------------------------------------------------------------
@NEEDS_SHARED
def test_an_error_of_the_backend_is_told(shared: SharedEngine) -> None:
    assembly = b'define void @f() {\n  call void asm "no such instruction", ""()\n  ret void\n}\n'
    (refused,) = shared.run_all(assembly, [""])
    assert isinstance(refused, Failed)
    assert refused.status == "backend"
    assert refused.problem.startswith("<inline asm>:1:")


@NEEDS_SHARED
def test_a_pass_that_aborts_costs_itself(shared: SharedEngine) -> None:
    # LLVM's own crash of its tests.
    before, crashed, after = shared.run_all(SORTING, ["mem2reg", "trigger-crash-module", "mem2reg"])
    assert isinstance(crashed, Failed)
    assert crashed.status == "crash"
    assert before == after
    assert isinstance(before, Optimised)


@NEEDS_SHARED
def test_a_module_too_large_for_the_memory_is_told() -> None:
    huge = SUM + b'@large = global [4294967296 x i8] zeroinitializer, section ".data"\n'
    with SharedEngine(memory_limit=2**31) as engine:
        (failed,) = engine.run_all(huge, ["mem2reg"])
        assert isinstance(failed, Failed)
        assert failed.status == "memory"
        assert isinstance(engine.run_all(SUM, ["mem2reg"])[0], Optimised)


def test_a_library_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolchainError, match=r"nowhere\.so.*Type: apt-get install"):
        SharedEngine(library="nowhere.so").knows("")


@NEEDS_SHARED
def test_constructors_are_where_loaders_look_for_them(shared: SharedEngine) -> None:
    functions = "".join(f"define void @f{at}() {{\n  ret void\n}}\n" for at in range(5))
    entry = "{{ i32, ptr, ptr }} {{ i32 {}, ptr @f{}, ptr {} }}"
    keys = ("null", "null", "@shared", "@elsewhere", "null")
    listed = ", ".join(entry.format(200 if at == 1 else 65535, at, key) for at, key in enumerate(keys))
    module = f"""target triple = "x86_64-pc-linux-gnu"
$shared = comdat any
@shared = linkonce_odr global i32 0, comdat
@elsewhere = external global i32
@llvm.global_ctors = appending global [5 x {{ i32, ptr, ptr }}] [{listed}]
@llvm.global_dtors = appending global [1 x {{ i32, ptr, ptr }}] [{entry.format(65535, 0, "null")}]
{functions}"""
    data = shared.compile(module.encode(), "")
    arrays = [(section.name, section.size) for section in elf_sections(data)]
    # As clang's: the third goes with its variable, which a linker keeps once; the fourth is the other module's.
    assert sorted(array for array in arrays if re.match(rb"\.(?:init|fini|ctors|dtors)", array[0])) == [
        (b".fini_array", 8),
        (b".init_array", 8),
        (b".init_array", 16),
        (b".init_array.200", 8),
    ]
    assert b".ctors" not in data
    apple = module.replace("x86_64-pc-linux-gnu", "x86_64-apple-macosx13.0.0").replace(", comdat", "").encode()
    apple = apple.replace(b"$shared = comdat any\n", b"").replace(b"i32 200", b"i32 65535")
    assert b"__mod_init_func" in shared.compile(apple, "")


@pytest.mark.needs("opt")
@NEEDS_SHARED
@pytest.mark.parametrize("name", ["sorting", "structs", "control_flow", "classes"])
def test_sizes_are_those_of_opt_and_llc(shared: SharedEngine, tmp_path: Path, name: str) -> None:
    major = shared.version.split(".")[0]
    opt, llc, size = (shutil.which(f"{tool}-{major}") for tool in ("opt", "llc", "llvm-size"))
    if not (opt and llc and size):
        pytest.skip(f"opt-{major}, llc-{major} and llvm-size-{major} are not all here")
    for function, module in list(extract_functions((UNOPTIMISED / f"{name}.ll").read_text()))[:4]:
        source, optimised, object_file = (tmp_path / f"a{ending}" for ending in (".ll", ".bc", ".o"))
        source.write_text(module)
        subprocess.run([opt, "-relocation-model=pic", "-passes=default<Oz>", source, "-o", optimised], check=True)
        subprocess.run([llc, "-filetype=obj", "-relocation-model=pic", optimised, "-o", object_file], check=True)
        listed = subprocess.run([size, "-A", object_file], capture_output=True, text=True, check=True).stdout
        by_tools = sum(int(count) for count in re.findall(r"^\.text\S*\s+(\d+)", listed, re.MULTILINE))
        assert shared.run(module.encode(), "default<Oz>").text_bytes == by_tools, function
