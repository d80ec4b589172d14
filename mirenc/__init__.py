"""mirenc: pre-trained multimodal embeddings for LLVM IR.

    import mirenc
    encoder = mirenc.load()
    vector = encoder.embed("foo.ll")

Names are imported when first used (PEP 562), so ``import mirenc`` is quick and imports neither torch nor LLVM.
"""

from __future__ import annotations

from mirenc.base.lazy_names import lazy_names

__version__ = "0.2.0"

_MODULES = {
    "mirenc.base.cosines": "compare nearest",
    "mirenc.encoder": "Embedding Encoder load",
    "mirenc.encoder.domain_map": "fit_map",
    "mirenc.base.errors": "MirencError",
    "mirenc.model.graph": "ProgramGraph build_graph",
    "mirenc.llvm": "IRModule ReadOptions parse_ir read_ir statements_of",
    "mirenc.model.config": "ModelConfig",
    "mirenc.model.sample": "IRSample make_sample",
    "mirenc.decide": "CustomHead Task TaskHead evaluate fit_head fit_labels get_task list_tasks",
    "mirenc.model.tokenizer": "IRTokenizer train_tokenizer",
    "mirenc.encoder.weights": "list_models",
}
__getattr__, _HOME = lazy_names(__name__, _MODULES)
__all__ = ["__version__", *_HOME]
TYPE_CHECKING = False
if TYPE_CHECKING:  # ``as``: a name that is exported, for who checks types strictly
    from mirenc.base.cosines import compare as compare, nearest as nearest
    from mirenc.base.errors import MirencError as MirencError
    from mirenc.decide import (
        CustomHead as CustomHead,
        Task as Task,
        TaskHead as TaskHead,
        evaluate as evaluate,
        fit_head as fit_head,
        fit_labels as fit_labels,
        get_task as get_task,
        list_tasks as list_tasks,
    )
    from mirenc.encoder import Embedding as Embedding, Encoder as Encoder, load as load
    from mirenc.encoder.domain_map import fit_map as fit_map
    from mirenc.encoder.weights import list_models as list_models
    from mirenc.llvm import (
        IRModule as IRModule,
        ReadOptions as ReadOptions,
        parse_ir as parse_ir,
        read_ir as read_ir,
        statements_of as statements_of,
    )
    from mirenc.model.config import ModelConfig as ModelConfig
    from mirenc.model.graph import ProgramGraph as ProgramGraph, build_graph as build_graph
    from mirenc.model.sample import IRSample as IRSample, make_sample as make_sample
    from mirenc.model.tokenizer import IRTokenizer as IRTokenizer, train_tokenizer as train_tokenizer


def __dir__() -> list[str]:
    return sorted(__all__)
