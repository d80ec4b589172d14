"""Reading tables of labels: what is a missing cell, a column, a class, a line; and which rows are refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from small_labels import write_module

from mirenc.base.errors import ConfigError
from mirenc.decide.label_table import LabelledCode, LabelTable, embed_labels, read_labels
from mirenc.encoder import load


def read(*labels: Any, **cells: Any) -> LabelTable:
    """A table of function f in files 0.ll, 1.ll and so on; ``cells`` are the same in all rows."""
    return read_labels([{"file": f"{n}.ll", "function": "f", "label": label} | cells for n, label in enumerate(labels)])


def embedded(folder: Path, labels: list[Any]) -> LabelledCode:
    for number in range(len(labels)):
        write_module(folder / f"{number}.ll", {"f": ("add", 1 + number)})
    rows = [{"file": str(folder / f"{number}.ll"), "label": label} for number, label in enumerate(labels)]
    return embed_labels(read_labels(rows), load("mirenc-tiny", cache=False))[0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["none", "None", "NA", "nan", "n/a", "a"], ["none", "None", "NA", "nan", "n/a", "a"]),
        (["a", "", None, math.nan, " b "], ["a", "b"]),
        (["1.5", "nan", "2", "NaN", 3], ["1.5", "2", "3"]),
        (["1.5", "nan", "x"], ["1.5", "nan", "x"]),
    ],
)
def test_only_empty_cells_are_missing_and_nan_among_numbers(labels: list[Any], expected: list[str]) -> None:
    table = read(*labels)
    assert [row.label for row in table.rows] == expected
    assert len(table.left_out) == len(labels) - len(expected)
    assert all(reason.endswith(": no label") for reason in table.left_out)


@pytest.mark.parametrize("name", ["nan", "none", "NA"])
def test_functions_may_be_called_like_missing_values(name: str) -> None:
    assert [row.function for row in read("a", "b", function=name).rows] == [name, name]


def test_spellings_of_a_whole_number_are_one_class(tmp_path: Path) -> None:
    large = "9007199254740993"  # 2**53 + 1, which no float is
    code = embedded(tmp_path, ["1", "1.0", "01", "0", "-0", large, large])
    assert code.labels.tolist() == ["1", "1", "1", "0", "0", large, large]
    assert embedded(tmp_path, ["1", "1", "01", "01", "x", "x"]).labels.tolist() == ["1", "1", "01", "01", "x", "x"]


def test_numbers_whose_squares_are_infinite_are_refused(tmp_path: Path) -> None:
    code = embedded(tmp_path, [0.5, 1.5, "1e151", "-1e308", 1e150])
    assert code.labels.tolist() == [0.5, 1.5, 1e150]
    assert [reason.partition(": ")[2] for reason in code.left_out] == [
        "label '1e151' is beyond 1e+150",
        "label '-1e308' is beyond 1e+150",
    ]


def test_blanks_around_names_of_columns_do_not_count(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("file, function , label\na.ll, f, x\n", encoding="utf-8")
    (row,) = read_labels(table).rows
    assert (row.function, row.label) == ("f", "x")


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        ("File", "Rename it to 'file'$"),
        ("FUNCTION", "Rename it to 'function'$"),
        ("Line", "Rename it to 'line'$"),
        ("LABEL", "Rename it to 'label', or type: --label LABEL$"),
        ("Group", "Rename it to 'group', or type: --group Group$"),
    ],
)
def test_capitals_in_a_name_of_a_column_are_an_error(column: str, advice: str) -> None:
    row = {"file": "a.ll", "label": "x"}
    row.pop(column.lower(), None)
    with pytest.raises(ConfigError, match=f"no column '{column.lower()}', but '{column}'; .* case-sensitive. {advice}"):
        read_labels([row | {column: "1"}])


def test_two_columns_of_one_name_are_an_error(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    table.write_text("file,label, label,,\na.ll,1,2,,\n", encoding="utf-8")  # columns without a name may be several
    with pytest.raises(ConfigError, match=r"labels.csv: 2 columns are called 'label'\. Give each its own name"):
        read_labels(table)


def test_a_column_that_an_option_names_is_no_misspelling() -> None:
    (row,) = read_labels([{"file": "a.ll", "Line": "x", "Group": "g"}], label="Line", group="Group").rows
    assert (row.label, row.group, row.line) == ("x", "g", "")


def test_paths_to_one_file_are_one_file_and_one_group() -> None:
    files = ["a.ll", "zz/../a.ll", "./a.ll", "b.ll"]
    table = read_labels([{"file": file, "function": "f", "label": "x"} for file in files])
    assert [(row.file, row.group) for row in table.rows] == [("a.ll", "a.ll")] * 3 + [("b.ll", "b.ll")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1.0", "1"),
        (7.0, "7"),
        ("999999999", "999999999"),
        ("1000000000", "a line of 10 digits; at most 9"),
        ("1.5", "line '1.5' is not a whole number"),
        ("-1", "line '-1' is not a whole number"),
        ("x", "line 'x' is not a whole number"),
    ],
)
def test_lines_are_whole_numbers_of_nine_digits(line: Any, expected: str) -> None:
    table = read_labels([{"file": "a.ll", "line": 3, "label": "x"}, {"file": "a.ll", "line": line, "label": "x"}])
    if table.left_out:
        assert table.left_out[0].startswith(f"the table, row 2: {expected}")
    else:
        assert table.rows[1].line == expected


def test_labels_of_more_than_200_characters_are_refused() -> None:
    table = read("a" * 200, "b" * 201)
    assert [row.label for row in table.rows] == ["a" * 200]
    assert table.left_out == ["the table, row 2: a label of 201 characters; at most 200 are allowed"]


def test_paths_with_a_nul_are_refused() -> None:
    table = read_labels([{"file": "a\0b.ll", "label": "x"}, {"file": "b.ll", "label": "x"}])
    assert table.left_out == ["the table, row 1: file 'a\\x00b.ll' is not a path"]


def test_records_without_a_label_are_left_out() -> None:
    table = read_labels([{"file": "a.ll"}, {"file": "b.ll", "function": "f", "label": "x"}])
    assert [row.file for row in table.rows] == ["b.ll"]
    assert table.left_out == ["the table, row 1: no label"]


@pytest.mark.parametrize(
    ("table", "shown"), [([("a.ll", "x")], "tuple"), ({"file": "a.ll"}, "str"), (None, "NoneType"), (b"ab", "int")]
)
def test_what_is_no_mapping_is_an_error(table: Any, shown: str) -> None:
    with pytest.raises(ConfigError, match=rf"row 1: found {shown}; allowed: mappings .*to_dict\('records'\)"):
        read_labels(table)
