"""Going on from a packaged model: its weights instead of random ones."""

from __future__ import annotations

import torch

from mirenc.errors import ConfigError
from mirenc.model.config import PRESETS, ModelConfig
from mirenc.model.mirencoder import MIREncoder
from mirenc.tokenizer import IRTokenizer
from mirenc.weights import Source, ancestry, load_files

__all__ = ["start_from"]


def start_from(
    model: MIREncoder, tokenizer: IRTokenizer, name_or_dir: str
) -> tuple[dict[str, str], tuple[Source, ...]]:
    """Put a packaged model's weights into a new model; whitening is left to be fitted anew.

    Of a model that has the text encoder in common and nothing else, the text encoder and its MLM head are taken: a
    distilled one (pretrain/distil.py) is a start for any graph encoder. A taught trunk that it has not stays random.

    Returns
    -------
    dict of str
        Its ``name`` and ``digest``, for the record, and ``part`` where only one was taken.
    tuple of Source
        What it and its ancestors were trained on.

    Raises
    ------
    ConfigError
        The packaged model has another text encoder, or the corpus was built with another tokenizer.
    ModelError
        Unknown or damaged model.
    """
    files = load_files(name_or_dir)
    if tokenizer.to_json() != files.tokenizer.to_json():
        raise ConfigError(
            f"start_from: the corpus was not built with the tokenizer of {files.name}, whose pieces that model knows. "
            f"Build it with: mirenc corpus build ... --tokenizer {name_or_dir}"
        )
    _check_text_encoder(model.config, files.config, files.name)
    own, found = model.config, files.config
    taken = ["text", "mlm"]
    if (own.graph, own.matching) == (found.graph, found.matching):
        taken += ["graph", "matching"]
        # A trunk takes the graph's vectors; a model without one is a start for a model with one.
        if found.taught is not None and own.taught == found.taught:
            taken.append("taught")
    kept = {name: torch.from_numpy(value) for name, value in files.weights.items() if name.partition(".")[0] in taken}
    model.load_state_dict(kept, strict=False)
    part = {} if "graph" in taken else {"part": "text"}
    return {"name": files.name, "digest": files.digest} | part, ancestry(files.name, files.folder)


def _check_text_encoder(own: ModelConfig, found: ModelConfig, name: str) -> None:
    if own.text == found.text:
        return
    made_with = [key for key, config in PRESETS.items() if config.text == found.text]
    hint = f'Set preset = "{made_with[0]}"' if made_with else "Give the run its [text] table"
    raise ConfigError(f"start_from: {name} has another text encoder than this run. {hint}")
