"""Fetching, against a server of the tests' own: checked, resumable, and each failure one clear line."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path

import pytest
from decide.datasets.toy_dataset import CONTENT, Site, toy, write_packed, write_plain, write_tar

from mirenc.base.errors import DatasetError, MissingExtraError
from mirenc.decide.datasets.dataset_registry import DATASETS
from mirenc.decide.datasets.fetch import fetch, plan_fetch, verify

NAMES = sorted(CONTENT)


def fetch_toy(root: Path) -> dict[str, str]:
    return fetch(plan_fetch("toy", root), retries=0)


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_fetched_dataset_is_the_published_one(root: Path, site: Site) -> None:
    plan = plan_fetch("toy", root)
    assert plan.folder == root / "toy"
    assert not plan.folder.exists()
    steps: list[None] = []
    assert fetch(plan, retries=0, advance=lambda: steps.append(None)) == {}
    assert len(steps) == len(NAMES)
    assert {finding.status for finding in verify("toy", root)} == {"ok"}
    assert [path.name for path in plan.folder.iterdir() if path.name.startswith(".")] == []


def test_what_is_there_is_not_fetched_again(there: Path, site: Site) -> None:
    assert plan_fetch("toy", there).wanted == ()
    assert fetch_toy(there) == {}
    assert not site.requested


def test_a_stopped_run_goes_on(root: Path, site: Site) -> None:
    folder = write_plain(root / "toy")
    (folder / "kernels" / "b.ll").unlink()
    (folder / "table.csv").write_bytes(b"kernel,co")
    assert fetch_toy(root) == {}
    assert site.requested == {"kernels/b.ll": 1, "table.csv": 1}
    assert (folder / "table.csv").read_bytes() == CONTENT["table.csv"]


def test_files_that_lie_in_the_root_are_completed_there(root: Path, site: Site) -> None:
    (write_plain(root) / "kernels" / "b.ll").unlink()
    assert fetch_toy(root) == {}
    assert files_below(root) == NAMES


def test_a_packed_archive_with_a_fault_is_replaced_whole(root: Path, site: Site) -> None:
    """The folder that takes the fetched files is read in its place, so it must hold all of them."""
    path = write_packed(root / "toy") / "kernels.tar.xz"
    write_tar(path, {name: CONTENT[name] for name in ("kernels/a.ll", "kernels/c.ll")})
    assert fetch_toy(root) == {}
    assert site.requested == {"kernels/a.ll": 1, "kernels/b.ll": 1, "kernels/c.ll": 1}
    assert {finding.status for finding in verify("toy", root)} == {"ok"}


def test_other_content_than_published_is_not_kept_and_the_rest_is_delivered(root: Path, site: Site) -> None:
    site.answers["/v1/kernels/b.ll"] = b"define void @evil() {\n"
    failures = fetch_toy(root)
    assert list(failures) == ["kernels/b.ll"]
    assert "other content than was published" in failures["kernels/b.ll"]
    assert f"{site.address}/v1/kernels/b.ll" in failures["kernels/b.ll"]
    assert files_below(root / "toy") == ["kernels/a.ll", "kernels/c.ll", "table.csv"]


def test_an_address_that_is_gone_fails_alone(root: Path, site: Site) -> None:
    del site.answers["/v1/kernels/a.ll"]  # the first file asked for
    failures = fetch_toy(root)
    assert list(failures) == ["kernels/a.ll"]
    assert "404" in failures["kernels/a.ll"]
    assert files_below(root / "toy") == ["kernels/b.ll", "kernels/c.ll", "table.csv"]


def test_a_repeated_attempt_gets_what_the_first_did_not(
    root: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def mend(seconds: float) -> None:
        pauses.append(seconds)
        site.answers["/v1/table.csv"] = CONTENT["table.csv"]

    monkeypatch.setattr("mirenc.decide.datasets.fetch.time.sleep", mend)
    site.answers["/v1/table.csv"] = b"busy"
    assert fetch(plan_fetch("toy", root), retries=1) == {}
    assert len(pauses) == 1


def test_a_network_that_goes_ends_the_run_with_what_came(root: Path, site: Site) -> None:
    for name in ("kernels/b.ll", "kernels/c.ll", "table.csv"):
        site.answers[f"/v1/{name}"] = None
    failures = fetch_toy(root)
    assert list(failures) == ["kernels/b.ll", "kernels/c.ll", "table.csv"]
    assert files_below(root / "toy") == ["kernels/a.ll"]


def test_without_a_network_it_says_so_after_one_attempt(
    root: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setitem(DATASETS, "toy", toy(f"http://127.0.0.1:{taken.getsockname()[1]}"))
        with pytest.raises(DatasetError, match="cannot be reached") as caught:
            fetch_toy(root)
    assert "Check the network" in str(caught.value)
    assert "MIRENC_DATA" in str(caught.value)
    assert files_below(root) == []


def test_a_folder_that_cannot_be_written_to_is_told(root: Path, site: Site) -> None:
    (root / "file").write_bytes(b"")
    with pytest.raises(DatasetError, match=r"cannot be written to .* MIRENC_DATA"):
        fetch_toy(root / "file")
    assert not site.requested


def test_without_requests_the_extra_is_named(root: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mirenc\[tasks\]'"):
        fetch_toy(root)


def test_fetched_files_are_readable_as_the_users_others(root: Path, site: Site) -> None:
    before = os.umask(0o022)
    try:
        fetch_toy(root)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (root / "toy").rglob("*.*")}
    assert modes == {0o644}
