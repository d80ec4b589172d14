"""``downstream/inlining/asking.py``: inlining decided by this process, in an unmodified clang."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asking
import pytest
from asking import CallSite, compile_asking, llvm_rule

from mirenc.base.errors import CompileError

pytestmark = [pytest.mark.needs("clang-19")]

SOURCE = """static int square(int x) { return x * x + 3; }
__attribute__((noinline)) int kept(int a) { return a * 3; }
static int sum(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++)
        s += square(i) * kept(i);
    return s;
}
int f(int a) { return square(a) + sum(a) + kept(a); }
int g(int a) { return square(a + 1) + sum(a * 2) + kept(2); }
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "a.c").write_text(SOURCE)
    return ["clang-19", "-Oz", "-gline-tables-only", "-c", str(tmp_path / "a.c"), "-o", str(tmp_path / "a.o")]


def test_the_rule_of_llvm_gives_its_object(words: list[str], tmp_path: Path) -> None:
    decisions = compile_asking(words, llvm_rule)
    by_llvm = (tmp_path / "a.o").read_bytes()
    subprocess.run(words, check=True)
    assert by_llvm == (tmp_path / "a.o").read_bytes()
    sites = [(site.caller, site.callee, site.line, inline) for site, inline in decisions]
    assert sites[0] == ("sum", "square", 7, True)
    assert ("f", "sum", 10, False) in sites
    assert all(len(site.features) == 38 for site, _ in decisions)


def test_decisions_are_followed_and_replayed(words: list[str], tmp_path: Path) -> None:
    first = compile_asking(words, lambda site: False)
    assert not any(inline for _, inline in first)
    never = (tmp_path / "a.o").read_bytes()
    symbols = subprocess.run(["nm", tmp_path / "a.o"], capture_output=True, text=True, check=True).stdout
    assert "t square" in symbols
    flips = iter([True, *[False] * 99])
    mixed = compile_asking(words, lambda site: next(flips))
    other = (tmp_path / "a.o").read_bytes()
    assert other != never
    replay = iter([inline for _, inline in mixed])
    compile_asking(words, lambda site: next(replay))
    assert (tmp_path / "a.o").read_bytes() == other


def test_several_compile_at_once(words: list[str], tmp_path: Path) -> None:
    def one(number: int) -> int:
        return len(compile_asking([*words[:-1], str(tmp_path / f"{number}.o")], llvm_rule))

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(one, range(8)))) == 1
    assert len({(tmp_path / f"{number}.o").read_bytes() for number in range(8)}) == 1


def test_what_goes_wrong_is_said(words: list[str], tmp_path: Path) -> None:
    def wrong(site: CallSite) -> bool:
        raise KeyError("size")

    with pytest.raises(KeyError, match="size"):
        compile_asking(words, wrong)
    with pytest.raises(CompileError, match="did not ask"):
        compile_asking([words[0], "-O0", *words[2:]], llvm_rule)
    with pytest.raises(CompileError, match="clang-none"):
        compile_asking(["clang-none", *words[1:]], llvm_rule)
    with pytest.raises(CompileError, match=r"was not done within 0\.5 s"):
        compile_asking(words, lambda site: not time.sleep(1), timeout=0.5)
    (tmp_path / "a.c").write_text("int f(void) { return nothing; }\n")
    with pytest.raises(CompileError, match="undeclared identifier 'nothing'"):
        compile_asking(words, llvm_rule)


def test_a_dead_host_leaves_no_compiler(words: list[str], tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom asking import compile_asking\n"
        "compile_asking(sys.argv[1:], lambda site: os.kill(os.getpid(), 9))\n"
    )
    beside = {**os.environ, "PYTHONPATH": str(Path(asking.__file__).parent)}
    assert subprocess.run([sys.executable, "-c", script, *words], check=False, env=beside).returncode == -9
    deadline = time.monotonic() + 20
    while any(_names(one, tmp_path) for one in Path("/proc").glob("[0-9]*/cmdline")):
        assert time.monotonic() < deadline, "the compiler goes on"
        time.sleep(0.05)
    assert not (tmp_path / "a.o").exists()


def _names(cmdline: Path, folder: Path) -> bool:
    try:
        return str(folder).encode() in cmdline.read_bytes()
    except OSError:  # a process that has just ended
        return False
