"""Whatever is wrong costs one line and exit code 1 (2 for usage), never a traceback; good files are delivered."""

from __future__ import annotations

import contextlib
import errno
import gzip
import importlib.machinery
import importlib.util
import json
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard
from command_line import SOURCE, Result, Run

from mirenc.base.child_process import ChildProcess
from mirenc.base.errors import ConfigError, IRResourceError, MirencError
from mirenc.encoder import Encoder
from mirenc.llvm import ReadOptions, read_ir
from mirenc.llvm.child.parsing_worker import ParsingWorker, default_worker
from mirenc.llvm.inputs import compile_source as compiling
from mirenc.llvm.ir import read
from mirenc.search import VECTOR_SUFFIXES

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
BROKEN = FIXTURES / "broken"
BITCODE = FIXTURES / "ir" / "packed" / "functions.clang-19.bc"
COMPRESSED = pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("xz", lzma.compress), ("zst", zstandard.ZstdCompressor(write_checksum=True).compress)],
    ids=["gz", "xz", "zst"],
)

WHAT_IS_WRONG = {
    "damaged_truncated.ll.gz": "the compressed file is damaged",
    "dies_in_parser.ll": "LLVM ended its process (SIGABRT) on this module: LLVM ERROR: Broken module found",
    "dies_mutated.bc": "LLVM ended its process (SIGABRT) on this module: Assertion `",
    "dies_nested.ll.xz": "LLVM ended its process (SIGSEGV)",
    "empty.ll": "is empty. Give LLVM IR",
    "exhausts_memory.bc": "LLVM ran out of memory (limit 8192 MiB). Raise the limit with --memory-limit",
    "no_body_declarations.ll": "no function body (2 declared functions, 1 globals). Give a module with",
    "refused_by_verifier.ll": "LLVM's verifier rejects it: Instruction does not dominate all uses!",
    "refused_elf.o": "is an ELF object or program, and damaged: its tables lead outside of it. Build it again",
    "refused_magic_only.bc": "LLVM cannot read it: Expected a single module. The file may be truncated",
    "refused_pre_3_7.ll": "line 6, column 43: expected comma after getelementptr's type. The text is from LLVM 3.6",
    "refused_random.bc": "LLVM cannot read it: ",
    "refused_random.ll": "is binary but neither bitcode nor text IR",
    "refused_source_code.ll": "line 2, column 1: expected top-level entity. If it is IR",
    "refused_truncated.bc": "The file may be truncated: write it again",
    "refused_truncated.ll": "line 121, column 1: found end of file when expecting more instructions",
    "refused_unknown_name.ll": "line 2, column 20: use of undefined value '%undefined_name'. The file may be damaged",
    "refused_unterminated_string.ll": "line 1, column 31: end of file in string constant",
    "refused_utf16.ll": "is text in UTF-16, not LLVM IR",
}
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, descriptors and permissions of POSIX")

SUFFIXES = [suffix[1:] for suffix in VECTOR_SUFFIXES]


@pytest.fixture
def embed(run: Run, model_dir: Path) -> Run:
    """`mirenc embed` with the tiny model."""

    def call(*words: object, **options: object) -> Result:
        return run("embed", "--no-cache", "--model", model_dir, *words, **options)

    return call


# -- files ---------------------------------------------------------------------------------------------
def test_every_broken_fixture_is_named_here() -> None:
    files = {path.name for path in BROKEN.iterdir()} - {"make.py", "misnamed_plain.ll.xz"}
    assert files == set(WHAT_IS_WRONG)


@pytest.mark.parametrize("name", WHAT_IS_WRONG)
def test_one_broken_file(embed: Run, name: str) -> None:
    result = embed(BROKEN / name)
    result.failed(f"mirenc: error: {BROKEN / name}: ", WHAT_IS_WRONG[name])
    assert result.out == ""


@pytest.mark.parametrize("verb", ["inspect", "graph"])
def test_other_verbs_say_the_same(run: Run, model_dir: Path, verb: str) -> None:
    words = ["--model", model_dir] if verb == "inspect" else []
    for name in ("dies_in_parser.ll", "empty.ll", "refused_truncated.ll"):
        assert run(verb, *words, BROKEN / name).failed(WHAT_IS_WRONG[name])


