"""A small corpus, the fixtures' IR as three projects, and a short run: fixtures of tests of pre-training."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mirenc.model.tokenizer import TokenizerConfig
from mirenc.pretrain.config import PretrainConfig
from mirenc.pretrain.corpus import Corpus, build_corpus

FIXTURES = Path(__file__).parent / "fixtures" / "ir"
# None that LLVM 22 reads only with an older clang's help: a corpus is the same on every machine.
PROJECTS = {
    "alpha": ("clang-14", "control_flow device numeric reduce sorting structs"),
    "beta": ("clang-19", "control_flow device numeric reduce structs system"),
    "gamma": ("clang-16", "classes control_flow exceptions vectors"),
}


def write_projects(root: Path, projects: dict[str, tuple[str, str]]) -> Path:
    """Fixtures as ``PROJECT/LEVEL/x.ll``; a project is what one compiler made, so that two have other files."""
    for project, (compiler, names) in projects.items():
        for level in ("O0", "O2"):
            (root / project / level).mkdir(parents=True)
            for name in names.split():
                shutil.copy(FIXTURES / compiler / level / f"{name}.ll", root / project / level)
    return root


@pytest.fixture(scope="session")
def ir_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_projects(tmp_path_factory.mktemp("ir"), PROJECTS)


@pytest.fixture(scope="session")
def corpus(ir_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    files = sorted(ir_folder.rglob("*.ll"))
    return build_corpus(files, ir_folder, tmp_path_factory.mktemp("corpus"), TokenizerConfig(vocab_size=600))[0]


@pytest.fixture(scope="session")
def short_run() -> PretrainConfig:
    """A run of a few steps of every objective, with a text encoder of a few thousand parameters."""
    stage = {"batch": 8, "learning_rate": 1e-3, "warmup": 2}
    return PretrainConfig.from_dict(
        {
            "text": {"hidden": 32, "layers": 2, "heads": 4, "feed_forward": 48},
            "held_out_share": 0.3,
            "checkpoint_every": 3,
            "mlm": {"steps": 8, **stage},
            "gae": {"steps": 4, **stage, "batch": 3},
            "igm": {"steps": 4, **stage, "batch": 4},
        }
    )
