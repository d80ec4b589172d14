"""``mirenc diff``: two builds, worked by hand; its reports are read back, LLVM's tools read the remarks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command_line import Run

HELPER = "define i32 @helper(i32 %x) {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n"
CALLS = "define i32 @main(i32 %x) {\n  %y = call i32 @helper(i32 %x)\n  %z = add i32 %y, 1\n  ret i32 %z\n}\n"
INLINED = "define i32 @main(i32 %x) {\n  %y = mul i32 %x, 3\n  %z = add i32 %y, 1\n  ret i32 %z\n}\n"
OTHER = "define void @other(ptr %p) {\n  store i32 0, ptr %p\n  ret void\n}\n"
HEAD = 'target triple = "x86_64-pc-linux-gnu"\n'


@pytest.fixture
def builds(tmp_path: Path) -> tuple[Path, Path]:
    """OLD has a call of a helper, NEW has no helper and another file."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder, files in ((old, {"a.ll": HELPER + CALLS}), (new, {"a.ll": INLINED, "b.ll": OTHER})):
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(HEAD + text, encoding="utf-8")
    return old, new


def test_what_became_of_functions(run: Run, builds: tuple[Path, Path], tmp_path: Path) -> None:
    reports = [tmp_path / f"x.{suffix}" for suffix in ("json", "md", "opt.yaml", "html")]
    outputs = [word for path in reports for word in ("-o", path)]
    printed = run("diff", *builds, *outputs).ok().out
    report = json.loads(reports[0].read_text(encoding="utf-8"))
    assert json.loads(run("diff", *builds, "--json").ok().out) == report
    assert (report["model"], report["old"], report["new"]) == ("mirenc-search", *map(str, builds))
    of = {one["kind"]: one for one in report["functions"]}
    assert set(of) == {"shrank", "vanished", "appeared"}
    assert of["shrank"]["old"]["symbol"] == of["shrank"]["new"]["symbol"] == "main"
    assert of["shrank"]["why"] == ["no longer calls helper"]
    # x86: lea eax, [rdi+2*rdi]; ret is 4 bytes, mov dword ptr [rdi], 0; ret is 7.
    assert [of[kind]["bytes"] for kind in ("vanished", "appeared")] == [-4, 7]
    total = of["shrank"]["bytes"] - 4
    assert {one["file"]: one["bytes"] for one in report["files"]} == {"a.ll": total, "b.ll": 7}
    assert reports[1].read_text(encoding="utf-8").startswith("### ")
    assert f'<p class="total">{total + 7:+d} bytes of code' in reports[3].read_text(encoding="utf-8")
    lines = [line.strip("| ").split() for line in printed.splitlines()]
    assert printed.startswith(f"{builds[0]} -> {builds[1]}: 1 appeared, 1 shrank, 1 vanished\n")
    assert ["+7", "|", "|", "7", "|", "b.ll:", "other", "|", "appeared"] in lines
    assert lines[-1][0] == f"{total + 7:+d}"
    records = reports[2].read_text(encoding="utf-8").split("--- !Analysis\n")[1:]
    assert len(records) == 3
    assert {line for record in records for line in record.splitlines() if line.startswith("Function")} == {
        f"Function: '{name}'" for name in ("main", "helper", "other")
    }


@pytest.mark.needs("opt-19")
def test_llvm_reads_the_remarks(run: Run, builds: tuple[Path, Path], tmp_path: Path) -> None:
    remarks = tmp_path / "x.opt.yaml"
    run("diff", *builds, "-o", remarks).ok()
    words = ["llvm-remarkutil-19", "count", "--parser=yaml", "--count-by=arg", "--args=OldBytes", "--group-by=function"]
    counted = subprocess.run([*words, remarks], capture_output=True, text=True, check=True).stdout
    assert counted.split()[1:] == ["helper,4", "main,10", "other,0"]


def test_forms(run: Run, builds: tuple[Path, Path]) -> None:
    def form_and_reasons(*words: str) -> tuple[str, dict[str, list[str]]]:
        record = json.loads(run("diff", *builds, "--json", *words).ok().out)
        return record["form"], {one["kind"]: one["why"] for one in record["functions"]}

    form, why = form_and_reasons()
    # What is said of functions is that of the IR as it is, in any form.
    assert (form, why["shrank"]) == ("O2", ["no longer calls helper"])
    assert form_and_reasons("--form", "plain") == ("plain", why)
    for path in (builds[0] / "a.ll", *builds[1].iterdir()):
        path.write_text(path.read_text(encoding="utf-8").replace(") {", ") minsize {"), encoding="utf-8")
    assert form_and_reasons()[0] == "Oz"
    assert form_and_reasons("--form", "O1")[0] == "O1"


