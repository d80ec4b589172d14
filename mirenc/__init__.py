"""mirenc: pre-trained multimodal embeddings for LLVM IR.

    import mirenc
    encoder = mirenc.load()
    vector = encoder.embed("foo.ll")

Names are imported when first used (PEP 562), so ``import mirenc`` is quick and imports neither torch nor LLVM.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "Embedding": "mirenc.embed",
    "Encoder": "mirenc.embed",
    "IRModule": "mirenc.ir",
    "IRSample": "mirenc.model.sample",
    "IRTokenizer": "mirenc.tokenizer",
    "MirencError": "mirenc.errors",
    "ModelConfig": "mirenc.model.config",
    "ProgramGraph": "mirenc.graph",
    "ReadOptions": "mirenc.ir",
    "Task": "mirenc.tasks",
    "TaskHead": "mirenc.deciding",
    "build_graph": "mirenc.graph",
    "compare": "mirenc.cosines",
    "evaluate": "mirenc.evaluating",
    "get_task": "mirenc.tasks",
    "fit_head": "mirenc.deciding",
    "fit_map": "mirenc.embed",
    "list_models": "mirenc.weights",
    "list_tasks": "mirenc.tasks",
    "load": "mirenc.embed",
    "make_sample": "mirenc.model.sample",
    "nearest": "mirenc.cosines",
    "parse_ir": "mirenc.ir",
    "read_ir": "mirenc.ir",
    "statements_of": "mirenc.ir",
    "train_tokenizer": "mirenc.tokenizer",
}
__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from mirenc.cosines import compare, nearest
    from mirenc.deciding import TaskHead, fit_head
    from mirenc.embed import Embedding, Encoder, fit_map, load
    from mirenc.errors import MirencError
    from mirenc.evaluating import evaluate
    from mirenc.graph import ProgramGraph, build_graph
    from mirenc.ir import IRModule, ReadOptions, parse_ir, read_ir, statements_of
    from mirenc.model.config import ModelConfig
    from mirenc.model.sample import IRSample, make_sample
    from mirenc.tasks import Task, get_task, list_tasks
    from mirenc.tokenizer import IRTokenizer, train_tokenizer
    from mirenc.weights import list_models


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mirenc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
