"""The cache: what is stored comes back, nothing grows past its bound, and no damage reaches the user."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from same_vectors import assert_same_vectors

from mirenc.base.cache import Cache, cache_files, cache_folder, cache_key, file_bytes, limit_caches
from mirenc.encoder import Encoder, load

DIGEST = "0123456789abcdef" * 4
FILE = Path(__file__).resolve().parents[1] / "fixtures" / "ir" / "clang-19" / "O2" / "reduce.ll"


def keys(count: int, kind: str = "k") -> list[bytes]:
    return [cache_key(kind, str(number)) for number in range(count)]


# -- entries -------------------------------------------------------------------------------------------
def test_stored_entries_are_read_back(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path)
    a, b, c = keys(3)
    assert cache.get([a, b]) == {}
    cache.put({a: b"one", b: b""})
    assert cache.get([a, b, c]) == {a: b"one", b: b""}
    cache.put({a: b"two", c: b"three"})
    # Another object, and so another run, sees the same.
    assert Cache(DIGEST, folder=tmp_path).get([c, a]) == {a: b"two", c: b"three"}
    assert cache.get([]) == {}


def test_more_keys_than_sqlite_takes_in_a_query(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path)
    many = keys(70_000)
    cache.put({key: key[:4] for key in many[::2]})
    assert cache.get(many) == {key: key[:4] for key in many[::2]}


def test_a_model_s_name_leads_out_of_no_folder(tmp_path: Path) -> None:
    cache = Cache("d" * 64, kind="../../escaped/x", folder=tmp_path)
    assert cache.path.parent == tmp_path
    assert Cache("d" * 64, kind="mirenc-fast unnamed", folder=tmp_path).path.name.startswith("mirenc-fast unnamed.")


def test_another_digest_is_another_cache(tmp_path: Path) -> None:
    (key,) = keys(1)
    Cache(DIGEST, folder=tmp_path).put({key: b"one"})
    other = Cache("f" * 64, folder=tmp_path)
    assert other.get([key]) == {}
    assert other.path.name == "f" * 32 + ".sqlite"


def test_clear_empties_it_and_it_can_be_filled_again(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path)
    (key,) = keys(1)
    cache.put({key: b"one"})
    cache.clear()
    assert list(tmp_path.iterdir()) == []
    assert cache.get([key]) == {}
    cache.put({key: b"two"})
    assert cache.get([key]) == {key: b"two"}


def test_keys_tell_kinds_and_contents_apart() -> None:
    keys_found = {cache_key(kind, content) for kind in ("statement", "file-module") for content in ("", "a", "b")}
    assert len(keys_found) == 6
    assert {len(key) for key in keys_found} == {16}
    assert cache_key("file-instruction", "é") == cache_key("file-instruction", "é".encode())
    assert len(cache_key("k", "\udcff")) == 16  # a byte that is no UTF-8, as Python reads it


def test_the_folder_is_mirenc_cache_or_the_platforms(monkeypatch: pytest.MonkeyPatch, cache_folder: Path) -> None:
    from mirenc.base.cache import cache_folder as found

    assert found() == cache_folder
    monkeypatch.setenv("MIRENC_CACHE", "")
    assert found().name == "mirenc"


# -- size ----------------------------------------------------------------------------------------------
def live_bytes(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        size, pages, free = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
        )
    connection.close()
    return size * (pages - free)


def test_the_size_is_bounded_and_the_oldest_go_first(tmp_path: Path) -> None:
    limit = 200_000
    cache = Cache(DIGEST, folder=tmp_path, max_bytes=limit)
    every = keys(1000)
    for number, key in enumerate(every):  # five times what fits
        cache.put({key: bytes([number % 256]) * 1000})
        if number % 100 == 99:
            assert live_bytes(cache.path) <= limit
    remaining = cache.get(every)
    # A third of the bound at least is data, or the bound would be a poor one.
    assert limit / 3 <= 1000 * len(remaining) <= limit
    # What is left is the end of the list, without a gap.
    assert set(remaining) == set(every[-len(remaining) :])
    # Deleted pages are used again: the file does not grow with what has passed through it.
    assert cache.path.stat().st_size < 1.5 * limit


def test_one_put_larger_than_the_bound(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path, max_bytes=100_000)
    cache.put(dict.fromkeys(keys(1000), b"x" * 1000))
    assert live_bytes(cache.path) <= 100_000
    cache.put({cache_key("new", ""): b"y"})
    assert cache.get([cache_key("new", "")]) == {cache_key("new", ""): b"y"}


def test_entries_used_lately_are_kept(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path, max_bytes=200_000)
    every = keys(600)
    for key in every:
        cache.put({key: b"x" * 1000})
        assert cache.get([every[0]])
    assert cache.get([every[1]]) == {}


def test_an_entry_of_a_tenth_of_the_bound_is_not_kept(tmp_path: Path) -> None:
    cache = Cache(DIGEST, folder=tmp_path, max_bytes=100_000)
    large, small = keys(2)
    cache.put({large: b"x" * 10_001, small: b"x" * 10_000})
    assert list(cache.get([large, small])) == [small]


# -- several processes ---------------------------------------------------------------------------------
WRITER = """
import sys
from pathlib import Path
from mirenc.base.cache import Cache, cache_key

