"""What is tested here is what becomes of IR as it is; tests of forms say which one they mean."""

from pathlib import Path

import pytest

from mirenc.encoder import Encoder, load
from mirenc.llvm import ReadOptions


@pytest.fixture(scope="session")
def encoder(model_folder: Path) -> Encoder:
    """The tiny model, ready to embed IR as it is; it keeps no cache."""
    return load(model_folder, cache=False, options=ReadOptions(form="plain"))
