"""Programs of a folder or a ``compile_commands.json``: which files, projects and compilers; and real IR of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_tools import FakeTools

from mirenc.base.errors import IRFileError, ToolchainError
from mirenc.llvm import read_ir
from mirenc.llvm.inputs.projects import header_flags, header_folders
from mirenc.llvm.sources.compile_programs import Choices, Limits, Program, compile_programs
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord
from mirenc.llvm.sources.programs import command_programs, find_sources, make_program, source_programs

WriteTree = Callable[[Path, dict[str, str]], Path]


def test_first_folders_are_the_projects(fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree) -> None:
    files = ("one/a.c", "one/src/b.cpp", "two/tests/c.c", "top.c", ".git/x.c", "two/.git/y.c", "two/readme.txt")
    write_tree(tmp_path / "code", dict.fromkeys(files, ""))
    programs = list(source_programs(tmp_path / "code", Choices(levels=["O1"]), print))
    assert sorted((program.project, program.file, program.language) for program in programs) == [
        ("code", "top.c", "c"),
        ("one", "a.c", "c"),
        ("one", "src/b.cpp", "c++"),
        ("two", "tests/c.c", "c"),
    ]
    assert {program.root.name for program in programs} == {"code", "one", "two"}
    assert {tuple(program.commands) for program in programs} == {("O1",)}


def test_what_is_reserved_is_left_out(fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path, {"lua5.4/a.c": "", "mine/sqlite3.c": "", "mine/deps/lz4/x.c": "", "mine/a.c": ""})
    reported: list[str] = []
    programs = [
        program for program in source_programs(tmp_path, Choices(), reported.append) if program.project != "bin"
    ]
    assert [(program.project, program.file) for program in programs] == [("mine", "a.c")]
    assert reported == ["lua5.4 is left out: it is reserved for evaluation"]


def test_a_folder_without_sources(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path, {"readme.txt": "", "a/x.h": ""})
    with pytest.raises(IRFileError, match=r"has no source file in it. Give a folder with files that end in: .*\.c"):
        list(source_programs(tmp_path, Choices(), print))


def test_links_and_folders_of_version_control_are_not_taken(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path, {"a.c": "", "sub/b.cc": "", ".git/c.c": "", "x.h": ""})
    (tmp_path / "link.c").symlink_to(tmp_path / "a.c")
    assert set(find_sources(tmp_path)) == {("a.c", "c"), ("sub/b.cc", "c++")}


def test_the_order_is_fixed_and_no_order_of_names(tmp_path: Path, write_tree: WriteTree) -> None:
    names = [f"f{number:02}.c" for number in range(30)]
    write_tree(tmp_path / "one", dict.fromkeys(names, ""))
    write_tree(tmp_path / "two", dict.fromkeys(reversed(names), ""))
    order = [file for file, _ in find_sources(tmp_path / "one")]
    assert order == [file for file, _ in find_sources(tmp_path / "two")]
    assert sorted(order) == names != order


def test_header_folders_come_shallow_first_and_last_in_the_search(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "p", {"a/b/x.h": "", "inc/y.hpp": "", "debian/z.h": "", "empty/x.c": "", "f/m.fh": ""})
    assert header_folders(tmp_path / "p", "c") == [".", "a", "inc", "a/b"]
    assert header_flags(["a", "a/b"], "c") == ["-idiraftera", "-idiraftera/b"]
    assert header_flags(header_folders(tmp_path / "p", "fortran"), "fortran") == ["-I.", "-Ia", "-If", "-Ia/b"]


@pytest.mark.parametrize(
    ("language", "flag"),
    [
        ("opencl", "-x cl -cl-std=CL1.2 -target spir64-unknown-unknown -Xclang -finclude-default-header -O2 -DX -- a"),
        ("cuda", "-x cuda -std=gnu++17 --cuda-device-only --cuda-gpu-arch=sm_70 -Wno-unknown-cuda-version -O2"),
    ],
)
def test_flags_of_a_language(language: str, flag: str) -> None:
    choices = Choices(["O2"], cuda_path=Path("/toolkit"))
    program = make_program(choices, ["clang"], ["-DX", "--"], file="a", project="p", language=language, root=Path())
    words = " ".join(program.commands["O2"])
    assert flag in words
    assert ("--cuda-path=/toolkit" in words) == (language == "cuda")


def test_a_name_that_begins_with_a_dash_is_no_option() -> None:
    program = make_program(Choices(), ["clang"], [], file="-rf.c", project="p", language="c", root=Path())
    assert program.commands["O2"][-1] == "./-rf.c"


def test_languages_without_a_compiler_are_reported(
    fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree
) -> None:
    write_tree(tmp_path / "code", {"p/a.c": "", "p/k.cu": "", "p/s.f90": ""})
    reported: list[str] = []
    programs = list(source_programs(tmp_path / "code", Choices(), reported.append))
    assert [(program.file, program.compiler) for program in programs] == [("a.c", "clang-19")]
    assert len(reported) == 2
    assert (
        "cuda sources are left out: CUDA needs the toolkit's headers. Give their folder with --cuda-path" in reported[0]
    )
    assert "fortran sources are left out: no flang on PATH to compile Fortran. Type: apt-get install" in reported[1]


@pytest.mark.usefixtures("no_clang")
def test_no_compiler_at_all_is_an_error(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "code", {"p/k.cl": "", "p/s.f90": ""})
    with pytest.raises(ToolchainError, match="apt-get install"):
        list(source_programs(tmp_path / "code", Choices(), print))


@pytest.mark.usefixtures("no_clang")
def test_real_sources_become_real_ir(tmp_path: Path, write_tree: WriteTree) -> None:
    """With the ziglang wheel's clang: headers of the project are found, and no folder of this machine is in the IR."""
    write_tree(
        tmp_path / "code",
        {
            "one/include/twice.h": "static const char *where = __FILE__;\n#define TWICE(x) (2 * (x))\n",
            "one/src/a.c": '#include "twice.h"\nchar *f() { return (char *)where; }\nint g(int x) { return TWICE(x); }',
            "two/b.cpp": "template <class T> T add(T x, T y) { return x + y; }\nint h(int x) { return add(x, N); }\n",
            "two/c.c": "int broken(\n",
        },
    )
    with IRFolder(tmp_path / "ir") as folder:
        programs = source_programs(tmp_path / "code", Choices(levels=["O0", "O2"], cflags=["-DN=3"]), print)
        compile_programs(programs, folder, jobs=2, limits=Limits())
        failed = [record for record in folder.records() if record.status != "ok"]
        assert {record.compiler for record in folder.kept()} == {"zig cc"}
    assert [(record.file, record.status) for record in failed] == [("c.c", "failed")]
    assert failed[0].reason.startswith("c.c:1:12: error: ")
    files = {path.relative_to(tmp_path / "ir").as_posix(): path for path in (tmp_path / "ir").rglob("*.ll")}
    assert sorted(files) == ["one/O0/src__a.c.ll", "one/O2/src__a.c.ll", "two/O0/b.cpp.ll", "two/O2/b.cpp.ll"]
    for path in files.values():
        text = path.read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert " optnone " not in text
        assert "!DICompileUnit" not in text
    functions = {name: len(read_ir(path).functions) for name, path in files.items()}
    # At -O2 `add` is inlined and gone.
    assert functions["two/O0/b.cpp.ll"] == functions["two/O2/b.cpp.ll"] + 1


