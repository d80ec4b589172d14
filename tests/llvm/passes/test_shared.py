"""The shared library's engine: figures are those of ``opt`` and ``llc``; only IR, list and LLVM decide them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_programs import SUM

from mirenc.base.errors import IRParseError, PassError, ToolchainError
from mirenc.llvm.passes.extract import extract_functions
from mirenc.llvm.passes.find_llvm import SharedEngine
from mirenc.llvm.passes.object_file import elf_sections
from mirenc.llvm.passes.size_after_passes import Failed, Optimised

FIXTURES = Path(__file__).parents[2] / "fixtures" / "ir" / "clang-19" / "O0"
pytestmark = pytest.mark.needs("libLLVM")


@pytest.fixture(scope="module")
def engine() -> Iterator[SharedEngine]:
    with SharedEngine() as engine:
        yield engine


def test_lists_do_not_see_each_other(engine: SharedEngine) -> None:
    ir = (FIXTURES / "sorting.ll").read_bytes()
    lists = ["default<O2>", "function(sroa)", "", "default<Oz>", "function(sroa)"]
    together = engine.run_all(ir, lists)
    assert all(isinstance(each, Optimised) for each in together)
    assert together[1] == together[4]
    alone = [engine.run(ir, each) for each in lists]
    assert [(each.instructions, each.text_bytes, each.digest) for each in alone] == [
        (each.instructions, each.text_bytes, each.digest) for each in together if isinstance(each, Optimised)
    ]
    with SharedEngine() as another:
        assert another.run_all(ir, reversed(lists)) == together[::-1]


def test_what_fails_is_told_and_the_rest_goes_on(engine: SharedEngine) -> None:
    known, unknown, again = engine.run_all(SUM, ["mem2reg", "no-such-pass", "mem2reg"])
    assert unknown == Failed("pipeline", "unknown pass name 'no-such-pass'")
    assert known == again
    with pytest.raises(PassError, match="unknown pass name 'no-such-pass'") as error:
        engine.run(SUM, "no-such-pass")
    assert error.value.failed == "pipeline"
    with pytest.raises(IRParseError, match=r"cannot read the module: <string>:2:7"):
        engine.run(b"define i32 @f() {\n  ret i64 1\n}\n", "")
    with pytest.raises(IRParseError, match="cannot read the module"):
        engine.run_all(b"\x00\x01", ["mem2reg"])


def test_it_knows_what_it_can_read(engine: SharedEngine) -> None:
    assert engine.knows("default<Oz>")
    assert engine.knows("function(sroa<modify-cfg>,loop-mssa(licm))")
    assert not engine.knows("function(no-such-pass)")
    assert not engine.knows("function(sroa")


def test_a_backend_that_is_not_there_or_refuses_is_told(engine: SharedEngine) -> None:
    spir = SUM.replace(b"x86_64-pc-linux-gnu", b"spir64-unknown-unknown")
    assert isinstance(spir_result := engine.run_all(spir, ["mem2reg"])[0], Failed)
    assert spir_result.status == "backend"
    assembly = b'define void @f() {\n  call void asm "no such instruction", ""()\n  ret void\n}\n'
    (refused,) = engine.run_all(assembly, [""])
    assert isinstance(refused, Failed)
    assert refused.status == "backend"
    assert refused.problem.startswith("<inline asm>:1:")


def test_a_pass_that_aborts_costs_itself(engine: SharedEngine) -> None:
    ir = (FIXTURES / "sorting.ll").read_bytes()
    # LLVM's own crash of its tests.
    before, crashed, after = engine.run_all(ir, ["mem2reg", "trigger-crash-module", "mem2reg"])
    assert isinstance(crashed, Failed)
    assert crashed.status == "crash"
    assert before == after
    assert isinstance(before, Optimised)


def test_a_module_too_large_for_the_memory_is_told() -> None:
    huge = SUM + b'@large = global [4294967296 x i8] zeroinitializer, section ".data"\n'
    with SharedEngine(memory_limit=2**31) as engine:
        (failed,) = engine.run_all(huge, ["mem2reg"])
        assert isinstance(failed, Failed)
        assert failed.status == "memory"
        assert isinstance(engine.run_all(SUM, ["mem2reg"])[0], Optimised)


def test_broken_files_are_told(engine: SharedEngine) -> None:
    broken = FIXTURES.parents[2] / "broken"
    for path in [*sorted(broken.glob("refused_*.ll")), *sorted(broken.glob("refused_*.bc"))]:
        with pytest.raises(IRParseError):
            engine.run_all(path.read_bytes(), ["mem2reg"])
    with pytest.raises(IRParseError, match="did not survive reading"):
        engine.run_all((broken / "dies_in_parser.ll").read_bytes(), ["mem2reg"])
    assert isinstance(engine.run_all(SUM, ["mem2reg"])[0], Optimised)


def test_a_library_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolchainError, match=r"nowhere\.so.*Type: apt-get install"):
        SharedEngine(library="nowhere.so").knows("")


def test_constructors_are_where_loaders_look_for_them(engine: SharedEngine) -> None:
    functions = "".join(f"define void @f{at}() {{\n  ret void\n}}\n" for at in range(5))
    entry = "{{ i32, ptr, ptr }} {{ i32 {}, ptr @f{}, ptr {} }}"
    written = [
        (65535, 0, "null"),
        (200, 1, "null"),
        (65535, 2, "@shared"),
        (65535, 3, "@elsewhere"),
        (65535, 4, "null"),
    ]
    listed = ", ".join(entry.format(*one) for one in written)
    module = f"""target triple = "x86_64-pc-linux-gnu"
