"""IR in, vectors out: `load` makes an `Encoder`, and an encoder embeds. `stream` holds the steps together."""

from mirenc.embed.embedding import Embedding
from mirenc.embed.encoder import Encoder, load
from mirenc.embed.maps import fit_map
from mirenc.embed.request import PARTS, PURPOSES, Level, OnError, Part, Purpose
from mirenc.embed.stream import Outcome

__all__ = [
    "PARTS",
    "PURPOSES",
    "Embedding",
    "Encoder",
    "Level",
    "OnError",
    "Outcome",
    "Part",
    "Purpose",
    "fit_map",
    "load",
]
