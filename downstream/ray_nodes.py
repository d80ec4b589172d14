"""A Parquet file of bitcode embedded by a Ray cluster of two nodes, against one process; and with a node that dies.

The nodes are two raylets of one machine, each with a core and a cache of its own. In the first run the node that is
not the head is killed (SIGKILL) after a quarter of the rows. Files are repeated under other names up to the number of
rows asked for; each process computes what repeats once, as the cache is on.

What you get: `FILE.json`: rows, rows lost, rows twice, largest difference of a vector's components by the length of the
vector, share of vectors that are equal to the bit, seconds; and how many bytes of vectors the
node that is killed had made by then.
How long: minutes.
On what: a folder of IR, Debian's `llvm-as-19`, and the `ray` extra:

    python downstream/ray_nodes.py corpus/ir --rows 20000 -o downstream/ray_nodes.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from ray.cluster_utils import Cluster

from mirenc.encoder.golden import difference
from mirenc.llvm.inputs.file_kind import find_inputs
from mirenc.llvm.sources.parquet import row_groups
from mirenc.search import Maker, VectorTable, VectorWriter, read_vectors
from mirenc.search.batches import embed_on_ray

STORE = 400 << 20  # bytes of a node's objects
# A node on a busy machine is slow to answer, and no answer at all is soon known.
PATIENCE = {"health_check_timeout_ms": 60_000, "health_check_period_ms": 2000, "health_check_failure_threshold": 5}
PATIENCE |= {"prestart_worker_first_driver": False, "enable_worker_prestart": False}
# As urgent as others on a machine that is shared: Ray's default is the lowest priority but four.
PATIENCE |= {"worker_niceness": 0}
LARGEST = 24 << 10  # bytes of a file of IR that is taken


def pack(folder: Path, rows: int, target: Path) -> None:
    """Write so many rows of bitcode, 250 to a row group."""
    files, codes = [], []
    for path in find_inputs(folder):
        if path.stat().st_size <= LARGEST and len(files) < rows:
            process = subprocess.run(["llvm-as-19", "-o", "-", path], capture_output=True, check=False)
            if process.returncode == 0:
                files.append(path)
                codes.append(process.stdout)
    names = [path.relative_to(folder).as_posix() for path in files]
    repeats = [(f"{row // len(files)}/{names[row % len(files)]}", codes[row % len(files)]) for row in range(rows)]
    columns = {"name": [name for name, _ in repeats], "content": pa.array([code for _, code in repeats], pa.binary())}
    pq.write_table(pa.table(columns), target, row_group_size=250)


def run_cluster(source: Path, target: Path, folder: Path, kill: bool) -> dict[str, Any]:
    """Embed by two nodes; what became of it but for the vectors."""
    caches = [{"MIRENC_CACHE": str(folder / f"cache-{target.stem}-{node}")} for node in "ab"]
    resources: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE}
    head_node = {**resources, "env_vars": caches[0], "_system_config": PATIENCE}
    cluster = Cluster(initialize_head=True, connect=False, head_node_args=head_node)
    second = cluster.add_node(**resources, env_vars=caches[1])
    cluster.wait_for_nodes()
    start, record = time.monotonic(), {"nodes": 2}
    writer, row_count = None, 0
    groups = row_groups([source])
    ray.init(cluster.address)
    for rows, errors in embed_on_ray(cluster.address, groups, "content", "name", form="plain"):
        assert not errors, errors
        writer = writer or VectorWriter(target, Maker.from_json(json.loads(rows.schema.metadata[b"mirenc"])))
        writer.add_rows(rows)
        row_count += len(rows)
        if "second_node_wrote" not in record and row_count >= sum(count for *_, count in groups) / 4:
            # Only a node's own workers write into its cache.
            cached = Path(caches[1]["MIRENC_CACHE"]).rglob("*")
            record |= {
                "after_rows": row_count,
                "second_node_wrote": sum(path.stat().st_size for path in cached if path.is_file()),
            }
            if kill:
                cluster.remove_node(second, allow_graceful=False)
    assert writer is not None
    with writer:
        pass
    record["seconds"] = round(time.monotonic() - start, 1)
    ray.shutdown()
    cluster.shutdown()
    return record


def compare(first: VectorTable, second: VectorTable) -> dict[str, Any]:
    """What the second has of the first."""
    missing, distinct_files = set(first.files) - set(second.files), set(second.files)
    comparison = {"rows": len(second), "lost": len(missing), "twice": len(second) - len(distinct_files)}
    comparison |= {"same_order": first.files == second.files, "same_maker": first.maker == second.maker}
    if first.files == second.files:
        comparison["difference"] = float(difference(second.vectors, first.vectors))
        comparison["equal_to_the_bit"] = float((first.vectors == second.vectors).all(axis=1).mean())
    return comparison


def main() -> None:
    """Pack, embed three times, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="a folder; what an earlier run made there is not made again")
    arguments = parser.parse_args()
    folder = arguments.work or Path(tempfile.mkdtemp(prefix="ray-nodes-"))
    source, ref_file = folder / "corpus.parquet", folder / "one.parquet"
    record: dict[str, Any] = {"ray": ray.__version__, "python": platform.python_version()}
    if not source.exists():
        pack(arguments.folder, arguments.rows, source)
    if not ref_file.exists():
        command = [
            sys.executable,
            "-m",
            "mirenc",
            "embed",
            source,
            "--column",
            "content",
            "--names",
            "name",
            "--form",
            "plain",
            "-o",
            ref_file,
        ]
        subprocess.run(command, check=True, env={**os.environ, "MIRENC_CACHE": str(folder / "cache-one")})
    ref = read_vectors(ref_file)
    record |= {
        "rows": len(ref),
        "bytes": source.stat().st_size,
        "modules": len({x["content_hash"] for x in ref.sources}),
    }
    for name in ("node_killed", "two_nodes"):
        target = folder / f"{name}.parquet"
        record[name] = run_cluster(source, target, folder, name == "node_killed") | compare(ref, read_vectors(target))
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    if arguments.work is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
