"""Tables of vectors as .npz: numpy arrays that any program reads, without pickle."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import padded, unpadded
from mirenc.search.table import LABELS, NUMBERS, SOURCE, Maker, VectorTable

_TEXTS = {name: f"{name}s" for name in LABELS if name not in NUMBERS}


def write_npz(part: Path, table: VectorTable, path: str) -> None:
    """Write a table to ``part``, which will be renamed to ``path``."""
    sources = {"files" if name == "file" else name: [source[name] for source in table.sources] for name in SOURCE}
    columns: dict[str, Any] = padded({array: table.labels[name] for name, array in _TEXTS.items()} | sources)
    columns |= {f"{name}s": np.array(table.labels[name], dtype=np.int64) for name in NUMBERS}
    columns["file_row"] = np.array(table.source_row, dtype=np.int64)
    columns["meta"] = np.array(json.dumps({**table.maker.to_json(), "files": table.sources}), dtype=np.str_)
    with zipfile.ZipFile(part, "w") as archive:
        for name, array in {"vectors": table.vectors, **columns}.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            # Deflate would take 0.04 CPU seconds for each MB of vectors, and save 6 % of it.
            member.compress_type = zipfile.ZIP_STORED if name == "vectors" else zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)


def read_npz(path: str) -> VectorTable:
    """Read a table."""
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        meta = json.loads(str(arrays["meta"]))
        texts = unpadded(arrays, [*_TEXTS.values()])
        labels: dict[str, list[Any]] = {name: texts[array] for name, array in _TEXTS.items()}
        labels |= {name: arrays[f"{name}s"].tolist() for name in NUMBERS}
        return VectorTable(Maker.from_json(meta), arrays["vectors"], labels, meta["files"], arrays["file_row"].tolist())
