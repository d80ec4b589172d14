"""The architecture of a model, the kinds of encoders that it is made of, and the presets."""

import pkgutil
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

import mirenc.model.encoders
from mirenc.base.config import Config
from mirenc.base.errors import ConfigError, unknown
from mirenc.model.encoders.convolution import ConvolutionConfig as ConvolutionConfig
from mirenc.model.encoders.directed import DirectedGraphConfig as DirectedGraphConfig
from mirenc.model.encoders.gcn import GraphEncoderConfig as GraphEncoderConfig
from mirenc.model.encoders.transformer import TextEncoderConfig as TextEncoderConfig
from mirenc.model.kinds import BERT_STD, COUNTS, Embedding, GraphKind, Layers, Linear, Norm, TextKind, Weight
from mirenc.model.tokenizer import TokenizerConfig


def _kinds(base: type[Config], default: str) -> Any:
    """The configuration type that a table's ``kind`` names; old models name none, and have the ``default``."""
    for module in pkgutil.iter_modules(mirenc.model.encoders.__path__, "mirenc.model.encoders."):
        import_module(module.name)
    kinds = {config.model_fields["kind"].default: config for config in base.__subclasses__()}
    names = sorted(kinds, key=lambda kind: (kind != default, kind))
    by_kind = Discriminator(
        lambda value: value.get("kind", default) if isinstance(value, dict) else getattr(value, "kind", None),
        custom_error_type="kind",
        custom_error_message=f"kind must be {' or '.join(map(repr, names))}",
    )
    return Annotated[reduce(or_, (Annotated[kinds[name], Tag(name)] for name in names)), by_kind]


if TYPE_CHECKING:
    TextConfig = Any
    GraphConfig = Any
else:
    TextConfig = _kinds(TextKind, "transformer")
    GraphConfig = _kinds(GraphKind, "gcn")


class MatchingConfig(Config):
    """Head that tells whether a text and a graph come from one IR (paper section 3.4)."""

    hidden: int = Field(256, ge=8)


class PoolingConfig(Config):
    """From vectors of statements and nodes to vectors of modules and functions: `mirenc.model.pooling`.

    By ``weighting`` a text that occurs n times weighs n (``count``, the paper's mean) or sqrt(n) (``sqrt``).
    ``whiten``: the model has a whitening map, fitted on its training modules.
    """

    weighting: Literal["count", "sqrt"] = "count"
    whiten: bool = False


class TaughtConfig(Config):
    """Trunk that a compiler's answers are read from (`mirenc.model.heads.taught_vectors`).

    ``width`` is of its vector, ``hidden`` of its hidden layer, of whose inputs ``dropout`` are left out in training.
    """

    width: int = Field(256, ge=8)
    hidden: int = Field(512, ge=8)
    dropout: float = Field(0.2, ge=0, lt=1)


class LexicalConfig(Config):
    """The untrained view of a search vector: `mirenc.model.lexical`.

    Terms are hashed to ``width`` components; a table of ``buckets`` entries says how much a term tells. ``weight`` is
    the length of a lexical vector; text and graph, whitened, have about sqrt(H + D) together. With ``statements`` whole
    statements are terms, too: better where code is nearly the same, worse where names differ. ``module_names`` says how
    much names of functions and types, and statements that have one, count in the vector of a whole module: less finds
    programs of another author or language, more finds the same one; in parts of a module they count 1. ``whiten``: the
    model has a whitening map for lexical vectors, the identity until ``pretrain/words.py`` fits it.
    """

    width: int = Field(256, ge=8, le=4096)
    buckets: Literal[4096, 16384, 65536] = 65536
    weight: float = Field(30.0, gt=0)
    statements: bool = False
    module_names: float = Field(1.0, ge=0, le=1)
    whiten: bool = False


class PairedConfig(Config):
    """A model trained to find a function in the form another compiler or level gave it (`mirenc.pretrain.contrast`).

    Its texts are spelled plainly (`mirenc.llvm.ir.plain_statement.Spelling`), without names where these are hidden; the
    text vector of a part of a module has the definitions of the globals that it takes, too; and the blocks of a search
    vector have these lengths, chosen on training projects. ``right``: of functions of unseen projects, the share whose
    nearest was the right one, by its cosine in as many equal parts of 0 to 1 as there are
    (``pretrain/function_pools_large.json``).
    """

    text: float = Field(0.7, gt=0)
    graph: float = Field(1.0, gt=0)
    lexical: float = Field(0.7, gt=0)
    right: tuple[float, ...] = ()

    def sure(self, cosine: float) -> float | None:
        """How often the nearest function at such a cosine was the right one; None where that was not measured."""
        parts = len(self.right)
        return self.right[min(int(max(cosine, 0.0) * parts), parts - 1)] if parts else None


