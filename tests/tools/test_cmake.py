"""The CMake package: a target's index and report, whatever its sources need, with Ninja and with Makefiles."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.search import read_vectors

PACKAGE = Path(__file__).parents[2] / "mirenc" / "tools" / "cmake"
LISTS = """cmake_minimum_required(VERSION 3.18)
project(try C CXX)
find_package(Mirenc REQUIRED)
add_subdirectory(lib)
mirenc_index(parts OPTIONS --model "{model}")
mirenc_diff(parts BASELINE base.ir OUTPUT report.md report.json OPTIONS --model "{model}")
{more}
"""
# A generated header, an include folder of another target, a definition, a flag of one file, C beside C++, assembly.
PARTS = """file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/made.h.in" "#define MADE 3\\n")
add_custom_command(OUTPUT made.h COMMAND "${CMAKE_COMMAND}" -E copy made.h.in made.h)
add_library(headers INTERFACE)
target_include_directories(headers INTERFACE "include dir")
enable_language(ASM)
add_library(parts STATIC one.c sub/two.cc "${CMAKE_CURRENT_BINARY_DIR}/made.h" three.s)
target_include_directories(parts PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
target_link_libraries(parts PRIVATE headers)
target_compile_definitions(parts PRIVATE TEXT="a b")
target_compile_features(parts PRIVATE cxx_std_17)
set_source_files_properties(one.c PROPERTIES COMPILE_OPTIONS -DONE=1)
"""
SOURCES = {
    "lib/CMakeLists.txt": PARTS,
    "lib/include dir/api.h": "int one(int);\n",
    "lib/one.c": '#include "api.h"\n#include "made.h"\nint one(int x) { return x * MADE + ONE; }\n'
    "const char *text(void) { return TEXT; }\n",
    "lib/sub/two.cc": "struct Two { int a, b; };\nint sum(const Two &two) { auto [a, b] = two; return a + b; }\n",
    "lib/three.s": "\t.globl three\nthree:\n\t.byte 3\n",
}
pytestmark = pytest.mark.needs("cmake")
GENERATORS = [pytest.param("Ninja", marks=pytest.mark.needs("ninja"))]
GENERATORS += [pytest.param("Unix Makefiles", marks=pytest.mark.needs("make"))]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: Path) -> Path:
    """The project and a command mirenc on PATH; the project is the working folder."""
    root, programs = tmp_path / "pro ject", tmp_path / "bin"
    programs.mkdir()
    command = programs / "mirenc"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mirenc "$@"\n')
    command.chmod(0o755)
    for name, text in {**SOURCES, "CMakeLists.txt": LISTS.format(model=model_folder, more="")}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.delenv("MIRENC_IR", raising=False)
    monkeypatch.chdir(root)
    return root


def cmake(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cmake", *words], capture_output=True, text=True, check=False, timeout=600)


def configure(*words: str, generator: str = "Ninja") -> subprocess.CompletedProcess[str]:
    clang = find_compiler("cl")[0]
    compilers = [f"-DCMAKE_C_COMPILER={clang}", f"-DCMAKE_CXX_COMPILER={clang.replace('clang', 'clang++')}"]
    return cmake(
        "-G", generator, "-B", "build", f"-DMirenc_DIR={PACKAGE}", "-DCMAKE_BUILD_TYPE=Release", *compilers, *words
    )


def build(target: str, *words: str) -> str:
    done = cmake("--build", "build", "--target", target, "-j2", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.needs("clang")
@pytest.mark.parametrize("generator", GENERATORS)
def test_an_index_and_a_report_of_what_a_change_did(project: Path, generator: str) -> None:
    done = configure(generator=generator)
    assert done.returncode == 0, done.stderr
    printed = build("parts_index")
    assert "without IR, and left out: three.s" in printed
    table = read_vectors("build/parts.npz")
    assert [*zip(table.files, table.names, strict=True)] == [
        ("parts.ir/one.c.bc", "one"),
        ("parts.ir/one.c.bc", "text"),
        ("parts.ir/sub/two.cc.bc", "sum"),
    ]
    shutil.copytree("build/parts.ir", "base.ir")
    source = project / "lib" / "sub" / "two.cc"
    source.write_text(source.read_text() + "int product(const Two &two) { return two.a * two.b; }\n")
    build("parts_diff")
    report = json.loads(Path("build/report.json").read_text())
    kinds = {(row["old"] or row["new"])["name"]: row["kind"] for row in report["functions"]}
    appeared = kinds.pop("product")
    assert (appeared, set(kinds.values()), len(kinds)) == ("appeared", {"identical"}, 3)
    assert "product" in Path("build/report.md").read_text()


@pytest.mark.needs("clang-19", "ninja")
def test_the_objects_are_those_of_a_build_without_it(project: Path) -> None:
    def objects() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in Path("build").rglob("*.o")}

    configure()
    build("parts")
    before = objects()
    assert [*Path("build").rglob("*.bc")]
    shutil.rmtree("build")
    lists = Path("CMakeLists.txt")
    lists.write_text("".join(line for line in lists.read_text().splitlines(True) if "irenc" not in line))
    configure()
    build("parts")
    assert not [*Path("build").rglob("*.bc")]
    assert objects() == before


@pytest.mark.needs("clang-19", "ninja")
def test_a_launcher_that_is_there_stays(project: Path) -> None:
    log = project / "log"
    launcher = project / "launch"
    launcher.write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(log))}\nexec "$@"\n')
    launcher.chmod(0o755)
    configure(f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}")
    build("parts_index")
    assert len(log.read_text().splitlines()) == 1  # one C source; IR is made without it
    assert len(read_vectors("build/parts.npz")) == 3


@pytest.mark.needs("clang-19", "make")
def test_objects_of_before_have_no_ir_until_they_are_built_again(project: Path) -> None:
    lists = project / "CMakeLists.txt"
    text = lists.read_text()
    lists.write_text("".join(line for line in text.splitlines(True) if "irenc" not in line))
    configure(generator="Unix Makefiles")
    build("parts")
    lists.write_text(text)
    configure(generator="Unix Makefiles")
    done = cmake("--build", "build", "--target", "parts_index")
    assert done.returncode != 0
    assert "Build once with --clean-first" in " ".join(done.stderr.split())
    build("parts_index", "--clean-first")
    assert len(read_vectors("build/parts.npz")) == 3


WRONG = {
    "mirenc_index(none)": "there is no target none. Name one that is added before this call",
    "mirenc_index(headers)": "headers compiles nothing (INTERFACE_LIBRARY)",
    "mirenc_diff(parts)": "it has no BASELINE. Give another build",
    "mirenc_index(parts)": "a target parts_index or parts_ir already. Call mirenc_index once for parts",
    "add_custom_target(other_ir)\nadd_library(other lib/one.c)\nmirenc_index(other)": "or other_ir already",
    "mirenc_index(parts FILE x)": "unknown arguments: FILE;x. Allowed: OUTPUT, OPTIONS",
}


@pytest.mark.needs("clang-19", "ninja")
@pytest.mark.parametrize("more", WRONG)
def test_what_is_wrong_is_said(project: Path, more: str) -> None:
    with (project / "CMakeLists.txt").open("a") as lists:
        lists.write(more)
    done = configure()
    assert done.returncode != 0
    assert WRONG[more] in " ".join(done.stderr.split())


@pytest.mark.needs("clang-19", "ninja")
def test_an_alias_is_what_it_stands_for_in_whichever_folder(project: Path, model_folder: Path) -> None:
    lists = (project / "CMakeLists.txt").read_text()
    calls = "".join(line for line in lists.splitlines(True) if "mirenc_" in line).replace("(parts", "(our::parts")
    (project / "again").mkdir()
    (project / "again" / "CMakeLists.txt").write_text(calls.replace("mirenc_index", "# mirenc_index"))
    first = calls.replace("mirenc_diff", "# mirenc_diff") + "add_subdirectory(again)\n"
    (project / "CMakeLists.txt").write_text(lists.split("mirenc_index", maxsplit=1)[0] + first)
    with (project / "lib" / "CMakeLists.txt").open("a") as stream:
        stream.write("add_library(our::parts ALIAS parts)\n")
    done = configure()
    assert done.returncode == 0, done.stderr
    build("parts_index")
    assert len(read_vectors("build/parts.npz")) == 3
    shutil.copytree("build/parts.ir", "again/base.ir")
    build("parts_diff")
    report = json.loads(Path("build/again/report.json").read_text())
    assert {row["kind"] for row in report["functions"]} == {"identical"}
    assert len(report["functions"]) == 3


@pytest.mark.needs("clang-19", "ninja")
def test_functions_whose_ir_could_not_be_made_are_not_called_vanished(project: Path) -> None:
    configure()
    build("parts_ir")
    shutil.copytree("build/parts.ir", "base.ir")
    for name, old, new in (
        ("CMakeLists.txt", "OPTIONS -DONE=1", 'OPTIONS "-DONE=1;-fsanitize=address"'),
        ("one.c", "int one", "#if !__has_feature(address_sanitizer)\n#error without\n#endif\nint one"),
    ):
        path = project / "lib" / name
        path.write_text(path.read_text().replace(old, new))
    done = cmake("--build", "build", "--target", "parts_diff")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0
    assert "mirenc: warning: " in said  # of the second compilation
    assert f"one.c: no IR could be made, and {project}/base.ir has some: all functions in it would count as" in said
    assert not Path("build/report.md").exists()
    Path("base.ir/one.c.bc").unlink()
    build("parts_diff")
    report = json.loads(Path("build/report.json").read_text())
    assert [row["kind"] for row in report["functions"]] == ["identical"]


@pytest.mark.needs("clang-19", "ninja")
def test_several_configurations_are_refused(project: Path) -> None:
    done = configure(generator="Ninja Multi-Config")
    assert done.returncode != 0
    assert "Use -G Ninja" in " ".join(done.stderr.split())


@pytest.mark.needs("clang-19", "ninja")
def test_without_the_command_the_package_is_not_found(project: Path) -> None:
    done = configure("-DMIRENC_EXECUTABLE=OFF")
    assert done.returncode != 0
    assert "mirenc is not on PATH. Activate its environment" in " ".join(done.stderr.split())
