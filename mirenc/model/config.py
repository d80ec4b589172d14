"""The architecture of a model, the kinds of encoders that it is made of, and the presets."""

import pkgutil
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

import mirenc.model
from mirenc.base.config import Config
from mirenc.base.errors import ConfigError
from mirenc.model.convolution import ConvolutionConfig
from mirenc.model.directed import DirectedGraphConfig
from mirenc.model.gcn import GraphEncoderConfig
from mirenc.model.kinds import COUNTS, GraphKind, Shapes, TextKind
from mirenc.model.tokenizer import TokenizerConfig
from mirenc.model.transformer import TextEncoderConfig

__all__ = [
    "PRESETS",
    "ConvolutionConfig",
    "DirectedGraphConfig",
    "GraphConfig",
    "GraphEncoderConfig",
    "LexicalConfig",
    "MatchingConfig",
    "ModelConfig",
    "PairedConfig",
    "PoolingConfig",
    "TaughtConfig",
    "TextConfig",
    "TextEncoderConfig",
    "preset",
    "weight_shapes",
]


def _kinds(base: type[Config], default: str) -> Any:
    """A configuration of the kind it names, of those whose folders are here; what was saved before names none."""
    for module in pkgutil.iter_modules(mirenc.model.__path__, "mirenc.model."):
        if module.ispkg:
            import_module(module.name)
    kinds = {each.model_fields["kind"].default: each for each in base.__subclasses__()}
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
    """Trunk that a compiler's answers are read from (`mirenc.model.mirencoder.Trunk`).

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
    """A model trained to find a function in the form another compiler or level gave it (``pretrain/contrast.py``).

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
    def _words(self) -> Self:
        if self.lexical is not None and self.tokenizer.normalisation != "locals":
            raise ValueError("a lexical view wants tokenizer.normalisation = 'locals': local names are no words")
        return self


def weight_shapes(config: ModelConfig) -> Shapes:
    """Shape of every entry of ``MIREncoder.state_dict``: what a file must hold, known without torch."""
    hidden, token, state = config.text.hidden, config.text.token_width, config.text.state_width
    graph, matching, vocabulary = config.graph, config.matching.hidden, config.tokenizer.vocab_size
    shapes = Shapes({"text.token.weight": (vocabulary, token), "mlm.bias": (vocabulary,)})
    config.text.add_shapes(shapes, config.tokenizer.max_length)
    shapes.norm("mlm.norm", token)
    shapes.norm("matching.norm_text", hidden)
    graph.add_shapes(shapes, token, hidden)
    shapes.norm("matching.norm_graph", graph.width)
    whitened = {"text": hidden, "graph": graph.width} if config.pooling.whiten else {}
    if config.lexical is not None:
        shapes["lexical_idf"] = (config.lexical.buckets,)
        whitened |= {"lexical": config.lexical.width} if config.lexical.whiten else {}
    for part, size in whitened.items():
        shapes[f"whiten_{part}.mean"] = (size,)
        shapes[f"whiten_{part}.matrix"] = (size, size)
    if config.taught is not None:
        shapes.norm("taught.norm_text", hidden)
        for number in range(graph.width // graph.out):
            shapes.norm(f"taught.norm_graph.{number}", graph.out)
        inputs = hidden + graph.width + COUNTS
        shapes.linear("taught.linear1", inputs, config.taught.hidden)
        shapes.linear("taught.linear2", config.taught.hidden, config.taught.width)
        shapes.linear("taught.skip", inputs, config.taught.width, bias=False)
    shapes.linear("mlm.dense", state, token)
    shapes.linear("matching.linear1", hidden + graph.width, matching)
    shapes.linear("matching.linear2", matching, matching)
    shapes.linear("matching.linear3", matching, 1)
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
        raise ConfigError(f"unknown preset {name!r}; available: {', '.join(PRESETS)}")
    return PRESETS[name]
