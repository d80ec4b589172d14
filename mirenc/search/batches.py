"""Vectors of one batch of modules after another, for engines that spread batches over machines.

Ray Data: ``dataset.map_batches(BatchEmbedder, batch_format="pyarrow", concurrency=8)``; Spark:
``frame.mapInPandas(embed_frames, SPARK_SCHEMA)``, with options by `functools.partial`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mirenc.base.errors import ConfigError, MirencError, ModelError, NoFunctionBodyError, needs
from mirenc.encoder import Part, load
from mirenc.encoder.weights import search_model
from mirenc.llvm.inputs.input import Input
from mirenc.llvm.sources.parquet import row_inputs
from mirenc.search.table import COUNTS, LABELS, NUMBERS, SOURCE, Maker, VectorTable
from mirenc.search.vectors import parquet_rows

_ERROR = ("file", "error", "error_type")  # what a row has of a module without an embedding
SPARK_SCHEMA = ", ".join(f"{name} string" for name in (*SOURCE, *LABELS, *_ERROR[1:], "mirenc") if name not in NUMBERS)
SPARK_SCHEMA += "".join(f", {name} bigint" for name in (*NUMBERS, *COUNTS)) + ", vector array<float>"
_BLOCK = 1 << 22  # bytes of modules in a task: few, for all nodes to have some
_CORES = 0.5  # that a worker asks for: the workers of nodes that die find room on the others
_READING = 0  # cores that reading asks for: what a dead node had is read again where workers hold all cores


class BatchEmbedder:
    """A loaded model that makes the rows of a file of vectors of each batch it is called with.

    A batch has modules in ``column``, as bitcode or text. Each is called what the column ``names`` says, or by the
    SHA-256 of its bytes. ``level``, ``purpose``, ``form``, ``function``, ``whiten`` and ``part`` are as in
    `mirenc.Encoder.embed`; ``loading`` is what `mirenc.load` takes; without a model in it,
    `mirenc.encoder.weights.search_model` says which.
    """

    def __init__(
        self, *, column: str = "content", names: str | None = None, part: Part = "both", loading: Any = None, **how: Any
    ) -> None:
        self._how = {"level": "module", "purpose": "search", "whiten": True, "jobs": 1, **how}
        name = search_model(self._how["level"], self._how["purpose"])
        self.encoder = load(**{"name_or_dir": name, **(loading or {})})
        facts = {name: self._how.get(name) for name in ("level", "purpose", "whiten", "form")}
        self.maker = Maker.of(self.encoder, part=part, **facts)  # type: ignore[arg-type]  # the encoder refuses others
        self._column, self._names = column, names

    def __call__(self, batch: Any) -> Any:
        """Rows, as an Arrow table, of an Arrow table, a pandas frame or a mapping of arrays.

        Columns as in a .parquet file of vectors, ``mirenc``: who made them, as JSON (`Maker.from_json`); ``error``, and
        ``error_type``, a class of `mirenc.base.errors`. A module that cannot be embedded is a row of its ``file`` and
        these two alone; one without a function body has the type ``NoFunctionBodyError``.
        """
        import pyarrow as pa

        batch = pa.table(batch)
        codes = [code or b"" for code in batch[self._column].cast(pa.binary()).to_pylist()]
        names = [None] * len(codes) if self._names is None else batch[self._names].to_pylist()
        inputs = [Input(str(names[row] or hashlib.sha256(code).hexdigest()), code) for row, code in enumerate(codes)]
        outcomes = list(self.encoder.embed_stream(inputs, **self._how))
        done = [(one.name, one.embedding) for one in outcomes if one.embedding is not None]
        width = self.encoder.width(self._how["purpose"], self.maker.part)  # type: ignore[arg-type]
        bad = [
            dict(zip(_ERROR, (one.name, str(one.error), type(one.error).__name__), strict=True))
            for one in outcomes
            if one.error is not None
        ]
        good = parquet_rows(VectorTable.of(self.maker, done, width))
        failed = pa.Table.from_pylist(bad, pa.schema([(name, pa.string()) for name in _ERROR]))
        rows = pa.concat_tables([good, failed], promote_options="default")
        made_by = pa.array([json.dumps(self.maker.to_json())] * len(rows), pa.string())
        return rows.replace_schema_metadata().append_column("mirenc", made_by)


def embed_frames(frames: Iterable[Any], **options: Any) -> Iterator[Any]:
    """What Spark's ``mapInPandas`` takes: `BatchEmbedder`, with its options, on each of some pandas frames."""
    embedder = BatchEmbedder(**options)
    return (embedder(frame).to_pandas(integer_object_nulls=True).astype(object) for frame in frames)


def embed_on_ray(
    address: str, groups: list[tuple[Path, int, int]], column: str, names: str | None, **options: Any
) -> Iterator[tuple[Any, list[MirencError]]]:
    """Rows for `VectorWriter.add_rows`, and what failed, some at a time, in the order of the modules.

    The nodes of the cluster at ``address`` read the row groups (`mirenc.llvm.sources.parquet.row_groups`) themselves.
    What a node had that dies is computed by another. Raises ConfigError: no cluster; ModelError: nodes differ.
    """
    with needs("ray", "a cluster needs Ray Data"):
        import ray.data
    try:
        ray.init(address, ignore_reinit_error=True)
    except ConnectionError as error:
        raise ConfigError(f"no Ray cluster at {address} ({error}). Start one: ray start --head") from None
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order, context.target_max_block_size = True, _BLOCK

    def rows_of(at: dict[str, Any]) -> Iterator[dict[str, Any]]:
        group = (Path(at["path"]), at["first"], at["count"])
        return ({"content": one.value, "name": one.name} for one in row_inputs(group, column, names))

    items = [{"path": str(path), "first": first, "count": count} for path, first, count in groups]
    modules = ray.data.from_items(items, override_num_blocks=len(items)).flat_map(rows_of, num_cpus=_READING)
    tables = modules.map_batches(
        BatchEmbedder,
        fn_constructor_kwargs={**options, "names": "name"},
        batch_size=64,
        batch_format="pyarrow",
        num_cpus=_CORES,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=max(1, int(ray.cluster_resources()["CPU"]))),
    )
    makers: set[str] = set()
    for rows in tables.iter_batches(batch_size=None, batch_format="pyarrow"):
        makers.update(rows["mirenc"].unique().to_pylist())
        if len(makers) > 1:
            raise ModelError(f"nodes differ in model or release: {sorted(makers)}. Install one mirenc on all of them")
        good = rows.filter(rows["error"].is_null()).drop_columns([*_ERROR[1:], "mirenc"])
        failed = rows.filter(rows["error"].is_valid()).select(_ERROR[1:]).to_pylist()
        kinds = {NoFunctionBodyError.__name__: NoFunctionBodyError}  # a file that is empty has not failed
        errors = [kinds.get(one["error_type"], MirencError)(one["error"]) for one in failed]
        yield good.replace_schema_metadata({"mirenc": next(iter(makers), "")}), errors
