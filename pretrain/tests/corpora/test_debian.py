"""Debian source packages: what a recipe may say, what is fetched, which files are compiled how, and where it stops."""

import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_tools import FakeTools

from mirenc.base.errors import ConfigError, IRFileError, ToolchainError
from mirenc.llvm.sources.compile_programs import Choices
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord

WriteTree = Callable[[Path, dict[str, str]], Path]
Archive = Callable[[str, dict[str, str]], None]
Build = Callable[..., list[str]]
REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "pretrain"))

import debian  # noqa: E402
from debian import _prepare, compile_recipe, make_ir  # noqa: E402
from debian_recipe import Package, read_recipe  # noqa: E402


@pytest.fixture
def archive(fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree) -> Archive:
    """Pack files as what apt-get downloads for a package."""

    def pack(name: str, files: dict[str, str]) -> None:
        root = write_tree(tmp_path / "packed" / name, files)
        with tarfile.open(fake_tools.folder / f"{name}.orig.tar.gz", "w:gz") as tar:
            tar.add(root, arcname=f"{name}-1.5")

    return pack


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Write a recipe and compile it; returns what was reported."""

    def run(text: str, out: str = "ir", work: str = "work", levels: list[str] | None = None) -> list[str]:
        path = tmp_path / "recipe.toml"
        path.write_text(text, encoding="utf-8")
        reported: list[str] = []
        with IRFolder(tmp_path / out) as folder:
            compile_recipe(
                read_recipe(path), folder, tmp_path / work, Choices(levels=levels), jobs=2, report=reported.append
            )
        return reported

    return run


def records_of(folder: Path) -> list[IRRecord]:
    with IRFolder(folder) as opened:
        return opened.kept()


def compilations(tools: FakeTools) -> list[list[str]]:
    return [call for call in tools.calls() if call[0].startswith("clang")]


# -- the recipe ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("max_bytes = 5\n", r"no \[\[package\]\] table. Write one"),
        ("[package]\nname = 'zlib'\n", r"no \[\[package\]\] table"),
        ("max_byte = 5\n[[package]]\nname = 'zlib'\n", "unknown key 'max_byte'; did you mean 'max_bytes'"),
        (
            "[[package]]\nname = 'zlib'\n[[package]]\nname = 'xz'\ndefine = ['X']\n",
            "package 2 'xz': unknown key 'define'; did you mean 'defines'",
        ),
        ("[[package]]\nname = 'zlib'\nlanguages = ['java']\n", "package 1 'zlib': languages.0: .*'opencl'"),
        ("[[package]]\nname = 'sqlite3'\n", "sqlite3 is reserved for evaluation. Remove it"),
        ("[[package]]\nname = '../zlib'\n", "name: .*pattern"),
        *(
            (
                f"[[package]]\nname = 'zlib'\nfiles = {{ '{file}' = '' }}\n",
                f"'{file}' does not lie below the source root",
            )
            for file in ("../config.h", "a/../../config.h", "/etc/config.h", "", ".", "..")
        ),
        (
            "[[package]]\nname = 'zlib'\n[[package]]\nname = 'png'\nheaders_of = ['zlip']\n",
            "png: headers_of 'zlip', which is no package here; did you mean 'zlib'",
        ),
    ],
)
def test_recipes_that_are_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=f"recipe.toml: .*{complaint}|recipe.toml: {complaint}"):
        read_recipe(path)


def test_a_recipe_for_testing_may_have_reserved_packages_and_says_what_is_held_out(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    text = "[[package]]\nname = 'sqlite3'\n[[package]]\nname = 'zlib'\n"
    path.write_text(f"held_out = ['zlib']\n{text}", encoding="utf-8")
    recipe = read_recipe(path, with_reserved=True)
    assert [package.name for package in recipe.packages] == ["sqlite3", "zlib"]
    assert recipe.held_out == ("zlib",)
    with pytest.raises(ConfigError, match="unknown key 'held_out'"):
        read_recipe(path)
    for wrong, complaint in (("['zlip']", "held_out 'zlip'.*did you mean 'zlib'"), ("3", "a list of packages")):
        path.write_text(f"held_out = {wrong}\n{text}", encoding="utf-8")
        with pytest.raises(ConfigError, match=complaint):
            read_recipe(path, with_reserved=True)


def test_a_reserved_package_comes_whole_and_copies_in_others_stay_out(
    archive: Archive, fake_tools: FakeTools, tmp_path: Path
) -> None:
    archive("bzip2", {"bzlib.c": "int b;"})
    archive("zlib", {"contrib/bzlib.c": "int c;", "z.c": "int z;"})
    path = tmp_path / "recipe.toml"
    path.write_text("[[package]]\nname = 'bzip2'\n[[package]]\nname = 'zlib'\n", encoding="utf-8")
    with IRFolder(tmp_path / "ir") as folder:
        compile_recipe(
            read_recipe(path, with_reserved=True),
            folder,
            tmp_path / "work",
            Choices(levels=["Oz-start"], compiler="clang-19"),
            jobs=1,
        )
        assert [(record.project, record.file) for record in folder.kept()] == [("bzip2", "bzlib.c"), ("zlib", "z.c")]
    commands = compilations(fake_tools)
    assert {command[0] for command in commands} == {"clang-19"}
    assert all(command.index("-Oz") < command.index("-disable-llvm-passes") for command in commands)


def ir_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.ll")}


def test_the_command_makes_a_folder_that_follows_its_recipe(
    archive: Archive, fake_tools: FakeTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive("alpha", {"a.c": "int a;"})
    archive("beta", {"b.c": "int b;"})
    path, out = tmp_path / "recipe.toml", tmp_path / "ir"
    monkeypatch.setattr(sys, "argv", ["debian.py", str(path), str(out), "--levels", "O2", "--compiler", "clang-19"])
    path.write_text("[[package]]\nname = 'alpha'\n[[package]]\nname = 'beta'\n", encoding="utf-8")
    debian.main()
    assert ir_of(out) == {"alpha/O2/a.c.ll", "beta/O2/b.c.ll"}
    assert (tmp_path / "ir-work/alpha/src/a.c").is_file()  # beside the IR, since sources may hold IR of their own
    (out / "beta/O2/b.c.ll").unlink()
    path.write_text("[[package]]\nname = 'beta'\n", encoding="utf-8")
    debian.main()
    assert ir_of(out) == {"beta/O2/b.c.ll"}
    assert [row.project for row in records_of(out)] == ["beta"]
    path.write_text("[[package]]\nname = 'sqlite3'\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"sqlite3 is reserved for evaluation\. Remove it"):
        debian.main()


def test_where_nothing_becomes_ir_it_says_so_and_begins_anew(
    archive: Archive, fake_tools: FakeTools, tmp_path: Path
) -> None:
    archive("alpha", {"a.c": "#error"})
    path = tmp_path / "recipe.toml"
    path.write_text("[[package]]\nname = 'alpha'\n", encoding="utf-8")
    options = {"choices": Choices(["O2"]), "jobs": 1, "report": [].append}
    with pytest.raises(IRFileError, match=r"ir: nothing became IR. .*log.jsonl has a line for each try"):
        make_ir(read_recipe(path), tmp_path / "ir", **options)
    (tmp_path / "ir-work/alpha/src/a.c").write_text("int a;")
    make_ir(read_recipe(path), tmp_path / "ir", **options)
    assert ir_of(tmp_path / "ir") == {"alpha/O2/a.c.ll"}


def test_the_committed_recipes_are_read() -> None:
    recipes = sorted((REPOSITORY / "pretrain").glob("debian*.toml"))
    packages = {path.stem: len(read_recipe(path).packages) for path in recipes}
    assert packages["debian"] > 130
    assert packages["debian-small"] > 100
    assert packages["debian-tiny"] == 10


def test_limits_of_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("seconds = 7\nmax_project_bytes = 100\n[[package]]\nname = 'zlib'\ncap = 3\n", encoding="utf-8")
    recipe = read_recipe(path)
    limits = recipe.limits
    assert (limits.seconds, limits.max_project_bytes, limits.max_file_bytes) == (7, 100, 1_500_000)
    assert (recipe.packages[0].cap, recipe.packages[0].languages) == (3, ("c",))


# -- fetching ------------------------------------------------------------------------------------------
def test_packages_are_fetched_once_and_compiled(
    archive: Archive, build: Build, fake_tools: FakeTools, tmp_path: Path
) -> None:
    archive("alpha", {"src/a.c": "int a;", "src/bad.c": "#error", "include/a.h": ""})
    archive("beta", {"b.c": "int b;"})
    text = "[[package]]\nname = 'alpha'\n[[package]]\nname = 'gone'\n[[package]]\nname = 'beta'\n"
    reported = build(text, levels=["O0", "O2"])
    compiled = [(row.project, row.version, row.file, row.opt_level) for row in records_of(tmp_path / "ir")]
    files = (("alpha", "src/a.c"), ("beta", "b.c"))
    assert compiled == [(project, "1.5", file, level) for project, file in files for level in ("O0", "O2")]
    assert "gone: no usable source archive: E: Unable to find a source package for gone" in reported
    assert "alpha 1.5: 1 of 2 sources are in, 1 failed now; corpus 0 MB" in reported
    assert "    1 x src/bad.c:1:2: error: told so" in reported
    before = fake_tools.calls()
    build(text, levels=["O0", "O2"])
    again = fake_tools.calls()[len(before) :]
    assert [call[-1] for call in again] == ["gone"]  # apt-get asks for what it did not get, no more


def test_without_deb_src_it_says_what_to_type(archive: Archive, build: Build, fake_tools: FakeTools) -> None:
    archive("alpha", {"a.c": "int a;"})
    fake_tools.add("no-deb-src", "")
    with pytest.raises(ToolchainError, match=r"knows no source packages. Type: sed -i .*deb-src.* && apt-get update"):
        build("[[package]]\nname = 'alpha'\n")


@pytest.mark.parametrize(
    ("program", "advice"),
    [
        ("clang-14", "not on PATH: clang-14. Type: apt-get install clang-14"),
        ("dpkg-source", "not on PATH: dpkg-source. Type: apt-get install dpkg-dev"),
        ("apt-get", "not on PATH: apt-get"),
    ],
)
def test_a_missing_program_is_named(
    archive: Archive, build: Build, fake_tools: FakeTools, program: str, advice: str
) -> None:
    archive("alpha", {"a.c": "int a;"})
    (fake_tools.folder / program).unlink()
    with pytest.raises(ToolchainError, match=advice):
        build("[[package]]\nname = 'alpha'\n")


def test_fortran_and_cuda_ask_for_what_they_need(build: Build, fake_tools: FakeTools) -> None:
    with pytest.raises(ToolchainError, match=r"not on PATH: flang-new-19. Type: apt-get install flang-19"):
        build("[[package]]\nname = 'lapack'\nlanguages = ['fortran']\n")
    with pytest.raises(ToolchainError, match="Give their folder with --cuda-path"):
        build("[[package]]\nname = 'kernels'\nlanguages = ['cuda']\n")


def test_sources_in_place_need_no_apt_get(
    build: Build, fake_tools: FakeTools, tmp_path: Path, write_tree: WriteTree
) -> None:
    (fake_tools.folder / "apt-get").unlink()
    write_tree(tmp_path / "work" / "alpha" / "src", {"a.c": "int a;"})
    build("[[package]]\nname = 'alpha'\n", levels=["O2"])
    assert [(row.file, row.version) for row in records_of(tmp_path / "ir")] == [("a.c", "")]


def test_files_and_prepare_come_before_compiling(archive: Archive, build: Build, tmp_path: Path) -> None:
    archive("alpha", {"a.c": "int a;"})
    recipe = """
