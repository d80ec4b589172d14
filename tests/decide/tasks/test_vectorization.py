"""Loop vectorization as a task: what it decides about, what the code tells, and the way from a table to an answer."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from small_measured import kernel_of, machine_record, sample_of

from mirenc.base.errors import ForeignIRError, TaskError
from mirenc.decide import loop_task
from mirenc.decide.evaluation.evaluate_task import evaluate
from mirenc.decide.features.feature_matrix import build_features, default_rows
from mirenc.decide.features.look_ahead_features import SETTING_NAMES, TRIP_COUNTS
from mirenc.decide.fit import fit_head
from mirenc.decide.tables.measured import MeasuredTable
from mirenc.decide.task_head import TaskHead
from mirenc.decide.tasks.vectorization import Vectorization
from mirenc.encoder import Encoder
from mirenc.llvm import IRModule, ReadOptions, parse_ir, read_ir, regions_of, statements_of
from mirenc.llvm.passes.loop_hint import PLAIN, Hint

TASK = Vectorization()
LOOPS = """\
#include <stddef.h>
float sum(const float *x, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++)
    s += x[i];
  return s;
}
void nest(float *a, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 100; j++)
      a[i] += a[j + 100];
  while (n--)
    a[n] = 1;
}
"""
TEMPLATE = """\
#include <initializer_list>
template <class T> void scale(T *begin, T *end, T by) {
  for (T *here = begin; here != end; ++here)
    *here *= by;
}
template void scale(float *, float *, float);
template void scale(short *, short *, short);
struct Row { int a[64]; };
int total(const Row &row) {
  int all = 0;
  for (int one : row.a)
    all ^= all + one;
  return all;
}
"""


def read(folder: Path, text: str, name: str = "loops.c", *flags: str) -> IRModule:
    path = folder / name
    path.write_text(text)
    return read_ir(path, options=ReadOptions(dialect=TASK.dialect, cflags=flags))


@pytest.mark.needs("C compiler")
def test_innermost_loops_by_line(tmp_path: Path) -> None:
    module = read(tmp_path, LOOPS)
    unknown = {"taken": "unknown", "rarer": "unknown"}
    contexts = {(loop.symbol, loop.line): TASK.context.from_ir(module, loop) for loop in TASK.regions(module)}
    assert contexts == {
        ("sum", 4): {"trip_count": 0, **unknown},
        ("nest", 10): {"trip_count": 100, **unknown},
        ("nest", 12): {"trip_count": 0, **unknown},
    }
    assert TASK.regions(parse_ir("define void @f() {\n  ret void\n}")) == []


@pytest.mark.needs("C compiler")
def test_loops_of_templates_and_ranges(tmp_path: Path, compiler: str) -> None:
    module = read(tmp_path, TEMPLATE, "loops.cpp")
    trip_counts = sorted((loop.line, TASK.context.from_ir(module, loop)["trip_count"]) for loop in TASK.regions(module))
    # clang 14 compares pointers in the last, which `constant_trip_counts` does not follow: not known.
    assert trip_counts == [(3, 0), (3, 0), (11, 0 if compiler == "clang-14" else 64)]


def test_a_trip_count_says_where_it_comes_from() -> None:
    text = IR.format(body="%y = mul i32 %x, 3")
    plain = parse_ir(text)
    assert [TASK.context.ir_sources(plain, loop) for loop in TASK.regions(plain)] == [{}]
    (branch,) = re.findall(r"  br i1 .*", text)
    weighted = parse_ir(text.replace(branch, f"{branch}, !prof !0") + '!0 = !{!"branch_weights", i32 8, i32 8}\n')
    (loop,) = TASK.regions(weighted)
    assert TASK.context.from_ir(weighted, loop) == {"trip_count": 2, "taken": "unknown", "rarer": "unknown"}
    assert TASK.context.ir_sources(weighted, loop) == {"trip_count": "branch weights"}


@pytest.mark.needs("C compiler")
def test_lines_are_no_part_of_what_a_head_sees(tmp_path: Path) -> None:
    with_lines, without = read(tmp_path, LOOPS), read(tmp_path, LOOPS, "loops.c", "-g0")
    assert statements_of(with_lines).texts == statements_of(without).texts
    assert {loop.line for loop in TASK.regions(without)} == {0}
    again = parse_ir(with_lines.text)
    assert [loop.header for loop in regions_of(again, "loop").regions] == [
        loop.header for loop in regions_of(with_lines, "loop").regions
    ]


def test_a_setting_is_a_pragma() -> None:
    assert TASK.directive((0, 0)) == ""
    assert TASK.directive((8, 2)) == "#pragma clang loop vectorize_width(8) interleave_count(2)"
    assert len(TASK.space) == 36
    assert TASK.space.settings[TASK.space.default] == (0, 0)


def test_context() -> None:
    def encoded(*context: object) -> list[float]:
        return TASK.context.encode(context).tolist()  # type: ignore[no-any-return]

    assert encoded(0, 128, 0, 0, "unknown", "unknown") == [0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert encoded(63, 512, 8, 4, 0.9, "unknown") == [1.0, 6.0, 9.0, 1.0, 3.0, 2.0, 1.0, 0.9, pytest.approx(0.1)]
    assert encoded(63, 512, 1, 1, 0.5, 0.25) == [1.0, 6.0, 9.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.25]
    assert TASK.context.parse_question({"vector_bits": "256"}) is None
    known = {"vector_bits": "256", "trip_count": "8"}
    assert TASK.context.parse_question(known) is None
    known |= {"llvm_width": "4", "llvm_count": "2"}
    assert TASK.context.parse_question(known) is None  # the IR may say how often branches are taken
    known |= {"taken": "unknown", "rarer": "unknown"}
    assert TASK.context.parse_question(known) == (8.0, 256.0, 4.0, 2.0, "unknown", "unknown")
    for context in ((-1, 128, 1, 1), (0, 0, 1, 1), (0, 128, -1, 1), (0, 128, 1, 1, -0.5)):
        names = "trip_count|vector_bits|llvm_width|taken"
        with pytest.raises(TaskError, match=rf"context feature '({names})' is .*; allowed: "):
            encoded(*context, *["unknown"] * (6 - len(context)))


def test_what_no_pass_touches_is_refused() -> None:
    text = IR.format(body="%y = mul i32 %x, 3")
    assert TASK.regions(parse_ir(text))
    (line,) = [line for line in text.splitlines() if line.startswith("define")]
    unoptimised = text.replace(line, line.replace("{", "noinline optnone {"))
    with pytest.raises(ForeignIRError, match=r"marked optnone, as -O0 does.* compile with: clang -O1 -fno-vectorize"):
        TASK.regions(parse_ir(unoptimised))


def test_loops_of_functions_that_no_pass_touches_are_left_out() -> None:
    text = IR.format(body="%y = mul i32 %x, 3")
    other = text.replace("@f(", "@g(").replace("{\nentry:", "noinline optnone {\nentry:", 1)
    assert [region.symbol for region in TASK.regions(parse_ir(text + other))] == ["f"]


def test_a_machine_that_is_not_known_assumes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert TASK.context.from_machine() == {}
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert TASK.context.from_machine() == {"vector_bits": "128"}


IR = """define void @f(ptr %p, i64 %n) {{
entry:
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %q = getelementptr i32, ptr %p, i64 %i
  %x = load i32, ptr %q
  {body}
  store i32 %y, ptr %q
  %next = add i64 %i, 1
  %c = icmp eq i64 %next, %n
  br i1 %c, label %out, label %again
out:
  ret void
}}
"""


TRIPLE = 'target triple = "x86_64-unknown-linux-gnu"\n'


def made_table(folder: Path, head: str = "", **context: float) -> Path:
    """Twelve kernels, on two instruction sets: loops that multiply want width 8, the others are LLVM's."""
    kernels, samples = {}, []
    settings = TASK.space.settings
    wide = settings.index((8, 2))
    for number in range(12):
        multiplies = number % 2 == 0
        ir = head + IR.format(body=f"%y = {'mul' if multiplies else 'xor'} i32 %x, {number + 3}")
        region = TASK.regions(parse_ir(ir))[0]
        name = f"k{number}"
        kernels[name] = kernel_of(name, ir, region, {"trip_count": 0, **context}, f"family{number % 3}")
        for part in ("sse2", "avx2"):
            cost = [1.0] * len(settings)
            cost[wide] = 0.5 if multiplies else 2.0
            samples.append(sample_of(name, part, settings, cost, ((1, 1), *settings[1:])))
    folder.mkdir()
    MeasuredTable(machine_record("vectorization", *TASK.space.knobs), kernels, samples).write(folder)
    return folder


