"""``mirenc evaluate``, ``mirenc fit`` and ``mirenc predict``: tables, records, heads, and what goes wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from small_task import TASK_FILE, write_task

from mirenc.decide.prediction import Evidence, Record
from mirenc.decide.registry import get_task
from mirenc.decide.task_head import TaskHead

EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.ll"
QUICK = ("--model", "mirenc-tiny", "--seeds", 2, "--row", "no_code", "--row", "both")


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("task"))


def test_a_table_has_every_row_and_says_what_it_is_made_of(run: Run, task: Path) -> None:
    result = run("evaluate", "--task-file", task, "--protocol", "kernel", *QUICK)
    assert result.code == 0
    for words in ("by kernel", "default", "best single setting", "majority label", "no code", "embedding, both"):
        assert words in result.out
    assert "24 samples, 12 groups, 2 seeds; model mirenc-tiny" in result.out
    assert "warning" not in result.err


def test_json_has_figures_answers_and_hashes(run: Run, task: Path) -> None:
    records = json.loads(run("evaluate", "--task-file", task, "--json", *QUICK).out)
    assert [list(record["protocols"]) for record in records] == [["rows"], ["kernel"]]
    record = records[1]
    assert len(record["data_hash"]) == 64
    assert len(record["model"]["digest"]) == 64
    figures = record["figures"]["kernel"]["both"]
    assert figures["accuracy"] > record["figures"]["kernel"]["majority"]["accuracy"]
    seed = record["protocols"]["kernel"]["seeds"]["1"]
    assert len(seed["rows"]["both"]["said"]) == len(seed["fold"]) == 24
    assert record["settings"] == ["narrow", "wide"]
    assert len(seed["rows"]["both"]["heads"]) == 3


def test_records_and_pictures_are_written(run: Run, task: Path, tmp_path: Path) -> None:
    result = run("evaluate", "--task-file", task, "-p", "kernel", *QUICK, "-o", tmp_path, "--plot", tmp_path)
    assert result.code == 0
    assert json.loads((tmp_path / "kernel.json").read_text())["task"] == "widths"
    assert (tmp_path / "kernel.svg").read_text().startswith("<?xml")


@pytest.fixture(scope="module")
def head(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A head of the task, and what `mirenc fit` said of it."""
    import mirenc
    from mirenc.decide.fit import fit_head
    from mirenc.decide.registry import get_task

    problem = get_task(task)
    trained = fit_head(problem, problem.load(), mirenc.load("mirenc-tiny", cache=False))
    return trained.save(tmp_path_factory.mktemp("fitted") / "head")


def test_a_head_is_fitted_and_asked(run: Run, task: Path, tmp_path: Path) -> None:
    fitted = run("fit", "--task-file", task, "-o", tmp_path / "head", "--model", "mirenc-tiny")
    assert fitted.code == 0
    assert fitted.out == ""
    assert "held-out answers were " in fitted.err
    assert "as those of a head that sees no code" in fitted.err
    assert f"wrote {tmp_path / 'head'}" in fitted.err
    words = ("--context", "length=64", "--head", tmp_path / "head", "--json")
    answer = run("predict", "--task-file", task, EXAMPLE, *words)
    assert answer.code == 0
    line = json.loads(answer.out)
    assert line["context"] == {"length": 64}
    assert {line["choice"], line["preferred"], line["default"]} <= {"narrow", "wide"}
    assert set(line["preference"]) == set(line["cost_ratio"]) == {"narrow", "wide"}
    assert line["choice"] == (line["preferred"] if line["evidence"]["pays"] else line["default"])
    for worth, interval in (("worth", "interval"), ("no_code", "no_code_interval")):
        low, high = line["evidence"][interval]
        assert low <= line["evidence"][worth] <= high
    for flag in ("--look-ahead", "--no-look-ahead"):
        refused = run("predict", "--task-file", task, EXAMPLE, *words, flag)
        assert "--look-ahead and --no-look-ahead are for shipped heads" in refused.err
    none = run("predict", "--task-file", task, EXAMPLE, "--context", "length=64")
    assert "no head for widths is shipped. Type: mirenc fit --task-file FILE.py -o FOLDER" in none.err
    assert line["far"]
    assert "the code or its context is unlike what the head was trained on" in answer.err


def test_an_answer_says_what_such_answers_were_worth(run: Run, task: Path, head: Path) -> None:
    words = ("predict", "--task-file", task, EXAMPLE, "--context", "length=4096", "--head", head)
    line = json.loads(run(*words, "--json").out)
    printed = run(*words).out.splitlines()
    if line["evidence"]["pays"]:
        assert printed[0] == f"{EXAMPLE}: width {line['choice']}"
    else:
        assert printed[0] == f"{EXAMPLE}: no evidence for any width but the default, narrow"
        preferred = "the default, too" if line["preferred"] == "narrow" else line["preferred"]
        assert printed[1].endswith(f"it prefers {preferred}")