[[package]]
name = "alpha"
prepare = "cat lines/add.txt >> a.c"
files = { "lines/add.txt" = "int %s;" }
"""
    build(recipe % "added", levels=["O2"])
    assert (tmp_path / "work/alpha/src/a.c").read_text() == "int a;int added;"
    # Another recipe, or a run that was stopped while preparing: from the packed sources, not on top of the old.
    build(recipe % "other", out="other", levels=["O2"])
    assert (tmp_path / "work/alpha/src/a.c").read_text() == "int a;int other;"
    assert "int a;int other;" in (tmp_path / "other/alpha/O2/a.c.ll").read_text()


def test_a_package_may_have_several_tables(
    archive: Archive, build: Build, fake_tools: FakeTools, tmp_path: Path
) -> None:
    fake_tools.add("flang-new-19", (fake_tools.folder / "clang-19").read_text())
    archive("lapack", {"c/a.c": "int a;", "f/b.f90": "subroutine b"})
    recipe = """
[[package]]
name = "lapack"
defines = ["IN_C"]
files = { "c/made.c" = "int made;" }
[[package]]
name = "lapack"
languages = ["fortran", "c"]
include = ["f/*", "c/a.c"]
prepare = "echo >> c/made.c"
"""
    build(recipe, levels=["O2"])
    assert [(row.file, row.language) for row in records_of(tmp_path / "ir")] == [
        ("c/a.c", "c"),
        ("c/made.c", "c"),
        ("f/b.f90", "fortran"),
    ]
    assert (tmp_path / "work/lapack/src/c/made.c").read_text() == "int made;\n"
    # The second table's a.c was compiled by the first.
    assert all("-DIN_C" in call for call in compilations(fake_tools) if "c/a.c" in call)
    before = fake_tools.calls()
    build(recipe, levels=["O2"])
    assert fake_tools.calls() == before
    assert (tmp_path / "work/lapack/src/c/made.c").read_text() == "int made;\n"  # prepared once


def test_files_are_not_written_through_a_link_of_the_archive(tmp_path: Path) -> None:
    precious = tmp_path / "outside" / "precious.h"
    precious.parent.mkdir()
    precious.write_text("mine")
    root = tmp_path / "src"
    (root / "inside").mkdir(parents=True)
    (root / "up").symlink_to(precious.parent, target_is_directory=True)
    (root / "config.h").symlink_to(precious)
    (root / "near.h").symlink_to("inside/near.h")
    table = Package(name="alpha", files={"up/precious.h": "x", "up/new.h": "x", "config.h": "x", "near.h": "x"})
    problems = _prepare(table, root)
    assert [problem.split("'")[1] for problem in problems] == ["up/precious.h", "up/new.h", "config.h"]
    assert all("leads out of the sources; not written" in problem for problem in problems)
    assert [path.name for path in precious.parent.iterdir()] == ["precious.h"]
    assert precious.read_text() == "mine"
    assert (root / "inside" / "near.h").read_text() == "x"


def test_a_failing_prepare_is_reported_and_not_fatal(archive: Archive, build: Build, tmp_path: Path) -> None:
    archive("alpha", {"a.c": "int a;"})
    assert "alpha: `false` failed; going on without" in build("[[package]]\nname = 'alpha'\nprepare = 'false'\n")
    assert len(records_of(tmp_path / "ir")) >= 2


# -- which files, and how ------------------------------------------------------------------------------
def test_which_files_are_compiled(archive: Archive, build: Build, tmp_path: Path) -> None:
    texts = (
        *("src/a.c", "src/b.cpp", "src/Tests/t.c", "debian/x.c", "win32/w.c", "src/old/o.c", "doc/d.c"),
        *("deps/lua-5.3/l.c", "src/sqlite3.c", "fuzz/f.c"),
    )
    archive("alpha", {name: f"int x_{number};" for number, name in enumerate(texts)})
    recipe = """
