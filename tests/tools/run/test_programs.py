"""Commands that hang, daemonise, hold pipes open and ignore signals: nothing of them lives on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from living import MARK, living, wait_until

from mirenc.base.deadline import OverLimitError, TimeUpError, within
from mirenc.tools.run.programs import Supervised, run_supervised

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")

# A child of a child in a session of its own, whose parent ends; all of them want no SIGTERM, and hold stdout open.
HANGS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").close()
        time.sleep(3600)
    os._exit(0)
time.sleep(3600)
"""


@pytest.fixture
def mark() -> Iterator[str]:
    """What the processes of a test have in their environment."""
    name = uuid.uuid4().hex
    yield name
    for pid in living(name):
        os.kill(pid, signal.SIGKILL)


def environment(mark: str) -> dict[str, str]:
    return {**os.environ, MARK: mark}


def hanging(ready: Path) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", HANGS, str(ready)]


def started(mark: str, ready: Path) -> Supervised:
    """A hanging command, whose grandchild has been started, too."""
    running = Supervised(hanging(ready), env=environment(mark))
    wait_until(ready.exists)
    assert len(living(mark)) >= 3  # supervisor, command, grandchild
    return running


def test_it_tells_how_a_command_ended_and_what_it_took() -> None:
    usage = run_supervised(["sh", "-c", "exit 3"], 60.0)
    assert usage.code == 3
    assert usage.cpu > 0
    assert usage.wall > 0
    assert run_supervised(["sh", "-c", "kill -9 $$"], 60.0).code == -9


def test_streams_and_folder_are_the_commands_own(tmp_path: Path) -> None:
    with tempfile.TemporaryFile() as output:
        run_supervised(["sh", "-c", "pwd; cat"], 60.0, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=output)
        output.seek(0)
        assert output.read().decode().strip() == str(tmp_path)


def test_who_prints_into_a_closed_pipe_ends() -> None:
    """Python ignores SIGPIPE, and a command must not."""
    assert run_supervised(["sh", "-c", "kill -PIPE $$"], 60.0).code == -signal.SIGPIPE


def test_nothing_is_left_of_a_command_that_is_closed(mark: str, tmp_path: Path) -> None:
    started(mark, tmp_path / "ready").close()
    assert living(mark) == []


def test_a_limit_ends_all_it_started_and_nobody_waits_for_a_pipe(mark: str, tmp_path: Path) -> None:
    with tempfile.TemporaryFile() as output, pytest.raises(OverLimitError, match="ended after 2 s") as caught:
        run_supervised(hanging(tmp_path / "ready"), 2.0, env=environment(mark), stdout=output)
    assert caught.value.seconds == 2.0
    assert living(mark) == []


def test_when_the_time_of_the_call_is_up_it_ends_too(mark: str, tmp_path: Path) -> None:
    with within(1.0), pytest.raises(TimeUpError):
        run_supervised(hanging(tmp_path / "ready"), 3600.0, env=environment(mark))
    assert living(mark) == []


def test_an_interrupt_ends_it(mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Supervised, seconds: float) -> None:
        wait_until((tmp_path / "ready").exists)
        raise KeyboardInterrupt

    monkeypatch.setattr(Supervised, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_supervised(hanging(tmp_path / "ready"), 3600.0, env=environment(mark))
    assert living(mark) == []


def test_it_ends_with_a_parent_that_is_killed(mark: str, tmp_path: Path) -> None:
    script = "from mirenc.tools.run.programs import run_supervised\n"
    script += f"run_supervised({hanging(tmp_path / 'ready')}, 1e6)"
    with subprocess.Popen([sys.executable, "-c", script], env=environment(mark)) as parent:
        wait_until((tmp_path / "ready").exists)
        parent.kill()
    wait_until(lambda: not living(mark))


def test_what_a_command_leaves_running_at_a_good_end_is_left_alone(mark: str) -> None:
    usage = run_supervised(["sh", "-c", "sleep 3600 & exit 0"], 60.0, env=environment(mark))
    assert usage.code == 0
    assert len(living(mark)) == 1
