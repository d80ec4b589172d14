"""IR2Vec's vectors, for the row of a table that a peer deserves, and modules in the words that it knows.

The wheel (``pip install IR2Vec==2.1.1``) is no dependency. It reads what LLVM <= 16 wrote, ends the process on IR it
does not like, and keeps the memory of the files before; so a child process computes each vector. It has vectors of
modules, so a function becomes one. What later LLVMs say beside an instruction are hints, which may be left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mirenc.base.arrays import Float32
from mirenc.base.errors import TaskError
from mirenc.llvm.ir.old_text import modernise

if TYPE_CHECKING:
    from mirenc.decide.sample import IRSource
    from mirenc.llvm import IRModule
    from mirenc.llvm.analysis.regions import Region

DIMENSION = 300
_SECONDS = 60  # for one file

_ATTRIBUTE_GROUP = re.compile(r"^attributes #\d+ = .*\n?", re.MULTILINE)
_QUOTED = re.compile(r'("[^"]*")')
_GROUP_NAME = re.compile(r" #\d+")
# Nodes, and what refers to them.
_METADATA = re.compile(r"^!.*\n?|,? ![a-zA-Z_.]+ !\d+|^.*\(metadata !.*\n?", re.MULTILINE)
_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NEW_ATTRIBUTES = re.compile(
    rf" (?:captures|initializes|range|nofpclass|memory|dead_on_return)(?:{_NESTED})|"
    r" (?:dead_on_unwind|dead_on_return|writable|nocreateundeforpoison|noext)\b(?!\()"
)
_NEW_FLAGS = (
    (re.compile(r"\b(zext|uitofp) nneg "), r"\1 "),
    (re.compile(r"\bor disjoint "), "or "),
    (re.compile(r"\b(trunc)(?: nuw| nsw)+ "), r"\1 "),
    (re.compile(r"\b(icmp) samesign "), r"\1 "),
    (re.compile(r"\b(getelementptr)( inbounds)?(?: nusw| nuw)+(?= )"), r"\1\2"),
    (re.compile(r"\bgetelementptr( inbounds)? inrange\([^)]*\)"), r"getelementptr\1"),
)
# LLVM 22 dropped the size: the call says no more than where a variable lives.
_LIFETIME = re.compile(r"^.*@llvm\.lifetime\.(?:start|end)\..*\n?", re.MULTILINE)


def ir2vec_available() -> bool:
    """Whether the IR2Vec wheel is installed beside mirenc."""
    return importlib.util.find_spec("ir2vec") is not None


def ir2vec_vectors(texts: Sequence[str]) -> tuple[Float32, int]:
    """Flow-aware module vectors, (n, 300) float32, and how many are zeros: IR2Vec gave none, or numbers that are none.

    What mirenc mends in a text for LLVM 22 (`mirenc.llvm.ir.old_text.modernise`) is mended for IR2Vec, too: both get
    the same chance. Raises TaskError: the wheel does not run at all.
    """
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    found = 0
    with tempfile.TemporaryDirectory(prefix="mirenc-ir2vec-") as folder:
        for row, text in enumerate(texts):
            Path(folder, f"{row}.ll").write_text(modernise(text), encoding="utf-8")
        output = Path(folder, "vectors.jsonl")
        # As a file, so that the child does not load the package's heads; -P, so that `ir2vec` is not this file.
        command = [sys.executable, "-P", __file__, folder, str(len(texts))]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
            raise TaskError(f"IR2Vec does not run ({said}). Leave out row 'ir2vec', or install the wheel again")
        for line in output.read_text(encoding="utf-8").splitlines():
            row, vector = json.loads(line)
            if np.isfinite(vector).all():  # its flow may run in circles until numbers end
                vectors[row] = vector
                found += 1
    return vectors, len(texts) - found


def ir2vec_text(ir: IRSource, module: IRModule, region: Region | None) -> str:
    """What IR2Vec reads of a piece of code: the module, or the function of a region.

    Published bytes are given as their LLVM wrote them. All else is LLVM 22's text, which IR2Vec refuses as it is.
    """
    if region is not None:
        return function_text(module.text, region.symbol)
    return ir.decode("utf-8", "replace") if isinstance(ir, bytes) else in_older_words(module.text)


def function_text(text: str, symbol: str) -> str:
    """The function of a module (`IRModule.text`) and what it refers to; other functions become declarations.

    ``symbol`` is without ``@`` and quotes. Raises TaskError: no such function with a body that can stand alone.
    """
    from mirenc.llvm.passes.extract import extract_functions

    for name, own in extract_functions(text):
        if name == symbol:
            return in_older_words(own)
    raise TaskError(f"no function {symbol!r} with a body that can stand alone. Give IR that has it")


def in_older_words(text: str) -> str:
    """Canonical text of a module (`IRModule.text`) without what LLVM 16 has no word for."""
    for pattern in (_ATTRIBUTE_GROUP, _METADATA, _LIFETIME):
        text = pattern.sub("", text)
    parts = _QUOTED.split(text)
    for place in range(0, len(parts), 2):  # the others are a program's own words, and a constant keeps its length
        for pattern in (_GROUP_NAME, _NEW_ATTRIBUTES):
            parts[place] = pattern.sub("", parts[place])
        for flag, plain in _NEW_FLAGS:
            parts[place] = flag.sub(plain, parts[place])
    return "".join(parts)


def _write_all(folder: str, count: int) -> None:
    """Append ``[row, vector]`` to vectors.jsonl for each file that IR2Vec reads. Runs in a process of its own."""
    import ir2vec

    with Path(folder, "vectors.jsonl").open("w", encoding="utf-8") as stream:
        for row in range(count):
            stream.flush()
            child = os.fork()
            if child == 0:
                signal.alarm(_SECONDS)  # ends this child only
                try:
                    module = ir2vec.initEmbedding(str(Path(folder, f"{row}.ll")), "fa", "p")
                    stream.write(json.dumps([row, list(ir2vec.getProgramVector(module))]) + "\n")
                    stream.flush()
                finally:
                    os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    _write_all(sys.argv[1], int(sys.argv[2]))
