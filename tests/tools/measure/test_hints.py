"""Copies of a function with hints of their own: IR text that LLVM takes, and the machine code that a pragma gives."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mirenc.base.errors import CompileError
from mirenc.llvm.inputs.compile_source import find_compiler
from mirenc.llvm.passes.loop_hint import Hint
from mirenc.tools.measure.hints import HintedLoop
from mirenc.tools.measure.vector_variants import code_digests

SOURCE = """\
static int limit = 8;
static float clean(float x) { return x > limit ? x : -x; }
void more(void) { limit++; }
void f(float *restrict a, const float *restrict b, long n) {
  for (long j = 0; j < 4; j++)
    for (long i = 0; i < n; i++)
      a[i] = clean(b[2 * i]) * 2 + j;
}
void g(float *a, float *b) { f(a, b, 100); }
"""
FLAGS = ("-O3", "-fPIC", "-falign-functions=64", "-w", "-mllvm", "-hints-allow-reordering=false")


def clang(folder: Path, source: str, *flags: str, language: str = "c") -> str:
    path, output = folder / "source", folder / "output"
    path.write_text(source)
    command = [find_compiler("cl")[0], "-x", language, *FLAGS, *flags, "-S", str(path), "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    return output.read_text()


def front_end(folder: Path, source: str) -> str:
    return clang(folder, source, "-Rpass=loop-vectorize", "-Xclang", "-disable-llvm-passes", "-emit-llvm")


@pytest.mark.needs("clang")
def test_a_copy_is_what_the_pragma_gives(tmp_path: Path) -> None:
    hints = [Hint(1, 1), Hint(1, 4), Hint(4, 2), Hint(16, 1)]
    hints += [Hint(0, 4), Hint(1, 0), Hint(8, 0), Hint(0, 0, 1), Hint(0, 0, 8)]
    loop = HintedLoop(front_end(tmp_path, SOURCE), "f", 6)
    assert loop.symbols == {"f", "clean"}
    copies = [(f"{hint.width}x{hint.count}u{hint.unroll}", hint) for hint in hints]
    together = code_digests(clang(tmp_path, loop.module([("plain", None), *copies]), language="ir"))
    assert together["f__mirenc_plain"] == code_digests(clang(tmp_path, SOURCE))["f"]
    # In the order of their names, so that two builds are the same.
    names = re.findall(
        r"@(\w+)__mirenc_plain\(", "\n".join(re.findall("^define .*", loop.module([("plain", None)]), re.M))
    )
    assert names == ["clean", "f"]
    for label, hint in copies:
        lines = SOURCE.split("\n")
        lines.insert(5, hint.pragma())
        alone = code_digests(clang(tmp_path, "\n".join(lines)))
        assert together[f"f__mirenc_{label}"] == alone["f"], label
    digests = [together[f"f__mirenc_{label}"] for label, _ in copies]
    # Without vectors LLVM does not interleave this loop of itself either.
    assert digests[0] == digests[hints.index(Hint(1, 0))]
    assert len(set(digests)) == len(hints) - 1


@pytest.mark.needs("clang")
def test_functions_that_others_call_stay(tmp_path: Path) -> None:
    loop = HintedLoop(front_end(tmp_path, SOURCE), "f", 6)
    defined = re.findall(r"^define .*@(\w+)\(", loop.module([("a", None)]), re.MULTILINE)
    assert sorted(defined) == ["clean", "clean__mirenc_a", "f", "f__mirenc_a", "g", "more"]
    alone = HintedLoop(front_end(tmp_path, SOURCE[: SOURCE.index("void g")]), "f", 6)
    defined = re.findall(r"^define .*@(\w+)\(", alone.module([("a", None)]), re.MULTILINE)
    assert sorted(defined) == ["clean__mirenc_a", "f__mirenc_a", "more"]


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    ("function", "line", "phrase"),
    [("h", 6, "no function 'h'"), ("clean", 2, "is static"), ("f", 7, "of 'f' begins in line 7")],
)
def test_functions_and_lines_without_a_loop_are_refused(tmp_path: Path, function: str, line: int, phrase: str) -> None:
    with pytest.raises(CompileError, match=phrase):
        HintedLoop(front_end(tmp_path, SOURCE), function, line)


@pytest.mark.needs("clang")
def test_a_loop_with_a_pragma_is_refused(tmp_path: Path) -> None:
    source = SOURCE.replace("    for", "#pragma clang loop unroll(disable)\n    for")
    with pytest.raises(CompileError, match="has a pragma already"):
        HintedLoop(front_end(tmp_path, source), "f", 7)
