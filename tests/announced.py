"""An installed package that announces a model, as pip leaves one: its folder and its metadata, without pip."""

from __future__ import annotations

import importlib
from pathlib import Path


def announce(site: Path, model: str, value: str, *, by: str = "some-models") -> None:
    """Announce ``model`` in the package ``value``; ``site`` is a folder of ``sys.path``."""
    metadata = site / f"{by.replace('-', '_')}-1.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {by}\nVersion: 1\n", encoding="utf-8")
    points = metadata / "entry_points.txt"
    before = points.read_text(encoding="utf-8") if points.exists() else "[mirenc.models]\n"
    points.write_text(f"{before}{model} = {value}\n", encoding="utf-8")
    importlib.invalidate_caches()
