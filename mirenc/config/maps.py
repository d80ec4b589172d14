"""What a model's whitening maps are fitted on, after training."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from mirenc.config.base import _Config

__all__ = ["DomainConfig", "MapsConfig"]


class DomainConfig(_Config):
    """A kind of code beside the corpus's own.

    Attributes
    ----------
    folder : str
        Of IR, or of a corpus with the tokenizer of the run's. Projects that the run holds out are left out; a folder of
        IR tells them by its folders' names (`mirenc.weights.ir_projects`).
    level : str
        What counts as one piece of a folder of IR: a ``module`` or a ``function``. A corpus has modules.
    pairs : bool
        Whether pieces that differ in an optimisation level alone are one program: by the paths of IR
        (`mirenc.embed.fitting.level_pairs`), by the records of a corpus.
    weight : float
    """

    folder: str
    level: Literal["module", "function"] = "module"
    pairs: bool = True
    weight: float = Field(1.0, gt=0)


class MapsConfig(_Config):
    """Domains that the maps are fitted on; the values are `mirenc.model.whitening.mixed_whitening`'s.

    Attributes
    ----------
    corpus : float
        Weight of the run's own training modules; 0 leaves them out.
    shrinkage, between : float
    domains : tuple of DomainConfig
    """

    corpus: float = Field(1.0, ge=0)
    shrinkage: float = Field(0.01, gt=0)
    between: float = Field(0.0, ge=0)
    domains: tuple[DomainConfig, ...] = ()

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.corpus and not self.domains:
            raise ValueError("nothing to fit maps on: corpus is 0 and there are no domains")
        return self
