"""`Embedding`: the vectors of one module at one level, and what they are made from.

Vectors serve two purposes: to *search*, where a cosine tells what two programs share, and as *features* for heads,
which scale columns by themselves and need sizes, which a mean does not keep.
"""

import io
import json
import reprlib
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Int64
from mirenc.base.shown import html_table
from mirenc.encoder.options import PARTS, check
from mirenc.llvm import Region
from mirenc.model.config import ModelConfig
from mirenc.model.graph import NodeKind

_ARRAYS = ("text", "graph", "taught", "lexical", "sizes")
_SHOWN = 10  # rows in a notebook
_TEXT_SIZES = ("statements", "distinct_statements", "instructions")
_GRAPH_SIZES = tuple(f"{kind.name.lower()}_nodes" for kind in NodeKind)
_SIZES = _TEXT_SIZES + _GRAPH_SIZES
# What stands side by side in a vector, by purpose and part.
_BLOCKS: dict[str, dict[str, tuple[str, ...]]] = {
    "search": {"text": ("text",), "graph": ("graph",), "both": ("text", "graph", "lexical")},
    "features": {
        "text": ("text", *_TEXT_SIZES),
        "graph": ("graph", *_GRAPH_SIZES),
        "both": ("taught", "text", "graph", *_SIZES),
    },
}


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors of one module at ``level``, one of `mirenc.llvm.LEVELS`: n rows, of which a module has one.

    - ``text`` (n, H) and ``graph`` (n, D) float32: means of a row's statement vectors and node vectors, weighted and
      whitened as the model has it (`mirenc.model.pooling`).
    - ``taught`` (n, T) float32: what a compiler taught the model to see in text and graph; ``lexical`` (n, L) float32:
      the words of the code (`mirenc.model.lexical`). No columns for a model without.
    - ``sizes`` (n, 6) int64: statements, distinct statements, instructions; nodes by kind: instructions, variables,
      constants.
    - ``regions``: what each row is: name, function, header, depth, file and line.
    - ``counts``: functions, defined, blocks, instructions, statements, distinct_statements, nodes, edges, and
      call_edges_left_out (`mirenc.model.graph.ProgramGraph`).
    - ``content_hash``: SHA-256 of the canonical text, the same for one module as text and as bitcode; ``file_hash``:
      that of the file's bytes, decompressed, "" for IR that came from no file.
    - ``purpose``: ``search`` or ``features``, which decides what `vector` and `part` hold.
    - ``form``: which of `mirenc.llvm.passes.optimise.FORMS` the IR was in.
    """

    level: str
    text: Float32
    graph: Float32
    taught: Float32
    lexical: Float32
    sizes: Int64
    regions: list[Region]
    counts: dict[str, int]
    content_hash: str
    file_hash: str = ""
    purpose: str = "search"
    form: str = "plain"

    @property
    def vector(self) -> Float32:
        """The whole vectors for the purpose (n, D): `part` ``both``."""
        return self.part("both")

    @property
    def names(self) -> list[str]:
        """Name of each row: `Region.name`."""
        return [region.name for region in self.regions]

    @property
    def functions(self) -> list[str]:
        """Function of each row, demangled; "" for a module."""
        return [region.function for region in self.regions]

    def __repr__(self) -> str:
        facts = f"vectors={list(self.vector.shape)}, names={reprlib.repr(self.names)}"
        return f"Embedding({self.level!r}, {facts}, purpose={self.purpose!r}, form={self.form!r})"

    def _repr_html_(self) -> str:
        names = ("statements", "distinct", "instructions")
        rows = [(r.name, *map(str, s[:3])) for r, s in zip(self.regions[:_SHOWN], self.sizes, strict=False)]
        return html_table([(self.level, *names), *rows], f"{len(self.regions)} rows: {self!r}")

    def to_bytes(self) -> bytes:
        """The embedding as an ``.npz`` in memory, for the cache."""
        meta = {name: getattr(self, name) for name in ("level", "counts", "content_hash", "file_hash", "form")}
        meta["regions"] = [astuple(region) for region in self.regions]
        stream = io.BytesIO()
        packed = np.frombuffer(json.dumps(meta).encode("utf-8"), dtype=np.uint8)
        np.savez(stream, meta=packed, **{name: getattr(self, name) for name in _ARRAYS})
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Embedding":
        """Read what `to_bytes` wrote; ``name`` is the present name of the file."""
        with np.load(io.BytesIO(data)) as arrays:
            meta = json.loads(arrays["meta"].tobytes())
            regions = [Region(*values) for values in meta.pop("regions")]
            if meta["level"] == "module":
                regions = [replace(region, name=name) for region in regions]
            return cls(**{name: arrays[name] for name in _ARRAYS}, regions=regions, **meta)

    def with_rows(self, more: "Embedding") -> "Embedding":
        """The embedding with the rows of another part of the module below its own."""
        joined: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(more, name)]) for name in _ARRAYS}
        return replace(self, regions=self.regions + more.regions, **joined)

    def part(self, part: str) -> Float32:
        """The vector for the purpose, or what of it comes from one encoder.

        | part | search | features, with log(1 + size) for sizes |
        |---|---|---|
        | text | text | text, statements, distinct statements, instructions |
        | graph | graph | graph, nodes by kind |
        | both | text, graph, lexical | taught, text, graph, all six sizes |

        Shapes: -> (n, D) float32. Raises ConfigError: unknown part.
        """
        check("part", part, PARTS)
        logarithms = np.log1p(self.sizes).astype(np.float32)
        sizes = {name: logarithms[:, [column]] for column, name in enumerate(_SIZES)}
        blocks = _BLOCKS[self.purpose][part]
        return np.concatenate([sizes[name] if name in sizes else getattr(self, name) for name in blocks], axis=1)


def vector_blocks(config: ModelConfig, purpose: str, part: str) -> dict[str, int]:
    """Name and width of each block of `Embedding.part`, in order; of features, a column for each size."""
    widths = dict.fromkeys(_SIZES, 1) | {"text": config.text.hidden, "graph": config.graph.width}
    widths["lexical"] = 0 if config.lexical is None else config.lexical.width
    widths["taught"] = 0 if config.taught is None else config.taught.width
    return {name: widths[name] for name in _BLOCKS[purpose][part] if widths[name]}
