"""`OnnxRuntime`: a model whose two encoders are run by onnxruntime, from what ``mirenc export MODEL --onnx`` wrote.

    mirenc export mirenc-fast --onnx out
    python -m mirenc.encoder.onnx_runtime out mirenc-fast foo.ll > foo.json

Reading, pooling and whitening are mirenc's own. Sessions may have any of onnxruntime's execution providers.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, Int32, UInt16
from mirenc.base.errors import MirencError, needs
from mirenc.encoder.encoder import Encoder
from mirenc.encoder.weights import ModelFiles, load_files
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pool
from mirenc.model.sample import GRAPH_ARRAYS, IRSample

_BLOCK = 256  # texts that are encoded together


class OnnxRuntime(NumpyRuntime):
    """The encoders of a model as ONNX, from a folder with NAME.text.onnx and NAME.graph.onnx."""

    name = "onnx"

    def __init__(self, files: ModelFiles, folder: Path, providers: Sequence[str] = ("CPUExecutionProvider",)) -> None:
        with needs("onnx", "running ONNX needs onnxruntime"):
            import onnxruntime
        super().__init__(files.config, files.weights)
        self._text_session, self._graph_session = (
            onnxruntime.InferenceSession(folder / f"{files.name}.{part}.onnx", providers=list(providers))
            for part in ("text", "graph")
        )
        self._pool_graph = self.pooled

    def encode_texts(
        self, text_ids: UInt16, text_length: Int32, *, advance: Callable[[int], None] | None = None
    ) -> Float32:
        out = np.empty((len(text_ids), self.config.text.hidden), dtype=np.float32)
        for length in np.unique(text_length).tolist():
            rows = np.flatnonzero(text_length == length)
            for block in np.array_split(rows, math.ceil(len(rows) / _BLOCK)):
                ids = text_ids[block, :length].astype(np.int64)
                out[block] = self._text_session.run(["vectors"], {"ids": ids})[0]
                if advance is not None:
                    advance(len(block))
        return out

    def pooled(self, sample: IRSample, pool: Pool, features: Float32, statements: Float32 | None) -> Float32:
        """(G, D) of groups of nodes, from features (U, F) and vectors (U, H) of texts."""
        if statements is None:
            statements = np.zeros((len(features), self.config.text.hidden), dtype=np.float32)
        row = sample.node_row
        inputs: dict[str, Any] = {name: getattr(sample, name).astype(np.int64) for name in GRAPH_ARRAYS[1:]}
        inputs |= {"features": features[row], "statements": statements[row]}
        names = {arg.name for arg in self._graph_session.get_inputs()}  # a trace drops what the model does not use
        nodes = self._graph_session.run(["vectors"], {name: inputs[name] for name in names})[0]
        return pool.readout(nodes, sizes=self.config.graph.readout == "mean-max-sum")


def main(arguments: Sequence[str]) -> None:
    """Print the vectors for search of some files, one JSON array a line."""
    if len(arguments) < 3:
        sys.exit("usage: python -m mirenc.encoder.onnx_runtime FOLDER MODEL FILE...")
    folder, model, *inputs = arguments
    if not Path(folder).is_dir():
        sys.exit(f"error: {folder} is not a folder. Type: mirenc export {model} --onnx {folder}")
    files = load_files(model)
    encoder = Encoder(files, OnnxRuntime(files, Path(folder)))
    for vector in encoder.embed(inputs):
        print(json.dumps(vector.tolist()))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except MirencError as error:
        sys.exit(f"error: {error}")
