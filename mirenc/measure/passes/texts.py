"""`Texts`: the IR of the pieces, cut out of their files once and kept in a folder until the table is written."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterable
from pathlib import Path

from mirenc.errors import IRParseError
from mirenc.ir import read_ir
from mirenc.ir.files import read_input
from mirenc.measure.passes.choosing import Chosen
from mirenc.measure.passes.inputs import IRFile
from mirenc.passes.extract import extract_functions
from mirenc.writing import delivered

# Where the source lies on this machine, which is no part of the program.
_PATHS = re.compile(r"\A(?:; ModuleID = [^\n]*\n)?(?:source_filename = [^\n]*\n)?")


class Texts:
    """The texts of some pieces, in a folder that is made if it is not there."""

    def __init__(self, folder: Path, pieces: Iterable[Chosen]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._symbols: dict[IRFile, set[str]] = {}
        for piece in pieces:
            self._symbols.setdefault(piece.source, set()).add(piece.symbol)
        # Two threads that want two functions of one file would cut it twice.
        self._lock = threading.Lock()

    def of(self, piece: Chosen) -> str:
        """IR text of a piece; an error where its file cannot be read, or the function cannot stand alone."""
        path = self._path(piece.source, piece.symbol)
        with self._lock:
            if not path.exists():
                self._cut(piece.source)
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise IRParseError(f"{piece.name}: the function cannot stand alone") from None

    def _path(self, source: IRFile, symbol: str) -> Path:
        key = hashlib.sha256(f"{source.stamp} {symbol}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
        return self._folder / f"{key}.ll"

    def _cut(self, source: IRFile) -> None:
        """Write all pieces of a file."""
        wanted = self._symbols[source]
        text = _text_of(source.path)
        if "" in wanted:
            self._write(source, "", _PATHS.sub("", text, count=1))
        if wanted != {""}:
            for symbol, module in extract_functions(text):
                if symbol in wanted:
                    self._write(source, symbol, module)

    def _write(self, source: IRFile, symbol: str, text: str) -> None:
        with delivered(self._path(source, symbol)) as part:
            part.write_text(text, encoding="utf-8")


def _text_of(path: Path) -> str:
    """A file's own text, which the LLVM that wrote it reads; bitcode as mirenc's LLVM prints it."""
    contents = read_input(path)
    if contents.kind == "bitcode":
        return read_ir(path).text
    try:
        return contents.data.decode("utf-8")
    except UnicodeDecodeError:
        raise IRParseError(f"{path}: is not UTF-8. Assemble it with llvm-as, and give the bitcode") from None