def test_files_that_fail_are_listed(run: Run, builds: tuple[Path, Path], tmp_path: Path) -> None:
    (builds[1] / "broken.ll").write_text("no IR", encoding="utf-8")
    result = run("diff", *builds)
    assert result.code == 1
    assert "broken.ll" in result.error_lines[0]
    assert "1 of 4 files failed" in result.error_lines[-1]
    assert "1 appeared, 1 shrank, 1 vanished" in result.out
    reports = [tmp_path / f"report.{suffix}" for suffix in ("md", "html", "json")]
    run("diff", *builds, *(word for path in reports for word in ("-o", path)))
    for path in reports:
        assert "broken.ll: line 1, column 1: expected top-level entity" in path.read_text(encoding="utf-8"), path
    (builds[0] / "header.ll").write_text("declare void @f()\n", encoding="utf-8")  # has no function: it did not fail
    assert run("diff", builds[0], builds[0], *(word for path in reports for word in ("-o", path))).code == 0
    assert json.loads(reports[2].read_text(encoding="utf-8"))["failed"] == []
    assert not any("not read" in path.read_text(encoding="utf-8") for path in reports)
    for file in (builds[1] / "a.ll", builds[1] / "b.ll"):
        file.write_text("no IR", encoding="utf-8")
    result = run("diff", *builds)
    assert (result.code, result.out) == (1, "")
    assert "delivered" not in result.err
    assert f"no functions were read from {builds[1]}" in result.error_lines[-1]


def test_names_are_not_needed(run: Run, builds: tuple[Path, Path]) -> None:
    renamed = builds[1] / "a.ll"
    renamed.write_text(HEAD + (HELPER + CALLS).replace("helper", "q").replace("main", "p"), encoding="utf-8")
    functions = json.loads(run("diff", "--hide-names", *builds, "--json").ok().out)["functions"]
    paired = {one["old"]["name"]: one for one in functions if one["old"]}
    assert {name: one["new"]["name"] for name, one in paired.items()} == {"main": "p", "helper": "q"}
    assert {(one["kind"], one["bytes"], tuple(one["why"])) for one in paired.values()} == {("renamed", 0, ())}


def test_where_nothing_moved_no_function_is_listed(run: Run, builds: tuple[Path, Path]) -> None:
    lines = run("diff", builds[0], builds[0]).ok().out.splitlines()
    assert lines[0].endswith(": 2 identical")
    assert [line for line in lines if "function" in line] == []
    assert "| all" in lines[-1]


def test_two_files_are_a_diff_too(run: Run, builds: tuple[Path, Path]) -> None:
    printed = run("diff", builds[0] / "a.ll", builds[1] / "b.ll", "-k", 1).ok().out
    assert "and 2 more" in printed
    assert "| a.ll" not in printed
    run("diff", *builds, "-o", "x.txt").refused("x.txt: unknown suffix; available: .html, .md")


def test_machine_code_that_is_none_is_told(run: Run, builds: tuple[Path, Path]) -> None:
    text = (builds[0] / "a.ll").read_text(encoding="utf-8").replace("x86_64-pc-linux-gnu", "spir64-unknown-unknown")
    (builds[0] / "a.ll").write_text(text, encoding="utf-8")
    result = run("diff", *builds)
    assert (result.code, len(result.error_lines)) == (0, 1)
    assert "a.ll: no sizes: " in result.err
    assert "1 size unknown" in result.out


def test_long_and_odd_names_in_tables(run: Run, tmp_path: Path) -> None:
    long = "f<" + "int, " * 30 + "int>"
    for number, name in enumerate(("old.ll", "new.ll")):
        body = f"%y = add i32 %x, 1\n  %z = {('or', 'sdiv')[number]} i32 %y, 7\n  ret i32 %z"
        callees = [f"callee_{place}" for place in range(9 * number)]
        text = "".join(f"declare void @{callee}()\n" for callee in callees)
        body = "".join(f"call void @{callee}()\n  " for callee in callees) + body
        text += "".join(f'define i32 @"{one}"(i32 %x) {{\n  {body}\n}}\n' for one in (long, "a\\0Ab", "c"))
        (tmp_path / name).write_text(HEAD + text, encoding="utf-8")
    table = run("diff", tmp_path / "old.ll", tmp_path / "new.ll").ok().out.split("\n\n")[1].splitlines()
    assert len({len(row) for row in table}) == 1  # reasons of more than 60 characters go on in rows of their own
    assert sum(row.startswith("|   +") for row in table) == 3  # a line break in a name is none in a row
    assert any(r"| a\nb " in row for row in table)
    assert any("| f<int, " in row and "..." in row and ", int> |" in row for row in table)


