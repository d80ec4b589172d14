"""Checkpoints: written whole or not at all, read only by the run they belong to."""

import pickle
from pathlib import Path
from typing import Any

import torch

from mirenc.base.errors import ConfigError, ModelError
from mirenc.base.writing import delivered


def write(path: Path, payload: dict[str, Any]) -> None:
    """Write a checkpoint. Raises ModelError: the disk is full or the folder cannot be written; the old one stays."""
    try:
        with delivered(path) as part, part.open("wb") as stream:  # torch would write the part's name into it
            torch.save(payload, stream)
    except (OSError, RuntimeError) as error:
        cause = f"{path}: cannot write the checkpoint ({str(error).splitlines()[0]}); the one before it is kept"
        raise ModelError(f"{cause}. Make room and type --resume") from None


def read(path: Path, identity: dict[str, Any], *, device: torch.device) -> dict[str, Any]:
    """Read a checkpoint, its tensors on ``device``; of the keys in ``identity`` that it has, the values must be equal.

    Raises ConfigError: there is none, or it is another run's. Raises ModelError: it is damaged.
    """
    if not path.exists():
        raise ConfigError(f"{path.parent}: no checkpoint to resume. Leave --resume out to start a run")
    try:
        payload: dict[str, Any] = torch.load(path, weights_only=True, map_location=device)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0] or "cut off"
        raise ModelError(f"{path}: damaged ({reason}). Start in another folder without --resume") from None
    if any(payload.get(name, value) != value for name, value in identity.items()):
        advice = f"Resume with those that the run was started with ({path.parent}/config.json has its configuration)"
        raise ConfigError(f"{path.parent}: its checkpoint is of another configuration or corpus. {advice}")
    return payload
