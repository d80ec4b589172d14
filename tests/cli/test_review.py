"""Answers as LLVM's remarks and as SARIF: what the screen says stands there, at the same place."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from command_line import Run

from mirenc.cli.review import Finding, remarks, sarif

EXAMPLES = Path(__file__).parents[2] / "examples"
FINDINGS = [
    Finding("loops", "f", "a dir/x.c", 7, [("String", "it's "), ("Width", "8")]),
    Finding("loops", "_ZN1aE", "", 0, [("String", "nowhere")]),
]


def test_remarks_by_hand() -> None:
    first, second = remarks("tool", FINDINGS).split("--- !Analysis\n")[1:]
    assert first == (
        "Pass: tool\nName: loops\nDebugLoc: { File: 'a dir/x.c', Line: 7, Column: 0 }\nFunction: 'f'\nArgs:\n"
        "  - String: 'it''s '\n  - Width: '8'\n...\n"
    )
    assert "DebugLoc" not in second


def test_sarif_by_hand() -> None:
    log = json.loads(sarif("tool", {"loops": "what to do with a loop"}, FINDINGS))
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "tool")
    assert run["tool"]["driver"]["rules"] == [
        {"id": "loops", "shortDescription": {"text": "what to do with a loop"}},
    ]
    first, second = run["results"]
    assert (first["ruleId"], first["level"], first["message"]) == ("loops", "note", {"text": "it's 8"})
    place = first["locations"][0]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "a%20dir/x.c"}, "region": {"startLine": 7}}
    assert place["logicalLocations"] == [{"name": "f", "kind": "function"}]
    assert "physicalLocation" not in second["locations"][0]


# RFC 3986, appendix A: URI-reference, of a file. What the format `uri-reference` of SARIF's schema demands.
PCHAR = r"(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2})"
REFERENCE = re.compile(rf"(?:file://(?:/{PCHAR}*)+|(?!{PCHAR}*:){PCHAR}+(?:/{PCHAR}*)*)", re.ASCII)
PATHS = ["sp ace/ünï/a#b%c?.ll", "a.c", "../up/./b.c", "c:d/e.c", "a%20b.c", '[x]{y}|^`"<>\\.c', "tab\there\nline.c"]


@pytest.mark.parametrize("path", [*PATHS, os.fsdecode(b"latin-\xe9/\xff.c"), "./-", *(f"/{path}" for path in PATHS)])
def test_a_path_is_a_reference_that_gives_it_back(path: str) -> None:
    finding = Finding("loops", "f", path, 1, [("String", "told")])
    (result,) = json.loads(sarif("tool", {}, [finding]))["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert REFERENCE.fullmatch(uri)
    assert os.fsdecode(unquote_to_bytes(uri.removeprefix("file://"))) == str(Path(path))


def test_standard_input_is_no_file(run: Run, tmp_path: Path) -> None:
    text = (EXAMPLES / "insertion_sort.ll").read_bytes()
    target = tmp_path / "x.sarif"
    assert run("predict", "size_after", "-", "-o", target, "-o", tmp_path / "x.opt.yaml", stdin=text).code == 0
    results = json.loads(target.read_text(encoding="utf-8"))["runs"][0]["results"]
    assert len(results) == 3
    assert all(place.keys() == {"logicalLocations"} for one in results for place in one["locations"])
    assert "DebugLoc" not in (tmp_path / "x.opt.yaml").read_text(encoding="utf-8")


def test_what_is_no_utf_8_becomes_escapes() -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    (result,) = json.loads(sarif("tool", {}, [Finding("loops", name, "", 0, [("String", name)])]))["runs"][0]["results"]
    assert result["message"]["text"] == result["locations"][0]["logicalLocations"][0]["name"] == "caf\\xe9"


def test_answers_are_written_beside_the_screen(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("x.opt.yaml", "x.sarif")]
    result = run("predict", "size_after", EXAMPLES / "insertion_sort.ll", "-o", files[0], "-o", files[1])
    assert result.code == 0
    results = json.loads(files[1].read_text(encoding="utf-8"))["runs"][0]["results"]
    names = [one["locations"][0]["logicalLocations"][0]["name"] for one in results]
    assert sorted(names) == ["insertion_sort", "position", "shift_right"]
    for one in results:
        first, *_, last = one["message"]["text"].split("; ")
        assert f": {first}" in result.out
        assert last in result.out + result.err  # whether the code is unlike what the head knows
        assert last.endswith("it was optimised at -O2 or -O3, and the head knows IR of -Oz before any pass")
    yaml = files[0].read_text(encoding="utf-8")
    assert [f"Function: '{name}'" in yaml for name in names] == [True] * 3


def test_other_files_are_refused_before_work(run: Run, tmp_path: Path) -> None:
    words = ("predict", "size_after", EXAMPLES / "saxpy.ll", "-o")
    run(*words, tmp_path / "x.txt").refused("unknown suffix; available: .yaml, .sarif")
    run(*words, tmp_path / "no" / "x.sarif").failed("no")


@pytest.mark.needs("opt-19")
def test_llvm_reads_answers(run: Run, tmp_path: Path) -> None:
    assert run("predict", "size_after", EXAMPLES / "saxpy.ll", "-o", tmp_path / "x.opt.yaml").code == 0
    words = ["llvm-remarkutil-19", "count", "--parser=yaml", "--count-by=remark-name", "--group-by=function"]
    counted = subprocess.run([*words, tmp_path / "x.opt.yaml"], capture_output=True, text=True, check=True).stdout
    assert counted.split()[1:] == ["saxpy,1"]