WORTH = (1.4, 1.2, 1.6)
FASTER, SLOWER, SAFE = ((Record(0.5, 25, 0.6, *one),) for one in ((0.4, 1.25), (0.4, 0.77), (0.1, 1.25)))


@pytest.mark.parametrize(
    ("evidence", "choice", "expected"),
    [
        (
            Evidence("default", WORTH, other=FASTER, no_code=(1.1, 1.05, 1.2)),
            "wide",
            [
                (
                    " times as fast; 25 answers about as sure on unseen kernels were 1.25 times as fast as the default"
                    "; 60 % chose the best setting, 40 % were slower than the default"
                ),
                "the code matters: answers were 1.100 [1.050, 1.200] times as fast as those of a head",
            ],
        ),
        (
            Evidence("default", WORTH, other=FASTER, no_code=(1.004, 0.964, 1.05)),
            "wide",
            ["were 1.25 times", "no evidence that the code matters: answers were 1.004 [0.964, 1.050] times"],
        ),
        (
            Evidence("default", WORTH, other=SLOWER, no_code=WORTH),
            "narrow",
            [
                (
                    "keep the default, narrow: the head prefers wide, but 25 answers about as sure on unseen kernels "
                    "were 0.77 times as fast as the default; 60 % chose the best setting, 40 % were slower"
                ),
                "the code matters",
            ],
        ),
        (Evidence("default", WORTH, other=SAFE), "wide", ["follow it: expected", "preference"]),
        (
            Evidence("default", WORTH, other=FASTER),
            "wide",
            ["measure first: expected", "preference"],
        ),  # an older release's
        (
            Evidence("default", (1.4, 0.9, 1.6), no_code=WORTH),
            "narrow",
            ["keep the default: on unseen kernels this head's"],
        ),
        (
            Evidence("best single setting", (1.0, 0.9, 1.1), constants=(("wide",),), constant_worth=WORTH),
            "wide",
            [
                "follow it: on unseen kernels it was 1.40 [1.20, 1.60] times as fast as the default",
                "this head's answers were 1.00 [0.90, 1.10] times as fast as the",
            ],
        ),
        (
            Evidence("best single setting", (1.0, 0.9, 1.1), constants=(("wide",),), constant_worth=(1.4, 0.9, 1.6)),
            "narrow",
            ["on unseen kernels this head's"],
        ),
    ],
)
def test_an_answer_says_whether_the_code_matters_and_why_it_is_the_default(
    run: Run, task: Path, head: Path, tmp_path: Path, evidence: Evidence, choice: str, expected: list[str]
) -> None:
    source = tmp_path / "kernel.ll"  # of many products, for which the task's samples say wide
    body = "".join(f"  %v{step} = mul i32 %x, {40 + step}\n" for step in range(6))
    source.write_text(f"define i32 @g(i32 %x) {{\n{body}  ret i32 %v5\n}}\n")
    replace(TaskHead.load(head, get_task(task)), evidence=evidence).save(tmp_path / "head")
    words = ("predict", "--task-file", task, source, "--context", "length=4096", "--head", tmp_path / "head")
    line = json.loads(run(*words, "--json").out)
    assert (line["preferred"], line["choice"]) == ("wide", choice)
    assert (line["evidence"]["pays"], line["evidence"]["code_matters"]) == (evidence.pays, evidence.code_matters)
    assert line["evidence"]["no_code"] == (None if evidence.no_code is None else evidence.no_code[0])
    lines = run(*words).out.splitlines()
    if evidence.pays:
        assert lines[0] == f"{source}: width {choice}"
    elif evidence.constant_pays:
        assert lines[0] == f"{source}: always width wide: no evidence that choosing by the code is better"
        assert line["evidence"]["constant"] == 1.4
    else:
        assert lines[0] == f"{source}: no evidence for any width but the default, narrow"
    assert len(lines) > len(expected)
    for line_told, part in zip(lines[1:], expected, strict=False):
        assert part in line_told


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        (("fit", "device_mapping"), "name a folder for the head", 2),
        (("fit", "-o", "head"), "give the name of a task", 2),
        (("fit", "device_mapping", "-o", EXAMPLE), "is a file, or is below one. Name a folder", 1),
        (("fit", "device_mapping", "-o", "head", "--row", "no_code"), "available: text, graph, both", 1),
        (("fit", "device_mapping", "-o", "head", "--variant", "intel"), "available: nvidia, amd", 1),
        (("predict",), "give the name of a task", 2),
        (("predict", "device_mapping"), "give the files to answer for", 2),
    ],
)
def test_a_head_that_cannot_be_had_says_why(run: Run, words: tuple[object, ...], complaint: str, code: int) -> None:
    result = run(*words)
    assert result.code == code
    assert complaint in result.err


