"""Vectors of builds at other levels meet in one form; tables of another form are refused."""

from pathlib import Path

import numpy as np
import pytest
from unoptimised_ir import SUM

from mirenc.base.errors import ModelError
from mirenc.encoder import Encoder
from mirenc.llvm.inputs.input import Input
from mirenc.search import Maker, VectorTable, index
from mirenc.search.queries import nearest_of_files, queries_of

# As clang -Oz gives it to its passes, and as -O0 without optnone writes it.
FOR_SIZE = SUM.replace("optnone", "minsize optsize").replace("noinline ", "")
OTHER_O0 = SUM.replace(" optnone", "")


def table_of(level: str, form: str) -> VectorTable:
    return VectorTable(Maker("m", "d", level, form=form), np.ones((1, 2), dtype=np.float32))


def test_an_old_table_is_refused_with_what_to_type() -> None:
    maker = Maker.from_json({"model": "m", "model_digest": "d", "level": "function", "part": "both"})
    old = VectorTable(maker, np.ones((1, 2), dtype=np.float32))
    assert maker.form == "plain"
    with pytest.raises(ModelError, match=r"mirenc embed FOLDER --level function -o x\.npz\. Or .* --form plain"):
        old.check_form(None, "x.npz")
    old.check_form("plain", "x.npz")
    table_of("block", "plain").check_form(None, "x.npz")  # of blocks IR as it is is usual
    table_of("function", "O3").check_form(None, "x.npz")
    with pytest.raises(ModelError, match="of the form O3, not O2"):
        table_of("function", "O3").check_form("O2", "x.npz")


def test_builds_at_other_levels_meet_in_one_form(encoder: Encoder, tmp_path: Path) -> None:
    for name, text in (("size", FOR_SIZE), ("other", OTHER_O0)):
        (tmp_path / f"{name}.ll").write_text(text)
    table = index(encoder, tmp_path, level="function")
    assert sorted(zip(table.labels["symbol"], table.labels["built"], strict=True)) == [
        *(("square", "O0"), ("square", "Os"), ("sum", "O0"), ("sum", "Os"))
    ]
    ((file, (rows, cosines)),) = nearest_of_files(queries_of(encoder, [Input("q.ll", SUM.encode())], table), table, 2)
    for region, near, nearest_cosines in zip(file.regions, rows.tolist(), cosines.tolist(), strict=True):
        assert {table.labels["symbol"][row] for row in near} == {region.symbol}
        np.testing.assert_allclose(nearest_cosines, 1, atol=1e-5)
