"""A user's build: calls that are noted, sources that are overlaid, variants that are put in place."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from living import MARK, living

from mirenc.base.deadline import OverLimitError
from mirenc.base.errors import CompileError, ToolchainError
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.tools.tune.build import UserBuild

pytestmark = [pytest.mark.needs("clang"), pytest.mark.needs("C compiler")]

MAIN = '#include <stdio.h>\n#include "part.h"\nint main(void) { printf("%d\\n", part() + EXTRA); return 0; }\n'
SCRIPT = """
[ part.o -nt sub/part.c ] || gcc -c -Isub sub/part.c -o part.o
$CC -DEXTRA=1 -I sub main.c part.o -o program
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    (folder / "sub").mkdir(parents=True)
    (folder / "main.c").write_text(MAIN)
    (folder / "sub/part.h").write_text("int part(void);\n")
    (folder / "sub/part.c").write_text('#include "part.h"\nint part(void) { return 1; }\n')
    (folder / "build.sh").write_text(SCRIPT)
    return folder


@pytest.fixture
def user(project: Path, tmp_path: Path) -> UserBuild:
    return UserBuild("sh build.sh", project, tmp_path / "work", find_compiler("c")[0])


def output_of(project: Path) -> str:
    return subprocess.run([project / "program"], capture_output=True, text=True, check=True).stdout


def test_calls_are_noted_whatever_the_compiler_is_called(project: Path, user: UserBuild) -> None:
    built = user.build()
    assert output_of(project) == "2\n"
    assert {path.name for path in built.files} == {"part.o", "program"}
    commands = {Path(str(one["file"])): one for one in user.compile_commands()}
    assert commands.keys() == {project / "main.c", project / "sub/part.c"}
    assert "-DEXTRA=1" in commands[project / "main.c"]["arguments"]  # type: ignore[operator]


def test_another_text_is_compiled_under_the_name_of_a_source(project: Path, user: UserBuild) -> None:
    plain = user.build()
    part = project / "sub/part.c"
    before = part.read_bytes(), part.stat().st_mtime_ns
    other = user.build(sources={part: b'#include "part.h"\nint part(void) { return 41; }\n'})
    assert output_of(project) == "42\n"
    assert (part.read_bytes(), part.stat().st_mtime_ns) == before
    assert not other.same_as(plain)
    user.restore(plain)
    assert output_of(project) == "2\n"
    user.restore(other)
    assert output_of(project) == "42\n"


def test_of_a_header_all_is_made_anew(project: Path, user: UserBuild) -> None:
    user.build()
    built = user.build(sources={project / "sub/part.h": b"int part(void);\n#undef EXTRA\n#define EXTRA 6\n"})
    assert output_of(project) == "7\n"
    assert {path.name for path in built.files} == {"part.o", "program"}


def test_what_hangs_on_a_time_stamp_is_made_anew_and_what_is_not_is_said(project: Path, user: UserBuild) -> None:
    # As libtool has it: the object is known by another file than the one that the compiler wrote.
    stamped = "[ part.lo -nt sub/part.c ] || { gcc -c -Isub sub/part.c -o part.o; sleep 0.02; touch part.lo; }\n"
    (project / "build.sh").write_text(stamped + SCRIPT.splitlines()[-1])
    user.build()
    user.build(sources={project / "sub/part.h": b"int part(void);\n#undef EXTRA\n#define EXTRA 6\n"})
    assert output_of(project) == "7\n"
    user.build(sources={project / "sub/part.c": b"int part(void) { return 8; }\n"})
    assert output_of(project) == "9\n"
    (project / "build.sh").write_text("true\n")
    with pytest.raises(
        CompileError, match=r"does not compile part.c again. Force that, for example: --build 'make -B'"
    ):
        user.build(sources={project / "sub/part.c": b"int part(void) { return 8; }\n"})


def test_a_build_that_fails_shows_its_last_words(project: Path, user: UserBuild) -> None:
    (project / "main.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(CompileError, match="the build ends with exit status 1") as caught:
        user.build()
    assert "undeclared identifier 'nothing'" in caught.value.diagnostic


def test_a_build_that_hangs_is_ended_with_all_it_started(
    project: Path, user: UserBuild, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = user.build()
    (project / "build.sh").write_text(SCRIPT + "sleep 3600 & sleep 3600\n")
    monkeypatch.setattr("mirenc.tools.tune.build.variant_limit", lambda seconds, least: 5.0)
    monkeypatch.setitem(user.environment, MARK, str(project))
    with pytest.raises(OverLimitError):
        user.build(sources={project / "main.c": b"int main(void) { return 0; }\n"})
    assert living(str(project)) == []
    user.restore(plain)
    assert output_of(project) == "2\n"


def test_what_a_build_leaves_running_holds_nothing_up(
    project: Path, user: UserBuild, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "build.sh").write_text(SCRIPT + "sleep 3600 &\n")
    monkeypatch.setitem(user.environment, MARK, str(project))
    user.build()
    (server,) = living(str(project))
    os.kill(server, signal.SIGKILL)


def test_no_compiler_of_that_name(project: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="clang-0"):
        UserBuild("make", project, tmp_path / "work", "clang-0")
