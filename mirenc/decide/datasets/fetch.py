"""Comparing a dataset on disk with the published one, and fetching it file by file."""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

from mirenc.base.errors import DatasetError, needs
from mirenc.base.writing import delivered
from mirenc.decide.datasets.dataset_files import archive_path, hash_members
from mirenc.decide.datasets.dataset_registry import Dataset, data_root, dataset_folder, find_folder, get_dataset

_CONNECTIONS = 4  # at once: hundreds of small files spend their time waiting
_TIMEOUT = 30  # seconds without an answer


class Finding(NamedTuple):
    """The state of one file of a dataset."""

    file: str  # Name as in the checksums
    # ``ok``; ``missing``; ``changed`` (other content, or unreadable); ``extra``: in an archive, and not published
    status: Literal["ok", "missing", "changed", "extra"]
    detail: str = ""  # for people; empty where the status says all


def verify(name: str, data_dir: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Compare a dataset on disk with its checksums, file by file. Raises DatasetError: unknown, or no file is there."""
    dataset, folder = get_dataset(name), dataset_folder(name, data_dir)
    findings: list[Finding] = []
    for part in (*dataset.tables, *dataset.archives):
        published = dataset.below(part)
        try:
            digests = hash_members(folder, part)
        except DatasetError as error:
            findings += [Finding(file, "changed", str(error)) for file in published]
            continue
        for file in {**published, **digests}:
            digest, expected = digests.get(file), published.get(file)
            if digest and expected and digest != expected:
                findings.append(Finding(file, "changed", f"sha256 {digest[:12]}..., published {expected[:12]}..."))
            else:
                findings.append(Finding(file, "missing" if not digest else "ok" if expected else "extra"))
    return findings


def _hash(sums: dict[str, str]) -> str:
    """SHA-256 of a checksum file: lines ``sha256  name``, sorted by name."""
    return hashlib.sha256("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()).hexdigest()


def published_hash(name: str) -> str:
    """What `content_hash` gives for the dataset as it was published. Raises DatasetError: unknown dataset."""
    return _hash(get_dataset(name).sums)


def content_hash(name: str, data_dir: str | os.PathLike[str] | None = None) -> str:
    """One SHA-256 for the data on disk, whatever their layout; `published_hash` where they are whole and unchanged.

    Raises DatasetError: unknown dataset; no file of it is there, or one cannot be read.
    """
    dataset, folder = get_dataset(name), dataset_folder(name, data_dir)
    parts = [hash_members(folder, part) for part in (*dataset.tables, *dataset.archives)]
    return _hash({file: digest for part in parts for file, digest in part.items()})


class FetchPlan(NamedTuple):
    """The files to fetch, which are missing or changed on disk, and the folder they go to."""

    dataset: Dataset
    folder: Path
    wanted: tuple[str, ...]


def plan_fetch(name: str, data_dir: str | os.PathLike[str] | None = None) -> FetchPlan:
    """Compare what is on disk with what is published; nothing is fetched. Raises DatasetError: unknown dataset."""
    dataset, folder = get_dataset(name), find_folder(name, data_dir)
    if folder is None:
        return FetchPlan(dataset, data_root(data_dir) / name, tuple(dataset.sums))
    faulty_files = {finding.file for finding in verify(name, data_dir) if finding.status in ("missing", "changed")}
    for archive in dataset.archives:
        # Fetched files go into a folder that is then read in place of the packed archive, so it must be whole.
        path, members = archive_path(folder, archive), dataset.below(archive).keys()
        if path is not None and path.is_file() and faulty_files & members:
            faulty_files |= members
    return FetchPlan(dataset, folder, tuple(sorted(faulty_files)))


def fetch(plan: FetchPlan, *, retries: int = 2, advance: Callable[[], object] = lambda: None) -> dict[str, str]:
    """Fetch the wanted files. The caller shows the licence and asks for consent.

    A file that fails is tried again ``retries`` times, each after a longer pause; ``advance`` is called after each
    file. Returns why files could not be fetched, by their names. Raises MissingExtraError: no requests; DatasetError:
    the folder cannot be written to, or nothing could be reached at all.
    """
    with needs("tasks", "fetching datasets needs requests"):
        import requests
    if not plan.wanted:
        return {}
    dataset, folder = plan.dataset, plan.folder
    unreachable = threading.Event()

    def get(file: str) -> str:
        """Fetch one file into its place. Returns why that failed; "" where it did not."""
        if unreachable.is_set():
            return "not tried, the network is gone"
        for attempt in range(retries + 1):
            if attempt:
                time.sleep(attempt)
            connection_error = ""
            try:
                response = requests.get(dataset.url(file), timeout=_TIMEOUT)
                response.raise_for_status()
            except (requests.ConnectionError, requests.Timeout) as error:
                reason = connection_error = type(error).__name__
            except requests.RequestException as error:
                reason = str(error)  # as in "404 Client Error: Not Found for url: https://..."
            else:
                if hashlib.sha256(response.content).hexdigest() == dataset.sums[file]:
                    (folder / file).parent.mkdir(exist_ok=True)
                    with delivered(folder / file) as part:
                        part.write_bytes(response.content)
                    return ""
                reason = f"{dataset.url(file)} gave other content than was published; it was not kept"
        if connection_error:
            unreachable.set()
        return reason

    try:
        folder.mkdir(parents=True, exist_ok=True)
        # One alone first: without a network it is one attempt, not hundreds.
        first_file, *other_files = plan.wanted
        failures = {first_file: get(first_file)}
        advance()
        if unreachable.is_set():
            raise DatasetError(
                f"{dataset.url(first_file)}: cannot be reached ({failures[first_file]}). Check the network. "
                f"On a machine without one, copy the folder {dataset.name} from another machine and set "
                "MIRENC_DATA to the folder that holds it"
            )
        with ThreadPoolExecutor(_CONNECTIONS) as pool:
            for file, reason in zip(other_files, pool.map(get, other_files), strict=True):
                failures[file] = reason
                advance()
    except DatasetError:
        raise
    except OSError as error:
        advice = "Set MIRENC_DATA to a folder of yours, or name one with --data"
        raise DatasetError(f"{folder}: cannot be written to ({error.strerror}). {advice}") from None
    return {file: reason for file, reason in failures.items() if reason}
