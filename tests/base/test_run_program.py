"""Programs run with limits: what they say comes back, bounded; what they may take has an end."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.base import run_program as process
from mirenc.base.deadline import TimeUpError, within
from mirenc.base.run_program import memory_allowed, run_limited, without_memory

ROOM = 2**30


def run(script: str, **options: object) -> process.Ended:
    return run_limited(["sh", "-c", script], **{"timeout": 60.0, "memory_limit": ROOM} | options)


def test_exit_code_and_both_outputs_are_returned() -> None:
    done = run("cat; echo words >&2; exit 3", data=b"in")
    assert (done.code, done.output, done.words) == (3, b"in", "words")


def test_megabytes_go_in_and_out() -> None:
    data = bytes(range(256)) * 20_000
    assert run("cat", data=data).output == data


def test_a_program_need_not_read_its_input() -> None:
    assert run("exit 0", data=b"x" * 5_000_000).code == 0


def test_the_beginning_of_endless_output_is_kept() -> None:
    script = "yes | head -c 50000000"
    assert run(script, most_output=10).output == b"y\n" * 5
    assert run(script, most_output=0).output == b""


def test_a_program_runs_in_the_given_folder(tmp_path: Path) -> None:
    assert run("pwd", folder=str(tmp_path)).output.decode().strip() == str(tmp_path)


def test_beginning_and_end_of_endless_error_output_are_kept() -> None:
    done = run("echo first >&2; yes middle | head -n 400000 >&2; echo last >&2")
    assert len(done.words) < 2.1 * process._KEPT_WORDS
    assert done.words.startswith("first\nmiddle\n")
    assert done.words.endswith("middle\nlast")
    lost = 6 + 7 * 400_000 + 5 - 2 * process._KEPT_WORDS
    assert f"\n... {lost} bytes left out ...\n" in done.words


def test_memory_is_limited_for_children_too_and_no_core_is_written() -> None:
    done = run("sh -c 'ulimit -v; ulimit -c'; ulimit -Hv")
    assert done.output.split() == [b"1048576", b"0", b"1048576"]
    greedy = run_limited([sys.executable, "-c", "bytearray(2 << 30)"], timeout=60, memory_limit=ROOM)
    assert greedy.code == 1
    assert without_memory(greedy.words)


def test_a_lower_limit_of_this_process_holds() -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**40, limits[1]))
    try:
        assert memory_allowed(2**41) == 2**40
        assert memory_allowed(2**39) == 2**39
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_signals_have_their_default_action_in_a_program() -> None:
    assert run("kill -SEGV $$").code == -11
    # Python ignores SIGPIPE; a program that inherited that would not notice that nobody reads.
    assert run("(yes; echo $? > /dev/stderr) | head -n 1 > /dev/null").words == "141"


def test_a_program_that_hangs_is_ended() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run("sleep 600", timeout=0.3)
    with pytest.raises(subprocess.TimeoutExpired):  # also one that has closed its streams
        run("exec >&- 2>&-; sleep 600", timeout=0.3)


@pytest.mark.parametrize(
    ("content", "code"), [(b"\0\1\2", errno.ENOEXEC), (b"#!/no/such/shell\n", errno.ENOENT), (None, errno.ENOENT)]
)
def test_a_program_that_cannot_be_started_is_an_os_error(tmp_path: Path, content: bytes | None, code: int) -> None:
    path = tmp_path / "program"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o755)
    with pytest.raises(OSError, match=os.strerror(code)) as caught:
        run_limited([str(path)], timeout=60, memory_limit=ROOM)
    assert caught.value.errno == code


@pytest.mark.parametrize(
    ("words", "is_so"),
    [
        ("LLVM ERROR: out of memory\nAllocation failed", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("clang-19: error while loading shared libraries: libc.so.6: failed to map segment from shared object", True),
        ("words.c:1:2: error: out of memory", False),
        ("LLVM ERROR: Broken module found", False),
        ("", False),
    ],
)
def test_error_output_that_tells_of_missing_memory(words: str, is_so: bool) -> None:
    assert without_memory(words) is is_so


def test_a_program_ends_with_the_time_of_the_call() -> None:
    with within(0.2), pytest.raises(TimeUpError):
        run("sleep 3600", timeout=7200.0)
    with within(3600.0), pytest.raises(subprocess.TimeoutExpired):
        run("sleep 3600", timeout=0.2)
