"""Pragmas before loops: where they go, and where nobody may write."""

import pytest

from mirenc.llvm.inputs.pragmas import with_pragmas

PRAGMA = "#pragma clang loop vectorize_width(8) interleave_count(2)"


def written(text: str, *lines: int) -> tuple[str, dict[int, str]]:
    return with_pragmas(text, dict.fromkeys(lines, PRAGMA))


def test_several_loops_keep_their_places_and_indentation() -> None:
    text = "void f() {\n  for (;;) {\n\twhile (x)\n      g();\n  }\n}\ndo\n  h();\nwhile (y);\n"
    indented = f"void f() {{\n  {PRAGMA}\n  for (;;) {{\n\t{PRAGMA}\n\twhile (x)\n      g();\n  }}\n}}\n"
    assert written(text, 7, 2, 3) == (f"{indented}{PRAGMA}\ndo\n  h();\nwhile (y);\n", {})


def test_line_ends_and_a_missing_last_one_stay() -> None:
    assert written("a;\r\n  for (;;) b;\r\nc;", 2) == (f"a;\r\n  {PRAGMA}\r\n  for (;;) b;\r\nc;", {})


def test_without_pragmas_the_text_is_unchanged() -> None:
    assert with_pragmas("for (;;) {}", {}) == ("for (;;) {}", {})


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("#define LOOP for (;;)\nLOOP x();\n", 2, "no loop is written on it"),
        ("#define LOOP \\\n  for (;;) x();\n", 2, "it is in a macro"),
        ("#define LOOP for (;;) x();\n", 1, "it is in a macro"),
        ("for (;;) for (;;) x();\n", 1, "several loops are on its line"),
        ("int i; for (;;) x();\n", 1, "something stands before it on its line"),
        ("#pragma clang loop unroll(disable)\n\n  // why\n  for (;;) x();\n", 4, "it has a pragma already"),
        ("#pragma GCC unroll 4\nfor (;;) x();\n", 2, "it has a pragma already"),
        ("#pragma omp simd\nfor (;;) x();\n", 2, "it has a pragma already"),
        ('_Pragma("clang loop unroll(disable)")\nfor (;;) x();\n', 2, "it has a pragma already"),
        ('# 7 "generated.y"\nfor (;;) x();\n', 2, "the file has #line"),
        ("for (;;) x();\n", 9, "the file has no such line"),
    ],
)
def test_loops_that_cannot_have_a_pragma_are_left_alone_with_a_reason(text: str, line: int, reason: str) -> None:
    changed, refused = written(text, line)
    assert changed == text
    assert refused[line].startswith(reason)


@pytest.mark.parametrize(
    "text",
    [
        "for (;;) x(); // for while do\n",
        'for (;;) x("for");\n',
        "for (char c = 'f'; /* do */ c;) x();\n",
        "for (auto &x : all) x();\n",
        "for (;;) /* two\nlines with a while */ x();\n",
    ],
)
def test_words_in_comments_and_strings_are_no_loops(text: str) -> None:
    assert written(text, 1) == (f"{PRAGMA}\n{text}", {})
