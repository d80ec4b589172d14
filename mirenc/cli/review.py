"""Findings where developers look: LLVM's optimisation remarks (``.yaml``), and SARIF for code hosts (``.sarif``)."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import mirenc
from mirenc.base.writing import delivered

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NO_FILE = ("", "-")


class Finding(NamedTuple):
    """What is said of a place: ``words`` are (key, text) in order; a key that is no ``String`` has a value."""

    name: str  # of the kind of finding, one word
    function: str  # symbol
    file: str  # of the source; "" or "-", standard input, where it is in no file
    line: int
    words: Sequence[tuple[str, str]]

    @property
    def text(self) -> str:
        """All that is said."""
        return "".join(text for _, text in self.words)


def remarks(tool: str, findings: Iterable[Finding]) -> str:
    """Records as ``opt-viewer``, ``llvm-opt-report`` and ``llvm-remarkutil`` read them, which know no other quotes."""
    records = []
    for finding in findings:
        lines = ["--- !Analysis", f"Pass: {tool}", f"Name: {finding.name}"]
        if finding.file not in _NO_FILE:
            lines += [f"DebugLoc: {{ File: {_quoted(finding.file)}, Line: {finding.line}, Column: 0 }}"]
        lines += [f"Function: {_quoted(finding.function)}", "Args:"]
        records += [*lines, *(f"  - {key}: {_quoted(text)}" for key, text in finding.words), "..."]
    return "".join(f"{line}\n" for line in records)


def sarif(tool: str, rules: Mapping[str, str], findings: Iterable[Finding]) -> str:
    """A log of SARIF 2.1.0 (OASIS, 2020), all of level note; ``rules`` says in a sentence what each name is.

    A finding in standard input has a function and no file, which the standard allows: code hosts and editors would
    look for one.
    """
    results = []
    for item in findings:
        place: dict[str, object] = {"logicalLocations": [{"name": _unicode(item.function), "kind": "function"}]}
        if item.file not in _NO_FILE:
            region = {"startLine": max(item.line, 1)}
            place["physicalLocation"] = {"artifactLocation": {"uri": uri_of(item.file)}, "region": region}
        note = {"ruleId": item.name, "level": "note", "message": {"text": _unicode(item.text)}, "locations": [place]}
        results.append(note)
    rule_entries = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    driver = {"name": tool, "version": mirenc.__version__, "rules": rule_entries}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=1) + "\n"


def uri_of(path: str) -> str:
    """A path as a reference of RFC 3986, relative if the path is: each byte that has a meaning there is ``%XX``."""
    pure_path = Path(path)
    # A colon in the first part would make that a scheme, so it is encoded, too.
    return pure_path.as_uri() if pure_path.is_absolute() else quote_from_bytes(os.fsencode(pure_path.as_posix()))


def write_findings(path: Path, rules: Mapping[str, str], findings: Sequence[Finding]) -> None:
    """What ``mirenc predict`` found, as remarks (.yaml) or SARIF; ``rules`` says in a sentence what each name is."""
    with delivered(path) as part:
        text = remarks("mirenc", findings) if path.suffix == ".yaml" else sarif("mirenc", rules, findings)
        part.write_text(text, encoding="utf-8", errors="backslashreplace")


def _unicode(text: str) -> str:
    """Text without lone surrogates, which stand for bytes that are no UTF-8, and which readers of JSON refuse."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
