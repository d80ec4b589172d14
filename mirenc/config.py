"""Every configuration class and preset, in one place: typed, frozen, unknown keys refused with a suggestion."""

from __future__ import annotations

import difflib
import os
import tomllib
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from mirenc.errors import ConfigError

__all__ = [
    "PRESETS",
    "ConvolutionConfig",
    "DirectedGraphConfig",
    "GraphConfig",
    "GraphEncoderConfig",
    "LexicalConfig",
    "MatchingConfig",
    "ModelConfig",
    "PoolingConfig",
    "PretrainConfig",
    "StageConfig",
    "TextConfig",
    "TextEncoderConfig",
    "TokenizerConfig",
    "load_toml",
    "preset",
]


class _Config(BaseModel):
    """Base: frozen, no unknown keys, errors as `ConfigError`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def from_dict(cls, values: dict[str, Any], *, where: str = "configuration") -> Self:
        """Validate plain values.

        Raises
        ------
        ConfigError
            Names the first wrong key or value, and the nearest right key.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(f"{where}: {_explain(cls, error)}") from None


def _explain(cls: type[BaseModel], error: ValidationError) -> str:
    first = error.errors()[0]
    owner: Any = cls
    parts: list[str] = []  # of the place, as a user writes it: without the kind that pydantic puts between
    for part in map(str, first["loc"]):
        if part in (kinds := _kinds(owner)):
            owner = kinds[part]
        else:
            parts.append(part)
            field = getattr(owner, "model_fields", {}).get(part)
            owner = owner if field is None else field.annotation
    place = ".".join(parts)
    if first["type"] == "extra_forbidden":
        known = list(owner.model_fields)
        near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return f"unknown key {place!r}; {hint}"
    found = "" if first["type"] == "missing" else f" (found {first['input']!r})"  # missing: all the values beside it
    return f"{place or 'values'}: {first['msg']}{found}"


def _kinds(annotation: Any) -> dict[str, Any]:
    """Classes by tag, of a field that takes several kinds; none of any other."""
    found: dict[str, Any] = {}
    for member in get_args(annotation):
        inner, *extras = get_args(member) or (member,)  # of Annotated: the type, then what is said of it
        found |= {extra.tag: inner for extra in extras if isinstance(extra, Tag)} or _kinds(member)
    return found


def _kind(values: Any) -> str:
    """Which class a table of values is for; a table of a release that had one kind does not say."""
    kind = values.get("kind") if isinstance(values, dict) else getattr(values, "kind", None)
    return "transformer" if kind is None else str(kind)


class TokenizerConfig(_Config):
    """WordPiece tokenizer (paper section 3.1).

    Attributes
    ----------
    vocab_size : int
        Pieces, special tokens included.
    max_length : int
        Tokens of a statement, [CLS] and [SEP] included; longer ones are cut.
    normalisation : str
        Level of statement normalisation the pieces are trained on.
    min_frequency : int
        A piece must occur this often in the training statements.
    """

    vocab_size: int = Field(4096, ge=256, le=65535)
    max_length: int = Field(64, ge=8, le=512)
    normalisation: Literal["none", "locals"] = "locals"
    min_frequency: int = Field(2, ge=1)


class TextEncoderConfig(_Config):
    """Transformer over one statement (paper section 3.2: MLM per statement)."""

    kind: Literal["transformer"] = "transformer"
    hidden: int = Field(128, ge=8)
    layers: int = Field(3, ge=1)
    heads: int = Field(4, ge=1)
    feed_forward: int = Field(512, ge=8)
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    pooling: Literal["mean", "cls"] = "mean"

    @model_validator(mode="after")
    def _heads_divide(self) -> Self:
        if self.hidden % self.heads:
            raise ValueError(f"hidden ({self.hidden}) must be a multiple of heads ({self.heads})")
        return self

    @property
    def token_width(self) -> int:
        """Components of a row of the token embedding."""
        return self.hidden

    @property
    def state_width(self) -> int:
        """Components of a token's state after the last layer."""
        return self.hidden


class ConvolutionConfig(_Config):
    """Convolutions over the tokens of one statement: some thirty times cheaper than the Transformer of `base`.

    Attributes
    ----------
    embedding : int
        Width of the token embedding, which is projected to ``channels``.
    channels : int
        Width of a token's state.
    layers : int
    width : int
        Tokens that a convolution sees, an odd number.
    expansion : int
        The pointwise layers of a block have ``expansion * channels`` components between them.
    feed_forward : int
        Width of the hidden layer that makes the statement vector of mean and maximum.
    hidden : int
        Width of the statement vector.
    """

    kind: Literal["convolution"] = "convolution"
    embedding: int = Field(128, ge=8)
    channels: int = Field(192, ge=8)
    layers: int = Field(2, ge=1)
    width: int = Field(5, ge=1)
    expansion: int = Field(2, ge=1)
    feed_forward: int = Field(512, ge=8)
    hidden: int = Field(384, ge=8)

    @model_validator(mode="after")
    def _odd(self) -> Self:
        if self.width % 2 == 0:
            raise ValueError(f"width ({self.width}) must be odd, so that a token is in the middle of what it sees")
        return self

    @property
    def token_width(self) -> int:
        """Components of a row of the token embedding."""
        return self.embedding

    @property
    def state_width(self) -> int:
        """Components of a token's state after the last layer."""
        return self.channels


