"""The folder of a table that was measured or compiled: ``machine.json``, and Parquet files beside it."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

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


class TableFolder(NamedTuple):
    """What was read of a folder."""

    machine: dict[str, Any]  # ``machine.json``
    files: list[Any]  # tables of Arrow, or what JSON says, in the order of the names
    content_hash: str  # SHA-256 of these files


@contextmanager
def read_folder(
    root: Path, task: str, version: int, names: Sequence[str], *, title: str, advice: str
) -> Iterator[TableFolder]:
    """Read the named files of a table; what goes wrong inside of the block is an error of the table as well.

    Raises TaskError: no table there, one of another task or format, or a damaged one; ``advice`` says how to make one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        machine = json.loads((root / MACHINE).read_text(encoding="utf-8"))
        if (machine["task"], machine["format"]) != (task, version):
            description = f"holds a table of the task {machine['task']} in format {machine['format']}"
            raise TaskError(f"{root} {description}; needed is one of the task {task} in format {version}. {advice}")
        content, files = hashlib.sha256(), []
        for name in names:
            data = (root / name).read_bytes()
            content.update(data)
            files.append(json.loads(data) if name.endswith(".json") else pq.read_table(root / name))
        yield TableFolder(machine, files, content.hexdigest())
    except FileNotFoundError as error:
        missing = Path(error.filename or MACHINE).name
        raise TaskError(f"{root}: no {title} ({missing} is missing). {advice}") from None
    except TaskError:  # which is a ValueError, too
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, pa.ArrowException) as error:
        raise TaskError(f"{root}: the {title} is damaged ({error!r}). {advice}") from None
