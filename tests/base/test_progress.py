"""A bar on a terminal's stderr leaves alone what is printed meanwhile, in a file and on the terminal itself."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from mirenc.base import progress

CODE = """
from mirenc.base.progress import progress
with progress("counting", 2) as advance:
    print("x" * 200)
    advance()
    print("last")
    advance()
"""


@pytest.mark.parametrize("on_terminal", [False, True])
def test_what_is_printed_under_a_bar_stays_whole(tmp_path: Path, on_terminal: bool) -> None:
    terminal, stderr = pty.openpty()
    with open(tmp_path / "out", "wb") as file:
        stdout = stderr if on_terminal else file
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "60"}
        subprocess.run([sys.executable, "-c", CODE], stdout=stdout, stderr=stderr, env=environment, check=True)
    shown = os.read(terminal, 2**16).decode()
    os.close(terminal)
    os.close(stderr)
    assert "counting" in shown
    if on_terminal:
        # The bar's line is erased before each line.
        assert f"\r\x1b[2K{'x' * 200}\r\n" in shown
        assert "\r\x1b[2Klast\r\n" in shown
    else:
        assert (tmp_path / "out").read_text() == f"{'x' * 200}\nlast\n"
        assert "last" not in shown


def test_without_a_terminal_a_line_is_written_whenever_the_time_has_doubled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter([0.0, 9.0, 11.0, 21.0, 22.5, 40.0])  # of the start, and of each step
    monkeypatch.setattr(progress, "FIRST_LINE", 10.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))
    with progress.progress("embedding", 5) as advance:
        for _ in range(5):
            advance(note="x.ll")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["mirenc: embedding: 2 of 5 done in 11 s", "mirenc: embedding: 4 of 5 done in 22 s"]


def test_the_number_of_steps_may_be_told_later_or_never(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    with progress.progress("reading", None) as advance:
        advance(2)
        advance(total=7)
    with progress.progress("reading", 9, show=False) as advance:
        advance()
    words = [line.partition(" done in ")[0] for line in capsys.readouterr().err.splitlines()]
    assert words == ["mirenc: reading: 2", "mirenc: reading: 3 of 7"]
