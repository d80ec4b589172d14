"""IR in, vectors out: `load` makes an `Encoder`, and an encoder embeds. `stream` holds the steps together."""

from mirenc.encoder.domain_map import fit_map as fit_map
from mirenc.encoder.embedding import Embedding as Embedding
from mirenc.encoder.encoder import Encoder as Encoder, load as load
from mirenc.encoder.pipeline import Outcome as Outcome
from mirenc.encoder.request import (
    PARTS as PARTS,
    PURPOSES as PURPOSES,
    Level as Level,
    OnError as OnError,
    Part as Part,
    Purpose as Purpose,
)
