"""What `scripts/test.sh` installs can be had from PyPI alone, and nobody gets torch for CUDA unannounced."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Stands for an environment's Python: without torch, installing and testing nothing, with a pip that sees $VERSIONS.
PYTHON = """#!/bin/sh
case "$*" in
    *metadata*) exit "$WITHOUT_TORCH" ;;
    "-m pip index versions torch") echo "Available versions: $VERSIONS" ;;
esac
"""


@pytest.mark.parametrize(
    ("versions", "without_torch", "announced"),
    [("2.15.0, 2.13.0", "1", True), ("2.15.0, 2.13.0+cpu, 2.13.0", "1", False), ("2.13.0", "0", False)],
)
def test_torch_for_cuda_is_announced(tmp_path: Path, versions: str, without_torch: str, announced: bool) -> None:
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(tmp_path),
        "VERSIONS": versions,
        "WITHOUT_TORCH": without_torch,
    }
    command = ["bash", str(ROOT / "scripts" / "test.sh")]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    assert ("the one for CUDA comes" in printed) == announced


def test_no_pin_is_a_local_version() -> None:
    """As in ``torch==2.13.0+cpu``: PyPI takes none."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 100
    assert not [pin for pin in pins if "+" in pin]
