"""Graph encoders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from mirenc.config.base import _Config

__all__ = ["DirectedGraphConfig", "GraphConfig", "GraphEncoderConfig"]


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