$shared = comdat any
@shared = linkonce_odr global i32 0, comdat
@elsewhere = external global i32
@llvm.global_ctors = appending global [5 x {{ i32, ptr, ptr }}] [{listed}]
@llvm.global_dtors = appending global [1 x {{ i32, ptr, ptr }}] [{entry.format(65535, 0, "null")}]
{functions}"""
    made = engine.compile(module.encode(), "")
    arrays = [(one.name, one.size) for one in elf_sections(made) if re.match(rb"\.(?:init|fini|ctors|dtors)", one.name)]
    # As clang's: the third goes with its variable, which a linker keeps once; the fourth is the other module's.
    assert sorted(arrays) == [
        (b".fini_array", 8),
        (b".init_array", 8),
        (b".init_array", 16),
        (b".init_array.200", 8),
    ]
    assert b".ctors" not in made
    apple = module.replace("x86_64-pc-linux-gnu", "x86_64-apple-macosx13.0.0").replace(", comdat", "").encode()
    apple = apple.replace(b"$shared = comdat any\n", b"").replace(b"i32 200", b"i32 65535")
    assert b"__mod_init_func" in engine.compile(apple, "")


@pytest.mark.needs("opt")
@pytest.mark.parametrize("name", ["sorting", "structs", "control_flow", "classes"])
def test_it_gives_what_opt_and_llc_give(engine: SharedEngine, tmp_path: Path, name: str) -> None:
    major = engine.version.split(".")[0]
    opt, llc, size = (shutil.which(f"{tool}-{major}") for tool in ("opt", "llc", "llvm-size"))
    if not (opt and llc and size):
        pytest.skip(f"opt-{major}, llc-{major} and llvm-size-{major} are not all here")
    for function, module in list(extract_functions((FIXTURES / f"{name}.ll").read_text()))[:4]:
        source, optimised, object_file = (tmp_path / f"a{ending}" for ending in (".ll", ".bc", ".o"))
        source.write_text(module)
        subprocess.run([opt, "-relocation-model=pic", "-passes=default<Oz>", source, "-o", optimised], check=True)
        subprocess.run([llc, "-filetype=obj", "-relocation-model=pic", optimised, "-o", object_file], check=True)
        listed = subprocess.run([size, "-A", object_file], capture_output=True, text=True, check=True).stdout
        by_tools = sum(int(each) for each in re.findall(r"^\.text\S*\s+(\d+)", listed, re.MULTILINE))
        ours = engine.run(module.encode(), "default<Oz>")
        assert ours.text_bytes == by_tools, function