def test_a_record_is_gone_on_from(run: Run, task: Path, tmp_path: Path) -> None:
    words = (
        "evaluate",
        "--task-file",
        task,
        "-p",
        "kernel",
        "--model",
        "mirenc-tiny",
        "--row",
        "no_code",
        "-o",
        tmp_path,
    )
    run(*words, "--seeds", 1)
    first = json.loads((tmp_path / "kernel.json").read_text())
    # Answers no head would give show whether they were taken or made again.
    row = first["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]
    marked = [1 - choice for choice in row["said"]]
    row["said"] = marked
    (tmp_path / "kernel.part.json").write_text(json.dumps(first))
    result = run(*words, "--seeds", 2, "--resume")
    assert result.code == 0
    second = json.loads((tmp_path / "kernel.json").read_text())
    assert second["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]["said"] == marked
    assert list(second["protocols"]["kernel"]["seeds"]) == ["0", "1"]
    assert [path.name for path in tmp_path.iterdir()] == ["kernel.json"]
    run(*words, "--seeds", 1)
    again = json.loads((tmp_path / "kernel.json").read_text())
    assert again["protocols"]["kernel"]["seeds"]["0"]["rows"]["no_code"]["said"] != marked


def test_going_on_needs_a_folder_and_its_own_records(run: Run, task: Path, tmp_path: Path) -> None:
    result = run("evaluate", "--task-file", task, *QUICK, "--resume")
    assert result.code == 2
    assert "--output" in result.err
    (tmp_path / "rows.json").write_text("{")
    result = run("evaluate", "--task-file", task, *QUICK, "--resume", "-o", tmp_path)
    assert result.code == 1
    assert "rows.json cannot be read" in result.err


def test_one_bad_kernel_does_not_lose_the_others(run: Run, task: Path, head: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ll"
    broken.write_text("define i32 @f( {\n")
    result = run("predict", "--task-file", task, broken, EXAMPLE, "--context", "length=64", "--head", head)
    assert result.code == 1
    assert f"{EXAMPLE}: " in result.out
    assert "broken.ll" not in result.out
    assert "broken.ll" in result.err
    assert "1 of 2 files failed" in result.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("evaluate", "device_maping"), "Did you mean 'device_mapping'"),
        (("evaluate", "--task-file", "nowhere.py"), "does not exist"),
        (("evaluate", "device_mapping", "--variant", "intel"), "available: nvidia, amd"),
        (("evaluate", "device_mapping", "-p", "papers"), "available: paper, kernel, suite"),
        (("predict", "thread_coarsening", EXAMPLE, "--context", "gpu=h100"), "'gpu' is 'h100'; allowed: HD5900"),
        (("predict", "device_mapping", EXAMPLE), "also needs 'transfer', 'wgsize'"),
        (("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=-2"), "'wgsize' is '-2'"),
        (
            ("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=2", "--head", "nowhere"),
            "no shipped head; available: ",
        ),
        (("predict", "device_mapping", EXAMPLE, "--context", "transfer=1,wgsize=2", "--variant", "x"), "available: "),
    ],
)
def test_wrong_words_are_one_line(run: Run, words: tuple[object, ...], complaint: str) -> None:
    result = run(*words)
    assert result.code == 1
    assert complaint in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("device_mapping", "--task-file", "widths.py")])
def test_a_task_is_named_once(run: Run, words: tuple[str, ...]) -> None:
    result = run("evaluate", *words)
    assert result.code == 2
    assert "--task-file FILE.py" in result.err


def test_a_malformed_context_is_wrong_usage(run: Run) -> None:
    result = run("predict", "device_mapping", EXAMPLE, "--context", "transfer")
    assert result.code == 2
    assert "NAME=VALUE" in result.err


