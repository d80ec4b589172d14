"""Folders of a table that was measured or compiled: ``machine.json``, and Parquet files beside it."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mirenc.base.errors import TaskError
from mirenc.base.writing import delivered

MACHINE = "machine.json"


def write_json(path: Path, value: object) -> None:
    """Write a file, complete or not at all."""
    with delivered(path) as part:
        part.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def write_parquet(path: Path, table: Any, **options: Any) -> None:
    """Write a table of Arrow, complete or not at all; ``options`` are pyarrow's."""
    import pyarrow.parquet as pq

    with delivered(path) as part:
        pq.write_table(table, part, compression="zstd", **options)


def read_folder(
    root: Path, task: str, version: int, names: Sequence[str], anew: str
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """``machine.json``, the named files (tables of Arrow, or what JSON says), and the SHA-256 of these.

    Raises TaskError: a table of another task or format.
    """
    import pyarrow.parquet as pq

    machine = json.loads((root / MACHINE).read_text(encoding="utf-8"))
    if (machine["task"], machine["format"]) != (task, version):
        there = f"a table of {machine['task']!r}, format {machine['format']}"
        raise TaskError(f"{root}: {there}; {task!r}, format {version} is needed. {anew}")
    content, found = hashlib.sha256(), {}
    for name in names:
        data = (root / name).read_bytes()
        content.update(data)
        found[name] = json.loads(data) if name.endswith(".json") else pq.read_table(root / name)
    return machine, found, content.hexdigest()


@contextmanager
def table_errors(root: Path, what: str, anew: str) -> Iterator[None]:
    """What goes wrong in reading a table, as a `TaskError` that says how to make it ``anew``."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError as error:
        missing = Path(error.filename or MACHINE).name
        raise TaskError(f"{root}: no {what} ({missing} is missing). {anew}") from None
    except TaskError:  # which is a ValueError, too
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, pa.ArrowException) as error:
        raise TaskError(f"{root}: the {what} is damaged ({error!r}). {anew}") from None
