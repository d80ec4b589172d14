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
            done = subprocess.run(["llvm-as-19", "-o", "-", path], capture_output=True, check=False)
            if done.returncode == 0:
                files.append(path)
                codes.append(done.stdout)
    names = [path.relative_to(folder).as_posix() for path in files]
    again = [(f"{row // len(files)}/{names[row % len(files)]}", codes[row % len(files)]) for row in range(rows)]
    columns = {"name": [name for name, _ in again], "content": pa.array([code for _, code in again], pa.binary())}
    pq.write_table(pa.table(columns), target, row_group_size=250)


def on_cluster(source: Path, target: Path, work: Path, kill: bool) -> dict[str, Any]:
    """Embed by two nodes; what became of it but for the vectors."""
    caches = [{"MIRENC_CACHE": str(work / f"cache-{target.stem}-{node}")} for node in "ab"]
    resources: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE}
    head = {**resources, "env_vars": caches[0], "_system_config": PATIENCE}
    cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
    second = cluster.add_node(**resources, env_vars=caches[1])
    cluster.wait_for_nodes()
    started, record = time.monotonic(), {"nodes": 2}
    writer, taken = None, 0
    groups = row_groups([source])
    ray.init(cluster.address)
    for rows, errors in embed_on_ray(cluster.address, groups, "content", "name", form="plain"):
        assert not errors, errors
        writer = writer or VectorWriter(target, Maker.from_json(json.loads(rows.schema.metadata[b"mirenc"])))
        writer.add_rows(rows)
        taken += len(rows)
        if "second_node_wrote" not in record and taken >= sum(count for *_, count in groups) / 4:
            # Only a node's own workers write into its cache.
            cached = Path(caches[1]["MIRENC_CACHE"]).rglob("*")
            record |= {
                "after_rows": taken,
                "second_node_wrote": sum(one.stat().st_size for one in cached if one.is_file()),
            }
            if kill:
                cluster.remove_node(second, allow_graceful=False)
    assert writer is not None
    with writer:
        pass
    record["seconds"] = round(time.monotonic() - started, 1)
    ray.shutdown()
    cluster.shutdown()
    return record


def against(one: VectorTable, other: VectorTable) -> dict[str, Any]:
    """What the second has of the first."""
    missing, known = set(one.files) - set(other.files), set(other.files)
    comparison = {"rows": len(other), "lost": len(missing), "twice": len(other) - len(known)}
    comparison |= {"same_order": one.files == other.files, "same_maker": one.maker == other.maker}
    if one.files == other.files:
        comparison["difference"] = float(difference(other.vectors, one.vectors))
        comparison["equal_to_the_bit"] = float((one.vectors == other.vectors).all(axis=1).mean())
    return comparison


def main() -> None:
    """Pack, embed three times, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("-o", dest="output", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="a folder; what an earlier run made there is not made again")
    arguments = parser.parse_args()
    work = arguments.work or Path(tempfile.mkdtemp(prefix="ray-nodes-"))
    source, alone = work / "corpus.parquet", work / "one.parquet"
    record: dict[str, Any] = {"ray": ray.__version__, "python": platform.python_version()}
    if not source.exists():
        pack(arguments.folder, arguments.rows, source)
    if not alone.exists():
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
            alone,
        ]
        subprocess.run(command, check=True, env={**os.environ, "MIRENC_CACHE": str(work / "cache-one")})
    one = read_vectors(alone)
    record |= {
        "rows": len(one),
        "bytes": source.stat().st_size,
        "modules": len({x["content_hash"] for x in one.sources}),
    }
    for name in ("node_killed", "two_nodes"):
        target = work / f"{name}.parquet"
        record[name] = on_cluster(source, target, work, name == "node_killed") | against(one, read_vectors(target))
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    if arguments.work is None:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
