"""The manifest of a corpus: one row a module, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

__all__ = ["ModuleInfo", "manifest_csv", "read_manifest"]


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """One row of the manifest.

    Attributes
    ----------
    name : str
        Path of the IR below the corpus's root.
    project, version, file, language, opt_level, compiler : str
        Where it comes from; "" where nobody said.
    content_hash : str
        SHA-256 of the canonical text.
    functions, instructions, statements, nodes, edges : int
        ``nodes`` and ``edges`` count the whole graph, also where the corpus leaves the graph out.
    """

    name: str
    project: str
    version: str
    file: str
    language: str
    opt_level: str
    compiler: str
    content_hash: str
    functions: int
    instructions: int
    statements: int
    nodes: int
    edges: int


_NUMBERS = {field.name for field in fields(ModuleInfo) if field.type == "int"}


def manifest_csv(infos: Sequence[ModuleInfo]) -> str:
    """The manifest's text."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [field.name for field in fields(ModuleInfo)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(info) for info in infos)
    return stream.getvalue()


def read_manifest(text: str) -> list[ModuleInfo]:
    """What `manifest_csv` wrote."""
    infos = []
    for row in csv.DictReader(io.StringIO(text)):
        values: dict[str, Any] = {key: int(value) if key in _NUMBERS else value for key, value in row.items()}
        infos.append(ModuleInfo(**values))
    return infos
