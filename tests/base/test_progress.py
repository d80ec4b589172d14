"""A bar on a terminal's stderr leaves alone what is printed meanwhile, in a file and on the terminal itself."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

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
