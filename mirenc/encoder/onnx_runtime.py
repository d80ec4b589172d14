"""`OnnxRuntime`: a model whose two encoders are run by onnxruntime, from what ``mirenc export MODEL --onnx`` wrote.

    mirenc export mirenc-fast --onnx out
    python -m mirenc.encoder.onnx_runtime out mirenc-fast foo.ll > foo.json

Reading, pooling and whitening are mirenc's own. Sessions may have any of onnxruntime's execution providers.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mirenc.base.arrays import Float32, UInt16
from mirenc.base.errors import needs
from mirenc.encoder.encoder import Encoder
from mirenc.encoder.weights import ModelFiles, load_files
from mirenc.model.numpy_runtime import NumpyRuntime
from mirenc.model.pooling import Pool
from mirenc.model.sample import GRAPH_ARRAYS, IRSample


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
        self._encode, self._graph = self._statement_vectors, self

    def _statement_vectors(self, text_ids: UInt16) -> Float32:
        """(U, L) token ids -> (U, H)."""
        found: Float32 = self._text_session.run(["vectors"], {"ids": text_ids.astype(np.int64)})[0]
        return found

    def pooled(self, sample: IRSample, pool: Pool, features: Float32, statements: Float32 | None) -> Float32:
        """(G, D) of groups of nodes, from features (U, F) and vectors (U, H) of texts."""
        if statements is None:
            statements = np.zeros((len(features), self.config.text.hidden), dtype=np.float32)
        row = sample.node_row
        inputs: dict[str, Any] = {name: getattr(sample, name).astype(np.int64) for name in GRAPH_ARRAYS[1:]}
        inputs |= {"features": features[row], "statements": statements[row]}
        known = {one.name for one in self._graph_session.get_inputs()}  # a trace drops what the model does not use
        nodes = self._graph_session.run(["vectors"], {name: inputs[name] for name in known})[0]
        return pool.readout(nodes, sizes=self.config.graph.readout == "mean-max-sum")


def main(arguments: Sequence[str]) -> None:
    """Print the vectors for search of some files, one JSON array a line."""
    folder, model, *inputs = arguments
    files = load_files(model)
    encoder = Encoder(files, OnnxRuntime(files, Path(folder)))
    for vector in encoder.embed(inputs):
        print(json.dumps(vector.tolist()))


if __name__ == "__main__":
    main(sys.argv[1:])