def test_a_table_becomes_samples(tmp_path: Path) -> None:
    data = TASK.load(made_table(tmp_path / "table"))
    TASK.check_data(data)
    assert len(data) == 24
    # LLVM's own choice is what the table says that the default became: here no loop was vectorised.
    unknown = ("unknown", "unknown")
    assert {sample.context for sample in data.samples} == {(0, 128, 1, 1, *unknown), (0, 256, 1, 1, *unknown)}
    assert np.unique(TASK.protocol("family").unit(data)).tolist() == ["family0", "family1", "family2"]
    assert len(np.unique(TASK.protocol("structure").unit(data))) == 12
    assert data.samples[0].region is not None
    assert data.samples[0].region.level == "loop"
    assert not any(math.isnan(cost) for cost in data.samples[0].costs)


@pytest.mark.needs("C compiler")
def test_from_a_table_to_an_answer(tmp_path: Path, encoder: Encoder) -> None:
    head = fit_head(TASK, TASK.load(made_table(tmp_path / "table")), encoder)
    path = tmp_path / "loops.c"
    path.write_text(LOOPS)
    answers = head.predict(path, {"vector_bits": 256})
    assert [one.region.line for one in answers if one.region] == [4, 10, 12]
    assert {one.machine for one in answers} == {"a machine"}
    assert all(one.choice in TASK.space.names for one in answers)


