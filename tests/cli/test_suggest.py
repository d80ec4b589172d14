"""``mirenc suggest``: lists with their commands, what to expect of them, a trial, and what goes wrong."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run
from small_compiled import LISTS, ir_of, write_small_table

import mirenc
from mirenc.ir import parse_ir
from mirenc.passes.find import find_engine
from mirenc.tasks import fit_head, get_task, load_task_head
from mirenc.tasks.trying import Trial

SIZE = "attributes #0 = { minsize optsize }\n"


def trial(gain: float, idle: float) -> Trial:
    return Trial(0.0, 230, (2, 1), (0.98, 0.99), (gain, gain), (idle, idle))


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A head of the small table, and copies that remember other held-out answers."""
    folder = tmp_path_factory.mktemp("heads")
    (folder / "table").mkdir()
    write_small_table(folder / "table", projects=8, each=6)
    task = get_task("pass_list")
    trained = fit_head(task, task.load(folder / "table"), mirenc.load("mirenc-tiny", cache=False))
    found = {}
    for name, trials in {
        "fitted": trained.evidence.trials,
        "useful": {"module": (trial(1.021, 0.41),), "function": (trial(1.1, 0.2),)},
        "idle": {"module": (trial(1.004, 0.94),)},
    }.items():
        found[name] = replace(trained, evidence=replace(trained.evidence, trials=trials)).save(folder / name)
    return found


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "code.ll"
    path.write_text(ir_of(4).replace(") {", ") #0 {") + SIZE, encoding="utf-8")
    return path


def test_lists_come_with_their_commands_and_what_to_expect(run: Run, heads: dict[str, Path], code: Path) -> None:
    found = run("suggest", code, "-k", 1, "--head", heads["useful"]).ok()
    first, second, expected, command = found.out.splitlines()
    assert first == f"{code}: trying 1 list is expected to save 2.1 % over -Oz"
    assert second == "  as on 230 held-out answers like this; on 41 % of them less than 0.5 % was won"
    assert expected.startswith("  1. size x ")
    assert expected.endswith(" expected; lists of this rank on held-out code like this: x 0.980")
    assert command.strip() in {
        f"opt -relocation-model=pic -passes='{one.pipeline}' {code} -o code.opt.bc" for one in LISTS[1:]
    }


def test_json_has_everything(run: Run, heads: dict[str, Path], code: Path) -> None:
    found = json.loads(run("suggest", code, "-k", 9, "--head", heads["useful"], "--json").ok().out)
    assert [one["held_out"] for one in found["lists"]] == [0.98, 0.99]
    # In the record's order, whatever the head expects of each.
    pipelines = [setting for (setting,) in load_task_head(heads["useful"]).space.settings]
    assert [one["pipeline"] for one in found["lists"]] == [pipelines[2], pipelines[1]]
    assert (found["nothing_to_gain"], found["expected_gain"], found["held_out_answers"]) == (False, 1.021, 230)
    assert "oz" not in found
    assert found["llvm"] == "19.1.7"  # of the table


def test_nothing_to_gain_is_said_with_how_often_that_is_right(run: Run, heads: dict[str, Path], code: Path) -> None:
    out = run("suggest", code, "--head", heads["idle"]).ok().out
    assert out.splitlines()[:2] == [
        f"{code}: nothing to gain here: trying 2 lists is expected to save 0.40 % over -Oz",
        "  right for 94 % of 230 held-out answers like this (less than 0.5 % was won)",
    ]
    assert json.loads(run("suggest", code, "--head", heads["idle"], "--json").ok().out)["nothing_to_gain"]


def test_a_fitted_head_knows_what_its_own_held_out_answers_won(run: Run, heads: dict[str, Path], code: Path) -> None:
    # 35 functions of seven projects for training; modules are too few for a record.
    out = run("suggest", code, "--function", "f4", "--head", heads["fitted"]).ok().out
    assert "f4: trying 2 lists is expected to save" in out
    found = run("suggest", code, "--head", heads["fitted"]).ok().out
    assert "what trying them is worth was not measured: the head has too few held-out answers" in found


