"""A small corpus: the fixtures' IR as three projects."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from outside_programs import needs_old_clang

from mirenc.config import PretrainConfig, TokenizerConfig
from mirenc.pretraining.corpus import Corpus, build_corpus

FIXTURES = Path(__file__).parent.parent / "fixtures" / "ir"


@pytest.fixture(scope="session")
def ir_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """IR of the fixtures that any machine reads; a project is what one compiler made, so that two have other files."""
    root = tmp_path_factory.mktemp("ir")
    for compiler, project in (("clang-14", "alpha"), ("clang-19", "beta"), ("clang-16", "gamma")):
        for level in ("O0", "O2"):
            files = (path for path in sorted((FIXTURES / compiler / level).glob("*.ll")) if not needs_old_clang(path))
            for path in list(files)[:8]:
                target = root / project / level / path.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    return root


@pytest.fixture(scope="session")
def corpus(ir_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    files = sorted(ir_folder.rglob("*.ll"))
    return build_corpus(files, ir_folder, tmp_path_factory.mktemp("corpus"), TokenizerConfig(vocab_size=600))[0]


@pytest.fixture
def short_run() -> PretrainConfig:
    """A run of a few steps of every objective."""
    stage = {"batch": 8, "learning_rate": 1e-3, "warmup": 2}
    return PretrainConfig.from_dict(
        {
            "held_out_share": 0.3,
            "checkpoint_every": 3,
            "mlm": {"steps": 8, **stage},
            "gae": {"steps": 4, **stage, "batch": 3},
            "igm": {"steps": 4, **stage, "batch": 4},
        }
    )
