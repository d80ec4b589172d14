"""Tables of passes: what is written is read, twice the same bytes, and what does not belong is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_compiled import LISTS, ir_of, small_table, write_small_table

from mirenc.base.errors import TaskError
from mirenc.decide.tables.compiled import STATUSES, CompiledTable, read_compiled, read_piece_ir, write_piece_ir
from mirenc.llvm import parse_ir

FILES = ("machine.json", "pieces.parquet", "levels.parquet", "fires.parquet", "lists.json", "lists.parquet")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    written = write_small_table(tmp_path)
    table = read_compiled(tmp_path)
    assert table.pieces == written.pieces
    assert table.lists == LISTS
    assert table.title == written.title
    assert list(table.levels) == list(written.levels)
    for one, other in [
        (table.sizes, written.sizes),
        *((table.levels[name], written.levels[name]) for name in table.levels),
    ]:
        np.testing.assert_array_equal(one.instructions, other.instructions)
        np.testing.assert_array_equal(one.code_bytes, other.code_bytes)
        np.testing.assert_array_equal(one.status, other.status)
    assert np.isnan(table.sizes.code_bytes[-1, 2])
    assert STATUSES[table.sizes.status[-1, 2]] == "crash"
    assert table.fires["Oz"].passes == ("instcombine", "sroa")
    np.testing.assert_array_equal(table.fires["Oz"].changed, written.fires["Oz"].changed)
    np.testing.assert_array_equal(table.fires["Oz"].known, written.fires["Oz"].known)


def test_a_table_without_fires_is_read(tmp_path: Path) -> None:
    replace(small_table(), fires={}).write(tmp_path)
    assert read_compiled(tmp_path).fires == {}


def test_one_table_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_small_table(tmp_path / name)
    for file in (*FILES, "ir.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_the_hash_is_of_what_is_measured(tmp_path: Path) -> None:
    write_small_table(tmp_path)
    before = read_compiled(tmp_path).content_hash
    table = small_table()
    table.sizes.code_bytes[0, 1] += 1
    table.write(tmp_path)
    assert read_compiled(tmp_path).content_hash != before


def test_ir_comes_in_the_order_of_the_pieces(tmp_path: Path) -> None:
    table = write_small_table(tmp_path)
    assert read_piece_ir(tmp_path, table.pieces[5:2:-1]) == [ir_of(5), ir_of(4), ir_of(3)]
    assert parse_ir(ir_of(3)).instruction_count == 6  # the small table's code is code


def test_a_table_without_ir_says_how_to_make_it(tmp_path: Path) -> None:
    table = write_small_table(tmp_path)
    (tmp_path / "ir.parquet").unlink()
    with pytest.raises(TaskError, match=r"this file of the table is missing.*mirenc label SOURCES -o FOLDER"):
        read_piece_ir(tmp_path, table.pieces)


def test_ir_of_another_table_is_refused(tmp_path: Path) -> None:
    table = write_small_table(tmp_path)
    write_piece_ir(tmp_path, [table.pieces[0].ir_hash], lambda _: ir_of(0))
    with pytest.raises(TaskError, match=r"no IR of p0/f1\.c:f1\. The file belongs to another table"):
        read_piece_ir(tmp_path, table.pieces)


def test_ir_that_was_changed_is_refused(tmp_path: Path) -> None:
    table = write_small_table(tmp_path)
    write_piece_ir(tmp_path, [table.pieces[0].ir_hash], lambda _: ir_of(1))
    with pytest.raises(TaskError, match="has another hash"):
        read_piece_ir(tmp_path, table.pieces[:1])


def test_files_of_two_tables_are_refused(tmp_path: Path) -> None:
    write_small_table(tmp_path, projects=2)
    lists = (tmp_path / "lists.parquet").read_bytes()
    write_small_table(tmp_path, projects=3)
    (tmp_path / "lists.parquet").write_bytes(lists)
    with pytest.raises(TaskError, match=r"column 'piece' does not number the rows in the order of .*\(12, 3\)"):
        read_compiled(tmp_path)


def test_a_level_that_is_missing_is_refused(tmp_path: Path) -> None:
    table: CompiledTable = small_table()
    table.write(tmp_path)
    record = json.loads((tmp_path / "machine.json").read_text())
    (tmp_path / "machine.json").write_text(json.dumps({**record, "levels": ["O1"]}))
    with pytest.raises(TaskError, match="is damaged"):
        read_compiled(tmp_path)
