"""What the benchmark runs in processes of their own: mirenc's stages and embeddings, and IR2Vec's vectors.

    python jobs.py graph FILE                  read and graph, nothing else imported
    python jobs.py stages FILE MODEL           every stage of an embedding, without cache
    python jobs.py embed FILE MODEL CACHE [LEVEL]  `Encoder.embed` with that cache folder
    python jobs.py ir2vec FILE sym|fa [LEVEL]  vectors of the program (module), functions or instructions; run by the
                                               Python that has IR2Vec

Each prints one JSON object. Seconds leave out imports and loading; the benchmark has the whole process beside them.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


class Watch:
    """Seconds by name, of calls made through it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, call: Callable[[], Result]) -> Result:
        start = time.perf_counter()
        result = call()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        return result


def peak_bytes() -> dict[str, int]:
    """Largest resident size so far of this process and of its children (the LLVM process), from Linux's /proc."""
    pid = os.getpid()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {"process": _peak_of(pid), "llvm": sum(_peak_of(int(child)) for child in children)}


def _peak_of(pid: int) -> int:
    return _memory_of(pid, "VmHWM:")


def _memory_of(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} has no {field} in /proc; the benchmark needs Linux")


class Together:
    """The largest sum of resident sizes of this process and its children at one time: ``with Together() as ...``."""

    def __init__(self) -> None:
        self.bytes = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        pid = os.getpid()
        while not self._end.wait(0.02):
            with contextlib.suppress(OSError, RuntimeError):  # a child that ends meanwhile
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                self.bytes = max(self.bytes, sum(_memory_of(int(each), "VmRSS:") for each in (pid, *children)))

    def __enter__(self) -> Together:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def graph(file: str) -> dict[str, Any]:
    """Read and graph."""
    from mirenc import build_graph

    watch = Watch()
    module = _read(file, watch)
    built = watch("graph", lambda: build_graph(module))
    counts = {"instructions": module.instruction_count, "nodes": built.node_count}
    return {"seconds": watch.seconds, "counts": counts, "peak": peak_bytes()}


def _read(file: str, watch: Watch) -> Any:
    """``read_ir``, with LLVM's share of it under a name of its own."""
    from mirenc import read_ir
    from mirenc.llvm.child.parsing_worker import ParsingWorker
    from mirenc.llvm.ir import read

    class Timed(ParsingWorker):
        def canonicalise(self, data: bytes, **options: Any) -> str:
            answer = super().canonicalise
            return watch("read: LLVM", lambda: answer(data, **options))

    worker = Timed()
    atexit.register(worker.close)  # its processor time counts only once it has been waited for
    worker.start()
    read.default_worker = lambda: worker
    return watch("read", lambda: read_ir(file))


def stages(file: str, model: str) -> dict[str, Any]:
    """What `Encoder.embed` does, stage by stage, without cache."""
    import numpy as np

    from mirenc import build_graph, load
    from mirenc.model.pooling import module_pools
    from mirenc.model.runtime import needed_texts
    from mirenc.model.sample import make_sample

    watch = Watch()
    encoder = watch("load", lambda: load(model, cache=False))
    tokenizer = encoder.tokenizer
    module = _read(file, watch)
    normalisation = tokenizer.config.normalisation
    built = watch("graph", lambda: build_graph(module, normalisation=normalisation))
    sample = watch("tokens", lambda: make_sample(module, tokenizer, graph=built))
    pools = module_pools(sample, encoder.files.config.pooling.weighting)
    used = needed_texts(encoder.files.config, sample, pools)
    ids, length = sample.text_ids[used], sample.text_length[used]
    vectors = np.zeros((len(sample.text_ids), encoder.text_dimension), dtype=np.float32)
    vectors[used] = watch("text encoder", lambda: encoder.runtime.encode_texts(ids, length))
    watch("graph encoder", lambda: encoder.runtime.forward(sample, pools, "graph", text_vectors=vectors))
    counts = {
        "instructions": module.instruction_count,
        "forms": len(module.forms),
        "statements": len(sample.statement_row),
        "distinct_statements": len(used),
        "tokens": int(length.sum()),
        "nodes": built.node_count,
        "edges": built.edge_count,
        "parameters": encoder.files.parameter_count,
    }
    return {"seconds": watch.seconds, "counts": counts, "peak": peak_bytes()}


def embed(file: str, model: str, cache: str, level: str = "module") -> dict[str, Any]:
    """One `Encoder.embed`; whether it is cold or warm is the cache folder's affair."""
    from mirenc import load

    watch = Watch()
    with Together() as together:
        encoder = watch("load", lambda: load(model, cache=cache))
        vectors = watch("embed", lambda: encoder.embed(file, level=level))
    counts = {"dimension": vectors.shape[-1], "rows": vectors.size // vectors.shape[-1]}
    return {"seconds": watch.seconds, "counts": counts, "peak": peak_bytes(), "together": together.bytes}


def ir2vec(file: str, mode: str, level: str = "module") -> dict[str, Any]:
    """IR2Vec's vectors, symbolic (``sym``) or flow-aware (``fa``)."""
    import ir2vec as package

    watch = Watch()
    embedding = watch("embed", lambda: package.initEmbedding(file, mode, "p" if level == "module" else "f"))
    if level == "module":
        rows = [watch("ask", embedding.getProgramVector)]
    elif level == "function":
        rows = [each["vector"] for each in watch("ask", embedding.getFunctionVectors).values()]
    else:
        rows = watch("ask", embedding.getInstructionVectors)
    return {
        "seconds": watch.seconds,
        "counts": {"dimension": len(rows[0]), "rows": len(rows)},
        "peak": peak_bytes(),
    }


if __name__ == "__main__":
    job = {"graph": graph, "stages": stages, "embed": embed, "ir2vec": ir2vec}[sys.argv[1]]
    print(json.dumps(job(*sys.argv[2:])))