@pytest.mark.parametrize("suffix", ["ll", "bc", "ll.gz"])
def test_a_pointer_of_git_lfs(embed: Run, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    path.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    embed(path).failed(f"{path}: is a Git LFS pointer, not the file that it stands for. Type: git lfs pull")


def batch(embed: Run, ir: Path, *words: object) -> Result:
    """The good file among all the broken ones, which must all be listed, but for an empty one, which is counted."""
    result = embed(*words, *(BROKEN / name for name in WHAT_IS_WRONG), ir, "none.ll")
    assert result.code == 1
    *listed, empty, last = result.error_lines
    failing = {name: wrong for name, wrong in WHAT_IS_WRONG.items() if name != "no_body_declarations.ll"}
    total = len(WHAT_IS_WRONG) + 2
    assert len(listed) == len(failing) + 1
    for line, (name, wrong) in zip(listed, failing.items(), strict=False):
        assert line.startswith(f"mirenc: warning: {BROKEN / name}: ")
        assert wrong in line
    assert listed[-1] == "mirenc: warning: none.ll: no such file. Check the path"
    assert empty == f"mirenc: 1 of {total} files has no function body and is left out"
    assert last == (
        f"mirenc: error: {len(listed)} of {total} files failed (listed above); "
        "the other was delivered. Mend or leave out the listed files"
    )
    return result


def test_of_many_files_the_good_one_is_delivered(embed: Run, encoder: Encoder, ir: Path) -> None:
    (line,) = batch(embed, ir).out.splitlines()
    row = json.loads(line)
    assert row["file"] == str(ir)
    # LLVM died several times before it.
    np.testing.assert_array_equal(np.array(row["vector"], dtype=np.float32), encoder.embed(ir))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_to_a_file_too(embed: Run, ir: Path, tmp_path: Path, suffix: str) -> None:
    batch(embed, ir, "-o", tmp_path / f"x.{suffix}")
    expected = {f"x.{suffix}", "x.npy.json"} if suffix == "npy" else {f"x.{suffix}"}
    assert {path.name for path in tmp_path.glob("x.*")} == expected


def test_when_all_fail_nothing_is_written(embed: Run, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        result = embed("-o", tmp_path / f"x.{suffix}", BROKEN / "empty.ll", "none.ll")
        assert result.code == 1
        assert result.error_lines[-1] == (
            "mirenc: error: 2 of 2 files failed (listed above). Mend or leave out the listed files"
        )
    assert not list(tmp_path.iterdir())


def test_a_folder_with_good_and_bad_files(embed: Run, ir: Path, tmp_path: Path) -> None:
    shutil.copy(BROKEN / "empty.ll", tmp_path / "empty.ll")
    result = embed(tmp_path)
    assert (result.code, len(result.out.splitlines()), len(result.error_lines)) == (1, 1, 2)


def test_missing_and_empty_places(embed: Run, ir: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare.c").mkdir()
    (tmp_path / "loop.ll").symlink_to(tmp_path / "loop.ll")
    embed("none.ll").failed("mirenc: error: none.ll: no such file. Check the path")
    embed("none.c").failed("mirenc: error: none.c: no such file. Check the path")
    embed(ir / "x.ll").failed("Not a directory. Check the path")
    for name in ("bare", "bare.c"):
        embed(tmp_path / name).failed(f"{tmp_path / name}: is a folder without IR files")
    embed(tmp_path / "loop.ll").failed("Too many levels of symbolic links")
    # One of several: the good one is delivered.
    result = embed(tmp_path / "bare", ir)
    assert (result.code, len(result.out.splitlines()), len(result.error_lines)) == (1, 1, 2)


def test_a_path_with_a_nul_byte() -> None:
    with pytest.raises(MirencError, match="is not a file name"):
        read_ir("x\0.ll")


def test_standard_input_that_is_empty_or_broken(embed: Run) -> None:
    embed("-").failed("<stdin>: is empty")
    embed("-", stdin=b"define i32 @f() {\n").failed("<stdin>: line 2, column 1: ")
    embed("-", "--max-bytes", "1K", stdin=b"; \n" * 1000).failed("<stdin>: more than the limit of 1024 bytes")


@pytest.mark.parametrize("path", [BITCODE, FIXTURES / "handwritten" / "calls.ll"], ids=["bitcode", "text"])
def test_cut_anywhere(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    target = tmp_path / path.name
    for cut in sorted(random.Random(7).sample(range(1, len(data) - 1), 40)):
        target.write_bytes(data[:cut])
        try:
            read_ir(target)
        except MirencError as error:
            message = str(error)
            assert message.startswith(f"{target}: ")
            assert "\n" not in message
        else:  # text cut after a function is a module, too
            assert path.suffix == ".ll"
            assert b"}\n" in data[:cut]


@COMPRESSED
def test_archives_cut_anywhere_or_with_more_behind_them(embed: Run, tmp_path: Path, suffix: str, compress) -> None:
    """A cut archive whose beginning is valid IR must not pass for the whole file."""
    functions = "".join(f"define i32 @f{n}(i32 %x) {{\n  ret i32 {n * 7919}\n}}\n" for n in range(400))
    data = compress(functions.encode())
    path = tmp_path / f"x.ll.{suffix}"
    for cut in (12, len(data) // 2, len(data) - 9, len(data) - 1):
        path.write_bytes(data[:cut])
        embed(path).failed("the compressed file is damaged", "Compress it again")
    if suffix != "xz":  # whose reader, like Python's, ignores what is no xz
        path.write_bytes(data + b"more")
        embed(path).failed("the compressed file is damaged")
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes(255 - byte for byte in data[middle : middle + 8]) + data[middle + 8 :])
    embed(path).failed("the compressed file is damaged")


@COMPRESSED
def test_an_archive_that_grows_past_the_limit(embed: Run, tmp_path: Path, suffix: str, compress) -> None:
    (tmp_path / f"x.ll.{suffix}").write_bytes(compress(b"; comment\n" * 2**21))
    embed("--max-bytes", "1M", tmp_path / f"x.ll.{suffix}").failed("decompresses to more than the limit of 1 MiB")


def test_a_file_larger_than_the_limit(embed: Run, ir: Path) -> None:
    embed("--max-bytes", "100", ir).failed(f"{ir}: {ir.stat().st_size} bytes, the limit is 100 bytes. Raise it")
    # A limit of a million gigabytes reserves nothing.
    embed("--max-bytes", "1000000G", ir).ok()


def test_the_time_limit(embed: Run, tmp_path: Path, ir: Path) -> None:
    adds = "\n".join(f"  %v{n + 1} = add i32 %v{n}, {n}" for n in range(100_000))
    (tmp_path / "large.ll").write_text(f"define i32 @f(i32 %v0) {{\n{adds}\n  ret i32 %v100000\n}}\n", encoding="utf-8")
    embed("--timeout", "0.01", tmp_path / "large.ll").failed("LLVM did not finish within 0.01 s", "--timeout")
    embed(ir).ok()


def test_the_memory_limit(embed: Run, ir: Path) -> None:
    embed("--memory-limit", "300M", BROKEN / "exhausts_memory.bc").failed("LLVM ran out of memory (limit 300 MiB)")
    embed("--memory-limit", "300M", ir).ok()


@POSIX
@pytest.mark.parametrize("kind", ["-v", "-Sv"], ids=["hard", "soft"])
def test_a_limit_of_the_system_below_ours(spawn: Run, model_dir: Path, ir: Path, kind: str) -> None:
    words = ("embed", "--no-cache", "--model", model_dir)
    limited = f'ulimit {kind} 3000000; "$@"'
    spawn(*words, ir, shell=limited).ok()
    result = spawn(*words, BROKEN / "exhausts_memory.bc", shell=limited)
    result.failed("LLVM ran out of memory (limit 2930 MiB, set by `ulimit -v`). Raise that limit")
    # A smaller one of the user's own is not the system's.
    result = spawn(*words, "--memory-limit", "300M", BROKEN / "exhausts_memory.bc", shell=limited)
    result.failed("LLVM ran out of memory (limit 300 MiB). Raise the limit with --memory-limit")


@POSIX
@contextlib.contextmanager
def own_worker() -> Iterator[None]:
    """An LLVM process of the test's own."""
    with contextlib.closing(ParsingWorker()) as worker, pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "default_worker", lambda: worker)
        yield


def test_an_llvm_that_cannot_be_started_is_not_the_file_s_fault(ir: Path, tmp_path: Path, monkeypatch) -> None:
    broken = tmp_path / "llvmlite"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise OSError('Could not find/load shared object file')\n", encoding="utf-8")
    spec = importlib.machinery.ModuleSpec("llvmlite", None, origin=str(broken / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    with (
        own_worker(),
        pytest.raises(IRResourceError, match=r"LLVM cannot be started: OSError: Could not find.*pip install"),
    ):
        read_ir(ir)


@pytest.mark.parametrize("seconds", ["1e10", "1e300", "inf"])
def test_a_time_limit_of_centuries(embed: Run, ir: Path, source: Path, seconds: str) -> None:
    embed("--timeout", seconds, ir).ok()
    read_ir(ir, options=ReadOptions(timeout=float(seconds)))
    if any(map(shutil.which, compiling._NAMES)):
        embed("--timeout", seconds, source).ok()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"timeout": 0}, "timeout is 0; allowed: seconds above 0"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"timeout": -1.0}, "timeout is -1.0"),
        ({"memory_limit": 0}, "memory_limit is 0; allowed: 1 to"),
        ({"memory_limit": 2**63}, "memory_limit is 9223372036854775808"),
        ({"max_bytes": -1}, "max_bytes is -1"),
    ],
)
def test_limits_that_are_none(limits: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ReadOptions(**limits)


@POSIX
def test_the_memory_limit_in_python(ir: Path) -> None:
    with own_worker():
        read_ir(ir)
        with pytest.raises(IRResourceError, match=r"limit 300 MiB.*memory_limit="):
            read_ir(BROKEN / "exhausts_memory.bc", options=ReadOptions(memory_limit=300 * 2**20))


@POSIX
def test_a_killed_llvm_costs_one_file(embed: Run, ir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = ChildProcess._send

    def killed(self: ChildProcess, request: dict[str, str], data: bytes, timeout: float) -> None:
        pid = self._process.pid
        os.kill(pid, signal.SIGSTOP)  # so that it dies with the request in its hands
        threading.Timer(0.1, os.kill, (pid, signal.SIGKILL)).start()
        honest(self, request, data, timeout)

    with monkeypatch.context() as patch:
        patch.setattr(ChildProcess, "_send", killed)
        embed(ir).failed("LLVM's process was killed, most likely by the system for want of memory")
    embed(ir).ok()


# -- what LLVM showed ----------------------------------------------------------------------------------
def test_the_caret_stands_below_the_place(embed: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.ll"
    path.write_text("define i32 @f() {\n\t%a = add i32 1, %nothing ; \x1b[31m\n  ret i32 %a\n}\n", encoding="utf-8")
    result = embed(path)
    result.failed("line 2, column 18: use of undefined value '%nothing'")
    code, caret = result.details
    assert code.strip() == "%a = add i32 1, %nothing ; ?[31m"
    assert caret.strip() == "^"
    assert code[caret.index("^") :].startswith("%nothing")
    # A long line is cut around the place.
    path.write_text(f"define void @f() {{ %a = add <2 x i64> {'zeroinitializer, ' + 900 * ' '}%nothing ret void }}\n")
    code, caret = embed(path).details
    assert max(map(len, (code, caret))) <= 160
    assert code[caret.index("^") :].startswith("%nothing")


def test_the_verifier_s_words_are_shown(embed: Run) -> None:
    result = embed(BROKEN / "refused_by_verifier.ll")
    result.failed("LLVM's verifier rejects it: Instruction does not dominate all uses!")
    assert any("%" in line for line in result.details)


def test_in_a_batch_each_place_has_two_lines(embed: Run, ir: Path, tmp_path: Path) -> None:
    result = embed(BROKEN / "refused_unknown_name.ll", BROKEN / "empty.ll", ir)
    first, second, third, last = result.err.splitlines()[:2] + result.err.splitlines()[2:4]
    assert first.startswith("mirenc: warning: ")
    assert second[third.index("^") :].startswith("%undefined_name")
    assert last.startswith("mirenc: warning: ")
    assert len(result.details) == 2


@POSIX
def test_of_a_compiler_s_many_lines_the_first_error_s_are_shown(embed: Run, source: Path, tmp_path: Path) -> None:
    lines = "\n".join(["x.c:1:1: warning: w", "w", "^", "x.c:2:3: error: told so", "  code", "  ^", *["more"] * 30])
    talks = script(tmp_path / "talks", f"#!/bin/sh\ncat >&2 <<'END'\n{lines}\nEND\nexit 1\n")
    result = embed("--compiler", talks, source)
    result.failed("x.c:2:3: error: told so")
    assert result.details == ["  code", "  ^", *["more"] * 10, "... 20 more lines"]
    assert embed("--compiler", talks, source, source).details == 2 * ["  code", "  ^"]


# -- permissions ---------------------------------------------------------------------------------------
@pytest.fixture
def as_user(command: list[str], spawn: Run) -> Run:
    """Run a command that permissions hold for, root though the tests may run as."""
    if os.geteuid() != 0:
        return spawn
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and there is no setpriv to give that up")
    dropped = "-dac_override,-dac_read_search"
    prefix = f'exec setpriv --bounding-set={dropped} --inh-caps={dropped} "$@"'

    def call(*words: object) -> Result:
        return spawn(*words, shell=prefix)

    return call


@POSIX
def test_no_permission(as_user: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "closed").mkdir(parents=True)
    shutil.copy(ir, top / "good.ll")
    for name in ("unreadable.ll", "unreadable.c"):
        shutil.copy(ir, top / name)
        (top / name).chmod(0)
    shutil.copy(ir, top / "closed" / "inside.ll")
    (top / "closed").chmod(0)
    try:
        result = as_user("embed", "--no-cache", "--model", model_dir, top, top / "unreadable.c", top / "closed" / "x.c")
    finally:
        (top / "closed").chmod(0o755)
    assert result.code == 1
    assert [json.loads(line)["file"] for line in result.out.splitlines()] == [str(top / "good.ll")]
    note, *listed, last = result.error_lines
    assert f"{top}: reading 3 IR files, skipping 1 source file." in note
    assert listed == [
        f"mirenc: warning: {top}/closed: no permission to read this folder. Try `chmod u+rx {top}/closed`",
        f"mirenc: warning: {top}/unreadable.ll: no permission to read it. Try `chmod u+r {top}/unreadable.ll`",
        f"mirenc: warning: {top}/unreadable.c: no permission to read it. Try `chmod u+r {top}/unreadable.c`",
        f"mirenc: warning: {top}/closed/x.c: no permission to read it. Try `chmod u+r {top}/closed/x.c`",
    ]
    assert last.startswith("mirenc: error: 4 of 5 files failed (listed above); the other was delivered. ")


@POSIX
def test_no_permission_to_write(as_user: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    (tmp_path / "fixed").mkdir(mode=0o555)
    for suffix in ("npy", "jsonl"):
        output = tmp_path / "fixed" / f"x.{suffix}"
        result = as_user("embed", "--no-cache", "--model", model_dir, "-o", output, ir)
        result.failed(f"mirenc: error: cannot write {output}: Permission denied")
    # Before any work: the inputs are not there.
    output = tmp_path / "fixed" / "x.json"
    as_user("search", "none.ll", "none.npz", "-o", output).failed(f"cannot write {output}: Permission denied")


@pytest.mark.parametrize("verb", ["embed", "inspect", "graph", "search", "compare"])
def test_no_name_is_not_this_folder(
    run: Run, model_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    (tmp_path / "a.ll").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    words = [verb, "", *(["a.ll"] if verb in ("search", "compare") else [])]
    run(*words, *([] if verb == "graph" else ["--model", model_dir])).failed("'': is not a file name. Give a path")


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "size_after", ""),
        ("corpus", "build", "", "-o", "x"),
        ("label", "", "-o", "x"),
        ("measure", "vectorization", "-o", ""),
        ("fit", "size_after", "--data", "", "-o", "x"),
    ],
)
def test_an_empty_word_is_no_path_in_any_verb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]):
    monkeypatch.chdir(tmp_path)
    result = subprocess.run([sys.executable, "-m", "mirenc", *words], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "mirenc: error: '': is not a file name. Give a path, or - for standard input\n"
    assert not list(tmp_path.iterdir())


# -- outputs -------------------------------------------------------------------------------------------
def test_a_dash_is_stdout(run: Run, embed: Run, ir: Path) -> None:
    assert json.loads(embed(ir, "-o", "-").ok().out)["file"] == str(ir)
    assert run("graph", ir, "-o", "-").ok().out.startswith("{")


def test_a_table_in_a_narrow_terminal_keeps_its_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("MIRENC_DATA", "/nowhere")
    out = run("datasets", "list").ok().out
    assert max(map(len, out.splitlines())) > 30
    for word in ("configurations", "LLVM-exception", "present"):  # of the cells and of the head
        assert word in out


def test_output_paths_are_refused_before_any_work(embed: Run, run: Run, tmp_path: Path) -> None:
    for verb in (embed, lambda *words: run("graph", *words)):
        for name in ("x.txt", "x", ".npy"):
            verb("-o", tmp_path / name, "none.ll").failed("unknown suffix", "; available: .")
        verb("-o", tmp_path / "none" / "x.npz", "none.ll").failed(
            f"output folder {tmp_path}/none does not exist. Type: mkdir -p {tmp_path}/none"
        )
        (tmp_path / "file").write_text("")
        verb("-o", tmp_path / "file" / "x.npz", "none.ll").failed(f"{tmp_path}/file is a file, no folder")
        (tmp_path / "x.npz").mkdir(exist_ok=True)
        verb("-o", tmp_path / "x.npz", "none.ll").failed(f"output {tmp_path}/x.npz is a folder. Name a file in it")


@POSIX
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_fills_up(
    embed: Run, ir: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system does it: a write past the limit of the file's size fails."""
    resource = pytest.importorskip("resource")
    monkeypatch.chdir(tmp_path)
    default_worker().start()  # its files are not what is to be limited
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        result = embed("--level", "instruction", "-o", f"x.{suffix}", ir)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    result.failed(f"mirenc: error: cannot write x.{suffix}: ")
    assert not list(tmp_path.glob("x.*"))


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_ends_the_run_with_one_error(embed: Run, ir: Path, tmp_path: Path) -> None:
    output = tmp_path / "x.jsonl"
    output.symlink_to("/dev/full")
    files = ["none.ll", *[ir] * 30]
    result = embed("--level", "instruction", "-o", output, *files)
    assert (result.code, result.out) == (1, "")
    missing, full = result.error_lines
    assert missing.startswith("mirenc: warning: none.ll: ")
    assert full.startswith(f"mirenc: error: cannot write {output}: No space left on device. Free some space")
    assert output.is_symlink()
    assert not Path("/dev/full").is_file()


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("verb", ["embed", "graph", "models show", "--help"])
def test_a_full_standard_output(spawn: Run, model_dir: Path, ir: Path, verb: str) -> None:
    words = {"embed": ["--model", model_dir, ir], "graph": [ir], "models show": [model_dir], "--help": []}
    result = spawn(*verb.split(), *words[verb], shell='"$@" > /dev/full')
    result.failed("output: No space left on device")


@POSIX
def test_a_reader_that_leaves(spawn: Run, model_dir: Path) -> None:
    many = FIXTURES / "handwritten"
    words = ("embed", "--no-cache", "--model", model_dir, "-l", "instruction", many / "calls.ll", many / "functions.ll")
    result = spawn(*words, shell='"$@" | head -n 1; exit 0')
    assert json.loads(result.out)["level"] == "instruction"
    assert result.err == ""


@POSIX
def test_closed_streams(spawn: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    words = ("embed", "--no-cache", "--model", model_dir, ir)
    result = spawn(*words, "-o", tmp_path / "x.npy", shell='"$@" <&- >&- 2>&-')
    assert result.code == 0
    assert np.load(tmp_path / "x.npy").shape == (1, 48)
    spawn("embed", "--model", model_dir, "-", shell='"$@" <&-').failed("<stdin>: is empty")
    # What was asked for would be lost.
    for verb in (words, ("graph", ir), ("models", "list"), ("--help",)):
        spawn(*verb, shell='"$@" >&-').failed("output: standard output is closed. Name a file with -o")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_interrupt_leaves_no_half_output(
    embed: Run, ir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    honest = Encoder.embed_stream
    (tmp_path / f"x.{suffix}").write_bytes(b"of an earlier run")

    def interrupted(self: Encoder, inputs: list, **options: object):
        yield from honest(self, inputs[:1], **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Encoder, "embed_stream", interrupted)
    result = embed("-o", tmp_path / f"x.{suffix}", ir, FIXTURES / "handwritten" / "calls.ll")
    assert result.code == 130
    assert "Traceback" not in result.err
    assert [path.name for path in tmp_path.glob("x.*")] == [f"x.{suffix}"]
    assert (tmp_path / f"x.{suffix}").read_bytes() == b"of an earlier run"


# -- usage and models ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        (["--level", "nonsense"], "'nonsense' is not one of 'module', 'function', 'loop', 'block', 'instruction'"),
        (["--part", "nonsense"], "is not one of 'both', 'text', 'graph'"),
        (["--timeout", "0"], "--timeout"),
        (["--timeout", "nan"], "--timeout"),
        (["--timeout", "soon"], "--timeout"),
        *(
            (["--memory-limit", size], f"{size!r} is not a size; write 500K")
            for size in ("0", "-1", "nan", "inf", "x", "")
        ),
        *((["--max-bytes", size], f"{size!r} is not a size; write 500K") for size in ("0.5", "1e400", "9e20G", "8E")),
        (["--cflags", "'open"], "No closing quotation"),
        (["--nonsense"], "No such option: --nonsense"),
    ],
)
def test_odd_options(embed: Run, ir: Path, words: list[str], phrase: str) -> None:
    embed(*words, ir).refused(phrase)


def test_odd_commands(run: Run, ir: Path, tmp_path: Path) -> None:
    run("embed").refused("Missing argument")
    run("frobnicate").refused("no such verb: frobnicate; mirenc -h lists them")
    run("graph", ir, ir).refused("unexpected extra argument")
    run("inspect", "-n", "-1", ir).refused("--statements")
    run("corpus", "build", ir).refused("--output")
    run("corpus", "build", "-o", "x", "--vocab-size", "100000", ir).refused("--vocab-size")
    run("corpus", "build", ir, "-o", tmp_path / "x").failed("a corpus cannot be made from this file")
    run("corpus", "build", ir.parent / "none", "-o", tmp_path / "x").failed("no such file or folder")
    run("corpus", "build", ir.parent, "-o", ir).refused("is a file")


def test_bad_models(run: Run, model_dir: Path, ir: Path, tmp_path: Path) -> None:
    run("embed", "--model", "none", ir).failed("unknown model 'none'; available: ")
    run("embed", "--model", tmp_path, ir).failed(f"{tmp_path}: no config.json. A model folder needs config.json, ")
    for name, data in (("config.json", b"{"), ("tokenizer.json", b"\xff\xfe\0"), ("model.safetensors", b"\0" * 100)):
        folder = shutil.copytree(model_dir, tmp_path / name)
        (folder / name).write_bytes(data)
        run("embed", "--model", folder, ir).failed(str(folder))
        run("models", "verify", folder).failed(f"{name} is not the file that was released", "Install the model again")
    run("embed", "--model", model_dir, "--device", "nonsense", ir).failed("cannot run random on device 'nonsense'")


# -- sources -------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """C that needs no header."""
    path = tmp_path / "twice.c"
    path.write_text("int twice(int x) { return 2 * x; }\n", encoding="utf-8")
    return path


@pytest.mark.needs("C compiler")
def test_a_source_is_compiled(embed: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(source, "-dash.c")
    for words in (["twice.c"], ["--", "-dash.c"], ["--cflags=-O0 -g -o stolen.ll", "twice.c"]):
        (line,) = embed(*words).ok().out.splitlines()
        assert json.loads(line)["counts"]["defined"] == 1
    assert {path.name for path in tmp_path.iterdir()} == {"twice.c", "-dash.c"}


@pytest.mark.needs("C compiler")
def test_a_source_with_errors(embed: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.c"
    for text, wrong in (
        ("int f( { return 0; }\n", "bad.c:1:8: error: expected parameter declarator"),
        ('#include "none.h"\n', "bad.c:1:10: fatal error: 'none.h' file not found"),
        ("int x;\n", "no function body (0 declared functions, 1 globals)"),
    ):
        path.write_text(text, encoding="utf-8")
        embed(path).failed(f"mirenc: error: {path}: ", wrong)


@pytest.mark.needs("clang")
def test_flags_that_do_not_fit(embed: Run, source: Path) -> None:
    """In clang's own words; zig cc has others."""
    embed("--cflags=-fnonsense", source).failed("unknown argument: '-fnonsense'", "--cflags")
    embed("--cflags=-fsyntax-only", source).failed("wrote no LLVM IR. With --compiler, give a clang")


@pytest.mark.needs("clang")
def test_opencl_and_cuda_device_code(embed: Run) -> None:
    sources = FIXTURES / "sources"
    result = embed("--level", "function", "--cflags=-nocudainc", sources / "device.cu").ok()
    assert "evaluate" in {json.loads(line)["name"] for line in result.out.splitlines()}
    assert embed(sources / "vectors.cl").ok().out


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("a.rs", "fn f() {}\n", "is Rust source, which mirenc does not compile. Type: rustc --emit=llvm-ir "),
        (
            "a.f90",
            "subroutine f\nend\n",
            "is Fortran source, which mirenc does not compile. Type: flang -S -emit-llvm ",
        ),
        ("a.F90", "subroutine f\nend\n", "flang -S -emit-llvm -O2 a.F90 -o a.ll"),
        ("my file.swift", "func f() {}\n", "swiftc -emit-ir -O 'my file.swift' -o 'my file.ll'"),
        ("a.zig", "export fn f() void {}\n", "zig build-obj -O ReleaseFast -fno-emit-bin -femit-llvm-ir=a.ll a.zig"),
        ("a.go", "package main\n", "tinygo build -o a.ll a.go"),
        ("a.d", "void f() {}\n", "ldc2 -O2 --output-ll -of=a.ll a.d"),
        ("a.m", "@interface A\n@end\n", "is Objective-C source"),
    ],
)
def test_a_source_of_another_language_gets_its_command(
    embed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text, encoding="utf-8")
    assert embed(name).failed(f"mirenc: error: {name}: is ", command)


def test_ir_may_have_any_name(embed: Run, ir: Path, tmp_path: Path) -> None:
    embed(shutil.copy(ir, tmp_path / "a.rs")).ok()
    (tmp_path / "b.rs").write_text("define i32 @f() {\n  ret i32 %x\n}\n", encoding="utf-8")
    embed(tmp_path / "b.rs").failed("b.rs: line 2, column 11: use of undefined value '%x'")


def test_no_compiler(embed: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "k.cl").write_text("kernel void k() {}\n", encoding="utf-8")
    embed(tmp_path / "k.cl").failed(f"{tmp_path}/k.cl: no clang on PATH to compile cl", "`apt-get install clang`")
    embed("--compiler", "clang-0", source).failed(f"{source}: compiler 'clang-0' is not on PATH. Give the path")
    monkeypatch.setattr(compiling.importlib.util, "find_spec", lambda name: None)
    embed(source).failed(f"{source}: no clang on PATH to compile c ", "pip install 'mirenc[compile]'")


def test_ziglang_where_there_is_no_clang(
    embed: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ziglang")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    (line,) = embed("twice.c").ok().out.splitlines()
    assert json.loads(line)["counts"]["defined"] == 1
    embed("--cflags=-fnonsense", "twice.c").failed("twice.c: zig cc refuses it: ", "-fnonsense", "--cflags")
    # `-o -` is a file's name to zig.
    assert {path.name for path in tmp_path.iterdir()} == {"twice.c", "bin"}
    source.write_text("int f( {\n", encoding="utf-8")
    embed("twice.c").failed("twice.c: zig cc refuses it: twice.c:1:8: error: ")


@pytest.mark.parametrize("home", ["", "file"])
def test_ziglang_where_no_home_takes_its_files(
    embed: Run, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    pytest.importorskip("ziglang")
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / home) if home else "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("ZIG_GLOBAL_CACHE_DIR", "")  # to be put back
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR")
    embed(source).ok()


def script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@POSIX
def test_compilers_that_are_none(embed: Run, source: Path, tmp_path: Path) -> None:
    silent = script(tmp_path / "silent", "#!/bin/sh\nexit 0\n")
    embed("--compiler", silent, source).failed(f"{silent} wrote no LLVM IR")
    fails = script(tmp_path / "fails", "#!/bin/sh\nexit 3\n")
    embed("--compiler", fails, source).failed(f"{fails} refuses it: no reason given (exit 3)")
    garbage = script(tmp_path / "garbage", "\0\1\2")
    embed("--compiler", garbage, source).failed(f"{garbage} cannot be started: {os.strerror(errno.ENOEXEC)}")


@POSIX
def test_a_compiler_gets_the_memory_limit_too(embed: Run, source: Path, tmp_path: Path) -> None:
    asks = script(tmp_path / "asks", '#!/bin/sh\necho "error: $(ulimit -v) KiB" >&2\nexit 1\n')
    embed("--compiler", asks, source).failed("error: 8388608 KiB")
    starved = script(tmp_path / "starved", "#!/bin/sh\necho 'LLVM ERROR: out of memory' >&2\nexit 1\n")
    embed("--compiler", starved, source).failed(f"{starved} ran out of memory (limit 8192 MiB). Raise the limit with")
    embed("--compiler", asks, "--memory-limit", "2G", source).failed("error: 2097152 KiB")


@pytest.mark.needs("C compiler")
def test_a_source_that_takes_all_memory(embed: Run, tmp_path: Path) -> None:
    path = tmp_path / "bomb.c"
    path.write_text("int a[1 << 28] = {[(1 << 28) - 1] = 3};\nint f(void) { return a[3]; }\n", encoding="utf-8")
    embed("--memory-limit", "700M", path).failed(f"{path}: ", "ran out of memory (limit 700 MiB)")


@pytest.mark.needs("C compiler")
def test_a_source_about_memory_is_not_taken_for_one_that_ran_out(embed: Run, tmp_path: Path) -> None:
    path = tmp_path / "words.c"
    path.write_text("#error out of memory\n", encoding="utf-8")
    embed(path).failed("words.c:1:2: error: out of memory. Mend the source")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_compiler_that_hangs_is_ended_with_its_children(embed: Run, source: Path, tmp_path: Path) -> None:
    hangs = script(tmp_path / "hangs", f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    embed("--timeout", "1", "--compiler", hangs, source).failed("the compiler did not finish within 1 s", "--timeout")
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    for _ in range(100):  # the system takes a moment to bury it
        stat = Path(f"/proc/{child}/stat")
        state = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] if stat.exists() else "gone"
        if state in ("gone", "Z"):
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail(f"the compiler's child still runs: {state!r}")