class ModelConfig(Config):
    """Architecture of a model, saved beside its weights; ``taught``, ``lexical``, ``paired``: None without them."""

    tokenizer: TokenizerConfig = TokenizerConfig()
    text: TextConfig = TextEncoderConfig()
    graph: GraphConfig = GraphEncoderConfig()
    matching: MatchingConfig = MatchingConfig()
    pooling: PoolingConfig = PoolingConfig()
    taught: TaughtConfig | None = None
    lexical: LexicalConfig | None = None
    paired: PairedConfig | None = None

    @model_validator(mode="after")
    def _lexical_normalisation(self) -> Self:
        if self.lexical is not None and self.tokenizer.normalisation != "locals":
            raise ValueError("[lexical] must count no names of local values: set tokenizer.normalisation = 'locals'")
        return self


def declared_layers(config: ModelConfig) -> dict[str, Layers]:
    """The layers of each part of a model, in the order in which torch draws their first weights."""
    text, graph, hidden = config.text, config.graph, config.matching.hidden
    parts: dict[str, Layers] = {
        "text": {
            "token": Embedding(config.tokenizer.vocab_size, text.token_width),
            **text.declare(config.tokenizer.max_length),
        },
        "mlm": {
            "dense": Linear(text.state_width, text.token_width, std=BERT_STD),
            "norm": Norm(text.token_width),
            "bias": Weight((config.tokenizer.vocab_size,)),
        },
        "graph": graph.declare(text.token_width, text.hidden),
        "matching": {
            "norm_text": Norm(text.hidden),
            "norm_graph": Norm(graph.width),
            "linear1": Linear(text.hidden + graph.width, hidden),
            "linear2": Linear(hidden, hidden),
            "linear3": Linear(hidden, 1),
        },
    }
    if config.taught is not None:
        inputs, width = text.hidden + graph.width + COUNTS, config.taught.width
        parts["taught"] = {
            "norm_text": Norm(text.hidden),
            **{f"norm_graph.{number}": Norm(graph.out) for number in range(graph.width // graph.out)},
            "linear1": Linear(inputs, config.taught.hidden),
            "linear2": Linear(config.taught.hidden, width),
            "skip": Linear(inputs, width, bias=False),
        }
    return parts


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Shape of every entry of ``MIREncoder.state_dict``: what a file must hold, known without torch."""
    shapes: dict[str, tuple[int, ...]] = {}
    for part, layers in declared_layers(config).items():
        for name, layer in layers.items():
            shapes |= {f"{part}.{name}{suffix}": shape for suffix, shape in layer.shapes().items()}
    map_widths = {"text": config.text.hidden, "graph": config.graph.width} if config.pooling.whiten else {}
    if config.lexical is not None:
        shapes["lexical_idf"] = (config.lexical.buckets,)
        map_widths |= {"lexical": config.lexical.width} if config.lexical.whiten else {}
    for part, size in map_widths.items():
        shapes |= {f"whiten_{part}.mean": (size,), f"whiten_{part}.matrix": (size, size)}
    return shapes


_POOLING = PoolingConfig(weighting="sqrt", whiten=True)
PRESETS: dict[str, ModelConfig] = {
    "tiny": ModelConfig(pooling=_POOLING),
    "small": ModelConfig(
        tokenizer=TokenizerConfig(vocab_size=8192),
        text=TextEncoderConfig(hidden=256, layers=4, heads=4, feed_forward=1024),
        graph=GraphEncoderConfig(hidden=256, out=192),
        pooling=_POOLING,
    ),
    # The paper's size: 22 M parameters.
    "base": ModelConfig(
        tokenizer=TokenizerConfig(vocab_size=28672),
        text=TextEncoderConfig(hidden=384, layers=6, heads=12, feed_forward=1536),
        graph=GraphEncoderConfig(hidden=384, out=256),
        pooling=_POOLING,
    ),
    # As wide as `base` outside, so that it can learn base's statement vectors (pretrain/distil.py).
    "fast": ModelConfig(
        tokenizer=TokenizerConfig(vocab_size=28672),
        text=ConvolutionConfig(),
        graph=GraphEncoderConfig(hidden=384, out=256),
        pooling=_POOLING,
    ),
}


def preset(name: str) -> ModelConfig:
    """Architecture of a preset; an unknown name is a `ConfigError`."""
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, PRESETS))
    return PRESETS[name]
