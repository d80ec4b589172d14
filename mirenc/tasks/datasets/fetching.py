"""Fetching datasets from their public addresses, through pooch: file by file, checked, and resumable.

A file reaches its place only with the published checksum, so what is there needs no second download, and a stopped run
goes on where it was.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirenc.errors import MissingExtraError
from mirenc.tasks.datasets.places import data_root, find_folder
from mirenc.tasks.datasets.reading import archive_path
from mirenc.tasks.datasets.registry import DataFile, Dataset, DatasetError, get_dataset
from mirenc.tasks.datasets.verifying import verify_folder

__all__ = ["FetchFailure", "FetchPlan", "fetch", "plan_fetch"]

_AT_ONCE = 4  # connections: hundreds of small files spend their time waiting
_TIMEOUT = 30  # seconds without an answer


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What is to be fetched.

    Attributes
    ----------
    dataset : Dataset
    folder : Path
        Where it goes.
    wanted : tuple of DataFile
        Missing or changed on disk; the others are there as published.
    """

    dataset: Dataset
    folder: Path
    wanted: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """A file that could not be fetched, and why."""

    file: str
    reason: str


def plan_fetch(name: str, data_dir: str | os.PathLike[str] | None = None) -> FetchPlan:
    """Compare what is on disk with what is published; nothing is fetched.

    Raises
    ------
    DatasetError
        Unknown dataset.
    """
    dataset = get_dataset(name)
    folder = find_folder(name, data_dir)
    if folder is None:
        return FetchPlan(dataset, data_root(data_dir) / name, dataset.files)
    bad = {finding.file for finding in verify_folder(dataset, folder) if finding.status in ("missing", "changed")}
    for archive in dataset.archives:
        # What is fetched goes into a folder, which from then on is read in place of the packed archive: all or nothing.
        place = archive_path(folder, archive)
        members = {file.name for file in dataset.below(archive)}
        if place is not None and place.is_file() and bad & members:
            bad |= members
    return FetchPlan(dataset, folder, tuple(file for file in dataset.files if file.name in bad))


def fetch(plan: FetchPlan, *, retries: int = 2, advance: Callable[[], object] = lambda: None) -> list[FetchFailure]:
    """Fetch the wanted files; showing the licence and asking for consent is the caller's.

    Parameters
    ----------
    plan : FetchPlan
    retries : int
        Further attempts at a file, each after a longer pause (1 s, 2 s, ...).
    advance : callable
        Called after each file, fetched or not.

    Returns
    -------
    list of FetchFailure
        Sorted by file; the other files are in place.

    Raises
    ------
    MissingExtraError
        pooch is not installed.
    DatasetError
        The folder cannot be written to, or nothing could be reached at all.
    """
    try:
        import pooch  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError(f"fetching datasets needs pooch ({error}). Type: pip install 'mirenc[tasks]'") from None
    if not plan.wanted:
        return []
    pooch.get_logger().setLevel("ERROR")  # it tells every file; the caller has a progress bar
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        # Hidden, so that what a killed run leaves is never read as data.
        staging = tempfile.TemporaryDirectory(prefix=".fetch-", dir=plan.folder)
    except OSError as error:
        raise DatasetError(
            f"{plan.folder}: cannot be written to ({error.strerror}). "
            "Set MIRENC_DATA to a folder of yours, or name one with --data"
        ) from None
    with staging as temporary:
        source = pooch.create(
            path=temporary,
            base_url="",
            registry={file.name: f"sha256:{file.sha256}" for file in plan.wanted},
            urls={file.name: file.url for file in plan.wanted},
            retry_if_failed=retries,
        )
        for part in plan.dataset.archives:
            (Path(temporary) / part).mkdir()  # pooch's own attempt is not safe in threads
        return _Fetcher(plan, source, pooch.HTTPDownloader(timeout=_TIMEOUT)).run(advance)


class _Fetcher:
    """One run: the files of a plan through a few connections, until all are tried or the network is gone."""

    def __init__(self, plan: FetchPlan, source: Any, downloader: Any) -> None:
        self.plan = plan
        self.source = source
        self.downloader = downloader
        self.unreachable = threading.Event()

    def run(self, advance: Callable[[], object]) -> list[FetchFailure]:
        # One alone first: without a network it is one attempt, not hundreds.
        first, *rest = self.plan.wanted
        failure = self._get(first)
        advance()
        if failure is not None and self.unreachable.is_set():
            raise DatasetError(
                f"{first.url}: cannot be reached ({failure.reason}). Check the network. "
                f"On a machine without one, copy the folder {self.plan.dataset.name} from another machine and set "
                "MIRENC_DATA to the folder that holds it"
            )
        failures = [failure]
        pool = ThreadPoolExecutor(_AT_ONCE)
        try:
            for done in as_completed([pool.submit(self._get, file) for file in rest]):
                failures.append(done.result())
                advance()
        finally:
            pool.shutdown(cancel_futures=True)  # an interrupted run ends after the files in hand
        return sorted((failure for failure in failures if failure is not None), key=lambda failure: failure.file)

    def _get(self, file: DataFile) -> FetchFailure | None:
        """Fetch one file into its place; says why where that failed."""
        import requests

        if self.unreachable.is_set():
            return FetchFailure(file.name, "not tried, the network is gone")
        try:
            staged = self.source.fetch(file.name, downloader=self.downloader)
        except (requests.ConnectionError, requests.Timeout) as error:
            self.unreachable.set()
            return FetchFailure(file.name, type(error).__name__)
        except requests.RequestException as error:
            return FetchFailure(file.name, str(error))  # as in "404 Client Error: Not Found for url: https://..."
        except ValueError:  # pooch's, for a checksum
            return FetchFailure(file.name, f"{file.url} gave other content than was published; it was not kept")
        target = self.plan.folder / file.name
        target.parent.mkdir(exist_ok=True)
        # A copy, because pooch's temporary file is readable by its owner only.
        copy = shutil.copyfile(staged, f"{staged}.copy")
        os.replace(copy, target)
        return None
