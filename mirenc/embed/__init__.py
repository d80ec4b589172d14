"""IR in, vectors out: `load` makes an `Encoder`, and an encoder embeds. `stream` holds the steps together."""

from mirenc.embed.embedding import Embedding as Embedding
from mirenc.embed.encoder import Encoder as Encoder, load as load
from mirenc.embed.maps import fit_map as fit_map
from mirenc.embed.request import (
    PARTS as PARTS,
    PURPOSES as PURPOSES,
    Level as Level,
    OnError as OnError,
    Part as Part,
    Purpose as Purpose,
)
from mirenc.embed.stream import Outcome as Outcome