TextConfig = Annotated[
    Annotated[TextEncoderConfig, Tag("transformer")] | Annotated[ConvolutionConfig, Tag("convolution")],
    Discriminator(
        _kind,
        custom_error_type="kind",
        custom_error_message="kind must be 'transformer' or 'convolution'",
    ),
]


class _GraphConfig(_Config):
    """What every graph encoder has.

    Attributes
    ----------
    hidden : int
        Width of its layers.
    out : int
        Components of a node's vector.
    readout : str
        From the vectors of nodes to one of a module or function: the ``mean`` (paper section 3.4), or mean, maximum
        and log-scaled sum side by side (``mean-max-sum``), so that size is not thrown away: `mirenc.model.pooling`.
    """

    hidden: int = Field(128, ge=8)
    out: int = Field(128, ge=8)
    readout: Literal["mean", "mean-max-sum"] = "mean"

    @property
    def width(self) -> int:
        """Components of a module's graph vector."""
        return self.out if self.readout == "mean" else 3 * self.out


class GraphEncoderConfig(_GraphConfig):
    """GCN over the three flows (paper section 3.3)."""

    kind: Literal["gcn"] = "gcn"


class DirectedGraphConfig(_GraphConfig):
    """Relations kept apart, in both directions: `mirenc.model.directed`.

    Attributes
    ----------
    layers : int
        How far a node sees.
    bases : int
        Matrices that those of the relations are mixed from.
    positions : bool
        Whether the order of operands, successors and arguments is seen. A corpus of format 2 has none.
    statements : bool
        Whether an instruction's features have its statement vector, beside its tokens. It costs an encoder pass for
        each distinct instruction of a graph.
    """

    kind: Literal["directed"] = "directed"
    layers: int = Field(2, ge=1, le=8)
    bases: int = Field(4, ge=1)
    positions: bool = True
    statements: bool = False


def _graph_kind(value: Any) -> Any:
    """Models saved before there were two kinds name none."""
    return value.get("kind", "gcn") if isinstance(value, dict) else getattr(value, "kind", None)


GraphConfig = Annotated[
    Annotated[GraphEncoderConfig, Tag("gcn")] | Annotated[DirectedGraphConfig, Tag("directed")],
    Discriminator(
        _graph_kind,
        custom_error_type="graph_kind",
        custom_error_message="kind must be 'gcn' or 'directed'",
    ),
]


class MatchingConfig(_Config):
    """Head that tells whether a text and a graph come from one IR (paper section 3.4)."""

    hidden: int = Field(256, ge=8)


class PoolingConfig(_Config):
    """From vectors of statements and nodes to vectors of modules and functions: `mirenc.model.pooling`.

    Attributes
    ----------
    weighting : str
        A text that occurs n times weighs n (``count``, the paper's mean) or sqrt(n) (``sqrt``).
    whiten : bool
        Whether the model has a whitening map, fitted on its training modules.
    """

    weighting: Literal["count", "sqrt"] = "count"
    whiten: bool = False


class LexicalConfig(_Config):
    """The untrained view of a search vector: `mirenc.model.lexical`.

    Attributes
    ----------
    width : int
        Components that terms are hashed to.
    buckets : int
        Entries of the table that says how much a term tells; a power of two up to 2**16.
    weight : float
        Length of a lexical vector; text and graph, whitened, have about sqrt(H + d) together.
    """

    width: int = Field(256, ge=8, le=4096)
    buckets: Literal[4096, 16384, 65536] = 65536
    weight: float = Field(30.0, gt=0)


class ModelConfig(_Config):
    """Architecture of one model; saved beside its weights, and all that is needed to build it."""

    tokenizer: TokenizerConfig = TokenizerConfig()
    text: TextConfig = TextEncoderConfig()
    graph: GraphConfig = GraphEncoderConfig()
    matching: MatchingConfig = MatchingConfig()
    pooling: PoolingConfig = PoolingConfig()
    lexical: LexicalConfig | None = None

    @property
    def graph_takes_statements(self) -> bool:
        """Whether instructions go into the graph encoder with their statement vectors."""
        return isinstance(self.graph, DirectedGraphConfig) and self.graph.statements


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
    """Architecture of a preset.

    Raises
    ------
    ConfigError
        Unknown name.
    """
    if name not in PRESETS:
        raise ConfigError(f"unknown preset {name!r}; available: {', '.join(PRESETS)}")
    return PRESETS[name]


