"""Models on disk: the packaged ones and folders; find, load, save, verify."""

from __future__ import annotations

from mirenc.weights.store import (
    BASELINES_FILE,
    DEFAULT_MODEL,
    ModelFiles,
    find_model,
    list_models,
    load_files,
    save_files,
    seal,
    verify_files,
)

__all__ = [
    "BASELINES_FILE",
    "DEFAULT_MODEL",
    "ModelFiles",
    "find_model",
    "list_models",
    "load_files",
    "save_files",
    "seal",
    "verify_files",
]
