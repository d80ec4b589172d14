"""Some hundred damaged modules; ``python tests/mutated.py 4000`` tries as many as are wanted."""

from collections import Counter

import pytest
from mutated import disagreements

from mirenc.encoder import Encoder


def test_mirenc_accepts_what_llvm_accepts(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # an older clang on it reads what LLVM 22 refuses
    counts: Counter[str] = Counter()
    assert list(disagreements(encoder, 300, 0, counts)) == []
    assert counts["accepted by LLVM, accepted"] > 30
    assert counts["refused by LLVM, refused"] > 100