# -- compile_commands.json ---------------------------------------------------------------------------
def write_commands(folder: Path, entries: Any) -> Path:
    """Write a compile_commands.json into the build folder of a project."""
    path = folder / "code" / "build" / "compile_commands.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def compiled(path: Path, level: str, folder: Path) -> tuple[IRRecord, str]:
    """The only record of a build's programs at one level, and its IR."""
    with IRFolder(folder / "ir") as ir:
        compile_programs(command_programs(path, Choices(levels=[level]), print), ir, jobs=1, limits=Limits())
        (record,) = ir.records()
        assert record.status == "ok", record.reason
        return record, ir.path_of(record).read_text(encoding="utf-8")


def by_file(programs: list[Program]) -> dict[str, Program]:
    return {f"{program.project}/{program.file}": program for program in programs}


def test_both_forms_and_relative_folders(fake_tools: FakeTools, tmp_path: Path) -> None:
    code = tmp_path / "code"
    path = write_commands(
        tmp_path,
        [
            {
                "directory": str(code / "build"),
                "file": "../app/a.c",
                "arguments": ["cc", "-DA=x y", "-c", "../app/a.c"],
            },
            {"directory": "../", "file": "lib/sub/b.cpp", "command": 'ccache g++ -DB="q r" -O3 -o b.o lib/sub/b.cpp'},
            {"directory": ".", "file": str(code / "main.c"), "command": "gcc -c /somewhere/main.c"},
        ],
    )
    programs = by_file(list(command_programs(path, Choices(levels=["O1"]), print)))
    assert set(programs) == {"app/a.c", "lib/sub/b.cpp", "code/main.c"}
    a, b, main = programs["app/a.c"], programs["lib/sub/b.cpp"], programs["code/main.c"]
    assert a.root == main.root == code / "build"
    assert b.root == code
    assert a.commands["O1"][0] == "clang-19"
    assert a.commands["O1"][-1] == "../app/a.c"
    assert main.commands["O1"][-1] == "../main.c"
    assert "-DA=x y" in a.commands["O1"]
    assert "-DB=q r" in b.commands["O1"]
    assert "-O1" in b.commands["O1"]
    assert not {"-O3", "-o", "-c", "g++", "ccache"} & set(b.commands["O1"])


