"""Checkpoints: written whole or not at all, read only by the run they belong to."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import torch

from mirenc.errors import ConfigError, ModelError


def write(path: Path, payload: dict[str, Any]) -> None:
    """Write a checkpoint; the old one is replaced only when the new one is complete.

    Where the disk is full or the folder cannot be written, a `ModelError`: the old checkpoint stays.
    """
    part = path.with_suffix(".part")
    try:
        torch.save(payload, part)
    except (OSError, RuntimeError) as error:
        part.unlink(missing_ok=True)
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"{part}: cannot write the checkpoint ({reason}); the one before it is kept. Make room and type --resume"
        ) from None
    os.replace(part, path)


def read(path: Path, identity: dict[str, Any], *, device: torch.device) -> dict[str, Any]:
    """Read a checkpoint, its tensors on ``device``; it must have the ``identity``'s values, of keys that it has.

    Raises
    ------
    ConfigError
        There is none, or it is another run's.
    ModelError
        It is damaged.
    """
    folder = path.parent
    if not path.exists():
        raise ConfigError(f"{folder}: no checkpoint to resume. Leave --resume out to start a run")
    try:
        payload: dict[str, Any] = torch.load(path, weights_only=True, map_location=device)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0] or "cut off"
        raise ModelError(f"{path}: damaged ({reason}). Start in another folder without --resume") from None
    if any(payload.get(name, value) != value for name, value in identity.items()):
        raise ConfigError(
            f"{folder}: its checkpoint is of another configuration or corpus. "
            f"Resume with those it was started with ({folder}/config.json has the configuration)"
        )
    return payload
