"""Pass lists as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from list_columns import ListColumns

from mirenc.base.errors import HeadError, PassError
from mirenc.llvm.passes.pass_lists import expanded

LISTS = ["function(sroa<modify-cfg>,instcombine,sroa)", "globaldce,function(loop-mssa(licm))"]


def test_a_column_is_how_often_a_pass_stands_in_a_list() -> None:
    columns = ListColumns.of(LISTS)
    assert columns.names == ("globaldce", "instcombine", "licm", "sroa")
    np.testing.assert_allclose(np.expm1(columns(LISTS)), [[0, 1, 0, 2, 3], [1, 0, 1, 0, 2]], atol=1e-12)


def test_a_pass_that_no_list_had_counts_for_the_length_alone() -> None:
    (row,) = np.expm1(ListColumns.of(LISTS)(["function(gvn,sroa)"]))
    np.testing.assert_allclose(row, [0, 0, 0, 1, 2], atol=1e-12)


def test_a_level_by_its_name_is_its_passes() -> None:
    columns = ListColumns.of(["default<Oz>"])
    assert "instcombine" in columns.names
    np.testing.assert_array_equal(columns(["default<Oz>"]), columns([expanded("Oz")]))


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(PassError):
        ListColumns.of(["function(sroa"])
    with pytest.raises(HeadError, match="no pass lists"):
        ListColumns.of(LISTS)([])
