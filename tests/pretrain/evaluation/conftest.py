"""Corpora small enough to work figures out by hand, and one of the fixtures' IR."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_corpus import write_projects

from mirenc.model.tokenizer import IRTokenizer
from mirenc.pretrain.corpus import Corpus, ModuleInfo, build_corpus

# Texts of some ids: so 10 is a name after 11, and grammar elsewhere.
PIECES = {10: "word", 11: "@", 12: " 7"}
MakeCorpus = Callable[..., Corpus]


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _pieces(ids: Sequence[int]) -> list[str]:
    return [PIECES.get(int(index), "") for index in ids]


@pytest.fixture(scope="session")
def make_corpus() -> MakeCorpus:
    """A corpus of some token id lists; a module is ``(name, {text: count}, nodes, [(source, target, flow)])``."""

    def make(texts: Sequence[Sequence[int]], modules: Sequence[tuple], vocabulary: int = 32) -> Corpus:
        infos = [
            ModuleInfo(name, name.partition("/")[0], "", name, *[""] * 4, 1, 1, sum(counts.values()), nodes, len(edges))
            for name, counts, nodes, edges in modules
        ]
        config = SimpleNamespace(max_length=64)
        nodes = sum(nodes for _, _, nodes, _ in modules)
        ends = [end for *_, edges in modules for end in edges]
        return Corpus(
            tokenizer=SimpleNamespace(vocab_size=vocabulary, config=config, pieces=_pieces),  # type: ignore[arg-type]
            infos=infos,
            text_ids=np.array([token for text in texts for token in text], dtype=np.uint16),
            text_start=_starts([len(text) for text in texts]),
            statement_row=np.array([row for _, counts, *_ in modules for row in counts], dtype=np.int32),
            statement_count=np.array([c for _, counts, *_ in modules for c in counts.values()], dtype=np.int32),
            statement_start=_starts([len(counts) for _, counts, *_ in modules]),
            node_row=np.zeros(nodes, dtype=np.int32),
            node_kind=np.zeros(nodes, dtype=np.int8),
            node_argument=np.zeros(nodes, dtype=np.int32),
            node_start=_starts([nodes for _, _, nodes, _ in modules]),
            edge_index=np.array([end[:2] for end in ends], dtype=np.int32).reshape(-1, 2).T,
            edge_flow=np.array([end[2] for end in ends], dtype=np.int8),
            edge_position=np.zeros(len(ends), dtype=np.int32),
            edge_start=_starts([len(edges) for *_, edges in modules]),
        )

    return make


@pytest.fixture(scope="session")
def levels_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects at O0 and O2."""
    projects = {"clang-14": ("clang-14", "numeric sorting structs"), "clang-19": ("clang-19", "control_flow reduce")}
    return write_projects(tmp_path_factory.mktemp("levels"), projects)


@pytest.fixture(scope="session")
def levels_corpus(levels_folder: Path, tokenizer: IRTokenizer, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The corpus of `levels_folder`, with the tiny model's tokenizer."""
    files = sorted(levels_folder.rglob("*.ll"))
    return build_corpus(files, levels_folder, tmp_path_factory.mktemp("corpus"), tokenizer=tokenizer)[0]
