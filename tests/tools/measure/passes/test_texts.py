"""Texts of pieces: what cannot be had is one piece less, and not the end of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirenc.base.errors import IRParseError
from mirenc.tools.measure.passes.choosing import Chosen, Texts, scan_all
from mirenc.tools.measure.passes.inputs import IRFile


def test_a_file_that_is_read_but_has_no_text_is_refused_as_ir(tmp_path: Path) -> None:
    path = tmp_path / "a.ll"
    path.write_bytes(b'@s = constant [1 x i8] c"\xe9"\ndefine void @f() {\n  ret void\n}\n')
    file = IRFile(path, "p", "a.c", held_out=False, stamp="1")
    (scan,) = scan_all([file], tmp_path)
    assert not scan.problem
    piece = Chosen(file, "")
    with pytest.raises(IRParseError, match="not UTF-8"):
        Texts(tmp_path / "pieces", [piece]).of(piece)
