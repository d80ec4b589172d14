"""The form in which a query meets each row: by what the row was built for; and what several forms find, as one."""

from pathlib import Path

import numpy as np
import pytest
from unoptimised_ir import SUM

from mirenc.embed import Encoder
from mirenc.errors import ModelError
from mirenc.ir.inputs import Input
from mirenc.search import Maker, VectorTable, index
from mirenc.search.forms import check_form, merged, mixed_for_size, rows_by_form
from mirenc.search.queries import nearest_of_files, queries_of

FOR_SIZE = SUM.replace("optnone", "minsize optsize").replace("noinline ", "")


def table_of(built: list[str], form: str = "O2") -> VectorTable:
    table = VectorTable(Maker("m", "d", "function", form=form), np.eye(len(built), dtype=np.float32))
    table.labels["built"] = built
    return table


def test_rows_built_for_size_are_compared_with_the_form_for_size() -> None:
    assert rows_by_form(table_of(["O0", "O2"])) == {"O2": None}
    assert rows_by_form(table_of(["Os", "Os"])) == {"Oz": None}
    some = rows_by_form(table_of(["Os", "O2", "O0", "Os"]))
    assert {form: rows.tolist() for form, rows in some.items() if rows is not None} == {"O2": [1, 2], "Oz": [0, 3]}


@pytest.mark.parametrize("form", ["plain", "O1", "Oz"])
def test_a_table_in_another_form_is_searched_in_that_form(form: str) -> None:
    assert rows_by_form(table_of(["Os", "O2"], form)) == {form: None}


def test_levels_are_mixed_where_some_are_for_size() -> None:
    assert mixed_for_size(["O0", "Os"])
    assert not mixed_for_size(["Os", "Os"])
    assert not mixed_for_size(["O0", "O2"])


def test_merging_keeps_the_order_of_each_part_and_takes_the_nearer_head() -> None:
    # The first part was re-ranked: its cosines need not fall.
    first = np.array([[0, 1]]), np.array([[0.5, 0.9]], dtype=np.float32)
    second = np.array([[1, 0]]), np.array([[0.7, 0.4]], dtype=np.float32)
    rows, cosines = merged([(first, np.array([2, 3])), (second, np.array([0, 1]))], 3)
    assert rows.tolist() == [[1, 2, 3]]
    np.testing.assert_allclose(cosines, [[0.7, 0.5, 0.9]])
    alone = merged([(first, None)], 2)
    assert alone[0].tolist() == [[0, 1]]


def test_an_old_table_is_refused_with_what_to_type() -> None:
    old = Maker.from_json({"model": "m", "model_digest": "d", "level": "function", "part": "both"})
    assert old.form == "plain"
    with pytest.raises(ModelError, match=r"mirenc embed FOLDER --level function -o x\.npz, or .* --form plain"):
        check_form(old, None, "x.npz")
    check_form(old, "plain", "x.npz")
    check_form(Maker("m", "d", "block"), None, "x.npz")  # of blocks IR as it is is usual
    check_form(Maker("m", "d", "function", form="O3"), None, "x.npz")
    with pytest.raises(ModelError, match="of the form O3, not O2"):
        check_form(Maker("m", "d", "function", form="O3"), "O2", "x.npz")


def test_functions_of_one_source_meet_in_the_form_of_each_row(encoder: Encoder, tmp_path: Path) -> None:
    for name, text in (("fast", SUM.replace("optnone", "").replace("noinline", "")), ("small", FOR_SIZE)):
        (tmp_path / f"{name}.ll").write_text(text)
    table = index(encoder, tmp_path, level="function")
    assert sorted(zip(table.labels["symbol"], table.labels["built"], strict=True)) == [
        *(("square", "O0"), ("square", "Os"), ("sum", "O0"), ("sum", "Os"))
    ]
    query = queries_of(encoder, [Input("q.ll", SUM.encode())], table)
    ((file, (rows, cosines)),) = nearest_of_files(query, table, 2)
    assert file.for_size is not None
    for region, near, both in zip(file.regions, rows.tolist(), cosines.tolist(), strict=True):
        # The query, brought to each row's level, is that row.
        assert {table.labels["symbol"][row] for row in near} == {region.symbol}
        np.testing.assert_allclose(both, 1, atol=1e-5)


def test_what_was_built_for_size_stays_as_it_is(encoder: Encoder, tmp_path: Path) -> None:
    (tmp_path / "small.ll").write_text(FOR_SIZE)
    table = index(encoder, tmp_path, level="function")
    ((file, (_, cosines)),) = nearest_of_files(queries_of(encoder, [Input("q.ll", FOR_SIZE.encode())], table), table, 1)
    assert file.for_size is not None
    assert np.array_equal(file.for_size[0], file.vectors)
    np.testing.assert_allclose(cosines, 1, atol=1e-5)
