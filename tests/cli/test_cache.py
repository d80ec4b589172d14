"""``mirenc cache`` shows what is there, limits it and clears it."""

from pathlib import Path

import pytest
from command_line import Run

from mirenc.base.cache import Cache, cache_key


def test_a_cache_is_shown_limited_and_cleared(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRENC_CACHE", str(tmp_path / "cache"))
    assert run("cache").ok().out == f"{tmp_path / 'cache'}: 0.0 MB in 0 files\n"
    Cache("0" * 64, kind="my.model").put({cache_key("k", "x"): bytes(2**21)})
    Cache("1" * 64).put({cache_key("k", "x"): b"x"})
    title, head, *rows = run("cache", "--limit", "2GB").ok().out.splitlines()
    assert title.endswith(" MB in 2 files")
    assert head.split() == ["kind", "size", "last", "written"]
    assert sorted(row.split("  ")[0] for row in rows) == ["my.model", "of an older release"]
    assert run("cache", "--limit", "1M").ok().out.startswith(f"{tmp_path / 'cache'}: 0.")
    assert " in 0 files" in run("cache", "--clear").ok().out
    run("cache", "--clear", "--limit", "1M").refused("leave --limit or --clear out")
    run("cache", "--limit", "many").refused("'many' is not a size")