class StageConfig(_Config):
    """One objective's share of a pre-training run.

    Attributes
    ----------
    steps : int
        Optimiser steps; 0 leaves the stage out.
    batch : int
        Statements (mlm) or modules (gae, igm) a step.
    learning_rate : float
        Peak, reached after ``warmup`` steps; then cosine decay to a tenth.
    warmup : int
        Steps.
    """

    steps: int = Field(ge=0)
    batch: int = Field(ge=1)
    learning_rate: float = Field(gt=0)
    warmup: int = Field(100, ge=0)


class PretrainConfig(_Config):
    """One pre-training run (paper section 3).

    ``schedule = "sequential"`` is the paper's MLM -> GAE -> IR-graph matching. ``"joint"`` takes all three losses at
    each of ``mlm.steps`` steps, on ``mlm.batch`` statements and ``igm.batch`` modules, at ``mlm``'s learning rate. A
    sequential stage of 0 steps is left out: ``gae.steps = igm.steps = 0`` is the paper's text-only model,
    ``mlm.steps = igm.steps = 0`` its graph-only one.

    Attributes
    ----------
    preset : str
        Architecture.
    text : TextEncoderConfig or ConvolutionConfig, optional
        Another text encoder than the preset's.
    graph : GraphEncoderConfig or DirectedGraphConfig, optional
        Another graph encoder than the preset's.
    start_from : str or None
        Name or folder of a packaged model of that architecture whose weights the run goes on from; the corpus must have
        been built with its tokenizer. Of a model that has only the text encoder in common, that is taken. None: random
        weights.
    held_out_share : float
        Share of the modules, in whole projects, that training never sees.
    mask_share : float
        Share of the tokens MLM predicts.
    frequency_temper : float
        A distinct statement is drawn with weight count ** temper.
    max_nodes : int
        Modules with larger graphs are left out of GAE and matching.
    matching_modules : int or None
        Matching draws from this many modules, so that the text encoder has fewer statements to encode; None: from all.
    matching_statements : int
        Statements of a module drawn for its text vector in ``joint``, where the text encoder moves.
    hard_negatives : float
        Share of the matching steps whose modules are of nearly equal size.
    optimiser : str
        ``muon`` takes Muon for the matrices of the text encoder's layers and AdamW for everything else.
    clip_norm : float
        Gradients are scaled down to this norm.
    checkpoint_every : int
        Steps between checkpoints.
    device : str
        ``auto`` takes a GPU where there is one.
    threads : int
        Of a process, on a CPU.
    precision : str
        Of the text encoder's matrix products; weights stay float32.
    """

    preset: Literal["tiny", "small", "base", "fast"] = "tiny"
    text: TextConfig | None = None
    graph: GraphConfig | None = None
    start_from: str | None = None
    schedule: Literal["sequential", "joint"] = "sequential"
    seed: int = Field(0, ge=0, lt=2**63)
    held_out_share: float = Field(0.1, gt=0, lt=0.5)
    mask_share: float = Field(0.15, gt=0, lt=1)
    frequency_temper: float = Field(0.5, ge=0, le=1)
    max_nodes: int = Field(4000, ge=16)
    matching_modules: int | None = Field(None, ge=2)
    matching_statements: int = Field(64, ge=1)
    hard_negatives: float = Field(0.0, ge=0, le=1)
    optimiser: Literal["adamw", "muon"] = "muon"
    weight_decay: float = Field(0.01, ge=0)
    clip_norm: float = Field(1.0, gt=0)
    checkpoint_every: int = Field(500, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int = Field(1, ge=1, le=1024)
    precision: Literal["float32", "bfloat16"] = "float32"
    mlm: StageConfig = StageConfig(steps=20000, batch=256, learning_rate=1e-3, warmup=500)
    gae: StageConfig = StageConfig(steps=3000, batch=8, learning_rate=1e-3)
    igm: StageConfig = StageConfig(steps=3000, batch=16, learning_rate=5e-4)

    @model_validator(mode="after")
    def _runs(self) -> Self:
        if self.igm.batch < 2:
            raise ValueError("igm.batch must be at least 2: a negative is another module's graph")
        if not any(stage.steps for stage in (self.mlm, self.gae, self.igm)):
            raise ValueError("nothing to train: mlm.steps, gae.steps and igm.steps are all 0")
        if self.schedule == "joint" and not self.mlm.steps:
            raise ValueError("a joint run takes mlm.steps steps, and they are 0")
        return self


def load_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Values of a TOML file.

    Raises
    ------
    ConfigError
        Missing or not TOML; the message keeps the parser's line and column.
    """
    try:
        with open(path, "rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        raise ConfigError(f"{os.fspath(path)}: no such file. Check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{os.fspath(path)}: not TOML: {error}. Mend that place") from None