def test_bad_costs_name_the_sample(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(TASK_FILE.replace("(1.0, wide)", "(1.0, -wide)"))
    result = run("evaluate", "--task-file", path, *QUICK)
    assert result.code == 1
    assert "sample 0 (k0/8): the cost of 'wide' is -2.0" in result.err


def test_missing_data_say_where_to_get_them(run: Run, tmp_path: Path) -> None:
    result = run("evaluate", "device_mapping", "--data", tmp_path)
    assert result.code == 1
    assert "mirenc datasets fetch device_mapping" in result.err


def test_ir_is_given_to_a_table_that_comes_without(run: Run, tmp_path: Path) -> None:
    columns = ["-O3_32_2_2_scatter_0_0_ori", "-O3_16_1_1_compact_0_0_loc", "-O3_64_2_2_compact_1_0_loc"]
    regions = [f"__cere__{program}_f_{line}" for program in ("cg", "ft", "lu") for line in (1, 2)]
    lines = [";".join(["regions", *columns])] + [
        f"{region};3.0;{2 + row};{7 - row};" for row, region in enumerate(regions)
    ]
    (tmp_path / "values_conf1_time_med.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "ir").mkdir()
    evaluation = (
        "evaluate",
        "numa_prefetch",
        "--data",
        tmp_path,
        "-p",
        "program",
        "--model",
        "mirenc-tiny",
        "--seeds",
        1,
    )
    without = run(*evaluation)
    assert without.code == 0
    assert "best of 3, no model" in without.out
    assert "embedding" not in without.out
    assert "mirenc: warning: protocol 'program' tests 3 groups; 6 are needed" in without.err
    refused = run(*evaluation, "--row", "both")
    assert refused.code != 0
    assert "--ir-dir DIR" in refused.err
    for number, region in enumerate(regions):
        body = "".join(f"  %v{step} = add i32 %x, {step}\n" for step in range(number + 1))
        (tmp_path / "ir" / f"{region}.ll").write_text(f"define i32 @f(i32 %x) {{\n{body}  ret i32 %x\n}}\n")
    result = run(*evaluation, "--row", "both", "--ir-dir", tmp_path / "ir")
    assert result.code == 0
    assert "embedding, both" in result.out
    head = tmp_path / "head"
    fitted = run("fit", "numa_prefetch", "-d", tmp_path, "--ir-dir", tmp_path / "ir", "-m", "mirenc-tiny", "-o", head)
    assert fitted.code == 0
    answer = run("predict", "numa_prefetch", tmp_path / "ir" / f"{regions[0]}.ll", "--head", head, "-m", "mirenc-tiny")
    assert answer.code == 0


LOOP = """target triple = "x86_64-unknown-linux-gnu"
define void @f(ptr noalias %p, ptr noalias %r, i64 %n) {
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %q = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %q
  %y = fmul float %x, 3.0
  %s = getelementptr float, ptr %r, i64 %i
  store float %y, ptr %s
  %next = add nuw nsw i64 %i, 1
  %c = icmp eq i64 %next, %n
  br i1 %c, label %out, label %again
out:
  ret void
}
"""


def test_a_loop_is_looked_at_under_each_setting(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "loop.ll"
    path.write_text(LOOP)

    def ask(*words: str) -> dict[str, Any]:
        result = run("predict", "vectorization", path, "--json", *words)
        assert result.code == 0
        answer: dict[str, Any] = json.loads(result.out)
        return answer

    short, long = (ask("-c", f"vector_bits=256,trip_count={count}") for count in ("3", "100000"))
    assert short["context"]["trip_count"] == 3
    # Three iterations leave a vector body of eight unused: a narrower one is expected to be faster than LLVM's.
    widths = [int(one["preferred"].split()[0].partition("=")[2]) for one in (short, long)]
    assert 0 < widths[0] <= 4
    assert short["gain"] > long["gain"]
    assert ask("--look-ahead", "-c", "vector_bits=256,trip_count=<8")["context"]["trip_count"] == "<8"
    for words, trip_count in (
        ("", "trip count not known"),
        (",trip_count=<8", "trip count <8"),
        (",trip_count=13.5", "13.5"),
    ):
        assert trip_count in run("predict", "vectorization", path, "-c", f"vector_bits=256{words}").out
    monkeypatch.setattr("mirenc.decide.loop_task.look_ahead", None)
    quick = ask("--no-look-ahead", "-c", "vector_bits=256")
    # Of a large function nobody waits for it, unless told to.
    monkeypatch.setattr("mirenc.decide.task_head.LARGE", 5)
    assert ask("-c", "vector_bits=256") == quick
    failed = run("predict", "vectorization", path, "--look-ahead", "-c", "vector_bits=256")
    assert failed.code == 1
    assert (
        "a fault of mirenc ended it while it was worked on (TypeError: 'NoneType' object is not callable)" in failed.err
    )
    # A call is nothing that LLVM vectorises: nobody looks, and it is left alone.
    path.write_text(LOOP.replace("fmul float %x, 3.0", "call float @next(float %x)") + "declare float @next(float)\n")
    alone = ask("-c", "vector_bits=256,trip_count=3")
    assert alone["choice"] == alone["preferred"] == alone["default"]
    assert alone["fixed"]
    # A long name is shortened where people read it.
    path.write_text(path.read_text(encoding="utf-8").replace("@f(", f"@f{'x' * 300}("))
    out = run("predict", "vectorization", path, "-c", "vector_bits=256").out
    assert "every setting compiles to the same code" in out
    assert "xxx...xxx" in out
    assert "x" * 80 not in out


def test_a_task_that_does_not_look_ahead(run: Run) -> None:
    result = run("predict", "device_mapping", EXAMPLE, "--look-ahead", "--context", "transfer=1,wgsize=1")
    assert result.code == 1
    assert "task device_mapping does not look ahead. Leave --look-ahead out" in result.err
