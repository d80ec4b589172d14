"""Findings where developers look: LLVM's optimisation remarks (``.yaml``), and SARIF for code hosts (``.sarif``)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import mirenc
from mirenc.writing import delivered

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Finding(NamedTuple):
    """What is said of a place: ``words`` are (key, text) in order; a key that is no ``String`` has a value."""

    name: str  # of the kind of finding, one word
    function: str  # symbol
    file: str  # of the source; "" where nobody knows
    line: int
    words: Sequence[tuple[str, str]]

    @property
    def text(self) -> str:
        """All that is said."""
        return "".join(text for _, text in self.words)


def remarks(tool: str, findings: Iterable[Finding]) -> str:
    """Records as ``opt-viewer``, ``llvm-opt-report`` and ``llvm-remarkutil`` read them, which know no other quotes."""
    records = []
    for one in findings:
        lines = ["--- !Analysis", f"Pass: {tool}", f"Name: {one.name}"]
        lines += [f"DebugLoc: {{ File: {_quoted(one.file)}, Line: {one.line}, Column: 0 }}"] if one.file else []
        lines += [f"Function: {_quoted(one.function)}", "Args:"]
        records += [*lines, *(f"  - {key}: {_quoted(text)}" for key, text in one.words), "..."]
    return "".join(f"{line}\n" for line in records)


def sarif(tool: str, rules: Mapping[str, str], findings: Iterable[Finding]) -> str:
    """A log of SARIF 2.1.0 (OASIS, 2020), all of level note; ``rules`` says in a sentence what each name is."""
    results = []
    for one in findings:
        place: dict[str, object] = {"logicalLocations": [{"name": one.function, "kind": "function"}]}
        if one.file:
            path = Path(one.file)
            uri = path.as_uri() if path.is_absolute() else path.as_posix()
            region = {"startLine": max(one.line, 1)}
            place["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": region}
        said = {"ruleId": one.name, "level": "note", "message": {"text": one.text}, "locations": [place]}
        results.append(said)
    named = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    driver = {"name": tool, "version": mirenc.__version__, "rules": named}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=1) + "\n"


def write_findings(path: Path, named: Mapping[str, str], findings: Sequence[Finding]) -> None:
    """What ``mirenc predict`` found, as remarks (.yaml) or SARIF; ``named`` says in a sentence what each name is."""
    with delivered(path) as part:
        text = remarks("mirenc", findings) if path.suffix == ".yaml" else sarif("mirenc", named, findings)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
