"""IR2Vec's vectors, as a baseline, and IR rewritten for the LLVM that it reads.

The wheel (``pip install IR2Vec==2.1.1``) is no dependency. It reads IR of LLVM 16 and before, ends the process on IR
that it cannot handle, and never frees memory, so each vector is computed in a child process. It has vectors of modules
only, so a function is extracted to a module. Attributes and flags of later LLVMs are hints, which may be removed.
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
    """Flow-aware module vectors, (n, 300) float32, and how many are zeros as IR2Vec gave none that is finite.

    Texts are repaired as mirenc repairs them for itself (`mirenc.llvm.ir.old_text.modernise`). Raises TaskError: the
    wheel does not run at all.
    """
    vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    finite = 0
    with tempfile.TemporaryDirectory(prefix="mirenc-ir2vec-") as folder:
        for row, text in enumerate(texts):
            Path(folder, f"{row}.ll").write_text(modernise(text), encoding="utf-8")
        output = Path(folder, "vectors.jsonl")
        # This file is run as a script, so that the child loads nothing else; with -P, `import ir2vec` is the wheel.
        command = [sys.executable, "-P", __file__, folder, str(len(texts))]
        process = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if process.returncode:
            message = (process.stderr.strip().splitlines() or ["nothing"])[-1]
            raise TaskError(f"IR2Vec does not run ({message}). Leave out row 'ir2vec', or install the wheel again")
        for line in output.read_text(encoding="utf-8").splitlines():
            row, vector = json.loads(line)
            if np.isfinite(vector).all():  # the flow analysis may diverge
                vectors[row] = vector
                finite += 1
    return vectors, len(texts) - finite


def ir2vec_text(ir: IRSource, module: IRModule, region: Region | None) -> str:
    """The text that IR2Vec gets for a piece of code: the module, or the function of a region.

    Published bytes are passed as they are. All other code is text of LLVM 22, which has to be rewritten.
    """
    if region is not None:
        return function_text(module.text, region.symbol)
    return ir.decode("utf-8", "replace") if isinstance(ir, bytes) else for_llvm_16(module.text)


def function_text(text: str, symbol: str) -> str:
    """A function of a module (`IRModule.text`) with everything it refers to; other functions become declarations.

    ``symbol`` is without ``@`` and quotes. Raises TaskError: no such function that can be extracted.
    """
    from mirenc.llvm.passes.extract import extract_functions

    for name, extracted in extract_functions(text):
        if name == symbol:
            return for_llvm_16(extracted)
    cause = f"{symbol!r} has no body, or takes the address of another function's block, so that it cannot be extracted"
    raise TaskError(f"{cause}. Give other IR")


def for_llvm_16(text: str) -> str:
    """Canonical text of a module (`IRModule.text`) without what LLVM 16 does not know."""
    for pattern in (_ATTRIBUTE_GROUP, _METADATA, _LIFETIME):
        text = pattern.sub("", text)
    parts = _QUOTED.split(text)
    for place in range(0, len(parts), 2):  # the others are quoted: names and strings, which stay
        for pattern in (_GROUP_NAME, _NEW_ATTRIBUTES):
            parts[place] = pattern.sub("", parts[place])
        for flag, replacement in _NEW_FLAGS:
            parts[place] = flag.sub(replacement, parts[place])
    return "".join(parts)


def _write_all(folder: str, count: int) -> None:
    """Append ``[row, vector]`` to vectors.jsonl for each file that IR2Vec reads. Runs in a process of its own."""
    import ir2vec

    with Path(folder, "vectors.jsonl").open("w", encoding="utf-8") as stream:
        for row in range(count):
            stream.flush()
            process_id = os.fork()
            if process_id == 0:
                signal.alarm(_SECONDS)  # ends this child only
                try:
                    module = ir2vec.initEmbedding(str(Path(folder, f"{row}.ll")), "fa", "p")
                    stream.write(json.dumps([row, list(ir2vec.getProgramVector(module))]) + "\n")
                    stream.flush()
                finally:
                    os._exit(0)
            os.waitpid(process_id, 0)


if __name__ == "__main__":
    _write_all(sys.argv[1], int(sys.argv[2]))
