"""Embed batches of modules, for engines that spread batches over machines.

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

_ERROR = ("file", "error", "error_type")  # columns of a module that cannot be embedded
SPARK_SCHEMA = ", ".join(f"{name} string" for name in (*SOURCE, *LABELS, *_ERROR[1:], "mirenc") if name not in NUMBERS)
SPARK_SCHEMA += "".join(f", {name} bigint" for name in (*NUMBERS, *COUNTS)) + ", vector array<float>"
_BLOCK = 1 << 22  # bytes of modules in a task: small, so that every node gets some
_WORKER_CORES = 0.5  # so that the workers of a node that dies find room on the others
_READER_CORES = 0  # so that the input of a dead node can be read again while workers hold all cores


class BatchEmbedder:
    """A loaded model; called with a batch of modules, it returns the rows of a .parquet file of vectors.

    A batch has modules, as bitcode or text, in ``column``, and their names in the column ``names``, by default the
    SHA-256 of their bytes. ``part`` and ``options`` (``level``, ``purpose``, ``form``, ``function``, ``whiten``) are as
    in `mirenc.Encoder.embed`. ``loading`` are arguments of `mirenc.load`; the default model is that of
    `mirenc.encoder.weights.search_model`.
    """

    def __init__(
        self,
        *,
        column: str = "content",
        names: str | None = None,
        part: Part = "both",
        loading: Any = None,
        **options: Any,
    ) -> None:
        self._options = {"level": "module", "purpose": "search", "whiten": True, "jobs": 1, **options}
        name = search_model(self._options["level"], self._options["purpose"])
        self.encoder = load(**{"name_or_dir": name, **(loading or {})})
        facts = {name: self._options.get(name) for name in ("level", "purpose", "whiten", "form")}
        self.maker = Maker.of(self.encoder, part=part, **facts)  # type: ignore[arg-type]  # the encoder refuses others
        self._column, self._names = column, names

    def __call__(self, batch: Any) -> Any:
        """Embed a batch (an Arrow table, a pandas frame or a mapping of arrays) into an Arrow table.

        Columns are those of a .parquet file of vectors, ``mirenc`` (the `Maker` as JSON), ``error``, and
        ``error_type``, a class of `mirenc.base.errors`. A module that cannot be embedded is a row with its ``file`` and
        the error alone; for one without a function body that is a ``NoFunctionBodyError``.
        """
        import pyarrow as pa

        batch = pa.table(batch)
        codes = [code or b"" for code in batch[self._column].cast(pa.binary()).to_pylist()]
        names = [None] * len(codes) if self._names is None else batch[self._names].to_pylist()
        inputs = [Input(str(names[row] or hashlib.sha256(code).hexdigest()), code) for row, code in enumerate(codes)]
        outcomes = list(self.encoder.embed_stream(inputs, **self._options))
        embeddings = [(outcome.name, outcome.embedding) for outcome in outcomes if outcome.embedding is not None]
        width = self.encoder.width(self._options["purpose"], self.maker.part)  # type: ignore[arg-type]
        failures = [
            dict(zip(_ERROR, (outcome.name, str(outcome.error), type(outcome.error).__name__), strict=True))
            for outcome in outcomes
            if outcome.error is not None
        ]
        embedded_rows = parquet_rows(VectorTable.of(self.maker, embeddings, width))
        failed = pa.Table.from_pylist(failures, pa.schema([(name, pa.string()) for name in _ERROR]))
        rows = pa.concat_tables([embedded_rows, failed], promote_options="default")
        makers = pa.array([json.dumps(self.maker.to_json())] * len(rows), pa.string())
        return rows.replace_schema_metadata().append_column("mirenc", makers)


def embed_frames(frames: Iterable[Any], **options: Any) -> Iterator[Any]:
    """Function for Spark's ``mapInPandas``: a `BatchEmbedder` with ``options`` on each pandas frame."""
    embedder = BatchEmbedder(**options)
    return (embedder(frame).to_pandas(integer_object_nulls=True).astype(object) for frame in frames)


def embed_on_ray(
    address: str, groups: list[tuple[Path, int, int]], column: str, names: str | None, **options: Any
) -> Iterator[tuple[Any, list[MirencError]]]:
    """Rows for `VectorWriter.add_rows`, and the errors among them, some at a time, in the order of the modules.

    The nodes of the cluster at ``address`` read the row ``groups`` (`mirenc.llvm.sources.parquet.row_groups`). The work
    of a node that dies is done by another. Raises ConfigError: no cluster; ModelError: nodes have different models.
    """
    with needs("ray", "a cluster needs Ray Data"):
        import ray.data
    try:
        ray.init(address, ignore_reinit_error=True)
    except ConnectionError as error:
        raise ConfigError(f"no Ray cluster at {address} ({error}). Start one: ray start --head") from None
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order, context.target_max_block_size = True, _BLOCK

    def rows_of(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        group = (Path(item["path"]), item["first"], item["count"])
        return ({"content": module.value, "name": module.name} for module in row_inputs(group, column, names))

    items = [{"path": str(path), "first": first, "count": count} for path, first, count in groups]
    modules = ray.data.from_items(items, override_num_blocks=len(items)).flat_map(rows_of, num_cpus=_READER_CORES)
    tables = modules.map_batches(
        BatchEmbedder,
        fn_constructor_kwargs={**options, "names": "name"},
        batch_size=64,
        batch_format="pyarrow",
        num_cpus=_WORKER_CORES,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=max(1, int(ray.cluster_resources()["CPU"]))),
    )
    makers: set[str] = set()
    for rows in tables.iter_batches(batch_size=None, batch_format="pyarrow"):
        makers.update(rows["mirenc"].unique().to_pylist())
        if len(makers) > 1:
            raise ModelError(f"nodes differ in model or release: {sorted(makers)}. Install one mirenc on all of them")
        embedded_rows = rows.filter(rows["error"].is_null()).drop_columns([*_ERROR[1:], "mirenc"])
        failures = rows.filter(rows["error"].is_valid()).select(_ERROR[1:]).to_pylist()
        kinds = {NoFunctionBodyError.__name__: NoFunctionBodyError}  # a file that is empty has not failed
        errors = [kinds.get(row["error_type"], MirencError)(row["error"]) for row in failures]
        yield embedded_rows.replace_schema_metadata({"mirenc": next(iter(makers), "")}), errors
