"""What a user's sources include: a header that was changed makes other code of the same source."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from mirenc.ir.process import run_limited
from mirenc.measure.building import INCLUDE, MEMORY_LIMIT
from mirenc.measure.method import Toolchain

__all__ = ["headers_digest"]

_TIMEOUT = 60.0  # seconds, of the preprocessor alone


def headers_digest(paths: Sequence[Path], toolchain: Toolchain, arms: Sequence[Sequence[str]] = ((),)) -> str:
    """Digest of all headers that some files include, as the compiler finds them (``-M``); the files are not in it.

    A file that the preprocessor refuses counts as one without headers: its build tells what is wrong.

    Parameters
    ----------
    paths : sequence of Path
    toolchain : Toolchain
    arms : sequence of sequences of str
        Flags of each way that they are built: an instruction set's macros may choose headers.
    """
    found: dict[Path, None] = {}  # in order, each once
    for path in paths:
        for flags in arms:
            command = [toolchain.compiler, "-w", f"-I{INCLUDE}", *flags, *toolchain.cflags, "-M", str(path.absolute())]
            found |= dict.fromkeys(_prerequisites(command))
    digest = hashlib.sha256()
    for header in found:
        if header not in [path.absolute() for path in paths]:
            digest.update(hashlib.sha256(header.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _prerequisites(command: Sequence[str]) -> Iterator[Path]:
    """Files on the right of the compiler's rule for make, without make's escapes."""
    try:
        done = run_limited(command, timeout=_TIMEOUT, memory_limit=MEMORY_LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return
    if done.code == 0:
        rule = done.output.decode("utf-8", "surrogateescape").replace("\\\n", " ")
        for name in re.findall(r"(?:\\ |\\#|\S)+", rule.partition(": ")[2]):
            yield Path(re.sub(r"\\([ #])", r"\1", name).replace("$$", "$"))
