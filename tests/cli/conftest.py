"""The command line in this process, as `mirenc.cli.main` runs it, and in one of its own where that matters."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import SOURCE, Result, Run

from mirenc.cli import main
from mirenc.llvm.child.parsing_worker import DEFAULT_MEMORY_LIMIT, default_worker


@pytest.fixture(scope="session")
def model_dir(model_folder: Path) -> Path:
    """The tiny model with random weights, as a folder."""
    return model_folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command in this process: an exception that `main` lets through is a failed test."""

    def call(*words: object, stdin: bytes = b"") -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["mirenc", *map(str, words)])
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            capsys.readouterr()
            with pytest.raises(SystemExit) as ending:
                main()
        code = ending.value.code
        streams = capsys.readouterr()
        return Result(code if isinstance(code, int) else 0, streams.out, streams.err)

    threshold = gc.get_threshold()
    yield call
    gc.set_threshold(*threshold)
    default_worker().limit_memory(DEFAULT_MEMORY_LIMIT)


@pytest.fixture(scope="session")
def command() -> list[str]:
    """Words that start the command line in a process of its own."""
    return [sys.executable, "-c", "from mirenc.cli import main; main()"]


@pytest.fixture(scope="session")
def spawn(command: list[str]) -> Run:
    """Run a command in a process of its own; ``shell`` is what a shell does with it, as in ``"$@" >&-``."""

    def call(*words: object, shell: str = '"$@"', **options: object) -> Result:
        # Buffered as users have it: unbuffered, Python itself loses what a pipe did not take.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
        done = subprocess.run(
            ["sh", "-c", shell, "sh", *command, *map(os.fspath, words)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=120,
            env=environment,
            **options,
        )
        return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    return call


@pytest.fixture
def ir(tmp_path: Path) -> Path:
    """A small module: two functions with six instructions."""
    path = tmp_path / "small.ll"
    path.write_text(SOURCE, encoding="utf-8")
    return path