CODE = """@.str = private unnamed_addr constant [3 x i8] c"hi\\00"
@.str.1 = private unnamed_addr constant [3 x i8] c"no\\00"
@limit = global i32 10
declare i32 @puts(ptr)
declare i32 @perror(ptr)
define i32 @first(ptr %p) {
  store i32 7, ptr %p
  ret i32 3
}
define i32 @second(i32 %x, i32 %y) {
entry:
  %z = add i32 %x, 8
  %d = sub i32 %z, %y
  %v = load i32, ptr @limit
  %c = icmp slt i32 %d, %v
  br i1 %c, label %yes, label %no
yes:
  %r = call i32 @puts(ptr @.str.1)
  ret i32 %r
no:
  ret i32 %d
}
"""


def kinds(run: Run, tmp_path: Path, new: str) -> dict[str, tuple[str, int, list[str]]]:
    """By the name in NEW: what became of the functions of `CODE`, how many bytes more, and why."""
    for name, text in (("old.ll", CODE), ("new.ll", new)):
        (tmp_path / name).write_text(HEAD + text, encoding="utf-8")
    functions = json.loads(run("diff", tmp_path / "old.ll", tmp_path / "new.ll", "--json").ok().out)["functions"]
    return {one["new"]["name"]: (one["kind"], one["bytes"], one["why"]) for one in functions}


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("%x, 8", "%x, 9", "constants, types, flags or instructions"),
        ("sub i32 %z, %y", "sub i32 %y, %z", "operands or branches"),
        ("label %yes, label %no", "label %no, label %yes", "operands or branches"),
        ("icmp slt", "icmp sle", "constants, types, flags or instructions"),
        ("call i32 @puts", "call i32 @perror", "no longer calls puts; now calls perror"),
        ('c"no', 'c"on', "constants, types, flags or instructions"),
        ("@limit = global i32 10", "@limit = global i32 11", "value of limit"),
        ("%x, i32 %y) {", "%x, i32 %y) nounwind {", "its type or attributes"),
    ],
)
def test_changed_code_is_no_identical_code(run: Run, tmp_path: Path, before: str, after: str, why: str) -> None:
    kind_of = kinds(run, tmp_path, CODE.replace(before, after))
    assert kind_of["first"] == ("identical", 0, [])
    kind, more, reasons = kind_of["second"]
    # An attribute may leave out unwind tables, and branches may be laid out in another way.
    assert kind == ("grew" if more > 0 else "shrank" if more < 0 else "changed")
    assert "; ".join(reasons) == why


def test_what_is_no_change_is_identical(run: Run, tmp_path: Path) -> None:
    """Other local names and labels, other numbers of strings, functions in another order."""
    text = CODE.replace("%x", "%left").replace("yes", "then").replace("entry", "start").replace("%z", "%sum")
    text = text.replace("@.str.1", "@.str.9")
    first, second = text.index("define i32 @first"), text.index("define i32 @second")
    text = text[:first] + text[second:] + text[first:second]
    assert kinds(run, tmp_path, text) == dict.fromkeys(("first", "second"), ("identical", 0, []))


def test_a_new_name_is_listed_where_nothing_else_changed(run: Run, tmp_path: Path) -> None:
    new = CODE.replace("@second", "@zweite").replace("i32 3", "i32 4")
    assert kinds(run, tmp_path, new) == {
        "first": ("changed", 0, ["constants, types, flags or instructions"]),
        "zweite": ("renamed", 0, []),
    }
    lines = run("diff", tmp_path / "old.ll", tmp_path / "new.ll", "-o", tmp_path / "x.opt.yaml").ok().out.splitlines()
    assert lines[0].endswith(": 1 changed, 1 renamed")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "first" in line or "zweite" in line]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        ("+0", "first", "changed"),
        ("+0", "second -> zweite", "renamed"),
    ]
    remarks = (tmp_path / "x.opt.yaml").read_text(encoding="utf-8").split("--- !Analysis\n")[1:]
    assert [line for each in remarks for line in each.splitlines() if line.startswith("Name:")] == [
        "Name: Changed",
        "Name: Renamed",
    ]


def test_identical_functions_are_no_remarks(run: Run, builds: tuple[Path, Path], tmp_path: Path) -> None:
    run("diff", builds[0], builds[0], "-o", tmp_path / "x.opt.yaml").ok()
    assert "Analysis" not in (tmp_path / "x.opt.yaml").read_text(encoding="utf-8")