[[package]]
name = "alpha"
languages = ["c"]
include = ["src/*", "deps/*", "fuzz/*", "debian/*"]
exclude = ["src/old/*"]
keep_folders = ["fuzz"]
"""
    build(recipe, levels=["O2"])
    assert [row.file for row in records_of(tmp_path / "ir")] == ["fuzz/f.c", "src/a.c"]


def test_a_command_has_what_the_recipe_says(archive: Archive, build: Build, fake_tools: FakeTools) -> None:
    archive("zlib", {"zlib.h": "", "z.c": "declare"})
    archive("alpha", {"a.c": "int a;", "inc/a.h": "", "sub/deep/b.h": "", "tiff/pre.h": "", "win32/w.h": ""})
    recipe = """
[[package]]
name = "alpha"
include_dirs = ["inc"]
defines = ["N=1"]
flags = ["-fno-builtin"]
headers_of = ["zlib"]
prelude = { "a*" = ["tiff/pre.h"], "b*" = ["other.h"] }
openmp = true
[[package]]
name = "zlib"
"""
    build(recipe, levels=["O0"])
    (call,) = (call for call in compilations(fake_tools) if "a.c" in call)
    words = " ".join(word for word in call if not word.startswith("-idirafter/"))  # omp.h of this machine
    assert "-O0 -Xclang -disable-O0-optnone -include tiff/pre.h -fopenmp -DN=1 -fno-builtin -Iinc -idirafter." in words
    folders = [word.removeprefix("-idirafter") for word in call if word.startswith("-idirafter")]
    assert [folder for folder in folders if not folder.startswith("/")] == [
        *(".", "sub", "tiff", "sub/deep"),
        "../../zlib/src/.",
    ]
    assert call[-3] == "a.c"
    assert "other.h" not in words


def test_two_compilers_take_turns_by_file(
    archive: Archive, build: Build, fake_tools: FakeTools, tmp_path: Path
) -> None:
    archive("alpha", {f"f{number}.c": f"int x{number};" for number in range(20)})
    build("[[package]]\nname = 'alpha'\n", levels=["O0", "O2"])
    by = {(row.file, row.compiler) for row in records_of(tmp_path / "ir")}
    assert len(by) == 20  # both levels by the same one
    assert {compiler for _, compiler in by} == {"clang-14", "clang-19"}
    # By hand: printf alpha/f0.c | sha256sum; the 16th hexadecimal digit is a, so the number is even.
    assert ("f0.c", "clang-14") in by


def test_fortran_goes_to_flang(archive: Archive, build: Build, fake_tools: FakeTools) -> None:
    fake_tools.add("flang-new-19", (fake_tools.folder / "clang-19").read_text())
    archive("lapack", {"inc/x.fh": "", "solve.f90": "subroutine solve"})
    build("[[package]]\nname = 'lapack'\nlanguages = ['fortran']\nopenmp = true\n")
    calls = [call for call in fake_tools.calls() if call[0] == "flang-new-19"]
    assert [call[4] for call in calls] == ["-O0", "-O2"]
    assert calls[0][5:8] == ["-fopenmp", "-I.", "-Iinc"]
    assert "-module-dir" in calls[0]
    assert not any(word.startswith("-idirafter") for word in calls[0])


# -- where it stops ------------------------------------------------------------------------------------
def test_the_cap_counts_sources_that_are_in(archive: Archive, build: Build, tmp_path: Path) -> None:
    archive("alpha", {f"f{n}.c": f"int x{n};" for n in range(100)})
    # The first chunk of 24 brings about 12; what fails does not count.
    archive("beta", {f"f{n}.c": "#error" if n % 2 else f"int y{n};" for n in range(100)})
    build("[[package]]\nname = 'alpha'\ncap = 30\n[[package]]\nname = 'beta'\ncap = 30\n", levels=["O2"])
    counts = Counter(row.project for row in records_of(tmp_path / "ir"))
    assert counts["alpha"] == 30
    assert 15 < counts["beta"] <= 30


def test_a_package_whose_first_chunk_fails_is_dropped(archive: Archive, build: Build, fake_tools: FakeTools) -> None:
    archive("alpha", {f"f{n}.c": "#error" for n in range(60)})
    reported = build("[[package]]\nname = 'alpha'\n", levels=["O2"])
    assert len(compilations(fake_tools)) == 24
    assert "alpha 1.5: 0 of 60 sources are in, 24 failed now; corpus 0 MB" in reported


def test_project_and_corpus_end_at_their_bytes(archive: Archive, build: Build, tmp_path: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        archive(name, {f"f{n}.c": f"{name} {n} {'x' * 1000}" for n in range(60)})
    packages = "".join(f"[[package]]\nname = '{name}'\n" for name in ("alpha", "beta", "gamma"))
    build(f"max_project_bytes = 30_000\nmax_bytes = 60_000\n{packages}", levels=["O2"])
    counts = Counter(row.project for row in records_of(tmp_path / "ir"))
    # A chunk of 24 files is about 26 kB: a project takes two of them, and after four the corpus is past its limit.
    assert counts == {"alpha": 48, "beta": 24}


def test_a_build_stopped_inside_a_chunk_ends_as_a_whole_one(archive: Archive, build: Build, tmp_path: Path) -> None:
    archive("alpha", {f"f{n}.c": f"{n % 50} {'x' * 1000}" for n in range(90)})
    archive("beta", {f"f{n}.c": f"beta {n} {'x' * 1000}" for n in range(60)})
    text = "max_project_bytes = 30_000\nmax_bytes = 40_000\n[[package]]\nname = 'alpha'\n[[package]]\nname = 'beta'\n"
    build(text, out="whole", levels=["O2"])
    lines = (tmp_path / "whole" / "log.jsonl").read_text().splitlines(keepends=True)
    for count in (5, 30, 47):
        # What a kill leaves behind: the log up to some line, half a line, and IR that is not in the log yet.
        out = tmp_path / f"stopped{count}"
        out.mkdir()
        (out / "log.jsonl").write_text("".join(lines[:count]) + lines[count][:30])
        build(text, out=out.name, levels=["O2"])
        assert records_of(out) == records_of(tmp_path / "whole")