digest, folder, me = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
cache = Cache(digest, folder=folder)
for turn in range(25):
    cache.put({cache_key("k", f"{me} {turn} {n}"): f"{me} {turn} {n}".encode() for n in range(10)})
    cache.put({cache_key("shared", str(turn)): str(turn).encode()})
    wanted = {cache_key("k", f"{who} {t} 0"): f"{who} {t} 0".encode() for who in range(4) for t in range(turn + 1)}
    found = cache.get(list(wanted))
    assert all(found[key] == wanted[key] for key in found), "wrong data"
    assert sum(key in found for key in wanted) > turn, "own entries are missing"
"""


def test_four_processes_write_and_read_one_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, DIGEST, str(tmp_path)]
    running = [subprocess.Popen([*command, str(me)], stderr=subprocess.PIPE, text=True) for me in range(4)]
    errors = [process.communicate()[1] for process in running]
    assert errors == [""] * 4
    expected = {
        cache_key("k", f"{me} {turn} {n}"): f"{me} {turn} {n}".encode()
        for me in range(4)
        for turn in range(25)
        for n in range(10)
    }
    expected |= {cache_key("shared", str(turn)): str(turn).encode() for turn in range(25)}
    assert Cache(DIGEST, folder=tmp_path).get(list(expected)) == expected


# -- damage --------------------------------------------------------------------------------------------
ENTRIES = {key: key * 20 for key in keys(300)}


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Cache, bytes]:
    """A cache, and the bytes that its file had with entries in it."""
    cache = Cache(DIGEST, folder=tmp_path)
    cache.put(ENTRIES)
    data = cache.path.read_bytes()
    cache.clear()
    return cache, data


def _table_of_another_shape(path: Path, data: bytes) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (something TEXT)")
    connection.close()


DAMAGE: dict[str, Callable[[Path, bytes], object]] = {
    "text": lambda path, data: path.write_bytes(b"this is no database\n" * 100),
    "random": lambda path, data: path.write_bytes(np.random.default_rng(0).bytes(30_000)),
    "one byte": lambda path, data: path.write_bytes(b"x"),
    "empty": lambda path, data: path.write_bytes(b""),
    "a tenth": lambda path, data: path.write_bytes(data[: len(data) // 10]),
    "half": lambda path, data: path.write_bytes(data[: len(data) // 2]),
    "nine tenths": lambda path, data: path.write_bytes(data[: 9 * len(data) // 10]),
    "folder": lambda path, data: path.mkdir(),
    "another table": _table_of_another_shape,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_cache_gives_nothing_wrong(
    filled: tuple[Cache, bytes], damage: Callable[[Path, bytes], object]
) -> None:
    cache, data = filled
    damage(cache.path, data)
    for _ in range(2):
        assert cache.get([*ENTRIES]).items() <= ENTRIES.items()
        cache.put({cache_key("new", ""): b"new"})


def test_flipped_bytes_never_give_other_bytes(filled: tuple[Cache, bytes]) -> None:
    cache, data = filled
    lost = 0
    for at in np.linspace(200, len(data) - 64, 80).astype(int):
        damaged = bytearray(data)
        damaged[at : at + 32] = bytes(byte ^ 0x5A for byte in damaged[at : at + 32])
        cache.clear()
        cache.path.write_bytes(damaged)
        readable = cache.get([*ENTRIES])
        assert readable.items() <= ENTRIES.items()
        lost += len(readable) < len(ENTRIES)
    assert lost > 40


def test_a_damaged_cache_changes_no_vector(encoder: Encoder, model_folder: Path, tmp_path: Path) -> None:
    expected = encoder.embed(FILE)
    load(model_folder, cache=tmp_path).embed(FILE)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for _ in range(2):
        assert_same_vectors(load(model_folder, cache=tmp_path).embed(FILE), expected)


def test_put_and_get_on_an_unusable_cache_do_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = Cache(DIGEST, folder=tmp_path / "file")
    (key,) = keys(1)
    cache.put({key: b"one"})
    assert cache.get([key]) == {}


# -- off -----------------------------------------------------------------------------------------------
def test_without_a_cache_nothing_is_written(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    monkeypatch.setenv("MIRENC_CACHE", str(folder))
    off = load(model_folder, cache=False)
    off.embed([FILE, FILE.read_text(encoding="utf-8")])
    off.embed(FILE, level="function")
    assert off.cache is None
    assert not folder.exists()
    assert cache_folder() == folder


def test_loading_alone_writes_nothing(model_folder: Path, tmp_path: Path) -> None:
    load(model_folder, cache=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_limit_takes_the_oldest_files_first_then_the_oldest_entries(tmp_path: Path) -> None:
    caches = [Cache(DIGEST, kind=kind, folder=tmp_path) for kind in ("old", "middle", "young")]
    for age, cache in enumerate(caches):
        for key in keys(40):
            cache.put({key: bytes(10_000)})
        os.utime(cache.path, (1e9 + age, 1e9 + age))
    assert [path.name.partition(".")[0] for path in cache_files(tmp_path)] == ["old", "middle", "young"]
    _, middle, young = map(file_bytes, cache_files(tmp_path))
    limit_caches(young + middle // 2, tmp_path)
    assert sum(map(file_bytes, cache_files(tmp_path))) <= young + middle // 2
    assert caches[0].get(keys(40)) == {}
    remaining = caches[1].get(keys(40))
    assert remaining
    assert set(remaining) == set(keys(40)[-len(remaining) :])
    assert len(caches[2].get(keys(40))) == 40
    limit_caches(0, tmp_path)
    assert cache_files(tmp_path) == []


def test_other_files_in_the_folder_are_no_caches(tmp_path: Path) -> None:
    """SQLite files of other programs, and what only looks like a cache's."""
    Cache(DIGEST, kind="mirenc-tiny", folder=tmp_path).put({keys(1)[0]: b"vector"})
    others = [
        tmp_path / name for name in ("places.sqlite", "notes.sqlite", f"{DIGEST[:31]}.sqlite", f"{DIGEST}.sqlite")
    ]
    for other in others:
        other.write_bytes(b"mine")
    (tmp_path / f"{DIGEST[:32]}.sqlite").mkdir()
    assert [path.name for path in cache_files(tmp_path)] == [f"mirenc-tiny.{DIGEST[:32]}.sqlite"]
    limit_caches(0, tmp_path)
    assert [other.read_bytes() for other in others] == [b"mine"] * 4
    assert cache_files(tmp_path) == []
