"""Parquet files with bitcode, in the layout of the public ComPile corpus, to a folder of IR.

    python pretrain/compile_parquet.py DATA.parquet IR                    # then: mirenc corpus build IR -o corpus

DATA may be a folder of such files. Columns: ``content`` (bitcode), ``package_source``, ``language``; ``opt_level``
where it is there. No licence is read. The project is the package; a row that is no bitcode, is too large or comes from
a package kept for evaluation is one record of the log. A run that was stopped goes on, and a file that changed is read
again.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirenc.base.errors import IRFileError, MirencError
from mirenc.base.progress import progress
from mirenc.llvm.child.parsing_service import BITCODE_MAGIC
from mirenc.llvm.sources.compile_programs import Limits
from mirenc.llvm.sources.ir_folder import IRFolder, IRRecord, Status, digest, stamp_of
from mirenc.llvm.sources.parquet import find_parquet, read_rows, row_groups
from mirenc.llvm.sources.reserved import is_reserved_package

NEEDED = ("content", "package_source", "language")
UNKNOWN = "unknown"
LONGEST_PROJECT = 100


def make_ir(source: Path, out: Path, limits: Limits, advance: Any = lambda count, note: None) -> None:
    """Write the modules of a file, or of the files below a folder, as bitcode; ``advance`` is told of rows.

    Raises ConfigError: no parquet, or without a column. Raises IRFileError: nothing became IR.
    """
    top = source if source.is_dir() else source.parent
    files = {path.relative_to(top).as_posix(): path for path in find_parquet(source)}
    groups, stamps = row_groups(files.values()), {name: stamp_of([path]) for name, path in files.items()}
    with IRFolder(out) as folder:
        folder.keep_only(lambda record: is_current(folder, record, stamps))
        for path, first, count in groups:
            name = path.relative_to(top).as_posix()
            recorded_files = {record.file for record in folder.records()}
            rows = [f"{name}/{row:08d}.bc" for row in range(first, first + count)]
            if recorded_files.issuperset(rows):
                continue
            columns = [*NEEDED, *(["opt_level"] if has_level(path) else [])]
            for file, values in zip(rows, read_rows(path, first, columns), strict=True):
                if file not in recorded_files:
                    folder.add(*record_of(file, dict(zip(columns, values, strict=True)), limits, stamps[name]))
                advance(1, note=path.name)
        print(folder.summary(), file=sys.stderr)
        if not folder.kept():
            raise IRFileError(f"{source}: nothing in it became IR. {out / 'log.jsonl'} has a line for each try")


def is_current(folder: IRFolder, record: IRRecord, stamps: Mapping[str, str]) -> bool:
    """Whether what a record is made of is as it was, and its IR is there."""
    is_unchanged = stamps.get(record.file.rsplit("/", 1)[0]) == record.stamp
    return is_unchanged and (record.status != "ok" or folder.path_of(record).is_file())


def has_level(path: Path) -> bool:
    """Whether a file says of which optimisation level its rows are."""
    import pyarrow.parquet

    return "opt_level" in pyarrow.parquet.read_schema(path).names


def record_of(file: str, values: dict[str, Any], limits: Limits, stamp: str) -> tuple[IRRecord, bytes | None]:
    """A row's record, and its IR if it is any."""
    data = values["content"] or b""
    package = values["package_source"] or UNKNOWN
    status: Status = "large" if len(data) > limits.max_file_bytes else "ok"
    if is_reserved_package(package):
        status = "reserved"
    elif not data.startswith(BITCODE_MAGIC):
        status = "failed"
    reason = "no bitcode" if status == "failed" else ""
    language, level = values["language"] or UNKNOWN, folder_name(str(values.get("opt_level") or UNKNOWN))
    origin = (folder_name(package), "", file, language, level, UNKNOWN)
    record = IRRecord(*origin, hashlib.sha256(data).hexdigest(), len(data), status, reason, stamp)
    return record, data if status == "ok" else None


def folder_name(package: str) -> str:
    """Name of a folder for a package, which may be an address; two packages never share one."""
    name = re.sub(r"[^A-Za-z0-9._+-]+", "_", package.split("://")[-1]).strip("._") or "_"
    if name == package and len(name) <= LONGEST_PROJECT:
        return name
    return f"{name[-LONGEST_PROJECT:]}-{digest(package) % 16**8:08x}"


def main() -> None:
    """Command line."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        with progress("unpacking", None) as advance:
            make_ir(Path(sys.argv[1]), Path(sys.argv[2]), Limits(), advance)
    except MirencError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