def test_what_is_left_out_is_reported(fake_tools: FakeTools, tmp_path: Path) -> None:
    files = ["p/a.c", "p/a.c", "p/boot.S", "q/b.c", "q/lua/l.c", "q/sqlite3.c"]
    entries = [{"directory": "..", "file": file, "command": f"cc -DN{n} {file}"} for n, file in enumerate(files)]
    reported: list[str] = []
    programs = by_file(list(command_programs(write_commands(tmp_path, entries), Choices(), reported.append)))
    assert set(programs) == {"p/a.c", "q/b.c"}
    assert "-DN0" in programs["p/a.c"].commands["O0"]  # of two entries the first
    assert [line.split(": ", 1)[1] for line in reported] == [
        "entries are left out, because mirenc does not compile sources with these endings: .S 1",
        "1 entries are left out: an earlier entry has the same file",
        "2 entries are left out: they are reserved for evaluation",
    ]


@pytest.mark.usefixtures("no_clang")
def test_flags_of_another_compiler_do_not_stop_clang(tmp_path: Path, write_tree: WriteTree) -> None:
    write_tree(tmp_path / "code", {"a.c": "int f(void) { return X; }\n"})
    command = "gcc -DX=1 -fno-gcc-only -fno-strict-aliasing -fno-gcc-only-either -c a.c"
    path = write_commands(tmp_path, [{"directory": "..", "file": "a.c", "command": command}])
    record, _ = compiled(path, "O2", tmp_path)
    assert record.reason == "without -fno-gcc-only -fno-gcc-only-either"


@pytest.mark.usefixtures("no_clang")
def test_real_ir_knows_no_folder_of_this_machine(tmp_path: Path, write_tree: WriteTree) -> None:
    code = tmp_path / "code"
    write_tree(
        code,
        {
            "inc/where.h": "static const char *where = __FILE__;\n",
            "app/a.c": '#include "where.h"\nconst char *f(void) { return where; }\nint n = NUMBER;\n',
        },
    )
    command = f"gcc -I{code}/inc -DNUMBER=77 -g -O3 -Werror -Wall -MD -MF a.d -o a.o -c {code}/app/a.c"
    path = write_commands(tmp_path, [{"directory": str(code / "build"), "file": f"{code}/app/a.c", "command": command}])
    _, text = compiled(path, "O0", tmp_path)
    assert str(tmp_path) not in text
    assert "i32 77" in text
    assert "!DICompileUnit" not in text
    assert list((code / "build").iterdir()) == [path]  # the build's own outputs are not written
