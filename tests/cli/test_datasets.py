"""``mirenc datasets``: the list, consent before a download, and exit code 1 where something is not as published."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import Run
from decide.datasets.toy_dataset import CONTENT, Site, serve, toy, write_packed, write_plain

from mirenc.decide.datasets.dataset_registry import DATASETS


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What MIRENC_DATA names; the toy dataset is registered, and published nowhere."""
    monkeypatch.setenv("MIRENC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(DATASETS, "toy", toy())
    return tmp_path / "data"


@pytest.fixture
def site(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server that publishes the toy dataset; pauses between attempts take no time."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("mirenc.decide.datasets.fetch.time.sleep", lambda seconds: None)
    with serve() as running:
        monkeypatch.setitem(DATASETS, "toy", toy(running.address))
        yield running


def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("mirenc.cli.datasets.sys", SimpleNamespace(stdin=terminal, stderr=sys.stderr))


def test_the_list_names_each_dataset_and_where_it_is(run: Run, root: Path) -> None:
    write_packed(root / "toy")
    out = run("datasets", "list").ok().out
    for phrase in ("device_mapping", "Apache-2.0 WITH LLVM-exception", "673", "21.2 MB", "no", "toy", "MIT"):
        assert phrase in out


def test_the_list_as_json(run: Run, root: Path) -> None:
    write_packed(root / "toy")
    entries = {entry["name"]: entry for entry in json.loads(run("datasets", "list", "--json").ok().out)}
    assert entries["toy"] == {
        "name": "toy",
        "title": "A toy",
        "licence": "MIT",
        "source": "these tests",
        "files": 4,
        "megabytes": 0.1,
        "folder": str(root / "toy"),
    }
    assert entries["device_mapping"]["folder"] is None


def test_another_folder_can_be_named(run: Run, root: Path, tmp_path: Path) -> None:
    write_plain(tmp_path / "elsewhere" / "toy")
    run("datasets", "verify", "toy").failed("dataset 'toy' is not here", "mirenc datasets fetch toy")
    out = run("datasets", "verify", "toy", "--data", tmp_path / "elsewhere").ok().out
    assert out.startswith(f"toy: all 4 files in {tmp_path / 'elsewhere' / 'toy'} are as published (content ")


def test_differences_are_listed_and_the_exit_code_is_one(run: Run, root: Path) -> None:
    folder = write_plain(root / "toy")
    (folder / "table.csv").write_bytes(b"")
    (folder / "kernels" / "a.ll").unlink()
    result = run("datasets", "verify", "toy")
    assert (result.code, result.out) == (1, "")
    first, second, last = result.error_lines
    assert first.startswith("mirenc: warning: toy: changed: table.csv (sha256 ")
    assert second == "mirenc: warning: toy: missing: kernels/a.ll"
    assert last.startswith(f"mirenc: error: 2 of 4 files of toy in {folder} are not as published")


def test_of_many_differences_the_first_are_told(run: Run, root: Path) -> None:
    folder = root / "device_mapping"
    folder.mkdir(parents=True)
    (folder / "cgo17-amd.669.csv").write_bytes(b"")
    lines = run("datasets", "verify", "device_mapping").error_lines
    assert len(lines) == 12
    assert lines[-2] == "mirenc: warning: ... and 663 more"


def test_a_mistyped_name_fails_before_anything_is_done(run: Run, root: Path, site: Site) -> None:
    for verb in (("verify",), ("fetch", "--yes")):
        run("datasets", *verb, "toy", "device_maping").failed("unknown dataset", "Did you mean 'device_mapping'")
    assert not site.requested
    run("datasets", "fetch").refused("NAME")


@pytest.mark.parametrize("verb", ["fetch", "verify"])
def test_examples_of_the_help_name_datasets(run: Run, verb: str) -> None:
    named = re.findall(rf"mirenc datasets {verb} (\w+)", run("datasets", verb, "--help").out)
    assert named
    assert set(named) <= set(DATASETS)


def test_fetch_shows_the_licence_and_delivers(run: Run, root: Path, site: Site) -> None:
    result = run("datasets", "fetch", "toy", "--yes")
    assert result.code == 0
    assert result.out == f"toy: 4 files in {root / 'toy'} (4 fetched)\n"
    for phrase in ("licence: MIT", "source:  these tests", f"to:      {root / 'toy'}", "4 of 4 files", "0.1 MB"):
        assert phrase in result.err
    run("datasets", "verify", "toy").ok()
    again = run("datasets", "fetch", "toy").ok().out
    assert again == f"toy: 4 files in {root / 'toy'} (all there already)\n"
    assert set(site.requested.values()) == {1}


def test_without_a_terminal_consent_must_be_typed(run: Run, root: Path, site: Site) -> None:
    result = run("datasets", "fetch", "toy")
    assert result.code == 1
    assert "licence: MIT" in result.err
    assert result.error_lines[-1].startswith("mirenc: error: fetching toy means accepting the licence above")
    assert result.error_lines[-1].endswith("Type: mirenc datasets fetch toy --yes")
    assert not site.requested
    assert not root.exists()


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_at_a_terminal_the_answer_decides(
    run: Run, root: Path, site: Site, monkeypatch: pytest.MonkeyPatch, answer: bytes, code: int
) -> None:
    at_a_terminal(monkeypatch)
    assert run("datasets", "fetch", "toy", stdin=answer).code == code
    assert (root / "toy" / "table.csv").exists() == (code == 0)


def test_a_damaged_file_is_listed_and_the_rest_delivered(run: Run, root: Path, site: Site) -> None:
    site.answers["/v1/kernels/b.ll"] = b"x"
    result = run("datasets", "fetch", "toy", "--yes")
    assert (result.code, result.out) == (1, "")
    assert result.error_lines[-2].startswith("mirenc: warning: toy: kernels/b.ll: ")
    assert result.error_lines[-1].startswith("mirenc: error: 1 of 4 files of toy could not be fetched")
    assert not (root / "toy" / "kernels" / "b.ll").exists()
    assert (root / "toy" / "kernels" / "c.ll").read_bytes() == CONTENT["kernels/c.ll"]


def test_without_a_network_the_message_names_the_way_around(run: Run, root: Path, site: Site) -> None:
    site.answers = dict.fromkeys(site.answers)
    result = run("datasets", "fetch", "toy", "--yes")
    assert result.code == 1
    assert "cannot be reached" in result.error_lines[-1]
    assert "MIRENC_DATA" in result.error_lines[-1]