def test_without_a_head_the_shipped_one_answers(run: Run, code: Path) -> None:
    answer = run("suggest", code, "-k", 3, "--json")
    assert answer.code == 0
    assert "unlike what the head was trained on" in answer.err  # nobody writes a run of additions
    found = json.loads(answer.out)
    assert len(found["lists"]) == 3
    assert found["llvm"].startswith("19.")
    assert found["held_out_answers"] >= 20


def test_what_cannot_be_done_is_refused(run: Run, heads: dict[str, Path], code: Path, tmp_path: Path) -> None:
    run("suggest", code, "--head", heads["idle"], "-o", tmp_path / "best.ll").refused("add --try")
    run("suggest", code, "-k", 0, "--head", heads["idle"]).refused("greater than or equal to 1")
    run("suggest", code, "--head", heads["idle"], "--try", "-o", tmp_path / "best.o").failed(
        "unknown suffix; available: .bc, .ll"
    )
    run("suggest", code, "--head", heads["idle"], "--function", "other").failed("no function 'other'", "it has f4")
    run("suggest", tmp_path / "none.ll", "--head", heads["idle"]).failed("none.ll")


def test_a_weak_baseline_is_a_warning(run: Run, heads: dict[str, Path], tmp_path: Path) -> None:
    plain = tmp_path / "plain.ll"
    plain.write_text(ir_of(4), encoding="utf-8")
    found = run("suggest", plain, "--head", heads["idle"])
    assert found.code == 0
    assert "-Oz of this IR is the weak baseline" in found.err


@pytest.mark.needs("libLLVM 19")  # as the table's
def test_a_trial_tells_bytes_and_writes_the_best(run: Run, heads: dict[str, Path], code: Path, tmp_path: Path) -> None:
    text, bitcode = tmp_path / "best.ll", tmp_path / "best.bc"
    found = json.loads(run("suggest", code, "--head", heads["useful"], "--try", "--json", "-o", text).ok().out)
    assert found["before"] > found["oz"] >= found["best"] > 0
    assert found["saved"] == found["oz"] - found["best"]
    assert found["best"] == min(found["oz"], *(one["code_bytes"] for one in found["lists"]))
    out = run("suggest", code, "--head", heads["useful"], "--try", "-o", bitcode).ok().out
    assert f"{found['oz']} bytes by -Oz" in out
    assert "best: " in out
    # Six additions of one number are one.
    for path in (text, bitcode):
        assert parse_ir(path.read_bytes()).instruction_count == 2


@pytest.mark.needs("C compiler")
def test_commands_have_the_users_flags(run: Run, heads: dict[str, Path], tmp_path: Path) -> None:
    source = tmp_path / "code.c"
    source.write_text("int f(int x) { return x + NUMBER; }\n", encoding="utf-8")
    flags = "-DNUMBER='(1 + 2)'"
    asked = ("suggest", source, "-k", 1, "--head", heads["useful"], f"--cflags={flags}")
    prepare = f" {shlex.quote('-DNUMBER=(1 + 2)')} {source} -o code.ll"
    assert json.loads(run(*asked, "--json").out)["prepare"].endswith(prepare)
    (line,) = (line for line in run(*asked).out.splitlines() if line.startswith("  first: "))
    assert line.endswith(prepare)


@pytest.mark.needs("libLLVM")
def test_a_trial_in_another_llvm_is_told(run: Run, heads: dict[str, Path], code: Path, tmp_path: Path) -> None:
    with find_engine(["default<Oz>"]) as engine:
        here = engine.version
    head = replace(load_task_head(heads["useful"]), llvm="15.0.6").save(tmp_path / "head")
    found = run("suggest", code, "--head", head, "--try")
    assert found.code == 0
    assert "best: " in found.out
    assert found.err.splitlines() == [
        f"mirenc: warning: promises are of LLVM 15.0.6, lists run in LLVM {here}. Type: apt-get install libllvm15"
    ]
    # A head of an older release does not say.
    silent = replace(load_task_head(heads["useful"]), llvm="").save(tmp_path / "silent")
    run("suggest", code, "--head", silent, "--try").ok()