def test_what_llvm_would_choose_is_asked_where_it_is_not_given(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = fit_head(TASK, TASK.load(made_table(tmp_path / "table")), encoder)
    bits_asked = []

    def choices(module: IRModule, bits: int) -> dict[tuple[str, str], tuple[int, int]]:
        bits_asked.append(bits)
        return {("f", "%again"): (8, 4)}

    monkeypatch.setattr(loop_task, "vectorizer_choices", choices)
    seen: list[list[object]] = []
    monkeypatch.setattr(
        TASK.context,
        "encode",
        lambda context: seen.append([*context]) or np.zeros(9),  # type: ignore[func-returns-value]
    )
    ir = IR.format(body="%y = mul i32 %x, 3")
    head.predict(ir, {"vector_bits": "256"})
    assert (bits_asked, seen[-1]) == ([256], [0.0, 256.0, 8.0, 4.0, "unknown", "unknown"])
    head.predict(ir, {"vector_bits": "256", "llvm_width": "2", "llvm_count": "1"})
    assert (bits_asked, seen[-1]) == ([256], [0.0, 256.0, 2.0, 1.0, "unknown", "unknown"])


def test_only_rows_with_code_know_what_llvm_would_choose(tmp_path: Path, tiny: Encoder) -> None:
    data = TASK.load(made_table(tmp_path / "table"))
    assert "compiler" in default_rows(TASK, data)
    feature_rows = {row.row: row for row in build_features(TASK, data, ["no_code", "compiler", "histogram"], tiny)}
    assert feature_rows["no_code"].matrix[0].tolist() == [0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    for row in ("compiler", "histogram"):
        assert feature_rows[row].matrix[0, :9].tolist() == [0.0, 0.0, 7.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert feature_rows["compiler"].matrix.shape == (24, 9)


def test_code_is_also_compared_with_the_compilers_own_choice(tmp_path: Path, tiny: Encoder) -> None:
    report = evaluate(TASK, made_table(tmp_path / "table"), encoder=tiny, rows=["no_code", "compiler", "histogram"],
                      protocols=["structure"], seeds=(0,))  # fmt: skip
    choices = {row: report.predictions("structure", row)[0].astype(int) for row in ("compiler", "histogram")}
    paid = report.data.paid
    log_cost = {row: np.log(paid[np.arange(len(paid)), choice]).mean() for row, choice in choices.items()}
    figures = report.figures("structure", "histogram")
    assert figures["speedup_gain_over_compiler"] == pytest.approx(np.exp(log_cost["compiler"] - log_cost["histogram"]))
    low, high = figures["speedup_gain_over_compiler_interval"]
    assert low <= figures["speedup_gain_over_compiler"] <= high
    assert report.figures("structure", "compiler")["speedup_gain_over_compiler"] == 1.0


AHEAD = ["look_ahead", "look_ahead_run", "look_ahead_both", "no_code_run", "histogram_run"]


def test_rows_that_look_ahead_and_are_told_what_the_run_knows(tmp_path: Path, tiny: Encoder) -> None:
    data = TASK.load(made_table(tmp_path / "table", TRIPLE, run_trip_count=48.5))
    assert set(AHEAD) <= set(default_rows(TASK, data))
    rows = {row.row: row for row in build_features(TASK, data, AHEAD, tiny)}
    known_trips, untold = [1.0, np.log2(49.5)], [0.0, 0.0]
    for name, row in rows.items():
        ahead = name.startswith("look_ahead")
        # One that looks ahead is told by its settings.
        expected = known_trips if name.endswith("_run") and not ahead else untold
        assert row.matrix[0, :2].tolist() == pytest.approx(expected)
        assert (row.settings is not None) == ahead
        assert len(row.question_settings or ()) == ahead * (1 if name.endswith("_run") else len(TRIP_COUNTS))
    assert rows["look_ahead"].settings
    assert rows["look_ahead"].question_settings
    trips = SETTING_NAMES.index("log2 of 1 + trip count") - len(SETTING_NAMES)
    counts = {one.features[0, trips] for one in rows["look_ahead"].question_settings}
    assert counts == {np.log2(1 + count) for count in TRIP_COUNTS}
    assert rows["look_ahead"].settings.features[0, trips] == np.log2(49.5)
    assert rows["no_code_run"].matrix[0, 3:].tolist() == 6 * [0]  # nor what LLVM chose, nor branches
    settings = rows["look_ahead"].settings
    assert settings
    # Settings of more than 64 elements are not compiled; each sample has rows of its own for the others.
    allowed = [place for place, (width, count) in enumerate(TASK.space.settings) if width * count <= 64]
    assert [np.flatnonzero(one >= 0).tolist() for one in settings.row] == 24 * [allowed]
    assert len(np.unique(settings.row)) == 24 * len(allowed) + 1
    assert rows["look_ahead_both"].matrix.shape[1] > rows["look_ahead"].matrix.shape[1] > 6
    # The cache has them now, to the bit.
    (again,) = build_features(TASK, data, ["look_ahead"], tiny)
    assert again.settings
    assert np.array_equal(again.settings.features, settings.features)


def test_rows_that_are_told_how_often_branches_are_taken(tmp_path: Path, tiny: Encoder) -> None:
    data = TASK.load(made_table(tmp_path / "table", TRIPLE, run_trip_count=48.5, run_taken=0.9, run_rarer=0.25))
    names = [f"{row}_{suffix}" for row in ("histogram", "look_ahead") for suffix in ("run", "taken", "told")]
    rows = {row.row: row for row in build_features(TASK, data, names, tiny)}
    trips = [1.0, np.log2(49.5)]
    first = SETTING_NAMES.index("known how often branches are taken") - len(SETTING_NAMES)
    for name, expected in (
        ("run", [*trips, 0, 0, 0]),
        ("taken", [0, 0, 1, 0.9, 0.25]),
        ("told", [*trips, 1, 0.9, 0.25]),
    ):
        matrix = rows[f"histogram_{name}"].matrix
        assert matrix[0, [0, 1, 6, 7, 8]].tolist() == pytest.approx(expected)
        # One that looks ahead is told by its settings, beside their code.
        views = rows[f"look_ahead_{name}"].question_settings
        assert views
        assert {tuple(view.features[0, first : first + 3]) for view in views} == {tuple(expected[2:])}
        assert len(views) == (len(TRIP_COUNTS) if name == "taken" else 1)
        # In training, some samples are not: one head serves who knows it and who does not.
        settings = rows[f"look_ahead_{name}"].settings
        assert settings
        assert {tuple(row) for row in settings.features[:, first : first + 3]} == {(0, 0, 0), (1, 0.9, 0.25)}


@pytest.mark.parametrize(
    ("choice", "like"), [((4, 2), Hint(4, 2)), ((1, 1), PLAIN), ((16, 1), None), ((8, 16), None), ((0, 0), None)]
)
def test_the_default_has_the_code_that_was_measured(
    monkeypatch: pytest.MonkeyPatch, choice: tuple[int, int], like: Hint | None
) -> None:
    """LLVM's choice, asked for, where it is narrow and compiled; heads older than branches see LLVM's own."""
    monkeypatch.setattr(loop_task, "look_ahead", lambda module, region, hints, bits: [str(hint) for hint in hints])
    context = (0, 256, *choice, "unknown", "unknown")
    for told, expected in ((context, like), (context[:4], None)):
        codes = TASK.look_ahead(cast(Any, None), cast(Any, object()), told)
        assert codes[0] == str(expected)
        assert codes[1] == str(PLAIN)


def test_a_table_without_runs_has_no_such_rows(tmp_path: Path, tiny: Encoder) -> None:
    data = TASK.load(made_table(tmp_path / "table", TRIPLE))
    assert not [row for row in default_rows(TASK, data) if row.endswith(("_run", "_taken", "_told"))]
    with pytest.raises(TaskError, match="only a run tells"):
        build_features(TASK, data, ["histogram_run"], tiny)


def test_a_head_that_looks_ahead(tmp_path: Path, encoder: Encoder) -> None:
    data = TASK.load(made_table(tmp_path / "table", TRIPLE, run_trip_count=48.5))
    head = fit_head(TASK, data, encoder, row="look_ahead")
    again = TaskHead.load(head.save(tmp_path / "head"), encoder=encoder)
    (one,), (other,) = (
        each.predict(TRIPLE + IR.format(body="%y = mul i32 %x, 99"), {"vector_bits": 256}) for each in (head, again)
    )
    assert one.preference == pytest.approx(other.preference)
    assert one.preference[TASK.space.names[-1]] == 0
    informed, other = (
        again.predict(TRIPLE + IR.format(body="%y = mul i32 %x, 99"), {"vector_bits": 256, "trip_count": count})[0]
        for count in (3, 1000)
    )
    assert informed.preference != other.preference
    (unknown,) = again.predict(IR.format(body="%y = mul i32 %x, 99"), {"vector_bits": 256})
    assert unknown.choice == unknown.default


def test_tables_in_one_folder_and_another_suite(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    first, second = (made_table(folder / name) for name in ("first", "second"))
    record = json.loads((second / "machine.json").read_text())
    (second / "machine.json").write_text(json.dumps(record | {"held_out": True}))
    one, tables = TASK.load(first), TASK.load(folder)
    assert len(tables) == 2 * len(one)
    assert tables.held_out.tolist() == [False] * len(one) + [True] * len(one)
    assert tables.content_hash != one.content_hash
    assert {TASK.protocol(name).only_unit(one) for name in ("structure", "family")} == {""}
    assert TASK.protocol("another_suite").only_unit(one) == "trained on"
    for name in ("structure", "family"):
        tested = np.concatenate([test for _, test in TASK.protocol(name).split(tables, 0)])
        assert sorted(tested.tolist()) == [*range(len(one))]
    # Figures are of the parts that are tested.
    chosen = tables.subset(np.flatnonzero(~tables.held_out | (tables.part == "avx2")))
    chosen = replace(chosen, samples=[replace(one, group=f"{one.group} {one.held_out}") for one in chosen.samples])
    report = evaluate(TASK, chosen, protocols=["another_suite"], rows=["compiler"], seeds=[0])
    assert (report.parts_of("another_suite"), report.parts) == (["avx2"], ["sse2", "avx2"])
    assert report.to_json()["figures"]["another_suite"]["compiler"]["parts"].keys() == {"avx2"}


def test_how_often_branches_are_taken_as_a_question_says_it() -> None:
    facts = {"vector_bits": "256", "llvm_width": "0", "llvm_count": "0", "trip_count": "0"}

    def encoded(**branches: str) -> list[float]:
        return TASK.context.encode(
            TASK.context.parse({**facts, "taken": "unknown", "rarer": "unknown", **branches})
        ).tolist()

    assert encoded()[-3:] == [0, 0, 0]
    assert encoded(taken="0.9")[-3:] == pytest.approx([1, 0.9, 0.1])
    assert encoded(taken="0")[-3:] == [1, 0, 0]
    assert encoded(taken="0.9", rarer="1.5")[-3:] == [1, 0.9, 1.5]
    with pytest.raises(TaskError, match=r"'taken' is 50\.0; it is a share, from 0 to 1"):
        encoded(taken="50")


def test_a_head_that_is_older_than_branches(tmp_path: Path, encoder: Encoder) -> None:
    """It is asked with the features that it knows, and one that it does not know is refused."""
    older = TASK.known_to(TASK.context.names[:4])
    data = TASK.load(made_table(tmp_path / "table", TRIPLE, run_trip_count=48.5))
    data = replace(data, samples=[replace(one, context=one.context[:4]) for one in data.samples])
    folder = fit_head(older, data, encoder, row="look_ahead").save(tmp_path / "head")
    head = TaskHead.load(folder, encoder=encoder)
    (answer,) = head.predict(TRIPLE + IR.format(body="%y = mul i32 %x, 99"), {"vector_bits": 256})
    assert answer.context.keys() == {"trip_count", "vector_bits", "llvm_width", "llvm_count"}
    with pytest.raises(TaskError, match="no context 'taken'"):
        head.predict(TRIPLE, {"vector_bits": 256, "taken": 0.5})


def test_a_trip_count_that_is_known_about() -> None:
    facts = {"vector_bits": "256", "llvm_width": "0", "llvm_count": "0", "taken": "unknown", "rarer": "unknown"}
    contexts = [TASK.context.parse({"trip_count": text, **facts}) for text in ("<8", "<32", "12.5", "0", ">=256")]
    assert [context[0] for context in contexts] == ["<8", "<32", 12.5, 0, ">=256"]
    assert [TASK.iterations(context) for context in contexts[2:4]] == [(12.5,), ()]
    known = [TASK.context.encode(context)[:2].tolist() for context in contexts]
    assert known[3] == [0, 0]
    assert all(one == 1 for one, _ in known[:3])
    for bound, context in ((8, contexts[0]), (32, contexts[1])):
        assert len(TASK.iterations(context)) > 1
        assert max(TASK.iterations(context)) < bound
    assert min(TASK.iterations(contexts[4])) >= 256
    with pytest.raises(TaskError, match="or about: <8, <32, <256, >=256"):
        TASK.context.parse({"trip_count": "<9", **facts})
