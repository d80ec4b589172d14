"""IR in, vectors out: `load` makes an `Encoder`, and an encoder embeds. `pipeline` has its stages."""

from mirenc.encoder.embedding import Embedding as Embedding
from mirenc.encoder.encoder import Encoder as Encoder
from mirenc.encoder.load_model import load as load
from mirenc.encoder.options import (
    PARTS as PARTS,
    PURPOSES as PURPOSES,
    Level as Level,
    OnError as OnError,
    Part as Part,
    Purpose as Purpose,
)
from mirenc.encoder.outcome import Outcome as Outcome
