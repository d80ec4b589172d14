"""How good and how dear `mirenc search --approximate` is, against exact search, by the number of rows.

The rows are made from real vectors: each is a pair of them, mixed (at least half of one), and noise of a tenth of its
length. The queries are made in the same way from other pairs. Times are of a process's CPU as well as of the wall,
since a machine that others use, too, lengthens only the second.

What you get: `FILE.json`: for each number of rows the recall at 1 and 10, of exact search's nearest; building: seconds,
CPU seconds, largest memory; bytes of both files; queries a second, and memory after them, private and mapped.
How long: a million rows take ten minutes of one core; ten million would take two hours, and 53 GB of Parquet.
On what: a .parquet file of vectors by `mirenc embed`, and the `ann` extra:

    mirenc embed corpus/ir --level function --form plain -o functions.parquet
    python pretrain/approximate_search.py functions.parquet --rows 100000 1000000 -o pretrain/approximate_search.json
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import usearch

from mirenc.base.cosines import nearest
from mirenc.search import VectorTable, VectorWriter, read_vectors
from mirenc.search.approximate import nearest_approximate
from mirenc.search.table import COUNTS
from mirenc.search.vectors import parquet_rows

QUERIES = 500
BLOCK = 4096


def mixed(real: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Rows made from pairs of real vectors, (count, D) float32."""
    first, second = (real[random.integers(len(real), size=count)] for _ in range(2))
    share = random.uniform(0.5, 1, size=(count, 1)).astype(np.float32)
    rows = share * first + (1 - share) * second
    noise = random.normal(size=rows.shape).astype(np.float32)
    length = np.linalg.norm(rows, axis=1, keepdims=True) / np.sqrt(rows.shape[1])
    return rows + 0.1 * length * noise


def write(table: VectorTable, rows: int, path: Path) -> None:
    """A .parquet file of so many mixed rows."""
    random = np.random.default_rng(0)
    with VectorWriter(path, table.maker) as writer:
        for first in range(0, rows, BLOCK):
            vectors = mixed(table.vectors, min(BLOCK, rows - first), random)
            names = [f"f{first + row}" for row in range(len(vectors))]
            labels = {name: [0 if name in ("depth", "source_line") else ""] * len(names) for name in table.labels}
            source = {"file": "mixed", "file_hash": "", "content_hash": "", "own_form": "O2"}
            source["counts"] = dict.fromkeys(COUNTS, 0)
            block = VectorTable(table.maker, vectors, {**labels, "name": names}, [source], [0] * len(names))
            writer.add_rows(parquet_rows(block))


def seconds_since(start: tuple[float, float]) -> dict[str, float]:
    """Seconds since a start, of the wall and of this process's CPU."""
    return {"seconds": round(time.monotonic() - start[0], 2), "cpu": round(time.process_time() - start[1], 2)}


def build(path: str) -> dict[str, Any]:
    """Make the index, in a process of its own."""
    start = time.monotonic(), time.process_time()
    read_vectors(path, approximate=True)
    return {**seconds_since(start), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def ask(path: str, queries: np.ndarray) -> tuple[list[tuple[int, np.ndarray, np.ndarray, dict[str, float]]], Any]:
    """Expansion, rows and cosines of the queries by the index, and rates; memory. In a process of its own."""
    start = time.monotonic(), time.process_time()
    index = read_vectors(path, approximate=True).vectors
    opening = seconds_since(start)
    answers = []
    usual = index.expansion_search
    for expansion in (usual // 4, usual, usual * 4):
        index.expansion_search = expansion
        nearest_approximate(queries, index)  # what is mapped is read from disk once
        start = time.monotonic(), time.process_time()
        rows, cosines = nearest_approximate(queries, index)
        spent = seconds_since(start)
        rates = {"a_second": len(queries) / spent["seconds"], "a_cpu_second": len(queries) / spent["cpu"]}
        answers.append((expansion, rows, cosines, rates))
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    memory = {name: int(status[key].split()[0]) * 1024 for name, key in (("private", "RssAnon"), ("mapped", "RssFile"))}
    return answers, {"open": opening, **memory}


def exactly(path: Path, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and cosines of the ten nearest, by exact search a row group at a time."""
    rows, cosines = np.zeros((len(queries), 0), dtype=np.int64), np.zeros((len(queries), 0), dtype=np.float32)
    first = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BLOCK, columns=["vector"]):
            block = batch.column("vector").flatten().to_numpy().reshape(len(batch), -1)
            block_rows, block_cosines = nearest(queries, block, 10)
            rows, cosines = np.hstack([rows, block_rows + first]), np.hstack([cosines, block_cosines])
            keep = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
            rows, cosines = np.take_along_axis(rows, keep, 1), np.take_along_axis(cosines, keep, 1)
            first += len(batch)
    return rows, cosines


def measure(table: VectorTable, rows: int, folder: Path) -> dict[str, Any]:
    """All figures of one number of rows."""
    path = folder / f"{rows}.parquet"
    write(table, rows, path)
    queries = mixed(table.vectors, QUERIES, np.random.default_rng(1))
    with get_context("spawn").Pool(1) as pool:
        building = pool.apply(build, [str(path)])
    with get_context("spawn").Pool(1) as pool:
        answers, search_costs = pool.apply(ask, [str(path), queries])
    start = time.monotonic(), time.process_time()
    exact, cosines = exactly(path, queries)
    spent = seconds_since(start)
    record: dict[str, Any] = {"rows": rows, "build": building, "search": search_costs, "by_expansion": {}}
    for expansion, neighbours, approximate_cosines, rates in answers:
        overlaps = [len(set(found) & set(true_rows)) for found, true_rows in zip(neighbours, exact, strict=True)]
        recall = {"recall_10": np.mean(overlaps) / 10, "recall_1": np.mean(neighbours[:, 0] == exact[:, 0])}
        recall["cosine_error"] = np.abs(approximate_cosines - cosines)[neighbours == exact].max()
        record["by_expansion"][expansion] = {**recall, **rates}
    record["exact"] = {"a_second": QUERIES / spent["seconds"], "a_cpu_second": QUERIES / spent["cpu"]}
    record["bytes"] = {suffix: path.with_suffix(suffix).stat().st_size for suffix in (".parquet", ".usearch")}
    record["mean_cosine"] = {"first": float(cosines[:, 0].mean()), "tenth": float(cosines[:, 9].mean())}
    return record


def main() -> None:
    """Measure, and write after each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("-o", dest="output", type=Path, required=True)
    arguments = parser.parse_args()
    table = read_vectors(arguments.vectors)
    header = {"model": table.maker.model, "level": table.level, "real": len(table), "usearch": usearch.__version__}
    sizes = []
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            sizes.append(measure(table, rows, Path(folder)))
        arguments.output.write_text(json.dumps({**header, "sizes": sizes}, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
