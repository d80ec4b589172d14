"""OpenMP pragmas in a source text: found in code alone, told other clauses, and left as they were."""

from __future__ import annotations

import pytest
from small_programs import PARALLEL_LOOPS as SOURCE

from mirenc.base.errors import TaskError
from mirenc.decide.tasks.openmp import clauses
from mirenc.tools.measure.openmp import function_span, parallel_loops, with_clauses


def test_only_code_has_pragmas() -> None:
    text = (
        "/* a comment\n#pragma omp parallel for\n*/\n"
        "// one more \\\n#pragma omp parallel for\n"
        "  #  pragma omp parallel \\\n  for simd // as wide as it goes\n"
        "#pragma omp parallel\n#pragma omp for\n"
    )
    ((line, place),) = parallel_loops(text).items()
    assert (line, text[place]) == (6, "  #  pragma omp parallel \\\n  for simd")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#pragma omp parallel for", "#pragma omp parallel for X"),
        ("#pragma omp parallel for schedule(static)", "#pragma omp parallel for X"),
        ("#pragma omp parallel for schedule(dynamic, f(2, 3)) collapse(2)", "#pragma omp parallel for collapse(2) X"),
        ("#pragma omp parallel for, num_threads (4), if(n > 9)", "#pragma omp parallel for , if(n > 9) X"),
        ("#pragma omp parallel for schedule(static)reduction(+:s)", "#pragma omp parallel for reduction(+:s) X"),
        ("#pragma omp parallel for private(schedule)", "#pragma omp parallel for private(schedule) X"),
        ("#pragma omp parallel for // schedule(static)", "#pragma omp parallel for X // schedule(static)"),
        ("\t#pragma omp parallel for /* why */", "\t#pragma omp parallel for X /* why */"),
        (
            "#pragma omp parallel for\\\nschedule(static)\\\nreduction(+ : s)",
            "#pragma omp parallel for \\\n\\\nreduction(+ : s) X",
        ),
    ],
)
def test_clauses_replace_those_that_are_there(before: str, after: str) -> None:
    assert with_clauses(before + "\nfor (;;) {}\n", 1, "X") == after + "\nfor (;;) {}\n"


def test_clauses_can_be_taken_away_again() -> None:
    with_pragma = with_clauses(SOURCE, 11, clauses(2, "guided", 8))
    assert "#pragma omp parallel for reduction(+ : all) num_threads(2) schedule(guided, 8)\n" in with_pragma
    assert with_clauses(with_pragma, 11, "") == SOURCE


def test_a_line_without_a_loop_is_named() -> None:
    with pytest.raises(TaskError, match=r"line 4 has no .*available: 3, 11, 14"):
        with_clauses(SOURCE, 4, "")


def test_the_lines_of_a_function() -> None:
    assert function_span(SOURCE, "scale") == (1, 6)
    assert function_span(SOURCE, "both") == (8, 21)
    assert function_span("int g(void) { return f(1); }\nint f(int x);\n", "f") == (0, 0)
